# SPDX-License-Identifier: Apache-2.0
"""What analysis reads of a profiled training step, as lines of text for
tests/test_recorded_training.c.

A case names what stands out in it, "-" where nothing does; its `op` and `layer`
lines say what is the same in every run, and a `run` line has the times of one,
in microseconds.  Operations and layers below a hundredth of the step in all of
a case's runs are left out.
"""

SHARE_LEAST = 0.01


def reduce(found):
    """Of the document of a profile."""
    training, roofline, noise = (found[k] for k in ("training", "roofline",
                                                    "noise"))
    peak, = (p["gflops_per_s"] for p in roofline["peaks"]
             if p["dtype"] == found["plan"]["dtype"])
    largest = largest_kept(found)
    return {
        "memory": [training["parameters_bytes"], training["gradients_bytes"],
                   training["optimizer_bytes"][training["optimizer"]],
                   training["activations_bytes"], largest["bytes"],
                   largest["name"], training["optimizer"]],
        "ops": [[op["phase"], op["engine"], op["executed_flops"], op["flops"],
                 op["bytes"], op["calls"], op["name"]]
                for op in found["operations"]],
        "layers": [[layer["forward_flops"], layer["backward_flops"],
                    layer["type"], layer["name"]]
                   for layer in training["layers"]],
        "step": [int(found["ledger"]["closed"]),
                 noise["neighbour_share"] + (noise["steal_share"] or 0),
                 noise["run_delay_share"] or 0, roofline["peak_threads"],
                 peak, 1e3 * roofline["step_ms"]],
        "levels": [x for level in roofline["levels"]
                   for x in (level["size_bytes"] or 0,
                             level["gbytes_per_s"])],
        "phases": [[phase["name"], phase["share"]]
                   for phase in training["phases"]],
        "op_times": [[1e3 * op[k] for k in ("self_ms", "median_ms", "min_ms")]
                     for op in found["operations"]],
        "layer_times": [[1e3 * layer[k] for k in
                         ("forward_ms", "backward_input_ms",
                          "backward_weight_ms")]
                        for layer in training["layers"]],
    }


def largest_kept(found):
    """The largest activation that outlives the last operation before the
    backward pass."""
    before = 0
    for i, op in enumerate(found["operations"]):
        if op["phase"] in ("backward", "recompute"):
            break
        if op["phase"] in ("forward", "loss"):
            before = i
    kept = [t for t in found["memory"]["tensors"]
            if t["category"] == "activation"
            and t["first"] <= before < t["last"]]
    if not kept:
        return {"bytes": 0, "name": "-"}
    largest = max(kept, key=lambda t: t["bytes"])
    return {"bytes": largest["bytes"],
            "name": found["operations"][largest["first"]]["name"]}


def number(x):
    """Or a name, as one word."""
    return f"{x:.3g}" if isinstance(x, float) else str(x).replace(" ", "_")


def words(prefix, items):
    return " ".join([prefix, *(number(x) for x in items)])


def lines_of(name, kind, runs):
    """Runs of one case; those that ran other operations begin it anew."""
    lines, head, large = [], None, None
    for run in runs:
        own = [run["memory"], run["ops"], run["layers"]]
        if own != head:
            alike = [r for r in runs
                     if [r["memory"], r["ops"], r["layers"]] == own]
            large = [indices_above(alike, "op_times", 1),
                     indices_above(alike, "layer_times", 3)]
            lines += [words("case", [kind or "-", name]),
                      words("memory", run["memory"])]
            lines += [words("op", run["ops"][i]) for i in large[0]]
            lines += [words("layer", run["layers"][i]) for i in large[1]]
            head = own
        lines.append(words("run", [
            *run["step"], len(run["levels"]) // 2, *run["levels"],
            len(run["phases"]), *(x for p in run["phases"] for x in p),
            *(x for i in large[0] for x in run["op_times"][i]),
            *(x for i in large[1] for x in run["layer_times"][i])]))
    return lines


def indices_above(runs, key, n_summed):
    """Of rows that take a share that counts, in one of the runs at least."""
    shares = [[sum(row[:n_summed]) for row in run[key]] for run in runs]
    totals = [sum(op[0] for op in run["op_times"]) for run in runs]
    return [i for i in range(len(shares[0]))
            if any(s[i] >= SHARE_LEAST * total
                   for s, total in zip(shares, totals))]
