/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a model could run, against closed forms: one square product, machines
 * that are nothing but arithmetic or nothing but memory, a rate that takes two
 * of them, a limit that none holds, and the batch from which a GPU is better.
 */
#include "fact_says.h"
#include "counting.h"
#include "machine/hardware.h"
#include "square_layer.h"

static struct sl_hardware *
machine(const char *text)
{
	struct sl_hardware *h;
	struct sl_error err;

	if (sl__hardware_parse(&h, "box", text, &err))
		fail_msg("%s", err.text);
	return h;
}

static struct sl_hardware_report *
report(const struct sl_graph *graph, struct sl_hardware *const *machines,
       size_t n, const struct sl_hardware_options *how)
{
	struct sl_hardware_report *r;
	struct sl_error err;

	if (sl_hardware_report(&r, graph,
			       (const struct sl_hardware *const *)machines, n,
			       how, &err))
		fail_msg("%s", err.text);
	return r;
}

static const char *const slow_arithmetic =
	"kind cpu\npeak f32 1G\nbandwidth 1P\nmemory 1G\nprice 3.6\n";
static const char *const slow_memory =
	"kind cpu\npeak f32 1P\nbandwidth 1G\nmemory 1M\n";

static void
test_bounds(void **state)
{
	struct sl_graph *graph = square_layer(0);
	struct sl_hardware *both[] = {machine(slow_arithmetic),
				      machine(slow_memory)};
	struct sl_hardware_report *r = report(graph, both, 2, NULL);
	/* The one that waits for memory is bounded by twice as much. */
	const struct sl_hardware_row *a = &r->rows[0], *b = &r->rows[1];
	double bytes = SQUARE_WEIGHT_BYTES + SQUARE_SAMPLE_BYTES;

	(void)state;
	assert_close(a->bound_s, 2.0 * SQUARE_MACS / 1e9, 1e-12);
	assert_near(a->compute_share, 1, 0);
	assert_true(a->fits);
	/* 3.6 dollars an hour are 0.001 a second. */
	assert_close(a->cost_per_million, 0.001 * a->bound_s * 1e6, 1e-12);
	assert_close(b->bound_s, bytes / 1e9, 1e-12);
	assert_close(b->floor_s, bytes / 1e9, 1e-12);
	assert_near(b->compute_share, 0, 0);
	assert_close(b->needs_bytes, bytes, 1e-12);
	assert_false(b->fits);
	assert_true(isnan(b->cost_per_million));
	sl_hardware_report_free(r);
	sl_hardware_free(both[0]);
	sl_hardware_free(both[1]);
	sl_graph_free(graph);
}

/* Machines that are alike come in the order of their names. */
static void
test_ties(void **state)
{
	static const char *const names[] = {"c", "a", "d", "b"};
	struct sl_graph *graph = square_layer(0);
	struct sl_hardware *alike[4];
	struct sl_hardware_report *r;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(sl__hardware_parse(&alike[i], names[i],
						    slow_arithmetic, NULL),
				 SL_OK);
	r = report(graph, alike, 4, NULL);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(r->rows[i].hardware->id[0], "abcd"[i]);
	sl_hardware_report_free(r);
	for (size_t i = 0; i < 4; i++)
		sl_hardware_free(alike[i]);
	sl_graph_free(graph);
}

/* 2.1 ms of arithmetic a sample: 700 a second take two machines, whatever the
 * batch, and a batch of 1 does not wait. */
static void
test_serving(void **state)
{
	struct sl_graph *graph = square_layer(0);
	struct sl_hardware *one = machine(slow_arithmetic);
	struct sl_hardware_options how = {.struct_size = sizeof(how),
					  .rate_per_s = 700,
					  .latency_s = 0.1};
	struct sl_hardware_report *r = report(graph, &one, 1, &how);

	(void)state;
	assert_near(r->rows[0].n_machines, 2, 0);
	assert_int_equal(r->rows[0].best_batch, 1);
	assert_near(r->rows[0].best_wait_s, 0, 0);
	assert_near(r->rows[0].cost_per_month, 2 * 3.6 * 730, 1e-9);
	assert_string_equal(r->cheapest, "box");
	sl_hardware_report_free(r);

	how.latency_s = 0.001; /* shorter than the arithmetic of one sample */
	r = report(graph, &one, 1, &how);
	assert_int_equal(r->rows[0].best_batch, 0);
	assert_null(r->cheapest);
	sl_hardware_report_free(r);
	sl_hardware_free(one);
	sl_graph_free(graph);
}

/* On a machine that only waits for memory, weights are shared by a batch: a
 * larger one is cheaper, as far as waiting for its last sample allows. */
static void
test_batches_share_weights(void **state)
{
	struct sl_graph *graph = square_layer(0);
	struct sl_hardware *one =
		machine("peak f32 1P\nbandwidth 1G\nmemory 1G\nprice 1\n");
	struct sl_hardware_options how = {.struct_size = sizeof(how),
					  .rate_per_s = 1000,
					  .latency_s = 0.05};
	struct sl_hardware_report *r = report(graph, &one, 1, &how);
	const struct sl_hardware_row *row = &r->rows[0];
	double b = (double)row->best_batch;

	(void)state;
	assert_true(b > 1);
	assert_close(row->best_bound_s,
		     (SQUARE_WEIGHT_BYTES + b * SQUARE_SAMPLE_BYTES) / 1e9,
		     1e-12);
	assert_close(row->best_wait_s, (b - 1) * row->n_machines / 1000, 1e-12);
	assert_true(row->best_bound_s + row->best_wait_s <= 0.05);
	assert_true(row->n_machines * b / row->best_bound_s >= 1000);
	sl_hardware_report_free(r);
	sl_hardware_free(one);
	sl_graph_free(graph);
}

/* Forward 2 x macs, and as much for the weight's gradient; the input needs
 * none. */
static void
test_training(void **state)
{
	struct sl_graph *graph = square_layer(0);
	struct sl_hardware *one = machine(slow_arithmetic);
	struct sl_hardware_options how = {
		.struct_size = sizeof(how), .n_samples = 1000, .n_epochs = 3};
	struct sl_hardware_report *r = report(graph, &one, 1, &how);

	(void)state;
	assert_close(r->rows[0].train_hours,
		     3000 * 4.0 * SQUARE_MACS / 1e9 / 3600, 1e-9);
	assert_close(r->rows[0].train_cost, 3.6 * r->rows[0].train_hours,
		     1e-12);
	/* Weights, gradients, two moments; the input and the gradient of the
	 * output. */
	assert_near(r->rows[0].train_bytes,
		    4.0 * SQUARE_WEIGHT_BYTES + SQUARE_SAMPLE_BYTES, 0);
	sl_hardware_report_free(r);
	sl_hardware_free(one);
	sl_graph_free(graph);
}

/* Both wait for weights at batch 1; the GPU has 20 times the arithmetic at
 * ten times the price, so it is better once arithmetic counts: on the CPU
 * that begins at 1 / 8 of the operations a byte. */
static void
test_crossing(void **state)
{
	struct sl_graph *graph = square_layer(0);
	struct sl_hardware *both[] = {
		machine("kind cpu\npeak f32 40G\nbandwidth 10G\nmemory 9G\n"
			"price 1\n"),
		machine("kind gpu\npeak f32 8T\nbandwidth 10G\nmemory 9G\n"
			"price 10\n")};
	struct sl_hardware_report *r = report(graph, both, 2, NULL);
	double cpu, gpu, b;

	(void)state;
	for (b = 1; b <= 1024; b *= 2) {
		double traffic =
			(SQUARE_WEIGHT_BYTES + b * SQUARE_SAMPLE_BYTES) / 10e9;

		cpu = fmax(2 * b * SQUARE_MACS / 40e9, traffic);
		gpu = fmax(2 * b * SQUARE_MACS / 8e12, traffic) * 10;
		if (gpu < cpu)
			break;
	}
	assert_true(b > 1 && b <= 1024);
	assert_int_equal(r->crossing.kind, SL_FACT_GPU_FROM);
	assert_near(r->crossing.values[1], (double)b, 0);
	assert_near(r->crossing.values[2], 1024.0, 0);
	assert_true(fact_says(&r->crossing, " on, as far as 1024"));
	sl_hardware_report_free(r);
	sl_hardware_free(both[0]);
	sl_hardware_free(both[1]);
	sl_graph_free(graph);
}

/* At batch 1 both wait for memory, which the GPU has more of; arithmetic, of
 * which the CPU has more, decides later.  That is no crossing "from 1 on". */
static void
test_crossing_back(void **state)
{
	struct sl_graph *graph = square_layer(0);
	struct sl_hardware *both[] = {
		machine("kind cpu\npeak f32 1T\nbandwidth 10G\nprice 1\n"),
		machine("kind gpu\npeak f32 10G\nbandwidth 100G\nprice 1\n")};
	struct sl_hardware_report *r = report(graph, both, 2, NULL);

	(void)state;
	assert_int_equal(r->crossing.kind, SL_FACT_GPU_AT);
	assert_true(fact_says(&r->crossing,
			      "at batch 1, but not at every larger one"));
	sl_hardware_report_free(r);
	sl_hardware_free(both[0]);
	sl_hardware_free(both[1]);
	sl_graph_free(graph);
}

/* No room: no price a sample, and last although it has the shortest bound.  No
 * memory given: nobody knows.  No type: no bound, and why. */
static void
test_what_cannot_be_said(void **state)
{
	struct sl_graph *graph = square_layer(0);
	struct sl_hardware *three[] = {
		machine("peak f32 1P\nbandwidth 1P\nmemory 1M\nprice 1\n"),
		machine("peak int8 1P\nbandwidth 1P\nmemory 1G\nprice 1\n"),
		machine("peak bf16 1G\nbandwidth 1G\nprice 1\n")};
	struct sl_hardware_report *r = report(graph, three, 3, NULL);

	(void)state;
	assert_ptr_equal(r->rows[0].hardware, three[2]);
	assert_int_equal(r->rows[0].dtype, SL_DTYPE_BF16);
	assert_int_equal(r->rows[0].dtype_model, SL_DTYPE_F32);
	assert_int_equal(r->rows[0].fits, -1);
	assert_non_null(r->rows[0].fits_absent);
	assert_ptr_equal(r->rows[1].hardware, three[0]);
	assert_int_equal(r->rows[1].fits, 0);
	assert_true(isnan(r->rows[1].cost_per_million));
	assert_ptr_equal(r->rows[2].hardware, three[1]);
	assert_true(isnan(r->rows[2].bound_s) && isnan(r->rows[2].floor_s));
	assert_int_equal(r->rows[2].dtype, SL_DTYPE_NONE);
	assert_int_equal(r->rows[2].n_operations, 0);
	sl_hardware_report_free(r);
	for (size_t i = 0; i < 3; i++)
		sl_hardware_free(three[i]);
	sl_graph_free(graph);
}

/* A limit on latency alone: the machine on which a sample costs least, not the
 * fastest. */
static void
test_cheapest_by_sample(void **state)
{
	struct sl_graph *graph = square_layer(0);
	struct sl_hardware *both[] = {
		machine("name a\npeak f32 1T\nbandwidth 1P\nprice 1\n"),
		machine("name b\npeak f32 2T\nbandwidth 1P\nprice 3\n")};
	struct sl_hardware_options how = {.struct_size = sizeof(how),
					  .latency_s = 1};
	struct sl_hardware_report *r = report(graph, both, 2, &how);

	(void)state;
	assert_non_null(r->cheapest);
	assert_ptr_equal(r->cheapest, both[0]->id);
	sl_hardware_report_free(r);
	sl_hardware_free(both[0]);
	sl_hardware_free(both[1]);
	sl_graph_free(graph);
}

/* Nothing that is fused is slower than layer by layer, and the bounds of the
 * layers make up the bound, on every machine. */
static void
test_floor_and_layers(void **state)
{
	static const char *const models[] = {"lstm",      "gpt2@kv",
					     "resnet18",  "mobilenetv2",
					     "bert-base", "mlp:8-4-2"};
	struct sl_hardware *both[] = {machine(slow_arithmetic),
				      machine(slow_memory)};

	(void)state;
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		struct sl_hardware_report *r;
		struct sl_graph *graph;
		struct sl_error err;

		if (sl_graph_open(&graph, models[i], NULL, &err))
			fail_msg("%s", err.text);
		r = report(graph, both, 2, NULL);
		for (size_t k = 0; k < 2; k++) {
			const struct sl_hardware_row *row = &r->rows[k];
			double sum = 0;

			for (size_t j = 0; j < row->n_operations; j++)
				sum += row->operations[j].bound_s;
			assert_close(sum, row->bound_s, 1e-9);
			assert_true(row->floor_s > 0);
			assert_true(row->floor_s <= row->bound_s * (1 + 1e-9));
		}
		sl_hardware_report_free(r);
		sl_graph_free(graph);
	}
	sl_hardware_free(both[0]);
	sl_hardware_free(both[1]);
}

static void
test_fixed_batch_is_one_look(void **state)
{
	struct sl_graph *graph = square_layer(4);
	struct sl_hardware *one = machine(slow_arithmetic);
	struct sl_hardware_options how = {.struct_size = sizeof(how),
					  .rate_per_s = 1};
	struct sl_hardware_report *r = report(graph, &one, 1, &how);

	(void)state;
	assert_int_equal(r->batch, 4);
	assert_int_equal(r->rows[0].best_batch, 4);
	assert_int_equal(r->largest_batch, 4);
	assert_non_null(r->batch_limit);
	sl_hardware_report_free(r);
	sl_hardware_free(one);
	sl_graph_free(graph);
}

static void
test_survives_every_failed_allocation(void **state)
{
	struct sl_graph *graph = square_layer(4);
	struct sl_hardware *one = machine(slow_arithmetic);
	const struct sl_hardware *const machines[] = {one};
	enum sl_status rc = SL_E_NOMEM;

	(void)state;
	for (int i = 1; rc; i++) {
		struct counting c = {.fail_at = i};
		struct sl_allocator allocator = counting_allocator(&c);
		struct sl_hardware_options how = {.struct_size = sizeof(how),
						  .allocator = &allocator};
		struct sl_hardware_report *r;

		rc = sl_hardware_report(&r, graph, machines, 1, &how, NULL);
		assert_true(c.n_requests > 0);
		assert_int_equal(rc, c.n_requests < i ? SL_OK : SL_E_NOMEM);
		sl_hardware_report_free(r);
		assert_int_equal(c.n_out, 0);
		assert_true(i < 10000);
	}
	sl_hardware_free(one);
	sl_graph_free(graph);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_ties),
		cmocka_unit_test(test_serving),
		cmocka_unit_test(test_batches_share_weights),
		cmocka_unit_test(test_training),
		cmocka_unit_test(test_crossing),
		cmocka_unit_test(test_crossing_back),
		cmocka_unit_test(test_what_cannot_be_said),
		cmocka_unit_test(test_cheapest_by_sample),
		cmocka_unit_test(test_floor_and_layers),
		cmocka_unit_test(test_fixed_batch_is_one_look),
		cmocka_unit_test(test_survives_every_failed_allocation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
