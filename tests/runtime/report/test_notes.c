/* What estimates assume: each thing is told once. */
#include "tests/tests.h"

#include "tests/models/code_builder.h"
#include "runtime/model/simulation.h"
#include "runtime/report/notes.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 64 };

struct told {
	char about[MOST][32], text[MOST][600];
	size_t count;
};

static void keep(const char *about, const char *text, void *data)
{
	struct told *t = data;
	CU_ASSERT_FATAL(t->count < MOST);
	snprintf(t->about[t->count], sizeof t->about[0], "%s", about);
	snprintf(t->text[t->count++], sizeof t->text[0], "%s", text);
}

static size_t times_told(const struct told *t, const char *about)
{
	size_t n = 0;
	for (size_t i = 0; i < t->count; i++)
		n += !strcmp(t->about[i], about);
	return n;
}

static const char *text_about(const struct told *t, const char *about)
{
	for (size_t i = 0; i < t->count; i++)
		if (!strcmp(t->about[i], about))
			return t->text[i];
	return "";
}

/* A run of one launch of each kernel on an H200, with the memory hierarchy. */
struct run {
	struct simulation sim;
	struct kernel_stats kernels[3];
};

static void make_run(struct run *r, size_t kernels)
{
	static char names[3][2] = {"a", "b", "c"};
	memset(r, 0, sizeof *r);
	r->sim.target_count = 1;
	r->sim.targets[0].gpu = test_gpu("h200", NULL);
	r->sim.options.memory.number = MEMORY_HIERARCHY;
	r->sim.options.budget.text = "5";
	r->sim.stats.launches = kernels;
	for (size_t i = 0; i < kernels; i++) {
		r->kernels[i] = (struct kernel_stats){.name = names[i], .launches = 1, .next = r->sim.stats.kernels};
		r->kernels[i].by_target[0] = (struct target_stats){.launches = 1, .total_ns = 100 - (double)i};
		r->sim.stats.kernels = &r->kernels[i];
	}
}

static void told_of(const struct run *r, size_t most, struct told *out)
{
	out->count = 0;
	notes_tell(&r->sim, most, keep, out);
}

/* Starting launches is assumed in each run. Nothing else is in this one. */
static void a_run_without_doubts_has_little_to_tell(void)
{
	static struct run r;
	static struct told t;
	make_run(&r, 2);
	told_of(&r, 6, &t);
	CU_ASSERT_EQUAL(t.count, 1);
	CU_ASSERT_STRING_EQUAL(text_about(&t, "launch_overhead"), "assumed: starting a launch takes 4.45 us on h200 (launch_overhead_ns)");
	r.sim.stats.cuda = true;
	told_of(&r, 6, &t);
	CU_ASSERT_STRING_EQUAL(text_about(&t, "launch_overhead"), "assumed: starting a launch takes 1.46 us on h200 (cuda_launch_overhead_ns)");
}

/* Every flag of models/flags.def is told in one line, with the kernels that have it; those that say more elsewhere, there. */
static void every_flag_is_told_once(void)
{
	static struct run r;
	static struct told t;
	make_run(&r, 2);
	for (size_t i = 0; i < 2; i++)
		r.kernels[i].by_target[0].flags = ((flag_set)1 << FLAG_COUNT) - 1;
	r.kernels[0].by_target[0].sampling = (struct sampling_stats){.sampled = 1, .instructions = 4, .simulated = 1};
	told_of(&r, 6, &t);
	for (int f = 0; f < FLAG_COUNT; f++)
		CU_ASSERT_EQUAL(times_told(&t, flag_texts[f].name), 1);
	CU_ASSERT(!strncmp(text_about(&t, "perfect_memory"), "assumed for a, b: Every load is taken to hit L1", 47));
	CU_ASSERT(!strncmp(text_about(&t, "sampled"), "sampling on h200: 25.00% of the warp instructions were simulated; 1 of 2 launches", 80));
	/* The launches' own lines take the place of what the flags would say. */
	for (size_t i = 0; i < 2; i++) {
		r.kernels[i].unsized = r.kernels[i].memory.computed = r.kernels[i].memory.other = 1;
		r.kernels[i].memory.reason = "no trace fits";
		r.kernels[i].memory.drawn = 1;
		r.kernels[i].memory.accessing = 3;
	}
	r.sim.cost.not_counted = r.sim.cost.over_budget = 1;
	told_of(&r, 6, &t);
	CU_ASSERT_EQUAL(times_told(&t, "local_size_chosen"), 2);
	CU_ASSERT_EQUAL(times_told(&t, "addresses_assumed"), 2);
	CU_ASSERT_EQUAL(times_told(&t, "other_trace"), 2);
	CU_ASSERT_EQUAL(times_told(&t, "not_traced"), 0);
	CU_ASSERT_EQUAL(times_told(&t, "not_counted"), 1);
	CU_ASSERT_EQUAL(times_told(&t, "over_budget"), 1);
	CU_ASSERT_STRING_EQUAL(text_about(&t, "addresses_assumed"),
	                       "memory of a: addresses assumed for 1 of 3 instructions, because they depend on data and no trace fits (1 of 1 launches)");
}

/* A GPU that nobody measured, an L2 that is not known, groups that stand for others, functions of a table, copies, another kernel's twin. */
static void what_is_no_flag_is_told(void)
{
	static struct run r;
	static struct told t;
	make_run(&r, 2);
	r.sim.targets[0].gpu = test_gpu("a10", NULL);
	r.kernels[0].memory.l2_unknown = r.kernels[1].memory.in_part = 1;
	r.kernels[1].memory.computed = 1;
	r.kernels[1].memory.reason = "GPUSIM_TRACE is never";
	r.kernels[0].comparisons[TWIN_DIFFERS] = 1;
	r.kernels[0].by_target[0].library = "erf\n?odd\n__own\n";
	r.sim.stats.transfers[0].commands = 1;
	told_of(&r, 6, &t);
	CU_ASSERT_STRING_EQUAL(text_about(&t, "not_validated"), "not validated: no estimate for a10 has been compared with what it takes");
	CU_ASSERT_STRING_EQUAL(text_about(&t, "l2_before"),
	                       "assumed on a10 for a, whose buffers are not known: what a launch touches is in L2 when it begins, as much as fits (l2_warm)");
	CU_ASSERT_STRING_EQUAL(text_about(&t, "traced_in_part"),
	                       "assumed for b: work-groups that were not traced do as traced ones that are like them by their counters");
	CU_ASSERT_STRING_EQUAL(text_about(&t, "cost_from_table"), "cost taken from a table: erf, odd (guessed)");
	CU_ASSERT_EQUAL(times_told(&t, "copies"), 1);
	CU_ASSERT_EQUAL(times_told(&t, "twin_differs"), 1);
	CU_ASSERT_EQUAL(times_told(&t, "addresses_computed"), 1);
	r.sim.targets[0].gpu.l2_kept = r.sim.targets[0].gpu.l2_warm = false;
	told_of(&r, 6, &t);
	CU_ASSERT_STRING_EQUAL(text_about(&t, "l2_before"), "assumed on a10: L2 is empty when a launch begins (l2_warm)");
}

/* Why machine code is not what was timed is told where it was asked for, once for a reason. */
static void selected_code_is_told_on_demand(void)
{
	static struct run r;
	static struct told t;
	make_run(&r, 3);
	r.kernels[0].by_target[0].selected = r.kernels[2].by_target[0].selected = "the machine code has calls";
	told_of(&r, 6, &t);
	CU_ASSERT_EQUAL(times_told(&t, "selected_code"), 0);
	r.sim.targets[0].gpu.machine_code = GPU_CODE_machine;
	told_of(&r, 6, &t);
	CU_ASSERT_EQUAL(times_told(&t, "selected_code"), 1);
	CU_ASSERT_STRING_EQUAL(text_about(&t, "selected_code"), "selected code instead of the machine's on h200 for a, c: the machine code has calls");
	CU_ASSERT_EQUAL(times_told(&t, "machine_code"), 0);
	r.sim.targets[0].gpu.machine_code = GPU_CODE_selected;
	r.kernels[0].by_target[0].code = "selected";
	r.kernels[1].by_target[0].code = "program";
	told_of(&r, 6, &t);
	CU_ASSERT_EQUAL(times_told(&t, "selected_code"), 0);
	CU_ASSERT_STRING_EQUAL(text_about(&t, "machine_code"), "machine code instead of selected code on h200 for b: the profile was recorded with it");
}

/* Of many kernels, the first are told and the others counted. */
static void many_kernels_are_counted(void)
{
	static struct run r;
	static struct told t;
	make_run(&r, 3);
	for (size_t i = 0; i < 3; i++)
		r.kernels[i].unsized = 1;
	told_of(&r, 1, &t);
	CU_ASSERT_EQUAL(times_told(&t, "local_size_chosen"), 1);
	CU_ASSERT(!strncmp(text_about(&t, "local_size_chosen"), "local size of a: ", 17));
	CU_ASSERT_STRING_EQUAL(text_about(&t, "more"), "local size of 2 more kernels: likewise (GPUSIM_TEXT=verbose shows all)");
}

void add_notes_tests(void)
{
	CU_pSuite s = CU_add_suite("notes", NULL, NULL);
	CU_ADD_TEST(s, a_run_without_doubts_has_little_to_tell);
	CU_ADD_TEST(s, every_flag_is_told_once);
	CU_ADD_TEST(s, what_is_no_flag_is_told);
	CU_ADD_TEST(s, selected_code_is_told_on_demand);
	CU_ADD_TEST(s, many_kernels_are_counted);
}
