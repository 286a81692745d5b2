/* Makes observations from reports, tables of truth and lists of cases; see correlate.h. */
#include "runtime/cmd/correlate/correlate.h"

#include "runtime/cmd/doc.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- observations ---- */

static struct observation *add_observation(struct correlation *c, const struct observation *o, struct gs_error *err)
{
	if (!gs_reserve(&c->list, c->count, &c->room, sizeof *c->list)) {
		gs_fail(err, ENOMEM, "out of memory");
		return NULL;
	}
	c->list[c->count] = *o;
	return &c->list[c->count++];
}

static void leave_out(struct observation *o, const char *why)
{
	if (!o->why[0])
		snprintf(o->why, sizeof o->why, "%s", why);
}

/* Notes why two numbers cannot be compared. */
static void judge(struct observation *o, double scale)
{
	enum metric_kind kind = metrics[o->metric].kind;
	if (isnan(o->truth))
		leave_out(o, "truth has no number");
	else if (isnan(o->estimate))
		leave_out(o, "not modelled");
	else if (scale != 1 && (kind == METRIC_TIME || kind == METRIC_RATE))
		leave_out(o, "ran with fewer work-items than measured");
	else if (kind != METRIC_RATE && o->truth == 0)
		leave_out(o, o->estimate == 0 ? "0 in both" : "truth is 0");
}

static bool has_config(const struct correlation *c, const struct truth_table *t, const struct table_row *r)
{
	return table_column(t, "config") < 0 || (c->config && !strcmp(table_cell(t, r, "config"), c->config));
}

static struct table_row *find_row(const struct correlation *c, struct truth_table *t, const char *name)
{
	for (size_t i = 0; i < t->row_count; i++)
		if (!strcmp(table_cell(t, &t->rows[i], "case"), name) && has_config(c, t, &t->rows[i]))
			return &t->rows[i];
	return NULL;
}

/* The share of a launch's cycles that is the kernel's own. Hardware counters see only these, not the overhead of the launch. */
static double kernel_share(const json_t *estimate)
{
	double cycles = doc_number(estimate, "cycles");
	return cycles > 0 ? 1 - doc_number(doc_member(estimate, "cycles_by"), "launch") / cycles : NAN;
}

/* The value of "memory/l2_hit" in an estimate, for example. "kernel/cycles" leaves out the launch's own. NAN if it is null or
 * missing. */
static double member_of(const json_t *estimate, const char *path)
{
	if (!strncmp(path, "kernel/", 7))
		return kernel_share(estimate) * doc_number(estimate, path + 7);
	const char *slash = strchr(path, '/');
	char outer[32];
	if (slash) {
		snprintf(outer, sizeof outer, "%.*s", (int)(slash - path), path);
		estimate = doc_member(estimate, outer);
		path = slash + 1;
	}
	return doc_has(estimate, path) ? doc_number(estimate, path) : NAN;
}

/* Whether the estimate is of machine code. The chip then executes other code than PTX, and the threads counted are PTX's. */
static bool is_machine(const json_t *estimate)
{
	const json_t *by = doc_member(estimate, "machine_by");
	return doc_number(by, "alu") + doc_number(by, "lsu") + doc_number(by, "fma") > 0;
}

static int compare_with(struct correlation *c, struct truth_table *t, struct table_row *r, const json_t *estimate, struct observation *o,
                        struct gs_error *err)
{
	const struct listed_case *ran = listed_case(&c->cases, o->name), *full = listed_case(&c->full, o->name);
	double scale = ran && full && ran->items ? (double)full->items / (double)ran->items : 1;
	r->used = true;
	for (int m = 0; m < METRIC_COUNT; m++) {
		const struct metric *k = &metrics[m];
		if (table_column(t, k->truth) < 0)
			continue;
		struct observation own = *o;
		own.metric = (enum metric_id)m;
		own.truth = table_number(t, r, k->truth);
		if (*k->divisor) {
			double divisor = table_number(t, r, k->divisor);
			own.truth = divisor > 0 ? own.truth / divisor : NAN;
		}
		own.estimate = member_of(estimate, k->estimate) * (k->kind == METRIC_SUM ? scale : 1);
		if (m == METRIC_thread_instructions && is_machine(estimate))
			leave_out(&own, "ours are PTX's");
		judge(&own, scale);
		if (!add_observation(c, &own, err))
			return -ENOMEM;
	}
	return 0;
}

/* One case of a report. Its launches differ only in their time. */
struct run {
	struct observation named; /* name, kernel, group */
	const json_t *estimate;   /* the estimate of the first launch */
	double *measured;
	size_t launches;
};

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static int compare_measured(struct correlation *c, struct run *r, struct gs_error *err)
{
	struct observation o = r->named;
	size_t n = r->launches;
	qsort(r->measured, n, sizeof *r->measured, ascending);
	o.metric = METRIC_measured_ns;
	o.truth = n % 2 ? r->measured[n / 2] : (r->measured[n / 2 - 1] + r->measured[n / 2]) / 2;
	o.estimate = doc_number(r->estimate, "time_ns");
	if (!(o.truth > 0))
		leave_out(&o, "the queue did not measure");
	judge(&o, 1);
	return add_observation(c, &o, err) ? 0 : -ENOMEM;
}

static int compare_run(struct correlation *c, struct run *r, struct gs_error *err)
{
	int result = c->tables || !c->host_time ? 0 : compare_measured(c, r, err);
	bool found = false;
	for (struct truth_table *t = c->tables; t && !result; t = t->next) {
		struct table_row *row = find_row(c, t, r->named.name);
		found |= row != NULL;
		if (row)
			result = compare_with(c, t, row, r->estimate, &r->named, err);
	}
	if (result || !c->tables || found)
		return result;
	struct observation o = r->named;
	o.metric = METRIC_COUNT;
	o.truth = o.estimate = NAN;
	leave_out(&o, "ran, but truth has no such case");
	return add_observation(c, &o, err) ? 0 : -ENOMEM;
}

/* ---- reports ---- */

static int by_sequence(const void *a, const void *b)
{
	double x = doc_number(*(json_t *const *)a, "seq"), y = doc_number(*(json_t *const *)b, "seq");
	return (x > y) - (x < y);
}

static void size_text(const json_t *launch, const char *key, char *out, size_t room)
{
	const json_t *sizes = doc_member(launch, key);
	snprintf(out, room, "%.0fx%.0fx%.0f", json_number_value(json_array_get(sizes, 0)), json_number_value(json_array_get(sizes, 1)),
	         json_number_value(json_array_get(sizes, 2)));
	for (size_t n = strlen(out); n > 2 && !strcmp(out + n - 2, "x1"); n -= 2)
		out[n - 2] = 0;
}

/* Without a list of cases, a launch gets its name from its kernel and sizes. */
static void name_launch(const json_t *launch, struct observation *o)
{
	char global[64], local[64];
	size_text(launch, "global", global, sizeof global);
	size_text(launch, "local", local, sizeof local);
	snprintf(o->kernel, sizeof o->kernel, "%s", doc_text(launch, "kernel"));
	snprintf(o->name, sizeof o->name, "%.80s %.20s/%.20s", o->kernel, global, local);
}

struct report_reading {
	struct correlation *c;
	const char *path, *gpu;
	const json_t *not_modelled;
	json_t **launches; /* in the order of their calls */
	size_t count;
	struct run *runs;
	size_t run_count;
};

static int add_launch(struct report_reading *r, const struct observation *named, const json_t *launch, struct gs_error *err)
{
	struct run *run = NULL;
	for (size_t i = 0; i < r->run_count && !run; i++)
		if (!strcmp(r->runs[i].named.name, named->name))
			run = &r->runs[i];
	if (!run) {
		run = &r->runs[r->run_count];
		*run = (struct run){.named = *named, .estimate = doc_find(doc_member(launch, "estimates"), "target", r->gpu),
		                    .measured = calloc(r->count, sizeof(double))};
		if (!run->measured)
			return gs_fail(err, ENOMEM, "out of memory");
		r->run_count++;
	}
	run->measured[run->launches++] = doc_number(launch, "measured_ns");
	return 0;
}

static bool is_wanted(const struct correlation *c, const struct listed_case *k)
{
	return !c->only || !fnmatch(c->only, k->name, 0);
}

/* Goes through the cases of the list in order, each with `repeats` launches. If the next launch has another kernel, the case
 * was not modelled. Returns how many launches that takes. `visit` may be NULL. */
static size_t assign(struct report_reading *r, size_t repeats, int (*visit)(struct report_reading *, const struct listed_case *, size_t, struct gs_error *),
                     struct gs_error *err, int *result)
{
	const struct case_list *cases = &r->c->cases;
	size_t next = 0;
	for (size_t i = 0; i < cases->count; i++)
		for (size_t n = 0; n < repeats && next < r->count && is_wanted(r->c, &cases->list[i]) &&
		                   !strcmp(doc_text(r->launches[next], "kernel"), cases->list[i].kernel) && !*result; n++, next++)
			if (visit)
				*result = visit(r, &cases->list[i], next, err);
	return next;
}

static int add_of_case(struct report_reading *r, const struct listed_case *k, size_t launch, struct gs_error *err)
{
	struct observation o = {.half = '-'};
	snprintf(o.name, sizeof o.name, "%s", k->name);
	snprintf(o.kernel, sizeof o.kernel, "%s", k->kernel);
	snprintf(o.group, sizeof o.group, "%s", k->group);
	/* If one case of a kernel is missing, it is not known which of its cases the others are. */
	if (doc_find(r->not_modelled, "kernel", k->kernel))
		leave_out(&o, "some launches of the kernel were not modelled");
	return add_launch(r, &o, r->launches[launch], err);
}

/* Every case ran equally often. Finds the smallest number of repeats that fits. */
static int match_cases(struct report_reading *r, struct gs_error *err)
{
	size_t repeats = 1, taken = 0;
	int result = 0;
	if (!r->count)
		return 0;
	while (repeats <= r->count && (taken = assign(r, repeats, NULL, err, &result)) < r->count)
		repeats++;
	if (repeats > r->count) {
		taken = assign(r, 1, NULL, err, &result);
		return gs_fail(err, EINVAL, "%s: launch %zu, of %s, is of no case in the list, or not in its order", r->path, taken,
		               doc_text(r->launches[taken], "kernel"));
	}
	assign(r, repeats, add_of_case, err, &result);
	return result;
}

static int match_launches(struct report_reading *r, struct gs_error *err)
{
	int result = 0;
	for (size_t i = 0; i < r->count && !result; i++) {
		struct observation o = {.half = '-'};
		name_launch(r->launches[i], &o);
		result = add_launch(r, &o, r->launches[i], err);
	}
	return result;
}

static void describe_report(struct report_reading *r, const json_t *report)
{
	const json_t *target = doc_find(doc_member(report, "targets"), "name", r->gpu), *run = doc_member(report, "run");
	struct gs_buf *about = &r->c->about;
	gs_buf_printf(about, "estimates: %s, model %s, memory %s, gpusim %s, %.10s", r->gpu, doc_text(target, "model"),
	              doc_text(target, "memory"), doc_text(doc_member(report, "tool"), "version"), doc_text(run, "started"));
	gs_buf_printf(about, *doc_text(run, "set") ? ", set %s\n" : "%s\n", doc_text(run, "set"));
}

static int read_launches(struct report_reading *r, const json_t *report, struct gs_error *err)
{
	const json_t *list = doc_member(report, "launches");
	r->count = json_array_size(list);
	r->not_modelled = doc_member(report, "not_modelled");
	r->launches = calloc(r->count + 1, sizeof *r->launches);
	r->runs = calloc(r->count + 1, sizeof *r->runs);
	if (!r->launches || !r->runs)
		return gs_fail(err, ENOMEM, "out of memory");
	for (size_t i = 0; i < r->count; i++)
		r->launches[i] = json_array_get(list, i);
	qsort(r->launches, r->count, sizeof *r->launches, by_sequence);
	int result = r->c->cases.count ? match_cases(r, err) : match_launches(r, err);
	for (size_t i = 0; i < r->run_count && !result; i++)
		result = compare_run(r->c, &r->runs[i], err);
	return result;
}

static int take_report(struct correlation *c, const char *path, struct gs_error *err)
{
	json_t *report = doc_read_report(path, err);
	if (!report)
		return -EINVAL;
	struct report_reading r = {.c = c, .path = path};
	const json_t *targets = doc_member(report, "targets");
	r.gpu = c->gpu ? c->gpu : doc_text(json_array_get(targets, 0), "name");
	int result = doc_find(targets, "name", r.gpu) ? 0 : gs_fail(err, EINVAL, "%s: no estimates for '%s'", path, r.gpu);
	if (!result)
		describe_report(&r, report);
	if (!result)
		result = read_launches(&r, report, err);
	for (size_t i = 0; i < r.run_count; i++)
		free(r.runs[i].measured);
	free(r.runs);
	free(r.launches);
	json_decref(report);
	return result;
}

/* ---- results of earlier runs ---- */

static int metric_named(const char *name)
{
	for (int m = 0; m < METRIC_COUNT; m++)
		if (!strcmp(metrics[m].name, name))
			return m;
	return -1;
}

static int take_results(struct correlation *c, const struct truth_table *t, struct gs_error *err)
{
	if (t->comments.len)
		gs_buf_puts(&c->about, t->comments.data); /* what was compared with what, at that time */
	else
		gs_buf_printf(&c->about, "results: %s\n", t->path);
	for (size_t i = 0; i < t->row_count; i++) {
		const struct table_row *r = &t->rows[i];
		int m = metric_named(table_cell(t, r, "metric"));
		struct observation o = {.half = *table_cell(t, r, "half"), .truth = table_number(t, r, "truth"),
		                        .estimate = table_number(t, r, "estimate")};
		if (m < 0 && *table_cell(t, r, "metric"))
			return gs_fail(err, EINVAL, "%s: there is no metric '%s'", t->path, table_cell(t, r, "metric"));
		o.metric = m < 0 ? METRIC_COUNT : (enum metric_id)m;
		snprintf(o.name, sizeof o.name, "%s", table_cell(t, r, "case"));
		snprintf(o.kernel, sizeof o.kernel, "%s", table_cell(t, r, "kernel"));
		snprintf(o.group, sizeof o.group, "%s", table_cell(t, r, "group"));
		leave_out(&o, table_cell(t, r, "left_out"));
		if (m >= 0)
			judge(&o, 1);
		if (!add_observation(c, &o, err))
			return -ENOMEM;
	}
	return 0;
}

static int check_config(const struct correlation *c, const struct truth_table *t, struct gs_error *err)
{
	if (table_column(t, "config") < 0)
		return 0;
	for (size_t i = 0; i < t->row_count; i++)
		if (has_config(c, t, &t->rows[i]))
			return 0;
	return gs_fail(err, EINVAL, "%s has several configurations%s%s; --config before it chooses one", t->path,
	               c->config ? ", none of them " : "", c->config ? c->config : "");
}

int correlate_take(struct correlation *c, const char *path, struct gs_error *err)
{
	struct gs_buf text = {0};
	struct truth_table *t = NULL;
	int result = gs_read_file(path, &text, err);
	if (!result && text.data[strspn(text.data, " \t\r\n")] == '{') {
		gs_buf_free(&text);
		return take_report(c, path, err);
	}
	if (result || (result = table_read(path, &text, &t, err)))
		return result;
	if (table_column(t, "metric") >= 0) {
		result = take_results(c, t, err);
	} else if (!(result = check_config(c, t, err))) {
		gs_buf_printf(&c->about, "truth: %s%s%s\n", path, table_column(t, "config") < 0 ? "" : ", ",
		              table_column(t, "config") < 0 ? "" : c->config);
		t->next = c->tables;
		c->tables = t;
		return 0;
	}
	table_free(t);
	return result;
}

/* ---- the end ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Ranks kernels by name. Every other one is in half A. */
static void split_halves(struct correlation *c)
{
	if (c->kernel_count)
		qsort(c->kernels, c->kernel_count, sizeof *c->kernels, by_name);
	for (size_t i = 0; i < c->count; i++)
		for (size_t k = 0; k < c->kernel_count; k++)
			if (!strcmp(c->kernels[k], c->list[i].kernel))
				c->list[i].half = "AB"[k % 2];
}

static int add_unused_rows(struct correlation *c, const struct truth_table *t, struct gs_error *err)
{
	for (size_t i = 0; i < t->row_count; i++) {
		const struct table_row *r = &t->rows[i];
		struct observation o = {.metric = METRIC_COUNT, .half = '-', .truth = NAN, .estimate = NAN};
		if (r->used || !has_config(c, t, r))
			continue;
		snprintf(o.name, sizeof o.name, "%s", table_cell(t, r, "case"));
		snprintf(o.kernel, sizeof o.kernel, "%s", table_cell(t, r, "kernel"));
		leave_out(&o, "truth has it, but it was not run or not modelled");
		bool known = false;
		for (size_t k = 0; k < c->count && !known; k++)
			known = c->list[k].metric == METRIC_COUNT && !strcmp(c->list[k].name, o.name);
		if (!known && !add_observation(c, &o, err))
			return -ENOMEM;
	}
	return 0;
}

int correlate_finish(struct correlation *c, struct gs_error *err)
{
	int result = 0;
	for (const struct truth_table *t = c->tables; t && !result; t = t->next)
		result = add_unused_rows(c, t, err);
	for (size_t i = 0; i < c->count; i++)
		for (size_t w = 0; w < c->without_count; w++)
			if (!fnmatch(c->without[w].name, c->list[i].name, 0))
				leave_out(&c->list[i], c->without[w].why);
	split_halves(c);
	return result;
}

static bool is_compared(const char *column)
{
	static const char *const names[] = {"case", "kernel", "config", "checksum", "global", "local"};
	for (size_t i = 0; i < GS_ARRAY_LEN(names); i++)
		if (!strcmp(names[i], column))
			return true;
	for (int m = 0; m < METRIC_COUNT; m++)
		if (!strcmp(metrics[m].truth, column) || !strcmp(metrics[m].divisor, column))
			return true;
	return false;
}

void correlate_unused(const struct correlation *c, struct gs_buf *out)
{
	for (const struct truth_table *t = c->tables; t; t = t->next)
		for (size_t i = 0; i < t->columns; i++)
			if (!is_compared(t->header[i]))
				gs_buf_printf(out, "%s%s", out->len ? ", " : "", t->header[i]);
}

void correlate_free(struct correlation *c)
{
	while (c->tables) {
		struct truth_table *t = c->tables;
		c->tables = t->next;
		table_free(t);
	}
	for (size_t i = 0; i < c->kernel_count; i++)
		free(c->kernels[i]);
	free(c->kernels);
	free(c->cases.list);
	free(c->full.list);
	free(c->list);
	free(c->without);
	gs_buf_free(&c->about);
}
