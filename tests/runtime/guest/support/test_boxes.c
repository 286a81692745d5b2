/* The sample of a launch, and the boxes that it is launched in. */
#include "tests/tests.h"

#include "runtime/base/base.h"
#include "runtime/guest/support/boxes.h"

#include <string.h>

static bool contains(const struct box *b, const uint64_t at[3])
{
	for (int d = 0; d < 3; d++)
		if (at[d] < b->first[d] || at[d] >= b->first[d] + b->count[d])
			return false;
	return true;
}

static bool disjoint(const struct box *a, const struct box *b)
{
	for (int d = 0; d < 3; d++)
		if (a->first[d] + a->count[d] <= b->first[d] || b->first[d] + b->count[d] <= a->first[d])
			return true;
	return false;
}

/* Whether the boxes hold every group once. They do if they are inside the grid, do not overlap, and hold as many groups as the
 * grid. */
static bool cover(const struct boxes *b, const uint64_t groups[3])
{
	uint64_t sum = 0;
	for (size_t i = 0; i < b->count; i++) {
		sum += box_groups(&b->list[i]);
		for (int d = 0; d < 3; d++)
			if (!b->list[i].count[d] || b->list[i].first[d] + b->list[i].count[d] > groups[d])
				return false;
		for (size_t j = 0; j < i; j++)
			if (!disjoint(&b->list[i], &b->list[j]))
				return false;
	}
	return sum == groups[0] * groups[1] * groups[2];
}

/* The quarters of the groups, by linear id, that contain traced groups, as bits. */
static unsigned quarters(const struct boxes *b, const uint64_t groups[3])
{
	unsigned found = 0;
	uint64_t all = groups[0] * groups[1] * groups[2];
	for (size_t i = 0; i < b->count; i++) {
		const struct box *x = &b->list[i];
		uint64_t begin = (x->first[2] * groups[1] + x->first[1]) * groups[0] + x->first[0];
		uint64_t last = ((x->first[2] + x->count[2] - 1) * groups[1] + x->first[1] + x->count[1] - 1) * groups[0] +
		                x->first[0] + x->count[0] - 1;
		if (x->traced)
			found |= 1u << begin * 4 / all | 1u << last * 4 / all;
	}
	return found;
}

static bool sound(const struct boxes *b, const uint64_t groups[3], uint64_t most)
{
	const uint64_t first[3] = {0, 0, 0}, last[3] = {groups[0] - 1, groups[1] - 1, groups[2] - 1};
	uint64_t traced = 0;
	for (size_t i = 0; i < b->count; i++)
		traced += b->list[i].traced ? box_groups(&b->list[i]) : 0;
	if (!cover(b, groups) || traced != b->traced_groups || !traced || traced > most)
		return false;
	if (!contains(&b->list[0], first) || !b->list[0].traced || !contains(&b->list[b->count - 1], last))
		return false;
	return most == 1 || b->list[b->count - 1].traced;
}

static void every_group_is_in_one_box(void)
{
	static const uint64_t sizes[] = {1, 2, 3, 7, 16, 64, 100, 1023, 65536};
	uint32_t random = 1;
	size_t failures = 0, most_boxes = 0;
	for (int i = 0; i < 20000; i++) {
		uint64_t groups[3];
		for (int d = 0; d < 3; d++)
			groups[d] = sizes[next_random(&random) % GS_ARRAY_LEN(sizes)] + next_random(&random) % 3;
		uint64_t all = groups[0] * groups[1] * groups[2], most = 1 + next_random(&random) % 200;
		struct boxes b;
		boxes_choose(groups, most, random, NULL, &b);
		failures += !sound(&b, groups, most > all ? all : most);
		failures += most < all && most >= 8 && all >= 64 && quarters(&b, groups) != 15;
		most_boxes = b.count > most_boxes ? b.count : most_boxes;
	}
	CU_ASSERT_EQUAL(failures, 0);
	CU_ASSERT(most_boxes <= 49);
}

/* Four work-groups of 4096 could be traced whole, but not five. So there is one run in each quarter, and the longest run is
 * first. */
static void a_row_of_groups_is_cut_into_runs(void)
{
	struct boxes b;
	boxes_choose((const uint64_t[3]){64, 1, 1}, 64, 1, NULL, &b);
	CU_ASSERT_EQUAL(b.count, 1);
	CU_ASSERT(b.list[0].traced && b.list[0].count[0] == 64);
	boxes_choose((const uint64_t[3]){1024, 1, 1}, 10, 1, NULL, &b);
	/* 10 / (4 + 1) = 2 each; the first run has the 4 that are left; three gaps */
	CU_ASSERT_EQUAL_FATAL(b.count, 7);
	CU_ASSERT_EQUAL(b.traced_groups, 10);
	CU_ASSERT(b.list[0].first[0] == 0 && b.list[0].count[0] == 4 && b.list[0].traced);
	CU_ASSERT(b.list[6].first[0] == 1022 && b.list[6].count[0] == 2 && b.list[6].traced);
	for (size_t i = 0; i < b.count; i++)
		CU_ASSERT(b.list[i].traced == !(i % 2));
	boxes_choose((const uint64_t[3]){1024, 1, 1}, 64, 1, NULL, &b);
	CU_ASSERT_EQUAL(b.count, 15); /* eight runs */
	CU_ASSERT_EQUAL(b.traced_groups, 64);
}

/* 16 of 64 x 48 groups: eight runs of two, each in an eighth of the rows, six of them between the first and the last. */
static void a_plane_of_groups_has_runs_of_the_same_length(void)
{
	struct boxes b;
	uint64_t runs = 0;
	boxes_choose((const uint64_t[3]){64, 48, 1}, 16, 1, NULL, &b);
	CU_ASSERT_EQUAL(b.traced_groups, 16);
	for (size_t i = 0; i < b.count; i++) {
		if (!b.list[i].traced)
			continue;
		CU_ASSERT_EQUAL(b.list[i].count[0], 2);
		CU_ASSERT_EQUAL(b.list[i].first[1] / 6, runs);
		runs++;
	}
	CU_ASSERT_EQUAL(runs, 8);
}

/* Rows of 8 fit into a run of 64 / 5 = 12. So 8 whole rows are taken, and no box has a part of a row. */
static void short_rows_are_taken_whole(void)
{
	struct boxes b;
	boxes_choose((const uint64_t[3]){8, 500, 1}, 64, 7, NULL, &b);
	CU_ASSERT_EQUAL(b.count, 7);
	CU_ASSERT_EQUAL(b.traced_groups, 64);
	for (size_t i = 0; i < b.count; i++)
		CU_ASSERT(b.list[i].first[0] == 0 && b.list[i].count[0] == 8);
}

static void one_seed_gives_one_sample(void)
{
	struct boxes a, b, c;
	boxes_choose((const uint64_t[3]){300, 200, 3}, 64, 7, NULL, &a);
	boxes_choose((const uint64_t[3]){300, 200, 3}, 64, 7, NULL, &b);
	boxes_choose((const uint64_t[3]){300, 200, 3}, 64, 8, NULL, &c);
	CU_ASSERT_EQUAL(memcmp(a.list, b.list, a.count * sizeof *a.list), 0);
	CU_ASSERT(a.count != c.count || memcmp(a.list, c.list, a.count * sizeof *a.list));
}

static bool traces(const struct boxes *b, const uint64_t at[3])
{
	for (size_t i = 0; i < b->count; i++)
		if (contains(&b->list[i], at))
			return b->list[i].traced;
	return false;
}

/* Of 1024 groups, 64 are traced, in eight runs. Six of them can move. */
static void needed_groups_are_in_the_sample(void)
{
	static const struct needed_groups six = {{700, 701, 130, 5, 1000, 512}, 6};
	const uint64_t groups[3] = {1024, 1, 1};
	struct boxes b;
	boxes_choose(groups, 64, 1, &six, &b);
	CU_ASSERT(sound(&b, groups, 64));
	for (uint32_t i = 0; i < six.count; i++)
		CU_ASSERT(traces(&b, (const uint64_t[3]){six.ids[i], 0, 0}));
	/* A needed group outside of the grid has no effect. */
	struct boxes usual;
	boxes_choose(groups, 64, 1, NULL, &usual);
	boxes_choose(groups, 64, 1, &(struct needed_groups){{1024}, 1}, &b);
	CU_ASSERT_EQUAL(memcmp(&usual, &b, sizeof b), 0);
}

static void grids_with_needed_groups_stay_whole(void)
{
	static const uint64_t sizes[] = {1, 2, 3, 7, 16, 64, 100, 1023, 65536};
	uint32_t random = 7;
	size_t failures = 0, most_boxes = 0;
	for (int i = 0; i < 20000; i++) {
		struct needed_groups needed = {.count = 1 + next_random(&random) % MOST_NEEDED};
		uint64_t groups[3];
		for (int d = 0; d < 3; d++)
			groups[d] = sizes[next_random(&random) % GS_ARRAY_LEN(sizes)] + next_random(&random) % 3;
		uint64_t all = groups[0] * groups[1] * groups[2], most = 8 + next_random(&random) % 200, n = 0;
		for (uint32_t j = 0; j < needed.count; j++)
			needed.ids[j] = next_random(&random) * UINT64_C(65536) % all;
		struct boxes b;
		boxes_choose(groups, most, random, &needed, &b);
		n = needed.ids[0];
		failures += !sound(&b, groups, most > all ? all : most);
		failures += !traces(&b, (const uint64_t[3]){n % groups[0], n / groups[0] % groups[1], n / groups[0] / groups[1]});
		most_boxes = b.count > most_boxes ? b.count : most_boxes;
	}
	CU_ASSERT_EQUAL(failures, 0);
	CU_ASSERT(most_boxes <= 49);
}

void add_boxes_tests(void)
{
	CU_pSuite s = CU_add_suite("boxes", NULL, NULL);
	CU_add_test(s, "every group is in one box, whatever the shape", every_group_is_in_one_box);
	CU_add_test(s, "a row of groups is cut into runs", a_row_of_groups_is_cut_into_runs);
	CU_add_test(s, "a plane of groups has runs of the same length", a_plane_of_groups_has_runs_of_the_same_length);
	CU_add_test(s, "short rows are taken whole", short_rows_are_taken_whole);
	CU_add_test(s, "one seed gives one sample", one_seed_gives_one_sample);
	CU_add_test(s, "groups that were needed are in the sample", needed_groups_are_in_the_sample);
	CU_add_test(s, "grids with needed groups stay whole, whatever the shape", grids_with_needed_groups_stay_whole);
}
