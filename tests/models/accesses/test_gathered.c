/* Atomic operations of a warp that the assembler makes one of (models/accesses/gathered.h). Expected: what ptxas 13 makes of such kernels. */
#include "tests/tests.h"

#include "models/accesses/gathered.h"

#include <string.h>

enum { PARAM, TID, FOUR, GROUP, SCALED, OF_LANE, OF_GROUP, LOADED, NODES };

static struct code_node nodes[NODES] = {
	[PARAM] = {.op = NODE_param, .a = -1, .b = -1, .c = -1},
	[TID] = {.op = NODE_tid, .a = -1, .b = -1, .c = -1},
	[FOUR] = {.op = NODE_value, .a = -1, .b = -1, .c = -1, .value = 4},
	[GROUP] = {.op = NODE_ctaid, .a = -1, .b = -1, .c = -1},
	[SCALED] = {.op = NODE_mul, .a = TID, .b = FOUR, .c = -1},
	[OF_LANE] = {.op = NODE_add, .a = PARAM, .b = SCALED, .c = -1},
	[OF_GROUP] = {.op = NODE_mad, .a = GROUP, .b = FOUR, .c = PARAM},
	[LOADED] = {.op = NODE_loaded, .a = -1, .b = -1, .c = -1},
};

/* An atomic of that opcode at the address of that node, whose result another instruction reads or not. */
static bool gathers(const char *opcode, int32_t address, uint8_t bytes, bool result_is_read)
{
	struct gpu gpu = {.atomics_gathered = true};
	uint16_t operands[] = {5, 7, 5};
	struct code_instruction code[] = {
		{.class = CODE_atomic, .space = SPACE_global, .bytes = bytes, .writes = 1, .reads = 1, .first_operand = 0, .address = address},
		{.class = CODE_int, .reads = result_is_read, .first_operand = 2, .address = -1},
	};
	char strings[64];
	struct kernel_code k = {.code = code, .code_count = 2, .operands = operands, .nodes = nodes, .node_count = NODES, .strings = strings};
	strcpy(strings, opcode);
	bool is = is_gathered(&gpu, &k, code);
	gpu.atomics_gathered = false; /* simulators */
	CU_ASSERT_FALSE(is_gathered(&gpu, &k, code));
	return is;
}

static void sums_at_one_address_are_one_operation(void)
{
	CU_ASSERT(gathers("atom.global.add.u32", PARAM, 4, true));
	CU_ASSERT(gathers("atom.global.add.u32", PARAM, 4, false));
	CU_ASSERT(gathers("atom.shared.add.s32", OF_GROUP, 4, true));
	CU_ASSERT(gathers("ATOMG.E.ADD.STRONG.GPU", PARAM, 4, true));
}

static void lanes_with_addresses_of_their_own_stay(void)
{
	CU_ASSERT_FALSE(gathers("atom.global.add.u32", OF_LANE, 4, true));
	CU_ASSERT_FALSE(gathers("atom.global.add.u32", LOADED, 4, true));
	CU_ASSERT_FALSE(gathers("atom.global.add.u32", -1, 4, true));
}

static void others_are_gathered_where_nobody_reads_what_was_there(void)
{
	CU_ASSERT(gathers("atom.global.max.s32", PARAM, 4, false));
	CU_ASSERT_FALSE(gathers("atom.global.max.s32", PARAM, 4, true));
	CU_ASSERT_FALSE(gathers("atom.global.inc.u32", PARAM, 4, false));
	CU_ASSERT_FALSE(gathers("atom.global.exch.b32", PARAM, 4, false));
	CU_ASSERT_FALSE(gathers("atom.global.add.f32", PARAM, 4, false));
	CU_ASSERT_FALSE(gathers("atom.global.add.u64", PARAM, 8, false));
}

void add_gathered_tests(void)
{
	CU_pSuite s = CU_add_suite("gathered atomics", NULL, NULL);
	CU_add_test(s, "sums at one address are one operation", sums_at_one_address_are_one_operation);
	CU_add_test(s, "lanes with addresses of their own stay", lanes_with_addresses_of_their_own_stay);
	CU_add_test(s, "others are gathered where nobody reads what was there", others_are_gathered_where_nobody_reads_what_was_there);
}
