/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves where quantized types come from (zero point, attribute, scale), and
 * what going to integers and back costs.
 */
#include "one_node.h"

static void
types_come_from_zero_point_or_attribute(void **state)
{
	(void)state;
	check_refused("QuantizeLinear 13 (f32[2,3], f32[3], uint8[3]) axis=2",
		      "axis 2 lies outside of 2 dimensions");
	check_refused("DequantizeLinear 13 (uint8[2,3], f32[2]) axis=1",
		      "2 scales for dimension 1 of 2x3");
	check_out("DequantizeLinear 13 (uint8[3], f32[1])", "f32[3]");
	check_out("QuantizeLinear 10 (f32[2,n], f32[])", "uint8[2,n]");
	check_out("QuantizeLinear 13 (f32[2,n], f32[], int8[])", "int8[2,n]");
	check_out("QuantizeLinear 21 (f32[2,3], f32[]) output_dtype=22",
		  "int4[2,3]");
	check_out("QuantizeLinear 19 (f32, f32[], f8e4m3fn[])", "f8e4m3fn?");
	check_out("DequantizeLinear 13 (int8[2,n], f32[2], int8[2]) axis=0",
		  "f32[2,n]");
	check_out("DequantizeLinear 19 (uint8[2,3], f16[])", "f16[2,3]");
	check_out("DequantizeLinear 23 (uint8[2,3], f32[]) output_dtype=10",
		  "f16[2,3]");
	check_out("DynamicQuantizeLinear 11 (f32[2,n])",
		  "uint8[2,n] f32[] uint8[]");
	check_out("com.microsoft.QuantizeLinear 1 (f32[2], f32[], uint16[])",
		  "uint16[2]");
	check_out("com.microsoft.DequantizeLinear 1 (int32[2], f32[])",
		  "f32[2]");
}

static void
costs_are_formulas_times_elements(void **state)
{
	(void)state;
	check_cost("QuantizeLinear 13 (f32[10], f32[], int8[])",
		   {.mul = 10,
		    .add = 10,
		    .cmp = 20,
		    .work = SL_WORK_QUANTIZE,
		    .read_bytes = 40 + 4 + 1,
		    .written_bytes = 10});
	check_cost("QuantizeLinear 13 (f32[10], f32[])",
		   {.mul = 10, .cmp = 20, .work = SL_WORK_QUANTIZE});
	check_cost("DequantizeLinear 13 (int8[10], f32[], int8[])",
		   {.mul = 10, .add = 10, .work = SL_WORK_QUANTIZE});
	check_cost("DequantizeLinear 13 (int8[10], f32[])",
		   {.mul = 10, .work = SL_WORK_QUANTIZE});
	check_cost("DynamicQuantizeLinear 11 (f32[10])",
		   {.mul = 10,
		    .add = 10,
		    .cmp = 40,
		    .div = 2,
		    .work = SL_WORK_QUANTIZE});
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_come_from_zero_point_or_attribute),
		cmocka_unit_test(costs_are_formulas_times_elements),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
