/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_explain.c - what the figures of a profile mean, how they were found
 * and what would change them, in plain words with the profile's own numbers.
 */
#include "report/profile_page.h"
#include "report/unit.h"

#include <math.h>

#include "base/banned.h"

typedef void explainer(struct sl__doc *doc, const struct sl_profile *p);

#define SAY(...) sl__doc_text(doc, SL__STYLE_DIM, __VA_ARGS__)

static void
explain_latency(struct sl__doc *doc, const struct sl_profile *p)
{
	struct sl__text t;

	SAY("Latency is the median time of one iteration without "
	    "instrumentation, over %zu samples after warm-up; the interval "
	    "holds "
	    "the true median in 95 of 100 such measurements. More samples "
	    "(--time) make it narrower; other work on the machine makes it "
	    "wider and higher.",
	    p->latency.n);
	SAY("A percentile is shown once there are enough samples for its "
	    "interval: p90 takes 36, p99 takes 368. The first iteration of %s "
	    "also fills caches, and does not count.",
	    sl__time_text(&t, p->latency.first_ns));
}

static void
explain_verdict(struct sl__doc *doc, const struct sl_profile *p)
{
	if (!p->n_hot) {
		SAY("The verdict says what the model waits for. Low efficiency "
		    "alone proves nothing: without experiments on operations "
		    "it stays open.");
		return;
	}
	SAY("The verdict says what the model waits for. Low efficiency alone "
	    "proves nothing, so the operations that take longest (%zu of "
	    "them) are also run again from warm caches, from empty caches, on "
	    "one thread, on one thread while another CPU streams from memory, "
	    "and, where the batch size is free, at twice the batch. What they "
	    "respond to is what bounds them: "
	    "arithmetic takes twice as long for twice the samples, weights "
	    "that come from memory are read once for all of them.",
	    p->n_hot);
	SAY("Confidence is how clearly the responses tell the answers apart; "
	    "what speaks against it is shown as well. 'inconclusive' is an "
	    "answer: the times do not add up, or the responses contradict "
	    "each other.");
}

static void
explain_operations(struct sl__doc *doc, const struct sl_profile *p)
{
	SAY("A row is one step of the plan: nodes that were fused are one "
	    "operation under the first one's name. Its time is the mean over "
	    "%zu recorded iterations, from its start to the next one's, less "
	    "the "
	    "reading of the clock; 'cum.' is the cumulative share.",
	    p->ledger.n_iterations);
	SAY("GFLOP/s counts the nominal multiply-adds of convolutions and "
	    "matmuls, each as two, at the median of a call; 'of roof' is the "
	    "roofline's least time for the kernel's arithmetic and bytes over "
	    "the "
	    "measured time; 'bound' is what the experiments found. Making a "
	    "row "
	    "faster gains its share at most. FLOP/B counts executed "
	    "operations, "
	    "of which Winograd has fewer.");
}

static void
explain_accounting(struct sl__doc *doc, const struct sl_profile *p)
{
	const struct sl_estimate *o = &p->ledger.overhead_ns;
	struct sl__text a, b;

	SAY("Time accounting attributes all the time of a recorded iteration: "
	    "to operations, to gaps between them, and to recording (recorded "
	    "minus bare iterations, run in turn: %s %s). What remains, signed, "
	    "is "
	    "unattributed. Each of the others is measured by itself.",
	    sl__time_value(&a, o, NULL), sl__time_bounds_text(&b, o, NULL));
	SAY("More than 2 %% unattributed means that something was not seen, "
	    "and "
	    "makes the verdict inconclusive. An idle machine or more time "
	    "brings "
	    "it down.");
}

static void
explain_memory(struct sl__doc *doc, const struct sl_profile *p)
{
	if (!p->memory.live_bytes && !p->memory.parameters_bytes)
		return;
	SAY("'live' is the plan's bound: the most that values needed at one "
	    "moment take. 'planned' is the block that they were "
	    "packed into. Resident memory is what the operating system gave "
	    "the process, everything included.");
	SAY("Efficiency is (live + parameters) / growth of resident memory: "
	    "1 is perfect; packed copies of weights and workspace lower it. "
	    "A smaller batch or a narrower type shrinks activations; only "
	    "fewer or narrower weights shrink parameters.");
}

static void
explain_roofline(struct sl__doc *doc, const struct sl_profile *p)
{
	if (!p->ceilings.flops_per_s.n || !isfinite(p->ceilings.ridge)) {
		SAY("There is no roofline: the ceilings of arithmetic and of "
		    "memory were not both measured.");
		return;
	}
	SAY("The ceilings are what simple loops reached on this machine "
	    "between iterations, with as many threads. An operation of I "
	    "FLOP/B "
	    "cannot be faster than min(peak, I × bandwidth); the two meet at "
	    "the "
	    "ridge point, %.3g FLOP/B.",
	    p->ceilings.ridge);
	SAY("The shares say how long the arithmetic alone would take at the "
	    "peaks, or the bytes alone from the level that holds them; the "
	    "lower "
	    "bound sums the least time of every operation. Above the "
	    "ridge a narrower type or more threads helps; below it, moving "
	    "fewer bytes: fusion, a larger batch, narrower numbers.");
}

static void
explain_counters(struct sl__doc *doc, const struct sl_profile *p)
{
	if (!p->n_counted) {
		SAY("A CPU counts cycles, instructions, stalls and lines of "
		    "data that missed a cache, where kernel and hypervisor "
		    "let a process read it. Experiments do without; counters "
		    "would check their verdicts.");
		return;
	}
	SAY("The CPU counted while the operations that take longest ran in "
	    "their place, waiting threads included. Few instructions a cycle "
	    "and many stalls speak for memory; misses times 64 bytes are "
	    "what came from the next memory, prefetched lines in part. A "
	    "verdict that the counters contradict loses confidence or is "
	    "withdrawn.");
}

/* What has no figures of its own, by topic: up to two paragraphs. */
static const char *const words[][2] = {
	[SL__TOPIC_TRAFFIC] =
		{"A cache keeps what was accessed last. An operation reads "
		 "from "
		 "beyond a cache what more accesses than that cache holds have "
		 "evicted since; what it writes goes back if as much is "
		 "accessed "
		 "before its next use. Iterations repeat: weights that no "
		 "cache "
		 "holds come from memory in each.",
		 "It is predicted from addresses and sizes, and from what "
		 "matmuls must fetch twice. Doing in one operation "
		 "what two do one after the other (fusion), a smaller batch or "
		 "narrower numbers bring results into a nearer cache."},
	[SL__TOPIC_AMDAHL] =
		{"If a share s of the time becomes k times faster, the model "
		 "does by 1 / (1 - s + s / k), and never by more than 1 / (1 - "
		 "s). 'removed, measured' ran the model with the operation "
		 "replaced by "
		 "its stored output; it differs where operations warm or spoil "
		 "each other's caches."},
	[SL__TOPIC_ADVICE] =
		{"Ranked by what a measurement here allows, never by rule of "
		 "thumb: the gain is a bound, and the command below each tests "
		 "whether it comes true."},
};

void
sl__profile_explain(struct sl__doc *doc, enum sl__profile_topic topic,
		    const struct sl__profile_sheet *sheet)
{
	static explainer *const explainers[SL__TOPIC_ADVICE + 1] = {
		[SL__TOPIC_LATENCY] = explain_latency,
		[SL__TOPIC_VERDICT] = explain_verdict,
		[SL__TOPIC_OPERATIONS] = explain_operations,
		[SL__TOPIC_ACCOUNTING] = explain_accounting,
		[SL__TOPIC_MEMORY] = explain_memory,
		[SL__TOPIC_ROOFLINE] = explain_roofline,
		[SL__TOPIC_COUNTERS] = explain_counters,
	};

	if (!sheet->view->explain)
		return;
	sl__doc_gap(doc);
	if (explainers[topic])
		explainers[topic](doc, sheet->profile);
	for (size_t i = 0; i < 2 && words[topic][i]; i++)
		SAY("%s", words[topic][i]);
	sl__doc_gap(doc);
}
