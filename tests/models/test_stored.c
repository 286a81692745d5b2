/* Which arguments a kernel stores to. */
#include "tests/tests.h"

#include "models/stored.h"
#include "tests/models/code_builder.h"

/* Argument 0 is read at an index, 1 is written where what 2 has says, 3 is added to, and 4 is the group's own. */
static void test_stored_arguments(void)
{
	enum { IN, OUT, LIST, SUM, OWN, INDEX, AT, NODES };
	struct code_node nodes[NODES] = {{.op = NODE_param, .a = -1, .b = -1, .c = -1}};
	struct built_code b;
	for (int n = OUT; n <= OWN; n++)
		nodes[n] = (struct code_node){.op = NODE_param, .value = n, .a = -1, .b = -1, .c = -1};
	nodes[INDEX] = (struct code_node){.op = NODE_loaded, .a = LIST, .b = -1, .c = -1};
	nodes[AT] = (struct code_node){.op = NODE_add, .a = OUT, .b = INDEX, .c = -1};
	build_start(&b);
	build_memory(&b, CODE_load, SPACE_global, "1 <- 2")->address = IN;
	build_memory(&b, CODE_store, SPACE_global, "<- 1 2")->address = AT;
	build_memory(&b, CODE_atomic, SPACE_generic, "<- 1 2")->address = SUM;
	build_memory(&b, CODE_store, SPACE_shared, "<- 1 2")->address = OWN;
	build_memory(&b, CODE_store, SPACE_global, "<- 1 2")->address = -1; /* nobody knows where */
	b.code.nodes = nodes;
	b.code.node_count = NODES;
	CU_ASSERT_EQUAL(stored_arguments(&b.code), 1u << OUT | 1u << SUM);
}

void add_stored_tests(void)
{
	CU_pSuite s = CU_add_suite("stored", NULL, NULL);
	CU_add_test(s, "arguments that are stored to", test_stored_arguments);
}
