/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whole_models.h - ResNet-18, ViT, BERT and GPT-2 at small sizes as text for
 * graph_text(); oracles/whole_models.py has the same in PyTorch.
 */
#ifndef SL_TEST_WHOLE_MODELS_H
#define SL_TEST_WHOLE_MODELS_H

#include "harness.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MODEL_TEXT_MOST = 1 << 15 };

/* Lines so far, and what real numbers are. */
struct model_text {
	const char *real; /* "f32" or "f64" */
	char text[MODEL_TEXT_MOST];
	size_t n;
};

/* '@' becomes the number of a layer, '$' the type, '#' what Cast calls it. */
static inline void
add_lines(struct model_text *m, const char *lines, int layer)
{
	int is_double = !strcmp(m->real, "f64");

	for (; *lines; lines++) {
		char number[2] = {(char)('0' + layer), '\0'};
		char same[2] = {*lines, '\0'};
		const char *word = *lines == '@'   ? number
				   : *lines == '$' ? m->real
				   : *lines != '#' ? same
				   : is_double     ? "11"
						   : "1";

		assert_true(m->n + strlen(word) < sizeof(m->text));
		m->n += strlen(strcpy(m->text + m->n, word));
	}
}

__attribute__((format(printf, 2, 3))) static inline void
say(struct model_text *m, const char *format, ...)
{
	char lines[512];
	va_list args;

	va_start(args, format);
	assert_in_range(vsnprintf(lines, sizeof(lines), format, args), 1,
			sizeof(lines) - 1);
	va_end(args);
	add_lines(m, lines, 0);
}

/* Convolution of 'k' by 'k' and BatchNorm. */
static inline void
say_conv(struct model_text *m, const char *name, const char *from,
	 const int sizes[4])
{
	int n_in = sizes[0], n = sizes[1], k = sizes[2], pad = sizes[2] / 2;

	say(m, "const %s.w $ %d,%d,%d,%d = random*0.25\n", name, n, n_in, k, k);
	for (int i = 0; i < 4; i++) {
		say(m, "const %s.%c $ %d = ", name, "sozv"[i], n);
		for (int c = 0; c < n; c++)
			say(m, "%d,", i == 0 || i == 3);
		say(m, "\n");
	}
	say(m,
	    "%s.c = Conv %s %s.w strides=[%d,%d] pads=[%d,%d,%d,%d]\n"
	    "%s = BatchNormalization %s.c %s.s %s.o %s.z %s.v\n",
	    name, from, name, sizes[3], sizes[3], pad, pad, pad, pad, name,
	    name, name, name, name, name);
}

/* Two convolutions and what goes around them; its result is NAME. */
static inline void
say_block(struct model_text *m, const char *name, const char *from, int n_in,
	  int n)
{
	int stride = n_in == n ? 1 : 2;
	char a[8], b[8], r[8], d[8];

	snprintf(a, sizeof(a), "%s.a", name);
	snprintf(b, sizeof(b), "%s.b", name);
	snprintf(r, sizeof(r), "%s.r", name);
	snprintf(d, sizeof(d), "%s.d", name);
	say_conv(m, a, from, (const int[]){n_in, n, 3, stride});
	say(m, "%s = Relu %s\n", r, a);
	say_conv(m, b, r, (const int[]){n, n, 3, 1});
	if (stride == 2)
		say_conv(m, d, from, (const int[]){n_in, n, 1, 2});
	say(m, "%s.y = Add %s %s\n%s = Relu %s.y\n", name, b,
	    stride == 2 ? d : from, name, name);
}

/* The 18 layers of He et al., 4 to 16 wide, over 3x64x64. */
static inline void
say_resnet18(struct model_text *m)
{
	static const int widths[] = {4, 4, 8, 12, 16};
	char name[4], from[8] = "pool";

	say(m, "in x $ 2,3,64,64\n");
	say_conv(m, "stem", "x", (const int[]){3, 4, 7, 2});
	say(m, "relu = Relu stem\npool = MaxPool relu kernel_shape=[3,3] "
	       "strides=[2,2] pads=[1,1,1,1]\n");
	for (int s = 1; s <= 4; s++) {
		for (int b = 0; b < 2; b++) {
			snprintf(name, sizeof(name), "%d%c", s, "ab"[b]);
			say_block(m, name, from, widths[b ? s : s - 1],
				  widths[s]);
			strcpy(from, name);
		}
	}
	say(m,
	    "mean = GlobalAveragePool %s\nflat = Flatten mean\n"
	    "const fc.w $ 3,16 = random*0.25\n"
	    "const fc.b $ 3 = random*0.25\n"
	    "y = Gemm flat fc.w fc.b transB=1\nout y\n",
	    from);
}

#define ONES  "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1\n"
#define ZEROS "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0\n"
#define NORM(to, from)                                                  \
	"const " to ".s $ 16 = " ONES "const " to ".o $ 16 = " ZEROS to \
	" = LayerNormalization " from " " to ".s " to ".o\n"
#define LINEAR(to, from, n_in, n_out)                                       \
	"const " to ".w $ " n_in "," n_out " = random*0.25\n"               \
	"const " to ".b $ " n_out " = random*0.25\n" to ".p = MatMul " from \
	" " to ".w\n" to " = Add " to ".p " to ".b\n"

/* Two heads of 8 over '@.x'; 'masked' makes '@.mk' of the scores '@.sc'. */
#define ATTENTION(from, masked)                                               \
	LINEAR("@.qkv", from, "16", "48")                                     \
	"@.q,@.k,@.v = Split @.qkv thirds axis=2\n"                           \
	"@.qr = Reshape @.q to_heads\n@.kr = Reshape @.k to_heads\n"          \
	"@.vr = Reshape @.v to_heads\n@.qh = Transpose @.qr perm=[0,2,1,3]\n" \
	"@.kh = Transpose @.kr perm=[0,2,3,1]\n"                              \
	"@.vh = Transpose @.vr perm=[0,2,1,3]\n@.qk = MatMul @.qh @.kh\n"     \
	"@.sc = Div @.qk root\n@.mk = " masked                                \
	"\n@.pr = Softmax @.mk axis=3\n@.pv = MatMul @.pr @.vh\n"             \
	"@.tv = Transpose @.pv perm=[0,2,1,3]\n@.rv = Reshape @.tv "          \
	"to_rows\n" LINEAR("@.out", "@.rv", "16", "16")

/* Sizes of 2 sequences of n. */
#define SEQUENCES(n)                                                 \
	"const thirds i64 3 = 16,16,16\nconst to_heads i64 4 = 2," n \
	",2,8\nconst to_rows i64 3 = 2," n ",16\n"                   \
	"const root $ - = 2.8284271247461903\n"

/* Patches of 4x4 of an image of 12x12, a token before them, two layers with
 * norms first. */
static inline void
say_vit(struct model_text *m)
{
	add_lines(m,
		  SEQUENCES("10") "in x $ 2,3,12,12\n"
				  "const pt.w $ 16,3,4,4 = random*0.25\n"
				  "const pt.b $ 16 = random*0.25\n"
				  "const flat i64 3 = 2,16,9\n"
				  "const many i64 3 = 2,1,16\n"
				  "const first i64 - = 0\n"
				  "const token $ 1,1,16 = random*0.25\n"
				  "const place $ 1,10,16 = random*0.25\n"
				  "pt = Conv x pt.w pt.b strides=[4,4]\n"
				  "pf = Reshape pt flat\n"
				  "pp = Transpose pf perm=[0,2,1]\n"
				  "tk = Expand token many\n"
				  "ct = Concat tk pp axis=1\n"
				  "0.x = Add ct place\n",
		  0);
	for (int i = 0; i < 2; i++) {
		add_lines(m,
			  NORM("@.n", "@.x")
				  ATTENTION("@.n", "Identity @.sc") "@.y = Add "
								    "@.out "
								    "@.x\n",
			  i);
		add_lines(m,
			  NORM("@.m", "@.y") LINEAR(
				  "@.up", "@.m", "16",
				  "32") "@.g = Gelu @.up\n" LINEAR("@.down",
								   "@.g", "32",
								   "16"),
			  i);
		say(m, "%d.x = Add %d.down %d.y\n", i + 1, i, i);
	}
	add_lines(m,
		  NORM("ln", "2.x") "cls = Gather ln first axis=1\n" LINEAR(
			  "y", "cls", "16", "3") "out y\n",
		  0);
}

/* Words, kinds and places; two layers with norms last; what hides the end of
 * the second sequence; the first token through tanh. */
static inline void
say_bert(struct model_text *m)
{
	add_lines(m,
		  SEQUENCES("6") "in ids i64 2,6\nin kinds i64 2,6\n"
				 "const mask i64 2,6 = "
				 "1,1,1,1,1,1,1,1,1,1,0,0\n"
				 "const axes i64 2 = 1,2\n"
				 "const one $ - = 1\n"
				 "const far $ - = -10000\n"
				 "const two $ - = 1.4142135623730951\n"
				 "const half $ - = 0.5\n"
				 "const first i64 - = 0\n"
				 "const at i64 6 = 0,1,2,3,4,5\n"
				 "const word $ 9,16 = random\n"
				 "const kind $ 3,16 = random\n"
				 "const place $ 8,16 = random\n"
				 "mu = Unsqueeze mask axes\n"
				 "mc = Cast mu to=#\n"
				 "ms = Sub one mc\nmm = Mul ms far\n"
				 "ew = Gather word ids\n"
				 "ek = Gather kind kinds\n"
				 "ep = Gather place at\n"
				 "es = Add ew ek\nee = Add es ep\n" NORM("0.x",
									 "ee"),
		  0);
	for (int i = 0; i < 2; i++) {
		add_lines(m,
			  ATTENTION("@.x", "Add @.sc mm") "@.y = Add @.out "
							  "@.x\n" NORM("@.n",
								       "@.y"),
			  i);
		add_lines(m,
			  LINEAR("@.up", "@.n", "16",
				 "32") "@.d = Div @.up two\n@.e = Erf @.d\n"
				       "@.f = Add @.e one\n@.g = Mul @.up @.f\n"
				       "@.h = Mul @.g half\n" LINEAR(
					       "@.down", "@.h", "32",
					       "16") "@.z = Add @.down @.n\n",
			  i);
		say(m, "const %d.x.s $ 16 = " ONES, i + 1);
		say(m, "const %d.x.o $ 16 = " ZEROS, i + 1);
		say(m, "%d.x = LayerNormalization %d.z %d.x.s %d.x.o\n", i + 1,
		    i, i + 1, i + 1);
	}
	add_lines(
		m,
		"cls = Gather 2.x first axis=1\n" LINEAR(
			"pool", "cls", "16",
			"16") "tanh = Tanh "
			      "pool\n" LINEAR("y", "tanh", "16", "3") "out y\n",
		0);
}

/* Words and places; two layers with norms first that see what is before; the
 * words again as what scores are of. */
static inline void
say_gpt2(struct model_text *m)
{
	add_lines(m,
		  SEQUENCES("4") "in ids i64 2,4\n"
				 "const causal bool 1,1,4,4 = "
				 "1,0,0,0,1,1,0,0,1,1,1,0,1,1,1,1\n"
				 "const least $ - = -3.0e38\n"
				 "const c0 $ - = 0.7978845608028654\n"
				 "const c1 $ - = 0.044715\n"
				 "const three $ - = 3\nconst one $ - = 1\n"
				 "const half $ - = 0.5\n"
				 "const at i64 4 = 0,1,2,3\n"
				 "const word $ 7,16 = random*0.5\n"
				 "const place $ 8,16 = random*0.25\n"
				 "ew = Gather word ids\n"
				 "ep = Gather place at\n0.x = Add ew ep\n",
		  0);
	for (int i = 0; i < 2; i++) {
		add_lines(
			m,
			NORM("@.n", "@.x") ATTENTION(
				"@.n", "Where causal @.sc least") "@.y = Add "
								  "@.out @.x\n",
			i);
		add_lines(
			m,
			NORM("@.m", "@.y") LINEAR(
				"@.up", "@.m", "16",
				"32") "@.c = Pow @.up three\n@.d = Mul @.c c1\n"
				      "@.e = Add @.up @.d\n@.f = Mul @.e c0\n"
				      "@.t = Tanh @.f\n@.g = Add @.t one\n"
				      "@.h = Mul @.up half\n@.j = Mul @.h "
				      "@.g\n",
			i);
		add_lines(m, LINEAR("@.down", "@.j", "32", "16"), i);
		say(m, "%d.x = Add %d.down %d.y\n", i + 1, i, i);
	}
	add_lines(m,
		  NORM("ln", "2.x") "tied = Transpose word perm=[1,0]\n"
				    "y = MatMul ln tied\nout y\n",
		  0);
}

#endif
