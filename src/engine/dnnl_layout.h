/* SPDX-License-Identifier: Apache-2.0 */
/* dnnl_layout.h - layouts as oneDNN describes them; for dnnl_*.c only. */
#ifndef SL_DNNL_LAYOUT_H
#define SL_DNNL_LAYOUT_H

#include "base/hash.h"
#include "engine/dnnl_context.h"
#include "engine/dnnl_version.h"
#include "engine/planner.h"

struct sl__layout {
	const_dnnl_memory_desc_t md;
};

struct sl__dnnl_md_list {
	const_dnnl_memory_desc_t *items;
	size_t n, cap;
};

/*
 * Its parts may be destroyed when they are NULL, as all of oneDNN's objects
 * may.  The attribute puts a scratchpad into the user's hands.
 *
 * Descriptions of memory are the context's.  Those in 'kept', of layouts and of
 * steps, live as long as it does; those in 'scratch', all others, until the
 * node is planned for which they were made (sl__dnnl_context_rewind()).  Whoever
 * wants one and gets none takes another path; where memory was the reason,
 * is_out_of_memory makes a failure of it.
 */
struct sl__dnnl_context {
	dnnl_engine_t engine;
	dnnl_stream_t stream;
	dnnl_primitive_attr_t attr;
	struct sl__arena *arena;
	struct sl__dnnl_md_list kept, scratch;
	int is_out_of_memory;
};

/* oneDNN's status as ours; 'what' says what was tried. */
enum sl_status sl__dnnl_status(dnnl_status_t status, const char *what,
			       struct sl_error *err);

/* Likewise noted by the planner; whether all is well. */
int sl__planner_keep_dnnl_status(struct sl__planner *pl, dnnl_status_t status,
				 const char *what);

/* dnnl_data_type_undef for types that it does not compute with. */
dnnl_data_type_t sl__dnnl_data_type(enum sl_dtype dtype);
enum sl_dtype sl__dtype_from_dnnl(dnnl_data_type_t type);

/* Row-major elements; 0 for types and sizes that oneDNN does not take
 * (none, or more than 12 dimensions).  A scalar has one dimension. */
int sl__dnnl_row_major_md(const_dnnl_memory_desc_t *out,
			  struct sl__dnnl_context *dnnl, enum sl_dtype dtype,
			  int rank, const int64_t *dims);

/* Any order, for the primitive to choose. */
int sl__dnnl_any_layout_md(const_dnnl_memory_desc_t *out,
			   struct sl__dnnl_context *dnnl, enum sl_dtype dtype,
			   int rank, const int64_t *dims);

/* Elements at those strides; in that order; as 'md' has them.  0: oneDNN cannot
 * describe it. */
int sl__dnnl_strided_md(const_dnnl_memory_desc_t *out,
			struct sl__dnnl_context *dnnl,
			const struct sl__dnnl_strides *strides);
int sl__dnnl_tagged_md(const_dnnl_memory_desc_t *out,
		       struct sl__dnnl_context *dnnl,
		       const struct sl__dnnl_strides *sizes,
		       dnnl_format_tag_t tag);
int sl__dnnl_copy_md(const_dnnl_memory_desc_t *out,
		     struct sl__dnnl_context *dnnl,
		     const_dnnl_memory_desc_t md);

/* The same for as long as the context lives; NULL after a failure only. */
const_dnnl_memory_desc_t sl__dnnl_keep_md(struct sl__planner *pl,
					  const_dnnl_memory_desc_t md);

/* Whether the elements, padding included, are all that it describes. */
int sl__dnnl_md_is_compact(const_dnnl_memory_desc_t md);

/* The layout that md describes of a value: NULL where it is the value's own. */
const struct sl__layout *sl__layout_from_md(struct sl__planner *pl,
					    uint32_t value,
					    const_dnnl_memory_desc_t md);

/* A layout as it stands, NULL after a failure only. */
const struct sl__layout *sl__layout_new(struct sl__planner *pl,
					const_dnnl_memory_desc_t md);

/* The description of a value in a layout; 0 where its own has none. */
int sl__layout_md(const struct sl__planner *pl, uint32_t value,
		  const struct sl__layout *layout,
		  const_dnnl_memory_desc_t *out);

/* Tells layouts of a value apart, also those of other plans; 0 where oneDNN does
 * not say enough. */
int sl__layout_digest(const struct sl__planner *pl, uint32_t value,
		      const struct sl__layout *layout, struct sl__digest *out);

/* One argument of a primitive. */
struct sl__dnnl_arg {
	int arg; /* DNNL_ARG_SRC ... */
	uint32_t buffer;
	const_dnnl_memory_desc_t md; /* copied into the step */
};

/*
 * A step that executes a primitive of the node under way.  Takes the
 * descriptor over (it is destroyed with the step, on failure too); NULL is a
 * failure.  Its scratchpad, which the attribute must have put into the user's
 * hands, is a workspace; the kernel is named as oneDNN names the
 * implementation.
 */
struct sl__step *sl__plan_dnnl_primitive(struct sl__planner *pl,
					 dnnl_primitive_desc_t pd,
					 const struct sl__dnnl_arg *args,
					 uint32_t n);

/* Executes a reorder at once; 0: a failure.  That of a dry plan is made and not
 * executed. */
int sl__dnnl_reorder_now(struct sl__planner *pl,
			 const_dnnl_memory_desc_t from_md, const void *from,
			 const_dnnl_memory_desc_t to_md, void *to);

#endif
