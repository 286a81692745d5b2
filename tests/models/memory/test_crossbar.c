/* Crossbars whose packets keep their order: turns, packets that hold others up, and how long packets take. Times are
 * computed by hand. */
#include "tests/tests.h"

#include "models/memory/crossbar.h"

enum { MOST = 16 };

/* Requests 0, 1, 2 ... that have been pushed, and when each began to leave its output. */
struct crossing {
	struct memory_request all[MOST];
	struct memory_requests requests;
	struct crossbar *crossbar;
	uint32_t count, passed, order[MOST];
	uint64_t start[MOST];
};

static void begin(struct crossing *c, uint32_t inputs, uint32_t outputs, struct crossbar_timing timing)
{
	*c = (struct crossing){.count = 0};
	c->requests.all = c->all;
	c->crossbar = crossbar_new(&c->requests, inputs, outputs, false, &timing);
	CU_ASSERT_PTR_NOT_NULL_FATAL(c->crossbar);
}

static void push(struct crossing *c, uint64_t time, uint16_t input, uint16_t output, uint32_t ticks, uint8_t packets)
{
	c->all[c->count] =
	    (struct memory_request){.time = time, .sm = input, .slice = output, .ticks = ticks, .left = packets};
	crossbar_push(c->crossbar, c->count++);
}

static void note(void *ctx, uint32_t request, uint64_t start)
{
	struct crossing *c = ctx;
	c->order[c->passed++] = request;
	c->start[request] = start;
}

/* All requests have passed, at these times. */
static void check(struct crossing *c, const uint64_t *start)
{
	crossbar_advance(c->crossbar, 100000, note, c);
	CU_ASSERT_EQUAL(c->passed, c->count);
	for (uint32_t i = 0; i < c->count; i++)
		CU_ASSERT_EQUAL(c->start[i], start[i]);
	crossbar_free(c->crossbar);
}

static const struct crossbar_timing plain = {10, 100000, 0};

/* Three inputs have two packets each for one output. Input 1's come first; then input 2 is next. */
static void inputs_take_turns(void)
{
	static const uint64_t start[] = {0, 30, 10, 40, 20, 50};
	struct crossing c;
	begin(&c, 3, 2, plain);
	for (uint16_t i = 1; i < 4; i++)
		for (uint32_t n = 0; n < 2; n++)
			push(&c, i == 1 ? 0 : 1, i % 3, 1, 10, 1);
	CU_ASSERT_EQUAL(crossbar_waiting(c.crossbar, 1), 20);
	check(&c, start);
}

/* The first packet of input 1 waits for that of input 0. So does its second, although nobody else wants its output. */
static void the_first_holds_up_the_others(void)
{
	static const uint64_t start[] = {0, 10, 20, 10};
	struct crossing c;
	begin(&c, 2, 3, plain);
	push(&c, 0, 0, 0, 10, 1);
	push(&c, 0, 1, 0, 10, 1);
	push(&c, 0, 1, 2, 10, 1);
	push(&c, 0, 0, 1, 10, 1);
	check(&c, start);
}

/* Two packets of each of two inputs go to one output in turn: the requests end at 20 and 30, not at 10 and 30. */
static void packets_of_requests_take_turns(void)
{
	static const uint64_t start[] = {20, 30};
	struct crossing c;
	begin(&c, 2, 1, plain);
	push(&c, 0, 0, 0, 10, 2);
	push(&c, 0, 1, 0, 10, 2);
	check(&c, start);
}

/*
 * Packets of four flits of 10. A crossbar that is twice as fast moves four and one for the way in 25, but the first not
 * before its flits have come, at 40. So three inputs send at 0, 40 and 65 what the output's port takes until 40, 80 and
 * 120. What input 1 has for another output leaves at 65.
 */
static void a_fast_crossbar_fills_its_outputs(void)
{
	static const uint64_t start[] = {0, 40, 80, 65};
	struct crossing c;
	begin(&c, 3, 2, (struct crossbar_timing){10, 100000, 2});
	push(&c, 0, 0, 0, 40, 1);
	push(&c, 0, 1, 0, 40, 1);
	push(&c, 0, 2, 0, 40, 1);
	push(&c, 40, 1, 1, 40, 1);
	check(&c, start);
}

/* The same with 20 that may wait at a port: the output takes the fourth packet at 100, not at 90, and input 0 sends
 * what is for another one at 125. */
static void full_outputs_take_nothing(void)
{
	static const uint64_t start[] = {0, 40, 80, 120, 125};
	struct crossing c;
	begin(&c, 3, 2, (struct crossbar_timing){10, 20, 2});
	push(&c, 0, 0, 0, 40, 1);
	push(&c, 0, 1, 0, 40, 1);
	push(&c, 0, 2, 0, 40, 1);
	push(&c, 40, 0, 0, 40, 1);
	push(&c, 80, 0, 1, 40, 1);
	check(&c, start);
}

void add_crossbar_tests(void)
{
	CU_pSuite s = CU_add_suite("crossbar", NULL, NULL);
	CU_ADD_TEST(s, inputs_take_turns);
	CU_ADD_TEST(s, the_first_holds_up_the_others);
	CU_ADD_TEST(s, packets_of_requests_take_turns);
	CU_ADD_TEST(s, a_fast_crossbar_fills_its_outputs);
	CU_ADD_TEST(s, full_outputs_take_nothing);
}
