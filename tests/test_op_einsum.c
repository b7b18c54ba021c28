/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that equations are read as numpy.einsum reads them: letters, "...",
 * results left out; and that products are the elements of all dimensions.
 */
#include "one_node.h"

static void
test_results(void **state)
{
	(void)state;
	check_out("Einsum 12 (f32[2,3], f32[3,4]) equation=ij,jk->ik",
		  "f32[2,4]");
	check_out("Einsum 12 (f32[2,3], f32[3,4]) equation=ij,jk", "f32[2,4]");
	/* alphabetical, capitals first */
	check_out("Einsum 12 (f32[2,3], f32[3,4]) equation=zj,jA", "f32[4,2]");
	check_out("Einsum 12 (f32[3,3]) equation=ii", "f32[]");
	check_out("Einsum 12 (f32[3,3]) equation=ii->i", "f32[3]");
	check_out("Einsum 12 (f32[2,3]) equation=ij->ji", "f32[3,2]");
	check_out("Einsum 12 (f32[2,8,5,64], f32[2,8,7,64]) "
		  "equation=bhqd,bhkd->bhqk",
		  "f32[2,8,5,7]");
	check_out("Einsum 12 (f32[6,2,3], f32[5,1,3,4]) "
		  "equation=...ij,...jk->...ik",
		  "f32[5,6,2,4]");
	check_out("Einsum 12 (f32[6,2,3], f32[5,1,3,4]) equation=...ij,...jk",
		  "f32[5,6,2,4]");
	check_out("Einsum 12 (f32[2,6,3]) equation=i...j->j...", "f32[3,6]");
	check_out("Einsum 12 (f32[2,3]) equation=...->...", "f32[2,3]");
	check_out("Einsum 12 (f32[n,3], f32[3,k]) equation=ij,jk->ik",
		  "f32[n,k]");
	check_out("Einsum 12 (f32, f32[3,4]) equation=ij,jk->ik", "f32?");
}

static void
test_nonsense_is_refused(void **state)
{
	(void)state;
	check_refused("Einsum 12 (f32[2,3], f32[4,4]) equation=ij,jk->ik",
		      "3 in one operand and 4 in another");
	check_refused("Einsum 12 (f32[2,3]) equation=ijk->i", "3 letters");
	check_refused("Einsum 12 (f32[2,3]) equation=i->i", "1 letters");
	check_refused("Einsum 12 (f32[2,3]) equation=ij,jk->i",
		      "does not fit 1 operands");
	check_refused("Einsum 12 (f32[2,3], f32[3]) equation=ij->i",
		      "does not fit 2 operands");
	check_refused("Einsum 12 (f32[2,3]) equation=ij->k", "in no operand");
	check_refused("Einsum 12 (f32[2,3]) equation=i?->i", "does not fit");
	check_refused("Einsum 12 (f32[2,3]) equation=ij->i->j", "no sense");
	check_refused("Einsum 12 (f32[2,3]) equation=...i...->i",
		      "does not fit");
}

static void
test_products(void **state)
{
	(void)state;
	check_cost("Einsum 12 (f32[2,8,5,64], f32[2,8,7,64]) "
		   "equation=bhqd,bhkd->bhqk",
		   {.fma = 2 * 8 * 5 * 7 * 64,
		    .macs = 2 * 8 * 5 * 7 * 64,
		    .work = SL_WORK_PRODUCT});
	check_cost("Einsum 12 (f32[6,2,3], f32[5,1,3,4]) equation=...ij,...jk",
		   {.fma = 5 * 6 * 2 * 3 * 4,
		    .macs = 5 * 6 * 2 * 3 * 4,
		    .work = SL_WORK_PRODUCT});
	check_cost("Einsum 12 (f32[5,2], f32[2]={1,2}) equation=ij,j->i",
		   {.fma = 10, .macs = 10, .work = SL_WORK_LINEAR});
	check_cost("Einsum 12 (f32[2,3]) equation=ij->ji",
		   {.work = SL_WORK_MOVEMENT});
	check_cost("Einsum 12 (f32[2,3]) equation=ij->i",
		   {.add = 4, .work = SL_WORK_REDUCTION});
	check_cost("Einsum 12 (f32[2,3], f32[3,4], f32[4,5]) "
		   "equation=ij,jk,kl->il",
		   {.fma = 120,
		    .mul = 120,
		    .macs = 120,
		    .work = SL_WORK_PRODUCT,
		    .basis = SL_BASIS_ESTIMATED});
}

static void
test_no_memory(void **state)
{
	(void)state;
	check_allocations("Einsum 12 (f32[n,3], f32[3,k]) equation=ij,jk->ik");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_results),
		cmocka_unit_test(test_nonsense_is_refused),
		cmocka_unit_test(test_products),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
