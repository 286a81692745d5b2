/* When commands would run on a target. Times are computed by hand, in ns. */
#include "tests/tests.h"

#include "runtime/timeline/schedule.h"
#include "runtime/timeline/totals.h"

#include <stdlib.h>
#include <string.h>

struct call {
	const char *what;
	int queue; /* 0: in order, 1: in order, 2: out of order, -1: none */
	uint64_t thread, call_ns, return_ns;
	enum command_engine engine;
	double duration;
	int after; /* index of the command that it waits for, or -1 */
	bool waits, waits_all;
	double start, end, host_end; /* expected */
};

static bool stream; /* queues are streams of CUDA */

static void check_with(struct schedule_limits limits, const struct call *calls, size_t count)
{
	static const char handles[3];
	struct schedule s;
	struct schedule_command *commands[16];
	CU_ASSERT_EQUAL_FATAL(schedule_start(&s, 1), 0);
	schedule_limit(&s, 0, limits);
	for (size_t i = 0; i < count; i++) {
		struct schedule_command *c = commands[i] = schedule_add(&s, calls[i].what, NULL);
		c->queue = calls[i].queue < 0 ? NULL : schedule_queue(&s, &handles[calls[i].queue], calls[i].queue < 2);
		if (c->queue)
			c->queue->stream = stream;
		c->thread = schedule_thread(&s, calls[i].thread);
		c->call_ns = calls[i].call_ns;
		c->return_ns = calls[i].return_ns;
		c->engine = calls[i].engine;
		c->waits = calls[i].waits;
		c->waits_all = calls[i].waits_all;
		c->barrier = !strcmp(calls[i].what, "barrier");
		c->times[0].duration = calls[i].duration;
		c->times[0].demand = demand_of_copy(); /* all of the GPU */
		if (calls[i].after >= 0) {
			c->after = malloc(sizeof *c->after);
			c->after[0] = commands[calls[i].after];
			c->after_count = 1;
		}
	}
	for (size_t i = count; i-- > 0;) { /* durations become known in any order */
		commands[i]->resolved = true;
		schedule_replay(&s);
	}
	schedule_settle(&s, NULL);
	for (size_t i = 0; i < count; i++) {
		CU_ASSERT_TRUE(commands[i]->replayed);
		CU_ASSERT_EQUAL(commands[i]->times[0].start, calls[i].start);
		CU_ASSERT_EQUAL(commands[i]->times[0].end, calls[i].end);
		CU_ASSERT_EQUAL(commands[i]->times[0].host_end, calls[i].host_end);
	}
	schedule_free(&s);
}

static void check(const struct call *calls, size_t count)
{
	check_with((struct schedule_limits){128, 2, 1, 0}, calls, count);
}

/* The write is called at 1000 and takes 9000. The launch is called 500 after the call of the write returned (1000 + 2000 + 500).
 * It starts when the write has ended. The blocking read returns to the host at 35000. The second launch is called 1000 later. */
static void a_queue_runs_in_order_and_a_blocking_read_holds_the_host(void)
{
	static const struct call calls[] = {
		{"write", 0, 7, 1000, 3000, ENGINE_TO_GPU, 9000, -1, false, false, 1000, 10000, 3000},
		{"launch", 0, 7, 3500, 4000, ENGINE_COMPUTE, 20000, -1, false, false, 10000, 30000, 4000},
		{"read", 0, 7, 4000, 900000, ENGINE_FROM_GPU, 5000, -1, true, false, 30000, 35000, 35000},
		{"launch", 0, 7, 901000, 901500, ENGINE_COMPUTE, 100, -1, false, false, 36000, 36100, 36500},
	};
	check(calls, 4);
}

/* Two queues. Their launches need all of the GPU. The copy of the second queue runs beside the launch of the first. An event makes
 * the second launch of queue 0 wait for the copy. */
static void queues_share_engines_and_events_hold_commands(void)
{
	static const struct call calls[] = {
		{"launch", 0, 7, 0, 0, ENGINE_COMPUTE, 1000, -1, false, false, 0, 1000, 0},
		{"write", 1, 7, 0, 0, ENGINE_TO_GPU, 5000, -1, false, false, 0, 5000, 0},
		{"launch", 1, 7, 0, 0, ENGINE_COMPUTE, 1000, -1, false, false, 5000, 6000, 0},
		{"launch", 0, 7, 0, 0, ENGINE_COMPUTE, 300, 1, false, false, 6000, 6300, 0},
	};
	check(calls, 4);
}

/* In an out-of-order queue, commands wait only for the engine. A marker waits for all. A call that we slow down costs CALL_NS. */
static void markers_wait_for_all_of_an_unordered_queue(void)
{
	static const struct call calls[] = {
		{"write", 2, 7, 0, 0, ENGINE_TO_GPU, 5000, -1, false, false, 0, 5000, 0},
		{"launch", 2, 7, 0, 80000, ENGINE_COMPUTE, 1000, -1, false, false, 0, 1000, CALL_NS},
		{"marker", 2, 7, 80000, 80000, ENGINE_NONE, 0, -1, false, true, CALL_NS, CALL_NS, CALL_NS},
		{"finish", 2, 7, 80100, 90000, ENGINE_NONE, 0, -1, true, true, 5100, 5100, 5100 + CALL_NS},
	};
	check(calls, 4);
}

/* What CUDA's calls take is known better: launches, marks and copies, which take 20000 here. Time between them is the program's. */
static void calls_of_streams_take_what_was_measured(void)
{
	static const struct call calls[] = {
		{"marker", 0, 7, 0, 20000, ENGINE_NONE, 0, -1, false, false, 0, 0, STREAM_MARK_NS},
		{"launch", 0, 7, 20100, 40100, ENGINE_COMPUTE, 1000, -1, false, false, 1500, 2500, 4500},
		{"write", 0, 7, 40100, 60100, ENGINE_TO_GPU, 1000, -1, false, false, 4500, 5500, 9500},
		{"marker", 0, 7, 60100, 60600, ENGINE_NONE, 0, -1, false, false, 9500, 9500, 10000},
	};
	stream = true;
	check(calls, 4);
	stream = false;
}

/* A marker is called before the launch and the read, which end later: it does not wait for them. */
static void markers_do_not_wait_for_what_comes_after_them(void)
{
	static const struct call calls[] = {
		{"write", 2, 7, 0, 0, ENGINE_TO_GPU, 5000, -1, false, false, 0, 5000, 0},
		{"marker", 2, 7, 0, 0, ENGINE_NONE, 0, -1, false, true, 5000, 5000, 0},
		{"launch", 2, 7, 0, 0, ENGINE_COMPUTE, 9000, -1, false, false, 0, 9000, 0},
		{"read", 2, 7, 0, 0, ENGINE_FROM_GPU, 8000, -1, false, false, 0, 8000, 0},
		{"finish", 2, 7, 0, 0, ENGINE_NONE, 0, -1, true, true, 9000, 9000, 9000},
	};
	check(calls, 5);
}

/* The first launch waits for the write, the second need not and runs at once. The third may start at 1000 and has the GPU until 5500. */
static void commands_that_may_start_first_go_first(void)
{
	static const struct call calls[] = {
		{"write", 0, 7, 0, 0, ENGINE_TO_GPU, 5000, -1, false, false, 0, 5000, 0},
		{"launch", 0, 7, 0, 0, ENGINE_COMPUTE, 1000, -1, false, false, 5500, 6500, 0},
		{"launch", 1, 7, 0, 0, ENGINE_COMPUTE, 1000, -1, false, false, 0, 1000, 0},
		{"finish", 1, 7, 0, 0, ENGINE_NONE, 0, -1, true, true, 1000, 1000, 1000},
		{"launch", 1, 7, 0, 0, ENGINE_COMPUTE, 4500, -1, false, false, 1000, 5500, 1000},
		{"finish", 0, 7, 0, 0, ENGINE_NONE, 0, -1, true, true, 6500, 6500, 6500},
	};
	check(calls, 6);
}

static void one_copy_engine_serves_both_directions(void)
{
	static const struct call both[] = {
		{"write", 0, 7, 0, 0, ENGINE_TO_GPU, 5000, -1, false, false, 0, 5000, 0},
		{"read", 1, 7, 0, 0, ENGINE_FROM_GPU, 3000, -1, false, false, 0, 3000, 0},
		{"write", 2, 7, 0, 0, ENGINE_TO_GPU, 1000, -1, false, false, 5000, 6000, 0},
	};
	static const struct call one[] = {
		{"write", 0, 7, 0, 0, ENGINE_TO_GPU, 5000, -1, false, false, 0, 5000, 0},
		{"read", 1, 7, 0, 0, ENGINE_FROM_GPU, 3000, -1, false, false, 5000, 8000, 0},
		{"write", 2, 7, 0, 0, ENGINE_TO_GPU, 1000, -1, false, false, 8000, 9000, 0},
	};
	check(both, 3);
	check_with((struct schedule_limits){128, 1, 1, 0}, one, 3);
	/* Or the link has half of its speed for the second: of the read, 2500 are done at 5000. */
	struct call slower[] = {both[0], both[1], both[2]};
	slower[1].duration = 3000, slower[1].end = 5500;
	slower[2].start = 5000, slower[2].end = 6250; /* 250 of it are done at 5500, beside the read */
	check_with((struct schedule_limits){128, 2, 0.5, 0}, slower, 3);
}

/* An out-of-order queue: the barrier waits for the write alone, which its list names. The read after it waits for the barrier, the
 * launch before it does not. */
static void a_barrier_holds_what_comes_after_it(void)
{
	static const struct call calls[] = {
		{"launch", 2, 7, 0, 0, ENGINE_COMPUTE, 9000, -1, false, false, 0, 9000, 0},
		{"write", 2, 7, 0, 0, ENGINE_TO_GPU, 5000, -1, false, false, 0, 5000, 0},
		{"barrier", 2, 7, 0, 0, ENGINE_NONE, 0, 1, false, false, 5000, 5000, 0},
		{"read", 2, 7, 0, 0, ENGINE_FROM_GPU, 100, -1, false, false, 5000, 5100, 0},
		{"finish", 2, 7, 0, 0, ENGINE_NONE, 0, -1, true, true, 9000, 9000, 9000},
	};
	check(calls, 5);
}

static void a_second_thread_begins_where_the_first_is(void)
{
	static const struct call calls[] = {
		{"launch", 0, 7, 0, 0, ENGINE_COMPUTE, 1000, -1, true, false, 0, 1000, 1000},
		{"launch", 1, 8, 700000, 700000, ENGINE_COMPUTE, 1000, -1, false, false, 1000, 2000, 1000},
	};
	check(calls, 2);
}

/* Two queues whose launches need all of a GPU: on one GPU they take turns, on two they do not. Neither do their copies. */
static void each_gpu_has_its_own_time(void)
{
	static const char handles[2];
	for (uint32_t gpus = 1; gpus <= 2; gpus++) {
		struct schedule s;
		struct schedule_command *launches[2], *copies[2];
		CU_ASSERT_EQUAL_FATAL(schedule_start(&s, 1), 0);
		schedule_limit(&s, 0, (struct schedule_limits){128, 2, 1, 0});
		for (uint32_t q = 0; q < 2; q++) {
			struct schedule_queue *queue = schedule_queue(&s, &handles[q], true);
			schedule_queue_device(&s, queue, q % gpus);
			launches[q] = schedule_add(&s, "launch", NULL);
			copies[q] = schedule_add(&s, "read", NULL);
			launches[q]->engine = ENGINE_COMPUTE;
			copies[q]->engine = ENGINE_FROM_GPU;
			launches[q]->times[0].duration = copies[q]->times[0].duration = 1000;
			launches[q]->times[0].demand = demand_of_copy();
			launches[q]->queue = copies[q]->queue = queue;
			launches[q]->thread = copies[q]->thread = schedule_thread(&s, 7);
			launches[q]->resolved = copies[q]->resolved = true;
		}
		schedule_replay(&s);
		schedule_settle(&s, NULL);
		CU_ASSERT_EQUAL(s.device_count, gpus);
		CU_ASSERT_EQUAL(launches[0]->times[0].end, 1000);
		CU_ASSERT_EQUAL(launches[1]->times[0].end, gpus == 1 ? 2000 : 1000);
		CU_ASSERT_EQUAL(copies[1]->times[0].end, gpus == 1 ? 3000 : 2000);
		CU_ASSERT_EQUAL(schedule_device_totals(&s, 0, 0).busy, gpus == 1 ? 3000 : 2000);
		CU_ASSERT_EQUAL(schedule_device_totals(&s, 0, 1).commands, gpus == 1 ? 0 : 2000);
		CU_ASSERT_EQUAL(schedule_totals(&s, 0).busy, gpus == 1 ? 3000 : 2000);
		schedule_free(&s);
	}
}

void add_schedule_tests(void)
{
	CU_pSuite s = CU_add_suite("schedule", NULL, NULL);
	CU_ADD_TEST(s, a_queue_runs_in_order_and_a_blocking_read_holds_the_host);
	CU_ADD_TEST(s, queues_share_engines_and_events_hold_commands);
	CU_ADD_TEST(s, markers_wait_for_all_of_an_unordered_queue);
	CU_ADD_TEST(s, calls_of_streams_take_what_was_measured);
	CU_ADD_TEST(s, markers_do_not_wait_for_what_comes_after_them);
	CU_ADD_TEST(s, commands_that_may_start_first_go_first);
	CU_ADD_TEST(s, one_copy_engine_serves_both_directions);
	CU_ADD_TEST(s, a_barrier_holds_what_comes_after_it);
	CU_ADD_TEST(s, each_gpu_has_its_own_time);
	CU_ADD_TEST(s, a_second_thread_begins_where_the_first_is);
}
