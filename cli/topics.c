/* SPDX-License-Identifier: Apache-2.0 */
/* topics.c - ideas that `sleuth help` explains. */
#include "topics.h"
#include "exit_code.h"
#include "fill.h"
#include "topic_numbers.h"

#include <stdio.h>
#include <string.h>

static const char parameters_text[] =
	"Parameters are the numbers that training finds. A fully connected "
	"layer from n to m has n m weights and m biases; a convolution has one "
	"kernel for each pair of channels, whatever the size of the image.\n\n"
	"A file may hold more numbers than the model has parameters: running "
	"means of normalisation, masks, shapes, and copies of weights that are "
	"used twice. Sleuth sorts them by what they are for and counts each "
	"kind apart.";

static const char flops_text[] =
	"A FLOP is one addition or multiplication. Most of a network's are "
	"multiply-adds (MACs), and each is 2 FLOPs. Tools differ in what they "
	"count: some print MACs and call them FLOPs, some leave out "
	"normalisation or attention. 'sleuth inspect --explain' says, line by "
	"line, why two of them disagree.\n\n"
	"FLOPs per sample do not depend on the batch. And FLOPs are not time: "
	"a model with a tenth of them may take half as long, because its "
	"layers wait for memory.";

static const char memory_text[] =
	"While a model runs, a value is needed from the step that makes it to "
	"the last step that reads it. The largest sum of what is needed at one "
	"step is the live set: no engine can do with less without computing "
	"things twice. Weights come on top.\n\n"
	"What the system reports is more: pages are touched whole, weights may "
	"be kept in a second, faster order, libraries bring code and tables. "
	"'sleuth profile' shows each level, from the live set to what is "
	"resident, and how they add up.";

static const char latency_text[] =
	"Latency is the time of one inference, throughput the number of "
	"samples per second. They are not each other's inverse once several "
	"samples share an inference.\n\n"
	"One number does not describe a latency. The median says what is "
	"usual, the 99th percentile what one user in a hundred waits at least. "
	"Neither is known exactly: read 'sleuth help intervals'. The first "
	"inference is slower for reasons of its own: read 'sleuth help "
	"warm-up'.";

static const char warmup_text[] =
	"The first inference touches pages for the first time, fills caches, "
	"wakes threads and generates code. Later ones do not. A mean over all "
	"of them describes neither.\n\n"
	"Sleuth keeps every sample from the start, looks for the points where "
	"the level changes, and takes the steady part at the end. It says "
	"whether the series was flat, warming (it became faster), slowing, or "
	"never steady; then there is no one number.";

static const char intervals_text[] =
	"A measured median is the median of these samples; another run gives "
	"another one. The interval says how far off it may be: in 95 of 100 "
	"such runs it holds the true one. It needs no bell curve: it is two of "
	"the sorted samples, chosen by counting.\n\n"
	"The rarer what you ask for, the more samples it takes. An interval of "
	"the median needs 6 samples, of the 99th percentile 368. Where there "
	"are fewer, Sleuth prints 'needs n >= 368' in place of a number that "
	"would be luck. Samples that depend on each other count for less, and "
	"are found out.";

static const char roofline_text[] =
	"A machine has a peak of arithmetic and a bandwidth of memory. An "
	"operation that does little arithmetic per byte waits for memory, one "
	"that does much waits for arithmetic. The ridge is where the two meet: "
	"peak / bandwidth.\n\n"
	"The roof is a bound, not a diagnosis. An operation far below it may "
	"wait for memory, for its own overhead, or for another thread: low "
	"efficiency alone does not prove that it is memory-bound. 'sleuth "
	"profile' tries: it disturbs the memory, takes threads away, warms and "
	"empties the caches, and sees what changes.";

static const char amdahl_text[] =
	"If a part takes the share s of the time and becomes k times faster, "
	"the whole becomes 1 / (1 - s + s / k) times faster. Even if the part "
	"took no time at all, the whole gains no more than 1 / (1 - s).\n\n"
	"So look at the share first. 'sleuth profile' prints the limit for "
	"what takes longest, and measures it too: it runs the model with that "
	"part replaced by its stored result. The two differ where the part "
	"does something for others, such as leaving their input in the cache.";

static const char batch_text[] =
	"Several samples in one batch share the reading of the weights. While "
	"a "
	"layer waits for its weights, more samples cost almost nothing; once "
	"it waits for arithmetic, they cost in proportion. Throughput rises "
	"until then and stays; latency rises all the time.\n\n"
	"'sleuth sweep MODEL --batch 1..64' finds where it turns, and the best "
	"batch under a limit on latency or memory.";

static const char overhead_text[] =
	"To measure is to disturb. Every reading of a clock takes time, and so "
	"does storing it. A profiler that reads it twice around each small "
	"operation may double the time it reports.\n\n"
	"Sleuth reads the clock once between two operations and runs the model "
	"with and without, in turn, so that its own cost is measured, not "
	"assumed. The time accounting of a profile must balance: wall time = "
	"operations + gaps + overhead + residual. When more than 2 % is left "
	"over, the verdict is withheld.";

static const char training_text[] =
	"To train, a model keeps what the backward pass will need: the inputs "
	"of most layers. This grows with the batch. Gradients are as large as "
	"the weights; Adam keeps two more numbers for each. So the state alone "
	"is 16 bytes a parameter in f32.\n\n"
	"The backward pass computes two gradients for each layer, of its "
	"weights and of its input: twice the forward pass, but for the first "
	"layer, whose input needs none.";

const struct topic *
all_topics(void)
{
	static const struct topic topics[] = {
		{"parameters", "what a model holds", parameters_text, 1,
		 numbers_parameters,
		 "sleuth inspect resnet50 -v\n"
		 "sleuth inspect mlp:784-256-128-10"},
		{"flops", "what a model computes", flops_text, 1, numbers_flops,
		 "sleuth inspect resnet50 --explain fvcore\n"
		 "sleuth profile resnet50 mobilenetv2"},
		{"memory", "what it needs while it runs", memory_text, 1,
		 numbers_memory,
		 "sleuth inspect resnet50 --batch 8\n"
		 "sleuth fit resnet50 --mem 2G"},
		{"latency", "how long an inference takes", latency_text, 0,
		 numbers_latency,
		 "sleuth profile mobilenetv2\n"
		 "sleuth profile mobilenetv2 --runs 400"},
		{"warm-up", "why the first inference is slower", warmup_text, 0,
		 numbers_warmup, "sleuth profile mobilenetv2 -v"},
		{"intervals", "how sure a figure is", intervals_text, 0,
		 numbers_intervals,
		 "sleuth bench -- sleep 0.01\n"
		 "sleuth selfcheck"},
		{"roofline", "what the machine allows", roofline_text, 0,
		 numbers_roofline,
		 "sleuth machine\n"
		 "sleuth profile op:all"},
		{"amdahl", "what a faster part is worth", amdahl_text, 0,
		 numbers_amdahl, "sleuth profile resnet50 -v"},
		{"batch", "many samples in one inference", batch_text, 0,
		 numbers_batch,
		 "sleuth sweep mobilenetv2 --batch 1..32\n"
		 "sleuth sweep gpt2@kv --batch 1..16"},
		{"overhead", "what measuring costs", overhead_text, 0,
		 numbers_overhead, "sleuth profile resnet50 --overhead"},
		{"training", "what training keeps in memory", training_text, 1,
		 numbers_training,
		 "sleuth inspect gpt2\n"
		 "sleuth fit gpt2 --mem 16G --train adam"},
		{NULL, NULL, NULL, 0, NULL, NULL},
	};

	return topics;
}

const struct topic *
find_topic(const char *name)
{
	for (const struct topic *t = all_topics(); t->name; t++) {
		if (!strcmp(t->name, name))
			return t;
	}
	return NULL;
}

int
print_topic(const struct topic *topic)
{
	printf("%s: %s\n\n", topic->name, topic->about);
	print_paragraphs(topic->text, 0);
	printf("\n%s\n", topic->is_example ? "For example" : "On this machine");
	topic->numbers();
	printf("\nTry\n");
	for (const char *line = topic->tries; *line;) {
		size_t n = strcspn(line, "\n");

		printf("  %.*s\n", (int)n, line);
		line += n + (line[n] == '\n');
	}
	return EXIT_FINE;
}
