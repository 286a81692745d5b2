/* Logs of calls, read back (runtime/format/calls.h). Times are computed by hand, in ns. */
#include "tests/tests.h"

#include "runtime/timeline/calls.h"

#include <stdlib.h>
#include <string.h>

static const struct gpu gpu = {.cuda_event_ns = 1300, .link_gbps = 25, .link_latency_ns = 8000, .peer_gbps = 200, .peer_latency_ns = 2000};

/* Adds lines; returns the last command, or NULL where one of them cannot be. */
static struct schedule_command *add(struct calls_log *log, const char *const *lines, size_t count)
{
	struct schedule_command *c = NULL;
	for (size_t i = 0; i < count; i++) {
		struct call_line l = {0};
		if (!call_parse(lines[i], &l) || !(c = calls_add(log, &l, lines[i] + l.name_at)))
			return NULL;
	}
	return c;
}

/* 16908577: a copy that waits (1) in a stream (32), in a queue of GPU 1 (256), from GPU 2 (2 * 65536) to GPU 1 (16777216). */
static void a_log_is_read_as_it_was(void)
{
	static const char *const lines[] = {
		"launch 0 0 0 1 0 1000 1100 0 1 - k",
		"peer 0 1 -3 3 16908577 1200 1300 4000 0 0 -",
		"host 0 -1 0 0 16 1300 101300 0 0 - host",
	};
	struct schedule s;
	struct call_line line = {0};
	struct topology links;
	struct gs_error err;
	CU_ASSERT_EQUAL_FATAL(schedule_start(&s, 1), 0);
	CU_ASSERT_EQUAL_FATAL(topology_parse(&links, "0 1 10 500\n1 2 5 1000", 3, &err), 0);
	struct calls_log log = {.schedule = &s, .base = 1000, .scale = 0.5};
	struct schedule_command *host = add(&log, lines, 3), *peer = log.count == 3 ? log.by_line[1] : NULL;
	CU_ASSERT_PTR_NOT_NULL_FATAL(host);
	CU_ASSERT_EQUAL(peer->queue->device, 1);
	CU_ASSERT_EQUAL(peer->queue->priority, -3);
	CU_ASSERT_TRUE(peer->queue->stream && !log.by_line[0]->queue->stream);
	CU_ASSERT_EQUAL(s.device_count, 2);
	CU_ASSERT_TRUE(peer->waits && !peer->waits_all && peer->after_count == 1 && peer->after[0] == log.by_line[0]);
	CU_ASSERT_EQUAL(peer->from, 2);
	CU_ASSERT_EQUAL(peer->to, 1);
	CU_ASSERT_EQUAL(peer->call_ns, 100); /* half of 200 after the base */
	calls_set_transfer(peer, 0, &gpu, &links);
	CU_ASSERT_DOUBLE_EQUAL(peer->times[0].duration, 4000 / 5.0 + 1000, 1e-9);
	calls_set_transfer(peer, 0, &gpu, NULL);
	CU_ASSERT_DOUBLE_EQUAL(peer->times[0].duration, 4000 / 200.0 + 2000, 1e-9);
	CU_ASSERT_TRUE(host->works && !host->queue);
	/* An event is recorded (64) in the stream (32), which takes it 1300. */
	CU_ASSERT_TRUE(call_parse("marker 0 1 0 0 96 1400 1400 0 0 - -", &line));
	struct schedule_command *event = calls_add(&log, &line, "-");
	CU_ASSERT_PTR_NOT_NULL_FATAL(event);
	calls_set_transfer(event, 0, &gpu, NULL);
	CU_ASSERT_TRUE(event->records);
	/* The host works for half of 100000, not for what a call takes at most. */
	log.by_line[0]->times[0].duration = 10;
	schedule_replay(&s);
	schedule_settle(&s, NULL);
	CU_ASSERT_DOUBLE_EQUAL(host->times[0].host_end - host->times[0].host_begin, 50000, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(event->times[0].end - event->times[0].start, 1300, 1e-9);
	CU_ASSERT_EQUAL(calls_gpus("launch 0 0 0 1 0 1 1 0 1 - k\npeer 0 1 0 3 16908545 1 1 4000 0 - -\n"), 3);
	CU_ASSERT_EQUAL(calls_gpus("launch 0 0 0 1 0 1 1 0 1 - k\n"), 1);
	free(log.by_line);
	schedule_free(&s);
}

static void bad_lines_are_refused(void)
{
	static const char *const bad[] = {
		"", "launch 0 0 0 1 0 1 1 0", "dance 0 0 0 1 0 1 1 0 1 - k", "launch 0 -1 0 1 0 1 1 0 1 - k", "launch 0 0 0 9 0 1 1 0 1 - k",
		"launch 99999 0 0 1 0 1 1 0 1 - k", "launch 0 99999 0 1 0 1 1 0 1 - k", "launch 0 0 0 1 0 1 1 0 1 0 k", "launch 0 0 0 1 0 1 1 0 1 7, k", "launch 0 0 0 1 0 1 1 0 1 x k",
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct schedule s;
		CU_ASSERT_EQUAL_FATAL(schedule_start(&s, 1), 0);
		struct calls_log log = {.schedule = &s, .scale = 1};
		CU_ASSERT_PTR_NULL(add(&log, &bad[i], 1));
		free(log.by_line);
		schedule_free(&s);
	}
}

void add_calls_tests(void)
{
	CU_pSuite s = CU_add_suite("calls", NULL, NULL);
	CU_ADD_TEST(s, a_log_is_read_as_it_was);
	CU_ADD_TEST(s, bad_lines_are_refused);
}
