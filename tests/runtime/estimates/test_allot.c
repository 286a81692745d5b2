/* Trials at the end of a run go where its time is; and what is said where none could be made. */
#include "runtime/estimates/allot.h"
#include "runtime/model/simulation.h"
#include "runtime/report/json.h"
#include "runtime/report/text.h"
#include "tests/tests.h"

#include <stdlib.h>
#include <string.h>

/* 3 trials of 100 each fit into 900 of 1000, which is a kernel's that takes 90%; the other one gets all that is left. */
static void all_that_fit_are_made(void)
{
	struct trial_candidate c[] = {{.share = 90, .wanted = 3, .simulated = 100, .executed = 100, .groups = 10, .at_once = 5},
	                              {.share = 10, .wanted = 1, .simulated = 700, .executed = 700, .groups = 10, .at_once = 5}};
	CU_ASSERT_DOUBLE_EQUAL(allot_trials(c, 2, 1000), 1000, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(c[0].trials, 3, 0);
	CU_ASSERT_EQUAL(c[0].part, 0);
	CU_ASSERT_DOUBLE_EQUAL(c[1].trials, 1, 0);
	CU_ASSERT_EQUAL(c[1].part, 0);
}

/* A trial of 100 000 instructions in 1000 groups, and one of the launch as it is: 20 000 are enough for 100 groups of each, three waves of
 * 30 and a bit. */
static void a_dear_launch_is_tried_in_whole_waves(void)
{
	struct trial_candidate c = {.share = 1, .wanted = 1, .simulated = 100000, .executed = 100000, .groups = 1000, .at_once = 30};
	CU_ASSERT_DOUBLE_EQUAL(allot_trials(&c, 1, 20000), 2 * 100000 * 90 / 1000.0, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(c.trials, 1, 0);
	CU_ASSERT_EQUAL(c.part, 90);
}

/* The first cannot be tried: not a wave of it fits. The second can. */
static void what_does_not_fit_takes_nothing(void)
{
	struct trial_candidate c[] = {{.share = 74, .wanted = 2, .simulated = 1e6, .executed = 1e6, .groups = 60, .at_once = 60},
	                              {.share = 26, .wanted = 2, .simulated = 400, .executed = 400, .groups = 60, .at_once = 60}};
	CU_ASSERT_DOUBLE_EQUAL(allot_trials(c, 2, 1000), 800, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(c[0].trials, 0, 0);
	CU_ASSERT_DOUBLE_EQUAL(c[1].trials, 2, 0);
}

/* Two of three trials: better than a part, which does not hold a wave. */
static void some_trials_are_better_than_none(void)
{
	struct trial_candidate c = {.share = 1, .wanted = 3, .simulated = 400, .executed = 4000, .groups = 60, .at_once = 60};
	CU_ASSERT_DOUBLE_EQUAL(allot_trials(&c, 1, 1000), 800, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(c.trials, 2, 0);
}

/* Three trials and the launch as it is, on a quarter of the SMs each; or, if a sixteenth is the least, on that, as many as there is room for. */
static void fewer_sms_make_room_for_trials(void)
{
	struct trial_candidate c = {.share = 1, .wanted = 3, .simulated = 1000, .executed = 4000, .least_on = 1.0 / 16, .groups = 60, .at_once = 60};
	CU_ASSERT_DOUBLE_EQUAL(allot_trials(&c, 1, 1000), 1000, 1e-9);
	CU_ASSERT(c.trials == 3 && c.on == 0.25 && c.part == 0);
	CU_ASSERT_DOUBLE_EQUAL(allot_trials(&c, 1, 187.5), 187.5, 1e-9);
	CU_ASSERT(c.trials == 2 && c.on == 1.0 / 16);
	CU_ASSERT_DOUBLE_EQUAL(allot_trials(&c, 1, 120), 0, 1e-9); /* not even one */
	CU_ASSERT(c.trials == 0 && c.on == 0);
	/* Whole waves of groups come first, and all of the launch before that. */
	c.at_once = 10;
	allot_trials(&c, 1, 3000);
	CU_ASSERT(c.trials == 3 && c.on == 0 && c.part == 0);
	allot_trials(&c, 1, 2900);
	CU_ASSERT(c.trials == 3 && c.on == 0 && c.part == 10);
}

static struct simulation simulation = SIMULATION_INIT;

/* A run of two kernels of 74 and 26 ns. The first was too dear. */
static void two_kernels(struct kernel_stats k[2])
{
	static char dear[] = "dear", cheap[] = "cheap";
	memset(k, 0, 2 * sizeof *k);
	k[0].name = dear;
	k[0].next = &k[1];
	k[1].name = cheap;
	k[0].by_target[0].total_ns = 74;
	k[1].by_target[0].total_ns = 26;
	simulation.target_count = 1;
	simulation.stats.kernels = k;
	stats_set_untried(&simulation.stats, "dear", 0, 40);
}

static void what_was_not_tried_is_told(void)
{
	static struct kernel_stats k[2];
	struct text t = {.sim = &simulation};
	struct gs_buf json = {0};
	two_kernels(k);
	text_advice(&t);
	json_advice(&json, &simulation);
	CU_ASSERT(t.out.data && strstr(t.out.data, "no advice for dear (74% of the time): its trials would take about 40 s;") && !strstr(t.out.data, "cheap"));
	CU_ASSERT(json.data && strstr(json.data, "\"no_advice\":[{\"target\":\"\",\"kernel\":\"dear\",\"share\":0.74,\"seconds\":40}]"));
	gs_buf_free(&t.out);
	gs_buf_free(&json);
}

/* Another launch of the kernel was tried, and there is nothing to say. */
static void what_was_tried_is_not(void)
{
	static struct kernel_stats k[2];
	struct advice_list none = {.time_ns = 1};
	struct text t = {.sim = &simulation};
	two_kernels(k);
	stats_set_advice(&simulation.stats, "dear", 0, &none);
	text_advice(&t);
	CU_ASSERT_EQUAL(t.out.len, 0);
	gs_buf_free(&t.out);
	free(k[0].by_target[0].advice);
	simulation.stats.kernels = NULL;
}

void add_allot_tests(void)
{
	CU_pSuite s = CU_add_suite("allot", NULL, NULL);
	CU_add_test(s, "trials that fit are made, with all groups", all_that_fit_are_made);
	CU_add_test(s, "a dear launch is tried in whole waves of groups", a_dear_launch_is_tried_in_whole_waves);
	CU_add_test(s, "a launch that cannot be tried leaves room for others", what_does_not_fit_takes_nothing);
	CU_add_test(s, "some trials are better than none", some_trials_are_better_than_none);
	CU_add_test(s, "where no wave of groups fits, trials take fewer SMs", fewer_sms_make_room_for_trials);
	CU_add_test(s, "a kernel that was too dear is named, with its part of the time", what_was_not_tried_is_told);
	CU_add_test(s, "one that was tried is not", what_was_tried_is_not);
}
