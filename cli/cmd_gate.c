/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_gate.c - `sleuth gate`: a result against a baseline, within limits. */
#include "commands.h"
#include "exit_code.h"
#include "gate.h"
#include "gate_against.h"
#include "output.h"
#include "save.h"
#include "store_filter.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct command_help help = {
	"gate",
	"RESULT|MODEL [--baseline FILE | --branch NAME | --against WHAT]",
	"Judges a result, FILE.json or run:N, by a baseline: another result, "
	"or those of a\nbranch in the store, on this machine. With --against, "
	"measures a model and another\none now, in the same rounds, or two "
	"commands (--commands). Exits 0 when all is\nwithin the limits, 1 when "
	"something is proved worse, 2 when times leave it open or\nthe machine "
	"is too busy to tell, 3 when a limited figure is missing.",
	"  sleuth gate model.json --baseline model.json\n"
	"  sleuth gate model.json --baseline model.json --limit flops=1%\n"
	"  sleuth gate new.onnx --against old.onnx --limit time=5%\n"
	"  sleuth gate ./new --against ./old --commands --limit time=10%",
	"no result given; try 'sleuth gate new.json --baseline old.json', or "
	"'sleuth gate new.onnx --against old.onnx'"};

enum { LIMITS_MOST = 64 };

struct arguments {
	struct output output;
	const char *db, *baseline, *branch, *against;
	const char *limits_file, *accept, *junit, *code_quality;
	int annotations, commands;
	double time_s;
	struct repeated_values limits;
	size_t last;
	/* Made from the words. */
	struct sl_gate_limit list[LIMITS_MOST];
	size_t n_list;
};

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
	{"baseline", 0, OPTION_TEXT, AT(baseline), "RESULT",
	 "the result to compare with: a file, or run:N", 0, 0, 0},
	{"branch", 0, OPTION_TEXT, AT(branch), "NAME",
	 "compare with this branch's results in the store", 0, 0, 0},
	{"last", 0, OPTION_COUNT, AT(last), "N",
	 "of the branch the newest N results (20)", 1, 1000, 0},
	{"against", 0, OPTION_TEXT, AT(against), "WHAT",
	 "a model, or with --commands a command, measured with it now", 0, 0,
	 0},
	{"commands", 0, OPTION_FLAG, AT(commands), NULL,
	 "both are command lines, without a shell", 0, 0, 0},
	{"time", 0, OPTION_SECONDS, AT(time_s), "SECONDS",
	 "of measuring, with --against (10)", 0.001, 1e6, 0},
	{"limit", 0, OPTION_WORDS, AT(limits), "FIGURE=P",
	 "time=2%, memory, flops, size, accuracy, 'layer fc1=5%'", 0, 0, 1},
	{"limits", 0, OPTION_TEXT, AT(limits_file), "FILE",
	 "a file with such a limit in each line", 0, 0, 0},
	{"accept", 0, OPTION_TEXT, AT(accept), "REASON",
	 "make the result the baseline, and note why", 0, 0, 0},
	{"junit", 0, OPTION_TEXT, AT(junit), "FILE", "JUnit XML to FILE", 0, 0,
	 0},
	{"code-quality", 0, OPTION_TEXT, AT(code_quality), "FILE",
	 "GitLab's report of what is beyond its limit to FILE", 0, 0, 0},
	{"annotations", 0, OPTION_FLAG, AT(annotations), NULL,
	 "lines that GitHub shows beside a pull request", 0, 0, 0},
};

RENDER_WITH(sl_gate_check_render)

/* Adds a limit, unless it is there. */
static void
take_limit(struct arguments *a, struct sl_gate_limit limit, const char *where)
{
	for (size_t i = 0; i < a->n_list; i++) {
		const char *layer = a->list[i].layer;

		if (a->list[i].metric == limit.metric &&
		    !layer == !limit.layer &&
		    (!layer || strcmp(layer, limit.layer) == 0))
			refuse(help.name, "%s: %s is limited twice", where,
			       layer ? layer
				     : sl_gate_metric_text(limit.metric));
	}
	if (a->n_list == LIMITS_MOST)
		refuse(help.name, "%s: more than %d limits", where,
		       LIMITS_MOST);
	a->list[a->n_list++] = limit;
}

static double
read_share(const char *value, const char *name, const char *where)
{
	double share;

	if (!parse_share(&share, value) || share < 0)
		refuse(help.name, "%s: %s must be a share such as 2%%", where,
		       name);
	return share;
}

/* "layer conv1 = 5%": names of layers may have any letters but a '=' at the
 * end. */
static void
add_layer(struct arguments *a, const char *text, const char *where)
{
	const char *equals = strrchr(text, '=');
	char *name = must_alloc(strlen(text) + 1, 1);
	size_t n;

	text += strspn(text, " \t");
	if (!equals || equals <= text)
		refuse(help.name, "%s: must be such as 'layer conv1 = 5%%'",
		       where);
	for (n = (size_t)(equals - text); n && strchr(" \t", text[n - 1]);)
		n--;
	memcpy(name, text, n);
	take_limit(a,
		   (struct sl_gate_limit){
			   .metric = SL_GATE_TIME,
			   .layer = name,
			   .share = read_share(
				   equals + 1 + strspn(equals + 1, " \t"), name,
				   where)},
		   where);
}

/* Adds "time=2%"; 'where' names the place in a message. */
static void
add_limit(struct arguments *a, const char *text, const char *where)
{
	size_t n_name = strcspn(text, "= \t");
	const char *value = text + n_name + strspn(text + n_name, "= \t");
	const char *near = NULL;
	char word[64];

	snprintf(word, sizeof(word), "%.*s", (int)n_name, text);
	if (strncmp(text, "layer ", 6) == 0) {
		add_layer(a, text + 6, where);
		return;
	}
	for (unsigned m = 0; m < SL_N_GATE_METRICS; m++) {
		const char *name = sl_gate_metric_text(m);

		near = sl_text_nearer(word, near, name);
		if (strlen(name) != n_name || strncmp(name, text, n_name) != 0)
			continue;
		take_limit(a,
			   (struct sl_gate_limit){
				   .metric = m,
				   .share = read_share(value, name, where)},
			   where);
		return;
	}
	refuse(help.name, "%s: '%.*s' cannot be limited%s%s%s", where,
	       (int)n_name, text, near ? "; did you mean '" : "",
	       near ? near : "", near ? "'?" : "");
}

/* One limit in a line; '#' begins a remark. */
static void
read_limits_file(struct arguments *a)
{
	FILE *file = fopen(a->limits_file, "r");
	char line[256], where[4200];

	if (!file)
		exit(complain(help.name, EXIT_IO, "%s: %s", a->limits_file,
			      strerror(errno)));
	for (int n = 1; fgets(line, sizeof(line), file); n++) {
		const char *text = line + strspn(line, " \t");
		size_t end;

		line[strcspn(line, "#\r\n")] = '\0';
		for (end = strlen(line); end && strchr(" \t", line[end - 1]);)
			line[--end] = '\0';
		snprintf(where, sizeof(where), "%s: line %d", a->limits_file,
			 n);
		if (*text)
			add_limit(a, text, where);
	}
	fclose(file);
}

static void
check(struct arguments *a)
{
	int n = !!a->baseline + !!a->branch + !!a->against;

	if (n != 1)
		refuse(help.name, n ? "one of --baseline, --branch and "
				      "--against"
				    : "what is the baseline? add --baseline "
				      "FILE, --branch NAME or --against MODEL");
	if ((a->commands || a->time_s > 0) && !a->against)
		refuse(help.name, "--%s goes with --against",
		       a->commands ? "commands" : "time");
	if (a->output.store.save && !a->against)
		refuse(help.name, "--save keeps what --against measures");
	a->db = a->output.store.db;
	if (!a->output.store.save)
		a->output.store.db = NULL; /* that results are read from */
	if (a->accept && !a->baseline)
		refuse(help.name, "--accept needs the --baseline file that "
				  "the result replaces");
	if (a->accept && run_number(a->baseline))
		refuse(help.name, "--accept replaces a file, not %s",
		       a->baseline);
	for (size_t i = 0; i < a->limits.n; i++)
		add_limit(a, a->limits.words[i], "--limit");
	if (a->limits_file)
		read_limits_file(a);
	a->output.own[0] = a->junit;
	a->output.own[1] = a->code_quality;
	output_check(&a->output, help.name);
}

/* The document of a file or run:N; ends the program where there is none. */
static void
read_document(struct sl_buf *json, const char *word, const char *db)
{
	static const struct sl_render_options how = {.struct_size = sizeof(how),
						     .format = SL_FORMAT_JSON};
	struct sl_result *result;
	struct sl_error err;

	if (saved_open(&result, word, db, help.name, &err) ||
	    sl_result_render(result, &how, json, &err))
		exit(exit_for(help.name, &err));
	sl_result_free(result);
}

/* The newest results of a branch on this machine, but for the one judged. */
static struct sl_buf *
read_branch(const struct arguments *a, const char *judged, size_t *n)
{
	struct sl_store *store = store_open(a->db, 1, help.name);
	struct sl_store_query query = {.struct_size = sizeof(query),
				       .branch = a->branch,
				       .is_here = 1};
	struct sl_stored_runs *runs;
	struct sl_buf *list;
	struct sl_error err;
	uint64_t own = strncmp(judged, "run:", 4) == 0
			       ? strtoull(judged + 4, NULL, 10)
			       : 0;

	query.n_most = a->last + (own > 0);
	if (sl_store_find(&runs, store, &query, &err))
		exit(exit_for(help.name, &err));
	list = must_alloc(runs->n + 1, sizeof(*list));
	*n = 0;
	for (size_t i = 0; i < runs->n && *n < a->last; i++) {
		if (runs->list[i].id != own &&
		    sl_store_get(store, runs->list[i].id, &list[(*n)++], &err))
			exit(exit_for(help.name, &err));
	}
	if (!*n)
		exit(complain(help.name, EXIT_INVALID,
			      "branch '%s' has no %sresult on this machine",
			      a->branch, runs->n ? "other " : ""));
	sl_stored_runs_free(runs);
	sl_store_close(store);
	return list;
}

/* Makes the result the baseline: its document, which begins with '{', with the
 * reason as its first member. */
static int
accept_result(const struct arguments *a, const char *word)
{
	struct sl_buf now = {0}, all = {0};
	struct sl_error err;
	char *to;

	read_document(&now, word, a->db);
	to = all.data = must_alloc(now.n_bytes + 6 * strlen(a->accept) + 32, 1);
	to += sprintf(to, "{\n  \"accepted\": \"");
	for (const char *c = a->accept; *c; c++)
		to += *c == '"' || *c == '\\' || (unsigned char)*c < 32
			      ? sprintf(to, "\\u%04x", (unsigned)*c)
			      : sprintf(to, "%c", *c);
	to += sprintf(to, "\",");
	memcpy(to, now.data + 1, now.n_bytes - 1);
	all.n_bytes = (size_t)(to - all.data) + now.n_bytes - 1;
	sl_buf_release(&now);
	if (sl_buf_write(&all, a->baseline, &err))
		return exit_for(help.name, &err);
	printf("%s is the baseline now: %s\n", a->baseline, a->accept);
	return EXIT_FINE;
}

/* Text as XML has it. */
static void
write_xml(FILE *file, const char *text)
{
	for (; *text; text++) {
		if (strchr("<>&\"", *text))
			fprintf(file, "&#%d;", *text);
		else
			fputc((unsigned char)*text < 32 ? ' ' : *text, file);
	}
}

/* "time: 2.1 % more than the baseline, 2 % are allowed". */
static void
describe(char *out, size_t n, const struct sl_gate_row *r)
{
	int is_accuracy = r->metric == SL_GATE_ACCURACY;
	double change = 100 * (r->ratio.value - !is_accuracy);

	const char *what = r->layer ? r->layer : sl_gate_metric_text(r->metric);
	int holds_limit = r->ratio.lo <= 1 + r->limit &&
			  r->ratio.hi > 1 + r->limit;
	const char *open = holds_limit
				   ? "are allowed; the interval holds both"
				   : "are allowed; the time was too short for "
				     "a verdict";

	if (r->invalid)
		snprintf(out, n, "%s: %s", what, r->invalid);
	else
		snprintf(out, n, "%s: %+.2f %% against the baseline, %g %% %s",
			 what, change, 100 * r->limit,
			 r->verdict == SL_GATE_UNDECIDED ? open
							 : "are allowed");
}

static int
write_junit(const struct sl_gate_check *g, const char *path)
{
	FILE *file = fopen(path, "w");
	size_t n_bad = 0, n_open = 0, n_invalid = 0;
	char text[256];

	if (!file)
		return complain(help.name, EXIT_IO, "%s: %s", path,
				strerror(errno));
	for (size_t i = 0; i < g->n_rows; i++) {
		n_invalid += g->rows[i].invalid != NULL;
		n_bad += g->rows[i].verdict == SL_GATE_REGRESSED;
		n_open += g->rows[i].verdict == SL_GATE_UNDECIDED &&
			  !g->rows[i].invalid;
	}
	fprintf(file,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite "
		"name=\"sleuth gate\" tests=\"%zu\" failures=\"%zu\" "
		"errors=\"%zu\" skipped=\"%zu\">\n",
		g->n_rows, n_bad, n_invalid, n_open);
	for (size_t i = 0; i < g->n_rows; i++) {
		const struct sl_gate_row *r = &g->rows[i];

		fputs("  <testcase classname=\"", file);
		write_xml(file, r->name);
		fputs("\" name=\"", file);
		write_xml(file,
			  r->layer ? r->layer : sl_gate_metric_text(r->metric));
		fputs("\">", file);
		describe(text, sizeof(text), r);
		if (r->verdict != SL_GATE_OK) {
			fprintf(file, "<%s message=\"",
				r->invalid   ? "error"
				: r->verdict ? "failure"
					     : "skipped");
			write_xml(file, text);
			fputs("\"/>", file);
		}
		fputs("</testcase>\n", file);
	}
	fputs("</testsuite>\n", file);
	if (fclose(file))
		return complain(help.name, EXIT_IO, "%s: %s", path,
				strerror(errno));
	return 0;
}

static void
write_annotations(const struct sl_gate_check *g)
{
	static const char *const levels[] = {[SL_GATE_UNDECIDED] = "warning",
					     [SL_GATE_OK] = "notice",
					     [SL_GATE_REGRESSED] = "error"};
	char text[256];

	for (size_t i = 0; i < g->n_rows; i++) {
		const struct sl_gate_row *r = &g->rows[i];

		describe(text, sizeof(text), r);
		printf("::%s title=sleuth gate::%s %s\n",
		       r->invalid ? "error" : levels[r->verdict], r->name,
		       text);
	}
}

/* Text within a string of JSON. */
static void
write_json(FILE *file, const char *text)
{
	for (; *text; text++) {
		if (strchr("\"\\", *text) || (unsigned char)*text < 32)
			fprintf(file, "\\u%04x", (unsigned)*text);
		else
			fputc(*text, file);
	}
}

/* The same for the same row whenever it is judged: FNV-1a of 64 bits, by whose
 * constants (Fowler, Noll and Vo, draft-eastlake-fnv) it begins and goes on. */
static uint64_t
fingerprint(const struct sl_gate_row *r)
{
	const char *words[] = {r->name, sl_gate_metric_text(r->metric),
			       r->layer ? r->layer : ""};
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		for (const char *c = words[i]; *c; c++)
			hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
		hash *= 0x100000001b3u; /* the zero at its end */
	}
	return hash;
}

/* What is not within its limit, as GitLab's Code Quality report has it.  The
 * place is the file that was judged; its line must be there and means nothing. */
static int
write_code_quality(const struct sl_gate_check *g, const char *path)
{
	FILE *file = fopen(path, "w");
	const char *comma = "";
	char text[256];

	if (!file)
		return complain(help.name, EXIT_IO, "%s: %s", path,
				strerror(errno));
	fputs("[", file);
	for (size_t i = 0; i < g->n_rows; i++) {
		const struct sl_gate_row *r = &g->rows[i];
		int is_here = strncmp(r->name, "./", 2) == 0;

		if (r->verdict == SL_GATE_OK)
			continue;
		describe(text, sizeof(text), r);
		fprintf(file, "%s\n  {\"description\": \"", comma);
		write_json(file, text);
		fprintf(file,
			"\",\n   \"check_name\": \"sleuth gate\",\n   "
			"\"fingerprint\": \"%016" PRIx64
			"\",\n   \"severity\": \"%s\",\n   \"location\": "
			"{\"path\": \"",
			fingerprint(r),
			r->invalid   ? "critical"
			: r->verdict ? "major"
				     : "info");
		write_json(file, r->name + (is_here ? 2 : 0));
		fputs("\", \"lines\": {\"begin\": 1}}}", file);
		comma = ",";
	}
	fputs(*comma ? "\n]\n" : "]\n", file);
	if (fclose(file))
		return complain(help.name, EXIT_IO, "%s: %s", path,
				strerror(errno));
	return 0;
}

static int
judge(struct arguments *a, const struct sl_gate_check *g)
{
	int code = output_write(&a->output, help.name, render, g);

	if (!code && a->junit)
		code = write_junit(g, a->junit);
	if (!code && a->code_quality)
		code = write_code_quality(g, a->code_quality);
	if (a->annotations && !output_takes_stdout(&a->output))
		write_annotations(g);
	if (code)
		return code;
	if (g->verdict == SL_GATE_REGRESSED)
		return EXIT_REGRESSED;
	return g->is_invalid ? EXIT_INVALID
			     : gate_verdict_exit_code(g->verdict);
}

/* A result that is there against others that are. */
static struct sl_gate_check *
judge_saved(const struct arguments *a, const char *word)
{
	struct sl_buf now = {0}, one = {0}, *before = &one;
	struct sl_gate_options how = {.struct_size = sizeof(how),
				      .now = &now,
				      .n_baselines = 1,
				      .limits = a->list,
				      .n_limits = a->n_list};
	struct sl_gate_check *g;
	struct sl_error err;

	read_document(&now, word, a->db);
	if (a->branch)
		before = read_branch(a, word, &how.n_baselines);
	else
		read_document(before, a->baseline, a->db);
	how.baselines = before;
	if (sl_gate_documents(&g, &how, &err))
		exit(exit_for(help.name, &err));
	for (size_t i = 0; i < how.n_baselines; i++)
		sl_buf_release(&before[i]);
	sl_buf_release(&now);
	return g;
}

int
cmd_gate(char **argv)
{
	struct arguments a = {.last = 20};
	const struct option_group groups[] = {
		OPTION_GROUP(options, &a),
		output_option_group(&a.output),
	};
	struct sl_gate_check *g;
	const char *word;
	int code;

	if (options_read_name(&help, groups, 2, argv, &word))
		return EXIT_DONE;
	check(&a);
	if (a.accept)
		return accept_result(&a, word);
	if (a.against)
		g = gate_measure(&(struct gate_against){
			.command = help.name,
			.now = word,
			.against = a.against,
			.are_commands = a.commands,
			.time_s = a.time_s > 0 ? a.time_s : 10,
			.limits = a.list,
			.n_limits = a.n_list,
			.is_quiet = a.output.quiet});
	else
		g = judge_saved(&a, word);
	code = judge(&a, g);
	sl_gate_check_free(g);
	return code;
}
