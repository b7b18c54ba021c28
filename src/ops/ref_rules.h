/* SPDX-License-Identifier: Apache-2.0 */
/* ref_rules.h - a kernel's inputs as the rules of its operator see them. */
#ifndef SL_REF_RULES_H
#define SL_REF_RULES_H

#include "ops/ref.h"

/*
 * What reads a node's attributes and inputs for its rules reads them for its
 * kernel too: between begin and end, 'call' has the types and contents that
 * the kernel was given, and its storage is the kernel's scratch arena, which
 * nothing else may use.  No size is a symbol.
 */
struct sl__ref_rule_view {
	struct sl__shapes shapes;
	struct sl__rule_context call;
};

enum sl_status sl__ref_rule_view_begin(struct sl__ref_rule_view *view,
				       struct sl__kernel_call *ev);

/* The kernel has failed where the reading has. */
enum sl_status sl__ref_rule_view_end(struct sl__ref_rule_view *view,
				     struct sl__kernel_call *ev);

#endif
