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

/* Bytes of a value in that form, padding included; the form is not NULL. */
uint64_t sl__form_bytes(const struct sl__form *form);
enum sl_dtype sl__form_dtype(const struct sl__form *form);

/* Whether two are the same; NULL is the same as NULL only. */
int sl__form_equal(const struct sl__form *a, const struct sl__form *b);

/* Whether elements lie packed and row-major, of whatever type. */
int sl__form_is_dense(const struct sl__form *form);

#endif
