/* SPDX-License-Identifier: Apache-2.0 */
/* machines.h - what this machine can do, and how well it measures. */
#ifndef SLEUTH_MACHINES_H
#define SLEUTH_MACHINES_H

#include "sleuth/measuring.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A word about the machine: NULL with the reason, or a value. */
struct sl_text_reading {
	const char *value;
	const char *absent; /* NULL when value stands */
};

/* What a cache holds. */
enum sl_cache_kind {
	SL_CACHE_DATA = 0,
	SL_CACHE_INSTRUCTION,
	SL_CACHE_UNIFIED
};
enum { SL_N_CACHE_KINDS = SL_CACHE_UNIFIED + 1 };

/* "data", "instruction", "unified"; never NULL. */
SL_API const char *sl_cache_kind_text(enum sl_cache_kind kind);

/* Caches of one level and kind. */
struct sl_cache {
	unsigned level;
	enum sl_cache_kind kind;
	size_t size_bytes;
	size_t line_bytes;
	size_t n;         /* how many there are */
	size_t n_sharing; /* hardware threads that share one */
};

/* Working sets of up to lo_bytes fit, those of hi_bytes and more do not, and
 * what lies between fits in part; 'bytes' is where half of the difference
 * shows.  NaN: not found. */
struct sl_cache_edge {
	double bytes, lo_bytes, hi_bytes;
};

/* A level of the memory hierarchy, or what computes: both are roofs. */
enum sl_level {
	SL_LEVEL_NONE = 0, /* not known, or a stretch that fits no cache */
	SL_LEVEL_L1,
	SL_LEVEL_L2,
	SL_LEVEL_L3,
	SL_LEVEL_L4,
	SL_LEVEL_L5,
	SL_LEVEL_DRAM,
	SL_LEVEL_COMPUTE /* arithmetic: a roof, no memory */
};
enum { SL_N_LEVELS = SL_LEVEL_COMPUTE + 1 };

/* "unnamed", "L1", ..., "L5", "DRAM", "compute"; never NULL. */
SL_API const char *sl_level_text(enum sl_level level);

/*
 * A cache as far as this process gets it, found from the time of accesses over
 * the size of their working set; what the system says of it plays no part.
 */
struct sl_found_cache {
	enum sl_level level;          /* in the order they were found */
	struct sl_cache_edge latency; /* of accesses in random order */
	struct sl_cache_edge stream;  /* of a load stream; NaN where streams
					 are as fast from behind it */
	double latency_ns, behind_ns; /* in it, and in what lies behind it */
};

/* A hardware counter and, when it cannot be read, why. */
struct sl_counter {
	const char *name;
	const char *absent; /* NULL when it can be read */
};

/* Levels of x86's instruction sets, each with all before it. */
enum sl_isa_level {
	SL_ISA_SCALAR = 0, /* what compilers make of plain C; no oneDNN */
	SL_ISA_SSE4,
	SL_ISA_AVX2,   /* with FMA */
	SL_ISA_AVX512, /* F, BW, DQ and VL; VNNI and BF16 where it has them */
	SL_ISA_AMX
};
enum { SL_N_ISA_LEVELS = SL_ISA_AMX + 1 };

/* "scalar", "sse4", "avx2", "avx512", "amx"; never NULL. */
SL_API const char *sl_isa_level_text(enum sl_isa_level level);

/*
 * Limits the instruction sets that this process uses, in oneDNN too, to a
 * level by its name; NULL: as the environment variable SLEUTH_ISA says, which
 * is obeyed without this call as well.  Sets are tried in a child process
 * first, and those that trap are not used whatever the limit.  SL_E_USAGE for
 * a name that is no level, and after the first plan or measurement of the
 * machine, when the sets are in use; SL_E_ABSENT for a level that this CPU
 * cannot be used at.  Any thread may call it.
 */
SL_API enum sl_status sl_isa_limit(const char *level,
				   struct sl_error *err) SL_CHECKED;

/* An instruction set that the CPU shows, of those that Sleuth can use. */
struct sl_isa_set {
	const char *isa; /* "AVX-512" */
	enum sl_isa_level level;
	int is_proved; /* executed in a child process, with the right result */
	int is_used;
};

/* Why an instruction set that the CPU shows is not used. */
enum sl_isa_cause {
	SL_ISA_USED = 0,
	SL_ISA_TILES_HIDDEN, /* CPUID shows AMX and does not describe its
				tiles: oneDNN would die of them */
	SL_ISA_LIMITED,      /* the user's limit is below it */
	SL_ISA_WRONG_RESULT, /* of a trial in a child process */
	SL_ISA_TRAPPED,      /* a signal ended the trial */
	SL_ISA_REFUSED       /* the kernel does not grant it */
};
enum { SL_N_ISA_CAUSES = SL_ISA_REFUSED + 1 };

/* "none", "tiles-hidden", "limit", "wrong-result", "trapped", "refused". */
SL_API const char *sl_isa_cause_text(enum sl_isa_cause cause);

/* An instruction set that the CPU shows and that is not used. */
struct sl_isa_cap {
	const char *isa;     /* "AMX" */
	const char *instead; /* what its work is done with: "AVX-512" */
	enum sl_isa_cause cause;
};

/* What arithmetic can reach. */
struct sl_peak {
	enum sl_dtype dtype;
	const char *isa;              /* "AVX-512", "SSE2", "scalar" */
	size_t n_bits;                /* width of a register */
	size_t n_threads;             /* 0 when absent */
	struct sl_estimate ops_per_s; /* a multiply-add is 2 */
	const char *absent;           /* NULL when ops_per_s stands */
	int is_hidden; /* absent, though the CPU has it or may: it could be
			  faster than all that was measured */
};

/*
 * Ways to walk memory.  NT stores are non-temporal: they pass the caches by.
 * Copy is b = a; triad is a = b + s * c.  A chase follows pointers in random
 * order.
 */
enum sl_access {
	SL_ACCESS_LOAD = 0,
	SL_ACCESS_STORE,
	SL_ACCESS_STORE_NT,
	SL_ACCESS_COPY,
	SL_ACCESS_COPY_NT,
	SL_ACCESS_TRIAD,
	SL_ACCESS_TRIAD_NT,
	SL_ACCESS_CHASE
};

/* "load", "store", "store-nt", ..., "chase". */
SL_API const char *sl_access_text(enum sl_access access);

/* One size on the way from the first cache to memory; value as a ceiling. */
struct sl_memory_point {
	enum sl_access access;
	size_t n_threads;
	size_t size_bytes; /* touched by each thread */
	double value;      /* bytes/s of all threads; chase: ns a load */
};

/*
 * A stretch of sizes over which memory answers alike, found on the curve.
 * Bytes are those the program reads and writes.  A plain store beyond the
 * first cache first reads its line (read for ownership): bytes times
 * traffic_per_byte is what moves then, supposing the core does read it.
 */
struct sl_memory_level {
	enum sl_level level;
	enum sl_access access;
	size_t n_threads;
	size_t from_bytes, to_bytes; /* touched by each thread */
	struct sl_estimate value;    /* as in struct sl_memory_point */
	double traffic_per_byte;     /* NaN for a chase */
};

struct sl_machine {
	/* What it is. */
	struct sl_text_reading model, architecture, kernel, microcode;
	struct sl_reading n_sockets, n_cores, n_hardware_threads, n_numa_nodes;
	struct sl_reading memory_bytes;
	size_t n_cpus_allowed;         /* this process may run on so many */
	const struct sl_cache *caches; /* from the first level outwards */
	size_t n_caches;
	const char *const *isa; /* extensions, as the kernel names them */
	size_t n_isa;
	enum sl_isa_level isa_shown, isa_used;
	const struct sl_isa_set *isa_sets; /* that the CPU shows */
	size_t n_isa_sets;
	const struct sl_isa_cap *caps; /* of these, not used */
	size_t n_caps;
	struct sl_text_reading governor, turbo, huge_pages, smt, hypervisor,
		energy;
	const struct sl_counter *counters;
	size_t n_counters;
	const char *fingerprint; /* 16 hexadecimal digits */

	/* What it can do. */
	const struct sl_found_cache *found_caches;
	size_t n_found_caches;
	const struct sl_peak *peaks;
	size_t n_peaks;
	const struct sl_memory_level *levels;
	size_t n_levels;
	const struct sl_memory_point *points;
	size_t n_points;
	struct sl_text_reading
		buffer_pages; /* pages under the buffers measured in */
	size_t max_threads;   /* the most that were used at once */
	size_t n_passes;      /* over everything that is measured */
	double elapsed_s;     /* of measuring */
	double measured_at_s; /* since 1970 */
	int from_cache;
	enum sl_stop stopped_by;
};

struct sl_machine_options {
	size_t struct_size;
	int fresh;                /* measure although a cached result fits */
	size_t n_threads;         /* at most; default: the CPUs allowed */
	double time_s;            /* for measuring; default 9.  One pass is made
			     even when it takes longer. */
	const char *cache_folder; /* default: sleuth in $XDG_CACHE_HOME or
				     in ~/.cache; "" for no cache */
	const char *root; /* for tests: stands before /proc and /sys and holds
			     hwloc.txt, while the CPU here is measured */
	const struct sl_log *log;
	void (*progress)(const struct sl_progress *now, void *ctx);
	void *progress_ctx;
	const volatile sig_atomic_t *interrupt;
	const struct sl_allocator *allocator;
};
#define SL_MACHINE_OPTIONS_INIT SL_OPTIONS_INIT(struct sl_machine_options)

/*
 * Says what this machine is and what it can do: from the cache when it holds
 * a result for this very machine, else by measuring and then caching.  A
 * cache that cannot be read or written is a line in the log, no failure.
 * Every ceiling is the ninth decile (latency: the first) of short probes
 * spread over several passes.  When interrupted after the first pass the
 * result stands, says so, and is not cached.
 */
SL_API enum sl_status sl_machine_probe(struct sl_machine **out,
				       const struct sl_machine_options *options,
				       struct sl_error *err) SL_CHECKED;

/* Like sl_machine_probe(), but never measures: SL_E_ABSENT without a cached
 * result. */
SL_API enum sl_status
sl_machine_open_cached(struct sl_machine **out,
		       const struct sl_machine_options *options,
		       struct sl_error *err) SL_CHECKED;
SL_API void sl_machine_free(struct sl_machine *m);

/* Appends what this machine is, in one line: its CPU, how many this process may
 * run on, and the kernel.  Measures nothing. */
SL_API enum sl_status sl_machine_append_name(struct sl_buf *out,
					     struct sl_error *err) SL_CHECKED;

/*
 * The best row for a type and a number of threads, over all instruction
 * sets; where n_threads was not measured, of the largest number below it.
 * NULL when there is none.
 */
SL_API const struct sl_peak *sl_machine_find_peak(const struct sl_machine *m,
						  enum sl_dtype dtype,
						  size_t n_threads);

/* Likewise the row of an access to a level. */
SL_API const struct sl_memory_level *
sl_machine_find_level(const struct sl_machine *m, enum sl_level level,
		      enum sl_access access, size_t n_threads);

/* Likewise the fastest stream of a level, by bytes that the program names. */
SL_API const struct sl_memory_level *
sl_machine_find_bandwidth(const struct sl_machine *m, enum sl_level level,
			  size_t n_threads);

/* Whether the CPU has, or may have, arithmetic that was not measured: it could
 * be faster than all that was. */
SL_API int sl_machine_hides_peaks(const struct sl_machine *m);

/*
 * The best that n_threads reach: operations (a multiply-add is 2) and bytes
 * from and to DRAM a second.  Where n_threads was not measured, the largest
 * measured number below it; NaN where nothing was.
 */
SL_API double sl_machine_peak_flops_per_s(const struct sl_machine *m,
					  enum sl_dtype dtype,
					  size_t n_threads);
SL_API double sl_machine_bandwidth_bytes_per_s(const struct sl_machine *m,
					       size_t n_threads);

struct sl_selfcheck_options {
	size_t struct_size;
	double time_s;      /* whole budget; default 60 */
	double budget_s;    /* of one verdict; default 0.1 */
	double function_ns; /* length of the work measured; default 50 us */
	uint64_t seed;
	void (*progress)(const struct sl_progress *now, void *ctx);
	void *progress_ctx;
	const volatile sig_atomic_t *interrupt;
	const struct sl_allocator *allocator;
};
#define SL_SELFCHECK_OPTIONS_INIT SL_OPTIONS_INIT(struct sl_selfcheck_options)

/* How often a planted change of 'planted' (0 for A against A) was found. */
struct sl_selfcheck_row {
	double planted;      /* asked for, as a share of the work */
	double planted_real; /* iterations added / iterations, exact */
	size_t n_verdicts;
	size_t n_different;         /* called faster or slower */
	size_t n_right;             /* of these, in the planted direction */
	struct sl_estimate rate;    /* n_different / n_verdicts (planted 0) or
				    n_right / n_verdicts, Clopper-Pearson */
	struct sl_estimate seconds; /* to a verdict, median of those reached */
};

struct sl_selfcheck {
	size_t n_rows;
	const struct sl_selfcheck_row *rows; /* planted 0, .01, .02, .05 */
	double budget_s, function_ns;
	struct sl_noise noise;
	double elapsed_s;
	enum sl_stop stopped_by;
	uint64_t seed;
};

/*
 * Measures the instrument itself on this machine: the same function against
 * itself, and against itself with 1, 2 and 5 % more iterations, each decided
 * as sl_compare() decides with margin 0, over and over, kinds interleaved.
 */
SL_API enum sl_status sl_selfcheck(struct sl_selfcheck **out,
				   const struct sl_selfcheck_options *options,
				   struct sl_error *err) SL_CHECKED;
SL_API void sl_selfcheck_free(struct sl_selfcheck *s);

/* Each appends the result to 'out'; SL_E_USAGE when it has no such format. */
SL_API enum sl_status sl_machine_render(const struct sl_machine *m,
					const struct sl_render_options *how,
					struct sl_buf *out,
					struct sl_error *err) SL_CHECKED;
SL_API enum sl_status sl_selfcheck_render(const struct sl_selfcheck *s,
					  const struct sl_render_options *how,
					  struct sl_buf *out,
					  struct sl_error *err) SL_CHECKED;

#ifdef __cplusplus
}
#endif

#endif
