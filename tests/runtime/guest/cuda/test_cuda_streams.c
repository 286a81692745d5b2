/* Streams: commands run in order, wait for events of other streams, and run on the caller's thread where they can. */
#include "tests/tests.h"

#include "runtime/guest/cuda/streams.h"
#include "runtime/process/thread.h"

#include <pthread.h>
#include <stdlib.h>

enum { MOST_NOTED = 4096 };

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool open; /* commands that wait for it may end */
	int numbers[MOST_NOTED];
	pthread_t threads[MOST_NOTED];
	size_t count;
} noted = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

struct noting_command {
	struct cuda_command command;
	int number;
	bool waits; /* until the gate is open */
};

static void note(struct cuda_command *c, struct cuda_stream *s)
{
	struct noting_command *n = (struct noting_command *)c;
	(void)s;
	pthread_mutex_lock(&noted.lock);
	while (n->waits && !noted.open)
		pthread_cond_wait(&noted.changed, &noted.lock);
	noted.threads[noted.count] = pthread_self();
	noted.numbers[noted.count++] = n->number;
	pthread_mutex_unlock(&noted.lock);
}

static void end(struct cuda_command *c)
{
	command_end(c);
	free(c);
}

static void begin_again(void)
{
	pthread_mutex_lock(&noted.lock);
	noted.count = 0;
	noted.open = false;
	pthread_mutex_unlock(&noted.lock);
}

static void open_gate(void)
{
	pthread_mutex_lock(&noted.lock);
	noted.open = true;
	pthread_cond_broadcast(&noted.changed);
	pthread_mutex_unlock(&noted.lock);
}

static size_t noted_count(void)
{
	pthread_mutex_lock(&noted.lock);
	size_t count = noted.count;
	pthread_mutex_unlock(&noted.lock);
	return count;
}

/* Returns the command's event, if it waits for one or `wants` one. */
static struct cuda_event *submit(struct cuda_stream *s, int number, enum stream_turn turn, bool waits, struct cuda_event *after, bool wants)
{
	struct noting_command *n = calloc(1, sizeof *n);
	struct cuda_event *mine = NULL;
	struct cuda_call call = {.stream = s, .wait = &after, .wait_count = after ? 1 : 0, .event = wants ? &mine : NULL};
	CU_ASSERT_PTR_NOT_NULL_FATAL(n);
	*n = (struct noting_command){{.run = note, .discard = end}, number, waits};
	CU_ASSERT_FATAL(!command_prepare(&n->command, &call, NULL));
	if (wants)
		mine = cuda_event_retain(n->command.event);
	stream_submit(s, &n->command, turn);
	return mine;
}

static void commands_of_a_stream_run_in_order(void)
{
	enum { COUNT = 1000 };
	struct cuda_stream *s = stream_new("test");
	begin_again();
	for (int i = 0; i < COUNT; i++)
		submit(s, i, i % 3 == 2 ? TURN_HERE : TURN_LATER, false, NULL, false);
	stream_wait(s);
	CU_ASSERT_EQUAL_FATAL(noted_count(), COUNT);
	for (int i = 0; i < COUNT; i++)
		CU_ASSERT_EQUAL(noted.numbers[i], i);
	CU_ASSERT(stream_is_idle(s));
	stream_close(s);
}

static void a_command_runs_here_if_its_stream_is_idle(void)
{
	struct cuda_stream *s = stream_new("test");
	begin_again();
	submit(s, 0, TURN_HERE, false, NULL, false);
	CU_ASSERT_EQUAL(noted_count(), 1);
	submit(s, 1, TURN_LATER, true, NULL, false);
	submit(s, 2, TURN_HERE, false, NULL, false); /* must not overtake */
	CU_ASSERT_EQUAL(noted_count(), 1);
	CU_ASSERT(!stream_is_idle(s));
	open_gate();
	submit(s, 3, TURN_WAIT, false, NULL, false);
	CU_ASSERT_EQUAL_FATAL(noted_count(), 4);
	CU_ASSERT(pthread_equal(noted.threads[0], pthread_self()));
	CU_ASSERT(!pthread_equal(noted.threads[1], pthread_self()));
	CU_ASSERT_EQUAL(noted.numbers[2], 2);
	CU_ASSERT_EQUAL(noted.numbers[3], 3);
	stream_close(s);
}

static void a_stream_waits_for_events_of_others(void)
{
	struct cuda_stream *a = stream_new("a"), *b = stream_new("b");
	begin_again();
	struct cuda_event *first = submit(a, 1, TURN_LATER, true, NULL, true);
	struct cuda_event *second = submit(b, 2, TURN_HERE, false, first, true);
	submit(a, 3, TURN_LATER, false, second, false);
	CU_ASSERT(!cuda_event_done(first) && !cuda_event_done(second));
	CU_ASSERT_EQUAL(event_time(second), 0);
	open_gate();
	event_wait(second);
	CU_ASSERT(cuda_event_done(first));
	CU_ASSERT(event_time(first) && event_time(second) >= event_time(first));
	streams_wait_all();
	CU_ASSERT_EQUAL_FATAL(noted_count(), 3);
	CU_ASSERT(noted.numbers[0] == 1 && noted.numbers[1] == 2 && noted.numbers[2] == 3);
	cuda_event_release(first);
	cuda_event_release(second);
	stream_close(a);
	stream_close(b);
}

static void a_closed_stream_still_does_what_it_has_to(void)
{
	struct cuda_stream *s = stream_new("test");
	begin_again();
	submit(s, 0, TURN_LATER, true, NULL, false);
	struct cuda_event *last = submit(s, 1, TURN_LATER, false, NULL, true);
	stream_close(s);
	CU_ASSERT_EQUAL(noted_count(), 0);
	open_gate();
	event_wait(last);
	CU_ASSERT_EQUAL(noted_count(), 2);
	cuda_event_release(last);
}

static void the_end_does_not_wait_for_ever(void)
{
	struct cuda_stream *s = stream_new("test");
	begin_again();
	struct cuda_event *last = submit(s, 0, TURN_LATER, true, NULL, true);
	uint64_t begin = clock_ns();
	CU_ASSERT(!streams_finish(50));
	CU_ASSERT(clock_ns() - begin >= 50000000 && clock_ns() - begin < UINT64_C(20000000000));
	open_gate();
	event_wait(last);
	CU_ASSERT(streams_finish(10000));
	cuda_event_release(last);
	stream_close(s);
}

/* Every thread has a stream, waits for the event of the one before it, and all share one stream more. */
enum { THREADS = 6, ROUNDS = 200 };
static struct cuda_stream *shared;

static void *use_streams(void *data)
{
	struct cuda_stream *s = stream_new("own");
	struct cuda_event *last = NULL;
	int base = (int)(intptr_t)data * 1000;
	for (int i = 0; i < ROUNDS; i++) {
		struct cuda_event *mine = submit(s, base + i, i % 2 ? TURN_HERE : TURN_LATER, false, last, true);
		if (last)
			cuda_event_release(last);
		last = submit(shared, -1, i % 7 ? TURN_LATER : TURN_WAIT, false, mine, true);
		cuda_event_release(mine);
	}
	event_wait(last);
	cuda_event_release(last);
	stream_wait(s);
	stream_close(s);
	return NULL;
}

static void threads_may_use_streams_at_once(void)
{
	pthread_t threads[THREADS];
	int next[THREADS] = {0}, of_shared = 0;
	begin_again();
	shared = stream_new("shared");
	for (intptr_t i = 0; i < THREADS; i++)
		CU_ASSERT_FATAL(!pthread_create(&threads[i], NULL, use_streams, (void *)i));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	streams_wait_all();
	CU_ASSERT_EQUAL_FATAL(noted_count(), 2 * THREADS * ROUNDS);
	for (size_t i = 0; i < noted.count; i++) {
		int number = noted.numbers[i];
		of_shared += number < 0;
		if (number >= 0)
			CU_ASSERT_EQUAL(number % 1000, next[number / 1000]++);
	}
	CU_ASSERT_EQUAL(of_shared, THREADS * ROUNDS);
	stream_close(shared);
}

void add_cuda_streams_tests(void)
{
	CU_pSuite s = CU_add_suite("cuda_streams", NULL, NULL);
	CU_add_test(s, "commands of a stream run in order", commands_of_a_stream_run_in_order);
	CU_add_test(s, "a command runs here if its stream is idle", a_command_runs_here_if_its_stream_is_idle);
	CU_add_test(s, "a stream waits for events of others", a_stream_waits_for_events_of_others);
	CU_add_test(s, "a closed stream still does what it has to", a_closed_stream_still_does_what_it_has_to);
	CU_add_test(s, "the end of the program does not wait for ever", the_end_does_not_wait_for_ever);
	CU_add_test(s, "threads may use streams at once", threads_may_use_streams_at_once);
}
