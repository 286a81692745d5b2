/*
 * Machine code whose blocks are others than those of the PTX, moves.ptx as ptxas 13.0 assembled it for sm_90: the first
 * round of a loop stands before it, an access is made in another block, a trap ends its lanes, a barrier of a cluster
 * has two arms, one branch stands for two, loads are joined and parted. Numbers of instructions were counted in a
 * listing.
 */
#include "tests/tests.h"

#include "analysis/assembled/assembled.h"
#include "analysis/mapping/mapping.h"
#include "models/warps/machine/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct gs_error error;

struct moved_case {
	struct gs_buf ptx, bytes;
	struct ptx_module *module;
	struct cubin cubin;
	struct kernel_code *code;
};

static void read_part(const char *ending, struct gs_buf *out)
{
	char path[4096];
	const char *root = getenv("GPUSIM_TEST_ROOT");
	snprintf(path, sizeof path, "%s/tests/analysis/sass/moves%s", root ? root : ".", ending);
	CU_ASSERT_EQUAL_FATAL(gs_read_file(path, out, &error), 0);
}

static void make_case(const char *kernel, struct moved_case *c)
{
	const struct mapping_source nothing = {.counter_count = 0};
	struct mapping *m = NULL;
	*c = (struct moved_case){.code = NULL};
	read_part(".ptx", &c->ptx);
	read_part("-sm_90.cubin", &c->bytes);
	CU_ASSERT_EQUAL_FATAL(ptx_read(c->ptx.data, c->ptx.len, &c->module, &error), 0);
	CU_ASSERT_EQUAL_FATAL(cubin_read(c->bytes.data, c->bytes.len, &c->cubin, &error), 0);
	const struct ptx_function *f = ptx_find(c->module, kernel);
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	CU_ASSERT_EQUAL_FATAL(mapping_create(c->module, f, &m, &error), 0);
	CU_ASSERT_EQUAL_FATAL(mapping_solve(m, &nothing, "sm_90:vendor:sass", &c->code, &error), 0);
	CU_ASSERT_EQUAL_FATAL(assembled_apply(f, &c->cubin, cubin_find(&c->cubin, kernel), c->code, &error), 0);
	mapping_free(m);
}

static void free_case(struct moved_case *c)
{
	code_free(c->code);
	cubin_free(&c->cubin);
	ptx_free(c->module);
	gs_buf_free(&c->ptx);
	gs_buf_free(&c->bytes);
}

static bool has_instruction(const struct kernel_code *c, uint32_t block, const char *name)
{
	const struct code_machine_block *b = &c->machine_blocks[block];
	for (uint32_t i = b->first; i < b->first + b->count; i++)
		if (!strcmp(c->strings + c->machine[i].opcode, name))
			return true;
	return false;
}

static void check_counts(const struct kernel_code *c, const uint32_t *counts, uint32_t blocks)
{
	CU_ASSERT_TRUE_FATAL(c->machine_block_count >= blocks);
	for (uint32_t b = 0; b < blocks; b++)
		CU_ASSERT_EQUAL(c->machine_blocks[b].count, counts[b]);
}

/*
 * The loop tests at its begin (LDG, ISETP, BRA). The assembler has the first test before the loop, too: these 3 are not
 * counted there, because the loop's test stands for as many rounds as there are. 5 others stay, and ULDC on the way
 * into the loop. A warp that goes round n times executes 9 + 3 (n - 1) = 6 + 3 n.
 */
static void first_rounds_are_those_of_the_loop(void)
{
	static const uint32_t counts[] = {6, 3, 2, 2, 2, 5};
	struct moved_case c;
	make_case("rounds", &c);
	check_counts(c.code, counts, 6);
	CU_ASSERT_FALSE(has_instruction(c.code, 0, "LDG"));
	CU_ASSERT_TRUE(has_instruction(c.code, 1, "LDG"));
	free_case(&c);
}

/* What is loaded before the branch is loaded in its arm. A warp that goes there makes the access that it makes in block
 * 0 of the PTX; others make none. */
static void accesses_may_be_made_elsewhere(void)
{
	static const uint32_t counts[] = {11, 5, 5, 2}, blocks[] = {0, 1, 2, 2, 3}, past[] = {0, 3}, path_of[] = {0, 1};
	static const uint16_t accesses[] = {1, 1, 1, 7, 5, 6, 9}, kept[] = {7, 5, 6, 9}, none[] = {1, 1, 1, 7, 9};
	struct warp_path paths[] = {{.blocks = blocks, .block_count = 5, .accesses = accesses, .access_count = 7},
				    {.blocks = past, .block_count = 2, .accesses = none, .access_count = 5}};
	struct machine_paths m;
	struct moved_case c;
	make_case("sinks", &c);
	check_counts(c.code, counts, 4);
	CU_ASSERT_TRUE(has_instruction(c.code, 1, "LDG"));
	struct launch_warps warps = {.code = c.code,
				     .paths = paths,
				     .path_count = 2,
				     .groups = 1,
				     .warps_per_group = 2,
				     .path_of = path_of,
				     .pattern_groups = 1};
	CU_ASSERT_EQUAL_FATAL(machine_paths_make(&(struct gpu){.warp_size = 32}, &warps, &m), 0);
	CU_ASSERT_EQUAL_FATAL(m.warps.paths[0].access_count, GS_ARRAY_LEN(kept));
	CU_ASSERT_EQUAL(memcmp(m.warps.paths[0].accesses, kept, sizeof kept), 0);
	CU_ASSERT_EQUAL_FATAL(m.warps.paths[1].access_count, 1);
	CU_ASSERT_EQUAL(m.warps.paths[1].accesses[0], 9);
	machine_paths_free(&m);
	free_case(&c);
}

static uint32_t origin_at(const struct kernel_code *c, uint32_t block, const char *name, uint32_t nth)
{
	const struct code_machine_block *b = &c->machine_blocks[block];
	for (uint32_t i = b->first; i < b->first + b->count; i++)
		if (!strcmp(c->strings + c->machine[i].opcode, name) && !nth--)
			return c->machine_origins[i];
	return UINT32_MAX;
}

/*
 * A block of 13 instructions has seven of what comes after the arm (block 4 of the PTX) and ends with the second of two
 * branches past the arm (block 2). Who goes to the arm executes 5 + 13 + 7 + 3, others 5 + 13 + 3.
 */
static void one_branch_stands_for_two(void)
{
	static const uint32_t counts[] = {5, 13, 0, 7, 3, 0};
	struct moved_case c;
	make_case("either", &c);
	check_counts(c.code, counts, 6);
	CU_ASSERT_EQUAL(c.code->machine_blocks[2].merged, 1);
	free_case(&c);
}

/*
 * Two loads of an arm (block 4 of the PTX) are made under a predicate in the next one (block 6), after its own load.
 * Three rounds: through both arms, through the second and the one in it (block 7), through none. LDG, LDS, LDS, STS,
 * STS of the second arm: those that no lane makes remain, without requests.
 */
static void arms_may_load_for_those_before(void)
{
	static const uint32_t counts[] = {17, 0, 11, 7, 0, 0, 14, 0, 8, 0, 0, 4}, path_of[] = {0};
	static const uint32_t blocks[] = {0, 2, 3, 4, 5, 6, 8, 3, 5, 6, 7, 8, 3, 5, 8, 9, 11};
	static const uint16_t accesses[] = {1, 1, 1, 3, 4, 5, 6, 9, 10, 7, 8, 12},
			      kept[] = {3, 4, 9, 5, 6, 1, 1, 10, 1, 1, 7, 8, 12};
	struct warp_path path = {.blocks = blocks,
				 .block_count = GS_ARRAY_LEN(blocks),
				 .accesses = accesses,
				 .access_count = GS_ARRAY_LEN(accesses)};
	struct machine_paths m;
	struct moved_case c;
	make_case("later", &c);
	check_counts(c.code, counts, 12);
	struct launch_warps warps = {.code = c.code,
				     .paths = &path,
				     .path_count = 1,
				     .groups = 1,
				     .warps_per_group = 1,
				     .path_of = path_of,
				     .pattern_groups = 1};
	CU_ASSERT_EQUAL_FATAL(machine_paths_make(&(struct gpu){.warp_size = 32}, &warps, &m), 0);
	CU_ASSERT_EQUAL_FATAL(m.warps.paths[0].access_count, GS_ARRAY_LEN(kept));
	CU_ASSERT_EQUAL(memcmp(m.warps.paths[0].accesses, kept, sizeof kept), 0);
	machine_paths_free(&m);
	free_case(&c);
}

/* LDS of 516, of 128 and 132 together, of 260, of 264. The last has the line of the one before; it is the PTX's 15th. */
static void parts_of_joined_loads_are_told_apart(void)
{
	static const uint32_t origins[] = {11, 10, 14, 15};
	struct moved_case c;
	make_case("parts", &c);
	CU_ASSERT_EQUAL(c.code->machine_blocks[0].count, 20);
	for (uint32_t i = 0; i < GS_ARRAY_LEN(origins); i++)
		CU_ASSERT_EQUAL(origin_at(c.code, 0, "LDS", i), origins[i]);
	free_case(&c);
}

/* BPT is a block of its own, and nobody goes on from it. */
static void traps_are_ends(void)
{
	static const uint32_t counts[] = {6, 1, 4};
	struct moved_case c;
	make_case("traps", &c);
	check_counts(c.code, counts, 3);
	CU_ASSERT_TRUE(has_instruction(c.code, 1, "BPT"));
	free_case(&c);
}

/* 19 instructions, without the BAR and NOP that launches without clusters execute. */
static void barriers_of_clusters_have_one_arm(void)
{
	static const uint32_t counts[] = {19};
	struct moved_case c;
	make_case("clusters", &c);
	check_counts(c.code, counts, 1);
	CU_ASSERT_TRUE(has_instruction(c.code, 0, "UCGABAR_ARV"));
	CU_ASSERT_FALSE(has_instruction(c.code, 0, "BAR"));
	free_case(&c);
}

/* Bits 0 to 8 as ptxas 13.0 writes them for what the PTX says: mbarriers, bulk copies, elect, a constant in a uniform
 * register. */
static void names_of_what_is_new(void)
{
	static const struct {
		uint16_t bits;
		const char *name;
	} cases[] = {{0x0bb, "ULDC"},  {0x02f, "ELECT"},        {0x1b0, "ARRIVES"}, {0x1b1, "SYNCS"},
		     {0x1b2, "SYNCS"}, {0x1b7, "UTMACMDFLUSH"}, {0x1ba, "UBLKCP"}};
	for (size_t i = 0; i < GS_ARRAY_LEN(cases); i++) {
		uint8_t word[CUBIN_WORD] = {(uint8_t)cases[i].bits, (uint8_t)(cases[i].bits >> 8)};
		struct sass_instruction in;
		sass_decode(word, 90, 0, &in);
		CU_ASSERT_PTR_NOT_NULL_FATAL(in.name);
		CU_ASSERT_STRING_EQUAL(in.name, cases[i].name);
		CU_ASSERT_PTR_NOT_NULL(sass_look_up(in.name).name);
	}
}

void add_moves_tests(void)
{
	CU_pSuite suite = CU_add_suite("moves", NULL, NULL);
	CU_add_test(suite, "first rounds are those of the loop", first_rounds_are_those_of_the_loop);
	CU_add_test(suite, "accesses may be made elsewhere", accesses_may_be_made_elsewhere);
	CU_add_test(suite, "one branch stands for two", one_branch_stands_for_two);
	CU_add_test(suite, "arms may load for those before", arms_may_load_for_those_before);
	CU_add_test(suite, "parts of joined loads are told apart", parts_of_joined_loads_are_told_apart);
	CU_add_test(suite, "traps are ends", traps_are_ends);
	CU_add_test(suite, "barriers of clusters have one arm", barriers_of_clusters_have_one_arm);
	CU_add_test(suite, "names of what is new", names_of_what_is_new);
}
