/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quiz.c - questions whose answers Sleuth computes.
 *
 * An answer is worked out from the model when it is asked for; only the words
 * around it are fixed.
 */
#include "quiz.h"
#include "options.h"
#include "sleuth.h"
#include "topic_numbers.h"

#include <math.h>
#include <stdio.h>

/* "25,557,032"; each call in a line needs a text of its own. */
struct grouped {
	char s[32];
};

static const char *
grouped(struct grouped *out, uint64_t n)
{
	char digits[24];
	int n_digits =
		snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);
	char *to = out->s;

	for (int i = 0; i < n_digits; i++) {
		if (i && (n_digits - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return out->s;
}

/* Multiply-adds of products of two activations: attention's. */
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

	check_answer(sl_count_linear(&c, 1, 768, 3072, 1, &err), &err);
	printf("%s: 768 x 3072 weights and 3072 biases.",
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

	check_answer(sl_count_conv2d(&c, 1, &conv, &err), &err);
	printf("%s: 2 x 3 x 7 x 7 for each of 64 x 112 x 112 results.",
	       grouped(&t[0], c.flops));
}

static void
answer_batch(void)
{
	struct grouped t[2];
	struct sl_inspection *one = inspect_model("resnet50", 1, 0);
	struct sl_inspection *eight = inspect_model("resnet50", 8, 0);

	printf("%s for one image and %s for each of eight: the same.",
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

	printf("%.3f times: only the products of attention grow %.0f-fold, "
	       "and at 128 tokens\nthey are %.1f %% of the work.",
	       (double)twice->cost.macs / macs,
	       (double)attention_macs(twice) / attention,
	       100 * attention / macs);
	sl_inspection_free(twice);
	sl_inspection_free(once);
}

static void
answer_backward(void)
{
	struct grouped t[2];
	struct sl_inspection *i = inspect_model("resnet50", 1, 0);

	printf("%.4f: %s FLOPs back, %s forward. The\nfirst layer has "
	       "no input gradient.",
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

	printf("%s bytes, 16 for each of %s parameters: the\nweight, "
	       "its gradient and two moments.",
	       grouped(&t[0], need->parameter_bytes + need->gradient_bytes +
				      need->optimizer_bytes[SL_OPTIMIZER_ADAM]),
	       grouped(&t[1], i->parameters.trainable));
	sl_inspection_free(i);
}

static void
answer_cache(void)
{
	struct sl_inspection *i = inspect_model("gpt2@kv", 1, 0);

	printf("%.0f bytes a token, %.0f for 1024 of them.",
	       i->memory.kv_bytes_per_token.value,
	       1024 * i->memory.kv_bytes_per_token.value);
	sl_inspection_free(i);
}

static void
answer_amdahl(void)
{
	double s = 0.7;

	printf("%.3f times, and at most %.3f times if it took no time at all.",
	       1 / (1 - s + s / 2), 1 / (1 - s));
}

static void
answer_add(void)
{
	struct sl_machine *m;
	struct ridge ridge;
	struct sl_error err;
	enum sl_status rc = sl_machine_open_cached(&m, NULL, &err);

	printf("1/12 = %.4f: one addition for two numbers read and one "
	       "written. ",
	       ADDITION_INTENSITY);
	if (rc == SL_E_ABSENT) {
		printf("Run\n'sleuth machine' once to see this machine's "
		       "ridge.");
		return;
	}
	check_answer(rc, &err);
	if (find_ridge(&ridge, m))
		printf("This\nmachine's ridge is at %.3g: an addition %s.",
		       ridge.operations_per_byte,
		       ridge.operations_per_byte > ADDITION_INTENSITY
			       ? "waits for memory"
			       : "can wait for arithmetic");
	else
		printf("This\nmachine's ridge was not measured.");
	sl_machine_free(m);
}

static void
answer_matmul(void)
{
	double n = 1024;

	printf("%.1f: 2 N^3 operations over 3 N^2 numbers of 4 bytes, N / 6.",
	       2 * n * n * n / (3 * n * n * 4));
}

static void
answer_percentile(void)
{
	printf("%.0f: the largest sample must lie above the 99th percentile "
	       "with 97.5 %%.",
	       ceil(log(0.025) / log(0.99)));
}

static void
answer_first_layer(void)
{
	struct grouped t[3];
	struct sl_inspection *i = inspect_model("mlp:784-256-128-10", 1, 0);
	uint64_t three_times = 3 * i->training.forward_flops;

	printf("%s: three times forward would be %s, and the input "
	       "gradient of the\nfirst layer, %s, is not needed.",
	       grouped(&t[0], i->training.total_flops),
	       grouped(&t[1], three_times),
	       grouped(&t[2], three_times - i->training.total_flops));
	sl_inspection_free(i);
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
	{"How many has the product of two square matrices of 1024?", "roofline",
	 answer_matmul},
	{"How many samples does an interval of the 99th percentile need?",
	 "intervals", answer_percentile},
	{"How many FLOPs does one training step of mlp:784-256-128-10 take, "
	 "without the\noptimizer?",
	 "training", answer_first_layer},
};

enum { N_QUESTIONS = sizeof(questions) / sizeof(questions[0]) };

static void
print_question(size_t n, int with_answer)
{
	const struct question *q = &questions[n - 1];

	printf("%zu. %s\n   (sleuth help %s)\n", n, q->text, q->topic);
	if (!with_answer)
		return;
	q->answer();
	printf("\n");
}

void
print_quiz(size_t n, int with_answer)
{
	if (n > N_QUESTIONS)
		refuse("help", "there are %d questions, not %zu", N_QUESTIONS,
		       n);
	if (n) {
		print_question(n, with_answer);
		return;
	}
	for (size_t i = 1; i <= N_QUESTIONS; i++) {
		print_question(i, with_answer);
		if (with_answer && i < N_QUESTIONS)
			printf("\n");
	}
	if (!with_answer)
		printf("\n'sleuth help quiz N --answer' computes the "
		       "answer.\n");
}
