/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ceilings.c - are the ceilings of `sleuth machine` the machine's?
 *
 * A ceiling that real code exceeds is too low; one that the best code does
 * not come near is too high.  In one interleaved run this sets the loops
 * behind our peaks beside oneDNN's matrix products of several sizes, and our
 * DRAM triad beside a triad written here as STREAM has it (arrays of four
 * times the last cache, three words counted per element).  For peaks it prints
 * ninth deciles and their ratio, which should lie within [1.00, 1.05] of
 * oneDNN's best size.  Memory is shared with neighbours and changes while
 * this runs, so for the triad the ratio is the median of the rounds' own
 * ratios, which should lie within 5 % of 1.
 */
#define _GNU_SOURCE
#include "base/arena.h"
#include "base/thread.h"
#include "engine/dnnl_primitive_desc.h"
#include "machine/ceiling_measurement.h"
#include "machine/peak.h"
#include "machine/rig.h"
#include "stats/quantile.h"
#include "stats/summary.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum {
	N_ROUNDS = 40,          /* 36 bound a ninth decile */
	PROBE_ROUNDS = 1 << 20, /* of a peak loop: 1 to 4 ms */
	N_STREAM_ROUNDS = 21,
	CHUNKS_PER_ROUND = 4,
	N_WARM_CHUNKS = 2,      /* as where a cache has 32 MiB */
	OFFSET = 32,            /* words between the arrays, as in STREAM */
	DEFAULT_ARRAY_MIB = 128 /* four times a 32 MiB cache */
};

static const dnnl_dim_t sizes[] = {256, 384, 512, 768, 1024, 1536};
enum { N_SIZES = sizeof(sizes) / sizeof(sizes[0]) };

struct kind {
	enum sl_dtype dtype;
	dnnl_data_type_t src, weights, dst;
};

static const struct kind kinds[] = {
	{SL_DTYPE_F32, dnnl_f32, dnnl_f32, dnnl_f32},
	{SL_DTYPE_BF16, dnnl_bf16, dnnl_bf16, dnnl_f32},
	{SL_DTYPE_I8, dnnl_u8, dnnl_s8, dnnl_s32},
};

static void
must(dnnl_status_t status, const char *what)
{
	if (status == dnnl_success)
		return;
	fprintf(stderr, "ceilings: oneDNN: %s failed (%d)\n", what,
		(int)status);
	exit(70);
}

static double
now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* One square matrix product, ready to run. */
struct product {
	dnnl_primitive_t primitive;
	dnnl_exec_arg_t args[3];
	double n_ops;
	int missing; /* this oneDNN or CPU does not have it */
};

static dnnl_memory_t
ones(const_dnnl_memory_desc_t md, dnnl_data_type_t type, dnnl_engine_t engine)
{
	size_t n_bytes = dnnl_memory_desc_get_size(md);
	dnnl_memory_t memory;
	void *data;

	must(dnnl_memory_create(&memory, md, engine, DNNL_MEMORY_ALLOCATE),
	     "memory");
	must(dnnl_memory_get_data_handle(memory, &data), "data handle");
	for (size_t i = 0; i < n_bytes / 4; i++) {
		float f32 = 1;
		uint32_t word = type == dnnl_bf16 ? 0x3f803f80u : 0x01010101u;

		if (type == dnnl_f32)
			memcpy(&word, &f32, sizeof(word));
		memcpy((char *)data + 4 * i, &word, sizeof(word));
	}
	return memory;
}

static const_dnnl_memory_desc_t
describe(struct sl__dnnl_context *dnnl, dnnl_dim_t n, dnnl_data_type_t type,
	 dnnl_format_tag_t tag)
{
	const dnnl_dims_t dims = {n, n};
	const struct sl__dnnl_strides square = {
		.type = type, .n_dims = 2, .dims = dims};
	const_dnnl_memory_desc_t md;

	if (!sl__dnnl_tagged_md(&md, dnnl, &square, tag))
		must(dnnl_runtime_error, "description");
	return md;
}

static struct product
make_matmul(const struct kind *kind, dnnl_dim_t n,
	    struct sl__dnnl_context *dnnl)
{
	struct sl__dnnl_matmul matmul = {
		.src = describe(dnnl, n, kind->src, dnnl_ab),
		.weights =
			describe(dnnl, n, kind->weights, dnnl_format_tag_any),
		.dst = describe(dnnl, n, kind->dst, dnnl_ab)};
	struct sl__program program = {.dnnl = dnnl};
	struct sl__planner pl = {.program = &program};
	struct product p = {.n_ops = 2.0 * (double)n * (double)n * (double)n};
	dnnl_primitive_attr_t attr;
	dnnl_primitive_desc_t pd;

	must(dnnl_primitive_attr_create(&attr), "attribute");
	pd = sl__dnnl_matmul_pd(&pl, &matmul, attr);
	must(dnnl_primitive_attr_destroy(attr), "attribute");
	if (!pd) {
		p.missing = 1;
		return p;
	}
	matmul.weights =
		dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 0);
	p.args[0] = (dnnl_exec_arg_t){
		DNNL_ARG_SRC, ones(matmul.src, kind->src, dnnl->engine)};
	p.args[1] = (dnnl_exec_arg_t){
		DNNL_ARG_WEIGHTS,
		ones(matmul.weights, kind->weights, dnnl->engine)};
	p.args[2] = (dnnl_exec_arg_t){
		DNNL_ARG_DST, ones(matmul.dst, kind->dst, dnnl->engine)};
	must(dnnl_primitive_create(&p.primitive, pd), "primitive");
	must(dnnl_primitive_desc_destroy(pd), "primitive description");
	return p;
}

static void
free_product(struct product *p)
{
	if (p->missing)
		return;
	dnnl_primitive_destroy(p->primitive);
	for (int i = 0; i < 3; i++)
		dnnl_memory_destroy(p->args[i].memory);
}

/* Operations a second over at least 4 ms of calls. */
static double
product_rate(const struct product *p, dnnl_stream_t stream)
{
	double start = now_s(), elapsed;
	int n = 0;

	do {
		must(dnnl_primitive_execute(p->primitive, stream, 3, p->args),
		     "product");
		must(dnnl_stream_wait(stream), "wait");
		n++;
		elapsed = now_s() - start;
	} while (elapsed < 4e-3);
	return n * p->n_ops / elapsed;
}

/* One probe of the widest loop of a type; 0 when this CPU has none.  The rig
 * binds the caller, so it lives only as long as the probe. */
static double
our_rate(enum sl_dtype dtype, size_t n_threads)
{
	struct sl__peak_kernel kernels[SL__MAX_PEAK_KERNELS];
	size_t n = sl__peak_kernels(kernels);
	size_t *buffer_bytes = calloc(n_threads, sizeof(*buffer_bytes));
	struct sl__arena arena;
	struct sl__rig rig;
	double best = 0;

	sl__arena_init(&arena, NULL);
	if (!buffer_bytes ||
	    sl__rig_open(&rig, n_threads, buffer_bytes, &arena, NULL))
		exit(71);
	for (size_t i = 0; i < n; i++) {
		double rate;

		if (kernels[i].dtype != dtype || kernels[i].absent ||
		    kernels[i].n_bits < 256)
			continue;
		(void)sl__rig_run_peak(&rig, &kernels[i], n_threads,
				       PROBE_ROUNDS / 4);
		rate = sl__rig_run_peak(&rig, &kernels[i], n_threads,
					PROBE_ROUNDS);
		if (rate > best)
			best = rate;
	}
	sl__rig_close(&rig);
	sl__arena_release(&arena);
	free(buffer_bytes);
	return best;
}

static double
decile(double *x, size_t n)
{
	sl__sort(x, n);
	return sl__quantile_sorted(x, n, 0.9);
}

static void
compare_peak(const struct kind *kind, size_t n_threads,
	     struct sl__dnnl_context *dnnl)
{
	static double ours[N_ROUNDS], theirs[N_SIZES][N_ROUNDS];
	struct product products[N_SIZES];
	double best = 0, peak;
	dnnl_dim_t best_size = 0;

	omp_set_num_threads((int)n_threads);
	for (int s = 0; s < N_SIZES; s++) {
		products[s] = make_matmul(kind, sizes[s], dnnl);
		if (products[s].missing) {
			printf("%-5s oneDNN has no such product here\n",
			       sl_dtype_text(kind->dtype));
			return;
		}
		(void)product_rate(&products[s], dnnl->stream);
	}
	for (int i = 0; i < N_ROUNDS; i++) {
		ours[i] = our_rate(kind->dtype, n_threads);
		for (int s = 0; s < N_SIZES; s++)
			theirs[s][i] = product_rate(&products[s], dnnl->stream);
	}
	peak = decile(ours, N_ROUNDS);
	for (int s = 0; s < N_SIZES; s++) {
		double rate = decile(theirs[s], N_ROUNDS);

		if (rate > best) {
			best = rate;
			best_size = sizes[s];
		}
		free_product(&products[s]);
	}
	printf("%-5s %zu thread%s  ours %8.2f Gop/s   oneDNN %8.2f (n = %d)   "
	       "ratio %.4f  %s\n",
	       sl_dtype_text(kind->dtype), n_threads,
	       n_threads == 1 ? " " : "s", peak * 1e-9, best * 1e-9,
	       (int)best_size, peak / best,
	       peak >= best && peak <= 1.05 * best ? "ok" : "OUTSIDE");
}

/* STREAM's triad: best of a few, 24 bytes an element. */
static double
stream_triad_rate(double *restrict a, const double *restrict b,
		  const double *restrict c, size_t n)
{
	double start = now_s();

#pragma omp parallel for schedule(static)
	for (size_t i = 0; i < n; i++)
		a[i] = b[i] + 3 * c[i];
	return 24.0 * (double)n / (now_s() - start);
}

static void
our_triad_rates(double *rates, size_t n_threads, size_t array_bytes)
{
	struct sl__stream_range stretch = {.access = SL_ACCESS_TRIAD,
					   .size_bytes =
						   3 * array_bytes / n_threads,
					   .chunk_bytes = SL__CHUNK_BYTES,
					   .n_repeats = 1};
	size_t *buffer_bytes = calloc(n_threads, sizeof(*buffer_bytes));
	struct sl__arena arena;
	struct sl__rig rig;

	if (!buffer_bytes)
		exit(71);
	for (size_t i = 0; i < n_threads; i++)
		buffer_bytes[i] = stretch.size_bytes;
	sl__arena_init(&arena, NULL);
	if (sl__rig_open(&rig, n_threads, buffer_bytes, &arena, NULL))
		exit(71);
	for (size_t i = 0; i < N_WARM_CHUNKS; i++, stretch.nth++)
		(void)sl__rig_run_stream(&rig, &stretch, n_threads);
	for (size_t i = 0; i < CHUNKS_PER_ROUND; i++, stretch.nth++)
		rates[i] = sl__rig_run_stream(&rig, &stretch, n_threads);
	sl__rig_close(&rig);
	sl__arena_release(&arena);
	free(buffer_bytes);
}

static void
compare_triad(size_t n_threads, size_t array_bytes)
{
	double ours[N_STREAM_ROUNDS], theirs[N_STREAM_ROUNDS];
	double ratios[N_STREAM_ROUNDS], mine, stream, ratio;
	size_t n = array_bytes / sizeof(double);
	omp_set_num_threads((int)n_threads);
	for (int r = 0; r < N_STREAM_ROUNDS; r++) {
		double our_round[CHUNKS_PER_ROUND], round[CHUNKS_PER_ROUND];
		/* Fresh pages each round, as ours are: where they lie in the
		 * host's memory matters. */
		double *arrays = aligned_alloc(1 << 21, 4 * array_bytes);
		double *b = arrays + n + OFFSET, *c = b + n + OFFSET;

		if (!arrays)
			exit(71);
		(void)madvise(arrays, 4 * array_bytes, MADV_HUGEPAGE);
#pragma omp parallel for schedule(static)
		for (size_t i = 0; i < n; i++)
			arrays[i] = b[i] = c[i] = 1;

		our_triad_rates(our_round, n_threads, array_bytes);
		for (int i = 0; i < CHUNKS_PER_ROUND; i++)
			round[i] = stream_triad_rate(arrays, b, c, n);
		ours[r] = sl__median_in_place(our_round, CHUNKS_PER_ROUND);
		theirs[r] = sl__median_in_place(round, CHUNKS_PER_ROUND);
		ratios[r] = ours[r] / theirs[r];
		free(arrays);
	}
	mine = sl__median_in_place(ours, N_STREAM_ROUNDS);
	stream = sl__median_in_place(theirs, N_STREAM_ROUNDS);
	ratio = sl__median_in_place(ratios, N_STREAM_ROUNDS);
	printf("triad %zu thread%s  ours %8.2f GB/s    STREAM %8.2f            "
	       "  ratio %.4f  %s\n",
	       n_threads, n_threads == 1 ? " " : "s", mine * 1e-9,
	       stream * 1e-9, ratio,
	       ratio >= 0.95 && ratio <= 1.05 ? "ok" : "OUTSIDE");
}

int
main(int argc, char **argv)
{
	size_t array_mib = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	size_t n_cpus = sl__thread_n_cpus();
	struct sl_error err;
	struct sl__dnnl_context *dnnl;
	struct sl__arena arena;

	if (argc > 2 || (argc > 1 && (array_mib < 2 || array_mib > 65536))) {
		fprintf(stderr, "usage: ceilings [MiB of one array, 128]\n");
		return 64;
	}
	if (!array_mib)
		array_mib = DEFAULT_ARRAY_MIB;
	sl__arena_init(&arena, NULL);
	if (sl__dnnl_context_new(&dnnl, &arena, &err)) {
		fprintf(stderr, "ceilings: %s\n", err.text);
		return 69;
	}
	for (size_t n = 1; n <= n_cpus; n = n < n_cpus ? n_cpus : n + 1) {
		for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
			compare_peak(&kinds[k], n, dnnl);
		compare_triad(n, array_mib << 20);
	}
	sl__dnnl_context_free(dnnl);
	sl__arena_release(&arena);
	return 0;
}
