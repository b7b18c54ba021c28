/* SPDX-License-Identifier: Apache-2.0 */
/* model_compare.c - `sleuth compare` with models. */
#include "model_compare.h"
#include "exit_code.h"
#include "gate.h"
#include "model_options.h"
#include "output.h"
#include "plan_options.h"
#include "tty.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct command_help help = {
	"compare", "MODEL_A MODEL_B... [options]",
	"Runs A and B in turn, in an order decided by a coin, until B is "
	"proved "
	"faster than\nA, slower, or the same within the margin, and names the "
	"layers that differ. With\n--b-... options B is run in another way "
	"than "
	"A, and may be the same model: then\nit is enough to name it once. "
	"Commands are compared after '--', see below.\n\n"
	"Exits 0 when B is proved not to be slower by more than the margin, 1 "
	"when it is\nproved to be, 2 when the time ran out before either.",
	"  sleuth compare old.onnx new.onnx\n"
	"  sleuth compare resnet50 --b-threads 1\n"
	"  sleuth compare lenet5 lenet5@int8 lenet5@bf16,threads=1\n"
	"  sleuth compare mobilenetv2 --b-no-fusion --time 10\n"
	"  sleuth compare mobilenetv2 pruned.onnx --gate memory=5%",
	NULL};

struct arguments {
	struct model_options model;
	struct plan_options plan, b_plan;
	struct output output;
	struct repeated_values inputs, gates;
	double time_s, margin;
	size_t min_rounds;
	size_t b_threads, b_batch;
	const char *b_dtype, *data, *labels, *test;
	int b_no_fusion;
	/* Made from the words above. */
	struct gate gate;
	double most_lost; /* share of accuracy, of --gate; negative: none */
	const struct sl_input_file *files;
};

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
	{"b-threads", 0, OPTION_COUNT, AT(b_threads), "N", "threads of B alone",
	 1, 4096, 0},
	{"b-dtype", 0, OPTION_TEXT, AT(b_dtype), "TYPE",
	 "what B alone computes in: f32 or bf16", 0, 0, 0},
	{"b-batch", 0, OPTION_COUNT, AT(b_batch), "N",
	 "samples of B alone; ratios are per sample", 1, 1e15, 0},
	{"b-no-fusion", 0, OPTION_FLAG, AT(b_no_fusion), NULL,
	 "one step per node in B alone", 0, 0, 0},
	{"time", 0, OPTION_SECONDS, AT(time_s), "SECONDS",
	 "for measuring, after planning (5; long models 20)", 1e-3, 1e6, 0},
	{"margin", 0, OPTION_SHARE, AT(margin), "P",
	 "a change that does not matter (1%); 0: any", 0, 0.99, 0},
	{"min-rounds", 0, OPTION_COUNT, AT(min_rounds), "N",
	 "at least N rounds after the verdict too (50)", 1, 1e6, 0},
	{"gate", 0, OPTION_WORDS, AT(gates), "P",
	 "exit 1 when worse: 1%, memory=5%, accuracy=0.5pp", 0, 0, 1},
	{"data", 'd', OPTION_TEXT, AT(data), "DATA",
	 "compares accuracy too: digits, FILE.csv...", 0, 0, 0},
	{"labels", 0, OPTION_TEXT, AT(labels), "FILE",
	 "labels, where the data has none", 0, 0, 0},
	{"test", 0, OPTION_TEXT, AT(test), "FILE",
	 "the test split, of data from a file", 0, 0, 0},
	{"input", 0, OPTION_WORDS, AT(inputs), "NAME=FILE",
	 "an input from a .npy or .pb file; may be repeated", 0, 0, 1},
};

/* What is compared. */
struct field {
	struct sl_model_arm arms[SL_MODEL_ARMS_MAX];
	struct sl_plan_options plans[SL_MODEL_ARMS_MAX];
	struct models models;
	struct sl_dataset *data; /* NULL: none */
};

RENDER_WITH(sl_model_comparison_render)

static int
has_b_options(const struct arguments *a)
{
	return a->b_threads || a->b_batch || a->b_dtype || a->b_no_fusion;
}

static void
count_models(struct field *f, const struct arguments *a, const char **words,
	     size_t n)
{
	if (n == 0)
		refuse(help.name,
		       "nothing to compare; try 'sleuth compare resnet18 "
		       "resnet50' or 'sleuth compare -- A -- B'");
	if (n == 1 && !has_b_options(a))
		refuse(help.name,
		       "one model given: name another, or say with "
		       "--b-threads, --b-dtype, --b-batch or --b-no-fusion how "
		       "B differs");
	if (n > SL_MODEL_ARMS_MAX)
		refuse(help.name, "%zu models: at most %d can be compared", n,
		       SL_MODEL_ARMS_MAX);
	if (n > 2 && has_b_options(a))
		refuse(help.name, "--b-... options are for two models, not %zu",
		       n);
	f->models.names = must_alloc(n + 1, sizeof(*words));
	memcpy(f->models.names, words, n * sizeof(*words));
	if (n == 1)
		f->models.names[n++] = words[0];
	f->models.n = n;
	f->models.is_shared = 1;
	f->models.is_run = 1;
}

/* B's plan: A's with what is said of B alone. */
static void
check_b(struct arguments *a)
{
	static const char *const dtypes[] = {"f32", "bf16", NULL};

	a->b_plan = a->plan;
	if (a->b_threads)
		a->b_plan.threads = a->b_threads;
	if (a->b_no_fusion)
		a->b_plan.no_fusion = 1;
	if (a->b_dtype)
		a->b_plan.dtype = a->b_dtype;
	read_choice(help.name, "b-dtype", a->b_dtype, dtypes);
	plan_options_resolve(&a->b_plan, help.name);
}

/* Takes "accuracy=0.5pp" out of the words of --gate, which has it for models
 * alone; 0.5% is the same. */
static void
read_accuracy_gate(struct arguments *a)
{
	size_t n = 0;

	a->most_lost = -1;
	for (size_t i = 0; i < a->gates.n; i++) {
		const char *word = a->gates.words[i];
		char value[32];

		if (strncmp(word, "accuracy=", 9) != 0) {
			a->gates.words[n++] = word;
			continue;
		}
		snprintf(value, sizeof(value), "%s", word + 9);
		if (strlen(value) > 2 &&
		    !strcmp(value + strlen(value) - 2, "pp"))
			strcpy(value + strlen(value) - 2, "%");
		if (!parse_share(&a->most_lost, value) || a->most_lost < 0 ||
		    a->most_lost >= 1)
			refuse(help.name,
			       "--gate %s: must be such as accuracy=0.5pp",
			       word);
		if (!a->data)
			refuse(help.name, "--gate %s: add --data", word);
	}
	a->gates.n = n;
}

/* "time=1%,memory=5%" as words of their own. */
static void
split_gates(struct repeated_values *gates)
{
	size_t n = 0, most = 0;
	const char **words;

	for (size_t i = 0; i < gates->n; i++)
		most += strlen(gates->words[i]);
	words = must_alloc(most + 1, sizeof(*words));
	for (size_t i = 0; i < gates->n; i++) {
		char *copy = must_alloc(strlen(gates->words[i]) + 1, 1);

		strcpy(copy, gates->words[i]);
		for (char *next; copy; copy = next) {
			next = strchr(copy, ',');
			if (next)
				*next++ = '\0';
			words[n++] = copy;
		}
	}
	gates->words = words;
	gates->n = n;
}

static void
check(struct arguments *a, struct field *f, const char **words, size_t n)
{
	count_models(f, a, words, n);
	split_gates(&a->gates);
	read_accuracy_gate(a);
	gate_read(&a->gate, &a->gates, help.name, f->models.n);
	a->files = input_files_parse(&a->inputs, help.name);
	model_options_resolve(&a->model, help.name);
	plan_options_resolve(&a->plan, help.name);
	check_b(a);
	output_check(&a->output, help.name);
}

/* "resnet50, 1 thread, bf16": B, where it is run in another way. */
static const char *
name_of_b(const struct arguments *a, const char *word)
{
	char *name = must_alloc(strlen(word) + 96, 1);
	size_t n = strlen(word) + 96, at;

	at = (size_t)snprintf(name, n, "%s", word);
	if (a->b_threads)
		at += (size_t)snprintf(name + at, n - at, ", %zu thread%s",
				       a->b_threads,
				       a->b_threads == 1 ? "" : "s");
	if (a->b_dtype)
		at += (size_t)snprintf(name + at, n - at, ", %s", a->b_dtype);
	if (a->b_batch)
		at += (size_t)snprintf(name + at, n - at, ", batch %zu",
				       a->b_batch);
	if (a->b_no_fusion)
		snprintf(name + at, n - at, ", no fusion");
	return name;
}

static void
set_arm(const struct arguments *a, struct field *f, size_t i)
{
	struct sl_model_arm *c = &f->arms[i];
	const char *word = f->models.names[i];

	f->plans[i] = i ? a->b_plan.plan : a->plan.plan;
	model_take_changes(f->models.variants[i], &f->plans[i]);
	f->plans[i].sizes = &f->models.sizes[i];
	if (i && a->b_batch)
		f->models.sizes[i].batch = (int64_t)a->b_batch;
	c->name = i ? name_of_b(a, word) : word;
	c->graph = f->models.graphs[i];
	c->plan = &f->plans[i];
	c->inputs = a->files;
	c->n_inputs = a->inputs.n;
	c->inputs_folder = f->models.sizes[i].inputs_folder;
}

/* The worst of all that came after A: 1 before 2 before 0. */
static int
judge(const struct arguments *a, const struct sl_model_comparison *v)
{
	struct sl_comparison rows[SL_MODEL_ARMS_MAX];
	const struct sl_bench all = {.comparisons = rows,
				     .n_comparisons = v->n - 1};
	struct gate gate = a->gate;
	int code = EXIT_FINE;

	for (size_t i = 0; i + 1 < v->n; i++) {
		int next = gate_verdict_exit_code(v->pairs[i].comparison.gate);

		rows[i] = v->pairs[i].comparison;
		if (code == EXIT_FINE || next == EXIT_REGRESSED)
			code = next;
	}
	if (a->gates.n || a->most_lost >= 0) {
		gate.has_time = 1;
		gate.has_accuracy = a->most_lost >= 0;
		gate.accuracy = a->most_lost;
		code = gate_check_bench(&gate, &all, &a->output, help.name);
	}
	return code;
}

static int
run(const struct arguments *a, const struct field *f)
{
	struct sl_model_comparison_options how = {.struct_size = sizeof(how),
						  .time_s = a->time_s,
						  .min_rounds = a->min_rounds,
						  .seed = a->plan.seed};
	double margin = a->gate.has_time ? a->gate.time : a->margin;
	struct sl_model_comparison *comparison;
	struct sl_error err;
	int code;

	how.data = f->data;
	how.margin = margin > 0 ? margin : -1;
	how.interrupt = tty_catch_interrupt();
	how.progress = tty_progress(a->output.quiet);
	how.progress_ctx = (void *)(uintptr_t)help.name;
	if (sl_compare_models(&comparison, f->arms, f->models.n, &how, &err))
		return exit_for(help.name, &err);
	code = exit_unless_stopped(
		output_write(&a->output, help.name, render, comparison),
		comparison->stopped_by);
	if (!code)
		code = judge(a, comparison);
	sl_model_comparison_free(comparison);
	return code;
}

/* The data of --data, by which changes are calibrated too; NULL: none. */
static struct sl_dataset *
open_data(const struct arguments *a)
{
	const struct sl_dataset_options how = {.struct_size = sizeof(how),
					       .labels = a->labels,
					       .test = a->test,
					       .seed = a->plan.seed};
	struct sl_dataset *data = NULL;
	struct sl_error err;

	if (a->data && sl_dataset_open(&data, a->data, &how, &err))
		exit(exit_for(help.name, &err));
	return data;
}

int
model_compare(char **argv)
{
	struct arguments a = {.margin = 0.01};
	const struct option_group groups[] = {
		OPTION_GROUP(options, &a),
		model_option_group(&a.model),
		plan_option_group(&a.plan),
		output_option_group(&a.output),
	};
	struct sl_variant_options making = SL_VARIANT_OPTIONS_INIT;
	struct field f = {.models = {0}};
	const char **words;
	size_t n;
	int code;

	if (options_read(&help, groups, 4, argv, &words, &n))
		return EXIT_DONE;
	check(&a, &f, words, n);
	f.data = open_data(&a);
	making.data = f.data;
	f.models.making = &making;
	models_open(&f.models, &a.model, help.name, a.plan.seed);
	for (size_t i = 0; i < f.models.n; i++)
		set_arm(&a, &f, i);
	code = run(&a, &f);
	models_close(&f.models);
	sl_dataset_close(f.data);
	return code;
}
