/* Control flow, dominators, loops and liveness of small functions, computed by hand. */
#include "tests/tests.h"

#include "analysis/graph/graph.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Makes a function from lines like PTX: "L1: @!%p1 add %r1, %r2, %d3". %r registers have 32 bits, %d have 64, %p are predicates.
 * Each kind has KIND_REGISTERS registers. Operands that begin with L are labels. The first operand is written, except by st and
 * bra.
 */
enum { KIND_REGISTERS = 64, MAX_OPERANDS = 8, MAX_LABELS = 64 };

struct text_function {
	struct ptx_function function;
	struct ptx_register registers[3 * KIND_REGISTERS];
	struct ptx_label labels[MAX_LABELS];
	char *text;
};

static int32_t register_of(const char *name)
{
	const char *kinds = "rdp", *kind = strchr(kinds, name[1]);
	return (int32_t)(kind - kinds) * KIND_REGISTERS + atoi(name + 2);
}

static int32_t label_of(struct text_function *t, const char *name, size_t length)
{
	uint32_t i = 0;
	while (i < t->function.label_count &&
	       (strncmp(t->labels[i].name, name, length) || t->labels[i].name[length]))
		i++;
	if (i == t->function.label_count) {
		CU_ASSERT_FATAL(i < MAX_LABELS);
		t->labels[t->function.label_count++] =
		    (struct ptx_label){.name = strndup(name, length), .at = UINT32_MAX};
	}
	return (int32_t)i;
}

static void read_operands(struct text_function *t, struct ptx_instruction *in, char *words)
{
	in->operands = calloc(MAX_OPERANDS, sizeof *in->operands);
	bool writes = strncmp(in->opcode, "st", 2) != 0;
	for (char *save, *w = strtok_r(words, ", ", &save); w; w = strtok_r(NULL, ", ", &save)) {
		struct ptx_operand *o = &in->operands[in->operand_count++];
		*o = (struct ptx_operand){.kind = PTX_IMMEDIATE, .reg = -1, .label = -1};
		if (*w == '%') {
			o->kind = PTX_REGISTER;
			o->reg = register_of(w);
			o->write = writes && in->operand_count == 1;
		} else if (*w == 'L') {
			o->kind = PTX_LABEL;
			o->label = label_of(t, w, strlen(w));
		} else {
			o->value = atoi(w);
		}
	}
}

static void read_line(struct text_function *t, char *line)
{
	struct ptx_function *f = &t->function;
	char *colon = strchr(line, ':');
	if (colon) {
		t->labels[label_of(t, line, (size_t)(colon - line))].at = f->instruction_count;
		line = colon + 1 + strspn(colon + 1, " ");
	}
	if (!*line)
		return;
	struct ptx_instruction *in = &f->instructions[f->instruction_count++];
	in->guard = -1;
	if (*line == '@') {
		in->guard_negated = line[1] == '!';
		in->guard = register_of(line + 1 + in->guard_negated);
		line = strchr(line, ' ') + 1;
	}
	char *blank = strchr(line, ' ');
	if (blank)
		*blank = 0;
	in->opcode = line;
	read_operands(t, in, blank ? blank + 1 : line + strlen(line));
}

static struct text_function *function_create(const char *text)
{
	static const uint8_t bits[3] = {32, 64, 1};
	struct text_function *t = calloc(1, sizeof *t);
	size_t lines = 1;
	for (const char *p = text; *p; p++)
		lines += *p == '\n';
	t->text = strdup(text);
	t->function = (struct ptx_function){.name = "f",
	                                    .registers = t->registers,
	                                    .register_count = 3 * KIND_REGISTERS,
	                                    .labels = t->labels,
	                                    .instructions = calloc(lines, sizeof(struct ptx_instruction))};
	for (uint32_t i = 0; i < 3 * KIND_REGISTERS; i++)
		t->registers[i] = (struct ptx_register){.name = "%x", .bits = bits[i / KIND_REGISTERS]};
	for (char *save, *line = strtok_r(t->text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		read_line(t, line);
	return t;
}

static void function_free(struct text_function *t)
{
	for (uint32_t i = 0; i < t->function.instruction_count; i++)
		free(t->function.instructions[i].operands);
	for (uint32_t i = 0; i < t->function.label_count; i++)
		free((char *)t->labels[i].name);
	free(t->function.instructions);
	free(t->text);
	free(t);
}

struct made {
	struct text_function *text;
	struct graph *graph;
};

static struct made make(const char *text)
{
	struct made m = {.text = function_create(text)};
	struct gs_error err = {""};
	CU_ASSERT_EQUAL_FATAL(graph_build(&m.text->function, &m.graph, &err), 0);
	return m;
}

static void unmake(struct made *m)
{
	graph_free(m->graph);
	function_free(m->text);
}

static void expect_numbers(const char *what, const int32_t *expected, const int32_t *found, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (expected[i] != found[i]) {
			printf("%s[%zu] is %d, not %d\n", what, i, found[i], expected[i]);
			CU_FAIL("numbers differ");
		} else {
			CU_PASS("");
		}
}

/* Expects idom, ipdom and loop of every block, in order. */
static void expect_blocks(const struct graph *g, const int32_t (*expected)[3], size_t count)
{
	CU_ASSERT_EQUAL_FATAL(g->block_count, count);
	for (size_t i = 0; i < count; i++) {
		int32_t found[3] = {g->blocks[i].idom, g->blocks[i].ipdom, g->blocks[i].loop};
		char what[32];
		snprintf(what, sizeof what, "block %zu", i);
		expect_numbers(what, expected[i], found, 3);
	}
}

static const char diamond[] = "setp %p1, %r1, 0\n"
                              "@%p1 bra L1\n" /* block 0 */
                              "mov %r2, 1\n"
                              "bra L2\n"         /* block 1 */
                              "L1: mov %r2, 2\n" /* block 2 */
                              "L2: st %r1, %r2\n"
                              "ret\n"; /* block 3 */

static void test_diamond(void)
{
	struct made m = make(diamond);
	/* The branch dominates both arms and the join. The join post-dominates the other three. */
	const int32_t expected[][3] = {{-1, 3, -1}, {0, 3, -1}, {0, 3, -1}, {0, -1, -1}};
	expect_blocks(m.graph, expected, 4);
	/* 0->2 taken, 0->1, 1->3 taken, 2->3, 3->out taken */
	const struct { uint32_t from; int32_t to; bool taken; } edges[] = {
		{0, 2, true}, {0, 1, false}, {1, 3, true}, {2, 3, false}, {3, -1, true}};
	CU_ASSERT_EQUAL_FATAL(m.graph->edge_count, 5);
	for (size_t i = 0; i < 5; i++) {
		CU_ASSERT_EQUAL(m.graph->edges[i].from, edges[i].from);
		CU_ASSERT_EQUAL(m.graph->edges[i].to, edges[i].to);
		CU_ASSERT_EQUAL(m.graph->edges[i].taken, edges[i].taken);
		CU_ASSERT_FALSE(m.graph->edges[i].back);
	}
	const struct graph_block *join = &m.graph->blocks[3];
	CU_ASSERT_EQUAL_FATAL(join->in_count, 2);
	CU_ASSERT_EQUAL(m.graph->in[join->first_in], 2);
	CU_ASSERT_EQUAL(m.graph->in[join->first_in + 1], 3);
	CU_ASSERT_EQUAL(join->first, 5);
	CU_ASSERT_EQUAL(join->count, 2);
	CU_ASSERT_TRUE(graph_dominates(m.graph, 0, 3));
	CU_ASSERT_FALSE(graph_dominates(m.graph, 1, 3));
	CU_ASSERT_FALSE(graph_dominates(m.graph, 3, 0));
	CU_ASSERT_TRUE(graph_post_dominates(m.graph, 3, 0));
	CU_ASSERT_FALSE(graph_post_dominates(m.graph, 2, 0));
	const int32_t blocks[] = {0, 0, 1, 1, 2, 3, 3, -1};
	for (uint32_t i = 0; i < 8; i++)
		CU_ASSERT_EQUAL(graph_block_of(m.graph, i), blocks[i]);
	unmake(&m);
}

static void test_guarded_return(void)
{
	/* A guarded return has a way out and a way on. No other block is certain to run. */
	struct made m = make("@%p1 ret\nmov %r1, 1\nret\n");
	const int32_t expected[][3] = {{-1, -1, -1}, {0, -1, -1}};
	expect_blocks(m.graph, expected, 2);
	CU_ASSERT_EQUAL(m.graph->blocks[0].edge_count, 2);
	CU_ASSERT_EQUAL(m.graph->edges[0].to, -1);
	CU_ASSERT_TRUE(m.graph->edges[0].taken);
	CU_ASSERT_EQUAL(m.graph->edges[1].to, 1);
	CU_ASSERT_FALSE(m.graph->edges[1].taken);
	unmake(&m);
}

static void test_calls_end_blocks(void)
{
	struct made m = make("mov %r1, 1\ncall.uni %r2\nmov %r3, 1\n@%p1 call.uni %r2\nmov %r1, 2\n");
	CU_ASSERT_EQUAL_FATAL(m.graph->block_count, 3);
	CU_ASSERT_TRUE(m.graph->blocks[0].calls && m.graph->blocks[1].calls && !m.graph->blocks[2].calls);
	/* A call comes back, also under a guard, so it has one way on. An end without ret leads out of the function. */
	for (uint32_t b = 0; b < 3; b++) {
		CU_ASSERT_EQUAL(m.graph->blocks[b].edge_count, 1);
		CU_ASSERT_EQUAL(m.graph->edges[m.graph->blocks[b].first_edge].to, b < 2 ? (int32_t)b + 1 : -1);
	}
	unmake(&m);
}

static void test_jump_table(void)
{
	/* Label L1 stands twice in the table, which makes one edge. L9 does not exist and leads out. */
	struct made m = make("brx.idx %r1, L1, L2, L1, L9\nL1: mov %r1, 1\nL2: ret\n");
	const int32_t expected[][3] = {{-1, -1, -1}, {0, 2, -1}, {0, -1, -1}};
	expect_blocks(m.graph, expected, 3);
	CU_ASSERT_EQUAL(m.graph->blocks[0].edge_count, 3);
	CU_ASSERT_EQUAL(m.graph->edges[0].to, 1);
	CU_ASSERT_EQUAL(m.graph->edges[1].to, 2);
	CU_ASSERT_EQUAL(m.graph->edges[2].to, -1);
	unmake(&m);
}

static void test_labels_nobody_jumps_to(void)
{
	struct made m = make("mov %r1, 1\nL1: mov %r2, 1\nL2: ret\n");
	CU_ASSERT_EQUAL(m.graph->block_count, 1);
	unmake(&m);
}

static void test_empty_function(void)
{
	struct made m = make("");
	const int32_t expected[][3] = {{-1, -1, -1}};
	expect_blocks(m.graph, expected, 1);
	CU_ASSERT_EQUAL(m.graph->edge_count, 1);
	CU_ASSERT_EQUAL(m.graph->edges[0].to, -1);
	CU_ASSERT_EQUAL(graph_block_of(m.graph, 0), -1);
	unmake(&m);
}

static void test_nested_loops(void)
{
	struct made m = make("mov %r1, 0\n"        /* 0 */
	                     "L1: mov %r2, 0\n"    /* 1: outer header */
	                     "L2: add %r2, %r2, 1\n"
	                     "@%p1 bra L2\n"       /* 2: inner, its own header and latch */
	                     "add %r1, %r1, 1\n"
	                     "@%p2 bra L1\n"       /* 3: outer latch */
	                     "ret\n");             /* 4 */
	const int32_t expected[][3] = {{-1, 1, -1}, {0, 2, 0}, {1, 3, 1}, {2, 4, 0}, {3, -1, -1}};
	expect_blocks(m.graph, expected, 5);
	CU_ASSERT_EQUAL_FATAL(m.graph->loop_count, 2);
	CU_ASSERT_EQUAL(m.graph->loops[0].header, 1);
	CU_ASSERT_EQUAL(m.graph->loops[0].outer, -1);
	CU_ASSERT_EQUAL(m.graph->loops[0].depth, 1);
	CU_ASSERT_EQUAL(m.graph->loops[1].header, 2);
	CU_ASSERT_EQUAL(m.graph->loops[1].outer, 0);
	CU_ASSERT_EQUAL(m.graph->loops[1].depth, 2);
	CU_ASSERT_TRUE(graph_in_loop(m.graph, 2, 0));
	CU_ASSERT_TRUE(graph_in_loop(m.graph, 2, 1));
	CU_ASSERT_FALSE(graph_in_loop(m.graph, 3, 1));
	CU_ASSERT_FALSE(graph_in_loop(m.graph, 4, 0));
	uint32_t back = 0;
	for (uint32_t e = 0; e < m.graph->edge_count; e++)
		back += m.graph->edges[e].back;
	CU_ASSERT_EQUAL(back, 2);
	unmake(&m);
}

static void test_two_back_edges_to_one_header(void)
{
	/* `continue`: two back edges to one header make one loop. */
	struct made m = make("mov %r1, 0\n"     /* 0 */
	                     "L1: @%p1 bra L3\n" /* 1 */
	                     "@%p2 bra L1\n"     /* 2: continue */
	                     "bra L1\n"          /* 3 */
	                     "L3: ret\n");       /* 4 */
	const int32_t expected[][3] = {{-1, 1, -1}, {0, 4, 0}, {1, 1, 0}, {2, 1, 0}, {1, -1, -1}};
	expect_blocks(m.graph, expected, 5);
	CU_ASSERT_EQUAL(m.graph->loop_count, 1);
	unmake(&m);
}

static void test_two_loops_in_a_loop(void)
{
	struct made m = make("mov %r1, 0\n"      /* 0 */
	                     "L1: @%p1 bra L2\n"  /* 1: outer header */
	                     "L3: @%p2 bra L3\n"  /* 2: first inner */
	                     "bra L4\n"           /* 3 */
	                     "L2: mov %r2, 0\n"   /* 4 */
	                     "L5: @%p3 bra L5\n"  /* 5: second inner */
	                     "L4: @%p4 bra L1\n"  /* 6: outer latch */
	                     "ret\n");            /* 7 */
	CU_ASSERT_EQUAL_FATAL(m.graph->loop_count, 3);
	int32_t outer = m.graph->blocks[1].loop, first = m.graph->blocks[2].loop, second = m.graph->blocks[5].loop;
	CU_ASSERT_EQUAL(outer, 0);
	CU_ASSERT_NOT_EQUAL(first, second);
	CU_ASSERT_EQUAL(m.graph->loops[first].outer, outer);
	CU_ASSERT_EQUAL(m.graph->loops[second].outer, outer);
	CU_ASSERT_EQUAL(m.graph->blocks[3].loop, outer);
	CU_ASSERT_EQUAL(m.graph->blocks[4].loop, outer);
	CU_ASSERT_EQUAL(m.graph->blocks[6].loop, outer);
	CU_ASSERT_EQUAL(m.graph->blocks[7].loop, -1);
	/* Inside: 1 splits, 6 joins. */
	CU_ASSERT_EQUAL(m.graph->blocks[1].ipdom, 6);
	CU_ASSERT_EQUAL(m.graph->blocks[6].idom, 1);
	unmake(&m);
}

static void test_irreducible(void)
{
	/* 1 and 2 lead to each other, and 0 leads to both. Neither dominates the other, so there is no natural loop. */
	struct made m = make("@%p1 bra L2\n"     /* 0 */
	                     "L1: mov %r1, 0\n"  /* 1 */
	                     "L2: @%p2 bra L1\n" /* 2 */
	                     "ret\n");           /* 3 */
	const int32_t expected[][3] = {{-1, 2, -1}, {0, 2, -1}, {0, 3, -1}, {2, -1, -1}};
	expect_blocks(m.graph, expected, 4);
	CU_ASSERT_EQUAL(m.graph->loop_count, 0);
	unmake(&m);
}

static void test_irreducible_inside_of_a_loop(void)
{
	/* The same, with a loop around it. Its header 0 dominates everything. */
	struct made m = make("L0: @%p1 bra L2\n" /* 0 */
	                     "L1: mov %r1, 0\n"  /* 1 */
	                     "L2: @%p2 bra L1\n" /* 2 */
	                     "@%p3 bra L0\n"     /* 3 */
	                     "ret\n");           /* 4 */
	const int32_t expected[][3] = {{-1, 2, 0}, {0, 2, 0}, {0, 3, 0}, {2, 4, 0}, {3, -1, -1}};
	expect_blocks(m.graph, expected, 5);
	CU_ASSERT_EQUAL(m.graph->loop_count, 1);
	unmake(&m);
}

static void test_dominators_that_take_several_passes(void)
{
	/* Cooper, Harvey and Kennedy, Figure 4: 0 leads to 1 and 2; 1 to 3; 2 to 4 and 5; 3 and 4 lead to each other, and so do 4
	 * and 5. Two ways lead to each of 3, 4 and 5, so only 0 dominates them. One pass does not find this. */
	struct made m = make("@%p1 bra L2\n"          /* 0 */
	                     "L1: bra L3\n"           /* 1 */
	                     "L2: @%p2 bra L4\n"      /* 2 */
	                     "bra L5\n"               /* 3: on the way from 2 to 5 */
	                     "L3: bra L4\n"           /* 4: the figure's 3 */
	                     "L4: @%p3 bra L3\n"      /* 5: the figure's 4 */
	                     "L5: @%p4 bra L4\n"      /* 6: the figure's 5 */
	                     "ret\n");                /* 7 */
	const int32_t idom[] = {-1, 0, 0, 2, 0, 0, 0, 6};
	CU_ASSERT_EQUAL_FATAL(m.graph->block_count, 8);
	for (uint32_t b = 0; b < 8; b++)
		CU_ASSERT_EQUAL(m.graph->blocks[b].idom, idom[b]);
	unmake(&m);
}

static void test_endless_loop(void)
{
	/* There is no way out of 2, so it has no post-dominator. The post-dominator of 0 is the other arm. */
	struct made m = make("@%p1 bra L2\n"          /* 0 */
	                     "ret\n"                  /* 1 */
	                     "L2: add %r1, %r1, 1\n"
	                     "bra L2\n"               /* 2 */
	                     "mov %r2, 0\n"           /* 3: not reachable */
	                     "ret\n");
	const int32_t expected[][3] = {{-1, 1, -1}, {0, -1, -1}, {0, -1, 0}, {-1, -1, -1}};
	expect_blocks(m.graph, expected, 4);
	CU_ASSERT_TRUE(m.graph->blocks[2].reachable);
	CU_ASSERT_FALSE(m.graph->blocks[3].reachable);
	CU_ASSERT_EQUAL(m.graph->order_count, 3);
	CU_ASSERT_FALSE(graph_dominates(m.graph, 0, 3));
	CU_ASSERT_FALSE(graph_post_dominates(m.graph, 2, 0));
	unmake(&m);
}

static void test_endless_function(void)
{
	struct made m = make("L1: bra L1\n");
	const int32_t expected[][3] = {{-1, -1, 0}};
	expect_blocks(m.graph, expected, 1);
	unmake(&m);
}

static void test_unreachable_way_into_a_loop(void)
{
	/* Block 1 is dead code that leads into the loop. The loop's header 2 still dominates the loop. */
	struct made m = make("bra L1\n"              /* 0 */
	                     "bra L2\n"              /* 1: dead */
	                     "L1: mov %r1, 0\n"      /* 2: header */
	                     "L2: @%p1 bra L1\n"     /* 3 */
	                     "ret\n");               /* 4 */
	const int32_t expected[][3] = {{-1, 2, -1}, {-1, 3, -1}, {0, 3, 0}, {2, 4, 0}, {3, -1, -1}};
	expect_blocks(m.graph, expected, 5);
	unmake(&m);
}

static void test_unreachable_blocks_dominate_only_themselves(void)
{
	struct made m = make("ret\n@%p1 bra L1\nmov %r1, 1\nL1: bra L1\n");
	CU_ASSERT_EQUAL_FATAL(m.graph->block_count, 4);
	CU_ASSERT_TRUE(graph_dominates(m.graph, 1, 1));
	CU_ASSERT_FALSE(graph_dominates(m.graph, 1, 2));
	CU_ASSERT_FALSE(graph_dominates(m.graph, 2, 1));
	CU_ASSERT_FALSE(graph_post_dominates(m.graph, 3, 2)); /* block 3 is in an endless loop */
	unmake(&m);
}

static void expect_set(const struct liveness *l, const uint64_t *sets, uint32_t block, const char *names)
{
	uint64_t expected[8] = {0};
	char *copy = strdup(names);
	CU_ASSERT_FATAL(l->words <= 8);
	for (char *save, *n = strtok_r(copy, " ", &save); n; n = strtok_r(NULL, " ", &save))
		expected[register_of(n) / 64] |= UINT64_C(1) << register_of(n) % 64;
	CU_ASSERT_EQUAL(memcmp(expected, sets + (size_t)block * l->words, l->words * 8), 0);
	free(copy);
}

static struct liveness live(const struct made *m)
{
	struct liveness l;
	struct gs_error err;
	CU_ASSERT_EQUAL_FATAL(graph_liveness(m->graph, &l, &err), 0);
	return l;
}

static void test_liveness_of_a_diamond(void)
{
	struct made m = make(diamond);
	struct liveness l = live(&m);
	/* The entry and the end read %r1. Both arms make %r2. */
	expect_set(&l, l.in, 0, "%r1");
	expect_set(&l, l.out, 0, "%r1");
	expect_set(&l, l.in, 1, "%r1");
	expect_set(&l, l.out, 1, "%r1 %r2");
	expect_set(&l, l.in, 2, "%r1");
	expect_set(&l, l.in, 3, "%r1 %r2");
	expect_set(&l, l.out, 3, "");
	CU_ASSERT_EQUAL(l.most, 2);
	CU_ASSERT_EQUAL(l.most_predicates, 1);
	liveness_free(&l);
	unmake(&m);
}

static void test_liveness_around_a_loop(void)
{
	struct made m = make("ld %d1, %d9\n"           /* 0 */
	                     "mov %r1, 0\n"
	                     "L1: ld %r2, %d1\n"       /* 1 */
	                     "add %r1, %r1, %r2\n"
	                     "add %d1, %d1, 4\n"
	                     "setp %p1, %d1, %d2\n"
	                     "@%p1 bra L1\n"
	                     "st %d3, %r1\n"           /* 2 */
	                     "ret\n");
	struct liveness l = live(&m);
	/* Live around the loop: the pointer, its end, the sum and its destination: 2 + 2 + 1 + 2 words. */
	expect_set(&l, l.in, 0, "%d2 %d3 %d9");
	expect_set(&l, l.in, 1, "%d1 %d2 %d3 %r1");
	expect_set(&l, l.out, 1, "%d1 %d2 %d3 %r1");
	expect_set(&l, l.in, 2, "%d3 %r1");
	/* After the load, the loaded value is live, too. */
	CU_ASSERT_EQUAL(l.most, 8);
	CU_ASSERT_EQUAL(l.most_at, 3); /* the walk is backwards, so it finds the point before the addition */
	CU_ASSERT_EQUAL(l.most_predicates, 1);
	liveness_free(&l);
	unmake(&m);
}

static void test_liveness_of_guarded_writes(void)
{
	/* The guarded move may not happen, so %r1 is live before it. %r1 is not live before the move without a guard. */
	struct made m = make("@%p1 mov %r1, 1\nst %d1, %r1\nmov %r1, 2\nst %d1, %r1\nret\n");
	struct liveness l = live(&m);
	expect_set(&l, l.in, 0, "%p1 %r1 %d1");
	CU_ASSERT_EQUAL(l.most, 3);
	CU_ASSERT_EQUAL(l.most_predicates, 1);
	liveness_free(&l);
	unmake(&m);
	/* A guarded write in one block also does not end the life of a value that a later block reads. */
	m = make("@%p1 mov %r1, 1\n@%p2 bra L1\nL1: st %d1, %r1\nret\n");
	l = live(&m);
	expect_set(&l, l.in, 0, "%p1 %p2 %r1 %d1");
	liveness_free(&l);
	unmake(&m);
}

static void test_liveness_of_unused_results(void)
{
	/* No instruction reads %d1 and %r2, but each takes a register when it is written: 2 words alone, 1 word beside %r1. */
	struct made m = make("mov %r1, 1\nmov %r2, 1\nst %r1\nmov %d1, 5\nret\n");
	struct liveness l = live(&m);
	expect_set(&l, l.in, 0, "");
	CU_ASSERT_EQUAL(l.most, 2);
	liveness_free(&l);
	unmake(&m);
}

static void test_unreachable_code_takes_no_registers(void)
{
	struct made m = make("mov %r1, 1\nst %r1\nret\nadd %d1, %d2, %d3\nst %d1, %d2\nret\n");
	struct liveness l = live(&m);
	CU_ASSERT_EQUAL(l.most, 1);
	liveness_free(&l);
	unmake(&m);
}

/* 3,000 blocks of seven instructions. Every hundred blocks are in a loop, and one loop contains all of them. */
static void test_large_functions(void)
{
	enum { BLOCKS = 3000 };
	struct gs_buf text = {0};
	gs_buf_puts(&text, "L0: mov %r0, 0\n");
	/* Calls end blocks without a label. The lines can have only few labels. */
	for (uint32_t i = 0; i < BLOCKS; i++) {
		if (i % 100 == 0)
			gs_buf_printf(&text, "L%u: ", i / 100 + 1);
		for (int k = 0; k < 6; k++)
			gs_buf_printf(&text, "add %%r%u, %%r%u, %%r%u\n", (i + k) % 60, (i * 7) % 60, (i * 3) % 60);
		if (i % 100 == 99)
			gs_buf_printf(&text, "@%%p1 bra L%u\n", i / 100 + 1);
		else
			gs_buf_puts(&text, "call.uni\n");
	}
	gs_buf_puts(&text, "@%p2 bra L0\nret\n");
	struct made m = make(text.data);
	struct liveness l = live(&m);
	CU_ASSERT_EQUAL(m.graph->loop_count, 31);
	CU_ASSERT_EQUAL(m.graph->loops[30].depth, 2);
	CU_ASSERT_TRUE(m.graph->block_count >= BLOCKS);
	liveness_free(&l);
	unmake(&m);
	gs_buf_free(&text);
}

static void test_dot(void)
{
	struct made m = make("L1: mov %r1, 7\n@!%p1 bra L1\nret\n");
	struct gs_buf out = {0};
	graph_dot(m.graph, true, &out);
	CU_ASSERT_STRING_EQUAL(out.data, "digraph \"f\" {\n"
	                                 "node [shape=box, fontname=\"monospace\"];\n"
	                                 "b1 [label=\"block 1: 1 instruction\\lret\\l\"];\n"
	                                 "subgraph cluster_0 {\n"
	                                 "label=\"loop 0\";\n"
	                                 "b0 [label=\"block 0: 2 instructions\\lmov %x, 7\\l@!%x bra L1\\l\"];\n"
	                                 "}\n"
	                                 "end [shape=oval];\n"
	                                 "b0 -> b0 [style=bold];\n"
	                                 "b0 -> b1 [style=dashed];\n"
	                                 "b1 -> end [style=solid];\n"
	                                 "}\n");
	gs_buf_free(&out);
	unmake(&m);
}

void add_graph_tests(void)
{
	CU_pSuite suite = CU_add_suite("graph", NULL, NULL);
	CU_add_test(suite, "a branch and its join", test_diamond);
	CU_add_test(suite, "a guarded return has two ways on", test_guarded_return);
	CU_add_test(suite, "a call ends its block and comes back", test_calls_end_blocks);
	CU_add_test(suite, "a jump table has an edge per label", test_jump_table);
	CU_add_test(suite, "a label that nobody jumps to begins no block", test_labels_nobody_jumps_to);
	CU_add_test(suite, "a function without instructions has one block", test_empty_function);
	CU_add_test(suite, "nested loops", test_nested_loops);
	CU_add_test(suite, "two edges back to one header are one loop", test_two_back_edges_to_one_header);
	CU_add_test(suite, "two loops inside of a loop", test_two_loops_in_a_loop);
	CU_add_test(suite, "irreducible flow has no loop", test_irreducible);
	CU_add_test(suite, "irreducible flow inside of a loop belongs to it", test_irreducible_inside_of_a_loop);
	CU_add_test(suite, "dominators that one pass does not find", test_dominators_that_take_several_passes);
	CU_add_test(suite, "unreachable blocks dominate only themselves",
		    test_unreachable_blocks_dominate_only_themselves);
	CU_add_test(suite, "an endless loop has no post-dominator", test_endless_loop);
	CU_add_test(suite, "a function that is one endless loop", test_endless_function);
	CU_add_test(suite, "dead code that leads into a loop does not matter", test_unreachable_way_into_a_loop);
	CU_add_test(suite, "liveness of a branch and its join", test_liveness_of_a_diamond);
	CU_add_test(suite, "liveness around a loop", test_liveness_around_a_loop);
	CU_add_test(suite, "a guarded write ends no life", test_liveness_of_guarded_writes);
	CU_add_test(suite, "a result that nobody reads takes a register", test_liveness_of_unused_results);
	CU_add_test(suite, "unreachable code takes no registers", test_unreachable_code_takes_no_registers);
	CU_add_test(suite, "thousands of blocks", test_large_functions);
	CU_add_test(suite, "a graph as DOT text", test_dot);
}
