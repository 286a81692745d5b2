/* gpusim diff: what got faster or slower between two reports, kernel by kernel, and why. */
#include "runtime/cmd/cmd.h"
#include "runtime/cmd/doc.h"

#include "runtime/config/show.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct diff {
	const json_t *reports[2];
	const char *gpus[2]; /* of the pair of GPUs that is compared */
	double clock_mhz[2];
	bool colours;
};

/* A kernel on both GPUs of the pair. NULL: that side does not have it. */
struct pair {
	const char *kernel;
	const json_t *estimates[2];
	double ns[2]; /* of all launches */
};

static const json_t *estimate_of(const json_t *report, const char *kernel, const char *gpu)
{
	const json_t *k = doc_find(doc_member(report, "kernels"), "name", kernel);
	return doc_find(doc_member(k, "estimates"), "target", gpu);
}

/* ---- why ---- */

enum { MOST_REASONS = 3 };

static void add_reason(struct gs_buf *out, const char *fmt, ...) GS_PRINTF(2, 3);
static void add_reason(struct gs_buf *out, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	gs_buf_puts(out, out->len ? "; " : "");
	gs_buf_vprintf(out, fmt, ap);
	va_end(ap);
}

/* The time that a kind of cycles takes, of all launches, as the times beside it. */
static double kind_ns(const struct diff *d, const struct pair *p, int side, const char *kind)
{
	double cycles = doc_number(doc_member(p->estimates[side], "cycles_by"), kind);
	return cycles * 1000 / d->clock_mhz[side];
}

/* Adds the kinds of cycles that changed most. */
static void add_kinds(const struct diff *d, const struct pair *p, struct gs_buf *out)
{
	const json_t *kinds = doc_member(p->estimates[1], "cycles_by");
	double least = 0.02 * p->ns[0], before = INFINITY;
	for (int n = 0; n < MOST_REASONS; n++) {
		const char *kind, *most = NULL;
		json_t *unused;
		double change = 0;
		json_object_foreach((json_t *)kinds, kind, unused) {
			double c = kind_ns(d, p, 1, kind) - kind_ns(d, p, 0, kind);
			if (fabs(c) < before && fabs(c) > fabs(change)) {
				change = c;
				most = kind;
			}
		}
		if (!most || fabs(change) < least)
			return;
		before = fabs(change);
		char cell[SHOW_CELL];
		add_reason(out, "%s %s%s", most, change > 0 ? "+" : "-", show_time(cell, fabs(change)));
	}
}

static void add_counts(const struct pair *p, struct gs_buf *out)
{
	static const struct {
		const char *key, *what;
	} counts[] = {{"thread_instructions", "instructions"}, {"registers_per_thread", "registers"}};
	for (size_t i = 0; i < GS_ARRAY_LEN(counts); i++) {
		double n[2];
		char before[SHOW_CELL], after[SHOW_CELL];
		for (int s = 0; s < 2; s++)
			n[s] = doc_number(p->estimates[s], counts[i].key);
		if (fabs(n[1] - n[0]) > 0.01 * n[0])
			add_reason(out, "%s %s -> %s", counts[i].what, show_count(before, n[0]), show_count(after, n[1]));
	}
}

static void add_rates(const struct pair *p, struct gs_buf *out)
{
	static const struct {
		const char *key, *what;
	} rates[] = {{"occupancy", "occupancy"}, {"lane_efficiency", "active lanes"}};
	for (size_t i = 0; i < GS_ARRAY_LEN(rates); i++) {
		double before = doc_number(p->estimates[0], rates[i].key), after = doc_number(p->estimates[1], rates[i].key);
		if (fabs(after - before) >= 0.01)
			add_reason(out, "%s %.0f%% -> %.0f%%", rates[i].what, 100 * before, 100 * after);
	}
	const char *limiters[2] = {doc_text(p->estimates[0], "limiter"), doc_text(p->estimates[1], "limiter")};
	if (strcmp(limiters[0], limiters[1]))
		add_reason(out, "limited by %s -> %s", limiters[0], limiters[1]);
}

static void print_reasons(const struct diff *d, const struct pair *p)
{
	double launches[2] = {doc_number(p->estimates[0], "launches"), doc_number(p->estimates[1], "launches")};
	struct gs_buf out = {0}, lines = {0};
	if (launches[0] != launches[1])
		add_reason(&out, "launches %.0f -> %.0f", launches[0], launches[1]);
	add_kinds(d, p, &out);
	add_counts(p, &out);
	add_rates(p, &out);
	if (out.len && !out.failed) {
		show_wrapped(&lines, "", out.data, 0);
		for (char *save, *line = strtok_r(lines.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
			printf("    %s%s%s\n", show_style(d->colours, SHOW_DIM), line, show_style(d->colours, SHOW_PLAIN));
	}
	gs_buf_free(&out);
	gs_buf_free(&lines);
}

/* ---- the table ---- */

static void print_pair(const struct diff *d, const struct pair *p)
{
	char cells[2][SHOW_CELL] = {"-", "-"}, change[SHOW_CELL];
	struct gs_buf name = {0};
	for (int s = 0; s < 2; s++)
		if (p->estimates[s])
			show_time(cells[s], p->ns[s]);
	show_name(&name, p->kernel, 58);
	show_change(change, p->ns[0], p->ns[1]);
	if (!p->estimates[0] || !p->estimates[1])
		snprintf(change, sizeof change, "%s", p->estimates[0] ? "gone" : "new");
	enum show_style style = strstr(change, "faster") ? SHOW_GOOD : strstr(change, "slower") ? SHOW_HOT : SHOW_PLAIN;
	printf("%10s %10s  %s%-14s%s %s\n", cells[0], cells[1], show_style(d->colours, style), change,
	       show_style(d->colours, SHOW_PLAIN), name.data ? name.data : "");
	if (p->estimates[0] && p->estimates[1] && strcmp(change, "same"))
		print_reasons(d, p);
	gs_buf_free(&name);
}

/* Sorts by the change of the sum, the largest first. */
static int by_change(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	double p = fabs(x->ns[1] - x->ns[0]), q = fabs(y->ns[1] - y->ns[0]);
	return p < q ? 1 : p > q ? -1 : strcmp(x->kernel, y->kernel);
}

static size_t collect_pairs(const struct diff *d, struct pair *pairs)
{
	size_t count = 0;
	for (int s = 0; s < 2; s++) {
		size_t i;
		json_t *k;
		json_array_foreach((json_t *)doc_member(d->reports[s], "kernels"), i, k) {
			struct pair p = {.kernel = doc_text(k, "name")};
			if (s && estimate_of(d->reports[0], p.kernel, d->gpus[0]))
				continue; /* the first report had it, too */
			for (int side = 0; side < 2; side++) {
				p.estimates[side] = estimate_of(d->reports[side], p.kernel, d->gpus[side]);
				p.ns[side] = doc_number(p.estimates[side], "total_ns");
			}
			if (p.estimates[0] || p.estimates[1])
				pairs[count++] = p;
		}
	}
	return count;
}

static int compare(struct diff *d)
{
	char before[SHOW_CELL], after[SHOW_CELL], change[SHOW_CELL];
	double all[2] = {0, 0};
	struct pair *pairs = calloc(json_array_size(doc_member(d->reports[0], "kernels")) +
	                            json_array_size(doc_member(d->reports[1], "kernels")) + 1, sizeof *pairs);
	if (!pairs)
		return cmd_fail("diff: out of memory");
	for (int s = 0; s < 2; s++)
		d->clock_mhz[s] = doc_number(doc_find(doc_member(d->reports[s], "targets"), "name", d->gpus[s]), "clock_mhz");
	size_t count = collect_pairs(d, pairs);
	qsort(pairs, count, sizeof *pairs, by_change);
	for (size_t i = 0; i < count; i++)
		for (int s = 0; s < 2; s++)
			all[s] += pairs[i].ns[s];
	printf("%s%s%s%s: kernels %s -> %s, %s, all launches%s\n", show_style(d->colours, SHOW_BOLD), d->gpus[0],
	       strcmp(d->gpus[0], d->gpus[1]) ? " -> " : "", strcmp(d->gpus[0], d->gpus[1]) ? d->gpus[1] : "",
	       show_time(before, all[0]), show_time(after, all[1]), show_change(change, all[0], all[1]),
	       show_style(d->colours, SHOW_PLAIN));
	printf("%10s %10s  %-14s %s\n", "before", "after", "change", "kernel");
	for (size_t i = 0; i < count; i++)
		print_pair(d, &pairs[i]);
	free(pairs);
	return 0;
}

/* ---- which GPUs ---- */

/* Compares the GPUs that both reports have. If there is none and each report has one GPU, compares these two. */
static int compare_common(struct diff *d)
{
	const json_t *targets[2] = {doc_member(d->reports[0], "targets"), doc_member(d->reports[1], "targets")};
	size_t i, compared = 0;
	json_t *t;
	json_array_foreach((json_t *)targets[0], i, t) {
		d->gpus[0] = d->gpus[1] = doc_text(t, "name");
		if (!doc_find(targets[1], "name", d->gpus[1]))
			continue;
		if (compared++)
			putchar('\n');
		if (compare(d))
			return EXIT_USAGE;
	}
	if (compared)
		return 0;
	if (json_array_size(targets[0]) != 1 || json_array_size(targets[1]) != 1)
		return cmd_fail("diff: the reports have no GPU in common; choose with --gpu NAME --against NAME");
	for (int s = 0; s < 2; s++)
		d->gpus[s] = doc_text(json_array_get(targets[s], 0), "name");
	return compare(d);
}

static int compare_chosen(struct diff *d, const char *gpu, const char *against)
{
	d->gpus[0] = gpu;
	d->gpus[1] = against ? against : gpu;
	for (int s = 0; s < 2; s++)
		if (!doc_find(doc_member(d->reports[s], "targets"), "name", d->gpus[s]))
			return cmd_fail("diff: the %s report has no GPU '%s'", s ? "second" : "first", d->gpus[s]);
	return compare(d);
}

int cmd_diff(int argc, char **argv)
{
	const char *files[2] = {NULL, NULL}, *gpu = NULL, *against = NULL;
	struct diff d = {.colours = show_colours(STDOUT_FILENO)};
	struct gs_error err;
	int result = EXIT_USAGE;
	for (int i = 1; i < argc; i++) {
		if (cmd_value("--gpu", argc, argv, &i, &gpu) || cmd_value("--against", argc, argv, &i, &against))
			continue;
		if ((argv[i][0] == '-' && argv[i][1]) || files[1])
			return cmd_fail("diff: unexpected '%s'", argv[i]);
		files[files[0] ? 1 : 0] = argv[i];
	}
	if (!files[0] || (!files[1] && !against))
		return cmd_fail("diff: name two reports: gpusim diff BEFORE.json AFTER.json");
	if (against && !gpu)
		return cmd_fail("diff: --against needs --gpu");
	json_t *first = doc_read_report(files[0], &err);
	json_t *second = !first ? NULL : files[1] ? doc_read_report(files[1], &err) : json_incref(first);
	d.reports[0] = first;
	d.reports[1] = second;
	if (!second)
		cmd_fail("diff: %s", err.text);
	else
		result = gpu ? compare_chosen(&d, gpu, against) : compare_common(&d);
	json_decref(first);
	json_decref(second);
	return result;
}
