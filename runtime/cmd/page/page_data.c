/*
 * Makes the document in a page. Launches of a kernel with the same sizes become one row. Commands of the timeline become short
 * arrays. What is too much is left out, and the page says so. The page of any run stays below 5 MB.
 */
#include "runtime/cmd/page/page.h"

#include "runtime/config/accuracy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_GROUPS = 2000, MOST_COMMANDS = 20000, MOST_SOURCE_BYTES = 3 << 19, MOST_LINES = 8000 };

struct aggregation {
	const json_t *report;
	json_t *page;
	struct gs_buf note; /* what was left out */
};

static void add_note(struct aggregation *a, const char *fmt, ...) GS_PRINTF(2, 3);
static void add_note(struct aggregation *a, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	gs_buf_puts(&a->note, a->note.len ? "; " : "");
	gs_buf_vprintf(&a->note, fmt, ap);
	va_end(ap);
}

/* ---- launches ---- */

/* Makes an empty row for launches like this one. */
static json_t *new_group(const json_t *launch)
{
	json_t *row = json_object();
	static const char *const same[] = {"kernel", "global", "local", "groups", "sampled_fraction"};
	for (size_t i = 0; i < GS_ARRAY_LEN(same); i++)
		json_object_set(row, same[i], json_object_get(launch, same[i]));
	json_object_set_new(row, "targets", json_object());
	json_object_set_new(row, "measured_ns", json_real(0));
	json_object_set_new(row, "measured", json_integer(0));
	return row;
}

/* For each target: number of launches, total, least and most time. */
static void add_to_group(json_t *row, const json_t *launch)
{
	size_t i;
	json_t *e, *targets = json_object_get(row, "targets");
	json_array_foreach((json_t *)doc_member(launch, "estimates"), i, e) {
		double ns = doc_number(e, "time_ns");
		json_t *t = json_object_get(targets, doc_text(e, "target"));
		if (!t) {
			json_object_set_new(targets, doc_text(e, "target"), json_pack("[i,f,f,f]", 1, ns, ns, ns));
			continue;
		}
		json_array_set_new(t, 0, json_integer(json_integer_value(json_array_get(t, 0)) + 1));
		json_array_set_new(t, 1, json_real(json_real_value(json_array_get(t, 1)) + ns));
		if (ns < json_real_value(json_array_get(t, 2)))
			json_array_set_new(t, 2, json_real(ns));
		if (ns > json_real_value(json_array_get(t, 3)))
			json_array_set_new(t, 3, json_real(ns));
	}
	if (doc_has(launch, "measured_ns")) {
		json_object_set_new(row, "measured_ns", json_real(doc_number(row, "measured_ns") + doc_number(launch, "measured_ns")));
		json_object_set_new(row, "measured", json_integer((json_int_t)doc_number(row, "measured") + 1));
	}
}

static void add_sizes(struct gs_buf *key, const json_t *sizes)
{
	for (size_t i = 0; i < 3; i++)
		gs_buf_printf(key, "%.0f ", json_number_value(json_array_get(sizes, i)));
}

static void add_groups(struct aggregation *a)
{
	json_t *rows = json_array(), *by_key = json_object(), *launch;
	size_t i, left_out = 0;
	json_array_foreach((json_t *)doc_member(a->report, "launches"), i, launch) {
		struct gs_buf key = {0};
		add_sizes(&key, doc_member(launch, "global"));
		add_sizes(&key, doc_member(launch, "local"));
		gs_buf_puts(&key, doc_text(launch, "kernel"));
		json_t *row = key.failed ? NULL : json_object_get(by_key, key.data);
		if (!row && json_array_size(rows) < MOST_GROUPS && !key.failed) {
			row = new_group(launch);
			json_array_append(rows, row);
			json_object_set_new(by_key, key.data, row);
		}
		if (row)
			add_to_group(row, launch);
		else
			left_out++;
		gs_buf_free(&key);
	}
	size_t launches = json_array_size(doc_member(a->report, "launches"));
	if (launches > json_array_size(rows))
		add_note(a, "launches of a kernel with the same sizes are one row (%zu rows for %zu launches%s)", json_array_size(rows),
		         launches, left_out ? "; further sizes are in the kernel's sums only" : "");
	json_object_set_new(a->page, "launch_groups", rows);
	json_decref(by_key);
}

/* ---- sources and lines ---- */

static void add_sources(struct aggregation *a)
{
	json_t *sources = json_array(), *s;
	size_t i, bytes = 0, left_out = 0;
	json_array_foreach((json_t *)doc_member(a->report, "sources"), i, s) {
		size_t length = strlen(doc_text(s, "text"));
		bool fits = bytes + length <= MOST_SOURCE_BYTES;
		json_t *copy = json_copy(s);
		if (!fits)
			json_object_set_new(copy, "text", json_null());
		left_out += !fits;
		bytes += fits ? length : 0;
		json_array_append_new(sources, copy);
	}
	if (left_out)
		add_note(a, "the text of %zu sources is not in the page", left_out);
	json_object_set_new(a->page, "sources", sources);
}

/* Kernels come longest first. If there is too much, those at the end lose their lines. */
static void add_kernels(struct aggregation *a)
{
	json_t *kernels = json_array(), *k, *e;
	size_t i, n, lines = 0, left_out = 0;
	json_array_foreach((json_t *)doc_member(a->report, "kernels"), i, k) {
		json_t *copy = json_copy(k), *estimates = json_array();
		bool cut = lines > MOST_LINES;
		json_array_foreach((json_t *)doc_member(k, "estimates"), n, e) {
			json_t *own = json_copy(e);
			lines += json_array_size(doc_member(e, "lines"));
			if (cut) {
				json_object_del(own, "lines");
				json_object_del(own, "occupancy_by_local_size");
			}
			json_array_append_new(estimates, own);
		}
		left_out += cut;
		json_object_set_new(copy, "estimates", estimates);
		json_array_append_new(kernels, copy);
	}
	if (left_out)
		add_note(a, "the %zu kernels that take least time have no lines", left_out);
	json_object_set_new(a->page, "kernels", kernels);
}

/* ---- the timeline ---- */

/* The index of a text in a list. A new text is added. `index` remembers the positions. */
static json_int_t place_in(json_t *list, json_t *index, const char *text)
{
	json_t *known = json_object_get(index, text);
	if (known)
		return json_integer_value(known);
	json_int_t at = (json_int_t)json_array_size(list);
	json_array_append_new(list, json_string(text));
	json_object_set_new(index, text, json_integer(at));
	return at;
}

static json_t *command_row(const json_t *command, json_int_t kind, json_int_t name)
{
	size_t i;
	json_t *t, *row = json_pack("[I,I,I,I]", kind, name, (json_int_t)doc_number(command, "queue"),
	                            (json_int_t)doc_number(command, "size_bytes"));
	json_array_foreach((json_t *)doc_member(command, "times"), i, t) {
		json_t *start = json_array_get(t, 0), *end = json_array_get(t, 1);
		json_array_append_new(row, json_is_number(start) ? json_integer((json_int_t)json_number_value(start)) : json_null());
		json_array_append_new(row, json_is_number(end) ? json_integer((json_int_t)json_number_value(end)) : json_null());
	}
	return row;
}

static void add_timeline(struct aggregation *a)
{
	const json_t *timeline = doc_member(a->report, "timeline");
	json_t *names = json_array(), *kinds = json_array(), *rows = json_array(), *c;
	json_t *name_index = json_object(), *kind_index = json_object();
	double omitted = doc_number(timeline, "omitted");
	size_t i;
	json_array_foreach((json_t *)doc_member(timeline, "commands"), i, c) {
		if (i >= MOST_COMMANDS)
			omitted++;
		else
			json_array_append_new(rows, command_row(c, place_in(kinds, kind_index, doc_text(c, "kind")),
			                                        place_in(names, name_index, doc_text(c, "kernel"))));
	}
	json_object_set_new(a->page, "timeline", json_pack("{s:o,s:o,s:o,s:f}", "kinds", kinds, "names", names, "commands", rows,
	                                                   "omitted", omitted));
	json_t *totals = json_object_get(timeline, "totals"); /* not in reports of earlier versions */
	if (totals)
		json_object_set(json_object_get(a->page, "timeline"), "totals", totals);
	json_decref(name_index);
	json_decref(kind_index);
}

/* ---- accuracy ---- */

static void append_text(const char *text, void *list)
{
	json_array_append_new(list, json_string(text));
}

static void add_accuracy(struct aggregation *a)
{
	const json_t *targets = doc_member(a->report, "targets");
	size_t count = json_array_size(targets);
	struct accuracy_target *list = calloc(count + 1, sizeof *list);
	json_t *texts = json_array();
	for (size_t i = 0; i < count && list; i++) {
		const json_t *t = json_array_get(targets, i);
		list[i] = (struct accuracy_target){doc_text(t, "name"), doc_text(t, "memory")};
	}
	if (list)
		accuracy_tell(list, count, append_text, texts);
	free(list);
	json_object_set_new(a->page, "accuracy", texts);
}

/* ---- the whole ---- */

json_t *page_data(const json_t *report)
{
	static const char *const same[] = {"schema", "tool", "run", "targets", "transfers", "advice", "no_advice", "notes", "summary", "not_modelled", "cost"};
	struct aggregation a = {.report = report, .page = json_object()};
	for (size_t i = 0; i < GS_ARRAY_LEN(same); i++)
		json_object_set(a.page, same[i], json_object_get(report, same[i]));
	add_groups(&a);
	add_sources(&a);
	add_kernels(&a);
	add_timeline(&a);
	add_accuracy(&a);
	json_object_set_new(a.page, "aggregated", json_string(a.note.data ? a.note.data : ""));
	gs_buf_free(&a.note);
	return a.page;
}
