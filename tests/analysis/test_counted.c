/* Code from exact counts. The oracle executes PTX; what it counts of blocks and edges must give the counts of the code again. */
#include "tests/tests.h"

#include "analysis/graph/graph.h"
#include "analysis/mapping/mapping.h"
#include "tests/oracle/oracle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct gs_error error;

enum { THREADS = 96, MOST_BLOCKS = 64, MOST_EDGES = 128 };

#define HEAD \
	".version 8.0\n.target sm_70\n.visible .entry k(.param .u64 k_param_0)\n{\n.reg .pred %p<9>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n" \
	"mov.u32 %r1, %tid.x;\nld.param.u64 %rd1, [k_param_0];\nmul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd3, %rd1, %rd2;\nmov.u32 %r2, 0;\n"

/* A loop with a condition inside: thread t makes t % 7 iterations. */
static const char loop_text[] = HEAD
    "rem.u32 %r3, %r1, 7;\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra END;\n"
    "LOOP:\nand.b32 %r4, %r2, 1;\nsetp.eq.u32 %p2, %r4, 0;\n@%p2 bra EVEN;\nadd.u32 %r5, %r5, 3;\nbra NEXT;\n"
    "EVEN:\nld.global.u32 %r6, [%rd3];\n"
    "NEXT:\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p3, %r2, %r3;\n@%p3 bra LOOP;\n"
    "END:\nst.global.u32 [%rd3], %r2;\nret;\n}\n";

/* Some threads leave early, some in the middle of a loop. */
static const char exit_text[] = HEAD
    "setp.gt.u32 %p1, %r1, 80;\n@%p1 exit;\n"
    "LOOP:\nadd.u32 %r2, %r2, 1;\nadd.u32 %r4, %r2, %r1;\nand.b32 %r4, %r4, 15;\nsetp.eq.u32 %p2, %r4, 9;\n@%p2 ret;\n"
    "setp.lt.u32 %p3, %r2, 12;\n@%p3 bra LOOP;\nst.global.u32 [%rd3], %r2;\nret;\n}\n";

static const char straight_text[] = HEAD "setp.lt.u32 %p1, %r1, 5;\n@%p1 st.global.u32 [%rd3], %r2;\nret;\n}\n";

/* Counts of blocks and edges. Row b is block b. Where a block has two ways out, the first has a row of its own. */
struct tally {
	const struct graph *g;
	uint64_t rows[MOST_BLOCKS + MOST_EDGES];
	int32_t before[THREADS]; /* the block that a thread was in */
	uint32_t block_rows[MOST_BLOCKS], edge_row[MOST_EDGES], row_count;
	struct mapping_row_span spans[MOST_EDGES];
	struct mapping_row_term terms[2 * MOST_EDGES];
	uint32_t term_count;
	int32_t sites[64];
};

static void add_term(struct tally *t, uint32_t edge, uint32_t row, int32_t factor)
{
	if (!t->spans[edge].count++)
		t->spans[edge].first = t->term_count;
	t->terms[t->term_count++] = (struct mapping_row_term){row, factor};
}

static void make_rows(struct tally *t)
{
	t->row_count = t->g->block_count;
	for (uint32_t b = 0; b < t->g->block_count; b++) {
		const struct graph_block *block = &t->g->blocks[b];
		t->block_rows[b] = b;
		CU_ASSERT_TRUE_FATAL(block->edge_count == 1 || block->edge_count == 2);
		if (block->edge_count == 1) {
			add_term(t, block->first_edge, b, 1);
			continue;
		}
		t->edge_row[block->first_edge] = t->row_count;
		add_term(t, block->first_edge, t->row_count, 1);
		add_term(t, block->first_edge + 1, b, 1);
		add_term(t, block->first_edge + 1, t->row_count++, -1);
	}
}

static void count_edge(struct tally *t, int32_t from, int32_t to)
{
	const struct graph_block *b = &t->g->blocks[from];
	if (b->edge_count == 2 && t->g->edges[b->first_edge].to == to)
		t->rows[t->edge_row[b->first_edge]]++;
}

static void count_block(void *user, uint64_t group, uint32_t warp, uint32_t block, uint32_t mask)
{
	struct tally *t = user;
	(void)group;
	for (uint32_t lane = 0; lane < ORACLE_WARP; lane++) {
		uint32_t thread = warp * ORACLE_WARP + lane;
		if (!(mask >> lane & 1))
			continue;
		t->rows[block]++;
		if (t->before[thread] >= 0)
			count_edge(t, t->before[thread], (int32_t)block);
		t->before[thread] = (int32_t)block;
	}
}

static void run_oracle(const char *text, struct tally *t, struct oracle_counts *counts)
{
	uint32_t out[THREADS] = {0};
	struct oracle *o = NULL;
	struct oracle_argument argument = {ORACLE_BUFFER, out, sizeof out};
	struct oracle_launch launch = {.arguments = &argument,
	                               .argument_count = 1,
	                               .global = {THREADS, 1, 1},
	                               .local = {THREADS, 1, 1},
	                               .events = {.block = count_block, .user = t}};
	CU_ASSERT_EQUAL_FATAL(oracle_create(text, strlen(text), "k", &o, &error), 0);
	CU_ASSERT_EQUAL_FATAL(oracle_run(o, &launch, counts, &error), 0);
	oracle_free(o);
	for (uint32_t i = 0; i < THREADS; i++)
		count_edge(t, t->before[i], -1);
}

/* off: executions that guards turned off, which the oracle does not count. */
static void check_counts(const char *text, uint64_t off, const char *arch)
{
	struct tally t = {.row_count = 0};
	struct ptx_module *module = NULL;
	struct graph *g = NULL;
	struct kernel_code *code = NULL, *again = NULL;
	uint64_t threads[MOST_BLOCKS] = {0}, warps[MOST_BLOCKS] = {0};
	struct oracle_counts counts = {.block_threads = threads, .block_warps = warps};
	CU_ASSERT_EQUAL_FATAL(ptx_read(text, strlen(text), &module, &error), 0);
	CU_ASSERT_EQUAL_FATAL(graph_build(&module->functions[0], &g, &error), 0);
	t.g = g;
	memset(t.before, -1, sizeof t.before);
	for (uint32_t i = 0; i < GS_ARRAY_LEN(t.sites); i++)
		t.sites[i] = i == 6 ? 2 : -1;
	make_rows(&t);
	run_oracle(text, &t, &counts);
	const struct mapping_row_table table = {.block_rows = t.block_rows, .edge_terms = t.spans, .sites = t.sites};
	const struct mapping_rows rows = {.row_count = t.row_count, .site_count = 3, .functions = &table, .terms = t.terms};
	CU_ASSERT_EQUAL_FATAL(mapping_counted(module, &module->functions[0], &rows, arch, &code, &error), 0);
	struct gs_buf bytes = {0};
	code_write(code, &bytes); /* what is written can be read */
	CU_ASSERT_EQUAL_FATAL(code_read(bytes.data, bytes.len, &again, &error), 0);
	CU_ASSERT_EQUAL(again->unknown_count, 0);
	CU_ASSERT_EQUAL(again->site_count, 3);
	CU_ASSERT_EQUAL(again->code[6].site, 2);
	double edges[MOST_EDGES], blocks[MOST_BLOCKS];
	struct code_counts found = {.edges = edges, .blocks = blocks};
	CU_ASSERT_EQUAL_FATAL(code_count(again, t.rows, &found), 0);
	CU_ASSERT_FALSE(found.inconsistent || found.bounded);
	CU_ASSERT_EQUAL(found.thread_instructions, (double)(counts.thread_instructions + off));
	for (uint32_t b = 0; b < again->block_count; b++) {
		CU_ASSERT_EQUAL(blocks[b], (double)threads[b]);
		CU_ASSERT_TRUE(again->blocks[b].probe_count == 1 && again->probes[again->blocks[b].first_probe] == b);
	}
	gs_buf_free(&bytes);
	code_free(again);
	code_free(code);
	graph_free(g);
	ptx_free(module);
}

static void counts_are_those_of_the_execution(void)
{
	static const struct {
		const char *text;
		uint64_t off;
	} cases[] = {{loop_text, 0}, {exit_text, 0}, {straight_text, THREADS - 5}};
	for (size_t i = 0; i < GS_ARRAY_LEN(cases); i++) {
		check_counts(cases[i].text, cases[i].off, "sm_70");
		check_counts(cases[i].text, cases[i].off, "sm_90");
	}
}

static void functions_without_counts_are_refused(void)
{
	static const char text[] = ".version 8.0\n.target sm_70\n.func f() { ret; }\n.entry k() { call f; ret; }\n";
	struct ptx_module *module = NULL;
	struct kernel_code *code = NULL;
	static const uint32_t blocks[] = {0, 1};
	static const struct mapping_row_span spans[2];
	struct mapping_row_table tables[2] = {{0}, {.block_rows = blocks, .edge_terms = spans}};
	const struct mapping_rows rows = {.row_count = 2, .functions = tables};
	CU_ASSERT_EQUAL_FATAL(ptx_read(text, strlen(text), &module, &error), 0);
	CU_ASSERT_EQUAL(mapping_counted(module, &module->functions[1], &rows, "sm_70", &code, &error), -EINVAL);
	CU_ASSERT_PTR_NULL(code);
	ptx_free(module);
}

void add_counted_tests(void)
{
	CU_pSuite suite = CU_add_suite("counted", NULL, NULL);
	CU_ADD_TEST(suite, counts_are_those_of_the_execution);
	CU_ADD_TEST(suite, functions_without_counts_are_refused);
}
