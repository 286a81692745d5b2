/* Accesses of a warp's memory instructions, computed by hand. */
#include "tests/tests.h"

#include "models/accesses/accesses.h"
#include "models/warps/chance.h"

#include <string.h>

static struct gpu fermi(void)
{
	return (struct gpu){.warp_size = 32, .shared_banks = 32, .l1_access_bytes = 128, .const_access_bytes = 64,
	                    .atomic_access_bytes = 32, .shared_wide_splits = true};
}

/* Lane i accesses base + i * stride. */
static uint32_t strided(enum code_space space, uint64_t base, uint64_t stride, uint32_t bytes)
{
	struct gpu gpu = fermi();
	uint64_t addresses[32];
	for (uint64_t i = 0; i < 32; i++)
		addresses[i] = base + i * stride;
	return gpu_accesses(&gpu, &(struct access_kind){.space = space, .bytes = bytes}, addresses, 32);
}

/* 32 lanes of 4 bytes. Stride 4 is 128 bytes, one line. Stride 8 is two lines, 32 is eight, 128 is a line for each lane. */
static void lines_follow_the_stride(void)
{
	CU_ASSERT_EQUAL(strided(SPACE_global, 4096, 4, 4), 1);
	CU_ASSERT_EQUAL(strided(SPACE_global, 4096, 8, 4), 2);
	CU_ASSERT_EQUAL(strided(SPACE_global, 4096, 32, 4), 8);
	CU_ASSERT_EQUAL(strided(SPACE_global, 4096, 128, 4), 32);
	CU_ASSERT_EQUAL(strided(SPACE_global, 4096, 0, 4), 1);   /* all at one address */
	CU_ASSERT_EQUAL(strided(SPACE_global, 4100, 4, 4), 2);   /* off by one element: two lines */
	CU_ASSERT_EQUAL(strided(SPACE_global, 4096, 16, 16), 4); /* float4: 512 bytes */
	CU_ASSERT_EQUAL(strided(SPACE_global, 4096 + 120, 16, 16), 5);
}

static void order_of_lanes_does_not_matter(void)
{
	struct gpu gpu = fermi();
	uint64_t addresses[32];
	for (uint64_t i = 0; i < 32; i++)
		addresses[i] = 8192 + (i * 7 % 32) * 4;
	CU_ASSERT_EQUAL(gpu_accesses(&gpu, &(struct access_kind){.space = SPACE_global, .bytes = 4}, addresses, 32), 1);
}

/*
 * Lanes that are s words apart: s lines, of which up to four are looked up in a cycle, and words of gcd(s, 32) lanes in a bank. An H200 takes these
 * cycles for hits of L1 (tests/reference/h200-truth/micro.csv, l1_stride). By hand, of lanes 40 words apart: lines 0 1 2 3, 5 6 7 8, 10 ... are in
 * the banks 0 1 2 3, 0 3 2 2, ...: line 8 is in the bank of line 7 and waits.
 */
static void loads_read_banks_of_l1(void)
{
	static const struct { uint64_t words; uint32_t cycles; } measured[] = {
		{0, 1}, {1, 1}, {2, 2}, {3, 1}, {4, 4}, {5, 2}, {8, 8}, {9, 3}, {12, 4}, {16, 16}, {17, 5}, {20, 5}, {24, 8}, {28, 7}, {31, 8}, {32, 32},
		{33, 8}, {34, 9}, {36, 9}, {40, 10}, {48, 16}, {63, 9}, {65, 8}, {129, 8}, {257, 8}, {1025, 8}, {1032, 8}};
	struct gpu gpu = fermi();
	struct access_kind load = {.space = SPACE_global, .bytes = 4}, store = load, quad = {.space = SPACE_global, .bytes = 16};
	uint64_t addresses[32];
	gpu.l1_banks = 32;
	gpu.l1_tags_per_cycle = 4;
	gpu.l1_line_bytes = 128;
	gpu.coalesce_bytes = 128;
	store.store = true;
	for (size_t m = 0; m < sizeof measured / sizeof *measured; m++) {
		for (uint64_t i = 0; i < 32; i++)
			addresses[i] = (1 << 20) + i * measured[m].words * 4;
		CU_ASSERT_EQUAL(gpu_accesses(&gpu, &load, addresses, 32), measured[m].cycles);
	}
	CU_ASSERT_EQUAL(gpu_accesses(&gpu, &store, addresses, 32), 32); /* as before: a line each */
	for (uint64_t i = 0; i < 32; i++)
		addresses[i] = 4096 + i * 16;
	CU_ASSERT_EQUAL(gpu_accesses(&gpu, &quad, addresses, 32), 4); /* four words in every bank */
}

/*
 * Sixteen lines, each asked for by two lanes: i and i + 16, of which each half reads its 16 words of bank 0, or i and i ^ 1, which read them at once. Four
 * lines, in turn: each half reads four, each quarter too. Lanes side by side: 64 and 128 words in 32 banks. One line takes a turn.
 */
static void wide_loads_read_banks_by_parts_of_the_warp(void)
{
	static const struct { uint32_t mask, shift; uint64_t apart; uint32_t together[3], parts[3]; } cases[] = {
		{15, 0, 128, {16, 16, 16}, {16, 32, 32}}, {30, 1, 128, {16, 16, 16}, {16, 16, 16}}, {3, 0, 512, {4, 4, 4}, {4, 8, 16}},
		{31, 0, 16, {4, 4, 4}, {4, 4, 4}},        {7, 0, 16, {1, 1, 1}, {1, 1, 1}},         {31, 0, 128, {32, 32, 32}, {32, 32, 32}}};
	struct gpu gpu = fermi();
	uint64_t addresses[32];
	gpu.l1_banks = 32;
	gpu.l1_tags_per_cycle = 4;
	gpu.l1_line_bytes = 128;
	for (size_t n = 0; n < sizeof cases / sizeof *cases; n++)
		for (uint32_t wide = 0; wide < 3; wide++) {
			struct access_kind load = {.space = SPACE_global, .bytes = 4u << wide};
			for (uint32_t i = 0; i < 32; i++)
				addresses[i] = (1 << 20) + ((i & cases[n].mask) >> cases[n].shift) * cases[n].apart;
			gpu.l1_wide_parts = false;
			CU_ASSERT_EQUAL(gpu_accesses(&gpu, &load, addresses, 32), cases[n].together[wide]);
			gpu.l1_wide_parts = true;
			CU_ASSERT_EQUAL(gpu_accesses(&gpu, &load, addresses, 32), cases[n].parts[wide]);
		}
}

/* A column of a 32 x 32 tile of floats is in one bank. A column of a 32 x 33 tile is in 32 banks. With a stride of 2 words, two
 * lanes share a bank. One word for all lanes is a broadcast. */
static void banks_conflict_without_padding(void)
{
	CU_ASSERT_EQUAL(strided(SPACE_shared, 0, 4, 4), 1);
	CU_ASSERT_EQUAL(strided(SPACE_shared, 0, 32 * 4, 4), 32);
	CU_ASSERT_EQUAL(strided(SPACE_shared, 0, 33 * 4, 4), 1);
	CU_ASSERT_EQUAL(strided(SPACE_shared, 0, 8, 4), 2);
	CU_ASSERT_EQUAL(strided(SPACE_shared, 64, 0, 4), 1);
}

/* 8 bytes per lane: two halves of the warp, each without conflict. If a GPU does not split the warp, only words count. */
static void wide_shared_accesses_take_turns(void)
{
	struct gpu gpu = fermi();
	uint64_t addresses[32];
	for (uint64_t i = 0; i < 32; i++)
		addresses[i] = i * 8;
	CU_ASSERT_EQUAL(gpu_accesses(&gpu, &(struct access_kind){.space = SPACE_shared, .bytes = 8}, addresses, 32), 2);
	gpu.shared_wide_splits = false;
	CU_ASSERT_EQUAL(gpu_accesses(&gpu, &(struct access_kind){.space = SPACE_shared, .bytes = 8}, addresses, 32), 2);
	for (uint64_t i = 0; i < 32; i++)
		addresses[i] = i * 16;
	CU_ASSERT_EQUAL(gpu_accesses(&gpu, &(struct access_kind){.space = SPACE_shared, .bytes = 16}, addresses, 32), 4);
}

/* Lanes get 256 bytes in a cycle. All at one place: 32 lanes of 8 bytes are 256 bytes, of 16 bytes 512. Each at its own 16 bytes: 128 words in 32 banks. */
static void lanes_get_so_many_bytes_of_shared_memory(void)
{
	struct gpu gpu = fermi();
	uint64_t one[32] = {0}, own[32];
	gpu.shared_return_bytes = 256;
	for (uint64_t i = 0; i < 32; i++)
		own[i] = i * 16;
	CU_ASSERT_EQUAL(gpu_accesses(&gpu, &(struct access_kind){.space = SPACE_shared, .bytes = 4}, one, 32), 1);
	CU_ASSERT_EQUAL(gpu_accesses(&gpu, &(struct access_kind){.space = SPACE_shared, .bytes = 8}, one, 32), 1);
	CU_ASSERT_EQUAL(gpu_accesses(&gpu, &(struct access_kind){.space = SPACE_shared, .bytes = 16}, one, 32), 2);
	CU_ASSERT_EQUAL(gpu_accesses(&gpu, &(struct access_kind){.space = SPACE_shared, .bytes = 16}, one, 16), 2); /* the others wait for nothing, but take as long */
	CU_ASSERT_EQUAL(gpu_accesses(&gpu, &(struct access_kind){.space = SPACE_shared, .bytes = 16}, own, 32), 4);
}

/*
 * Each lane has an element, of 8 or 16 bytes: 16 or 8 of them are in all banks. Halves and quarters of the warp take turns, but for loads in which
 * lanes that differ in bit 0 or bit 1 of their number are alike. An H200 takes these cycles (tests/reference/h200-truth/wide.csv: bits, stride).
 */
static void wide_accesses_go_by_parts_of_the_warp(void)
{
	static const struct { uint32_t mask, shift, apart, loads[2], stores[2]; } measured[] = {
		{0, 0, 1, {1, 2}, {2, 4}},  {1, 0, 1, {1, 2}, {2, 4}},  {2, 1, 1, {1, 2}, {2, 4}},  {3, 0, 1, {2, 4}, {2, 4}},  {15, 0, 1, {2, 4}, {2, 4}},
		{30, 1, 1, {1, 2}, {2, 4}}, {31, 0, 1, {2, 4}, {2, 4}}, {31, 0, 2, {4, 8}, {4, 8}}, {31, 0, 3, {2, 4}, {2, 4}}, {31, 0, 16, {32, 32}, {32, 32}}};
	struct gpu gpu = fermi();
	uint64_t addresses[32];
	gpu.shared_return_bytes = 256;
	for (size_t m = 0; m < sizeof measured / sizeof *measured; m++)
		for (uint32_t wide = 0; wide < 2; wide++) {
			struct access_kind kind = {.space = SPACE_shared, .bytes = 8u << wide};
			for (uint32_t i = 0; i < 32; i++)
				addresses[i] = (uint64_t)((i & measured[m].mask) >> measured[m].shift) * measured[m].apart * kind.bytes;
			CU_ASSERT_EQUAL(gpu_accesses(&gpu, &kind, addresses, 32), measured[m].loads[wide]);
			kind.store = true;
			CU_ASSERT_EQUAL(gpu_accesses(&gpu, &kind, addresses, 32), measured[m].stores[wide]);
		}
}

/* Which lanes are on: 0 to 3 are not alike; 0, 4, 8 and 12 have nobody beside them, and halves go at once; 0 and 17 share a bank in one of them. */
static void lanes_that_are_off_are_like_any(void)
{
	static const uint32_t first[] = {0, 1, 2, 3}, apart[] = {0, 4, 8, 12}, far[] = {0, 17};
	static const uint64_t own[] = {0, 8, 16, 24}, same_bank[] = {0, 256};
	struct gpu gpu = fermi();
	struct access_kind load = {.space = SPACE_shared, .bytes = 8}, store = {.space = SPACE_shared, .bytes = 8, .store = true};
	gpu.shared_return_bytes = 256;
	CU_ASSERT_EQUAL(shared_cycles(&gpu, &load, own, first, 4), 2);
	CU_ASSERT_EQUAL(shared_cycles(&gpu, &load, own, apart, 4), 1);
	CU_ASSERT_EQUAL(shared_cycles(&gpu, &store, own, apart, 4), 2);
	CU_ASSERT_EQUAL(shared_cycles(&gpu, &load, same_bank, far, 2), 2);
	CU_ASSERT_EQUAL(shared_cycles(&gpu, &store, same_bank, far, 2), 2); /* one in each half */
}

/*
 * Sixteen lines of 32 bytes, 80 bytes apart, so that eight lines of half the width are in all banks. In the order of memory, a quarter of the pieces
 * is four lines of 8 words, at words 0, 20, 40 and 60: banks 0 to 7, 20 to 27, 8 to 15 and 28 to 3, the last of which meets the first. By
 * matrices, lines of 4 words are at banks 0, 20, 8, 28, 16, 4, 24 and 12.
 */
static void fragments_come_matrix_by_matrix(void)
{
	struct gpu gpu = fermi();
	struct access_kind load = {.space = SPACE_shared, .bytes = FRAGMENT_PIECE};
	uint64_t addresses[32];
	uint32_t places[32];
	gpu.shared_return_bytes = 256;
	for (uint32_t i = 0; i < 32; i++) {
		addresses[i] = (uint64_t)(i / 2) * 80 + i % 2 * FRAGMENT_PIECE;
		places[i] = fragment_place(i);
	}
	CU_ASSERT_EQUAL(shared_cycles(&gpu, &load, addresses, NULL, 32), 8);
	CU_ASSERT_EQUAL(shared_cycles(&gpu, &load, addresses, places, 32), 4);
	CU_ASSERT_EQUAL(places[0], 0);
	CU_ASSERT_EQUAL(places[1], 8);
	CU_ASSERT_EQUAL(places[2], 1);
	CU_ASSERT_EQUAL(places[17], 24);
	CU_ASSERT_EQUAL(places[31], 31);
}

/* Two cycles for each address, also where all are in a word; one constant for all lanes is not looked up so. */
static void constants_are_looked_up_one_by_one(void)
{
	static const struct { uint32_t different, apart, cycles; } tables[] = {{1, 1, 1}, {2, 1, 4}, {4, 1, 8}, {8, 1, 16}, {32, 1, 64}, {8, 4, 16}, {32, 128, 64}};
	struct gpu gpu = fermi();
	struct access_kind load = {.space = SPACE_const, .bytes = 1};
	uint64_t addresses[32];
	for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
		for (uint64_t i = 0; i < 32; i++)
			addresses[i] = 4096 + i % tables[t].different * tables[t].apart;
		gpu.const_each_cycles = 2;
		CU_ASSERT_EQUAL(gpu_accesses(&gpu, &load, addresses, 32), tables[t].cycles);
		gpu.const_each_cycles = 0; /* by pieces of 64 bytes */
		CU_ASSERT_EQUAL(gpu_accesses(&gpu, &load, addresses, 32), tables[t].apart == 128 ? 32 : 1);
	}
}

/* Atomics: 32 lanes on one counter are one segment and 31 more turns. On 32 neighbours, 128 bytes are 4 segments. */
static void atomics_on_one_address_are_serial(void)
{
	struct gpu gpu = fermi();
	uint64_t addresses[32];
	for (uint64_t i = 0; i < 32; i++)
		addresses[i] = 4096;
	struct access_kind kind = {.space = SPACE_global, .atomic = true, .bytes = 4};
	CU_ASSERT_EQUAL(gpu_accesses(&gpu, &kind, addresses, 32), 32);
	for (uint64_t i = 0; i < 32; i++)
		addresses[i] = 4096 + 4 * i;
	CU_ASSERT_EQUAL(gpu_accesses(&gpu, &kind, addresses, 32), 4);
}

/* ---- accesses from the code's addresses ---- */

/* p[tid.y * width + tid.x]: nodes 0 tid.x, 1 tid.y, 2 width, 3 mad, 4 times 4 in 64 bits, 5 buffer, 6 sum. Also a load whose
 * address is a loaded number, node 8. */
static void accesses_follow_from_arguments_and_shape(void)
{
	static struct code_node nodes[] = {
		{NODE_tid, 32, 32, 0, -1, -1, -1, 0},   {NODE_tid, 32, 32, 0, -1, -1, -1, 1},
		{NODE_param, 32, 32, 0, -1, -1, -1, 1}, {NODE_mad, 32, 32, 1, 1, 2, 0, 0},
		{NODE_value, 64, 64, 0, -1, -1, -1, 4}, {NODE_mul, 32, 64, 1, 3, 4, -1, 0},
		{NODE_param, 64, 64, 0, -1, -1, -1, 0}, {NODE_add, 64, 64, 0, 6, 5, -1, 0},
		{NODE_varying, 64, 64, 0, -1, -1, -1, 0},
	};
	struct code_instruction in[3] = {{.class = CODE_load, .space = SPACE_global, .bytes = 4, .address = 7},
	                                 {.class = CODE_load, .space = SPACE_global, .bytes = 4, .address = 8},
	                                 {.class = CODE_int, .address = -1}};
	struct kernel_code code = {.code = in, .code_count = 3, .nodes = nodes, .node_count = GS_ARRAY_LEN(nodes)};
	struct gpu gpu = fermi();
	bool known[2] = {true, true};
	uint64_t values[2] = {1 << 20, 1024};
	struct launch_arguments launch = {.local = {16, 16, 1}, .groups = {4, 4, 1}, .values = values, .known = known, .count = 2};
	uint16_t accesses[3];
	uint32_t unknown;
	/* A warp is two rows of 16 floats, 4096 bytes apart: two lines. */
	CU_ASSERT_EQUAL(usual_accesses(&gpu, &code, &launch, accesses, &unknown), 0);
	CU_ASSERT_EQUAL(accesses[0], 2);
	CU_ASSERT_EQUAL(accesses[1], 0); /* one access for each lane */
	CU_ASSERT_EQUAL(accesses[2], 1);
	CU_ASSERT_EQUAL(unknown, 1);
	/* One row of 32 lanes: one line. */
	launch.local[0] = 32;
	launch.local[1] = 1;
	CU_ASSERT_EQUAL(usual_accesses(&gpu, &code, &launch, accesses, &unknown), 0);
	CU_ASSERT_EQUAL(accesses[0], 1);
	/* With a width of 16, the two rows are adjacent. */
	launch.local[0] = launch.local[1] = 16;
	values[1] = 16;
	CU_ASSERT_EQUAL(usual_accesses(&gpu, &code, &launch, accesses, &unknown), 0);
	CU_ASSERT_EQUAL(accesses[0], 1);
}

/* Node 0 is what neighbours load from an array of begins. Node 1 is the variable of a loop that starts with it. Node 3 addresses
 * elements of that list: as many accesses as its parts lie in. Node 4 uses the loaded value without a loop, and node 5 is
 * scrambled: one access for each lane. */
static void lists_are_told_from_scattered_loads(void)
{
	static struct code_node nodes[] = {
		{NODE_loaded, 32, 32, 0, -1, -1, -1, 0}, {NODE_list, 64, 64, 0, 0, -1, -1, 0},
		{NODE_value, 64, 64, 0, -1, -1, -1, 4},  {NODE_mul, 32, 64, 1, 1, 2, -1, 0},
		{NODE_mul, 32, 64, 1, 0, 2, -1, 0},      {NODE_xor, 32, 32, 0, 1, 2, -1, 0},
	};
	struct code_instruction in[3] = {{.class = CODE_load, .space = SPACE_global, .bytes = 4, .address = 3},
	                                 {.class = CODE_load, .space = SPACE_global, .bytes = 4, .address = 4},
	                                 {.class = CODE_load, .space = SPACE_global, .bytes = 4, .address = 5}};
	struct kernel_code code = {.code = in, .code_count = 3, .nodes = nodes, .node_count = GS_ARRAY_LEN(nodes)};
	struct gpu gpu = fermi();
	struct launch_arguments launch = {.local = {64, 1, 1}, .groups = {4, 1, 1}};
	uint16_t accesses[3];
	uint32_t unknown;
	CU_ASSERT_EQUAL(usual_accesses(&gpu, &code, &launch, accesses, &unknown), 0);
	CU_ASSERT_EQUAL(accesses[0], ACCESSES_OF_LIST);
	CU_ASSERT_EQUAL(accesses[1], ACCESSES_BY_LANE);
	CU_ASSERT_EQUAL(accesses[2], ACCESSES_BY_LANE);
	CU_ASSERT_EQUAL(unknown, 3);
}

/* Node 0 is loaded, 2 is a part of it, 3 is that part scaled. 5 is the sum of it and of a value that is not followed. */
static void data_scatters_in_shared_memory(void)
{
	static struct code_node nodes[] = {
		{NODE_loaded, 32, 32, 0, -1, -1, -1, 0}, {NODE_value, 32, 32, 0, -1, -1, -1, 255}, {NODE_and, 32, 32, 0, 0, 1, -1, 0},
		{NODE_shl, 32, 32, 0, 2, 1, -1, 0},      {NODE_varying, 64, 64, 0, -1, -1, -1, 0}, {NODE_add, 64, 64, 0, 3, 4, -1, 0},
	};
	struct code_instruction in[4] = {{.class = CODE_atomic, .space = SPACE_shared, .bytes = 4, .address = 3},
	                                 {.class = CODE_load, .space = SPACE_shared, .bytes = 4, .address = 5},
	                                 {.class = CODE_load, .space = SPACE_global, .bytes = 4, .address = 3},
	                                 {.class = CODE_load, .space = SPACE_const, .bytes = 4, .address = 3}};
	struct kernel_code code = {.code = in, .code_count = 4, .nodes = nodes, .node_count = GS_ARRAY_LEN(nodes)};
	struct gpu gpu = fermi();
	struct launch_arguments launch = {.local = {64, 1, 1}, .groups = {4, 1, 1}};
	uint16_t accesses[4];
	uint32_t unknown;
	CU_ASSERT_EQUAL(usual_accesses(&gpu, &code, &launch, accesses, &unknown), 0);
	CU_ASSERT_EQUAL(accesses[0], ACCESSES_BY_CHANCE);
	CU_ASSERT_EQUAL(accesses[1], 1);
	CU_ASSERT_EQUAL(accesses[2], ACCESSES_BY_LANE);
	CU_ASSERT_EQUAL(accesses[3], 1);
}

/*
 * The chance that lanes meet in a bank:
 *   two lanes, two banks of two words       the same bank but different words one time in four
 *   two lanes, 32 banks of many words       the same bank one time in 32
 *   three lanes, two banks of many words    all in one bank one time in four, else two of them
 *   banks of one word                       two different words are never in one bank
 */
static void lanes_meet_by_chance(void)
{
	double means[CHANCE_LANES + 1];
	chance_fullest_bank(2, 2, 4, means);
	CU_ASSERT_EQUAL(means[0], 0);
	CU_ASSERT_DOUBLE_EQUAL(means[1], 1, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(means[2], 1.25, 1e-9);
	chance_fullest_bank(32, 32, 1ull << 40, means);
	CU_ASSERT_DOUBLE_EQUAL(means[2], 1 + 1.0 / 32, 1e-5);
	CU_ASSERT_DOUBLE_EQUAL(means[32], 3.53, 0.01); /* 20,000 random trials: 3.527 */
	chance_fullest_bank(3, 2, 1ull << 40, means);
	CU_ASSERT_DOUBLE_EQUAL(means[3], 2.25, 1e-5);
	chance_fullest_bank(CHANCE_LANES, 32, 32, means);
	CU_ASSERT_DOUBLE_EQUAL(means[CHANCE_LANES], 1, 1e-5);
}

void add_accesses_tests(void)
{
	CU_pSuite suite = CU_add_suite("accesses", NULL, NULL);
	CU_add_test(suite, "lines follow the stride", lines_follow_the_stride);
	CU_add_test(suite, "order of lanes does not matter", order_of_lanes_does_not_matter);
	CU_add_test(suite, "loads read banks of L1", loads_read_banks_of_l1);
	CU_add_test(suite, "wide loads read banks by parts of the warp", wide_loads_read_banks_by_parts_of_the_warp);
	CU_add_test(suite, "banks conflict without padding", banks_conflict_without_padding);
	CU_add_test(suite, "wide shared accesses take turns", wide_shared_accesses_take_turns);
	CU_add_test(suite, "lanes get so many bytes of shared memory", lanes_get_so_many_bytes_of_shared_memory);
	CU_add_test(suite, "wide accesses go by parts of the warp", wide_accesses_go_by_parts_of_the_warp);
	CU_add_test(suite, "lanes that are off are like any", lanes_that_are_off_are_like_any);
	CU_add_test(suite, "fragments come matrix by matrix", fragments_come_matrix_by_matrix);
	CU_add_test(suite, "constants are looked up one by one", constants_are_looked_up_one_by_one);
	CU_add_test(suite, "atomics on one address are serial", atomics_on_one_address_are_serial);
	CU_add_test(suite, "data scatters in shared memory", data_scatters_in_shared_memory);
	CU_add_test(suite, "lanes meet in banks by chance", lanes_meet_by_chance);
	CU_add_test(suite, "lists are told from scattered loads", lists_are_told_from_scattered_loads);
	CU_add_test(suite, "accesses follow from arguments and shape", accesses_follow_from_arguments_and_shape);
}
