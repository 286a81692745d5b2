/* What launches without counters follow from. */
#include "tests/tests.h"

#include "runtime/estimates/counted.h"
#include "runtime/estimates/job.h"

static struct artifact artifact = {.block_count = 1};
static uint64_t counts[1];
static uint64_t argument;
static bool argument_known = true;

static struct launch_record launch(uint64_t seq, uint64_t items, uint64_t value)
{
	argument = value;
	return (struct launch_record){.seq = seq, .artifact = &artifact, .global = {items, 1, 1}, .local = {64, 1, 1},
	                              .argument_values = &argument, .arguments_known = &argument_known, .argument_count = 1};
}

static struct estimate_job job(double time_ns, bool taken)
{
	return (struct estimate_job){.refs = 1, .taken = taken, .estimate = {.time_ns = time_ns}};
}

static void add(struct counted_launches *c, uint64_t seq, uint64_t items, uint64_t value, struct estimate_job *of)
{
	struct launch_record l = launch(seq, items, value);
	struct launch_profile p = {.local = {64, 1, 1}, .counts = counts, .scale = 2};
	counts[0] = items;
	counted_add(c, &l, &p, of);
}

static void those_of_the_same_sizes_come_first(void)
{
	struct counted_launches c = {0};
	struct counted_between b;
	struct estimate_job first = job(100, true), second = job(110, true), small = job(10, true);
	struct launch_record l = launch(0, 640, 7);
	CU_ASSERT_FALSE(counted_find(&c, &l, &b));
	add(&c, 1, 640, 7, &first);
	add(&c, 5, 640, 8, &second);
	add(&c, 6, 64, 7, &small);
	l = launch(6, 640, 8);
	CU_ASSERT(counted_ready(&c, &l, false));
	CU_ASSERT_FATAL(counted_find(&c, &l, &b));
	CU_ASSERT_PTR_EQUAL(b.a->job, &second);
	CU_ASSERT_PTR_EQUAL(b.b, b.a);
	CU_ASSERT_DOUBLE_EQUAL(b.error, 10.0 / 110, 1e-9); /* the other of these sizes took 100 ns */
	CU_ASSERT_EQUAL(b.a->counts[0], 1280);             /* for each that was counted there is another */
	l = launch(6, 640, 7); /* the same argument is better than to be near */
	CU_ASSERT_FATAL(counted_find(&c, &l, &b));
	CU_ASSERT_PTR_EQUAL(b.a->job, &first);
	l = launch(6, 640, 9); /* no such argument: the nearest in order */
	CU_ASSERT_FATAL(counted_find(&c, &l, &b));
	CU_ASSERT_PTR_EQUAL(b.a->job, &second);
	counted_clear(&c);
	CU_ASSERT_EQUAL(first.refs, 1);
}

/* 200 is a quarter of the way from 100 to 500 and 50 is half of 100. */
static void others_are_between_or_scaled(void)
{
	struct counted_launches c = {0};
	struct counted_between b;
	struct estimate_job small = job(100, true), large = job(300, true), failed = job(1, true);
	struct launch_record l = launch(3, 200, 0);
	failed.result = -1;
	add(&c, 1, 100, 0, &small);
	add(&c, 2, 500, 0, &large);
	add(&c, 4, 210, 0, &failed);
	CU_ASSERT_FATAL(counted_find(&c, &l, &b));
	CU_ASSERT_PTR_EQUAL(b.a->job, &small);
	CU_ASSERT_PTR_EQUAL(b.b->job, &large);
	CU_ASSERT_DOUBLE_EQUAL(b.weight, 0.25, 1e-9);
	CU_ASSERT(b.error > 0.1 && b.error <= 1);
	l = launch(3, 50, 0);
	CU_ASSERT_FATAL(counted_find(&c, &l, &b));
	CU_ASSERT_PTR_EQUAL(b.a->job, &small);
	CU_ASSERT_PTR_EQUAL(b.b, b.a);
	CU_ASSERT_DOUBLE_EQUAL(b.error, 0.6, 1e-9);
	counted_clear(&c);
}

static void a_launch_waits_for_nearer_ones(void)
{
	struct counted_launches c = {0};
	struct estimate_job small = job(100, true), large = job(300, false);
	struct launch_record l = launch(2, 200, 0);
	CU_ASSERT_FALSE(counted_ready(&c, &l, false));
	CU_ASSERT(counted_ready(&c, &l, true)); /* there is none to wait for */
	add(&c, 1, 100, 0, &small);
	CU_ASSERT_FALSE(counted_ready(&c, &l, false)); /* a later one may be larger */
	CU_ASSERT(counted_ready(&c, &l, true));
	add(&c, 3, 500, 0, &large);
	CU_ASSERT_FALSE(counted_ready(&c, &l, false)); /* which is still simulated */
	CU_ASSERT_FALSE(counted_ready(&c, &l, true));
	large.taken = true;
	CU_ASSERT(counted_ready(&c, &l, false));
	counted_clear(&c);
}

/* The first launch of a kernel took 150 ns with cold caches. One after it waits for another that is as warm as it; one before it does not. */
static void the_first_launch_stands_for_others_last(void)
{
	struct counted_launches c = {0};
	struct counted_between b;
	struct estimate_job cold = job(150, true), warm = job(80, false);
	struct launch_record l = launch(2, 640, 0), before = launch(0, 640, 0);
	add(&c, 1, 640, 0, &cold);
	CU_ASSERT_FALSE(counted_ready(&c, &l, false));
	CU_ASSERT(counted_ready(&c, &l, true));
	CU_ASSERT(counted_ready(&c, &before, false));
	add(&c, 9, 640, 0, &warm);
	CU_ASSERT_FALSE(counted_ready(&c, &l, true)); /* which is still simulated */
	warm.taken = true;
	CU_ASSERT(counted_ready(&c, &l, false));
	CU_ASSERT_FATAL(counted_find(&c, &l, &b));
	CU_ASSERT_PTR_EQUAL(b.a->job, &warm);
	CU_ASSERT_FATAL(counted_find(&c, &before, &b));
	CU_ASSERT_PTR_EQUAL(b.a->job, &cold);
	counted_clear(&c);
}

static void only_the_latest_are_kept(void)
{
	struct counted_launches c = {0};
	struct counted_between b;
	struct estimate_job some[2] = {job(1, true), job(2, true)};
	struct launch_record l = launch(1000, 1, 0);
	for (uint64_t i = 0; i < COUNTED_KEPT + 10; i++)
		add(&c, i, i + 1, 0, &some[i % 2]);
	CU_ASSERT_FATAL(counted_find(&c, &l, &b));
	CU_ASSERT_EQUAL(b.a->items, 11);
	add(&c, 500, COUNTED_KEPT + 10, 0, &some[1]); /* as the latest: nothing new */
	CU_ASSERT_EQUAL(c.count, COUNTED_KEPT + 10);
	counted_clear(&c);
	CU_ASSERT_EQUAL(some[0].refs, 1);
}

void add_uncounted_tests(void)
{
	CU_pSuite s = CU_add_suite("uncounted", NULL, NULL);
	CU_add_test(s, "launches of the same sizes come first", those_of_the_same_sizes_come_first);
	CU_add_test(s, "the first launch stands for others last", the_first_launch_stands_for_others_last);
	CU_add_test(s, "others are between those that were counted, or scaled from one", others_are_between_or_scaled);
	CU_add_test(s, "a launch waits for nearer ones", a_launch_waits_for_nearer_ones);
	CU_add_test(s, "only the latest are kept", only_the_latest_are_kept);
}
