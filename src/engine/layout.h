/* SPDX-License-Identifier: Apache-2.0 */
/* layout.h - the type and order of a value's elements in memory. */
#ifndef SL_LAYOUT_H
#define SL_LAYOUT_H

#include "sleuth/basics.h"

/*
 * A type of number and an order of elements: row-major, or one of oneDNN's
 * blocked ones.  NULL stands everywhere for the value's own type, packed and
 * row-major.  Layouts live in a program's arena and never change.
 */
struct sl__layout;

/*
 * Where a step's layouts come from.  A kernel that takes elements in any order
 * asks how its input was made, sl__plan_value_layout(), or only for what it can
 * read: sl__plan_find_bf16_layout() for row-major bf16,
 * sl__plan_find_unpadded_layout() for whole blocks of the value's own type.
 *  Its result lies likewise: sl__layout_like() is the same order for a value of
 * other sizes, sl__layout_retyped() the same order in another type.  Where a
 * primitive of oneDNN says how its operands lie, sl__layout_from_md() makes its
 * description a layout, and sl__layout_for_output() that of what it writes;
 * sl__gemm_row_major_layout() is row-major in a type that a matmul wants.  All
 * give NULL where that is the value's own layout, so that sl__layout_equal()
 * tells versions of it apart.
 */

/* Bytes of a value in that layout, padding included; the layout is not NULL. */
uint64_t sl__layout_bytes(const struct sl__layout *layout);
enum sl_dtype sl__layout_dtype(const struct sl__layout *layout);

/* Whether two are the same; NULL is the same as NULL only. */
int sl__layout_equal(const struct sl__layout *a, const struct sl__layout *b);

/* Whether elements lie packed and row-major, of whatever type. */
int sl__layout_is_dense(const struct sl__layout *layout);

#endif
