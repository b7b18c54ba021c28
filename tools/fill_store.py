# SPDX-License-Identifier: Apache-2.0
"""A store with many results of every kind, made of a few real ones."""
import json
import random
import subprocess

# One of each kind; the time of a result is what it takes to be one at all.
KINDS = [
    ["bench", "-r", "8", "--", "true"],
    ["bench", "-r", "6", "--", "true", "--", "true"],
    ["compare", "mlp:64-32-10", "mlp:64-64-10", "--time", "0.1"],
    ["eval", "digits-cnn", "--data", "digits"],
    ["fit", "mlp:64-32-10", "--mem", "1G"],
    ["generate", "gpt:1,16,2,50,128", "--tokens", "4", "--time", "0.1"],
    ["inspect", "lenet5"],
    ["load", "lenet5", "--scenario", "single", "--time", "0.1"],
    ["machine", "--time", "0.2"],
    ["microbench", "matmul:32..128", "--time", "0.2"],
    ["optimize", "mlp:64-32-10", "--time", "0.2"],
    ["overhead", "mlp:16-8-4", "--runs", "20"],
    ["profile", "mlp:16-8-4", "--brief", "--runs", "20"],
    ["profile", "lenet5", "--time", "0.2"],
    ["run", "mlp:16-8-4"],
    ["selfcheck", "--time", "1", "--budget", "0.01"],
    ["suite", "course", "--no-lock", "--repetitions", "2"],
    ["sweep", "mlp:64-32-10", "--batch", "1..4", "--visits", "2", "--runs",
     "3"],
    ["train", "digits-mlp", "--data", "digits", "--epochs", "1"],
]
EVERY = 25  # how many results of the large kinds there are: one in so many


def measure(program, words, seeds):
    at = words.index("--") if "--" in words else len(words)
    done = subprocess.run([program, *words[:at], "-q", "--save", "--db", seeds,
                           *words[at:]], check=False, capture_output=True,
                          text=True)
    # A verdict is in the exit code, too.
    if not done.stdout.startswith("run:"):
        raise RuntimeError(f"{' '.join(words)}: {done.stderr}")


def slowed(result, factor):
    """Latencies of a result that a history looks at, all by one factor."""
    for part in [result, *result.get("results", [])]:
        latency = part.get("latency") or {}
        for key, value in latency.items():
            if key.endswith("_ms") and isinstance(value, dict):
                for end, limit in value.items():
                    value[end] = limit and limit * factor
            elif key.endswith("_ms") and value:
                latency[key] = value * factor
        for sample in latency.get("samples") or []:
            sample["ms"] = sample["ms"] and sample["ms"] * factor


def fill(program, path, n, hostile=""):
    """Makes the store.  Every model is slower by a fifth from the middle on; one
    branch is 'hostile'."""
    seeds = f"{path}.seeds"
    for words in KINDS:
        measure(program, words, seeds)
    lines = subprocess.run([program, "store", "export", "-", "--db", seeds],
                           check=True, capture_output=True,
                           text=True).stdout.splitlines()
    small = [line for line in lines if len(line) < 8000]
    draw = random.Random(1)
    feed = subprocess.Popen([program, "store", "import", "-", "--db", path],
                            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                            text=True)
    for i in range(n):
        among = lines if i % EVERY < len(lines) and i // EVERY % 4 == 0 \
            else small
        line = json.loads(among[i % len(among)])
        line["saved_at_s"] = 1.7e9 + 600 * i
        line["commit"] = f"{draw.getrandbits(160):040x}"
        line["branch"] = draw.choice(["main", "main", "next", hostile])
        line["machine"] = draw.choice(["aaaa1111bbbb2222", "cccc3333"])
        line["tags"] = {"nightly": str(i % 7)}
        slowed(line["result"], draw.gauss(1, 0.02) * (1.2 if 2 * i > n else 1))
        feed.stdin.write(json.dumps(line) + "\n")
    feed.stdin.close()
    if feed.wait():
        raise RuntimeError("the store was not filled")
