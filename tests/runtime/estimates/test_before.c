/* What a launch uses of its buffers, and what those after it find in L2. */
#include "tests/tests.h"

#include "models/most_bytes.h"
#include "runtime/estimates/before.h"
#include "tests/models/code_builder.h"

#include <math.h>

enum { TABLE, ROW, COUNT, ARGUMENTS, MIB = 1 << 20 };

/* A kernel whose work-items load four bytes of a table by a list, eight of a row, and store four to the row; and two by an address that they have loaded. The
 * third argument is a number. */
static struct built_code kernel;
static struct code_node nodes[] = {
	{.op = NODE_param, .value = TABLE, .a = -1, .b = -1, .c = -1}, {.op = NODE_param, .value = ROW, .a = -1, .b = -1, .c = -1},
	{.op = NODE_loaded, .a = 1, .b = -1, .c = -1}, {.op = NODE_add, .a = 0, .b = 2, .c = -1}, {.op = NODE_param, .value = COUNT, .a = -1, .b = -1, .c = -1},
	{.op = NODE_add, .a = 1, .b = 4, .c = -1},
};
static struct code_term all_items = {0, 1}; /* executions: those of the first counter */

static void access(enum code_class class, int32_t address, uint32_t bytes)
{
	struct code_instruction *i = build_memory(&kernel, class, SPACE_global, class == CODE_load ? "1 <- 2" : "<- 1 2");
	i->address = address;
	i->bytes = (uint8_t)bytes;
}

static void make_kernel(void)
{
	build_start(&kernel);
	access(CODE_load, 3, 4);
	access(CODE_load, 5, 8);
	access(CODE_store, 1, 4);
	access(CODE_load, 2, 2);
	kernel.code.nodes = nodes;
	kernel.code.node_count = GS_ARRAY_LEN(nodes);
	kernel.code.terms = &all_items;
	kernel.code.term_count = 1;
	kernel.code.counter_count = 1;
	kernel.edges[0].first_term = 0;
	kernel.edges[0].term_count = 1;
	kernel.edges[0].denominator = 1;
}

static struct launch_profile profile_of(const uint64_t *items)
{
	return (struct launch_profile){.global = {*items, 1, 1}, .local = {64, 1, 1}, .groups = {*items / 64, 1, 1}, .code = &kernel.code, .counts = items, .scale = 1};
}

/* 100 work-items: 400 bytes of the table, 800 and 400 of the row, 200 elsewhere, though that address depends on what the row has. */
static void bytes_are_counted_by_argument(void)
{
	const uint64_t items = 100;
	make_kernel();
	struct launch_profile p = profile_of(&items);
	struct most_bytes all = launch_most_bytes(&p, 1u << TABLE | 1u << ROW, false), stored = launch_most_bytes(&p, 1u << TABLE | 1u << ROW, true);
	CU_ASSERT_EQUAL(all.of[TABLE], 400);
	CU_ASSERT_EQUAL(all.of[ROW], 1200);
	CU_ASSERT_EQUAL(all.of[COUNT], 0);
	CU_ASSERT_EQUAL(all.elsewhere, 200);
	CU_ASSERT_EQUAL(stored.of[TABLE], 0);
	CU_ASSERT_EQUAL(stored.of[ROW], 400);
	CU_ASSERT_EQUAL(stored.elsewhere, 0);
	all = launch_most_bytes(&p, 1u << ROW, false); /* the table is no pointer */
	CU_ASSERT_EQUAL(all.elsewhere, 600);
}

struct launched {
	struct launch_record record;
	uint64_t values[ARGUMENTS], bytes[ARGUMENTS];
	struct argument_memory memory[ARGUMENTS];
};

static const struct trace_glance *glance; /* of the launches; NULL: none */

static void launch(struct gpu_state *s, const struct gpu *gpu, struct launched *l, uint64_t items, struct launch_profile *p)
{
	*p = profile_of(&items);
	l->record.argument_count = ARGUMENTS;
	l->record.argument_values = l->values;
	l->record.argument_bytes = l->bytes;
	l->record.argument_memory = l->memory;
	find_state_before(s, gpu, &l->record, 1, glance, p);
	p->counts = NULL; /* it is the caller's no more */
}

/* A launch of 64 work-items uses some hundred bytes of a table of 4 MiB, and 1 MiB of work-items all of it: after the former, the latter finds nothing, and finds
 * all when it is launched again. Before, a launch was taken to use all of buffers that fit into L2. */
static void a_small_launch_leaves_little_of_a_large_buffer(void)
{
	const struct gpu gpu = test_gpu("h200", NULL);
	static struct gpu_state s;
	struct launched l = {.values = {1ull << 40, 2ull << 40, 7}, .bytes = {4 * MIB, 16 * MIB, 0}, .memory = {{.buffer = 1}, {.buffer = 2}, {0}}};
	struct launch_profile p;
	make_kernel();
	launch(&s, &gpu, &l, 64, &p);
	launch(&s, &gpu, &l, 64, &p);
	CU_ASSERT_EQUAL(p.memory_before.cold[TABLE], 0);
	launch(&s, &gpu, &l, MIB, &p);
	CU_ASSERT(p.memory_before.known);
	CU_ASSERT_EQUAL(p.memory_before.cold[TABLE], ALL_COLD);
	CU_ASSERT_EQUAL(p.memory_before.cold[ROW], ALL_COLD);
	launch(&s, &gpu, &l, MIB, &p);
	CU_ASSERT_EQUAL(p.memory_before.cold[TABLE], 0);
	CU_ASSERT_EQUAL(p.memory_before.cold[ROW], 0);
}

/* Two pointers into one buffer: each is used from where it points. 4096 work-items ask for 16 KiB (and 8 elsewhere) from the middle on, and 48 KiB of the begin. */
static void pointers_into_one_buffer(void)
{
	const struct gpu gpu = test_gpu("h200", NULL);
	static struct gpu_state s;
	struct launched l = {.values = {1ull << 40 | 2 * MIB, 1ull << 40, 7}, .bytes = {4 * MIB, 0, 0}, .memory = {{.buffer = 1}, {0}, {0}}};
	struct launch_profile p;
	make_kernel();
	launch(&s, &gpu, &l, 4096, &p);
	CU_ASSERT_EQUAL(s.memory.count, 2);
	for (uint32_t i = 0; i < s.memory.count; i++) {
		const struct recent_memory *r = &s.memory.recent[i];
		CU_ASSERT_EQUAL(r->bytes, r->begin ? 4096 * 6 : 4096 * 14);
		CU_ASSERT_EQUAL(r->dirty, r->begin ? 0 : 4096 * 4);
	}
	l.values[TABLE] = l.values[ROW] = 1ull << 40; /* the same place: one part */
	launch(&s, &gpu, &l, 4096, &p);
	CU_ASSERT_EQUAL(s.memory.recent[0].begin, 0);
	CU_ASSERT_EQUAL(s.memory.recent[0].bytes, 4096 * 20);
}

/* 1024 work-items that go through all of a table of 1 MiB ask for 4 KiB of it, and those after them for 16 times as much: all of it is there. */
static void who_goes_anywhere_uses_all_that_fits(void)
{
	const struct gpu gpu = test_gpu("h200", NULL);
	const struct trace_glance anywhere = {.spread = 8, .extent = {MIB}};
	static struct gpu_state s;
	struct launched l = {.values = {1ull << 40, 2ull << 40, 7}, .bytes = {MIB, 65536, 0}, .memory = {{.buffer = 1}, {.buffer = 2}, {0}}};
	struct launch_profile p;
	make_kernel();
	glance = &anywhere;
	launch(&s, &gpu, &l, 1024, &p);
	launch(&s, &gpu, &l, 16384, &p);
	CU_ASSERT_EQUAL(p.memory_before.cold[TABLE], 0);
	glance = NULL;
}

void add_before_tests(void)
{
	CU_pSuite s = CU_add_suite("before", NULL, NULL);
	CU_add_test(s, "bytes are counted by argument", bytes_are_counted_by_argument);
	CU_add_test(s, "a small launch leaves little of a large buffer", a_small_launch_leaves_little_of_a_large_buffer);
	CU_add_test(s, "pointers into one buffer", pointers_into_one_buffer);
	CU_add_test(s, "who goes anywhere uses all that fits", who_goes_anywhere_uses_all_that_fits);
}
