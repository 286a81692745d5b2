/* gpusim annotate: prints the source of a report's kernels with the cost of each line. */
#include "runtime/cmd/cmd.h"
#include "runtime/cmd/doc.h"

#include "runtime/config/show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BAR = 6, CONTEXT = 1, COST = 48 /* columns before the number of a line */ };

struct annotated_source {
	const json_t *report;
	const char *kernel, *gpu; /* NULL: all */
	bool colours, whole;
};

static const json_t *line_at(const json_t *lines, size_t source, size_t number)
{
	size_t i;
	json_t *l;
	json_array_foreach((json_t *)lines, i, l)
		if (doc_has(l, "source") && (size_t)doc_number(l, "source") == source && (size_t)doc_number(l, "line") == number)
			return l;
	return NULL;
}

/* A cell of a number, or of blanks where the report has none. */
static void print_number(const json_t *line, const char *name, int width)
{
	if (line && doc_has(line, name))
		printf("%*.1f ", width, doc_number(line, name));
	else
		printf("%*s ", width, "");
}

static void print_cost(const struct annotated_source *a, const json_t *line, double all)
{
	char executions[SHOW_CELL], bar[BAR + 1] = "";
	double share = all > 0 ? doc_number(line, "cycles") / all : 0;
	if (!line) {
		printf("%*s", COST, "");
		return;
	}
	memset(bar, '#', (size_t)(share * BAR + 0.5));
	printf("%s%6.1f%% %-*s%s %8s ", show_style(a->colours, share >= 0.2 ? SHOW_HOT : share >= 0.05 ? SHOW_WARM : SHOW_PLAIN),
	       100 * share, BAR, bar, show_style(a->colours, SHOW_PLAIN), show_count(executions, doc_number(line, "executions")));
	print_number(line, "active_lanes", 5);
	print_number(line, "sectors_per_request", 7);
	print_number(line, "bank_conflicts_per_access", 9);
}

/* What a line spends most of its cycles on, under the line; only of those that matter, and as many as the width has room for. */
static void print_stalls(const struct annotated_source *a, const json_t *line, double all)
{
	const json_t *by = doc_member(line, "cycles_by");
	double cycles = doc_number(line, "cycles"), below = cycles * 2;
	if (!line || !(cycles >= 0.05 * all) || !json_object_size(by))
		return;
	printf("%*s%s", COST + 6, "", show_style(a->colours, SHOW_DIM));
	for (size_t shown = 0, column = COST + 6; shown < 4; shown++) {
		char text[SHOW_CELL];
		const char *key, *most = NULL;
		json_t *value;
		double n = 0;
		json_object_foreach((json_t *)by, key, value)
			if (json_number_value(value) < below && json_number_value(value) > n) {
				n = json_number_value(value);
				most = key;
			}
		if (!most || n < 0.05 * cycles)
			break;
		column += (size_t)snprintf(text, sizeof text, "%s%.16s %.0f%%", shown ? ", " : "^ ", most, 100 * n / cycles);
		if (column > SHOW_WIDTH)
			break;
		printf("%s", text);
		below = n;
	}
	printf("%s\n", show_style(a->colours, SHOW_PLAIN));
}

/* Prints what fits into the rest of the line. Tabs become blanks, control characters '?'. */
static void print_text(const char *text, size_t length)
{
	enum { COLUMNS = SHOW_WIDTH - COST - 6, TAB = 4 };
	size_t column = 0;
	for (size_t i = 0; i < length && column < COLUMNS; i++) {
		unsigned char c = (unsigned char)text[i];
		if (c == '\t')
			for (size_t n = TAB - column % TAB; n && column < COLUMNS; n--, column++)
				putchar(' ');
		else if ((c & 0xc0) == 0x80)
			putchar(c);
		else {
			putchar(c < ' ' || c == 0x7f ? '?' : c);
			column++;
		}
	}
	putchar('\n');
}

static bool is_shown(const struct annotated_source *a, const json_t *lines, size_t source, size_t number)
{
	for (size_t n = number > CONTEXT ? number - CONTEXT : 1; n <= number + CONTEXT; n++)
		if (line_at(lines, source, n))
			return true;
	return a->whole;
}

static void print_source(const struct annotated_source *a, const json_t *lines, size_t source, double all)
{
	const json_t *s = json_array_get(doc_member(a->report, "sources"), source);
	const char *text = doc_text(s, "text");
	size_t number = 1;
	bool gap = false, any = false;
	struct gs_buf name = {0};
	show_name(&name, doc_text(s, "name"), 80);
	printf("%7s %-*s %8s %5s %7s %9s %5s %s\n", "cycles", BAR, "", "executed", "lanes", "sectors", "conflicts", "line",
	       name.data ? name.data : "");
	for (; *text; number++) {
		size_t length = strcspn(text, "\n");
		if (is_shown(a, lines, source, number)) {
			if (gap && any)
				printf("%*s...\n", COST + 5, "");
			print_cost(a, line_at(lines, source, number), all);
			printf("%s%5zu%s ", show_style(a->colours, SHOW_DIM), number, show_style(a->colours, SHOW_PLAIN));
			print_text(text, length);
			print_stalls(a, line_at(lines, source, number), all);
			any = true;
		}
		gap = !is_shown(a, lines, source, number);
		text += length + (text[length] == '\n');
	}
	gs_buf_free(&name);
}

static void print_kernel(const struct annotated_source *a, const char *kernel, const json_t *estimate)
{
	const json_t *lines = doc_member(estimate, "lines");
	double all = doc_number(estimate, "cycles"), elsewhere = 0;
	char total[SHOW_CELL];
	struct gs_buf name = {0};
	size_t i;
	json_t *l;
	show_name(&name, kernel, 60);
	printf("%s%s on %s%s: %.0f launches, %s, limited by %s\n", show_style(a->colours, SHOW_BOLD),
	       name.data ? name.data : "", doc_text(estimate, "target"), show_style(a->colours, SHOW_PLAIN),
	       doc_number(estimate, "launches"), show_time(total, doc_number(estimate, "total_ns")),
	       doc_text(estimate, "limiter"));
	gs_buf_free(&name);
	for (size_t s = 0; s < json_array_size(doc_member(a->report, "sources")); s++) {
		bool any = false;
		json_array_foreach((json_t *)lines, i, l)
			any |= doc_has(l, "source") && (size_t)doc_number(l, "source") == s;
		if (any)
			print_source(a, lines, s, all);
	}
	json_array_foreach((json_t *)lines, i, l)
		elsewhere += doc_has(l, "source") ? 0 : doc_number(l, "cycles");
	if (all > 0)
		printf("%6.1f%% in code of no source line (the compiler's own); launch and tail: %.1f%%\n", 100 * elsewhere / all,
		       100 * (doc_number(doc_member(estimate, "cycles_by"), "launch") +
		              doc_number(doc_member(estimate, "cycles_by"), "tail")) / all);
}

/* One piece of advice in lines of the usual width, beginning with what it saves. */
static void print_remedy(const struct annotated_source *a, const json_t *advice)
{
	struct gs_buf text = {0}, lines = {0};
	gs_buf_printf(&text, "saves %.0f%%", 100 * doc_number(advice, "saving"));
	size_t saves = text.len;
	if (doc_number(advice, "line") > 0)
		gs_buf_printf(&text, " %s:%.0f:", doc_text(advice, "file"), doc_number(advice, "line"));
	gs_buf_printf(&text, " %s; %s", doc_text(advice, "evidence"), doc_text(advice, "remedy"));
	if (!text.failed)
		show_wrapped(&lines, "", text.data, 2);
	if (!text.failed && !lines.failed)
		printf("%s%.*s%s%s", show_style(a->colours, SHOW_HOT), (int)saves, lines.data, show_style(a->colours, SHOW_PLAIN), lines.data + saves);
	gs_buf_free(&text);
	gs_buf_free(&lines);
}

/* What to change in the kernel, under its source. */
static void print_advice(const struct annotated_source *a, const char *kernel, const char *target)
{
	size_t i;
	json_t *advice;
	json_array_foreach((json_t *)doc_member(a->report, "advice"), i, advice)
		if (!strcmp(doc_text(advice, "kernel"), kernel) && !strcmp(doc_text(advice, "target"), target))
			print_remedy(a, advice);
}

static int annotate(const struct annotated_source *a)
{
	size_t i, n, shown = 0;
	json_t *kernel, *estimate;
	json_array_foreach((json_t *)doc_member(a->report, "kernels"), i, kernel) {
		if (a->kernel && strcmp(a->kernel, doc_text(kernel, "name")))
			continue;
		json_array_foreach((json_t *)doc_member(kernel, "estimates"), n, estimate) {
			if (a->gpu ? strcmp(a->gpu, doc_text(estimate, "target")) : n > 0)
				continue;
			if (shown++)
				putchar('\n');
			print_kernel(a, doc_text(kernel, "name"), estimate);
			print_advice(a, doc_text(kernel, "name"), doc_text(estimate, "target"));
		}
	}
	if (!shown)
		return cmd_fail("annotate: the report has no such kernel on that GPU");
	if (!doc_member(a->report, "sources"))
		return cmd_fail("annotate: the report has no sources, because the program ended before it could write them");
	return 0;
}

int cmd_annotate(int argc, char **argv)
{
	struct annotated_source a = {.colours = show_colours(STDOUT_FILENO)};
	const char *file = NULL;
	struct gs_error err;
	for (int i = 1; i < argc; i++) {
		if (cmd_value("--gpu", argc, argv, &i, &a.gpu) || cmd_value("--kernel", argc, argv, &i, &a.kernel))
			continue;
		if (!strcmp(argv[i], "--all"))
			a.whole = true;
		else if ((argv[i][0] == '-' && argv[i][1]) || file)
			return cmd_fail("annotate: unexpected '%s'", argv[i]);
		else
			file = argv[i];
	}
	if (!file)
		return cmd_fail("annotate: name a report: gpusim annotate FILE.json");
	json_t *report = doc_read_report(file, &err);
	if (!report)
		return cmd_fail("annotate: %s", err.text);
	a.report = report;
	int result = annotate(&a);
	json_decref(report);
	return result;
}
