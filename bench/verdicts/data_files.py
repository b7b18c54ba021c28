# SPDX-License-Identifier: Apache-2.0
"""Files of data that training steps are fed from: random, the same every time,
in each format that the program reads."""
import gzip
import io
import os
import random
import struct
import zipfile

N_CLASSES = 10


def npy(descr, shape, content):
    sizes = "(" + "".join(f"{n}, " for n in shape) + ")"
    head = (f"{{'descr': '{descr}', 'fortran_order': False, "
            f"'shape': {sizes}, }}")
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode(
        "ascii") + content


def labels(rng, n):
    return bytes(rng.randrange(N_CLASSES) for _ in range(n))


def write_csv(path, rng, n, width):
    with open(path, "w", encoding="ascii") as f:
        f.write(",".join([f"x{i}" for i in range(width)] + ["class"]) + "\n")
        for _ in range(n):
            row = [str(byte) for byte in rng.randbytes(width)]
            f.write(",".join([*row, str(rng.randrange(N_CLASSES))]) + "\n")


def write_npz(path, rng, n, width, descr):
    """Bytes, or numbers of 32 or 64 bits, compressed."""
    raw = rng.randbytes(n * width)
    code = {"|u1": "B", "<f4": "f", "<f8": "d"}[descr]
    content = raw if code == "B" else struct.pack(f"<{n * width}{code}",
                                                  *(b / 255 for b in raw))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED,
                         compresslevel=1) as archive:
        archive.writestr("x.npy", npy(descr, (n, width), content))
        archive.writestr("y.npy", npy("|u1", (n,), labels(rng, n)))


def write_idx(folder, rng, n, side):
    """Two files, compressed as those of MNIST are."""
    def write(name, magic, sizes, content):
        raw = struct.pack(f">{1 + len(sizes)}I", magic, *sizes) + content
        with gzip.open(os.path.join(folder, name), "wb", 1) as f:
            f.write(raw)
    write("images-idx3-ubyte.gz", 0x803, (n, side, side),
          rng.randbytes(n * side * side))
    write("labels-idx1-ubyte.gz", 0x801, (n,), labels(rng, n))


def write_text(path, rng, n):
    words = ["".join(rng.choice("etaoinshrdlu") for _ in range(length))
             for length in (2, 3, 3, 4, 5, 7) for _ in range(20)]
    out = io.StringIO()
    while out.tell() < n:
        out.write(rng.choice(words) + " ")
    with open(path, "w", encoding="ascii") as f:
        f.write(out.getvalue())


def write_all(folder):
    rng = random.Random(1)
    write_csv(os.path.join(folder, "table.csv"), rng, 2000, 64)
    write_npz(os.path.join(folder, "reals.npz"), rng, 4000, 64, "<f8")
    write_npz(os.path.join(folder, "wide.npz"), rng, 500, 12288, "|u1")
    write_idx(folder, rng, 2000, 32)
    write_text(os.path.join(folder, "words.txt"), rng, 200000)
