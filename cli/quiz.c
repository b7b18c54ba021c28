/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quiz.c - questions whose answers Sleuth computes.
 *
 * An answer is worked out from the model when it is asked for; only the words
 * around it are fixed.
 */
#include "quiz.h"
#include "fill.h"
#include "options.h"
#include "sleuth.h"
#include "topic_numbers.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

/* Multiply-adds of matmuls of two activations: attention's. */
static uint64_t
attention_macs(const struct sl_inspection *i)
{
	uint64_t sum = 0;

	for (size_t k = 0; k < i->n_layers; k++) {
		if (i->layers[k].cost.work == SL_WORK_PRODUCT)
			sum += i->layers[k].cost.macs;
	}
	return sum;
}

static void
answer_linear(void)
{
	struct grouped t[1];
	struct sl_counts c;
	struct sl_error err;

	exit_if_failed(sl_count_linear(&c, 1, 768, 3072, 1, &err), &err);
	say(0, "%s: 768 x 3072 weights and 3072 biases.",
	    grouped(&t[0], c.parameters));
}

static void
answer_conv(void)
{
	struct grouped t[1];
	struct sl_conv2d conv = {.in_channels = 3,
				 .out_channels = 64,
				 .height = 224,
				 .width = 224,
				 .kernel_height = 7,
				 .stride = 2,
				 .padding = 3};
	struct sl_counts c;
	struct sl_error err;

	exit_if_failed(sl_count_conv2d(&c, 1, &conv, &err), &err);
	say(0, "%s: 2 x 3 x 7 x 7 for each of 64 x 112 x 112 results.",
	    grouped(&t[0], c.flops));
}

static void
answer_batch(void)
{
	struct grouped t[2];
	struct sl_inspection *one = inspect_model("resnet50", 1, 0);
	struct sl_inspection *eight = inspect_model("resnet50", 8, 0);

	say(0, "%s for one image and %s for each of eight: the same.",
	    grouped(&t[0], one->flops_per_sample),
	    grouped(&t[1], eight->flops_per_sample));
	sl_inspection_free(eight);
	sl_inspection_free(one);
}

static void
answer_sequence(void)
{
	struct sl_inspection *once = inspect_model("bert-base", 1, 128);
	struct sl_inspection *twice = inspect_model("bert-base", 1, 256);
	double attention = (double)attention_macs(once);
	double macs = (double)once->cost.macs;

	say(0,
	    "%.3f times: only the matmuls of attention grow %.0f-fold, and at "
	    "128 tokens they are %.1f %% of the work.",
	    (double)twice->cost.macs / macs,
	    (double)attention_macs(twice) / attention, 100 * attention / macs);
	sl_inspection_free(twice);
	sl_inspection_free(once);
}

static void
answer_backward(void)
{
	struct grouped t[2];
	struct sl_inspection *i = inspect_model("resnet50", 1, 0);

	say(0,
	    "%.4f: %s FLOPs back, %s forward. The first layer has no input "
	    "gradient.",
	    i->training.backward_to_forward,
	    grouped(&t[0], i->training.backward_flops),
	    grouped(&t[1], i->training.forward_flops));
	sl_inspection_free(i);
}

static void
answer_adam(void)
{
	struct grouped t[2];
	struct sl_inspection *i = inspect_model("gpt2", 1, 0);
	const struct sl_training *need = &i->training;

	say(0,
	    "%s bytes, 16 for each of %s parameters: the weight, its gradient "
	    "and two moments.",
	    grouped(&t[0], need->parameter_bytes + need->gradient_bytes +
				   need->optimizer_bytes[SL_OPTIMIZER_ADAM]),
	    grouped(&t[1], i->parameters.trainable));
	sl_inspection_free(i);
}

static void
answer_cache(void)
{
	struct sl_inspection *i = inspect_model("gpt2@kv", 1, 0);

	say(0, "%.0f bytes a token, %.0f for 1024 of them.",
	    i->memory.kv_bytes_per_token.value,
	    1024 * i->memory.kv_bytes_per_token.value);
	sl_inspection_free(i);
}

static void
answer_amdahl(void)
{
	double s = 0.7;

	say(0, "%.3f times, and at most %.3f times if it took no time at all.",
	    1 / (1 - s + s / 2), 1 / (1 - s));
}

static void
answer_add(void)
{
	static const char start[] = "one addition for two numbers read and one "
				    "written.";
	struct sl_machine *m;
	struct ridge ridge;
	struct sl_error err;
	enum sl_status rc = sl_machine_open_cached(&m, NULL, &err);

	if (rc == SL_E_ABSENT) {
		say(0,
		    "1/12 = %.4f: %s Run 'sleuth machine' once to see this "
		    "machine's ridge.",
		    ADDITION_INTENSITY, start);
		return;
	}
	exit_if_failed(rc, &err);
	if (find_ridge(&ridge, m))
		say(0,
		    "1/12 = %.4f: %s This machine's ridge is at %.3g: an "
		    "addition %s.",
		    ADDITION_INTENSITY, start, ridge.operations_per_byte,
		    ridge.operations_per_byte > ADDITION_INTENSITY
			    ? "waits for memory"
			    : "can wait for arithmetic");
	else
		say(0, "1/12 = %.4f: %s This machine's ridge was not measured.",
		    ADDITION_INTENSITY, start);
	sl_machine_free(m);
}

static void
answer_matmul(void)
{
	double n = 1024;

	say(0, "%.1f: 2 N^3 operations over 3 N^2 numbers of 4 bytes, N / 6.",
	    2 * n * n * n / (3 * n * n * 4));
}

static void
answer_percentile(void)
{
	say(0,
	    "%.0f: the largest sample must lie above the 99th percentile with "
	    "97.5 %%.",
	    ceil(log(0.025) / log(0.99)));
}

static void
answer_first_layer(void)
{
	struct grouped t[3];
	struct sl_inspection *i = inspect_model("mlp:784-256-128-10", 1, 0);
	uint64_t three_times = 3 * i->training.forward_flops;

	say(0,
	    "%s: three times forward would be %s, and the input gradient of "
	    "the first layer, %s, is not needed.",
	    grouped(&t[0], i->training.total_flops),
	    grouped(&t[1], three_times),
	    grouped(&t[2], three_times - i->training.total_flops));
	sl_inspection_free(i);
}

static void
answer_optimizer(void)
{
	struct sl_inspection *i = inspect_model("gpt2", 1, 0);
	const struct sl_training *t = &i->training;
	const struct {
		const char *name;
		uint64_t n_bytes;
	} parts[] = {
		{"The weights", t->parameter_bytes},
		{"The gradients", t->gradient_bytes},
		{"Adam's two moments", t->optimizer_bytes[SL_OPTIMIZER_ADAM]},
		{"The activations", t->activation_bytes},
	};
	uint64_t sum = 0;
	size_t most = 0;

	for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); k++) {
		sum += parts[k].n_bytes;
		if (parts[k].n_bytes > parts[most].n_bytes)
			most = k;
	}
	say(0,
	    "%s: %.1f %% of %.2f GB. Weights take %.0f MB, gradients %.0f "
	    "MB, Adam's moments %.0f MB, activations %.0f MB. Momentum would "
	    "keep %.0f MB, plain SGD %.0f.",
	    parts[most].name, 100 * (double)parts[most].n_bytes / (double)sum,
	    (double)sum / 1e9, (double)parts[0].n_bytes / 1e6,
	    (double)parts[1].n_bytes / 1e6, (double)parts[2].n_bytes / 1e6,
	    (double)parts[3].n_bytes / 1e6,
	    (double)t->optimizer_bytes[SL_OPTIMIZER_MOMENTUM] / 1e6,
	    (double)t->optimizer_bytes[SL_OPTIMIZER_SGD] / 1e6);
	sl_inspection_free(i);
}

static void
answer_quantise(void)
{
	struct sl_inspection *i = inspect_model("vgg16", 1, 0);
	const struct sl_layer *largest = i->layers, *longest = i->layers;

	for (size_t k = 0; k < i->n_layers; k++) {
		if (i->layers[k].parameters > largest->parameters)
			largest = &i->layers[k];
		if (i->layers[k].cost.macs > longest->cost.macs)
			longest = &i->layers[k];
	}
	say(0,
	    "For size, %s: it holds %.1f %% of the parameters, and int8 saves "
	    "%.0f of the model's %.0f MB. It has only %.1f %% of the "
	    "multiply-adds; for speed, begin with %s, which has %.1f %%.",
	    largest->name,
	    100 * (double)largest->parameters / (double)i->parameters.trainable,
	    3 * (double)largest->parameters / 1e6,
	    (double)i->parameters.n_bytes / 1e6,
	    100 * (double)largest->cost.macs / (double)i->cost.macs,
	    longest->name,
	    100 * (double)longest->cost.macs / (double)i->cost.macs);
	sl_inspection_free(i);
}

/* What attention has of a training step on 'seq' tokens. */
struct attention_share {
	double flops, kept_bytes; /* shares, 0 to 1 */
};

/*
 * A matmul of two activations has two gradients, so that its training is
 * three times its forward pass.  Of what is kept only attention grows with the
 * square of the sequence: kept(s) = a s + b s^2, and b s^2 = 2 (kept(s) - 2
 * kept(s / 2)).
 */
static struct attention_share
attention_share(int64_t seq)
{
	struct sl_inspection *i = inspect_model("gpt2", 1, seq);
	struct sl_inspection *half = inspect_model("gpt2", 1, seq / 2);
	double kept = (double)i->training.activation_bytes;
	double linear = 2 * (double)half->training.activation_bytes;
	struct attention_share share = {3 * 2 * (double)attention_macs(i) /
						(double)i->training.total_flops,
					2 * (kept - linear) / kept};

	sl_inspection_free(half);
	sl_inspection_free(i);
	return share;
}

static void
answer_long_sequence(void)
{
	struct attention_share a = attention_share(128);
	struct attention_share b = attention_share(1024);

	say(0,
	    "From %.1f %% to %.1f %% of the FLOPs, and from %.0f %% to %.0f "
	    "%% of the activations that are kept: its scores grow with the "
	    "square of the sequence, everything else in proportion to it.",
	    100 * a.flops, 100 * b.flops, 100 * a.kept_bytes,
	    100 * b.kept_bytes);
}

static void
answer_kernel(void)
{
	struct hottest h;

	find_hottest_operation(&h);
	say(0,
	    "On this machine %.2f times: '%s' takes %.1f %% of the time, and "
	    "1 / (1 - s + s / 10) is no more. Even in no time at all it would "
	    "gain %.2f times.",
	    1 / (1 - h.share + h.share / 10), h.name, 100 * h.share,
	    1 / (1 - h.share));
}

struct question {
	const char *text;
	const char *topic;
	void (*answer)(void);
};

static const struct question questions[] = {
	{"How many parameters has a fully connected layer from 768 to 3072?",
	 "parameters", answer_linear},
	{"How many FLOPs has the first convolution of ResNet: 3 to 64 "
	 "channels, 7 x 7,\nstride 2, padding 3, on an image of 224 x 224?",
	 "flops", answer_conv},
	{"Does ResNet-50 compute more for each image in a batch of 8?", "flops",
	 answer_batch},
	{"BERT reads 256 tokens in place of 128. How much more does it "
	 "compute?",
	 "flops", answer_sequence},
	{"How much more does ResNet-50 compute backward than forward?",
	 "training", answer_backward},
	{"How much memory do GPT-2's weights, gradients and Adam's state "
	 "take in f32?",
	 "training", answer_adam},
	{"How much memory does GPT-2 need to remember 1024 tokens?", "memory",
	 answer_cache},
	{"A layer takes 70 % of the time and becomes twice as fast. How much "
	 "faster is\nthe model?",
	 "amdahl", answer_amdahl},
	{"How many operations per byte has the addition of two vectors in "
	 "f32?",
	 "roofline", answer_add},
	{"How many has the matmul of two square matrices of 1024?", "roofline",
	 answer_matmul},
	{"How many samples does an interval of the 99th percentile need?",
	 "intervals", answer_percentile},
	{"How many FLOPs does one training step of mlp:784-256-128-10 take, "
	 "without the\noptimizer?",
	 "training", answer_first_layer},
	{"What takes most of the memory when GPT-2 is trained with Adam on "
	 "128 tokens?",
	 "training", answer_optimizer},
	{"Which layer of VGG-16 should be quantised to int8 first?",
	 "parameters", answer_quantise},
	{"GPT-2 is trained on 1024 tokens in place of 128. How does the share "
	 "of attention\ngrow?",
	 "training", answer_long_sequence},
	{"A new kernel runs the longest operation of mlp:784-256-128-10 10 "
	 "times as fast.\nHow much faster is the model?",
	 "amdahl", answer_kernel},
};

enum { N_QUESTIONS = sizeof(questions) / sizeof(questions[0]) };

/* Waits until the reader wants the answer; 0: wants no more. */
static int
wait_for_reader(void)
{
	int first, c;

	printf("Your answer (Enter shows Sleuth's, q ends): ");
	(void)fflush(stdout);
	first = c = getchar();
	while (c != '\n' && c != EOF)
		c = getchar();
	if (c == EOF)
		printf("\n");
	return c != EOF && first != 'q';
}

static int
ask(size_t n, int with_answer, int is_asking)
{
	const struct question *q = &questions[n - 1];

	print_filled(q->text, (size_t)printf("%zu. ", n), 3);
	printf("   (sleuth help %s)\n", q->topic);
	if (is_asking && !wait_for_reader())
		return 0;
	if (with_answer || is_asking)
		q->answer();
	return 1;
}

void
print_quiz(size_t n, int with_answer)
{
	int is_asking = !with_answer && isatty(STDIN_FILENO) &&
			isatty(STDOUT_FILENO);

	if (n > N_QUESTIONS)
		refuse("help", "there are %d questions, not %zu", N_QUESTIONS,
		       n);
	if (n) {
		(void)ask(n, with_answer, is_asking);
		return;
	}
	for (size_t i = 1; i <= N_QUESTIONS; i++) {
		if (!ask(i, with_answer, is_asking))
			return;
		if ((with_answer || is_asking) && i < N_QUESTIONS)
			printf("\n");
	}
	if (!with_answer && !is_asking)
		printf("\n'sleuth help quiz N --answer' computes the "
		       "answer.\n");
}
