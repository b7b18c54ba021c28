/* SPDX-License-Identifier: Apache-2.0 */
/* sleuth.h - measure C functions, commands, machines and models. */
#ifndef SLEUTH_H
#define SLEUTH_H

#define SL_VERSION_MAJOR 0
#define SL_VERSION_MINOR 1
#define SL_VERSION_PATCH 0

/*
 * Conventions that hold for every function below.
 *
 * Times are in nanoseconds (_ns) or seconds (_s), sizes in bytes (_bytes),
 * shares and ratios are plain numbers (0.01 is one percent).  A figure that
 * could not be had is NaN, and a string beside it says why.
 *
 * An option struct starts with struct_size, which its initializer sets:
 *
 *	struct sl_measure_options how = SL_MEASURE_OPTIONS_INIT;
 *
 * Every other field may be zero, which means the default; NULL in place of
 * an option struct means all defaults.  Later versions add fields at the end.
 * A caller and a library of different versions understand each other; only a
 * field that is set and that the library does not know is SL_E_USAGE.
 *
 * Result structs are allocated by the library, freed by the matching _free(),
 * read-only in between, and may be read from any thread.  _free(NULL) is fine.
 *
 * A function that can fail returns enum sl_status and takes, last, a struct
 * sl_error that it fills on failure and leaves alone on success; NULL is
 * allowed there.  On failure every out-parameter is NULL.  The library never
 * prints, never ends the program and installs no signal handlers.
 *
 * A handler of the caller's that may run on a thread that runs a model needs
 * SA_ONSTACK and an alternate stack on that thread (sigaltstack(2)): code that
 * oneDNN generates may use the stack pointer for data, and a handler's frame
 * would be written over them.
 *
 * Functions may be called from several threads at once on different objects.
 * Measuring from two threads at once is allowed and disturbs both.
 */

/* A function may have the name of the struct that it makes.  C++ allows that,
 * but with -Wshadow gcc remarks on it in every program. */
#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif

/* The parts, in the order of the way from a function to a page. */
#include "sleuth/basics.h"
#include "sleuth/facts.h"
#include "sleuth/rendering.h"
#include "sleuth/measuring.h"
#include "sleuth/observing.h"
#include "sleuth/machines.h"
#include "sleuth/models.h"
#include "sleuth/running.h"
#include "sleuth/data_sets.h"
#include "sleuth/inspecting.h"
#include "sleuth/training_steps.h"
#include "sleuth/profiling.h"
#include "sleuth/overheads.h"
#include "sleuth/sweeping.h"
#include "sleuth/microbenchmarks.h"
#include "sleuth/generating.h"
#include "sleuth/training_runs.h"
#include "sleuth/evaluating.h"
#include "sleuth/variants.h"
#include "sleuth/optimizing.h"
#include "sleuth/loading.h"
#include "sleuth/comparing.h"
#include "sleuth/results.h"
#include "sleuth/storing.h"
#include "sleuth/suites.h"
#include "sleuth/gating.h"
#include "sleuth/serving.h"

#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that is loaded, such as "0.1.0". */
SL_API const char *sl_version(void);

/*
 * Adds lines that say how the library was built and what it computes with:
 * compiler, assertions, sanitizers; oneDNN's version, threads and instruction
 * sets; optional parts.  SL_E_NOMEM.
 */
SL_API enum sl_status sl_build_text(struct sl_buf *out,
				    struct sl_error *err) SL_CHECKED;

#ifdef __cplusplus
}
#endif

#endif
