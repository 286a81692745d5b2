/*
 * gpusim what-if: what a little more, and twice as much, of each resource of a GPU would do to a profile. It is a sweep whose
 * configurations differ from the GPU in one resource each.
 */
#include "runtime/cmd/cmd.h"
#include "runtime/cmd/doc.h"
#include "runtime/cmd/sweep/only.h"
#include "runtime/cmd/sweep/sweep.h"
#include "runtime/config/gpus.h"
#include "runtime/config/show.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FACTORS = 2 };
static const double factors[FACTORS] = {1.1, 2};
static const char *const factor_names[FACTORS] = {"+10%", "x2"};

/* ---- resources ---- */

/* Whole numbers that a description takes. */
static double whole(double value)
{
	return floor(value + 0.5);
}

static double multiple(double value, double of)
{
	return of > 0 ? fmax(floor(value / of + 0.5), 1) * of : value;
}

static void more_sms(const struct gpu *g, double f, struct gs_buf *out)
{
	gs_buf_printf(out, "sm_count=%.0f", whole(g->sm_count * f));
}

/* DRAM does not get faster with the clock: what it takes beyond L2 is more cycles then. */
static void more_clock(const struct gpu *g, double f, struct gs_buf *out)
{
	gs_buf_printf(out, "clock_mhz=%.6g,dram_latency=%.6g", g->clock_mhz * f, g->l2_latency + (g->dram_latency - g->l2_latency) * f);
}

static void more_dram(const struct gpu *g, double f, struct gs_buf *out)
{
	gs_buf_printf(out, "dram_gbps=%.8g", g->dram_gbps * f);
}

/* Of slices, and of the ways to them. */
static void more_l2_bandwidth(const struct gpu *g, double f, struct gs_buf *out)
{
	gs_buf_printf(out, "l2_slice_bytes=%.0f,icnt_sm_flits=%.6g,icnt_slice_flits=%.6g,icnt_store_flits=%.6g,icnt_sm_store_flits=%.6g",
	              whole((double)g->l2_slice_bytes * f), g->icnt_sm_flits * f, g->icnt_slice_flits * f, g->icnt_store_flits * f, g->icnt_sm_store_flits * f);
}

/* More ways: the number of sets stays what it is. */
static void more_l2(const struct gpu *g, double f, struct gs_buf *out)
{
	double ways = fmax(whole(g->l2_ways * f), g->l2_ways + 1.0);
	gs_buf_printf(out, "l2_ways=%.0f,l2_bytes=%.0f", ways, floor((double)g->l2_bytes / g->l2_ways * ways));
}

static void more_registers(const struct gpu *g, double f, struct gs_buf *out)
{
	gs_buf_printf(out, "registers_per_sm=%.0f", multiple(g->registers_per_sm * f, (double)g->register_allocation_unit * g->register_partitions));
}

static void more_local(const struct gpu *g, double f, struct gs_buf *out)
{
	gs_buf_printf(out, "shared_bytes_per_sm=%.0f", multiple((double)g->shared_bytes_per_sm * f, (double)g->shared_allocation_unit));
}

/* Whole instructions in a cycle: there is no tenth of one. */
static void more_issue(const struct gpu *g, double f, struct gs_buf *out)
{
	if (f < 2)
		return;
	gs_buf_printf(out, "issue_per_scheduler=%.0f,fetches_per_cycle=%.0f,result_buses=%.0f", g->issue_per_scheduler * f, g->fetches_per_cycle * f,
	              g->result_buses * f);
}

static const struct resource {
	const char *name;
	void (*more)(const struct gpu *gpu, double factor, struct gs_buf *out); /* overrides; none: it cannot be */
} resources[] = {
	{"SMs", more_sms},         {"clock", more_clock},         {"DRAM bandwidth", more_dram}, {"L2 bandwidth", more_l2_bandwidth},
	{"L2 size", more_l2},      {"registers", more_registers}, {"local memory", more_local},  {"issue width", more_issue},
};
enum { RESOURCES = GS_ARRAY_LEN(resources) };

/* ---- configurations ---- */

struct what_if {
	struct sweep sweep; /* configuration 0: the GPU as it is */
	size_t number[RESOURCES][FACTORS]; /* the configuration; 0: there is none */
	bool json;
};

/* A value may carry further overrides behind it, so one key that stays as it is does for all. */
static int add_configuration(struct what_if *w, const struct gpu *gpu, const char *overrides)
{
	struct sweep_key *k = &w->sweep.keys[0];
	struct gs_buf value = {0}, set = {0};
	struct gs_error err;
	struct gpu changed;
	gs_buf_printf(&value, "%u%s%s", gpu->warp_size, *overrides ? "," : "", overrides);
	gs_buf_printf(&set, "%s%swarp_size=%s", w->sweep.set, *w->sweep.set ? "," : "", value.data ? value.data : "");
	int failed = value.failed || set.failed || gpu_load(&changed, w->sweep.gpu, gpus_read, NULL, set.data, NULL, &err);
	gs_buf_free(&set);
	if (failed)
		gs_buf_free(&value);
	else
		k->values[k->count++] = value.data;
	return failed ? -1 : 0;
}

/* What the description does not allow is left out. */
static int add_configurations(struct what_if *w, const struct gpu *gpu)
{
	w->sweep.keys[0].name = strdup("warp_size");
	w->sweep.key_count = 1;
	if (!w->sweep.keys[0].name || add_configuration(w, gpu, ""))
		return cmd_fail("what-if: out of memory");
	for (size_t r = 0; r < RESOURCES; r++)
		for (size_t f = 0; f < FACTORS; f++) {
			struct gs_buf overrides = {0};
			resources[r].more(gpu, factors[f], &overrides);
			if (overrides.len && !overrides.failed && !add_configuration(w, gpu, overrides.data))
				w->number[r][f] = w->sweep.keys[0].count - 1;
			gs_buf_free(&overrides);
		}
	w->sweep.configurations = w->sweep.keys[0].count;
	w->sweep.results = calloc(w->sweep.configurations, sizeof *w->sweep.results);
	return w->sweep.results ? 0 : cmd_fail("what-if: out of memory");
}

/* ---- results ---- */

static double time_of(const struct what_if *w, size_t configuration, const char *kernel)
{
	return sweep_time_of(&w->sweep, configuration, kernel);
}

/* Relative to the GPU as it is; negative: faster. NAN: there is none. */
static double change_of(const struct what_if *w, size_t r, size_t f, const char *kernel)
{
	double before = time_of(w, 0, kernel);
	return w->number[r][f] && before > 0 ? time_of(w, w->number[r][f], kernel) / before - 1 : NAN;
}

/* The order of a tornado: what twice as much saves most comes first. */
static void order_resources(const struct what_if *w, size_t order[RESOURCES])
{
	for (size_t i = 0; i < RESOURCES; i++) {
		size_t at = i;
		double own = change_of(w, i, FACTORS - 1, NULL);
		for (; at && (change_of(w, order[at - 1], FACTORS - 1, NULL) > own || isnan(change_of(w, order[at - 1], FACTORS - 1, NULL))); at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
}

static void print_change(double change)
{
	if (isnan(change))
		printf(" %8s", "-");
	else
		printf(" %+7.1f%%", 100 * change + 0.0);
}

static void print_row(const struct what_if *w, const char *kernel, const size_t order[RESOURCES], size_t f)
{
	char cell[SHOW_CELL];
	struct gs_buf name = {0};
	show_name(&name, kernel ? kernel : "all kernels", 24);
	printf("%-24s %9s", name.data ? name.data : "", show_time(cell, time_of(w, 0, kernel)));
	for (size_t r = 0; r < RESOURCES; r++)
		print_change(change_of(w, order[r], f, kernel));
	putchar('\n');
	gs_buf_free(&name);
}

static void print_bars(const struct what_if *w, const size_t order[RESOURCES])
{
	enum { WIDTH = 40 };
	for (size_t i = 0; i < RESOURCES; i++) {
		double little = change_of(w, order[i], 0, NULL), twice = change_of(w, order[i], 1, NULL);
		char bar[WIDTH + 1] = "";
		memset(bar, '#', (size_t)fmin(fmax(isnan(twice) ? 0 : -twice, 0) * WIDTH + 0.5, WIDTH));
		printf("%-16s", resources[order[i]].name);
		print_change(little);
		print_change(twice);
		printf("  %s\n", bar);
	}
}

/* Calls back for each kernel, those that take longest first. */
static void each_kernel(const struct what_if *w, size_t most, void (*visit)(const struct what_if *, const char *, void *), void *data)
{
	struct sweep_kernel k;
	const char *line = w->sweep.results[0].by_kernel;
	for (size_t i = 0; i < most && sweep_next_kernel(&line, &k); i++)
		visit(w, k.name, data);
}

struct printed {
	const size_t *order;
	size_t factor;
};

static void visit_row(const struct what_if *w, const char *kernel, void *data)
{
	const struct printed *p = data;
	print_row(w, kernel, p->order, p->factor);
}

static void print_text(const struct what_if *w)
{
	enum { MOST_KERNELS = 20 };
	static const char *const heads[RESOURCES] = {"SMs", "clock", "DRAM bw", "L2 bw", "L2 size", "regs", "local", "issue"};
	size_t order[RESOURCES];
	char cell[SHOW_CELL];
	order_resources(w, order);
	printf("%s on %s: kernels take %s; with more of one resource they take\n%-16s %8s %8s\n", w->sweep.profile, w->sweep.gpu,
	       show_time(cell, time_of(w, 0, NULL)), "", factor_names[0], factor_names[1]);
	print_bars(w, order);
	for (size_t f = FACTORS; f--;) {
		printf("\n%-24s %9s", factor_names[f], "time");
		for (size_t r = 0; r < RESOURCES; r++)
			printf(" %8s", heads[order[r]]);
		putchar('\n');
		each_kernel(w, MOST_KERNELS, visit_row, &(struct printed){order, f});
	}
}

static void visit_json(const struct what_if *w, const char *kernel, void *data)
{
	const char *own = *kernel ? kernel : NULL;
	json_t *row = json_pack("{s:s,s:f,s:o}", "name", kernel, "time_ns", time_of(w, 0, own), "times", json_object());
	json_t *times = json_object_get(row, "times");
	for (size_t r = 0; r < RESOURCES; r++) {
		json_t *list = json_array();
		for (size_t f = 0; f < FACTORS; f++) {
			double ns = w->number[r][f] ? time_of(w, w->number[r][f], own) : NAN;
			json_array_append_new(list, isnan(ns) ? json_null() : json_real(ns));
		}
		json_object_set_new(times, resources[r].name, list);
	}
	json_array_append_new(data, row);
}

/* The first kernel has no name: it is all of them. */
static int print_json(const struct what_if *w)
{
	json_t *names = json_array(), *kernels = json_array(), *order = json_array();
	size_t list[RESOURCES];
	order_resources(w, list);
	for (size_t f = 0; f < FACTORS; f++)
		json_array_append_new(names, json_string(factor_names[f]));
	for (size_t r = 0; r < RESOURCES; r++)
		json_array_append_new(order, json_string(resources[list[r]].name));
	visit_json(w, "", kernels);
	each_kernel(w, SIZE_MAX, visit_json, kernels);
	json_t *all = json_pack("{s:s,s:s,s:s,s:o,s:o,s:o}", "schema", "gpusim.what-if/1", "profile", w->sweep.profile, "target", w->sweep.gpu, "changes",
	                        names, "resources", order, "kernels", kernels);
	return sweep_print_json(all, "what-if");
}

/* ---- the command ---- */

static int run_all(struct what_if *w)
{
	struct gpu gpu;
	struct gs_error err;
	if (strchr(w->sweep.gpu, ','))
		return cmd_fail("what-if: one GPU at a time");
	if (gpu_load(&gpu, w->sweep.gpu, gpus_read, NULL, w->sweep.set, NULL, &err))
		return cmd_fail("what-if: %s", err.text);
	int code = add_configurations(w, &gpu);
	if (!code)
		code = sweep_run(&w->sweep);
	if (!code && w->sweep.results[0].done) {
		if (w->json)
			code = print_json(w);
		else
			print_text(w);
	}
	fflush(stdout);
	if (w->sweep.stopped_by)
		sweep_stop(&w->sweep);
	return code;
}

int cmd_what_if(int argc, char **argv)
{
	struct what_if w = {.sweep = {.set = "", .kept = -1, .growing = -1}};
	struct gs_options options;
	cmd_options(&options);
	for (int i = 1, words, only; i < argc; i += words) {
		words = 1;
		if (!strcmp(argv[i], "--json"))
			w.json = true;
		else if ((only = only_argument("what-if", argc - i, argv + i, &w.sweep.only)))
			words = only;
		else if (!strncmp(argv[i], "--", 2))
			words = cmd_take_flag(&options, "what-if", argc - i, argv + i);
		else if (w.sweep.profile)
			return cmd_fail("what-if: one profile at a time, not '%s' too", argv[i]);
		else
			w.sweep.profile = argv[i];
		if (words < 0)
			return EXIT_USAGE;
	}
	int code = sweep_check_profile(w.sweep.profile, "what-if");
	if (code)
		return code;
	w.sweep.gpu = options.gpu.text;
	w.sweep.set = options.set.text;
	code = run_all(&w);
	sweep_free(&w.sweep);
	options_free(&options);
	return code;
}
