/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ref_signal.c - proves that Fourier transforms of every length agree
 * with the sum that defines them, and that frames, windows and mel weights
 * are those of their formulas.
 */
#include "evaluated.h"

enum { POINTS_MOST = 128 };

static const double tau = 6.283185307179586476925286766559;

/* Output 0 of a line, element by element, as near as 64 bits allow sums of
 * some hundred numbers of size 10 to be. */
static void
check_output(const char *line, size_t n, const double *expected)
{
	struct evaluated *e = evaluated(line);
	const struct sl__tensor *t;

	if (e->rc)
		fail_msg("%s: %s", line, e->err.text);
	t = &evaluated_out(e, 0)->tensor;
	assert_int_equal(t->n_elements, n);
	for (size_t i = 0; i < n; i++) {
		double value;

		assert_true(sl__tensor_doubles(t, i, 1, &value));
		if (!(fabs(value - expected[i]) <= 1e-11))
			fail_msg("%s: element %zu is %.17g, not %.17g", line, i,
				 value, expected[i]);
	}
	evaluated_free(e);
}

/* Some signal: pairs of numbers from -3 to 3. */
static double
part(size_t i)
{
	return (double)((i * 37 + 11) % 61) / 10 - 3;
}

/* The definition; pairs of numbers in both. */
static void
sum_up(double *out, const double *in, size_t n, double sign)
{
	for (size_t k = 0; k < n; k++) {
		out[2 * k] = out[2 * k + 1] = 0;
		for (size_t j = 0; j < n; j++) {
			double a = sign * tau * (double)(j * k % n) / (double)n;

			out[2 * k] +=
				in[2 * j] * cos(a) - in[2 * j + 1] * sin(a);
			out[2 * k + 1] +=
				in[2 * j] * sin(a) + in[2 * j + 1] * cos(a);
		}
	}
}

static void
write_line(char *line, size_t size, const double *in, size_t n,
	   const char *attributes)
{
	size_t used = (size_t)snprintf(line, size, "DFT 17 (f64[1,%zu,2]={", n);

	for (size_t i = 0; i < 2 * n; i++)
		used += (size_t)snprintf(line + used, size - used, "%s%.17g",
					 i ? "," : "", in[i]);
	snprintf(line + used, size - used, "}) %s", attributes);
}

/* Primes, powers and products of them. */
static void
test_dft_is_its_sum(void **state)
{
	double in[2 * POINTS_MOST], out[2 * POINTS_MOST];
	char line[8192];

	(void)state;
	for (size_t n = 1; n <= 64; n += n < 32 ? 1 : 8) {
		for (size_t i = 0; i < 2 * n; i++)
			in[i] = part(i);
		sum_up(out, in, n, -1);
		write_line(line, sizeof(line), in, n, "");
		check_output(line, 2 * n, out);
		sum_up(out, in, n, 1);
		for (size_t i = 0; i < 2 * n; i++)
			out[i] /= (double)n;
		write_line(line, sizeof(line), in, n, "inverse=1");
		check_output(line, 2 * n, out);
	}
}

/* 1 to 6 have the spectrum 21, -3 + 3 sqrt(3) i, -3 + sqrt(3) i, -3. */
static void
test_one_side_of_a_real_signal(void **state)
{
	const double whole[] = {21, 0, -3, 3 * sqrt(3), -3, sqrt(3), -3, 0};
	const double one_to_six[] = {1, 2, 3, 4, 5, 6};
	char line[256];

	(void)state;
	check_output("DFT 20 (f64[1,6,1]={1,2,3,4,5,6}) onesided=1", 8, whole);
	snprintf(line, sizeof(line),
		 "DFT 20 (f64[1,4,2]={21,0,-3,%.17g,-3,%.17g,-3,0}) "
		 "onesided=1 inverse=1",
		 3 * sqrt(3), sqrt(3));
	check_output(line, 6, one_to_six);
}

/* 1 to 5 are 15 and -2.5 (1 - i cot(k pi / 5)): an odd length must be told. */
static void
test_odd_length_is_told(void **state)
{
	const double one_to_five[] = {1, 2, 3, 4, 5};
	char line[256];

	(void)state;
	snprintf(line, sizeof(line),
		 "DFT 20 (f64[3,2]={15,0,-2.5,%.17g,-2.5,%.17g}, i64[]={5}, "
		 "i64[]={0}) onesided=1 inverse=1",
		 2.5 / tan(tau / 10), 2.5 / tan(tau / 5));
	check_output(line, 5, one_to_five);
}

static void
test_length_cuts_or_fills_up(void **state)
{
	(void)state;
	check_evaluated("DFT 20 (f64[1,3,1]={1,2,9}, i64[]={2})",
			"f64[1,2,2]={3,0,-1,0}");
	check_output("DFT 20 (f64[1,2,1]={1,2}, i64[]={4})", 8,
		     (double[]){3, 0, 1, -2, -1, 0, 1, 2});
	check_evaluated("DFT 20 (f64[0,2,1]={})", "f64[0,2,2]={}");
}

/* Columns of a picture: the second axis, from either end. */
static void
test_axis(void **state)
{
	const char *expected = "f64[1,2,2,2]={4,0,6,0,-2,0,-2,0}";

	(void)state;
	check_evaluated("DFT 17 (f64[1,2,2,1]={1,2,3,4})", expected);
	check_evaluated("DFT 20 (f64[1,2,2,1]={1,2,3,4}, _, i64[]={-3})",
			expected);
	check_evaluated("DFT 20 (f64[1,2,2,1]={1,2,3,4})",
			"f64[1,2,2,2]={3,0,-1,0,7,0,-1,0}");
	check_fails("DFT 17 (f64[1,2,3]={1,2,3,4,5,6})", "3 parts");
}

/* Frames of 4, two apart, under a window; and of 3 complex numbers. */
static void
test_frames(void **state)
{
	const double h = sqrt(3) / 2;

	(void)state;
	check_output(
		"STFT 17 (f64[1,7,1]={1,2,3,4,5,6,7}, i64[]={2}, "
		"f64[4]={0.5,1,0.5,0.25})",
		12, (double[]){5, 0, -1, -1, -1, 0, 9.5, 0, -1, -2.5, -1.5, 0});
	/* 1, i, 0 and i, 0, 1 */
	check_output("STFT 17 (f64[1,4,2]={1,0,0,1,0,0,1,0}, i64[]={1}, _, "
		     "i64[]={3}) onesided=0",
		     12,
		     (double[]){1, 1, 1 + h, -0.5, 1 - h, -0.5, 1, 1, -0.5,
				1 + h, -0.5, 1 - h});
	check_fails("STFT 17 (f64[1,4,1]={1,2,3,4}, i64[]={-1}, _, i64[]={2})",
		    "negative");
	check_fails("STFT 17 (f64[1,4,1]={1,2,3,4}, i64[]={1}, f64[3]={1,1,1}, "
		    "i64[]={2})",
		    "window");
}

static void
test_windows(void **state)
{
	(void)state;
	check_evaluated("HannWindow 17 (i64[]={5}) periodic=0",
			"f32[5]={0,0.5,1,0.5,0}");
	check_evaluated("HannWindow 17 (i32[]={4})", "f32[4]={0,0.5,1,0.5}");
	check_evaluated("HammingWindow 17 (i64[]={4}) output_datatype=11",
			"f64[4]={0.08695652,0.5434783,1,0.5434783}");
	check_output("BlackmanWindow 17 (i64[]={5}) periodic=0 "
		     "output_datatype=11",
		     5, (double[]){0, 0.34, 1, 0.34, 0});
	check_evaluated("HannWindow 17 (i64[]={1}) periodic=0", "f32[1]={1}");
	check_evaluated("HannWindow 17 (i64[]={0})", "f32[0]={}");
}

/*
 * Up to 700 Hz are 2595 log10(2) mel, so four corners in four steps lie at
 * 700 (2^(i/4) - 1) Hz: 0, 132.4, 289.9, 477.3; with 8 points at 1400 Hz
 * on bins 0, 0, 1, 3.
 */
static void
test_mel_triangles(void **state)
{
	(void)state;
	check_evaluated("MelWeightMatrix 17 (i64[]={2}, i64[]={8}, "
			"i64[]={1400}, f32[]={0}, f32[]={700})",
			"f32[5,2]={1,0,0,1,0,0.5,0,0,0,0}");
	check_fails("MelWeightMatrix 17 (i64[]={2}, i64[]={8}, i64[]={1400}, "
		    "f32[]={0}, f32[]={-900})",
		    "no frequencies");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dft_is_its_sum),
		cmocka_unit_test(test_one_side_of_a_real_signal),
		cmocka_unit_test(test_odd_length_is_told),
		cmocka_unit_test(test_length_cuts_or_fills_up),
		cmocka_unit_test(test_axis),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_mel_triangles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
