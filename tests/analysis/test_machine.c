/* Machine instructions made from PTX: each rule on a few lines, counted by hand. Also paths in the machine's blocks. */
#include "tests/tests.h"

#include "analysis/mapping/mapping.h"
#include "models/warps/machine/machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct gs_error error;

/* A kernel with these lines for sm_90. The first block of every kernel has two more instructions: setting up the stack, and the
 * descriptor of global memory, because the kernel accesses it. */
enum { ENTRY = 2 };

static struct ptx_module *read_kernel(const char *body)
{
	struct gs_buf text = {0};
	struct ptx_module *module;
	gs_buf_printf(&text,
	              ".version 8.0\n.target sm_90\n.address_size 64\n"
	              ".visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1, .param .u32 k_param_2)\n{\n"
	              ".reg .pred %%p<9>;\n.reg .f32 %%f<19>;\n.reg .b32 %%r<19>;\n.reg .b64 %%d<19>;\n"
	              ".shared .align 4 .b8 tile[1024];\n.shared .align 16 .b8 rows[1024];\n%s}\n",
	              body);
	CU_ASSERT_EQUAL_FATAL(ptx_read(text.data, text.len, &module, &error), 0);
	gs_buf_free(&text);
	return module;
}

static struct kernel_code *make(const char *body, const char *arch)
{
	struct ptx_module *module = read_kernel(body);
	struct mapping *mapping;
	struct kernel_code *code;
	CU_ASSERT_EQUAL_FATAL(mapping_create(module, ptx_find(module, "k"), &mapping, &error), 0);
	CU_ASSERT_EQUAL_FATAL(
	    mapping_solve(mapping, &(struct mapping_source){.counter_count = 1, .entry = 0}, arch, &code, &error), 0);
	mapping_free(mapping);
	ptx_free(module);
	return code;
}

/* The same of a text that is assembled as it is. Row b counts block b; counts do not matter here. */
static struct kernel_code *make_final(const char *body)
{
	static const uint32_t block_rows[] = {0, 1, 2, 3, 4, 5, 6, 7};
	static const struct mapping_row_span edge_terms[16];
	static const struct mapping_row_term no_terms[1];
	const struct mapping_row_table table = {.block_rows = block_rows, .edge_terms = edge_terms};
	const struct mapping_rows rows = {.row_count = GS_ARRAY_LEN(block_rows), .functions = &table, .terms = no_terms};
	struct ptx_module *module = read_kernel(body);
	struct kernel_code *code;
	CU_ASSERT_EQUAL_FATAL(mapping_counted(module, ptx_find(module, "k"), &rows, "sm_90:vendor:sass", &code, &error), 0);
	ptx_free(module);
	return code;
}

/* Checks the classes of a machine block, without the instructions that every first block begins with. */
static void check_machine(const struct kernel_code *c, uint32_t block, const char *expected)
{
	struct gs_buf text = {0};
	const struct code_machine_block *b = &c->machine_blocks[block];
	CU_ASSERT_TRUE_FATAL(block < c->machine_block_count);
	for (uint32_t i = block ? 0 : ENTRY; i < b->count; i++)
		gs_buf_printf(&text, "%s%s", text.len ? " " : "", code_class_name(c->machine[b->first + i].class));
	CU_ASSERT_STRING_EQUAL(text.data ? text.data : "", expected);
	if (strcmp(text.data ? text.data : "", expected))
		printf("block %u: %s\n", block, text.data);
	gs_buf_free(&text);
}

static void check_body(const char *body, const char *expected)
{
	struct kernel_code *c = make(body, "sm_90:vendor:sass");
	check_machine(c, 0, expected);
	code_free(c);
}

static void ptx_targets_have_no_machine_code(void)
{
	struct kernel_code *c = make("ret;\n", "sm_90:vendor");
	CU_ASSERT_FALSE(machine_has(c));
	code_free(c);
}

/* get_global_id(0) in 64 bits, out[i] = in[i]: 18 instructions on an H200 (h200-counters.csv, copy). */
static void copy_is_what_the_chip_executes(void)
{
	check_body("ld.param.u64 %d1, [k_param_0];\nld.param.u64 %d2, [k_param_1];\n"
	           "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"
	           "mul.wide.u32 %d3, %r2, %r1;\ncvt.u64.u32 %d4, %r3;\nadd.s64 %d5, %d3, %d4;\n"
	           "shl.b64 %d6, %d5, 2;\nadd.s64 %d7, %d1, %d6;\nld.global.f32 %f1, [%d7];\n"
	           "add.s64 %d8, %d2, %d6;\nst.global.f32 [%d8], %f1;\nret;\n",
	           /* two parameters, three ids, the zero half and IMAD.WIDE, the shift's halves, two sums of two, ... */
	           "nop nop nop nop shuffle int_mul int_mad int_mul logic int int load int int store branch");
}

/* An index that becomes an int needs no upper half: one IMAD. An address in shared memory has 32 bits. */
static void halves_that_nobody_needs_are_not_computed(void)
{
	check_body("ld.param.u64 %d1, [k_param_0];\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"
	           "mul.wide.u32 %d3, %r2, %r1;\ncvt.u64.u32 %d4, %r3;\nadd.s64 %d5, %d3, %d4;\ncvt.u32.u64 %r4, %d5;\n"
	           "st.global.u32 [%d1], %r4;\nret;\n",
	           "nop nop nop shuffle int_mad store branch");
	check_body("ld.param.u64 %d1, [k_param_0];\nmov.u32 %r3, %tid.x;\nmov.u64 %d2, tile;\nmul.wide.u32 %d3, %r3, 4;\n"
	           "add.s64 %d4, %d2, %d3;\nld.shared.f32 %f1, [%d4];\nst.global.f32 [%d1], %f1;\nret;\n",
	           "nop shuffle nop nop nop int_mad load store branch");
}

/* A shift with one user becomes part of that sum (LEA, LEA.HI.X). A product becomes part of every sum (IMAD.WIDE). */
static void shifts_and_products_go_into_sums(void)
{
	check_body("ld.param.u64 %d1, [k_param_0];\nld.global.u64 %d2, [%d1];\nshl.b64 %d3, %d2, 2;\nadd.s64 %d4, %d1, %d3;\n"
	           "ld.global.f32 %f1, [%d4];\nst.global.f32 [%d1], %f1;\nret;\n",
	           "nop load int int load store branch");
	check_body("ld.param.u64 %d1, [k_param_0];\nld.global.u32 %r1, [%d1];\nmul.wide.s32 %d3, %r1, 4;\n"
	           "add.s64 %d4, %d1, %d3;\nadd.s64 %d5, %d2, %d3;\nld.global.f32 %f1, [%d4];\n"
	           "st.global.f32 [%d5], %f1;\nret;\n",
	           "nop load int_mad load int_mad store branch");
	check_body("ld.param.u64 %d1, [k_param_0];\nld.global.u32 %r1, [%d1];\nmul.lo.s32 %r2, %r1, %r1;\n"
	           "add.s32 %r3, %r2, %r1;\nadd.s32 %r4, %r3, 7;\nadd.s32 %r5, %r4, %r1;\nadd.s32 %r6, %r5, %r1;\n"
	           "st.global.u32 [%d1], %r6;\nret;\n",
	           /* IMAD; r4 becomes part of r5 (IADD3); r6 stays alone (VIADD) */
	           "nop load int_mad int int_mad store branch");
}

/* Loads come first, with the instructions for their addresses, even if one register holds both values. But loads do not pass a
 * store. */
static void loads_come_early(void)
{
	struct kernel_code *c = make("ld.param.u64 %d1, [k_param_0];\nld.global.f32 %f1, [%d1];\nfma.rn.f32 %f2, %f1, %f1, %f2;\n"
	                             "add.s64 %d2, %d1, %d3;\nld.global.f32 %f1, [%d2];\nfma.rn.f32 %f2, %f1, %f1, %f2;\n"
	                             "st.global.f32 [%d1], %f2;\nld.global.f32 %f3, [%d1+512];\nst.global.f32 [%d2], %f3;\nret;\n",
	                             "sm_90:vendor:sass");
	uint32_t first = c->machine_blocks[0].first + ENTRY, names[2], found = 0;
	check_machine(c, 0, "nop load int int load fp32_fma fp32_fma store load store branch");
	for (uint32_t i = first; i < first + 6; i++)
		if (c->machine[i].class == CODE_load && found < 2)
			names[found++] = c->machine_operands[c->machine[i].first_operand];
	CU_ASSERT_EQUAL_FATAL(found, 2);
	CU_ASSERT_NOT_EQUAL(names[0], names[1]);
	/* The first sum reads the result of the first load. */
	CU_ASSERT_EQUAL(c->machine_operands[c->machine[first + 5].first_operand + 1], names[0]);
	code_free(c);
}

static void add_words(struct gs_buf *text, const char *word, uint32_t count)
{
	while (count--)
		gs_buf_printf(text, " %s", word);
}

/* Of 32 registers, 4 are not for values. The sum takes one of 28. Six loads of four words leave 3: the first sum must come before the
 * seventh load. The eighth needs four more. So a thread has all registers that cost no occupancy. */
static void loads_wait_for_registers(void)
{
	struct gs_buf body = {0}, expected = {0};
	gs_buf_printf(&body, "ld.param.u64 %%d1, [k_param_0];\nld.global.f32 %%f1, [%%d1+512];\n");
	for (int i = 0; i < 8; i++) {
		gs_buf_printf(&body, "ld.global.v4.f32 {%%f2, %%f3, %%f4, %%f5}, [%%d1+%d];\n", 16 * i);
		for (int k = 2; k < 6; k++)
			gs_buf_printf(&body, "add.f32 %%f1, %%f1, %%f%d;\n", k);
	}
	gs_buf_printf(&body, "st.global.f32 [%%d1], %%f1;\nret;\n");
	gs_buf_printf(&expected, "nop");
	add_words(&expected, "load", 1 + 6);
	add_words(&expected, "fp32", 1);
	add_words(&expected, "load", 1);
	add_words(&expected, "fp32", 4);
	add_words(&expected, "load", 1);
	add_words(&expected, "fp32", 27);
	gs_buf_printf(&expected, " store branch");
	struct kernel_code *c = make(body.data, "sm_90:vendor:sass");
	check_machine(c, 0, expected.data);
	CU_ASSERT_EQUAL(c->registers, 32);
	code_free(c);
	gs_buf_free(&body);
	gs_buf_free(&expected);
}

/* Two rounds of: an index is loaded, then what it leads to, which goes into shared memory. Both indices come first, then what they lead to, and
 * the stores last: a load of global memory cannot meet a store to shared memory. But it may meet one to global memory. */
static void loads_pass_what_they_cannot_meet(void)
{
	static const char rounds[] = "ld.param.u64 %%d1, [k_param_0];\n"
	                             "ld.global.u32 %%r1, [%%d1];\nmul.wide.s32 %%d2, %%r1, 4;\nadd.s64 %%d3, %%d1, %%d2;\nld.global.u32 %%r2, [%%d3];\n"
	                             "st.%s.u32 [%%r9], %%r2;\n"
	                             "ld.global.u32 %%r3, [%%d1+4];\nmul.wide.s32 %%d4, %%r3, 4;\nadd.s64 %%d5, %%d1, %%d4;\nld.global.u32 %%r4, [%%d5];\n"
	                             "st.%s.u32 [%%r9+4], %%r4;\nret;\n";
	char body[1024];
	snprintf(body, sizeof body, rounds, "shared", "shared");
	check_body(body, "nop load load int_mad load int_mad load store store branch");
	snprintf(body, sizeof body, rounds, "global", "global");
	check_body(body, "nop load int_mad load store load int_mad load store branch");
}

/* Two counters of shared memory go up by what was loaded: both loads come first. Counters of global memory may be what the second one loads. */
static void loads_pass_atomics_of_shared_memory(void)
{
	static const char rounds[] = "ld.param.u64 %%d1, [k_param_0];\nld.global.u32 %%r1, [%%d1];\nred.%s.add.u32 [%%%s9], %%r1;\n"
	                             "ld.global.u32 %%r2, [%%d1+4];\nred.%s.add.u32 [%%%s9+4], %%r2;\nret;\n";
	char body[1024];
	snprintf(body, sizeof body, rounds, "shared", "r", "shared", "r");
	check_body(body, "nop load load atomic atomic branch");
	snprintf(body, sizeof body, rounds, "global", "d", "global", "d");
	check_body(body, "nop load atomic load atomic branch");
}

/* A load comes before the instructions of a library function that stands between it and another load. exp2 is "m.frf". */
static void loads_pass_library_functions(void)
{
	struct ptx_module *module;
	struct mapping *mapping;
	struct kernel_code *c;
	static const char text[] =
	    ".version 8.0\n.target sm_90\n.address_size 64\n.func (.param .b32 retval0) __gpusim_fn_exp2_f32(.param .b32 param0)\n;\n"
	    ".visible .entry k(.param .u64 k_param_0)\n{\n.reg .f32 %f<9>;\n.reg .b64 %d<9>;\nld.param.u64 %d1, [k_param_0];\n"
	    "ld.global.f32 %f1, [%d1];\n{\n.param .b32 param0;\nst.param.f32 [param0], %f1;\n.param .b32 retval0;\n"
	    "call.uni (retval0), __gpusim_fn_exp2_f32, (param0);\nld.param.f32 %f2, [retval0];\n}\n"
	    "ld.global.f32 %f3, [%d1+4];\nadd.f32 %f4, %f2, %f3;\nst.global.f32 [%d1], %f4;\nret;\n}\n";
	CU_ASSERT_EQUAL_FATAL(ptx_read(text, strlen(text), &module, &error), 0);
	CU_ASSERT_EQUAL_FATAL(mapping_create(module, ptx_find(module, "k"), &mapping, &error), 0);
	CU_ASSERT_EQUAL_FATAL(mapping_solve(mapping, &(struct mapping_source){.counter_count = 1, .entry = 0}, "sm_90:vendor:sass", &c, &error), 0);
	check_machine(c, 0, "nop load load move fp32 sfu fp32 fp32 store branch");
	code_free(c);
	mapping_free(mapping);
	ptx_free(module);
}

static void logic_and_comparisons_merge(void)
{
	check_body("ld.param.u64 %d1, [k_param_0];\nld.global.u32 %r1, [%d1];\nxor.b32 %r2, %r1, 5;\nand.b32 %r3, %r2, %r1;\n"
	           "and.b32 %r4, %r3, 3;\nst.global.u32 [%d1], %r4;\nret;\n",
	           "nop load logic logic store branch");
	check_body("ld.param.u64 %d1, [k_param_0];\nld.global.u32 %r1, [%d1];\nand.b32 %r2, %r1, 1;\nsetp.eq.s32 %p1, %r2, 0;\n"
	           "setp.lt.s32 %p2, %r1, 9;\nand.pred %p3, %p1, %p2;\nselp.b32 %r3, 1, 2, %p3;\n"
	           "st.global.u32 [%d1], %r3;\nret;\n",
	           "nop load logic int logic store branch");
}

/* A product becomes part of several sums of its block, each of which is an IMAD. It stays if one user is not a sum. */
static void products_go_into_several_sums(void)
{
	check_body("ld.param.u64 %d1, [k_param_0];\nld.global.u32 %r1, [%d1];\nmul.lo.s32 %r2, %r1, %r1;\n"
	           "add.s32 %r3, %r2, 5;\nadd.s32 %r4, %r2, 9;\nst.global.u32 [%d1], %r3;\nst.global.u32 [%d1+4], %r4;\nret;\n",
	           "nop load int_mad int_mad store store branch");
	check_body("ld.param.u64 %d1, [k_param_0];\nld.global.u32 %r1, [%d1];\nmul.lo.s32 %r2, %r1, %r1;\n"
	           "add.s32 %r3, %r2, 5;\nst.global.u32 [%d1], %r3;\nst.global.u32 [%d1+4], %r2;\nret;\n",
	           "nop load int_mad int store store branch");
}

/* The second of two sums in a row is for the multipliers; the first behind a load is not, nor one that has three operands (LEA). */
static void sums_take_turns_with_the_integer_pipe(void)
{
	check_body("ld.param.u64 %d1, [k_param_0];\nld.global.u32 %r1, [%d1];\nadd.s32 %r2, %r1, 5;\nadd.s32 %r3, %r1, 9;\n"
	           "shl.b32 %r4, %r1, 3;\nxor.b32 %r5, %r1, 7;\nadd.s32 %r6, %r4, 3;\n"
	           "st.global.u32 [%d1], %r2;\nst.global.u32 [%d1+4], %r3;\nst.global.u32 [%d1+8], %r5;\nst.global.u32 [%d1+12], %r6;\nret;\n",
	           "nop load int int_mad logic int store store store store branch");
}

static uint32_t count_class(const struct kernel_code *c, enum code_class class)
{
	uint32_t found = 0;
	for (uint32_t i = 0; i < c->machine_count; i++)
		found += c->machine[i].class == class;
	return found;
}

/* Two remainders by one divisor have one reciprocal: one MUFU, and two conversions around it. By two divisors they have two. */
static void divisions_share_a_reciprocal(void)
{
	static const char *const divisors[] = {"%r3", "%r4"};
	uint32_t counts[2];
	for (int n = 0; n < 2; n++) {
		char body[512];
		snprintf(body, sizeof body,
		         "ld.param.u64 %%d1, [k_param_0];\nld.global.u32 %%r1, [%%d1];\nld.global.u32 %%r2, [%%d1+4];\nld.global.u32 %%r3, [%%d1+8];\n"
		         "ld.global.u32 %%r4, [%%d1+12];\nrem.s32 %%r5, %%r1, %%r3;\nrem.s32 %%r6, %%r2, %s;\nst.global.u32 [%%d1], %%r5;\n"
		         "st.global.u32 [%%d1+4], %%r6;\nret;\n",
		         divisors[n]);
		struct kernel_code *c = make(body, "sm_90:vendor:sass");
		CU_ASSERT_EQUAL(count_class(c, CODE_sfu), 1u + (uint32_t)n);
		CU_ASSERT_EQUAL(count_class(c, CODE_conv), 2u + 2u * (uint32_t)n);
		counts[n] = c->machine_count;
		code_free(c);
	}
	CU_ASSERT_EQUAL(counts[1] - counts[0], 22 - 11); /* rem.s32 has 22 instructions, and 11 where the reciprocal is known */
}

/* Products become part of float sums. Signs become part of operands. Division by a constant becomes a product. */
static void floats_are_contracted(void)
{
	check_body("ld.param.u64 %d1, [k_param_0];\nld.global.f32 %f1, [%d1];\nmul.rn.f32 %f2, %f1, %f1;\nneg.f32 %f3, %f1;\n"
	           "add.rn.f32 %f4, %f2, %f3;\ndiv.full.f32 %f5, %f4, 0f40400000;\nst.global.f32 [%d1], %f5;\nret;\n",
	           "nop load fp32_fma fp32 store branch");
	/* rsqrt: FSETP, FMUL, MUFU, FMUL */
	check_body("ld.param.u64 %d1, [k_param_0];\nld.global.f32 %f1, [%d1];\nrsqrt.approx.f32 %f2, %f1;\n"
	           "st.global.f32 [%d1], %f2;\nret;\n",
	           "nop load move fp32 sfu fp32 store branch");
}

#define ROW(variable)                                                                                                  \
	"ld.param.u64 %d1, [k_param_0];\nmov.u32 %r3, %tid.x;\nmov.u64 %d2, " variable ";\nmul.wide.u32 %d3, %r3, 64;\n"   \
	"add.s64 %d4, %d2, %d3;\nld.shared.f32 %f1, [%d4];\nld.shared.f32 %f2, [%d4+4];\n"                               \
	"ld.shared.f32 %f3, [%d4+8];\nld.shared.f32 %f4, [%d4+12];\nadd.rn.f32 %f5, %f1, %f2;\n"                         \
	"add.rn.f32 %f6, %f3, %f4;\nadd.rn.f32 %f7, %f5, %f6;\nst.global.f32 [%d1], %f7;\nret;\n"

/* Four words of a row of 64 bytes are loaded at once if rows begin at multiples of 16. They are not if rows may begin at any
 * word, unless the text is final. */
static void loads_of_a_row_become_wider(void)
{
	check_body(ROW("rows"), "nop shuffle nop nop nop int_mad load fp32 fp32 fp32 store branch");
	check_body(ROW("tile"), "nop shuffle nop nop nop int_mad load load load load fp32 fp32 fp32 store branch");
	struct kernel_code *placed = make_final(ROW("tile")); /* the assembler places the variable */
	check_machine(placed, 0, "nop shuffle nop nop nop int_mad load fp32 fp32 fp32 store branch");
	code_free(placed);
	check_body("ld.param.u64 %d1, [k_param_0];\nld.param.u64 %d2, [k_param_1];\nld.shared.f32 %f1, [%d2];\n"
	           "ld.shared.f32 %f2, [%d2+4];\nadd.rn.f32 %f5, %f1, %f2;\nst.global.f32 [%d1], %f5;\nret;\n",
	           "nop nop load load fp32 store branch");
}

/* A load of 16 bytes gives 32 lanes 512 bytes. Where shared memory returns 256 in a cycle that takes two turns, though each of the four loads of the
 * PTX took one. */
static void wider_loads_take_as_long_as_their_bytes(void)
{
	struct kernel_code *c = make(ROW("rows"), "sm_90:vendor:sass");
	const uint32_t blocks[] = {0}, path_of[] = {0};
	const uint16_t accesses[] = {1, 1, 1, 1, 1, 7}; /* a parameter, four loads and a store */
	struct warp_path path = {.blocks = blocks, .block_count = 1, .accesses = accesses, .access_count = 6};
	struct launch_warps warps = {.code = c, .paths = &path, .path_count = 1, .groups = 1, .warps_per_group = 1, .path_of = path_of, .pattern_groups = 1};
	for (uint32_t returned = 0; returned <= 256; returned += 256) {
		struct machine_paths m;
		CU_ASSERT_EQUAL_FATAL(machine_paths_make(&(struct gpu){.warp_size = 32, .shared_return_bytes = returned}, &warps, &m), 0);
		CU_ASSERT_EQUAL_FATAL(m.warps.paths[0].access_count, 2);
		CU_ASSERT_EQUAL(m.warps.paths[0].accesses[0], returned ? 2 : 1);
		CU_ASSERT_EQUAL(m.warps.paths[0].accesses[1], 7);
		machine_paths_free(&m);
	}
	code_free(c);
}

/* The arm runs under a predicate in place of the branch. Its own block is empty. */
static void short_arms_become_predicates(void)
{
	struct kernel_code *c = make("ld.param.u64 %d1, [k_param_0];\nld.global.u32 %r1, [%d1];\nsetp.gt.s32 %p1, %r1, 5;\n"
	                             "@%p1 bra $B2;\nadd.s32 %r2, %r1, 1;\nst.global.u32 [%d1], %r2;\n"
	                             "$B2:\nst.global.u32 [%d1+4], %r1;\nret;\n", "sm_90:vendor:sass");
	check_machine(c, 0, "nop load int int store");
	check_machine(c, 1, "");
	check_machine(c, 2, "store branch");
	CU_ASSERT_EQUAL(c->machine_blocks[1].merged, 0);
	CU_ASSERT_TRUE(c->machine[c->machine_blocks[0].first + ENTRY + 4].flags & CODE_GUARDED);
	code_free(c);
}

/* A switch whose default cannot happen has an end of its own there, as clang writes it. Lanes of the other cases meet behind the switch all the same. */
static void impossible_ends_hold_no_lanes(void)
{
	struct kernel_code *c = make_final("mov.u32 %r1, %tid.x;\nld.param.u64 %d1, [k_param_0];\n"
	                                   "setp.eq.s32 %p1, %r1, 0;\n@%p1 bra FIRST;\n"
	                                   "setp.eq.s32 %p2, %r1, 1;\n@%p2 bra SECOND;\n"
	                                   "bra.uni NEVER;\n"
	                                   "FIRST:\nst.global.u32 [%d1], %r1;\nbra.uni MEET;\n"
	                                   "SECOND:\nst.global.u32 [%d1+4], %r1;\n"
	                                   "MEET:\nst.global.u32 [%d1+8], %r1;\nret;\n"
	                                   "NEVER:\nexit;\n");
	CU_ASSERT_EQUAL(c->blocks[0].join, 5);
	CU_ASSERT_EQUAL(c->blocks[1].join, 4); /* the other way leads nowhere */
	code_free(c);
}

/* Two comparisons of a register with numbers, one where the other falls through, are a table: the number less 3, the least and the product, LDC and the
 * address, and a jump for each way. Where the second is behind another jump, they stay comparisons. */
static void comparisons_become_tables(void)
{
	static const char *const between[] = {"", "bra.uni NEXT;\nFIRST:\nst.global.u32 [%d1], %r1;\nbra.uni MEET;\nNEXT:\n"};
	for (int n = 0; n < 2; n++) {
		struct gs_buf text = {0};
		gs_buf_printf(&text, "mov.u32 %%r1, %%tid.x;\nld.param.u64 %%d1, [k_param_0];\nsetp.eq.s32 %%p1, %%r1, 3;\n@%%p1 bra FIRST;\n"
		                     "%ssetp.eq.s32 %%p2, %%r1, 4;\n@%%p2 bra SECOND;\nbra.uni NEVER;\n%s"
		                     "SECOND:\nst.global.u32 [%%d1+4], %%r1;\nbar.sync 0;\n"
		                     "MEET:\nst.global.u32 [%%d1+8], %%r1;\nret;\nNEVER:\nexit;\n",
		              between[n], n ? "" : "FIRST:\nst.global.u32 [%d1], %r1;\nbra.uni MEET;\n");
		struct kernel_code *c = make_final(text.data);
		const struct code_machine_block *first = &c->machine_blocks[0], *next = &c->machine_blocks[n ? 3 : 1];
		check_machine(c, 0, n ? "branch shuffle nop int branch" : "branch shuffle nop int int_minmax int_mad nop int branch");
		check_machine(c, n ? 3 : 1, n ? "int branch" : "branch");
		CU_ASSERT_EQUAL(c->machine[first->first + first->count - 1].elements == CODE_TABLE_WAY, !n);
		CU_ASSERT_EQUAL(c->machine[next->first + next->count - 1].elements == CODE_TABLE_WAY, !n);
		code_free(c);
		gs_buf_free(&text);
	}
}

/* A branch to the end is EXIT under a predicate. Each block that leads to the end has an EXIT of its own. */
static void returns_are_predicated_exits(void)
{
	struct kernel_code *c = make("ld.param.u64 %d1, [k_param_0];\nld.global.u32 %r1, [%d1];\nsetp.gt.s32 %p1, %r1, 5;\n"
	                             "@%p1 bra $B2;\nst.global.u32 [%d1], %r1;\n$B2:\nret;\n", "sm_90:vendor:sass");
	check_machine(c, 0, "nop load int branch");
	check_machine(c, 1, "store branch");
	check_machine(c, 2, "");
	CU_ASSERT_EQUAL(c->blocks[0].join, 1); /* other lanes do not wait for lanes that return */
	code_free(c);
}

#define LOOP                                                                                                           \
	"ld.param.u64 %d1, [k_param_0];\nld.param.u32 %r1, [k_param_2];\nmov.f32 %f1, 0f00000000;\n"                   \
	"$L:\n%s" "fma.rn.f32 %f1, %f1, %f1, %f1;\nadd.s32 %r1, %r1, -1;\nsetp.ne.s32 %p1, %r1, 0;\n"                  \
	"@%p1 bra $L;\nst.global.f32 [%d1], %f1;\nret;\n"

static struct kernel_code *make_loop(const char *pragma)
{
	struct gs_buf body = {0};
	const char *loop = LOOP, *at = strstr(loop, "%s");
	gs_buf_add(&body, loop, (size_t)(at - loop));
	gs_buf_puts(&body, pragma);
	gs_buf_puts(&body, at + 2);
	struct kernel_code *c = make(body.data, "sm_90:vendor:sass");
	gs_buf_free(&body);
	return c;
}

/* Four products in a row, then the counter, its comparison and the branch once. */
static void short_loops_are_unrolled(void)
{
	struct kernel_code *c = make_loop("");
	CU_ASSERT_EQUAL_FATAL(c->machine_block_count, c->block_count + 2);
	check_machine(c, 1, "fp32_fma int int branch");
	check_machine(c, 4, "fp32_fma fp32_fma fp32_fma fp32_fma int int branch");
	CU_ASSERT_EQUAL(c->machine_blocks[4].of, 1);
	CU_ASSERT_EQUAL(c->machine_blocks[4].times, 4);
	code_free(c);
	c = make_loop(".pragma \"nounroll\";\n");
	CU_ASSERT_EQUAL(c->machine_block_count, c->block_count);
	code_free(c);
}

/* What ptxas 13.0 does with such loops: it unrolls the first only. */
static void final_loops_are_unrolled_if_they_end_with_their_branch(void)
{
	static const struct {
		const char *end;
		bool unrolled;
	} cases[] = {
	    {"setp.ne.s32 %p1, %r1, 0;\n@%p1 bra $L;\n", true},
	    {"setp.eq.s32 %p1, %r1, 0;\n@!%p1 bra $L;\n", false},
	    {"setp.eq.s32 %p1, %r1, 0;\n@%p1 bra $E;\nbra.uni $L;\n", false},
	};
	for (size_t i = 0; i < GS_ARRAY_LEN(cases); i++) {
		struct gs_buf body = {0};
		gs_buf_printf(&body, "ld.param.u64 %%d1, [k_param_0];\nld.param.u32 %%r1, [k_param_2];\nmov.f32 %%f1, 0f00000000;\n$L:\n"
		                     "fma.rn.f32 %%f1, %%f1, %%f1, %%f1;\nadd.s32 %%r1, %%r1, -1;\n%s$E:\nst.global.f32 [%%d1], %%f1;\nret;\n",
		              cases[i].end);
		struct kernel_code *c = make_final(body.data);
		CU_ASSERT_EQUAL(c->machine_block_count, c->block_count + (cases[i].unrolled ? 2 : 0));
		code_free(c);
		gs_buf_free(&body);
	}
}

/* A product and a sum that round to nearest are two instructions, where a compiler did not join them. */
static void final_texts_are_contracted_only_where_they_allow_it(void)
{
	static const char strict[] = "ld.param.u64 %d1, [k_param_0];\nld.global.f32 %f1, [%d1];\nmul.rn.f32 %f2, %f1, %f1;\n"
	                             "add.rn.f32 %f3, %f2, %f1;\nst.global.f32 [%d1], %f3;\nret;\n";
	static const char loose[] = "ld.param.u64 %d1, [k_param_0];\nld.global.f32 %f1, [%d1];\nmul.f32 %f2, %f1, %f1;\n"
	                            "add.f32 %f3, %f2, %f1;\nst.global.f32 [%d1], %f3;\nret;\n";
	struct kernel_code *c = make_final(strict);
	check_machine(c, 0, "nop load fp32 fp32 store branch");
	code_free(c);
	c = make_final(loose);
	check_machine(c, 0, "nop load fp32_fma store branch");
	code_free(c);
	check_body(strict, "nop load fp32_fma store branch");
}

/* 7 executions of the loop are 4 + 2 + 1. PTX instructions per machine instruction: (3 + 7 * 4 + 2) / (14 + 6 + 4 + 2 + 7). */
static void paths_are_written_in_the_blocks_of_the_machine(void)
{
	struct kernel_code *c = make_loop("");
	const uint32_t blocks[] = {0, 1, 1, 1, 1, 1, 1, 1, 2}, path_of[] = {0};
	const uint16_t accesses[] = {1, 1, 5}; /* two parameters and the store */
	struct warp_path path = {.blocks = blocks, .block_count = 9, .accesses = accesses, .access_count = 3};
	struct launch_warps warps = {.code = c, .paths = &path, .path_count = 1, .groups = 1, .warps_per_group = 1,
	                             .path_of = path_of, .pattern_groups = 1};
	struct machine_paths m;
	CU_ASSERT_EQUAL_FATAL(machine_paths_make(&(struct gpu){.warp_size = 32}, &warps, &m), 0);
	const struct warp_path *p = &m.warps.paths[0];
	CU_ASSERT_EQUAL_FATAL(p->block_count, 5);
	CU_ASSERT_EQUAL(p->blocks[0], 0);
	CU_ASSERT_EQUAL(p->blocks[1], 4);
	CU_ASSERT_EQUAL(p->blocks[2], 3);
	CU_ASSERT_EQUAL(p->blocks[3], 1);
	CU_ASSERT_EQUAL(p->blocks[4], 2);
	CU_ASSERT_EQUAL_FATAL(p->access_count, 1);
	CU_ASSERT_EQUAL(p->accesses[0], 5);
	/* entry 2, parameters 2, the zero 1, choosing between the copies 10 */
	CU_ASSERT_DOUBLE_EQUAL(m.ptx_per_instruction, (3 + 28 + 2) / (15. + 7 + 5 + 4 + 2), 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(m.by_pipe[PIPE_lsu], 1 / 33., 1e-9);
	machine_paths_free(&m);
	code_free(c);
}

/* 5 executions of a loop that loads and stores to shared memory: four at once, whose loads come first, and one. Accesses follow the machine's order. */
static void accesses_follow_the_order_of_the_machine(void)
{
	struct kernel_code *c = make("ld.param.u64 %d1, [k_param_0];\nmov.u32 %r5, 0;\n$L1:\nld.global.u32 %r1, [%d1];\nst.shared.u32 [%r9], %r1;\n"
	                             "add.s32 %r9, %r9, 4;\nadd.s64 %d1, %d1, 4;\nadd.s32 %r5, %r5, 1;\nsetp.ne.s32 %p1, %r5, %r6;\n@%p1 bra $L1;\nret;\n",
	                             "sm_90:vendor:sass");
	const uint32_t blocks[] = {0, 1, 1, 1, 1, 1, 2}, path_of[] = {0}, first[] = {0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
	const uint16_t accesses[] = {1, 10, 20, 11, 21, 12, 22, 13, 23, 14, 24}; /* a parameter; then a load and a store in turn */
	static const uint16_t expected[] = {10, 11, 12, 13, 20, 21, 22, 23, 14, 24};
	struct memory_part parts[10];
	for (uint32_t i = 0; i < GS_ARRAY_LEN(parts); i++)
		parts[i] = (struct memory_part){.address = accesses[i + 1]};
	struct path_requests requests = {first, parts};
	struct warp_path path = {.blocks = blocks, .block_count = 7, .accesses = accesses, .access_count = 11, .requests = &requests};
	struct launch_warps warps = {.code = c, .paths = &path, .path_count = 1, .groups = 1, .warps_per_group = 1, .path_of = path_of, .pattern_groups = 1};
	struct machine_paths m;
	CU_ASSERT_EQUAL_FATAL(machine_paths_make(&(struct gpu){.warp_size = 32}, &warps, &m), 0);
	const struct warp_path *p = &m.warps.paths[0];
	CU_ASSERT_EQUAL_FATAL(p->access_count, GS_ARRAY_LEN(expected));
	for (uint32_t i = 0; i < GS_ARRAY_LEN(expected); i++) {
		CU_ASSERT_EQUAL(p->accesses[i], expected[i]);
		CU_ASSERT_EQUAL_FATAL(p->requests->first[i + 1] - p->requests->first[i], 1);
		CU_ASSERT_EQUAL(p->requests->parts[p->requests->first[i]].address, expected[i]);
	}
	machine_paths_free(&m);
	code_free(c);
}

/* A window of 7 executions of the loop, done 3 times more: 28 in all. 4 of the window are one unrolled block. What was left out is unrolled, so
 * that it is done 1 + 21 / 4 times, and the 3 that are left of the window once. */
static void windows_end_before_what_is_not_unrolled(void)
{
	struct kernel_code *c = make_loop("");
	const uint32_t blocks[] = {0, 1, 1, 1, 1, 1, 1, 1, 2}, path_of[] = {0};
	struct path_gap gap = {.from = 1, .at = 8, .rounds = 3, .iterations = 7, .outer = -1};
	double weights[9];
	path_weigh(c, blocks, 9, &gap, 1, weights);
	struct warp_path path = {.blocks = blocks, .block_count = 9, .gaps = &gap, .gap_count = 1, .weights = weights};
	struct launch_warps warps = {.code = c, .paths = &path, .path_count = 1, .groups = 1, .warps_per_group = 1,
	                             .path_of = path_of, .pattern_groups = 1};
	static const double expected[] = {1, 6.25, 1, 1, 1};
	struct machine_paths m;
	CU_ASSERT_EQUAL_FATAL(machine_paths_make(&(struct gpu){.warp_size = 32}, &warps, &m), 0);
	const struct warp_path *p = &m.warps.paths[0];
	CU_ASSERT_EQUAL_FATAL(p->block_count, 5);
	CU_ASSERT_EQUAL(p->gaps[0].from, 1);
	CU_ASSERT_EQUAL(p->gaps[0].at, 2);
	CU_ASSERT_DOUBLE_EQUAL(p->gaps[0].iterations, 4, 1e-9);
	for (size_t i = 0; i < 5; i++)
		CU_ASSERT_DOUBLE_EQUAL(p->weights[i], expected[i], 1e-9);
	machine_paths_free(&m);
	code_free(c);
}

/* If all lanes of an arm are off, one access remains. */
static void predicated_accesses_are_there_without_lanes(void)
{
	struct kernel_code *c = make("ld.param.u64 %d1, [k_param_0];\nld.global.u32 %r1, [%d1];\nsetp.gt.s32 %p1, %r1, 5;\n"
	                             "@%p1 bra $B2;\nld.global.u32 %r2, [%d1+8];\nst.global.u32 [%d1], %r2;\n"
	                             "$B2:\nst.global.u32 [%d1+4], %r1;\nret;\n", "sm_90:vendor:sass");
	const uint32_t with[] = {0, 1, 2}, without[] = {0, 2}, path_of[] = {0, 1};
	const uint16_t all[] = {1, 3, 4, 5, 6}, some[] = {1, 3, 6};
	struct warp_path paths[] = {{.blocks = with, .block_count = 3, .accesses = all, .access_count = 5},
	                            {.blocks = without, .block_count = 2, .accesses = some, .access_count = 3}};
	struct launch_warps warps = {.code = c, .paths = paths, .path_count = 2, .groups = 1, .warps_per_group = 2,
	                             .path_of = path_of, .pattern_groups = 1};
	struct machine_paths m;
	CU_ASSERT_EQUAL_FATAL(machine_paths_make(&(struct gpu){.warp_size = 32}, &warps, &m), 0);
	CU_ASSERT_EQUAL_FATAL(m.warps.paths[0].access_count, 4);
	CU_ASSERT_EQUAL_FATAL(m.warps.paths[1].access_count, 4);
	static const uint16_t expected[2][4] = {{3, 4, 5, 6}, {3, 1, 1, 6}};
	for (int k = 0; k < 2; k++)
		for (int i = 0; i < 4; i++)
			CU_ASSERT_EQUAL(m.warps.paths[k].accesses[i], expected[k][i]);
	machine_paths_free(&m);
	code_free(c);
}

/* Written code can be read back. A machine block that points outside is refused. */
static void machine_code_is_written_and_checked(void)
{
	struct kernel_code *c = make_loop(""), *back = NULL;
	struct gs_buf bytes = {0};
	code_write(c, &bytes);
	CU_ASSERT_EQUAL_FATAL(code_read(bytes.data, bytes.len, &back, &error), 0);
	CU_ASSERT_EQUAL(back->machine_count, c->machine_count);
	CU_ASSERT_EQUAL(back->machine_block_count, c->machine_block_count);
	code_free(back);
	uint32_t count = c->machine_blocks[1].count;
	c->machine_blocks[1].count = c->machine_count + 1;
	bytes.len = 0;
	code_write(c, &bytes);
	CU_ASSERT_EQUAL(code_read(bytes.data, bytes.len, &back, &error), -EINVAL);
	c->machine_blocks[1].count = count;
	c->machine_origins[0] = c->code_count;
	bytes.len = 0;
	code_write(c, &bytes);
	CU_ASSERT_EQUAL(code_read(bytes.data, bytes.len, &back, &error), -EINVAL);
	gs_buf_free(&bytes);
	code_free(c);
}

void add_machine_tests(void)
{
	CU_pSuite suite = CU_add_suite("machine", NULL, NULL);
#define TEST(name) CU_add_test(suite, #name, name)
	TEST(ptx_targets_have_no_machine_code);
	TEST(copy_is_what_the_chip_executes);
	TEST(halves_that_nobody_needs_are_not_computed);
	TEST(shifts_and_products_go_into_sums);
	TEST(loads_come_early);
	TEST(loads_wait_for_registers);
	TEST(loads_pass_what_they_cannot_meet);
	TEST(loads_pass_atomics_of_shared_memory);
	TEST(loads_pass_library_functions);
	TEST(logic_and_comparisons_merge);
	TEST(products_go_into_several_sums);
	TEST(sums_take_turns_with_the_integer_pipe);
	TEST(divisions_share_a_reciprocal);
	TEST(floats_are_contracted);
	TEST(loads_of_a_row_become_wider);
	TEST(wider_loads_take_as_long_as_their_bytes);
	TEST(short_arms_become_predicates);
	TEST(returns_are_predicated_exits);
	TEST(impossible_ends_hold_no_lanes);
	TEST(comparisons_become_tables);
	TEST(short_loops_are_unrolled);
	TEST(final_loops_are_unrolled_if_they_end_with_their_branch);
	TEST(final_texts_are_contracted_only_where_they_allow_it);
	TEST(paths_are_written_in_the_blocks_of_the_machine);
	TEST(accesses_follow_the_order_of_the_machine);
	TEST(windows_end_before_what_is_not_unrolled);
	TEST(predicated_accesses_are_there_without_lanes);
	TEST(machine_code_is_written_and_checked);
#undef TEST
}
