/* Families: how many launches of a curve are simulated, and how far off the others are. */
#include "tests/tests.h"

#include "models/sampling/families.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 12000 };

/* Launches of a curve that is known. What is "simulated" is looked up. */
struct curve {
	struct families *families;
	double time[MOST], size[MOST], given[MOST]; /* given: what the launch got */
	double error[MOST]; /* what its decision says; simulated: 0 */
	int count, simulated;
	bool backwards; /* simulations end in the reverse order */
	struct family_limits limits;
};

static struct family_features features(double size)
{
	struct family_features x = {.kind = 1, .steps = 1, .size = size, .warps = size / 320};
	x.parts[0] = 0.25 * size;
	x.parts[3] = 0.75 * size;
	return x;
}

static double *slot(struct curve *c, double *array, void *launch)
{
	return array + ((double *)launch - c->time);
}

static void simulate(struct curve *c, struct family_member *m)
{
	double *time = family_launch(m), *estimate = malloc(sizeof *estimate);
	*slot(c, c->given, time) = *estimate = *time;
	c->simulated++;
	family_simulated(c->families, m, *time, estimate);
}

static void take_decided(struct curve *c)
{
	struct family_decision d;
	while (family_decided(c->families, &d)) {
		double a = *(const double *)d.a, b = *(const double *)d.b, *given = slot(c, c->given, d.launch);
		CU_ASSERT(d.weight >= 0 && d.weight <= 1);
		*given = a == b && d.a_size == d.b_size ? a : a + d.weight * (b - a);
		*given *= d.times;
		*slot(c, c->error, d.launch) = d.error;
	}
}

static void settle(struct curve *c)
{
	struct family_member *all[MOST];
	int count;
	do {
		for (count = 0; (all[count] = family_next(c->families)); count++)
			;
		for (int i = 0; i < count; i++)
			simulate(c, all[c->backwards ? count - 1 - i : i]);
		take_decided(c);
	} while (count);
}

static void enter(struct curve *c, const struct family_features *x, double time)
{
	int at = c->count++;
	struct family_member *m;
	c->time[at] = time;
	c->size[at] = x->size;
	c->given[at] = NAN;
	if (family_enter(c->families, x, &c->time[at], 1000, &m) == FAMILY_SIMULATE) {
		if (m)
			simulate(c, m);
		else
			c->given[at] = time, c->simulated++;
	}
	settle(c);
}

static struct curve *curve_new(void)
{
	struct curve *c = calloc(1, sizeof *c);
	c->limits = FAMILY_LIMITS;
	c->limits.free_estimate = free;
	c->families = families_new(&c->limits);
	return c;
}

static double worst(const struct curve *c)
{
	double most = 0;
	for (int i = 0; i < c->count; i++)
		most = fmax(most, isnan(c->given[i]) ? INFINITY : fabs(c->given[i] / c->time[i] - 1));
	return most;
}

static void curve_end(struct curve *c)
{
	family_flush(c->families);
	settle(c);
	CU_ASSERT_EQUAL(family_waiting(c->families), 0);
}

static void curve_free(struct curve *c)
{
	families_free(c->families);
	free(c);
}

/* 5 us of overhead, and 1 ns for every 1000 instructions. The first launch is simulated at once. Of the launches after it, the first 1024 are
 * in 5 batches, each twice the one before, and the rest in 9. Of a batch, the smallest is simulated and one in the middle, or none where
 * all are near what was simulated: at most 1 + 2 * 14, and some more at the end, where the times of a batch are far apart. */
static void test_line(void)
{
	struct curve *c = curve_new();
	for (int i = 0; i < 10000; i++) {
		struct family_features x = features(1e4 * (10000 - i));
		enter(c, &x, 5000 + x.size / 1000);
	}
	curve_end(c);
	CU_ASSERT(c->simulated >= 14 && c->simulated <= 36);
	CU_ASSERT(worst(c) < 0.02); /* nodes that are near are not scaled here */
	curve_free(c);
}

/* The same line up and down again: the way down is known. */
static void test_known_curve(void)
{
	struct curve *c = curve_new();
	for (int i = 1; i <= 1000; i++) {
		struct family_features x = features(1e4 * i);
		enter(c, &x, 5000 + x.size / 1000);
	}
	curve_end(c);
	int before = c->simulated;
	for (int i = 1000; i >= 1; i--) {
		struct family_features x = features(1e4 * i + 5e3);
		enter(c, &x, 5000 + x.size / 1000);
	}
	curve_end(c);
	CU_ASSERT(before <= 30);
	CU_ASSERT(c->simulated - before <= 2); /* one is beyond the end */
	curve_free(c);
}

/* Time does not fall below a floor where the machine is no longer full. One batch: 1000 launches. The kink is between two nodes that
 * come nearer and nearer, until the middle is within 2%. */
static void test_kink(void)
{
	struct curve *c = curve_new();
	c->limits.least = 2000;
	families_free(c->families);
	c->families = families_new(&c->limits);
	for (int i = 0; i < 1000; i++) {
		struct family_features x = features(1e4 * (1000 - i));
		enter(c, &x, 2000 + fmax(1000, x.size / 1000));
	}
	curve_end(c);
	CU_ASSERT(c->simulated <= 16);
	CU_ASSERT(worst(c) < 0.03);
	curve_free(c);
}

/* Launches of the same size, of which every second has one work-item that does three times as much as any other: two families of
 * equal launches, so two simulations. */
static void test_longest(void)
{
	struct curve *c = curve_new();
	for (int i = 0; i < 100; i++) {
		struct family_features x = features(1e6);
		x.together = 1000;
		x.longest = i % 2 ? 30 : 10;
		enter(c, &x, i % 2 ? 9000 : 5000);
	}
	curve_end(c);
	CU_ASSERT_EQUAL(c->simulated, 2);
	CU_ASSERT(worst(c) < 1e-9);
	curve_free(c);
}

/* A second wave of groups: time jumps by a half at one size. Bisection of 500 sizes finds it in 9 steps. */
static void test_step(void)
{
	struct curve *c = curve_new();
	c->limits.least = 2000;
	families_free(c->families);
	c->families = families_new(&c->limits);
	for (int i = 0; i < 500; i++) {
		struct family_features x = features(1e6 + 1e4 * i);
		x.steps = i < 321 ? 1 : 2;
		enter(c, &x, i < 321 ? 10000 : 15000);
	}
	curve_end(c);
	CU_ASSERT(c->simulated >= 8 && c->simulated <= 20);
	CU_ASSERT(worst(c) < 0.021);
	curve_free(c);
}

/* Chance moves times by up to 1%: a middle is off by 2% at most, and all is accepted. */
static void test_noise(void)
{
	struct curve *c = curve_new();
	uint32_t seed = 5;
	for (int i = 0; i < 1016; i++) {
		struct family_features x = features(1e6 + 1e4 * i);
		enter(c, &x, (5000 + x.size / 1000) * (1 + 0.02 * (next_random(&seed) / 16777216.0 - 0.5)));
	}
	curve_end(c);
	CU_ASSERT(c->simulated <= 24);
	CU_ASSERT(worst(c) < 0.04);
	curve_free(c);
}

/* Launches of two kinds, those with another mix of instructions and those with other accesses are never between one another. */
static void test_families_are_apart(void)
{
	struct curve *c = curve_new();
	for (int i = 0; i < 300; i++) {
		struct family_features x = features(1e6 + 1e4 * i);
		if (i % 3 == 1)
			x.kind = 2;
		if (i % 3 == 2) { /* a third of its instructions are in another block */
			x.parts[7] = x.parts[3] * 4 / 9;
			x.parts[3] -= x.parts[7];
		}
		x.sectors = i % 2 ? 0.125 : 0.15625; /* a sector more, as where accesses begin between two */
		enter(c, &x, (10000 + i) * (1 + i % 3) + (i % 2 ? 0 : 2000));
	}
	curve_end(c);
	CU_ASSERT(c->simulated <= 6 * 10);
	CU_ASSERT(worst(c) < 0.02);
	curve_free(c);
}

/* The mix changes slowly along the way: from one block to another. It is one family. */
static void test_slow_change(void)
{
	struct curve *c = curve_new();
	for (int i = 0; i < 500; i++) {
		struct family_features x = features(1e6 + 1e4 * i);
		x.parts[0] = x.size * (500 - i) / 500;
		x.parts[3] = x.size * i / 500;
		enter(c, &x, 10000 + i);
	}
	curve_end(c);
	CU_ASSERT(c->simulated <= 16);
	CU_ASSERT(worst(c) < 0.02);
	curve_free(c);
}

/* What every launch gets does not depend on which simulation ends first. */
static void test_order_of_simulations(void)
{
	struct curve *both[2];
	for (int k = 0; k < 2; k++) {
		struct curve *c = both[k] = curve_new();
		uint32_t seed = 9;
		c->backwards = k;
		for (int i = 0; i < 2000; i++) {
			struct family_features x = features(1e4 * (1 + next_random(&seed) % 1000));
			x.steps = x.size > 7e6 ? 2 : 1;
			enter(c, &x, 3000 + fmax(2000, x.size / 1000) + (x.size > 7e6 ? 1500 : 0));
		}
		curve_end(c);
		CU_ASSERT(worst(c) < 0.04);
	}
	CU_ASSERT_EQUAL(both[0]->simulated, both[1]->simulated);
	for (int i = 0; i < both[0]->count; i++)
		CU_ASSERT(both[0]->given[i] == both[1]->given[i]);
	curve_free(both[0]);
	curve_free(both[1]);
}

/* At most 100 launches wait; those beyond are decided early. */
static void test_bound_on_waiting(void)
{
	struct curve *c = curve_new();
	c->limits.least = c->limits.most = 100000;
	c->limits.bytes = 100 * 1000;
	families_free(c->families);
	c->families = families_new(&c->limits);
	for (int i = 0; i < 1000; i++) {
		struct family_features x = features(1e6 + 1e4 * i);
		enter(c, &x, 10000 + i);
		CU_ASSERT(family_waiting(c->families) <= 100);
	}
	curve_end(c);
	CU_ASSERT(c->simulated <= 24);
	CU_ASSERT(worst(c) < 0.02);
	curve_free(c);
}

/* With room for 8 nodes, old ones go; all launches are decided all the same. */
static void test_bound_on_nodes(void)
{
	struct curve *c = curve_new();
	c->limits.nodes = 8;
	families_free(c->families);
	c->families = families_new(&c->limits);
	for (int i = 0; i < 3000; i++) {
		struct family_features x = features(1e6 + 1e4 * (i % 1500));
		enter(c, &x, 10000 + 20 * (i % 1500));
	}
	curve_end(c);
	CU_ASSERT(worst(c) < 0.02);
	curve_free(c);
}

/* A launch whose simulation fails has no part in the curve. Those that wait are left behind with the families. */
static void test_failures(void)
{
	struct curve *c = curve_new();
	struct family_member *m;
	struct family_features x = features(1e6);
	CU_ASSERT_EQUAL(family_enter(c->families, &x, c->time, 0, &m), FAMILY_SIMULATE);
	family_simulated(c->families, m, 0, NULL);
	CU_ASSERT_EQUAL(family_waiting(c->families), 0);
	CU_ASSERT_EQUAL(family_enter(c->families, &x, c->time, 0, &m), FAMILY_WAIT);
	CU_ASSERT_PTR_NULL(family_next(c->families));
	family_flush(c->families);
	m = family_next(c->families);
	CU_ASSERT_PTR_EQUAL(family_launch(m), c->time);
	family_simulated(c->families, m, 0, NULL);
	x = features(2e6);
	CU_ASSERT_EQUAL(family_enter(c->families, &x, c->time, 0, &m), FAMILY_WAIT);
	CU_ASSERT_EQUAL(family_waiting(c->families), 1);
	curve_free(c);
}

/* Somebody waits for each launch. Sizes are 5% apart: every third is simulated, though nothing tests the others. */
static void test_hurry(void)
{
	struct curve *c = curve_new();
	for (int i = 0; i < 20; i++) {
		struct family_features x = features(1e6 * pow(0.95, i));
		enter(c, &x, 10000);
		CU_ASSERT_EQUAL(family_open(c->families), i > 0);
		family_hurry(c->families);
		settle(c);
		CU_ASSERT_EQUAL(family_waiting(c->families), 0);
	}
	CU_ASSERT_EQUAL(c->simulated, 7);
	curve_free(c);
}

/* Times of launches that are about as large, and differ by what no feature says. */
static double by_chance(uint32_t *state, double spread)
{
	return 10000 * (1 + spread * ((double)next_random(state) / (1 << 23) - 1));
}

/* 300 launches within 2%, whose times are anywhere within 20%. No node may stand for others before some were compared: of each of 5 batches
 * one or a few are simulated. The band then covers nearly all. */
static void test_chance(void)
{
	struct curve *c = curve_new();
	uint32_t state = 1;
	int outside = 0;
	for (int i = 0; i < 300; i++) {
		struct family_features x = features(1e6 + next_random(&state) % 10000);
		enter(c, &x, by_chance(&state, 0.2));
	}
	curve_end(c);
	for (int i = 0; i < c->count; i++)
		outside += fabs(c->given[i] / c->time[i] - 1) > c->error[i] + 1e-9;
	CU_ASSERT(c->simulated >= 5 && c->simulated <= 20);
	CU_ASSERT(outside <= 15);
	curve_free(c);
}

/* `count` launches of about `size` instructions, of some kinds in turn, whose longest warp does 80 times as much as the mean.
 * by_data: how long it is, and how long the launch takes, differ from launch to launch. */
static struct curve *few_long_warps(int count, uint64_t kinds, double size, bool by_data)
{
	struct curve *c = curve_new();
	uint32_t state = 1;
	for (int i = 0; i < count; i++) {
		struct family_features x = features(size * (1 + 1e-6 * (next_random(&state) % 10000)));
		x.kind = (uint64_t)i % kinds;
		x.longest = 400 + by_data * (next_random(&state) % 10);
		x.together = x.warps * 5;
		enter(c, &x, by_data ? by_chance(&state, 0.2) : 10000);
	}
	curve_end(c);
	return c;
}

/* Where data decides how long the longest warps are, each of 60 small launches is simulated, and of 60 with 6 * 10^7 instructions
 * together; of large ones, or of many kinds that are large together, a few of each batch. Where they are all as long, 3 are, as of other launches: the first, and one on each side of it. */
static void test_few_long_warps(void)
{
	struct curve *small = few_long_warps(60, 1, 1e5, true), *large = few_long_warps(60, 1, 1e7, true), *same = few_long_warps(60, 1, 1e5, false);
	struct curve *many = few_long_warps(600, 10, 1e6, true), *medium = few_long_warps(60, 1, 1e6, true);
	CU_ASSERT_EQUAL(small->simulated, 60);
	CU_ASSERT(worst(small) < 1e-12);
	CU_ASSERT_EQUAL(medium->simulated, 60);
	CU_ASSERT(large->simulated <= 20);
	CU_ASSERT(many->simulated <= 200);
	CU_ASSERT_EQUAL(same->simulated, 3);
	curve_free(small);
	curve_free(many);
	curve_free(medium);
	curve_free(large);
	curve_free(same);
}

/* 10 launches that hang on few work-items take times that are anywhere within 20%, and are simulated. 50 others would be simulated with work-items of
 * those, which tells nothing new: they have the mean of the 10, but for a few that lie beyond these. */
static void test_borrowed(void)
{
	struct curve *c = curve_new();
	uint32_t state = 1;
	double mean = 0;
	for (int i = 0; i < 60; i++) {
		struct family_features x = features(1e5 * (1 + 1e-6 * (next_random(&state) % 10000)));
		x.longest = 400 + next_random(&state) % 10;
		x.together = x.warps * 5;
		x.borrowed = i >= 10;
		enter(c, &x, by_chance(&state, 0.2));
		mean += i < 10 ? c->time[i] / c->size[i] / 10 : 0;
	}
	curve_end(c);
	CU_ASSERT(c->simulated >= 10 && c->simulated <= 14);
	for (int i = 0; i < 60; i++)
		CU_ASSERT(c->error[i] > 0 ? fabs(c->given[i] / c->size[i] / mean - 1) < 0.05 : c->given[i] == c->time[i]);
	curve_free(c);
}

static struct family_features with_long_warp(bool borrowed)
{
	struct family_features x = features(1e6);
	x.longest = 400;
	x.together = x.warps * 5;
	x.borrowed = borrowed;
	return x;
}

/* Five launches that do the same. Work-items of others stand for the long ones of the first two, which take 20000, the others 10000. The first is
 * simulated because it is the first. It does not stand for the third, which is simulated, too, and stands for those after it. */
static void test_own_after_borrowed(void)
{
	struct curve *c = curve_new();
	for (int i = 0; i < 5; i++) {
		struct family_features x = with_long_warp(i < 2);
		enter(c, &x, i < 2 ? 20000 : 10000);
	}
	curve_end(c);
	CU_ASSERT_EQUAL(c->simulated, 2);
	for (int i = 0; i < 5; i++)
		CU_ASSERT_EQUAL(c->given[i], i < 2 ? 20000 : 10000);
	curve_free(c);
}

/* Launches that are just as large as the first, and do otherwise, do not take its time if others have differed. */
static void test_as_large_and_rough(void)
{
	struct curve *c = curve_new();
	uint32_t state = 1;
	for (int i = 0; i < 60; i++) {
		struct family_features x = features(1e5 + (i < 40 ? i : 0));
		x.together = x.warps * (5 + 0.005 * i);
		enter(c, &x, by_chance(&state, 0.2));
	}
	curve_end(c);
	CU_ASSERT_EQUAL(c->simulated, 60);
	curve_free(c);
}

/* Launches that are just as large take the first one's time at once; those that are about as large, after one was compared with it: 2 are
 * simulated. */
static void test_same_and_near(void)
{
	for (int near = 0; near < 2; near++) {
		struct curve *c = curve_new();
		for (int i = 0; i < 30; i++) {
			struct family_features x = features(1e6 + near * 100 * i);
			enter(c, &x, 10000);
		}
		curve_end(c);
		CU_ASSERT_EQUAL(c->simulated, near ? 2 : 1);
		for (int i = 0; i < c->count; i++)
			CU_ASSERT(c->error[i] < (near ? 0.01 : 1e-12));
		curve_free(c);
	}
}

/* Grids are rounded up to whole groups: 16 launches have as many warps, and take as long. A straight line is off by up to half of what is
 * between two of them, and the band says so. One batch of 500 launches. */
static void test_rounded_grids(void)
{
	struct curve *c = curve_new();
	int outside = 0;
	c->limits.least = 2000;
	families_free(c->families);
	c->families = families_new(&c->limits);
	for (int i = 0; i < 500; i++) {
		double edge = 1012 - i, rounded = 16 * ceil(edge / 16);
		struct family_features x = features(edge * edge * 10);
		x.warps = rounded * rounded / 32;
		x.steps = (uint64_t)(rounded * rounded / 4096);
		enter(c, &x, rounded * rounded);
	}
	curve_end(c);
	CU_ASSERT(c->simulated < 250);
	for (int i = 0; i < c->count; i++)
		outside += fabs(c->given[i] / c->time[i] - 1) > c->error[i] + 0.002;
	CU_ASSERT(outside <= 25);
	curve_free(c);
}

void add_families_tests(void)
{
	CU_pSuite suite = CU_add_suite("families", NULL, NULL);
	CU_add_test(suite, "10,000 launches of a line cost a few dozen simulations", test_line);
	CU_add_test(suite, "launches of a curve that is known cost none", test_known_curve);
	CU_add_test(suite, "a kink is found", test_kink);
	CU_add_test(suite, "a long work-item makes another family", test_longest);
	CU_add_test(suite, "a step is found", test_step);
	CU_add_test(suite, "noise within the tolerance is accepted", test_noise);
	CU_add_test(suite, "kinds and mixes of instructions are families of their own", test_families_are_apart);
	CU_add_test(suite, "what changes slowly is one family", test_slow_change);
	CU_add_test(suite, "the order in which simulations end changes nothing", test_order_of_simulations);
	CU_add_test(suite, "the number of waiting launches is bounded", test_bound_on_waiting);
	CU_add_test(suite, "the number of simulated launches that are kept is bounded", test_bound_on_nodes);
	CU_add_test(suite, "simulations may fail", test_failures);
	CU_add_test(suite, "launches that somebody waits for may be further away", test_hurry);
	CU_add_test(suite, "times that differ by chance", test_chance);
	CU_add_test(suite, "small launches that hang on few work-items are all simulated", test_few_long_warps);
	CU_add_test(suite, "launches that others' work-items stand for have the mean of those that were simulated as they were", test_borrowed);
	CU_add_test(suite, "a launch that others stand for does not stand for one that is simulated as it was", test_own_after_borrowed);
	CU_add_test(suite, "launches as large that do otherwise are simulated where some differed", test_as_large_and_rough);
	CU_add_test(suite, "launches as large, and about as large", test_same_and_near);
	CU_add_test(suite, "grids that are rounded up", test_rounded_grids);
}
