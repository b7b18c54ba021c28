# SPDX-License-Identifier: Apache-2.0
"""Two processes that run a model when asked take turns; who is faster?

Each is asked for a slot of runs at a time, and is stopped (SIGSTOP) while the
other works, so that neither its spinning threads nor its memory disturb it.
The figure is the median over rounds of the ratio of the two slots' medians.
"""
import signal
import statistics
import subprocess

SLOT_SECONDS = .4


class Worker:
    """A process that runs a model when asked, and is stopped otherwise."""

    def __init__(self, words):
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        answer = self.process.stdout.readline().split()
        if not answer:
            raise RuntimeError(" ".join(words) + " failed")
        self.first = [float(x) for x in answer[1:]]
        self.process.send_signal(signal.SIGSTOP)

    def ask(self, line):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        self.process.send_signal(signal.SIGSTOP)
        if not answer:
            raise RuntimeError("a worker ended: " + line)
        return answer

    def run(self, n):
        """Times in milliseconds; the first, while caches fill, is left
        out."""
        return [float(x) / 1e6 for x in self.ask(f"run {n + 1}")][1:]

    def close(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.close()
        self.process.wait()


def interval(ratios):
    """Order statistics of the rounds' ratios: 95 % for their median."""
    ratios = sorted(ratios)
    n = len(ratios)
    k = max(0, int((n - 1.96 * n ** .5) / 2))
    return ratios[k], ratios[n - 1 - k]


def interleave(ours, theirs, rounds):
    """(our ms, their ms, ratio, lo, hi)"""
    once = statistics.median(theirs.run(3))
    n = max(1, int(SLOT_SECONDS * 1e3 / once))
    ours.run(n)
    a, b, ratios = [], [], []
    for i in range(rounds):
        first, second = (ours, theirs) if i % 2 else (theirs, ours)
        x, y = first.run(n), second.run(n)
        x, y = (x, y) if first is ours else (y, x)
        a += x
        b += y
        ratios.append(statistics.median(x) / statistics.median(y))
    return (statistics.median(a), statistics.median(b),
            statistics.median(ratios), *interval(ratios))
