/* Counts of target blocks from counts of source blocks, for small graphs, computed by hand. */
#include "tests/tests.h"

#include "analysis/mapping/linear.h"
#include "analysis/mapping/mapping.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct gs_error error;

/* A kernel with this body, and text after the kernel. P(3) is a probe of source block 3. */
#define P(id) ".pseudoprobe 1 " #id " 0 0\n"
struct program {
	struct ptx_module *module;
	struct mapping *mapping;
	struct kernel_code *code;
	struct code_counts counts;
};

static void read_program(struct program *p, const char *body, const char *functions)
{
	struct gs_buf text = {0};
	memset(p, 0, sizeof *p);
	gs_buf_printf(&text,
	              ".version 3.2\n.target sm_20\n.address_size 64\n%s\n.visible .entry k()\n{\n"
	              ".reg .pred %%p<9>;\n.reg .b32 %%r<9>;\n%s}\n",
	              functions, body);
	CU_ASSERT_EQUAL_FATAL(ptx_read(text.data, text.len, &p->module, &error), 0);
	CU_ASSERT_EQUAL_FATAL(mapping_create(p->module, ptx_find(p->module, "k"), &p->mapping, &error), 0);
	gs_buf_free(&text);
}

static void count(struct program *p, const struct mapping_source *source, const uint64_t *counts)
{
	CU_ASSERT_EQUAL_FATAL(mapping_solve(p->mapping, source, "sm_20", &p->code, &error), 0);
	p->counts.edges = calloc(p->code->edge_count, sizeof(double));
	p->counts.blocks = calloc(p->code->block_count, sizeof(double));
	code_count(p->code, counts, &p->counts);
}

static void check_blocks(const struct program *p, const double *expected, uint32_t number)
{
	CU_ASSERT_EQUAL(p->code->block_count, number);
	for (uint32_t i = 0; i < number && i < p->code->block_count; i++) {
		CU_ASSERT_EQUAL(p->counts.blocks[i], expected[i]);
		if (p->counts.blocks[i] != expected[i])
			printf("\n    block %u: %g instead of %g ", i, p->counts.blocks[i], expected[i]);
	}
}
#define CHECK_BLOCKS(p, ...)                                                                                           \
	check_blocks(p, (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

static void finish(struct program *p)
{
	mapping_free(p->mapping);
	ptx_free(p->module);
	code_free(p->code);
	free(p->counts.edges);
	free(p->counts.blocks);
}

/* Gives each wanted trip count its counter, from `first` on. The caller frees the result. */
static struct trip_count *wanted_trips(const struct program *p, struct mapping_source *source, uint32_t first)
{
	struct trip_count *trips = NULL;
	CU_ASSERT_EQUAL_FATAL(mapping_wants(p->mapping, source, &trips, &source->trip_count, &error), 0);
	for (uint32_t i = 0; i < source->trip_count; i++)
		trips[i].counter = first + i;
	source->trips = trips;
	source->counter_count = first + source->trip_count;
	return trips;
}

static bool is_wanted(const struct mapping_source *s, uint32_t block, enum trip_kind kind, uint32_t factor,
                      uint32_t residue)
{
	for (uint32_t i = 0; i < s->trip_count; i++)
		if (s->trips[i].block == block && s->trips[i].kind == kind && s->trips[i].factor == factor &&
		    s->trips[i].residue == residue)
			return true;
	return false;
}

/* Fills the counts of blocks, then of the wanted trips, for entries with these numbers of trips. */
static void fill_trips(const struct mapping_source *s, uint64_t *counts, const unsigned *trips, size_t entries)
{
	for (uint32_t i = 0; i < s->trip_count; i++) {
		const struct trip_count *t = &s->trips[i];
		counts[t->counter] = 0;
		for (size_t e = 0; e < entries; e++)
			for (unsigned n = 1; n <= trips[e]; n++)
				counts[t->counter] += t->kind == TRIPS_EVERY ? n % t->factor == t->residue : n == t->factor;
	}
}

/* ---- flow and probes ---- */

static void the_other_arm_runs_where_the_first_does_not(void)
{
	struct program p;
	read_program(&p, P(0) "@%p1 bra A;\n" P(1) "add.u32 %r1, %r1, 1;\nbra B;\nA: add.u32 %r1, %r1, 2;\nB: ret;\n", "");
	count(&p, &(struct mapping_source){.counter_count = 2, .entry = 0}, (const uint64_t[]){10, 3});
	CHECK_BLOCKS(&p, 10, 3, 7, 10);
	CU_ASSERT_EQUAL(p.code->unknown_count, 0);
	CU_ASSERT_FALSE(p.counts.bounded || p.counts.inconsistent);
	/* 10 ret; 3 add and bra; 7 add; the branch counts only if it is taken: 7 */
	CU_ASSERT_EQUAL(p.counts.thread_instructions, 10 + 6 + 7 + 7);
	finish(&p);
}

static void the_test_of_a_loop_runs_once_more_than_its_body(void)
{
	struct program p;
	read_program(&p, P(0) "mov.u32 %r1, 0;\nH: @%p1 bra E;\n" P(1) "add.u32 %r1, %r1, 1;\nbra H;\nE: ret;\n", "");
	count(&p, &(struct mapping_source){.counter_count = 2, .entry = 0}, (const uint64_t[]){4, 20});
	CHECK_BLOCKS(&p, 4, 24, 20, 4);
	CU_ASSERT_EQUAL(p.code->loop_count, 1);
	CU_ASSERT_EQUAL(p.code->blocks[2].loop, 0);
	CU_ASSERT_EQUAL(p.code->blocks[1].join, 3);
	finish(&p);
}

/* 5 calls from the entry and 2 from the branch make 7 entries. The branch in the function has a counter: 3 of them. */
static void a_function_is_entered_as_often_as_it_is_called(void)
{
	struct program p;
	read_program(&p,
	             P(0) "{ call f, (); }\n@%p1 bra E;\n" P(1) "{ call f, (); }\nE: ret;\n",
	             ".func f()\n{\n.reg .pred %p<3>;\n.reg .b32 %r<3>;\n@%p1 bra F;\n" P(2) "add.u32 %r1, %r1, 1;\nF: ret;\n}\n");
	count(&p, &(struct mapping_source){.counter_count = 3, .entry = 0}, (const uint64_t[]){5, 2, 3});
	CHECK_BLOCKS(&p, 5, 5, 2, 5, 7, 3, 7);
	CU_ASSERT_EQUAL(p.code->function_count, 2);
	CU_ASSERT_EQUAL(p.code->blocks[0].call, 4);
	CU_ASSERT_EQUAL(p.code->blocks[2].call, 4);
	CU_ASSERT_EQUAL(p.code->blocks[5].function, 1);
	CU_ASSERT_EQUAL(p.code->instructions, 4); /* without the function's instructions */
	finish(&p);
}

/* The function is inlined in both arms, which are entered 4 and 6 times. 6 of 10 went on from there. The counters do not say
 * from which arm. The estimate takes the same share of both: 0.6 * 4 and 0.6 * 6. */
static void copies_of_a_probe_share_its_count(void)
{
	struct program p;
	read_program(&p,
	             P(0) "@%p1 bra A;\n" P(1) P(2) "@%p2 bra J;\n" P(3) "add.u32 %r1, %r1, 1;\nbra J;\n"
	             "A: " P(2) "@%p3 bra J;\n" P(3) "add.u32 %r1, %r1, 1;\nJ: ret;\n", "");
	count(&p, &(struct mapping_source){.counter_count = 4, .entry = 0}, (const uint64_t[]){10, 4, 10, 6});
	CU_ASSERT_EQUAL(p.code->unknown_count, 1);
	CU_ASSERT_FALSE(p.code->unknowns[0].least);
	CU_ASSERT_TRUE(p.counts.bounded);
	CU_ASSERT_DOUBLE_EQUAL(p.counts.blocks[2], 2.4, 1e-3);
	CU_ASSERT_DOUBLE_EQUAL(p.counts.blocks[4], 3.6, 1e-3);
	CU_ASSERT_DOUBLE_EQUAL(p.counts.blocks[1], 4, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(p.counts.blocks[3], 6, 1e-9);
	finish(&p);
}

/*
 * A goto makes the loop, so no trips are known. It is unrolled by 2, with an exit after either copy. There are 10 entries and 40
 * trips. After each trip 1/4 leave. So of x trips in the first copy, 3/4 x go to the second: x + 3/4 x = 40.
 */
static void copies_of_a_branch_are_taken_alike(void)
{
	struct program p;
	read_program(&p, P(0) "mov.u32 %r1, 0;\nL: " P(1) "@%p1 bra E;\n" P(1) "@%p2 bra E;\nbra L;\nE: " P(2) "ret;\n", "");
	count(&p, &(struct mapping_source){.counter_count = 3, .entry = 0}, (const uint64_t[]){10, 40, 10});
	CU_ASSERT_TRUE(p.counts.bounded);
	CU_ASSERT_DOUBLE_EQUAL(p.counts.blocks[1], 40 / 1.75, 0.01);
	CU_ASSERT_DOUBLE_EQUAL(p.counts.blocks[2], 30 / 1.75, 0.01);
	finish(&p);
}

/* The longer way has no probe, so it is assumed not to be taken. */
static void the_slow_path_of_a_library_is_not_taken(void)
{
	struct program p;
	read_program(&p,
	             P(0) "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra S;\nadd.u32 %r1, %r1, 1;\nbra E;\n"
	             "S: mul.lo.u32 %r1, %r1, 3;\nadd.u32 %r1, %r1, 2;\nadd.u32 %r1, %r1, 3;\nE: ret;\n", "");
	count(&p, &(struct mapping_source){.counter_count = 1, .entry = 0}, (const uint64_t[]){8});
	CHECK_BLOCKS(&p, 8, 8, 0, 8);
	CU_ASSERT_EQUAL(p.code->unknown_count, 1);
	CU_ASSERT_TRUE(p.code->unknowns[0].least);
	/* 8 times setp, add, bra, ret; the other way would be setp, bra, mul, 2 add, ret */
	CU_ASSERT_EQUAL(p.counts.thread_instructions, 32);
	CU_ASSERT_EQUAL(p.counts.low, 32);
	CU_ASSERT_EQUAL(p.counts.high, 48);
	finish(&p);
}

static void a_division_of_64_bits_is_the_slow_one(void)
{
	struct program p;
	read_program(&p,
	             ".reg .b64 %rd<9>;\n" P(0) "@%p1 bra S;\ncvt.u32.u64 %r1, %rd1;\ndiv.u32 %r2, %r1, %r1;\n"
	             "cvt.u64.u32 %rd2, %r2;\nbra E;\nS: div.u64 %rd2, %rd1, %rd1;\nE: ret;\n", "");
	count(&p, &(struct mapping_source){.counter_count = 1, .entry = 0}, (const uint64_t[]){8});
	CHECK_BLOCKS(&p, 8, 8, 0, 8);
	finish(&p);
}

/* Two source blocks are in one target block, so their counts must be the same. */
static void counts_that_contradict_are_told(void)
{
	struct program p;
	read_program(&p, P(0) "@%p1 bra E;\n" P(1) P(2) "add.u32 %r1, %r1, 1;\nE: ret;\n", "");
	count(&p, &(struct mapping_source){.counter_count = 3, .entry = 0}, (const uint64_t[]){5, 2, 3});
	CU_ASSERT_TRUE(p.counts.inconsistent);
	code_count(p.code, (const uint64_t[]){5, 3, 3}, &p.counts);
	CU_ASSERT_FALSE(p.counts.inconsistent);
	code_count(p.code, (const uint64_t[]){5, 6, 6}, &p.counts); /* 6 of 5 is a contradiction */
	CU_ASSERT_TRUE(p.counts.inconsistent);
	finish(&p);
}

/* There are two copies of a loop's test. Block 2 only computes. The second copy always computes it and selects the result, so its
 * probe was lost there. Block 1 determines everything: of 10 entries, 4 went to the second copy. */
static void a_probe_that_lost_a_copy_is_not_believed(void)
{
	static const bool solid[] = {true, true, false};
	struct program p;
	read_program(&p,
	             P(0) P(1) "@%p1 bra E;\n" P(2) "add.u32 %r1, %r1, 1;\n" P(1) "selp.b32 %r1, %r1, %r2, %p2;\nE: ret;\n", "");
	count(&p, &(struct mapping_source){.counter_count = 3, .entry = 0, .solid = solid}, (const uint64_t[]){10, 14, 7});
	CHECK_BLOCKS(&p, 10, 4, 10);
	CU_ASSERT_FALSE(p.counts.inconsistent);
	finish(&p);
}

/* A probe before a label is in a block of its own, without instructions. It is on the edge that falls through to the label. */
static void a_probe_alone_in_its_block_is_on_an_edge(void)
{
	struct program p;
	read_program(&p, P(0) "@%p1 bra E;\n" P(1) "E: ret;\n", "");
	count(&p, &(struct mapping_source){.counter_count = 2, .entry = 0}, (const uint64_t[]){9, 2});
	CHECK_BLOCKS(&p, 9, 9);
	CU_ASSERT_EQUAL_FATAL(p.code->edge_count, 3);
	CU_ASSERT_EQUAL(p.counts.edges[0], 7);
	CU_ASSERT_EQUAL(p.counts.edges[1], 2);
	finish(&p);
}

/* ---- trips ---- */

static const struct source_loop one_loop = {.parent = 0, .body = 1, .next = UINT32_MAX, .has_trips = true};

/* Entries with 0, 3 and 4 trips: two of them pass the guard. */
static void a_guarded_loop_is_entered_by_those_that_go_round(void)
{
	struct program p;
	struct mapping_source s = {.counter_count = 2, .entry = 0, .loops = &one_loop, .loop_count = 1};
	uint64_t counts[16] = {3, 7};
	read_program(&p, P(0) "@%p1 bra E;\nmov.u32 %r1, 0;\nB: " P(1) "add.u32 %r1, %r1, 1;\n@%p2 bra B;\nE: ret;\n", "");
	struct trip_count *trips = wanted_trips(&p, &s, 2);
	CU_ASSERT_EQUAL(s.trip_count, 1);
	CU_ASSERT_TRUE(is_wanted(&s, 1, TRIPS_REACHED, 1, 0));
	fill_trips(&s, counts, (const unsigned[]){0, 3, 4}, 3);
	CU_ASSERT_EQUAL(counts[2], 2);
	count(&p, &s, counts);
	CHECK_BLOCKS(&p, 3, 2, 7, 3);
	CU_ASSERT_EQUAL(p.code->unknown_count, 0);
	free(trips);
	finish(&p);
}

/* No trip counts are wanted if flow determines everything. */
static void a_loop_that_tests_first_needs_no_trips(void)
{
	struct program p;
	struct mapping_source s = {.counter_count = 2, .entry = 0, .loops = &one_loop, .loop_count = 1};
	read_program(&p, P(0) "H: @%p1 bra E;\n" P(1) "add.u32 %r1, %r1, 1;\nbra H;\nE: ret;\n", "");
	free(wanted_trips(&p, &s, 2));
	CU_ASSERT_EQUAL(s.trip_count, 0);
	finish(&p);
}

#define ADD "add.u32 %r1, %r1, 1;\n"
#define UNROLLED_BY_4 \
	P(0) "@%p1 bra E;\nand.b32 %r2, %r3, 3;\n@%p2 bra R;\nM: " P(1) ADD P(1) ADD P(1) ADD P(1) ADD "@%p3 bra M;\n" \
	"R: @%p4 bra E;\nL: " P(1) ADD "@%p5 bra L;\nE: ret;\n"

/*
 * Trips 0, 5 and 11, 16 in all. The main loop goes round 0 + 1 + 2 = 3 times, for two entries. Both leave a remainder, together
 * 16 - 4 * 3 = 4 trips. Blocks: test; test of the main loop; main; test of the remainder; remainder; end.
 */
static void an_unrolled_loop_divides_its_trips(void)
{
	struct program p;
	struct mapping_source s = {.counter_count = 2, .entry = 0, .loops = &one_loop, .loop_count = 1};
	uint64_t counts[16] = {3, 16};
	read_program(&p, UNROLLED_BY_4, "");
	struct trip_count *trips = wanted_trips(&p, &s, 2);
	CU_ASSERT_EQUAL(s.trip_count, 4);
	CU_ASSERT_TRUE(is_wanted(&s, 1, TRIPS_EVERY, 4, 0) && is_wanted(&s, 1, TRIPS_EVERY, 4, 1));
	CU_ASSERT_TRUE(is_wanted(&s, 1, TRIPS_REACHED, 4, 0) && is_wanted(&s, 1, TRIPS_REACHED, 1, 0));
	fill_trips(&s, counts, (const unsigned[]){0, 5, 11}, 3);
	count(&p, &s, counts);
	CHECK_BLOCKS(&p, 3, 2, 3, 2, 4, 3);
	CU_ASSERT_EQUAL(p.code->unknown_count, 0);
	/* Trips 3 and 8: 11 in all. The main loop runs twice, for one entry. The remainder runs 3 times, for the other entry. */
	counts[0] = 2;
	counts[1] = 11;
	fill_trips(&s, counts, (const unsigned[]){3, 8}, 2);
	code_count(p.code, counts, &p.counts);
	CHECK_BLOCKS(&p, 2, 2, 2, 2, 3, 2);
	free(trips);
	finish(&p);
}

/* The same without counts of trips: the counts are open, but bounded. */
static void what_is_not_counted_is_bounded(void)
{
	struct program p;
	struct mapping_source s = {.counter_count = 2, .entry = 0, .loops = &one_loop, .loop_count = 1};
	read_program(&p, UNROLLED_BY_4, "");
	count(&p, &s, (const uint64_t[]){3, 16});
	CU_ASSERT_TRUE(p.code->unknown_count > 0);
	CU_ASSERT_TRUE(p.counts.bounded && !p.counts.inconsistent);
	/* All 16 trips in the main loop: 4 * (4 add + bra). All in the remainder: 16 * (add + bra). Each is less the branches that
	 * fall through. */
	CU_ASSERT_TRUE(p.counts.low <= 16 + 3 && p.counts.high >= 16 * 2);
	CU_ASSERT_EQUAL(4 * p.counts.blocks[2] + p.counts.blocks[4], 16);
	finish(&p);
}

/* Trips 0, 5 and 11 again, with the remainder before the main loop. */
static void a_remainder_may_come_first(void)
{
	struct program p;
	struct mapping_source s = {.counter_count = 2, .entry = 0, .loops = &one_loop, .loop_count = 1};
	uint64_t counts[16] = {3, 16};
	read_program(&p,
	             P(0) "@%p1 bra E;\nand.b32 %r2, %r3, 3;\n@%p2 bra T;\nL: " P(1) ADD "@%p5 bra L;\nT: @%p4 bra E;\n"
	             "M: " P(1) ADD P(1) ADD P(1) ADD P(1) ADD "@%p3 bra M;\nE: ret;\n", "");
	struct trip_count *trips = wanted_trips(&p, &s, 2);
	fill_trips(&s, counts, (const unsigned[]){0, 5, 11}, 3);
	count(&p, &s, counts);
	CHECK_BLOCKS(&p, 3, 2, 4, 2, 3, 3);
	CU_ASSERT_EQUAL(p.code->unknown_count, 0);
	free(trips);
	finish(&p);
}

/* Unrolled by 2 with one trip peeled. Trips 0, 1, 4, 6. After the first trip, 3 and 5 are left: the main loop 1 + 2, the rest 1
 * + 1. */
static void a_peeled_trip_is_not_in_the_rounds(void)
{
	struct program p;
	struct mapping_source s = {.counter_count = 2, .entry = 0, .loops = &one_loop, .loop_count = 1};
	uint64_t counts[16] = {4, 11};
	read_program(&p,
	             P(0) "@%p1 bra E;\n" P(1) ADD "@%p2 bra E;\nand.b32 %r2, %r3, 1;\n@%p3 bra R;\n"
	             "M: " P(1) ADD P(1) ADD "@%p4 bra M;\nR: @%p5 bra E;\n" P(1) ADD "E: ret;\n", "");
	struct trip_count *trips = wanted_trips(&p, &s, 2);
	fill_trips(&s, counts, (const unsigned[]){0, 1, 4, 6}, 4);
	count(&p, &s, counts);
	CHECK_BLOCKS(&p, 4, 3, 2, 3, 2, 2, 4);
	CU_ASSERT_EQUAL(p.code->unknown_count, 0);
	free(trips);
	finish(&p);
}

/* Three copies with an exit after each. Entries with 1, 2, 2 and 3 trips: the copies run 4, 3 and 1 times. */
static void copies_in_a_row_are_reached_by_those_that_come_so_far(void)
{
	struct program p;
	struct mapping_source s = {.counter_count = 2, .entry = 0, .loops = &one_loop, .loop_count = 1};
	uint64_t counts[16] = {4, 8};
	read_program(&p, P(0) P(1) ADD "@%p1 bra E;\n" P(1) ADD "@%p2 bra E;\n" P(1) ADD "E: ret;\n", "");
	struct trip_count *trips = wanted_trips(&p, &s, 2);
	CU_ASSERT_EQUAL(s.trip_count, 1); /* the third follows from the sum */
	fill_trips(&s, counts, (const unsigned[]){1, 2, 2, 3}, 4);
	count(&p, &s, counts);
	CHECK_BLOCKS(&p, 4, 3, 1, 4);
	free(trips);
	finish(&p);
}

/* Unrolled by 2 with an exit in the middle, trips 1, 4 and 5. The first copy has trips 1, 3, 5: 1 + 2 + 3. The second has 0 + 2
 * + 2. */
static void copies_with_exits_take_turns(void)
{
	struct program p;
	struct mapping_source s = {.counter_count = 2, .entry = 0, .loops = &one_loop, .loop_count = 1};
	uint64_t counts[16] = {3, 10};
	read_program(&p, P(0) "mov.u32 %r1, 0;\nM: " P(1) ADD "@%p1 bra E;\n" P(1) ADD "@%p2 bra M;\nE: ret;\n", "");
	struct trip_count *trips = wanted_trips(&p, &s, 2);
	fill_trips(&s, counts, (const unsigned[]){1, 4, 5}, 3);
	count(&p, &s, counts);
	CHECK_BLOCKS(&p, 3, 6, 4, 3);
	CU_ASSERT_EQUAL(p.code->unknown_count, 0);
	free(trips);
	finish(&p);
}

/*
 * `if (invariant)` in a loop made two loops of it. Block 2 is only in the first one. Entries with 2 and 3 trips go there.
 * Entries with 0, 4 and 1 trips go to the second. So 2 entries pass each guard, and each loop has 5 trips.
 */
static void unswitched_loops_are_told_apart_by_a_block_of_one(void)
{
	static const int32_t loop_of[] = {-1, 0, 0};
	struct program p;
	struct mapping_source s = {.counter_count = 3, .entry = 0, .loops = &one_loop, .loop_count = 1, .loop_of = loop_of};
	uint64_t counts[16] = {5, 10, 5};
	read_program(&p,
	             P(0) "@%p1 bra E;\n@%p2 bra Y;\nmov.u32 %r1, 0;\nX: " P(1) ADD P(2) ADD "@%p3 bra X;\nbra E;\n"
	             "Y: mov.u32 %r1, 1;\nZ: " P(1) ADD "@%p4 bra Z;\nE: ret;\n", "");
	struct trip_count *trips = wanted_trips(&p, &s, 3);
	CU_ASSERT_EQUAL(s.trip_count, 2);
	CU_ASSERT_TRUE(is_wanted(&s, 1, TRIPS_REACHED, 1, 0) && is_wanted(&s, 2, TRIPS_REACHED, 1, 0));
	for (uint32_t i = 0; i < s.trip_count; i++)
		counts[trips[i].counter] = trips[i].block == 1 ? 4 : 2;
	count(&p, &s, counts);
	CHECK_BLOCKS(&p, 5, 4, 2, 5, 2, 2, 5, 5);
	CU_ASSERT_EQUAL(p.code->unknown_count, 0);
	free(trips);
	finish(&p);
}

/* One copy is unrolled by 2, another is not. Sums over both would be wrong, so no trip counts are wanted. */
static void loops_that_are_unrolled_differently_stay_open(void)
{
	struct program p;
	struct mapping_source s = {.counter_count = 2, .entry = 0, .loops = &one_loop, .loop_count = 1};
	read_program(&p,
	             P(0) "@%p1 bra Y;\nX: " P(1) ADD P(1) ADD "@%p2 bra X;\nbra E;\nY: " P(1) ADD "@%p3 bra Y;\nE: ret;\n", "");
	free(wanted_trips(&p, &s, 2));
	CU_ASSERT_FALSE(is_wanted(&s, 1, TRIPS_EVERY, 2, 0) || is_wanted(&s, 1, TRIPS_REACHED, 2, 0));
	finish(&p);
}

/* ---- large kernels ---- */

/* 1,000 times a branch, a rotated loop and their join: 5,001 blocks. The blocks of number i are source blocks 2 i + 1 and 2 i +
 * 2. There are 8 entries. The branch is taken in 3 of them. The loop goes round 5 times for each. */
static void large_kernels_are_solved(void)
{
	enum { PARTS = 1000 };
	struct gs_buf body = {0};
	struct program p;
	struct mapping_source s = {.counter_count = 1 + 2 * PARTS, .entry = 0};
	uint64_t *counts = calloc(s.counter_count, sizeof *counts);
	CU_ASSERT_PTR_NOT_NULL_FATAL(counts);
	gs_buf_puts(&body, P(0));
	counts[0] = 8;
	for (int i = 0; i < PARTS; i++) {
		gs_buf_printf(&body,
		              "@%%p1 bra A%d;\n.pseudoprobe 1 %d 0 0\nadd.u32 %%r1, %%r1, 1;\nA%d: mov.u32 %%r2, 0;\nH%d: "
		              "@%%p2 bra E%d;\n.pseudoprobe 1 %d 0 0\nadd.u32 %%r1, %%r1, 1;\nbra H%d;\nE%d:\n",
		              i, 2 * i + 1, i, i, i, 2 * i + 2, i, i);
		counts[2 * i + 1] = 5;
		counts[2 * i + 2] = 40;
	}
	gs_buf_puts(&body, "ret;\n");
	read_program(&p, body.data, "");
	count(&p, &s, counts);
	CU_ASSERT_EQUAL(p.code->block_count, 5 * PARTS + 1);
	CU_ASSERT_EQUAL(p.code->unknown_count, 0);
	CU_ASSERT_EQUAL(p.counts.blocks[5 * PARTS - 4], 5);
	CU_ASSERT_EQUAL(p.counts.blocks[5 * PARTS - 2], 48);
	CU_ASSERT_FALSE(p.counts.inconsistent);
	gs_buf_free(&body);
	free(counts);
	finish(&p);
}

/* ---- equations ---- */

static int64_t value_of(const struct linear_sum *s, const int64_t *values)
{
	int64_t sum = 0;
	for (uint32_t i = 0; i < s->count; i++)
		sum += s->terms[i].factor * values[s->terms[i].of];
	CU_ASSERT_EQUAL(sum % s->denominator, 0);
	return sum / s->denominator;
}

/* 2 x + y = a, x - y = b, x + 2 y = c: with a = 7 and b = 2, x = 3 and y = 1, and c must be a - b = 5. */
static void sums_are_exact(void)
{
	enum { X, Y, A, B, C };
	struct linear *l;
	const struct linear_sum *checks;
	CU_ASSERT_EQUAL_FATAL(linear_create(2, NULL, &l, &error), 0);
	linear_add(l, (const struct linear_term[]){{X, 2}, {Y, 1}, {A, -1}}, 3, &error);
	linear_add(l, (const struct linear_term[]){{X, 1}, {Y, -1}, {B, -1}}, 3, &error);
	linear_add(l, (const struct linear_term[]){{X, 1}, {Y, 2}, {C, -1}}, 3, &error);
	CU_ASSERT_EQUAL(linear_solve(l, &error), 0);
	CU_ASSERT_EQUAL(value_of(linear_value(l, X), (const int64_t[]){0, 0, 7, 2, 5}), 3);
	CU_ASSERT_EQUAL(value_of(linear_value(l, Y), (const int64_t[]){0, 0, 7, 2, 5}), 1);
	CU_ASSERT_EQUAL_FATAL(linear_checks(l, &checks), 1);
	struct linear_sum check = {checks->terms, checks->count, 1};
	CU_ASSERT_EQUAL(value_of(&check, (const int64_t[]){0, 0, 7, 2, 5}), 0);
	CU_ASSERT_NOT_EQUAL(value_of(&check, (const int64_t[]){0, 0, 7, 2, 6}), 0);
	linear_free(l);
}

/*
 * Put x = (s - p y) / q into u x + v y, with p, q near 10^9 and u, v near 10^18. The factor of y is then near 10^27. It does not
 * fit, so the second equation is left out. The first still holds.
 */
static void equations_with_numbers_too_large_are_left_out(void)
{
	enum { X, Y, Z, S };
	const int64_t p = 1000000007, q = 1000000009;
	struct linear *l;
	CU_ASSERT_EQUAL_FATAL(linear_create(3, NULL, &l, &error), 0);
	linear_add(l, (const struct linear_term[]){{X, q}, {Y, p}, {S, -1}}, 3, &error);
	linear_solve(l, &error);
	linear_add(l, (const struct linear_term[]){{X, p * 900000000}, {Y, q * 800000000}, {Z, 1}}, 3, &error);
	linear_solve(l, &error);
	CU_ASSERT_EQUAL(linear_dropped(l), 1);
	CU_ASSERT_EQUAL(linear_is_free(l, X) + linear_is_free(l, Y), 1);
	CU_ASSERT_TRUE(linear_is_free(l, Z));
	linear_free(l);
}

/* x + y = a: the unknown of higher rank stays free, in any order of the terms. */
static void unknowns_of_high_rank_stay_free(void)
{
	for (int i = 0; i < 2; i++) {
		const uint8_t rank[] = {i ? 2 : 1, i ? 1 : 2};
		struct linear *l;
		CU_ASSERT_EQUAL_FATAL(linear_create(2, rank, &l, &error), 0);
		linear_add(l, (const struct linear_term[]){{0, 1}, {1, 1}, {2, -1}}, 3, &error);
		linear_solve(l, &error);
		CU_ASSERT_TRUE(linear_is_free(l, i ? 0 : 1));
		CU_ASSERT_FALSE(linear_is_free(l, i ? 1 : 0));
		linear_free(l);
	}
}

void add_mapping_tests(void)
{
	CU_pSuite suite = CU_add_suite("mapping", NULL, NULL);
#define TEST(name) CU_add_test(suite, #name, name)
	TEST(the_other_arm_runs_where_the_first_does_not);
	TEST(the_test_of_a_loop_runs_once_more_than_its_body);
	TEST(a_function_is_entered_as_often_as_it_is_called);
	TEST(copies_of_a_probe_share_its_count);
	TEST(copies_of_a_branch_are_taken_alike);
	TEST(the_slow_path_of_a_library_is_not_taken);
	TEST(a_division_of_64_bits_is_the_slow_one);
	TEST(counts_that_contradict_are_told);
	TEST(a_probe_that_lost_a_copy_is_not_believed);
	TEST(a_probe_alone_in_its_block_is_on_an_edge);
	TEST(a_guarded_loop_is_entered_by_those_that_go_round);
	TEST(a_loop_that_tests_first_needs_no_trips);
	TEST(an_unrolled_loop_divides_its_trips);
	TEST(what_is_not_counted_is_bounded);
	TEST(a_remainder_may_come_first);
	TEST(a_peeled_trip_is_not_in_the_rounds);
	TEST(copies_in_a_row_are_reached_by_those_that_come_so_far);
	TEST(copies_with_exits_take_turns);
	TEST(unswitched_loops_are_told_apart_by_a_block_of_one);
	TEST(loops_that_are_unrolled_differently_stay_open);
	TEST(large_kernels_are_solved);
	TEST(sums_are_exact);
	TEST(equations_with_numbers_too_large_are_left_out);
	TEST(unknowns_of_high_rank_stay_free);
#undef TEST
}
