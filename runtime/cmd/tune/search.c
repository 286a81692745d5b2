/*
 * Searches values of keys with which the models come nearest to measured times of the same launches.
 *
 * A part is a few keys and the rows that depend on them. Its candidates are all combinations of values that are listed here, and where a part has
 * one key that is a number, further ones between the best and its neighbours. The error of a candidate is the mean over the rows of
 * |modelled / measured - 1|, where both are times less that of another row, and where the part says so over those of a row that does not depend on the
 * keys. Every candidate goes to the log. The base's value stays where candidates do not differ, or none comes near.
 */
#include "runtime/cmd/tune/search.h"

#include "runtime/config/gpus.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PART_KEYS = 3, CANDIDATES = 128, VALUE_TEXT = 16, REFINEMENTS = 4, PASSES = 2 };

struct candidate {
	char values[PART_KEYS][VALUE_TEXT];
	double error; /* NAN: it is no description, or could not be modelled */
};

/* Turns as long as what lies together are none. And where slices follow each other without a hash, there is nothing to take turns between. */
static bool is_no_turn(const struct candidate *c)
{
	long turn = strtol(c->values[1], NULL, 10);
	return turn && (turn >= strtol(c->values[0], NULL, 10) || !strcmp(c->values[2], "0"));
}

/* The number of banks counts where reads are looked at, or where chance decides. */
static bool is_no_bank(const struct candidate *c)
{
	return !strcmp(c->values[1], "0") && !strcmp(c->values[2], "1") && strcmp(c->values[0], "8");
}

static const struct search_part {
	const char *name, *help;
	char family; /* keys of parts of one family bear on each other's times */
	const char *relative; /* the row that others are divided by; NULL: none */
	struct {
		const char *key, *values;
	} keys[PART_KEYS];
	bool refines; /* its one key is a number, and time grows with it */
	bool (*is_double)(const struct candidate *c); /* whether another candidate means the same; NULL: none does */
} parts[] = {
	{"grid", "ends of groups over the GPU (grid_interval)", 'g', NULL, {{"grid_interval", "0 0.5 1 2 4 8"}}, true, NULL},
	{"start", "starts of groups on an SM (group_interval)", 'g', NULL, {{"group_interval", "0 10 20 40 80 160 320"}}, true, NULL},
	{"lone", "from group to group on an SM (group_turnaround)", 'g', NULL, {{"group_turnaround", "0 100 200 400 800 1600"}}, true, NULL},
	{"ports", "reads of registers (register_banks, read_window, banks_without_conflicts)", 'w', "one register",
	 {{"register_banks", "2 4 8 16 32"}, {"read_window", "0 3"}, {"banks_without_conflicts", "0 1"}}, false, is_no_bank},
	{"schedule", "order of warps (scheduler_policy)", 'w', "plain 4", {{"scheduler_policy", "lrr gto two_level oldest"}}, false, NULL},
	{"slices", "addresses and slices of L2 (l2_interleave_bytes, l2_turn_bytes, l2_hash)", 'l', "adds 1",
	 {{"l2_interleave_bytes", "128 256 512 1024 2048 4096"}, {"l2_turn_bytes", "0 128 256 512"}, {"l2_hash", "0 1"}}, false, is_no_turn},
};

/* Keys of the same kind that neither half measures, and why. */
static const struct {
	const char *key, *why;
} unseen[] = {
	{"l2_slices", "a hash spreads words over slices: times tell which are together, not how many there are"},
	{"l2_set_hash", "needs lines that throw each other out of one set, and sets are not known without it"},
	{"operand_collectors", "one key of several that only bound what registers allow: times do not tell them apart"},
	{"fp32_ports", "as operand_collectors"},
	{"instruction_buffer_entries", "hidden where fetches keep up"},
};

/* Errors that are less apart than this are the same. */
static const double same = 0.005, undecided = 0.02, too_far = 0.25;

struct key_search {
	struct tuner *t;
	const struct tune_times *times;
	struct tune_trials trials[GS_ARRAY_LEN(parts)]; /* by part */
	const struct tune_trials *now; /* of the part that is searched */
	struct gs_buf taken; /* "key=value,...": what was found */
	struct candidate candidates[CANDIDATES];
	size_t count;
	bool moved[GS_ARRAY_LEN(parts)]; /* by part: a value was found that is not the one before */
};

void search_print_parts(void)
{
	for (size_t i = 0; i < GS_ARRAY_LEN(parts); i++)
		printf("  %-10s %s\n", parts[i].name, parts[i].help);
}

const char *search_part_name(size_t i)
{
	return i < GS_ARRAY_LEN(parts) ? parts[i].name : NULL;
}

static size_t key_count(const struct search_part *p)
{
	size_t count = 0;
	while (count < PART_KEYS && p->keys[count].key)
		count++;
	return count;
}

static const struct tune_stamp *stamp_of(const struct key_search *s, const char *key)
{
	for (size_t i = 0; i < s->times->stamp_count; i++)
		if (!strcmp(s->times->stamps[i].key, key))
			return &s->times->stamps[i];
	return NULL;
}

/* The base's value as text, or that which a part before has found. */
static void current_value(const struct key_search *s, const char *key, char *text)
{
	struct gpu gpu;
	struct gs_error err;
	char whole[128] = "";
	*text = 0;
	if (gpu_load(&gpu, s->t->base_name, gpus_read, NULL, s->taken.data, NULL, &err))
		return;
	for (size_t i = 0; i < gpu_key_count(); i++)
		if (!strcmp(gpu_key(i)->name, key))
			gpu_format_value(&gpu, i, whole, sizeof whole);
	snprintf(text, VALUE_TEXT, "%.15s", whole);
}

/* "key=value,...": what was found by any part, which holds for all others. but: NULL, or the part whose keys are left out. */
static void list_found(const struct key_search *s, const struct search_part *but, struct gs_buf *out)
{
	const struct tune_stamp *clock = stamp_of(s, "clock_mhz");
	if (clock)
		gs_buf_printf(out, "clock_mhz=%.0f", clock->value);
	for (size_t i = 0; i < GS_ARRAY_LEN(parts); i++)
		for (size_t k = 0; &parts[i] != but && k < key_count(&parts[i]); k++) {
			struct gs_buf text = {0};
			if (tune_value_text(s->t, parts[i].keys[k].key, &text))
				gs_buf_printf(out, "%s%s=%s", out->len ? "," : "", parts[i].keys[k].key, text.data);
			gs_buf_free(&text);
		}
}

static void keep_found(struct key_search *s)
{
	gs_buf_free(&s->taken);
	list_found(s, NULL, &s->taken);
}

/* ---- the error of a candidate ---- */

static double row_value(const double *ns, size_t row)
{
	size_t against = tune_rows[row].against ? tune_row_index(tune_rows[row].against) : tune_row_count;
	return against < tune_row_count ? ns[row] - ns[against] : NAN;
}

static double part_error(const struct key_search *s, const struct search_part *p, const double *modelled)
{
	double measured[ROWS_MOST], sum = 0, of_model = 1, of_machine = 1;
	unsigned count = 0;
	for (size_t i = 0; i < tune_row_count; i++)
		measured[i] = s->times->rows[i].ns;
	if (p->relative) {
		of_model = row_value(modelled, tune_row_index(p->relative));
		of_machine = row_value(measured, tune_row_index(p->relative));
	}
	for (size_t i = 0; i < tune_row_count; i++) {
		double want = row_value(measured, i) / of_machine, got = row_value(modelled, i) / of_model;
		if (strcmp(tune_rows[i].part, p->name) || (p->relative && !strcmp(tune_rows[i].name, p->relative)) || isnan(want))
			continue;
		/* Of what takes no time of its own, there is nothing to be a part of. */
		double least = p->relative ? 0.02 : 50;
		sum += fabs(got - want) / fmax(fabs(want), least);
		count++;
	}
	return count ? sum / count : NAN;
}

static void candidate_text(const struct search_part *p, const struct candidate *c, struct gs_buf *out)
{
	for (size_t k = 0; k < key_count(p); k++)
		gs_buf_printf(out, "%s%s=%s", out->len ? "," : "", p->keys[k].key, c->values[k]);
}

static bool is_tried(const struct key_search *s, const struct candidate *c, size_t keys)
{
	for (size_t i = 0; i < s->count; i++) {
		bool equal = true;
		for (size_t k = 0; k < keys; k++)
			equal &= !strcmp(s->candidates[i].values[k], c->values[k]);
		if (equal)
			return true;
	}
	return false;
}

/* Models a candidate, unless it is known already, and writes it to the log. */
static void try_candidate(struct key_search *s, const struct search_part *p, const struct candidate *values)
{
	if (s->count == CANDIDATES || is_tried(s, values, key_count(p)))
		return;
	struct candidate *c = &s->candidates[s->count++];
	struct gs_buf set = {0}, text = {0};
	struct gs_error err;
	struct gpu gpu;
	double ns[ROWS_MOST];
	*c = *values;
	c->error = NAN;
	candidate_text(p, c, &text);
	list_found(s, p, &set);
	gs_buf_printf(&set, "%s%s", set.len ? "," : "", text.data);
	if (set.failed || text.failed || gpu_load(&gpu, s->t->base_name, gpus_read, NULL, set.data, NULL, &err) ||
	    trials_run(s->now, set.data, ns, &err))
		tune_say(s->t, "  %s %s: not possible: %s", p->name, text.data ? text.data : "", set.failed ? "out of memory" : err.text);
	else {
		c->error = part_error(s, p, ns);
		tune_say(s->t, "  %s %s: error %.2f%%", p->name, text.data, 100 * c->error);
	}
	gs_buf_free(&set);
	gs_buf_free(&text);
}

/* ---- candidates ---- */

static void try_all(struct key_search *s, const struct search_part *p, struct candidate *c, size_t key)
{
	if (key == key_count(p)) {
		if (!p->is_double || !p->is_double(c))
			try_candidate(s, p, c);
		return;
	}
	for (const char *at = p->keys[key].values; *at; at += strspn(at, " ")) {
		size_t length = strcspn(at, " ");
		snprintf(c->values[key], VALUE_TEXT, "%.*s", (int)length, at);
		try_all(s, p, c, key + 1);
		at += length;
	}
}

static const struct candidate *best_of(const struct key_search *s)
{
	const struct candidate *best = NULL;
	for (size_t i = 0; i < s->count; i++)
		if (!isnan(s->candidates[i].error) && (!best || s->candidates[i].error < best->error))
			best = &s->candidates[i];
	return best;
}

/* Tries what lies between the best value and the ones next to it. */
static void refine(struct key_search *s, const struct search_part *p)
{
	const struct candidate *best = best_of(s);
	if (!best)
		return;
	double value = strtod(best->values[0], NULL), below = -INFINITY, above = INFINITY;
	for (size_t i = 0; i < s->count; i++) {
		double other = strtod(s->candidates[i].values[0], NULL);
		below = other < value ? fmax(below, other) : below;
		above = other > value ? fmin(above, other) : above;
	}
	for (int side = 0; side < 2; side++) {
		struct candidate c = {.error = NAN};
		double next = side ? above : below;
		if (!isfinite(next))
			continue;
		snprintf(c.values[0], VALUE_TEXT, "%.4g", (value + next) / 2);
		try_candidate(s, p, &c);
	}
}

static unsigned changes(const struct key_search *s, const struct search_part *p, const struct candidate *c)
{
	unsigned count = 0;
	for (size_t k = 0; k < key_count(p); k++) {
		char now[VALUE_TEXT];
		current_value(s, p->keys[k].key, now);
		count += strcmp(now, c->values[k]) != 0;
	}
	return count;
}

/* Of the candidates that are as good as the best, the one with the fewest changes. */
static const struct candidate *choose(const struct key_search *s, const struct search_part *p)
{
	const struct candidate *chosen = best_of(s);
	double most = chosen ? chosen->error + same : 0;
	for (size_t i = 0; i < s->count; i++)
		if (s->candidates[i].error <= most && changes(s, p, &s->candidates[i]) < changes(s, p, chosen))
			chosen = &s->candidates[i];
	return chosen;
}

/* ---- results ---- */

/* The least error with another value of a key: whether times decide it. */
static double next_error(const struct key_search *s, const struct candidate *chosen, size_t key)
{
	double least = INFINITY;
	for (size_t i = 0; i < s->count; i++)
		if (strcmp(s->candidates[i].values[key], chosen->values[key]) && s->candidates[i].error < least)
			least = s->candidates[i].error;
	return least;
}

static double worst_error(const struct key_search *s)
{
	double worst = 0;
	for (size_t i = 0; i < s->count; i++)
		worst = s->candidates[i].error > worst ? s->candidates[i].error : worst;
	return worst;
}

/* Whether the key's present value does as well, the others being chosen. */
static bool present_fits(const struct key_search *s, const struct search_part *p, const struct candidate *chosen, size_t key)
{
	for (size_t i = 0; i < s->count; i++) {
		char now[VALUE_TEXT];
		const struct candidate *c = &s->candidates[i];
		bool others = true;
		for (size_t k = 0; k < key_count(p); k++) {
			current_value(s, p->keys[k].key, now);
			others &= !strcmp(c->values[k], k == key ? now : chosen->values[k]);
		}
		if (others && c->error <= chosen->error + same)
			return true;
	}
	return false;
}

/* The range of values that fit as well as the chosen one. */
static void fitting_range(const struct key_search *s, const struct candidate *chosen, double *least, double *most)
{
	*least = INFINITY;
	*most = -INFINITY;
	for (size_t i = 0; i < s->count; i++)
		if (s->candidates[i].error <= chosen->error + same) {
			*least = fmin(*least, strtod(s->candidates[i].values[0], NULL));
			*most = fmax(*most, strtod(s->candidates[i].values[0], NULL));
		}
}

static void report_key(struct key_search *s, const struct search_part *p, const struct candidate *chosen, size_t k)
{
	const char *key = p->keys[k].key;
	double next = next_error(s, chosen, k), least, most;
	fitting_range(s, chosen, &least, &most);
	if (p->refines && most - least > 0.2 * most)
		tune_keep(s->t, key, "searched: all from %g to %g fit alike, %.1f%% off", least, most, 100 * chosen->error);
	else if (!p->refines && next <= chosen->error + same && present_fits(s, p, chosen, k))
		tune_keep(s->t, key, "searched: another value fits as well (%.1f%% and %.1f%% off)", 100 * chosen->error, 100 * next);
	else
		tune_put_text(s->t, key, chosen->values[k], "search, launches '%s' come within %.1f%% (%zu candidates up to %.0f%%)", p->name,
		              100 * chosen->error, s->count, 100 * worst_error(s));
}

static void report_part(struct key_search *s, const struct search_part *p, const struct candidate *chosen)
{
	for (size_t k = 0; k < key_count(p); k++) {
		const char *key = p->keys[k].key;
		const struct tune_stamp *stamp = stamp_of(s, key);
		if (stamp)
			tune_put(s->t, key, floor(stamp->value + 0.5), stamp->spread, 0, 100000, "clocks of SMs, kernels/micro/groups.ptx; by search %s",
			         chosen ? chosen->values[k] : "none");
		else if (!chosen)
			tune_keep(s->t, key, "searched: no candidate could be modelled");
		else if (worst_error(s) - chosen->error < undecided)
			tune_keep(s->t, key, "searched: %zu candidates fit alike, %.1f%% off", s->count, 100 * chosen->error);
		else if (chosen->error > too_far)
			tune_keep(s->t, key, "searched: the nearest, %s, is %.0f%% off", chosen->values[k], 100 * chosen->error);
		else
			report_key(s, p, chosen, k);
	}
}

static void search_part(struct key_search *s, const struct search_part *p)
{
	struct candidate c = {.error = NAN};
	s->count = 0;
	for (size_t k = 0; k < key_count(p); k++)
		current_value(s, p->keys[k].key, c.values[k]);
	try_candidate(s, p, &c); /* as it is */
	try_all(s, p, &c, 0);
	for (int i = 0; p->refines && i < REFINEMENTS; i++)
		refine(s, p);
	const struct candidate *chosen = choose(s, p);
	s->moved[p - parts] = chosen && changes(s, p, chosen);
	report_part(s, p, chosen);
	keep_found(s);
}

/* Records the part's launches, if that has not been done. */
static int prepare_part(struct key_search *s, size_t i)
{
	s->now = &s->trials[i];
	return s->now->part ? 0 : trials_begin(&s->trials[i], s->t->base_name, parts[i].name, &s->t->error);
}

/* The first time all parts are searched. Then those again of which a relative has found another value. */
static bool is_due(const struct key_search *s, size_t part, bool again)
{
	for (size_t i = 0; i < GS_ARRAY_LEN(parts); i++)
		if (!again || (i != part && parts[i].family == parts[part].family && s->moved[i]))
			return true;
	return false;
}

static int search_parts(struct key_search *s, const char *only)
{
	int result = 0;
	for (int pass = 0; pass < PASSES; pass++)
		for (size_t i = 0; i < GS_ARRAY_LEN(parts) && !result; i++) {
			if ((only && !tune_is_listed(only, parts[i].name)) || !is_due(s, i, pass))
				continue;
			fprintf(stderr, "gpusim: tune: search: %s%s\n", parts[i].help, pass ? ", again" : "");
			result = prepare_part(s, i);
			if (!result)
				search_part(s, &parts[i]);
		}
	for (size_t i = 0; i < GS_ARRAY_LEN(parts); i++)
		trials_end(&s->trials[i]);
	for (size_t i = 0; i < GS_ARRAY_LEN(unseen) && !result; i++)
		tune_keep(s->t, unseen[i].key, "%s", unseen[i].why);
	return result;
}

/* ---- the whole ---- */

static int measure(struct tuner *t, const char *only, struct tune_times *times)
{
	struct cuda_machine m = {0};
	int result = cuda_open(&m);
	if (!result)
		result = tune_measure_rows(&m, only, times, t->log);
	if (!result)
		result = tune_measure_stamps(&m, times, t->log);
	if (result)
		t->error = m.error;
	cuda_close(&m);
	return result;
}

static int write_times(struct tuner *t, const struct tune_times *times, const char *path)
{
	struct gs_buf text = {0};
	tune_write_times(times, &text);
	int result = text.failed ? gs_fail(&t->error, ENOMEM, "out of memory") : gs_write_file(path, text.data, text.len, &t->error);
	gs_buf_free(&text);
	return result;
}

/* The launches depend on the number of SMs, and times on the clock. */
static int fit_base(struct key_search *s)
{
	if (s->times->units != s->t->base.sm_count)
		return gs_fail(&s->t->error, EINVAL, "measured on %u SMs, but %s has %u: take a base with as many", s->times->units, s->t->base_name,
		               s->t->base.sm_count);
	keep_found(s);
	return 0;
}

int tune_search(struct tuner *t, const struct search_arguments *a)
{
	struct tune_times times = {0};
	static struct key_search s;
	int result = a->measured ? tune_read_times(a->measured, &times, &t->error) : measure(t, a->only, &times);
	if (result || a->times)
		return result ? result : write_times(t, &times, a->times);
	s = (struct key_search){.t = t, .times = &times};
	snprintf(t->device.name, sizeof t->device.name, "%s", times.machine);
	snprintf(t->device.platform, sizeof t->device.platform, "PTX");
	snprintf(t->device.driver, sizeof t->device.driver, "%s", times.driver);
	result = fit_base(&s);
	if (!result)
		result = search_parts(&s, a->only);
	gs_buf_free(&s.taken);
	return result;
}
