/* Warps from traces, computed by hand: divergence, addresses, shifts from group to group. */
#include "tests/tests.h"

#include "tests/models/code_builder.h"
#include "models/accesses/image.h"
#include "models/made_warps.h"
#include "models/trace/internal.h"
#include "models/trace/warps.h"
#include "tests/analysis/traced_code.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_EVENTS = 64, MOST_GROUPS = 8, LANES = 32 };

static struct traced_code traced;
static struct trace_warps made;
static struct trace_event events[MOST_GROUPS][LANES][MOST_EVENTS];
static struct lane_trace lane_traces[MOST_GROUPS][LANES];
static struct traced_group groups[MOST_GROUPS];
static struct launch_trace trace;

/* ---- traces ---- */

static const struct source_site sites[] = {
	{{.block = 1, .line = 5, .column = 8, .kind = TRACE_load, .space = SPACE_global, .bytes = 4}, "k.cl"},
	{{.block = 1, .line = 6, .column = 8, .kind = TRACE_store, .space = SPACE_shared, .bytes = 4}, "k.cl"},
	{{.block = 1, .line = 7, .column = 8, .kind = TRACE_load, .space = SPACE_local, .bytes = 8}, "k.cl"},
	{{.block = 2, .line = 8, .column = 8, .kind = TRACE_load, .space = SPACE_global, .bytes = 4}, "k.cl"},
	{{.block = 1, .line = 9, .column = 8, .kind = TRACE_atomic, .space = SPACE_global, .bytes = 4}, "k.cl"},
};
static struct trace_site plain_sites[GS_ARRAY_LEN(sites)];

static void begin_trace(uint32_t group_count)
{
	for (size_t i = 0; i < GS_ARRAY_LEN(sites); i++)
		plain_sites[i] = sites[i].site;
	memset(lane_traces, 0, sizeof lane_traces);
	for (uint32_t g = 0; g < group_count; g++) {
		groups[g] = (struct traced_group){.group = g, .lane_count = LANES, .lanes = lane_traces[g]};
		for (uint32_t l = 0; l < LANES; l++)
			lane_traces[g][l].events = events[g][l];
	}
	trace = (struct launch_trace){.sites = plain_sites, .site_count = GS_ARRAY_LEN(sites), .groups = groups,
	                              .group_count = group_count};
}

static void add_event(uint32_t group, uint32_t lane, struct trace_event e)
{
	events[group][lane][lane_traces[group][lane].count++] = e;
}

/* Source blocks as digits. */
static void add_blocks(uint32_t group, uint32_t lane, const char *blocks)
{
	for (; *blocks; blocks++)
		add_event(group, lane, (struct trace_event){.what = (uint32_t)(*blocks - '0')});
}

static void add_access(uint32_t group, uint32_t lane, uint32_t site, uint64_t address)
{
	add_event(group, lane, (struct trace_event){.what = TRACE_ACCESS + site, .bytes = 4, .address = address});
}

static void make_code(const char *body)
{
	traced_code_make(&traced, "", body,
	                 &(struct mapping_source){.counter_count = 8, .entry = 0, .sites = sites, .site_count = GS_ARRAY_LEN(sites)});
}

static int make_counted_warps(const char *gpu_name, uint64_t group_count, bool requests, const struct lane_counts *lanes)
{
	struct gpu gpu = test_gpu(gpu_name, NULL);
	struct trace_shape shape = {.groups = {group_count, 1, 1}, .local = {LANES, 1, 1}, .requests = requests};
	return trace_warps(&gpu, traced.code, &trace, &shape, lanes, NULL, &made, NULL);
}

static int make_warps(const char *gpu_name, uint64_t group_count, bool requests)
{
	return make_counted_warps(gpu_name, group_count, requests, NULL);
}

static void check_path(uint32_t group, const char *expected)
{
	const struct warp_path *p = &made.warps.paths[made.warps.path_of[group]];
	char text[64] = "";
	for (size_t i = 0; i < p->block_count && i < sizeof text - 1; i++)
		text[i] = (char)('0' + p->blocks[i]);
	CU_ASSERT_STRING_EQUAL(text, expected);
}

static void finish(void)
{
	trace_warps_free(&made);
	traced_code_free(&traced);
}

/* ---- divergence ---- */

/* Source: if (a) { [1] if (b) [2]; } [3]. Blocks: 0, 1 (outer), 2 (inner), 3 the join of both. Lanes 0..15 enter the outer
 * branch, 0..7 the inner one. Each block runs once. Lanes: 32 + 16 + 8 + 32. */
static void nested_branches_join_one_after_the_other(void)
{
	make_code(P(0) LOC(8, 3) "@%p1 bra OUT;\n" P(1) "@%p2 bra INNER;\n" P(2) "add.u32 %r1, %r1, 1;\n"
	          "INNER:\nadd.u32 %r1, %r1, 2;\n" "OUT:\n" P(3) "ret;\n");
	begin_trace(1);
	for (uint32_t l = 0; l < LANES; l++)
		add_blocks(0, l, l < 8 ? "0123" : l < 16 ? "013" : "03");
	CU_ASSERT_EQUAL_FATAL(make_warps("gtx480", 1, false), 0);
	check_path(0, "01234");
	CU_ASSERT_EQUAL(made.statistics.lane_instructions, 32 + 16 + 8 + 16 + 32);
	CU_ASSERT_EQUAL(made.statistics.warp_instructions, 5);
	CU_ASSERT_EQUAL(made.statistics.divergent[0], 1);
	CU_ASSERT_EQUAL(made.statistics.divergent[1], 1);
	CU_ASSERT_EQUAL(made.statistics.divergent[2], 0);
	CU_ASSERT_DOUBLE_EQUAL(made.lane_efficiency, 104.0 / (5 * 32), 1e-12);
	CU_ASSERT_EQUAL(made.statistics.instructions[2].active_lanes, 8);
	struct line_divergence lines[3];
	trace_divergence(traced.code, &made.statistics, 10, lines, 3);
	CU_ASSERT_EQUAL(lines[0].line, 8);
	CU_ASSERT_EQUAL(lines[0].divergent, 20); /* two branches, times ten, because a tenth was traced */
	CU_ASSERT_EQUAL(lines[0].executions, 20);
	CU_ASSERT_EQUAL(lines[1].divergent, 0);
	finish();
}

/* Lane l goes round l % 4 + 1 times. The warp goes round four times, with 32, 24, 16 and 8 lanes. */
static void a_loop_lasts_as_long_as_its_last_lane(void)
{
	make_code(P(0) "add.u32 %r1, %r1, 1;\nLOOP:\n" P(1) "@%p1 bra LOOP;\n" P(2) "ret;\n");
	begin_trace(1);
	for (uint32_t l = 0; l < LANES; l++)
		add_blocks(0, l, (const char *[]){"012", "0112", "01112", "011112"}[l % 4]);
	CU_ASSERT_EQUAL_FATAL(make_warps("gtx480", 1, false), 0);
	check_path(0, "011112");
	CU_ASSERT_EQUAL(made.statistics.instructions[1].active_lanes, 32 + 24 + 16 + 8);
	CU_ASSERT_EQUAL(made.statistics.divergent[1], 3);
	finish();
}

/* Odd lanes return at once, the others go on. */
static void lanes_may_return_early(void)
{
	make_code(P(0) "@%p1 bra ON;\n" P(1) "ret;\nON:\n" P(2) "add.u32 %r1, %r1, 1;\nret;\n");
	begin_trace(1);
	for (uint32_t l = 0; l < LANES; l++)
		add_blocks(0, l, l % 2 ? "01" : "02");
	CU_ASSERT_EQUAL_FATAL(make_warps("gtx480", 1, false), 0);
	check_path(0, "021");
	CU_ASSERT_EQUAL(made.statistics.lane_instructions, 32 + 32 + 16);
	finish();
}

/* A switch as a row of comparisons. Lanes go by their number modulo 3. All arms run once and join. */
static void the_arms_of_a_switch_take_turns(void)
{
	make_code(P(0) "@%p1 bra ONE;\n@%p2 bra TWO;\n" P(1) "bra END;\nONE:\n" P(2) "bra END;\nTWO:\n" P(3)
	          "add.u32 %r1, %r1, 1;\nEND:\n" P(4) "ret;\n");
	begin_trace(1);
	for (uint32_t l = 0; l < LANES; l++)
		add_blocks(0, l, (const char *[]){"014", "024", "034"}[l % 3]);
	CU_ASSERT_EQUAL_FATAL(make_warps("gtx480", 1, false), 0);
	/* 0: taken to 3 first, then 1: taken to 4 (TWO), falls to 2; 5 is the join of all */
	check_path(0, "031425");
	CU_ASSERT_EQUAL(made.statistics.divergent[0] + made.statistics.divergent[1], 2);
	finish();
}

/* ---- addresses ---- */

/* A load in a loop that was unrolled twice, with two loads in its block. Lane l reads word l + 32 * trip of a buffer. Four trips
 * are four requests of a line each, one after the other. */
static void copies_take_one_access_after_the_other(void)
{
	make_code(P(0) "add.u32 %r1, %r1, 1;\nLOOP:\n" P(1) LOC(5, 8) "ld.global.f32 %f1, [%rd1];\n" P(1)
	          "ld.global.f32 %f2, [%rd1+128];\n@%p1 bra LOOP;\n" P(2) "ret;\n");
	begin_trace(1);
	for (uint32_t l = 0; l < LANES; l++) {
		add_blocks(0, l, "0");
		for (uint32_t trip = 0; trip < 4; trip++) {
			add_blocks(0, l, "1");
			add_access(0, l, 0, (1ull << 40) + (l + 32 * trip) * 4);
		}
		add_blocks(0, l, "2");
	}
	CU_ASSERT_EQUAL_FATAL(make_warps("v100", 1, true), 0);
	check_path(0, "0112");
	const struct warp_path *p = &made.warps.paths[0];
	CU_ASSERT_EQUAL_FATAL(p->access_count, 4);
	for (uint32_t i = 0; i < 4; i++) {
		CU_ASSERT_EQUAL(p->accesses[i], 1);
		CU_ASSERT_EQUAL(p->requests->first[i], i);
		CU_ASSERT_EQUAL(p->requests->parts[i].address, (1ull << 40) + i * 128);
		CU_ASSERT_EQUAL(p->requests->parts[i].sectors, 0xf);
	}
	CU_ASSERT_EQUAL(p->requests->first[4], 4);
	CU_ASSERT_EQUAL(made.statistics.unknown_addresses, 0);
	finish();
}

/* The load was moved out of the inner loop. It takes the inner loop's first access, each time that the outer loop goes round. */
static void hoisted_accesses_take_the_first(void)
{
	make_code(P(0) "add.u32 %r1, %r1, 1;\nOUTER:\n" P(2) LOC(5, 8) "ld.global.f32 %f1, [%rd1];\nINNER:\n" P(1)
	          "@%p1 bra INNER;\n@%p2 bra OUTER;\n" P(3) "ret;\n");
	begin_trace(1);
	for (uint32_t l = 0; l < LANES; l++) {
		add_blocks(0, l, "0");
		for (uint32_t outer = 0; outer < 2; outer++) {
			add_blocks(0, l, "2");
			for (uint32_t inner = 0; inner < 3; inner++) {
				add_blocks(0, l, "1");
				add_access(0, l, 0, (1ull << 40) + outer * 4096 + l * 4);
			}
		}
		add_blocks(0, l, "3");
	}
	CU_ASSERT_EQUAL_FATAL(make_warps("gtx480", 1, true), 0);
	const struct warp_path *p = &made.warps.paths[0];
	CU_ASSERT_EQUAL_FATAL(p->access_count, 2);
	CU_ASSERT_EQUAL(p->requests->parts[0].address, 1ull << 40);
	CU_ASSERT_EQUAL(p->requests->parts[1].address, (1ull << 40) + 4096);
	finish();
}

/* Four bodies became one vector load of 16 bytes. A block of eight bodies has two such loads. */
static void vectors_take_the_first_of_their_elements(void)
{
	make_code(P(0) "add.u32 %r1, %r1, 1;\n" P(1) P(1) P(1) P(1) LOC(5, 8) "ld.global.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1];\n"
	          P(1) P(1) P(1) P(1) "ld.global.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1+16];\n" P(2) "ret;\n");
	begin_trace(1);
	add_blocks(0, 0, "0");
	for (uint32_t i = 0; i < 8; i++) {
		add_blocks(0, 0, "1");
		add_access(0, 0, 0, (1ull << 40) + 4 * i);
	}
	add_blocks(0, 0, "2");
	CU_ASSERT_EQUAL_FATAL(make_warps("gtx480", 1, true), 0);
	const struct path_requests *r = made.warps.paths[0].requests;
	CU_ASSERT_EQUAL(made.warps.paths[0].access_count, 2);
	CU_ASSERT_EQUAL(r->parts[r->first[0]].sectors, 1);
	CU_ASSERT_EQUAL(r->parts[r->first[0]].bytes, 16);
	CU_ASSERT_EQUAL(r->parts[r->first[1]].sectors, 1);
	CU_ASSERT_EQUAL(r->parts[r->first[1]].bytes, 16);
	finish();
}

/* A column of a tile 32 wide is in one bank: 32 turns. Padded to 33, it has no conflict. Lanes on one word share it. */
static void tiles_conflict_unless_padded(void)
{
	static const uint32_t widths[] = {32, 33, 0}, turns[] = {32, 1, 1};
	for (size_t i = 0; i < GS_ARRAY_LEN(widths); i++) {
		make_code(P(0) P(1) LOC(6, 8) "st.shared.f32 [%rd1], %f1;\nret;\n");
		begin_trace(1);
		for (uint32_t l = 0; l < LANES; l++) {
			add_blocks(0, l, "01");
			add_access(0, l, 1, (uint64_t)l * widths[i] * 4);
		}
		CU_ASSERT_EQUAL_FATAL(make_warps("gtx480", 1, true), 0);
		CU_ASSERT_EQUAL(made.warps.paths[0].accesses[0], turns[i]);
		CU_ASSERT_EQUAL(made.warps.paths[0].requests->first[1], 0); /* no parts */
		CU_ASSERT_EQUAL(made.statistics.instructions[0].accesses, turns[i]);
		finish();
	}
}

/* Of CUDA's textures a trace has an address and no image. Four lanes are looked up in a cycle, also where all are in one line. */
static void fetches_take_units_of_textures(void)
{
	make_code(P(0) P(1) LOC(5, 8) "ld.global.f32 %f1, [%rd1];\nret;\n");
	begin_trace(1);
	for (uint32_t i = 0; i < traced.code->code_count; i++)
		if (traced.code->code[i].class == CODE_load) {
			traced.code->code[i].class = CODE_texture;
			traced.code->code[i].space = SPACE_texture;
		}
	for (uint32_t l = 0; l < LANES; l++) {
		add_blocks(0, l, "01");
		add_access(0, l, 0, 1ull << 40);
	}
	CU_ASSERT_EQUAL_FATAL(make_warps("gtx480", 1, true), 0);
	CU_ASSERT_EQUAL(made.warps.paths[0].accesses[0], LANES / 4);
	CU_ASSERT_EQUAL(made.warps.paths[0].requests->first[1], 1); /* one line */
	finish();
}

/*
 * 32 lanes read the first row of an image of 64 x 8 texels of 16 bytes, all four channels, where its own sampler says whether they read between texels. Two
 * columns of four rows are in a line. A filter reads column 32 and the second row, too, which is in the same sectors.
 */
static void textures_say_whether_they_filter(void)
{
	static const struct {
		enum image_sampler sampler;
		enum trace_site_kind kind;
		uint32_t cycles, lines;
	} cases[] = {{IMAGE_NEAREST, TRACE_image_filter, 16, 16}, {IMAGE_LINEAR, TRACE_image_filter, 32, 17}, {IMAGE_LINEAR, TRACE_image_read, 16, 16},
	             {IMAGE_SAMPLER_OF_SITE, TRACE_image_filter, 32, 17}};
	for (size_t i = 0; i < GS_ARRAY_LEN(cases); i++) {
		struct image_shape shape = {.width = 64, .height = 8, .depth = 1, .texel_bytes = 16, .sampler = cases[i].sampler};
		uint64_t bytes = image_shape_pack(&shape);
		make_code(P(0) P(1) LOC(5, 8) "ld.global.f32 %f1, [%rd1];\nret;\n");
		begin_trace(1);
		trace.argument_bytes = &bytes;
		trace.argument_count = 1;
		plain_sites[0].kind = (uint8_t)cases[i].kind;
		plain_sites[0].space = SPACE_texture;
		for (uint32_t n = 0; n < traced.code->code_count; n++)
			if (traced.code->code[n].class == CODE_load) {
				traced.code->code[n].class = CODE_texture;
				traced.code->code[n].space = SPACE_texture;
				traced.code->code[n].bytes = 16;
			}
		for (uint32_t l = 0; l < LANES; l++) {
			add_blocks(0, l, "01");
			add_access(0, l, 0, (1ull << 40) + image_place(&shape, l));
		}
		CU_ASSERT_EQUAL_FATAL(make_warps("v100", 1, true), 0);
		const struct path_requests *r = made.warps.paths[0].requests;
		CU_ASSERT_EQUAL(made.warps.paths[0].accesses[0], cases[i].cycles);
		uint64_t lines = 0;
		for (uint32_t p = 0; p < r->first[1]; p++) {
			uint64_t line = (r->parts[p].address - (1ull << 40)) / 512 * 2 + r->parts[p].address / 256 % 2; /* of the upper rows, by columns */
			CU_ASSERT_EQUAL(r->parts[p].address % 256, 0);
			CU_ASSERT_EQUAL(r->parts[p].sectors & ~3u, 0);
			lines |= 1ull << line;
		}
		CU_ASSERT_EQUAL(lines, (1ull << cases[i].lines) - 1);
		finish();
	}
}

/* The code says that all lanes add at one address, so that one lane adds for all. Where a trace has others, that cannot be what the assembler saw:
 * after a loop that lanes leave at different times, its counter only looks the same. */
static void sums_are_gathered_at_one_address_only(void)
{
	static const uint32_t apart[] = {0, 32}, parts[] = {1, LANES};
	for (size_t i = 0; i < GS_ARRAY_LEN(apart); i++) {
		make_code(P(0) "mov.u64 %rd1, 4096;\n" P(1) LOC(9, 8) "atom.global.add.u32 %r2, [%rd1], 1;\nret;\n");
		begin_trace(1);
		for (uint32_t l = 0; l < LANES; l++) {
			add_blocks(0, l, "01");
			add_access(0, l, 4, (1ull << 40) + l * apart[i]);
		}
		CU_ASSERT_EQUAL_FATAL(make_warps("h200", 1, true), 0);
		const struct path_requests *r = made.warps.paths[0].requests;
		CU_ASSERT_EQUAL_FATAL(made.warps.paths[0].access_count, 1);
		CU_ASSERT_EQUAL(r->first[1] - r->first[0], parts[i]);
		finish();
	}
}

/* 8 bytes at offset 8 of private memory: words 2 and 3 of 32 work-items, 128 bytes each. */
static void private_memory_is_interleaved(void)
{
	make_code(P(0) P(1) LOC(7, 8) "ld.local.f64 %rd1, [%rd2];\nret;\n");
	traced.code->local_bytes = 16;
	begin_trace(1);
	for (uint32_t l = 0; l < LANES; l++) {
		add_blocks(0, l, "01");
		add_access(0, l, 2, 8);
	}
	CU_ASSERT_EQUAL_FATAL(make_warps("gtx480", 1, true), 0);
	const struct path_requests *r = made.warps.paths[0].requests;
	CU_ASSERT_EQUAL(made.warps.paths[0].accesses[0], 2);
	CU_ASSERT_EQUAL(r->parts[0].bytes, 128);
	CU_ASSERT_EQUAL(r->parts[1].address - r->parts[0].address, 128);
	finish();
}

/* ---- groups ---- */

static void one_load(void)
{
	make_code(P(0) P(1) LOC(5, 8) "ld.global.f32 %f1, [%rd1];\nret;\n");
}

/* Groups 0, 3 and 9 of ten were traced. The words of each group follow those of the previous group. */
static void addresses_move_with_the_group(void)
{
	static const uint64_t ids[] = {0, 3, 9};
	one_load();
	begin_trace(3);
	for (uint32_t g = 0; g < 3; g++) {
		groups[g].group = ids[g];
		for (uint32_t l = 0; l < LANES; l++) {
			add_blocks(g, l, "01");
			add_access(g, l, 0, (1ull << 40) + (ids[g] * LANES + l) * 4);
		}
	}
	CU_ASSERT_EQUAL_FATAL(make_warps("gtx480", 10, true), 0);
	CU_ASSERT_TRUE(made.warps.shifts[0].linear);
	CU_ASSERT_EQUAL(made.warps.shifts[0].step[0], LANES * 4);
	CU_ASSERT_EQUAL(made.warps.pattern_groups, 10);
	CU_ASSERT_EQUAL(made.warps.grid[0], 10);
	CU_ASSERT_DOUBLE_EQUAL(made.warps.stand_in, 0.01, 1e-12); /* seven are moved by fixed steps */
	/* inner groups use the inner group that was traced; groups at the ends use their own trace */
	for (uint32_t g = 0; g < 10; g++)
		CU_ASSERT_EQUAL(made.warps.pattern_ids[g], g == 0 ? 0 : g == 9 ? 9 : 3);
	finish();
}

/* Groups 0, 2, 3 and 9 of ten were traced. Each begins 96 bytes after the previous one. So groups that are 4 apart begin at the
 * same offset in a line: 6 uses 2, and 7 uses 3; 4 and 8 use 0, and 1 and 5 use 9, although these are at the ends. */
static void groups_take_one_that_is_as_far_into_its_line(void)
{
	static const uint64_t ids[] = {0, 2, 3, 9}, expected[] = {0, 9, 2, 3, 0, 9, 2, 3, 0, 9};
	one_load();
	begin_trace(4);
	for (uint32_t g = 0; g < 4; g++) {
		groups[g].group = ids[g];
		for (uint32_t l = 0; l < LANES; l++) {
			add_blocks(g, l, "01");
			add_access(g, l, 0, (1ull << 40) + ids[g] * 96 + l * 4);
		}
	}
	CU_ASSERT_EQUAL_FATAL(make_warps("gtx480", 10, true), 0);
	CU_ASSERT_EQUAL(made.warps.shifts[0].step[0], 96);
	for (uint32_t g = 0; g < 10; g++)
		CU_ASSERT_EQUAL(made.warps.pattern_ids[g], expected[g]);
	finish();
}

/* The third group's address does not follow from the first two. So only the part of memory is known. */
static void other_addresses_are_somewhere(void)
{
	one_load();
	begin_trace(3);
	for (uint32_t g = 0; g < 3; g++) {
		add_blocks(g, 0, "01");
		add_access(g, 0, 0, (1ull << 40) + (g == 2 ? 4096 : g * 128));
	}
	CU_ASSERT_EQUAL_FATAL(make_warps("gtx480", 3, true), 0);
	CU_ASSERT_FALSE(made.warps.shifts[0].linear);
	CU_ASSERT_EQUAL(made.warps.shifts[0].low, 1ull << 40);
	CU_ASSERT_EQUAL(made.warps.shifts[0].bytes, 4096 + 4);
	CU_ASSERT_DOUBLE_EQUAL(made.warps.stand_in, 0, 1e-12); /* all were traced */
	trace_warps_free(&made);
	CU_ASSERT_EQUAL_FATAL(make_warps("gtx480", 4, true), 0);
	CU_ASSERT_DOUBLE_EQUAL(made.warps.stand_in, MEMORY_CHANCE, 1e-12); /* the fourth goes anywhere */
	finish();
}

/* Two loads of which neither is linear. The first touches 0 to 4096, the second 256 to 4352: more than half is the same, so both may be
 * anywhere from 0 to 4356. If the second touched 4096 to 8192 instead, each would have its own part. */
static void instructions_that_touch_the_same_share_its_part(void)
{
	static const uint64_t places[] = {0, 128, 4096};
	for (int apart = 0; apart < 2; apart++) {
		make_code(P(0) P(1) LOC(5, 8) "ld.global.f32 %f1, [%rd1];\n" P(2) LOC(8, 8) "ld.global.f32 %f2, [%rd2];\nret;\n");
		begin_trace(3);
		for (uint32_t g = 0; g < 3; g++) {
			add_blocks(g, 0, "01");
			add_access(g, 0, 0, (1ull << 40) + places[g]);
			add_blocks(g, 0, "2");
			add_access(g, 0, 3, (1ull << 40) + places[g] + (apart ? 4096 : 256));
		}
		CU_ASSERT_EQUAL_FATAL(make_warps("gtx480", 3, true), 0);
		uint32_t second = 0;
		for (uint32_t i = 1; i < traced.code->code_count; i++)
			second = made.warps.shifts[i].bytes ? i : second;
		CU_ASSERT_EQUAL(made.warps.shifts[0].bytes, apart ? 4096 + 4 : 4352 + 4);
		CU_ASSERT_EQUAL(made.warps.shifts[second].bytes, apart ? 4096 + 4 : 4352 + 4);
		CU_ASSERT_EQUAL(made.warps.shifts[second].low, (1ull << 40) + (apart ? 4096 : 0));
		finish();
	}
}

/* Without requests, warps that do the same share a path. With requests, they share its blocks. Traces that were cut are not
 * used. */
static void equal_warps_share(void)
{
	for (int requests = 0; requests < 2; requests++) {
		one_load();
		begin_trace(4);
		for (uint32_t g = 0; g < 4; g++) {
			add_blocks(g, 0, "01");
			add_access(g, 0, 0, (1ull << 40) + g * 128);
		}
		lane_traces[3][0].cut = true;
		CU_ASSERT_EQUAL_FATAL(make_warps("gtx480", 4, requests), 0);
		CU_ASSERT_EQUAL(made.traced_groups, 3);
		CU_ASSERT_EQUAL(made.warps.path_count, requests ? 3 : 1);
		CU_ASSERT_PTR_EQUAL(made.warps.paths[0].blocks, made.warps.paths[made.warps.path_count - 1].blocks);
		CU_ASSERT_EQUAL(made.warps.pattern_ids != NULL, requests);
		finish();
	}
	one_load();
	begin_trace(1);
	add_blocks(0, 0, "01");
	lane_traces[0][0].cut = true;
	CU_ASSERT_EQUAL(make_warps("gtx480", 4, true), -ENOENT);
	finish();
}

static void gather_trips(void *ctx, uint64_t group, uint32_t item, uint32_t *row)
{
	(void)item;
	row[0] = ((const uint32_t *)ctx)[group];
}

static void expand_trips(void *ctx, const uint32_t *row, uint64_t *counts)
{
	(void)ctx;
	counts[0] = counts[2] = 1;
	counts[1] = row[0];
}

/* Groups 0 and 1 are traced: a load, and a loop that they go round once. */
static void trace_loop(void)
{
	make_code(P(0) LOC(5, 8) "ld.global.f32 %f1, [%rd1];\nLOOP:\n" P(1) "@%p1 bra LOOP;\n" P(2) "ret;\n");
	begin_trace(2);
	for (uint32_t i = 0; i < 2 * LANES; i++) {
		add_blocks(i / LANES, i % LANES, "0");
		add_access(i / LANES, i % LANES, 0, (1ull << 40) + i * 4);
		add_blocks(i / LANES, i % LANES, "12");
	}
}

/* Groups 0 and 1 go round once. No traced group is like 5, 9 and 12. 9 does most, and 5 nearly as much. */
static void groups_that_nobody_stands_for_are_needed(void)
{
	uint32_t trips[16] = {1, 1, 1, 1, 1, 100, 1, 1, 1, 104, 1, 1, 20, 1, 1, 1};
	struct lane_counts lanes = {.columns = 1, .gather = gather_trips, .expand = expand_trips, .ctx = trips};
	trace_loop();
	CU_ASSERT_EQUAL_FATAL(make_counted_warps("gtx480", 16, false, &lanes), 0);
	CU_ASSERT_EQUAL(made.needed.count, 2);
	CU_ASSERT(made.needed.ids[0] == 9 && made.needed.ids[1] == 12);
	trace_warps_free(&made);
	trips[5] = trips[9] = trips[12] = 1;
	CU_ASSERT_EQUAL_FATAL(make_counted_warps("gtx480", 16, false, &lanes), 0);
	CU_ASSERT_EQUAL(made.needed.count, 0);
	finish();
}

/* What a warp takes for so many rounds of that loop, alone: instructions of blocks 0, 1 and 2, one after the other. */
static double alone(double rounds)
{
	struct gpu gpu = test_gpu("gtx480", NULL);
	double sum = 0;
	for (uint32_t i = 0; i < traced.code->code_count; i++)
		sum += gpu_instruction_cost(&gpu, &traced.code->code[i]).distance * (i == traced.code->blocks[1].first ? rounds : 1);
	return sum;
}

/* One warp of 16 goes round 104 times, and one that goes round once stands for it: the launch ends with it. Where 8 of 16 do, or where that group
 * was traced, time is what all warps take together. */
static void a_launch_ends_with_its_longest_warp(void)
{
	uint32_t trips[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 104, 1, 1, 1, 1, 1, 1};
	struct lane_counts lanes = {.columns = 1, .gather = gather_trips, .expand = expand_trips, .ctx = trips};
	trace_loop();
	CU_ASSERT_EQUAL_FATAL(make_counted_warps("gtx480", 16, false, &lanes), 0);
	CU_ASSERT_DOUBLE_EQUAL(made.represented, (15 * 3 + 106) / (16 * 3.0), 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(made.longest_represented, alone(104) / alone(1), 1e-9);
	trace_warps_free(&made);
	for (uint32_t g = 8; g < 16; g++)
		trips[g] = 104;
	CU_ASSERT_EQUAL_FATAL(make_counted_warps("gtx480", 16, false, &lanes), 0);
	CU_ASSERT_EQUAL(made.longest_represented, 0);
	trace_warps_free(&made);
	CU_ASSERT_EQUAL_FATAL(make_counted_warps("gtx480", 2, false, &lanes), 0);
	CU_ASSERT_EQUAL(made.longest_represented, 0);
	finish();
}

/* The launch takes 1000 cycles, its longest group 500: a warp that begins at once has done twice what stands for it, of five times. */
static void the_longest_warp_goes_on_alone(void)
{
	struct longest_warp w = {.times = 5, .launch = 1000, .group = 500, .alone = 400, .begins_at_once = true};
	CU_ASSERT_DOUBLE_EQUAL(longest_goes_on(&w), (5 - 2) * 400, 1e-9);
	w.begins_at_once = false;
	CU_ASSERT_DOUBLE_EQUAL(longest_goes_on(&w), (5 - 1) * 400, 1e-9);
	w.times = 1.5;
	w.begins_at_once = true;
	CU_ASSERT_EQUAL(longest_goes_on(&w), 0);
	w.group = 0;
	CU_ASSERT_DOUBLE_EQUAL(longest_goes_on(&w), 0.5 * 400, 1e-9);
}

static void gather_lane_trips(void *ctx, uint64_t group, uint32_t item, uint32_t *row)
{
	row[0] = ((uint32_t(*)[LANES])ctx)[group][item];
}

/*
 * Blocks have one instruction each. Groups 0 and 2: one lane goes round 33 times, the others once. Group 1: all 32 lanes go
 * round twice, which is the same sum. Warps execute 1 + 33 + 1 and 1 + 2 + 1 blocks. Group 3: one lane goes round 35 times. By
 * sums of lanes, group 1 would represent both groups that were not traced, because it is nearer.
 */
static void a_group_is_like_one_whose_warps_do_as_much(void)
{
	uint32_t trips[4][LANES];
	struct lane_counts lanes = {.columns = 1, .gather = gather_lane_trips, .expand = expand_trips, .ctx = trips};
	char rounds[MOST_EVENTS] = "0";
	for (uint32_t l = 0; l < LANES; l++) {
		trips[0][l] = trips[2][l] = l ? 1 : 33;
		trips[1][l] = 2;
		trips[3][l] = l ? 1 : 35;
	}
	make_code(P(0) "add.u32 %r1, %r1, 1;\nLOOP:\n" P(1) "@%p1 bra LOOP;\n" P(2) "ret;\n");
	begin_trace(2);
	memset(rounds + 1, '1', 33);
	rounds[34] = '2';
	for (uint32_t l = 0; l < LANES; l++) {
		add_blocks(0, l, l ? "012" : rounds);
		add_blocks(1, l, "0112");
	}
	CU_ASSERT_EQUAL_FATAL(make_counted_warps("gtx480", 4, true, &lanes), 0);
	for (uint32_t g = 0; g < 4; g++)
		CU_ASSERT_EQUAL(made.warps.pattern_ids[g], g == 1 ? 1 : 0);
	/* 4 + 3 * 35 blocks are simulated; group 3 takes 37. */
	CU_ASSERT_DOUBLE_EQUAL(made.represented, 111.0 / 109, 1e-12);
	/* Active lanes: 4 * 32, and 32 + (31 + 33) + 32 for each of the others. */
	CU_ASSERT_DOUBLE_EQUAL(made.lane_efficiency, (128 + 3 * 128) / (109.0 * 32), 1e-12);
	finish();
}

/* A group goes round a million times, and its traces end after three. So do paths. If one group has a whole trace, only that is used. */
static void paths_of_cut_traces_are_short(void)
{
	uint32_t trips[1] = {1000000};
	struct lane_counts lanes = {.columns = 1, .gather = gather_trips, .expand = expand_trips, .ctx = trips};
	trace_loop();
	begin_trace(1);
	for (uint32_t l = 0; l < LANES; l++) {
		add_blocks(0, l, "0111");
		lane_traces[0][l].cut = true;
	}
	CU_ASSERT_EQUAL_FATAL(make_counted_warps("gtx480", 1, false, &lanes), 0);
	CU_ASSERT_TRUE(made.cut);
	check_path(0, "0111");
	trace_warps_free(&made);
	begin_trace(2);
	for (uint32_t l = 0; l < LANES; l++) {
		add_blocks(0, l, "0111");
		lane_traces[0][l].cut = true;
		add_blocks(1, l, "01112");
	}
	CU_ASSERT_EQUAL_FATAL(make_counted_warps("gtx480", 2, false, NULL), 0);
	CU_ASSERT_FALSE(made.cut);
	check_path(0, "01112");
	finish();
}

/*
 * The trace is of another launch, in which group 0 went round 40 times and group 1 once: of its iterations, 32 are a gap after a
 * window of 4. In this launch groups 0 and 1 go round once, group 2 42 times and group 3 20 times. So 2 and 3 are like 0, and the others are
 * like 1. 3 + 3 + 44 + 22 blocks are done. The loops of groups 2 and 3 become longer and shorter, so that they do 44 / 42 and 22 / 42 of the 42
 * blocks of group 0. In steps of 1.04 that is 1.04 and 1.04^-16.
 */
static void groups_of_another_launch_did_what_its_trace_says(void)
{
	uint32_t trips[4] = {1, 1, 42, 20};
	struct lane_counts lanes = {.columns = 1, .gather = gather_trips, .expand = expand_trips, .ctx = trips};
	struct trace_gap gap = {.before = 5, .body = 1, .kept = 4, .iterations = 32};
	struct gpu gpu = test_gpu("gtx480", NULL);
	struct trace_shape shape = {.groups = {4, 1, 1}, .local = {LANES, 1, 1}, .requests = true, .other = true};
	make_code(P(0) "add.u32 %r1, %r1, 1;\nLOOP:\n" P(1) "@%p1 bra LOOP;\n" P(2) "ret;\n");
	begin_trace(2);
	for (uint32_t l = 0; l < LANES; l++) {
		add_blocks(0, l, "0111111112");
		lane_traces[0][l].gaps = &gap;
		lane_traces[0][l].gap_count = 1;
		add_blocks(1, l, "012");
	}
	CU_ASSERT_EQUAL_FATAL(trace_warps(&gpu, traced.code, &trace, &shape, &lanes, NULL, &made, NULL), 0);
	for (uint32_t g = 0; g < 4; g++)
		CU_ASSERT_EQUAL(made.warps.pattern_ids[g], g < 2 ? 1 : 0);
	CU_ASSERT_DOUBLE_EQUAL(made.represented, 72 / (6 + 42 * 1.04 + 42 * pow(1.04, -16)), 1e-6);
	finish();
}

static void gather_ways(void *ctx, uint64_t group, uint32_t item, uint32_t *row)
{
	(void)ctx;
	(void)item;
	row[0] = group % 2 == 0;
}

/* Lifted text counts the edge into the arm, which is row 5, and not block 1. */
static void expand_ways(void *ctx, const uint32_t *row, uint64_t *counts)
{
	(void)ctx;
	counts[0] = counts[2] = 1;
	counts[5] = row[0];
}

static bool none_counted(void *ctx, uint64_t group)
{
	(void)ctx;
	(void)group;
	return false;
}

/*
 * Even groups go through the arm at block 1, odd ones leave it out. Groups 0 and 1 are traced, and have no counters of their own. What is counted is
 * the edge into the arm, and no event says that. So blocks are taken from events: group 2 is like 0, though 1 is nearer, and 3 is like 1. They do
 * 5 and 2 instructions, as often as not with a branch that falls through: nothing is missing.
 */
static void events_say_blocks_of_lifted_code(void)
{
	struct lane_counts lanes = {.columns = 1, .gather = gather_ways, .expand = expand_ways, .counted = none_counted};
	make_code(P(0) "@%p1 bra OUT;\n" P(1) "add.u32 %r1, %r1, 1;\nadd.u32 %r1, %r1, 2;\nadd.u32 %r1, %r1, 3;\nOUT:\n" P(2) "ret;\n");
	for (uint32_t t = 0; t < traced.code->term_count; t++)
		traced.code->terms[t].of = traced.code->terms[t].of == 1 ? 5 : traced.code->terms[t].of;
	begin_trace(2);
	for (uint32_t l = 0; l < LANES; l++) {
		add_blocks(0, l, "012");
		add_blocks(1, l, "02");
	}
	CU_ASSERT_EQUAL_FATAL(make_counted_warps("gtx480", 4, true, &lanes), 0);
	for (uint32_t g = 0; g < 4; g++) {
		CU_ASSERT_EQUAL(made.warps.pattern_ids[g], g % 2);
		CU_ASSERT_DOUBLE_EQUAL(path_instructions(traced.code, &made.warps.paths[made.warps.path_of[g]]), g % 2 ? 2 : 5, 1e-9);
	}
	CU_ASSERT_DOUBLE_EQUAL(made.represented, 1, 1e-12);
	CU_ASSERT_EQUAL(made.needed.count, 0);
	finish();
}

/*
 * 32 lanes go round 100 times, past an arm of 4 instructions in block 2. If that is taken 64 times, by one lane each, warps may execute it 64 * 32 =
 * 2048 times, which are 8192 instructions, and lanes execute some 7000. Once is less than 2% of these. If all lanes take it in each round, or none,
 * counters say all.
 */
static void traces_say_which_lanes_take_an_arm_together(void)
{
	static const struct {
		uint64_t taken;
		bool needs;
	} cases[] = {{64, true}, {1, false}, {3200, false}, {0, false}};
	struct gpu gpu = test_gpu("gtx480", NULL);
	make_code(P(0) "LOOP:\n" P(1) "@%p1 bra OUT;\n" P(2) "add.u32 %r1, %r1, 1;\nadd.u32 %r1, %r1, 2;\nadd.u32 %r1, %r1, 3;\nadd.u32 %r1, %r1, 4;\n"
	          "OUT:\n" P(3) "@%p2 bra LOOP;\n" P(4) "ret;\n");
	for (size_t i = 0; i < GS_ARRAY_LEN(cases); i++) {
		const uint64_t counts[8] = {32, 3200, cases[i].taken, 3200, 32};
		const struct launch_profile launch = {.code = traced.code, .counts = counts};
		CU_ASSERT_EQUAL(needs_traced_arms(&gpu, &launch), cases[i].needs);
	}
	traced_code_free(&traced);
}

static double done_by(uint32_t group)
{
	return path_instructions(traced.code, &made.warps.paths[made.warps.path_of[group]]);
}

/*
 * Group 0 is traced: it goes round 40 times, 32 of which are a gap, and does 42 blocks. The others go round 82, 19, 82 and 2 times. They do
 * 84, 21, 84 and 4 blocks, 2 and 1/2 times as many, in steps of 1.04: 1.04^18 and 1.04^-18. The last group does fewer blocks than the 10 that
 * are in the trace.
 */
static void loops_are_as_long_as_counters_say(void)
{
	uint32_t trips[5] = {40, 82, 19, 82, 2};
	struct lane_counts lanes = {.columns = 1, .gather = gather_trips, .expand = expand_trips, .ctx = trips};
	struct trace_gap gap = {.before = 5, .body = 1, .kept = 4, .iterations = 32};
	make_code(P(0) "add.u32 %r1, %r1, 1;\nLOOP:\n" P(1) "@%p1 bra LOOP;\n" P(2) "ret;\n");
	begin_trace(1);
	for (uint32_t l = 0; l < LANES; l++) {
		add_blocks(0, l, "0111111112");
		lane_traces[0][l].gaps = &gap;
		lane_traces[0][l].gap_count = 1;
	}
	CU_ASSERT_EQUAL_FATAL(make_counted_warps("gtx480", 5, true, &lanes), 0);
	CU_ASSERT_DOUBLE_EQUAL(done_by(0), 42, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(done_by(1), 42 * pow(1.04, 18), 1e-5);
	CU_ASSERT_DOUBLE_EQUAL(done_by(2), 42 * pow(1.04, -18), 1e-5);
	CU_ASSERT_DOUBLE_EQUAL(done_by(4), 10, 1e-5);
	CU_ASSERT_EQUAL(made.warps.path_of[1], made.warps.path_of[3]);
	CU_ASSERT_DOUBLE_EQUAL(made.represented, 235 / (done_by(0) + 2 * done_by(1) + done_by(2) + done_by(4)), 1e-5);
	CU_ASSERT_DOUBLE_EQUAL(made.lane_efficiency, 1, 0.001);
	finish();
}

/*
 * A loop that is unrolled by two, block 1, with single iterations after it, block 2. Of 27 iterations, 4 and 5 are in windows. 8 are left out after the
 * first: its 2 blocks are done 3 times. Of the second, 4 are unrolled and the last is not. What it leaves out, 10, is unrolled, too: 2 blocks are done
 * 3.5 times, and block 2 once.
 */
static void last_windows_end_before_single_iterations(void)
{
	static const double expected[] = {1, 3, 3, 3.5, 3.5, 1, 1};
	struct trace_gap gaps[] = {{.before = 5, .body = 1, .kept = 4, .iterations = 8}, {.before = 10, .body = 1, .kept = 5, .iterations = 10}};
	make_code(P(0) "add.u32 %r1, %r1, 1;\nLOOP:\n" P(1) "add.u32 %r1, %r1, 2;\n" P(1) "@%p1 bra LOOP;\nREST:\n" P(1) "@%p2 bra REST;\n"
	          P(2) "ret;\n");
	begin_trace(1);
	for (uint32_t l = 0; l < LANES; l++) {
		add_blocks(0, l, "01111111112");
		lane_traces[0][l].gaps = gaps;
		lane_traces[0][l].gap_count = 2;
	}
	CU_ASSERT_EQUAL_FATAL(make_warps("gtx480", 1, false), 0);
	check_path(0, "0111123");
	const struct warp_path *p = &made.warps.paths[0];
	CU_ASSERT_EQUAL_FATAL(p->gap_count, 2);
	CU_ASSERT_EQUAL(p->gaps[1].from, 3);
	CU_ASSERT_EQUAL(p->gaps[1].at, 5);
	for (size_t i = 0; i < GS_ARRAY_LEN(expected); i++)
		CU_ASSERT_DOUBLE_EQUAL(p->weights[i], expected[i], 1e-9);
	finish();
}

/* 20 blocks. Lanes came to their windows of the loop at block 1 at three places: one window remains, the one that leaves out most, 12 blocks
 * done 6 times. The loop at block 2 is another one, and its window is within that: blocks 8 and 9 are done 4 * 7 times in all. */
static void windows_of_lanes_that_parted_do_not_multiply(void)
{
	static const struct recorded_gap found[] = {{4, 12, 1, 5, 4, false, 0}, {6, 18, 1, 6, 4, false, 0}, {8, 10, 2, 3, 2, false, 0}, {7, 17, 1, 6, 4, false, 0}};
	struct code_block block = {.count = 1};
	struct kernel_code code = {.blocks = &block, .block_count = 1};
	struct recorded_path path = {0};
	const uint32_t zero = 0;
	for (int b = 0; b < 20; b++) {
		gs_buf_add(&path.blocks, &zero, sizeof zero);
		gs_buf_add(&path.before, &zero, sizeof zero);
	}
	for (size_t i = 0; i < GS_ARRAY_LEN(found); i++)
		CU_ASSERT_EQUAL(gaps_add(&path, &found[i]), 0);
	CU_ASSERT_EQUAL_FATAL(gaps_finish(&(struct gap_finish){.code = &code}, &path), 0);
	CU_ASSERT_EQUAL(path.gaps.len, 2 * sizeof(struct path_gap));
	const double *weights = (const double *)(const void *)path.weights.data;
	for (int b = 0; b < 20; b++)
		CU_ASSERT_DOUBLE_EQUAL(weights[b], b < 6 || b >= 18 ? 1 : b == 8 || b == 9 ? 28 : 7, 1e-9);
	gs_buf_free(&path.blocks);
	gs_buf_free(&path.before);
	gs_buf_free(&path.gaps);
	gs_buf_free(&path.weights);
}

void add_trace_warps_tests(void)
{
	CU_pSuite suite = CU_add_suite("trace warps", NULL, NULL);
#define TEST(name) CU_add_test(suite, #name, name)
	TEST(nested_branches_join_one_after_the_other);
	TEST(a_loop_lasts_as_long_as_its_last_lane);
	TEST(lanes_may_return_early);
	TEST(the_arms_of_a_switch_take_turns);
	TEST(copies_take_one_access_after_the_other);
	TEST(hoisted_accesses_take_the_first);
	TEST(vectors_take_the_first_of_their_elements);
	TEST(tiles_conflict_unless_padded);
	TEST(fetches_take_units_of_textures);
	TEST(textures_say_whether_they_filter);
	TEST(private_memory_is_interleaved);
	TEST(sums_are_gathered_at_one_address_only);
	TEST(addresses_move_with_the_group);
	TEST(groups_take_one_that_is_as_far_into_its_line);
	TEST(other_addresses_are_somewhere);
	TEST(instructions_that_touch_the_same_share_its_part);
	TEST(equal_warps_share);
	TEST(groups_that_nobody_stands_for_are_needed);
	TEST(a_launch_ends_with_its_longest_warp);
	TEST(the_longest_warp_goes_on_alone);
	TEST(a_group_is_like_one_whose_warps_do_as_much);
	TEST(paths_of_cut_traces_are_short);
	TEST(groups_of_another_launch_did_what_its_trace_says);
	TEST(events_say_blocks_of_lifted_code);
	TEST(traces_say_which_lanes_take_an_arm_together);
	TEST(loops_are_as_long_as_counters_say);
	TEST(last_windows_end_before_single_iterations);
	TEST(windows_of_lanes_that_parted_do_not_multiply);
#undef TEST
}
