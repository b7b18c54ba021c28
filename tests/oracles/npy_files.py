#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the arrays in tests/data/npy with NumPy: what test_npy.c reads.

Each holds 0, 1, 2 ... in a shape of (2, 3) unless its name says otherwise.
"""
import os
import sys

import numpy as np

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
for code in ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8",
             "c8", "c16"]:
    np.save(os.path.join(folder, code), np.arange(6).astype("<" + code)
            .reshape(2, 3))
np.save(os.path.join(folder, "b1"), np.arange(6).reshape(2, 3) % 2 == 1)
np.save(os.path.join(folder, "scalar"), np.float32(7))
np.save(os.path.join(folder, "empty"), np.zeros((0, 3), dtype=np.int64))
np.save(os.path.join(folder, "rank1"), np.arange(4, dtype=np.int64))
np.save(os.path.join(folder, "text"), np.array(["a", "zürich", "", "😀"]))
np.save(os.path.join(folder, "bytes"), np.array([b"a", b"bcd"]))
np.save(os.path.join(folder, "big"), np.arange(6, dtype=">f4"))
np.save(os.path.join(folder, "fortran"),
        np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)))
np.save(os.path.join(folder, "records"),
        np.zeros(2, dtype=[("x", "f4"), ("y", "i4")]))
np.save(os.path.join(folder, "objects"), np.array([{}, None], dtype=object))
np.save(os.path.join(folder, "dates"), np.zeros(2, dtype="datetime64[s]"))
for version in (2, 3):
    with open(os.path.join(folder, f"version{version}.npy"), "wb") as file:
        np.lib.format.write_array(
            file, np.arange(6, dtype=np.float32).reshape(2, 3),
            version=(version, 0))
