/* SPDX-License-Identifier: Apache-2.0 */
/* basics.h - errors, storage, and figures with their error. */
#ifndef SLEUTH_BASICS_H
#define SLEUTH_BASICS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SL_API     __attribute__((visibility("default")))
#define SL_CHECKED __attribute__((warn_unused_result))
#else
#define SL_API
#define SL_CHECKED
#endif

/* Initialises an option struct: struct_size set, all else zero, the default.
 * Each struct has its own, such as SL_MEASURE_OPTIONS_INIT. */
#ifdef __cplusplus
#define SL_OPTIONS_INIT(type)                         \
	([] {                                         \
		type options = {};                    \
		options.struct_size = sizeof options; \
		return options;                       \
	}())
#else
#define SL_OPTIONS_INIT(type)               \
	{                                   \
		.struct_size = sizeof(type) \
	}
#endif

enum sl_status {
	SL_OK = 0,
	SL_E_NOMEM = -1,       /* out of memory */
	SL_E_USAGE = -2,       /* an argument or option makes no sense */
	SL_E_DATA = -3,        /* a model or data file is malformed */
	SL_E_ABSENT = -4,      /* this machine or build does not have it */
	SL_E_IO = -5,          /* reading or writing failed */
	SL_E_MEASURE = -6,     /* what was measured failed, or nothing was */
	SL_E_INTERRUPTED = -7, /* told to stop before anything was measured */
	SL_E_BUG = -8          /* a defect in Sleuth */
};

/* A short English phrase for 'status', valid for ever; never NULL. */
SL_API const char *sl_status_text(enum sl_status status);

/* What a caller could say about it, in its own words. */
enum sl_hint {
	SL_HINT_NONE = 0,
	SL_HINT_SIZE,        /* the text begins with what was said of sizes:
				batch, seq, past, dim NAME, shape INPUT, inputs */
	SL_HINT_SIZE_OR_DIM, /* likewise; dimensions that the text names can be
				said by name */
	SL_HINT_MISSING,     /* sizes are needed that nothing gives */
	SL_HINT_BATCH,       /* the batch cannot be said */
	SL_HINT_MODELS,      /* there is a list of built-in models */
	SL_HINT_LAYERS,      /* an inspection lists the names of layers */
	SL_HINT_FAILURE,     /* failing commands can be ignored */
	SL_HINT_LINE,        /* the command is no program but a whole line */
	SL_HINT_WORDS        /* lines may be meant as words of one command */
};

/* A size that a model needs and nothing gives; names are cut. */
struct sl_missing_size {
	char input[64];
	char dim[64]; /* "": it has no name; give the shape of the input */
};
enum { SL_MISSING_MOST = 8 };

/* What went wrong, in one line without a newline, fit for a user. */
struct sl_error {
	enum sl_status status;
	char text[512];
	enum sl_hint hint;
	struct sl_missing_size missing[SL_MISSING_MOST];
	size_t n_missing; /* 0 but for SL_HINT_MISSING; a name counts once */
	char stderr_tail[256]; /* last lines of a command that failed, fit to
				  print; "": none */
};

/*
 * Where the library gets its memory.  'alloc' returns 16-byte aligned
 * storage or NULL; 'release' takes what 'alloc' returned (never NULL).
 * Both may be called from any thread that calls the library.  The struct is
 * copied; 'ctx' must live until the last result made with it is freed.
 */
struct sl_allocator {
	void *(*alloc)(size_t n_bytes, void *ctx);
	void (*release)(void *block, void *ctx);
	void *ctx;
};

/*
 * Bytes written by the library, owned by the caller.  Start from all zeros.
 * 'data' ends in a NUL that n_bytes does not count, and is NULL while
 * nothing was written.
 */
struct sl_buf {
	char *data;
	size_t n_bytes;
	size_t cap_bytes;
};

/* Frees the contents and makes the buffer empty; it may be used again. */
SL_API void sl_buf_release(struct sl_buf *buf);

/*
 * Adds a word of a command line as a shell reads it back: in quotes where it
 * needs them, after a space unless the buffer is empty.  SL_E_NOMEM.
 */
SL_API enum sl_status sl_buf_add_word(struct sl_buf *buf, const char *word,
				      struct sl_error *err) SL_CHECKED;

/*
 * Makes 'path' hold exactly the bytes of 'buf', or leaves it as it was: a
 * regular file is written beside its destination and renamed.  SL_E_IO with
 * the reason when that cannot be done.
 */
SL_API enum sl_status sl_buf_write(const struct sl_buf *buf, const char *path,
				   struct sl_error *err) SL_CHECKED;

/*
 * Where the library sends remarks about what it is doing: one line at a time,
 * without a newline, from the thread that called.
 */
struct sl_log {
	void (*line)(const char *text, void *ctx);
	void *ctx;
};

/*
 * Reads an amount such as "12.5", "100G", "8Gi" or "1e9": k, M, G, T and P are
 * powers of 1000, with an i of 1024; a B for bytes may follow.  Returns 1, or 0
 * when 'text' is none; it is never negative.
 */
SL_API int sl_quantity_read(double *out, const char *text);

/*
 * Makes one line of 'text', UTF-8 of unknown origin, that is safe to print: in
 * place, control characters, line separators, marks that turn the direction of
 * text or have no width, and malformed bytes become one '?' each.
 */
SL_API void sl_text_sanitize(char *text);

/*
 * Which name 'word' was probably meant to be: 'name' where it is near (at most
 * two letters added, removed, changed or swapped, and fewer than half of them;
 * case does not count) and nearer than 'best', else 'best', which may be NULL.
 */
SL_API const char *sl_text_nearer(const char *word, const char *best,
				  const char *name);

/* The values are those of ONNX's TensorProto.DataType. */
enum sl_dtype {
	SL_DTYPE_NONE = 0,
	SL_DTYPE_F32 = 1,
	SL_DTYPE_U8 = 2,
	SL_DTYPE_I8 = 3,
	SL_DTYPE_U16 = 4,
	SL_DTYPE_I16 = 5,
	SL_DTYPE_I32 = 6,
	SL_DTYPE_I64 = 7,
	SL_DTYPE_STRING = 8,
	SL_DTYPE_BOOL = 9,
	SL_DTYPE_F16 = 10,
	SL_DTYPE_F64 = 11,
	SL_DTYPE_U32 = 12,
	SL_DTYPE_U64 = 13,
	SL_DTYPE_C64 = 14, /* two f32 */
	SL_DTYPE_C128 = 15,
	SL_DTYPE_BF16 = 16,
	SL_DTYPE_F8E4M3FN = 17,
	SL_DTYPE_F8E4M3FNUZ = 18,
	SL_DTYPE_F8E5M2 = 19,
	SL_DTYPE_F8E5M2FNUZ = 20,
	SL_DTYPE_U4 = 21, /* two to a byte, the first in the low half */
	SL_DTYPE_I4 = 22,
	SL_DTYPE_F4E2M1 = 23,
	SL_DTYPE_F8E8M0 = 24, /* powers of two */
	SL_DTYPE_U2 = 25,     /* four to a byte, the first in the low bits */
	SL_DTYPE_I2 = 26
};

enum { SL_N_DTYPES = 27 };

/* "f32", "bf16", "int8", "uint4", "bool", ...; never NULL. */
SL_API const char *sl_dtype_text(enum sl_dtype dtype);

/* Bits of one element: 32 for f32, 4 for int4; 0 for strings and NONE. */
SL_API unsigned sl_dtype_bits(enum sl_dtype dtype);

/* How an interval was found. */
enum sl_method {
	SL_METHOD_NONE = 0,
	SL_METHOD_ORDER,    /* order statistics; assumes independence */
	SL_METHOD_BLOCK,    /* stationary block bootstrap */
	SL_METHOD_STUDENT,  /* Student's t */
	SL_METHOD_BCA,      /* BCa bootstrap */
	SL_METHOD_SIGN,     /* inverted sign e-process; always valid */
	SL_METHOD_BINOMIAL, /* Clopper-Pearson, for shares */
	SL_METHOD_BATCH     /* order statistics or Student's t over the samples
			      that correlated ones are worth, by batch means */
};

/* A name for 'method' as reports print it; never NULL. */
SL_API const char *sl_method_text(enum sl_method method);

/*
 * A figure with its 95 % interval.  When n samples cannot support the
 * interval, lo and hi are NaN and needs_n says how many would.
 */
struct sl_estimate {
	double value;
	double lo, hi;
	size_t n;
	size_t needs_n; /* 0 when the interval stands */
	enum sl_method method;
};

/* A figure that a machine may not have: NaN with the reason, or a value. */
struct sl_reading {
	double value;
	const char *absent; /* NULL when value stands; lives as long as the
			       result it is in */
};

/* How a series of times begins. */
enum sl_warmup_class {
	SL_WARMUP_UNKNOWN = 0, /* too few samples to say */
	SL_WARMUP_FLAT,        /* steady from the start */
	SL_WARMUP_WARMING,     /* became faster, then steady */
	SL_WARMUP_SLOWING,     /* became slower, then steady */
	SL_WARMUP_NONE         /* never became steady */
};

/* A name for 'c' as reports print it; never NULL. */
SL_API const char *sl_warmup_text(enum sl_warmup_class c);

/* What a column of times says.  All times are per call, in nanoseconds. */
/* One time of a series. */
struct sl_sample {
	double ns;
	size_t round; /* in which it was taken, from 0 */
	int is_warmup, is_disturbed;
};

struct sl_latency {
	size_t n; /* samples in the steady state; all below is over these */
	double min_ns, max_ns, std_ns, mad_ns;
	double skewness;
	struct sl_estimate mean;
	struct sl_estimate median; /* the p50 */
	struct sl_estimate p90, p95, p99;
	double first_ns; /* the cold first call; among the n only for commands
			    without warm-up, of which every run counts */
	enum sl_warmup_class warmup;
	size_t n_warmup; /* samples before the steady state */
	size_t n_outliers_low, n_outliers_high; /* labelled, not removed */
	double autocorrelation;                 /* lag 1 */
	double minimum_detectable; /* smallest relative change seen with 80 %
				      power in a second series like this */
	const struct sl_sample *samples; /* in order, warm-up first, thinned
					    where there were too many; NULL:
					    not kept here */
	size_t n_samples;
};

/*
 * What disturbed a measurement.  A slot is the stretch between two readings
 * of the covariates; it is disturbed when the thread was preempted, waited
 * for a CPU or changed CPU in it.  For commands a slot is a run, disturbed
 * when it waited for a CPU for more than a tenth of its time.
 */
struct sl_noise {
	size_t n_slots;
	size_t n_disturbed;
	struct sl_reading involuntary_switches; /* count */
	struct sl_reading run_delay_share;      /* waiting for a CPU / wall */
	struct sl_reading steal_share;          /* taken by the hypervisor */
	struct sl_reading migrations;           /* count */
	struct sl_reading neighbour_share;      /* CPU use by others, of all */
	struct sl_reading frequency_drift; /* of a probe: (p90 - p10) / p50 */
	struct sl_reading throttle_events; /* count */
};

/* Why a measurement ended. */
enum sl_stop {
	SL_STOP_RUNS = 0,  /* the number asked for was reached */
	SL_STOP_PRECISION, /* the interval is as narrow as asked */
	SL_STOP_TIME,      /* the time budget is spent */
	SL_STOP_VERDICT,   /* the question is decided */
	SL_STOP_INTERRUPT  /* the caller's interrupt flag was set */
};

#ifdef __cplusplus
}
#endif

#endif
