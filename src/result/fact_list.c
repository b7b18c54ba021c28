/* SPDX-License-Identifier: Apache-2.0 */
/* fact_list.c - facts gathered one after the other, and what kinds there
 * are. */
#include "result/fact_list.h"

#include <string.h>

#include "base/banned.h"

static const struct {
	const char *word;
	unsigned char n_values, n_names;
} kinds[SL_N_FACT_KINDS] = {
	[SL_FACT_NONE] = {"none", 0, 0},
	[SL_FACT_ARITHMETIC_RATE] = {"arithmetic-rate", 2, 0},
	[SL_FACT_BYTES_RATE] = {"bytes-rate", 3, 0},
	[SL_FACT_STEP_SIZE] = {"step-size", 2, 0},
	[SL_FACT_WARM] = {"warm", 1, 0},
	[SL_FACT_COLD] = {"cold", 1, 0},
	[SL_FACT_HOGGED] = {"hogged", 3, 0},
	[SL_FACT_THREADS] = {"threads", 2, 0},
	[SL_FACT_DOUBLED] = {"doubled", 3, 0},
	[SL_FACT_UNEXPLAINED] = {"unexplained", 2, 0},
	[SL_FACT_UNDECIDED] = {"undecided", 4, 0},
	[SL_FACT_PLAIN_LOOPS] = {"plain-loops", 0, 0},
	[SL_FACT_NO_CEILINGS] = {"no-ceilings", 0, 0},
	[SL_FACT_COUNTERS_AGREE] = {"counters-agree", 5, 0},
	[SL_FACT_COUNTERS_OBJECT] = {"counters-object", 5, 0},
	[SL_FACT_COUNTERS_CONTRADICT] = {"counters-contradict", 6, 0},
	[SL_FACT_TIME_SHARE] = {"time-share", 2, 0},
	[SL_FACT_NOT_MEASURED] = {"not-measured", 0, 1},
	[SL_FACT_OPEN] = {"open", 1, 0},
	[SL_FACT_OPEN_FEW] = {"open-few", 4, 0},
	[SL_FACT_OPEN_WIDE] = {"open-wide", 5, 0},
	[SL_FACT_OPEN_SHORT] = {"open-short", 5, 0},
	[SL_FACT_ARITHMETIC_IMPOSSIBLE] = {"arithmetic-impossible", 5, 3},
	[SL_FACT_BYTES_IMPOSSIBLE] = {"bytes-impossible", 4, 2},
	[SL_FACT_SUM_IMPOSSIBLE] = {"sum-impossible", 2, 0},
	[SL_FACT_MEMORY_NESTING] = {"memory-nesting", 3, 0},
	[SL_FACT_MEMORY_PARTS] = {"memory-parts", 2, 0},
	[SL_FACT_MEMORY_HELD] = {"memory-held", 2, 0},
	[SL_FACT_MEMORY_GROWTH] = {"memory-growth", 2, 0},
	[SL_FACT_MEMORY_EFFICIENCY] = {"memory-efficiency", 1, 0},
	[SL_FACT_NOT_ALONE] = {"not-alone", 0, 1},
	[SL_FACT_NOT_COLD] = {"not-cold", 0, 1},
	[SL_FACT_NOT_HOGGED] = {"not-hogged", 0, 1},
	[SL_FACT_NOT_DOUBLED] = {"not-doubled", 0, 1},
	[SL_FACT_TRIED] = {"tried", 4, 0},
	[SL_FACT_NO_TIME] = {"no-time", 1, 0},
	[SL_FACT_IN_VAIN] = {"in-vain", 4, 0},
	[SL_FACT_COVERAGE] = {"coverage", 2, 0},
	[SL_FACT_WINOGRAD] = {"winograd", 1, 0},
	[SL_FACT_PADDING] = {"padding", 1, 0},
	[SL_FACT_MASKED] = {"masked", 1, 0},
	[SL_FACT_AVOID_LAYOUTS] = {"avoid-layouts", 1, 1},
	[SL_FACT_AVOID_MOVES] = {"avoid-moves", 1, 2},
	[SL_FACT_FIX_ALGORITHMS] = {"fix-algorithms", 0, 0},
	[SL_FACT_COMPUTE_BF16] = {"compute-bf16", 0, 0},
	[SL_FACT_FUSE] = {"fuse", 1, 2},
	[SL_FACT_KEEP_KEYS] = {"keep-keys", 1, 0},
	[SL_FACT_ALLOW_FUSION] = {"allow-fusion", 1, 0},
	[SL_FACT_ALLOW_KERNELS] = {"allow-kernels", 1, 0},
	[SL_FACT_SHRINK_HEAD] = {"shrink-head", 1, 1},
	[SL_FACT_PRUNE] = {"prune", 1, 2},
	[SL_FACT_QUANTISE_INT8] = {"quantise-int8", 0, 0},
	[SL_FACT_REPLACE_LOOPS] = {"replace-loops", 1, 2},
	[SL_FACT_USE_ONE_THREAD] = {"use-one-thread", 2, 0},
	[SL_FACT_USE_THREADS] = {"use-threads", 2, 0},
	[SL_FACT_USE_LARGER_BATCH] = {"use-larger-batch", 4, 1},
	[SL_FACT_PASS_SHARE] = {"pass-share", 5, 0},
	[SL_FACT_THREAD_TIMES] = {"thread-times", 3, 0},
	[SL_FACT_THREAD_GAINS] = {"thread-gains", 3, 0},
	[SL_FACT_WEIGHTS_SHARED] = {"weights-shared", 4, 0},
	[SL_FACT_NARROWED] = {"narrowed", 6, 0},
	[SL_FACT_NARROWED_ONLY] = {"narrowed-only", 6, 0},
	[SL_FACT_WEIGHTS_READ] = {"weights-read", 3, 0},
	[SL_FACT_LAYER_UNKNOWN] = {"layer-unknown", 1, 0},
	[SL_FACT_LAYER_SAME] = {"layer-same", 0, 0},
	[SL_FACT_LAYER_SLOWER] = {"layer-slower", 1, 0},
	[SL_FACT_LAYER_FASTER] = {"layer-faster", 1, 0},
	[SL_FACT_SHAPE_UNDECLARED] = {"shape-undeclared", 0, 4},
	[SL_FACT_SHAPE_OF_INPUTS] = {"shape-of-inputs", 0, 4},
	[SL_FACT_SHAPE_OPEN] = {"shape-open", 0, 4},
	[SL_FACT_CPU_WINS] = {"cpu-wins", 2, 2},
	[SL_FACT_GPU_FROM] = {"gpu-from", 3, 2},
	[SL_FACT_GPU_AT] = {"gpu-at", 3, 2},
	[SL_FACT_FED_FROM_MEMORY] = {"fed-from-memory", 4, 0},
	[SL_FACT_PREFETCH_IN_VAIN] = {"prefetch-in-vain", 4, 0},
	[SL_FACT_PHASE_SHARE] = {"phase-share", 2, 0},
	[SL_FACT_SLOW_BACKWARD] = {"slow-backward", 3, 2},
	[SL_FACT_OPTIMIZER_SHARE] = {"optimizer-share", 2, 1},
	[SL_FACT_ACTIVATION_HELD] = {"activation-held", 2, 1},
	[SL_FACT_USE_PREFETCH] = {"use-prefetch", 1, 0},
	[SL_FACT_CHEAPER_SAMPLES] = {"cheaper-samples", 0, 0},
	[SL_FACT_RECOMPUTE_SAVES] = {"recompute-saves", 6, 0},
};

static enum sl_fact_kind
known(enum sl_fact_kind kind)
{
	return (unsigned)kind < SL_N_FACT_KINDS ? kind : SL_FACT_NONE;
}

const char *
sl_fact_kind_text(enum sl_fact_kind kind)
{
	return kinds[known(kind)].word;
}

size_t
sl__fact_kind_n_values(enum sl_fact_kind kind)
{
	return kinds[known(kind)].n_values;
}

size_t
sl__fact_kind_n_names(enum sl_fact_kind kind)
{
	return kinds[known(kind)].n_names;
}

static int
make_room(struct sl__facts *facts, size_t cap)
{
	struct sl_fact *list =
		sl__arena_array(facts->arena, cap, sizeof(*list));

	if (!list) {
		facts->has_failed = 1;
		return 0;
	}
	if (facts->n)
		memcpy(list, facts->list, facts->n * sizeof(*list));
	facts->list = list;
	facts->cap = cap;
	return 1;
}

void
sl__facts_init(struct sl__facts *facts, struct sl__arena *arena,
	       const struct sl_fact *before, size_t n)
{
	*facts = (struct sl__facts){.arena = arena};
	for (size_t i = 0; i < n; i++)
		sl__facts_add(facts, before[i]);
}

void
sl__facts_add(struct sl__facts *facts, struct sl_fact fact)
{
	if (facts->n == facts->cap && !make_room(facts, 2 * facts->cap + 4))
		return;
	facts->list[facts->n++] = fact;
}

struct sl_fact *
sl__fact_copy(const struct sl_fact *fact, struct sl__arena *arena)
{
	struct sl_fact *copy = sl__arena_alloc(arena, sizeof(*copy));

	if (!copy)
		return NULL;
	*copy = *fact;
	for (size_t i = 0; i < SL_FACT_NAMES; i++) {
		copy->names[i] = sl__arena_string(arena, fact->names[i]);
		if (fact->names[i] && !copy->names[i])
			return NULL;
	}
	return copy;
}
