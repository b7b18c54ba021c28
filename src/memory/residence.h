/* SPDX-License-Identifier: Apache-2.0 */
/* residence.h - what a stretch of work adds to the memory of the process. */
#ifndef SL_RESIDENCE_H
#define SL_RESIDENCE_H

#include "sleuth/basics.h"

/* What the process has in memory; resident = anonymous + file. */
struct sl__memory_snapshot {
	double resident_bytes;
	double anonymous_bytes; /* written, or made when read */
	double file_bytes;      /* pages of files, and those it shares */
	double peak_bytes;      /* most since the process began, or since the
				   mark was set back */
	double heap_bytes;      /* that malloc() has handed out; NaN: it does
				   not say */
	double code_bytes;      /* of the anonymous: code made at run time;
				   NaN: mappings are not listed */
};

/* Lines of /proc/PID/smaps_rollup (Rss, Anonymous) or of /proc/PID/status
 * (RssAnon, RssFile, RssShmem); 1, or 0 where they are not there. */
int sl__memory_from_smaps_rollup(struct sl__memory_snapshot *out,
				 const char *text);
int sl__memory_from_proc_status(struct sl__memory_snapshot *out,
				const char *text);

/* Anonymous bytes of mappings that can be executed and are of no file; 'text'
 * is that of /proc/PID/smaps. */
double sl__smaps_jit_code_bytes(const char *text);

/*
 * From sl__residence_begin() to sl__residence_end(), but for stretches between
 * 'pause' and 'resume', whose growth is left out of all figures.  Sets the
 * high-water mark of the process back where that is permitted, and gives back
 * what malloc() kept of what went before, which would hide growth.  Nothing
 * else in the process should allocate meanwhile.
 *
 * Invariants: after the end, resident = base + touched + file.
 */
struct sl__residence {
	const char *absent; /* why there is nothing; NULL */
	struct sl__memory_snapshot base, paused, now;
	struct sl__memory_snapshot others; /* growth that is left out */
	double peak_bytes;                 /* highest so far, others left out */
	int n_pauses;
	int peak_stretch; /* pauses before it; -1: not known, as an older
			     mark may hide it */
	int is_peak_reset;
};

void sl__residence_begin(struct sl__residence *r);
void sl__residence_pause(struct sl__residence *r);
void sl__residence_resume(struct sl__residence *r);
void sl__residence_end(struct sl__residence *r);

/* After the end: so many bytes were the measurer's own, and written. */
void sl__residence_exclude_bytes(struct sl__residence *r, uint64_t n_bytes);

/* After the end; bytes, of which growth may be negative. */
struct sl_reading sl__residence_baseline(const struct sl__residence *r);
struct sl_reading sl__residence_final(const struct sl__residence *r);
struct sl_reading sl__residence_anonymous_growth(const struct sl__residence *r);
struct sl_reading sl__residence_file_growth(const struct sl__residence *r);
struct sl_reading sl__residence_peak(const struct sl__residence *r);

/* Whether the peak was after the first pause; -1: not known. */
int sl__residence_peaked_after_pause(const struct sl__residence *r);

/* Growth of the heap and of code, as their owners count it: what is touched
 * besides pages that were asked of the system.  NaN where they do not say. */
double sl__residence_heap_growth(const struct sl__residence *r);
double sl__residence_jit_code_growth(const struct sl__residence *r);

/* Bytes of the pages with which the system backs large storage: the large
 * ones where it grants the wish for them, else the small ones. */
uint64_t sl__backing_page_size(void);

#endif
