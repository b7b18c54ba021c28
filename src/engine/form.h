/* SPDX-License-Identifier: Apache-2.0 */
/* form.h - how the elements of a value lie in memory. */
#ifndef SL_FORM_H
#define SL_FORM_H

#include "sleuth.h"

/*
 * A type of number and an order of elements: row-major, or one of oneDNN's
 * blocked ones.  NULL stands everywhere for the value's own type, packed and
 * row-major.  Forms live in a program's arena and never change.
 */
struct sl__form;

/*
 * Where a step's forms come from.  A kernel that takes elements in any order
 * asks how its input was made, sl__plan_form(), or only for what it can read:
 * sl__plan_short_form() for row-major bf16, sl__plan_full_form() for whole
 * blocks of the value's own type.  Its result lies likewise:
 * sl__layout_form() is the same order for a value of other sizes,
 * sl__form_retyped() the same order in another type.  Where a primitive of
 * oneDNN says how its operands lie, sl__form_of() makes its description a
 * form, and sl__form_written() that of what it writes; sl__product_form() is
 * row-major in a type that a product wants.  All give NULL where that is the
 * value's own form, so that sl__form_equal() tells versions of it apart.
 */

/* Bytes of a value in that form, padding included; the form is not NULL. */
uint64_t sl__form_bytes(const struct sl__form *form);
enum sl_dtype sl__form_dtype(const struct sl__form *form);

/* Whether two are the same; NULL is the same as NULL only. */
int sl__form_equal(const struct sl__form *a, const struct sl__form *b);

/* Whether elements lie packed and row-major, of whatever type. */
int sl__form_is_dense(const struct sl__form *form);

#endif
