/*
 * Machine code: the ELF files of sums.ptx, as ptxas 13.0 wrote them (-lineinfo, sm_75 and sm_90), instructions by their bits, and bytes that
 * are damaged. Registers and shared memory are what ptxas -v says: 15 and 16 registers, 256 bytes. The words of instructions, and what they are,
 * were read from nvdisasm 13.0; control fields are worked out by hand.
 */
#include "tests/tests.h"

#include "analysis/sass/cubin.h"
#include "analysis/sass/decode.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct gs_error error;

static void read_sums(const char *arch, struct gs_buf *bytes)
{
	char path[4096];
	const char *root = getenv("GPUSIM_TEST_ROOT");
	snprintf(path, sizeof path, "%s/tests/analysis/sass/sums-%s.cubin", root ? root : ".", arch);
	CU_ASSERT_EQUAL_FATAL(gs_read_file(path, bytes, &error), 0);
}

static void what_kernels_take(void)
{
	static const struct {
		const char *arch;
		uint32_t number, registers;
	} cases[] = {{"sm_75", 75, 15}, {"sm_90", 90, 16}};
	for (size_t i = 0; i < GS_ARRAY_LEN(cases); i++) {
		struct gs_buf bytes = {0};
		struct cubin c;
		read_sums(cases[i].arch, &bytes);
		CU_ASSERT_EQUAL_FATAL(cubin_read(bytes.data, bytes.len, &c, &error), 0);
		CU_ASSERT_EQUAL(c.arch, cases[i].number);
		CU_ASSERT_EQUAL(c.count, 2);
		const struct cubin_code *sums = cubin_find(&c, "sums"), *empty = cubin_find(&c, "empty");
		CU_ASSERT_PTR_NOT_NULL_FATAL(sums);
		CU_ASSERT_PTR_NOT_NULL_FATAL(empty);
		CU_ASSERT_EQUAL(sums->registers, cases[i].registers);
		CU_ASSERT_EQUAL(sums->shared_bytes, 256); /* on sm_90 without the kilobyte that the system takes */
		CU_ASSERT_EQUAL(sums->stack_bytes, 0);
		CU_ASSERT_EQUAL(empty->shared_bytes, 0);
		CU_ASSERT_PTR_NULL(cubin_find(&c, "others"));
		cubin_free(&c);
		gs_buf_free(&bytes);
	}
}

/* Every access and the barrier come from their lines of sums.ptx: 23 loads, 33 stores to shared memory, 34 is the barrier, and so on. */
static void lines_are_those_of_the_ptx(void)
{
	static const struct {
		const char *name;
		uint32_t line;
	} expected[] = {{"LDG", 23}, {"FADD", 24}, {"STS", 33}, {"BAR", 34}, {"LDS", 37}, {"STG", 39}};
	static const char *const archs[] = {"sm_75", "sm_90"};
	for (size_t a = 0; a < GS_ARRAY_LEN(archs); a++) {
		struct gs_buf bytes = {0};
		struct cubin c;
		read_sums(archs[a], &bytes);
		CU_ASSERT_EQUAL_FATAL(cubin_read(bytes.data, bytes.len, &c, &error), 0);
		const struct cubin_code *sums = cubin_find(&c, "sums");
		CU_ASSERT_PTR_NOT_NULL_FATAL(sums->lines);
		uint32_t seen[GS_ARRAY_LEN(expected)] = {0};
		for (uint32_t i = 0; i < sums->instructions; i++) {
			struct sass_instruction s;
			sass_decode(sums->bytes + i * CUBIN_WORD, c.arch, i * CUBIN_WORD, &s);
			for (size_t k = 0; k < GS_ARRAY_LEN(expected) && s.name; k++)
				if (!strcmp(s.name, expected[k].name)) {
					CU_ASSERT_EQUAL(sums->lines[i], expected[k].line);
					seen[k]++;
				}
		}
		CU_ASSERT_EQUAL(seen[0], 7); /* ptxas has unrolled the loop by 4, and by 2 and 1 for the rest */
		CU_ASSERT_EQUAL(seen[1], 7);
		CU_ASSERT_TRUE(seen[2] == 1 && seen[3] == 1 && seen[4] == 1 && seen[5] == 1);
		cubin_free(&c);
		gs_buf_free(&bytes);
	}
}

/* Branches stay in their code. Two go back: at the end of the loop by 4, and of that by 1. */
static void branches_go_to_instructions(void)
{
	static const char *const archs[] = {"sm_75", "sm_90"};
	for (size_t a = 0; a < GS_ARRAY_LEN(archs); a++) {
		struct gs_buf bytes = {0};
		struct cubin c;
		uint32_t back = 0, ends = 0;
		read_sums(archs[a], &bytes);
		CU_ASSERT_EQUAL_FATAL(cubin_read(bytes.data, bytes.len, &c, &error), 0);
		const struct cubin_code *sums = cubin_find(&c, "sums");
		for (uint32_t i = 0; i < sums->instructions; i++) {
			struct sass_instruction s;
			sass_decode(sums->bytes + i * CUBIN_WORD, c.arch, i * CUBIN_WORD, &s);
			ends += s.flow == SASS_ENDS;
			if (s.flow != SASS_BRANCHES)
				continue;
			CU_ASSERT_TRUE(s.target >= 0 && s.target % CUBIN_WORD == 0 && s.target / CUBIN_WORD < sums->instructions);
			back += s.target < (int64_t)i * CUBIN_WORD;
		}
		CU_ASSERT_EQUAL(back, 2);
		CU_ASSERT_EQUAL(ends, 1);
		cubin_free(&c);
		gs_buf_free(&bytes);
	}
}

struct word_case {
	uint64_t low, high;
	unsigned arch;
	struct sass_instruction is;
};

static void instructions_by_their_bits(void)
{
	static const struct word_case cases[] = {
		/* LDG.E.128 R12, desc[UR8][R28.64] */
		{0x000000081c0c7981, 0x001ea8000c1e1d00, 90,
		 {.name = "LDG", .predicate = 7, .stall = 4, .write_barrier = 2, .read_barrier = 7, .wait_mask = 1, .target = -1, .bytes = 16, .results = 4,
		  .result = 12, .reads = 2, .registers = {28, 29}}},
		/* @!P0 BRA 0x880, at 0xb0 */
		{0x0000000400f08947, 0x000fea0003800000, 90,
		 {.name = "BRA", .predicate = 0, .negated = true, .stall = 5, .write_barrier = 7, .read_barrier = 7, .flow = SASS_BRANCHES, .target = 0x880}},
		/* IADD3 R4, R7.reuse, -0x1, RZ */
		{0xffffffff07047810, 0x040fe20007ffe0ff, 90,
		 {.name = "IADD3", .predicate = 7, .stall = 1, .write_barrier = 7, .read_barrier = 7, .reuse = 1, .target = -1, .results = 1, .result = 4, .reads = 1,
		  .registers = {7}, .kept = 1}},
		/* ISETP.GE.AND P0, PT, R7, 0x1, PT: no register is written, although the field of Rd is 0 */
		{0x000000010700780c, 0x002fc40003f06270, 90,
		 {.name = "ISETP", .predicate = 7, .stall = 2, .yield = true, .write_barrier = 7, .read_barrier = 7, .wait_mask = 2, .target = -1, .reads = 1,
		  .registers = {7}}},
		/* IMAD.WIDE R2, R5, UR4, R2 */
		{0x0000000405027c25, 0x004fe2000f8e0202, 90,
		 {.name = "IMAD", .predicate = 7, .stall = 1, .write_barrier = 7, .read_barrier = 7, .wait_mask = 4, .target = -1, .results = 2, .result = 2, .reads = 3,
		  .registers = {5, 2, 3}}},
		/* SHFL.IDX PT, R5, R7, R4, 0x1f */
		{0x00001f0407057589, 0x004e6400000e0000, 75,
		 {.name = "SHFL", .predicate = 7, .stall = 2, .write_barrier = 1, .read_barrier = 7, .wait_mask = 4, .target = -1, .results = 1, .result = 5, .reads = 2,
		  .registers = {7, 4}}},
		/* ST.E.64.SYS [R8], R6 */
		{0x0000000008007385, 0x0001e2000010eb06, 75,
		 {.name = "ST", .predicate = 7, .stall = 1, .write_barrier = 7, .read_barrier = 0, .target = -1, .bytes = 8, .reads = 4, .registers = {8, 9, 6, 7}}},
	};
	for (size_t i = 0; i < GS_ARRAY_LEN(cases); i++) {
		struct sass_instruction s;
		const struct sass_instruction *is = &cases[i].is;
		uint8_t word[CUBIN_WORD];
		for (unsigned k = 0; k < 8; k++) {
			word[k] = (uint8_t)(cases[i].low >> 8 * k);
			word[8 + k] = (uint8_t)(cases[i].high >> 8 * k);
		}
		sass_decode(word, cases[i].arch, 0xb0, &s);
		CU_ASSERT_STRING_EQUAL(s.name, is->name);
		CU_ASSERT_TRUE(s.predicate == is->predicate && s.negated == is->negated);
		CU_ASSERT_TRUE(s.stall == is->stall && s.yield == is->yield && s.wait_mask == is->wait_mask && s.reuse == is->reuse && s.kept == is->kept);
		CU_ASSERT_TRUE(s.write_barrier == is->write_barrier && s.read_barrier == is->read_barrier);
		CU_ASSERT_TRUE(s.flow == is->flow && s.target == is->target);
		CU_ASSERT_TRUE(s.bytes == is->bytes && s.results == is->results && (!s.results || s.result == is->result));
		CU_ASSERT_EQUAL(s.reads, is->reads);
		CU_ASSERT_EQUAL(memcmp(s.registers, is->registers, is->reads), 0);
	}
}

static void unknown_instructions_have_no_name(void)
{
	static const uint8_t word[CUBIN_WORD] = {0xff, 0xff};
	struct sass_instruction s;
	sass_decode(word, 90, 0, &s);
	CU_ASSERT_PTR_NULL(s.name);
	CU_ASSERT_EQUAL(s.opcode, 0xfff);
	CU_ASSERT_EQUAL(s.flow, SASS_GOES_ON);
}

/* A copy of exactly these bytes, so that a sanitizer sees every read beyond them. */
static int read_exact(const void *data, size_t bytes)
{
	struct cubin c;
	void *copy = malloc(bytes ? bytes : 1);
	memcpy(copy, data, bytes);
	int result = cubin_read(copy, bytes, &c, &error);
	if (!result)
		cubin_free(&c);
	free(copy);
	return result;
}

static void damaged_bytes(void)
{
	struct gs_buf bytes = {0};
	uint32_t state = 1, refused = 0;
	read_sums("sm_90", &bytes);
	CU_ASSERT_EQUAL(read_exact("PTX", 3), -EINVAL);
	for (size_t length = 0; length + 512 < bytes.len; length += 61)
		CU_ASSERT_NOT_EQUAL(read_exact(bytes.data, length), 0); /* the sections' headers are near the end */
	for (unsigned round = 0; round < 500; round++) {
		char *copy = malloc(bytes.len);
		memcpy(copy, bytes.data, bytes.len);
		for (unsigned k = 0; k < 8; k++)
			copy[next_random(&state) % bytes.len] = (char)next_random(&state);
		refused += read_exact(copy, bytes.len) != 0;
		free(copy);
	}
	CU_ASSERT_TRUE(refused > 0 && refused < 500);
	gs_buf_free(&bytes);
}

void add_cubin_tests(void)
{
	CU_pSuite suite = CU_add_suite("cubin", NULL, NULL);
	CU_add_test(suite, "what kernels take", what_kernels_take);
	CU_add_test(suite, "lines are those of the PTX", lines_are_those_of_the_ptx);
	CU_add_test(suite, "branches go to instructions", branches_go_to_instructions);
	CU_add_test(suite, "instructions by their bits", instructions_by_their_bits);
	CU_add_test(suite, "unknown instructions have no name", unknown_instructions_have_no_name);
	CU_add_test(suite, "damaged bytes", damaged_bytes);
}
