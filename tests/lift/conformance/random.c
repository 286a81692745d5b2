/*
 * random - writes random programs in PTX.
 *
 *   random FOLDER SEED COUNT
 *
 * Program SEED + n is FOLDER/random-NUMBER.ptx. It computes on registers, with predicated instructions, branches, loops that lanes leave at
 * different times, shared memory with barriers, local and global memory, shuffles, votes, atomics, and threads that leave early. It says with
 * "form" which registers it stores in the end. What PTX leaves undefined does not occur, so every way to execute it must agree: lanes
 * exchange values only where all are together, and no thread reads what another one writes without a barrier in between.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 3, BLOCK = 96, THREADS = BLOCKS * BLOCK, WORDS = 10, LONGS = 5, REALS = 5, PREDICATES = 5, INPUT_WORDS = 16, SCRATCH = 64 };

struct program {
	FILE *out;
	uint64_t state;
	unsigned label, depth, statements;
	bool left; /* some threads have left: no exchange between lanes any more */
};

static uint32_t chance(struct program *p, uint32_t n)
{
	p->state ^= p->state << 13;
	p->state ^= p->state >> 7;
	p->state ^= p->state << 17;
	return (uint32_t)(p->state >> 33) % n;
}

#define EMIT(...) fprintf(p->out, __VA_ARGS__)
#define WORD chance(p, WORDS)
#define LONG chance(p, LONGS)
#define REAL chance(p, REALS)
#define PREDICATE chance(p, PREDICATES)
#define PICK(list) list[chance(p, sizeof list / sizeof *list)]

static void guard(struct program *p)
{
	EMIT("\t");
	if (chance(p, 5) == 0)
		EMIT("@%s%%p%u ", chance(p, 2) ? "!" : "", PREDICATE);
}

/* A source of 32 bits: mostly a register. */
static void word_operand(struct program *p)
{
	static const int constants[] = {0, 1, -1, 2, 5, 7, 31, 32, 255, 65535, -2147483647 - 1, 2147483647, 123456789};
	if (chance(p, 4))
		EMIT("%%r%u", WORD);
	else
		EMIT("%d", PICK(constants));
}

static void words(struct program *p)
{
	static const char *const two[] = {"add.s32", "sub.s32", "mul.lo.s32", "mul.hi.u32", "mul.hi.s32", "and.b32", "or.b32", "xor.b32", "min.s32", "max.u32",
	                                  "min.u32", "max.s32", "shl.b32", "shr.u32", "shr.s32", "add.sat.s32", "sub.sat.s32", "mul24.lo.s32"};
	static const char *const three[] = {"mad.lo.s32", "mad.hi.u32", "bfe.u32", "bfe.s32", "prmt.b32", "shf.l.wrap.b32", "shf.r.clamp.b32", "sad.u32", "dp4a.s32.s32"};
	static const char *const one[] = {"not.b32", "neg.s32", "abs.s32", "popc.b32", "clz.b32", "brev.b32", "bfind.u32", "cnot.b32"};
	uint32_t kind = chance(p, 6);
	guard(p);
	if (kind < 3) {
		EMIT("%s %%r%u, %%r%u, ", PICK(two), WORD, WORD);
		word_operand(p);
	} else if (kind == 3) {
		/* places of fields are registers: constants must be below 256 */
		EMIT("%s %%r%u, %%r%u, %%r%u, %%r%u", PICK(three), WORD, WORD, WORD, WORD);
	} else if (kind == 4) {
		EMIT("%s %%r%u, %%r%u", PICK(one), WORD, WORD);
	} else if (chance(p, 2)) {
		EMIT("lop3.b32 %%r%u, %%r%u, %%r%u, %%r%u, 0x%02x", WORD, WORD, WORD, WORD, chance(p, 256));
	} else {
		EMIT("selp.b32 %%r%u, %%r%u, %%r%u, %%p%u", WORD, WORD, WORD, PREDICATE);
	}
	EMIT(";\n");
}

/* A divisor that is not 0, and not -1. */
static void division(struct program *p)
{
	static const char *const words_of[] = {"div.u32", "rem.u32", "div.s32", "rem.s32"};
	EMIT("\tand.b32 %%t0, %%r%u, 0xffff;\n\tadd.u32 %%t0, %%t0, %u;\n", WORD, 1 + chance(p, 9));
	EMIT("\t%s %%r%u, %%r%u, %%t0;\n", PICK(words_of), WORD, WORD);
}

static void longs(struct program *p)
{
	static const char *const two[] = {"add.s64", "sub.s64", "mul.lo.s64", "mul.hi.u64", "and.b64", "or.b64", "xor.b64", "min.s64", "max.u64"};
	static const char *const wide[] = {"mul.wide.u32", "mul.wide.s32"};
	static const char *const shifts[] = {"shl.b64", "shr.u64", "shr.s64"};
	static const char *const converts[] = {"cvt.u64.u32", "cvt.s64.s32", "cvt.s64.s16", "cvt.u64.u8"};
	guard(p);
	switch (chance(p, 6)) {
	case 0: EMIT("%s %%rd%u, %%r%u, %%r%u", PICK(wide), LONG, WORD, WORD); break;
	case 1: EMIT("%s %%rd%u, %%rd%u, %%r%u", PICK(shifts), LONG, LONG, WORD); break;
	case 2: EMIT("%s %%rd%u, %%r%u", PICK(converts), LONG, WORD); break;
	case 3: EMIT("cvt.u32.u64 %%r%u, %%rd%u", WORD, LONG); break;
	case 4: EMIT("mad.wide.u32 %%rd%u, %%r%u, %%r%u, %%rd%u", LONG, WORD, WORD, LONG); break;
	default: EMIT("%s %%rd%u, %%rd%u, %%rd%u", PICK(two), LONG, LONG, LONG);
	}
	EMIT(";\n");
}

static void reals(struct program *p)
{
	static const char *const two[] = {"add.rn.f32", "sub.rn.f32", "mul.rn.f32", "min.f32", "max.f32", "add.rz.f32", "mul.rp.f32", "div.rn.f32", "add.ftz.f32"};
	static const char *const one[] = {"abs.f32", "neg.f32", "sqrt.rn.f32", "rcp.rn.f32", "cvt.rmi.f32.f32", "cvt.rni.f32.f32"};
	static const char *const whole[] = {"cvt.rzi.s32.f32", "cvt.rni.u32.f32", "cvt.rpi.s32.f32"};
	static const char *const from[] = {"cvt.rn.f32.s32", "cvt.rn.f32.u32", "cvt.rz.f32.s32"};
	guard(p);
	switch (chance(p, 6)) {
	case 0: EMIT("fma.rn.f32 %%f%u, %%f%u, %%f%u, %%f%u", REAL, REAL, REAL, REAL); break;
	case 1: EMIT("%s %%f%u, %%f%u", PICK(one), REAL, REAL); break;
	case 2: EMIT("%s %%r%u, %%f%u", PICK(whole), WORD, REAL); break;
	case 3: EMIT("%s %%f%u, %%r%u", PICK(from), REAL, WORD); break;
	default: EMIT("%s %%f%u, %%f%u, %%f%u", PICK(two), REAL, REAL, REAL);
	}
	EMIT(";\n");
}

static void predicates(struct program *p)
{
	static const char *const integers[] = {"eq.s32", "ne.s32", "lt.s32", "le.u32", "gt.s32", "ge.u32", "lo.u32", "hs.u32"};
	static const char *const real[] = {"lt.f32", "gtu.f32", "eq.f32", "neu.f32", "num.f32"};
	static const char *const logic[] = {"and.pred", "or.pred", "xor.pred"};
	switch (chance(p, 4)) {
	case 0: EMIT("\tsetp.%s %%p%u, %%f%u, %%f%u;\n", PICK(real), PREDICATE, REAL, REAL); break;
	case 1: EMIT("\t%s %%p%u, %%p%u, %%p%u;\n", PICK(logic), PREDICATE, PREDICATE, PREDICATE); break;
	default:
		EMIT("\tand.b32 %%t0, %%r%u, 15;\n\tand.b32 %%t1, %%r%u, 15;\n", WORD, WORD);
		EMIT("\tsetp.%s %%p%u, %%t0, %%t1;\n", PICK(integers), PREDICATE);
	}
}

/* Words of the thread's own in local memory, or in global memory. */
static void memory(struct program *p)
{
	static const char *const loads[] = {"u32", "s16", "u8", "s8"};
	unsigned local = chance(p, 2);
	EMIT("\tand.b32 %%t0, %%r%u, 7;\n\tmul.wide.u32 %%a0, %%t0, 4;\n\tadd.s64 %%a0, %%a0, %%a%u;\n", WORD, local ? 1 : 2);
	EMIT("\tst.%s.u32 [%%a0], %%r%u;\n", local ? "local" : "global", WORD);
	EMIT("\tand.b32 %%t0, %%r%u, 7;\n\tmul.wide.u32 %%a0, %%t0, 4;\n\tadd.s64 %%a0, %%a0, %%a%u;\n", WORD, local ? 1 : 2);
	EMIT("\tld.%s.%s %%r%u, [%%a0];\n", local ? "local" : "global", PICK(loads), WORD);
}

/* Sums that do not depend on the order: of the block in shared memory. */
static void atomic(struct program *p)
{
	static const char *const kinds[] = {"add.u32", "xor.b32", "max.s32", "or.b32"};
	unsigned kind = chance(p, 4);
	EMIT("\tred.shared.%s [totals+%u], %%r%u;\n", kinds[kind], kind * 4, WORD);
}

static void block(struct program *p, unsigned count);

static void branch(struct program *p)
{
	unsigned label = p->label++, predicate = PREDICATE;
	bool other = chance(p, 2);
	EMIT("\t@%s%%p%u bra ELSE%u;\n", chance(p, 2) ? "!" : "", predicate, label);
	block(p, 1 + chance(p, 4));
	if (other) {
		EMIT("\tbra.uni END%u;\nELSE%u:\n", label, label);
		block(p, 1 + chance(p, 4));
		EMIT("END%u:\n", label);
	} else {
		EMIT("ELSE%u:\n", label);
	}
}

/* A counter of its own depth, up to a limit that lanes have for themselves; half of them can also be left in the middle. */
static void loop(struct program *p)
{
	unsigned label = p->label++, depth = p->depth;
	bool leaves = chance(p, 2);
	EMIT("\tand.b32 %%n%u, %%r%u, 7;\n\tmov.u32 %%i%u, 0;\nLOOP%u:\n", depth, WORD, depth, label);
	block(p, 1 + chance(p, 3));
	if (leaves) {
		predicates(p);
		EMIT("\t@%%p%u bra LEAVE%u;\n", PREDICATE, label);
		block(p, 1 + chance(p, 2));
	}
	EMIT("\tadd.u32 %%i%u, %%i%u, 1;\n\tsetp.le.u32 %%q, %%i%u, %%n%u;\n\t@%%q bra LOOP%u;\n", depth, depth, depth, depth, label);
	if (leaves)
		EMIT("LEAVE%u:\n", label);
}

static void statement(struct program *p)
{
	uint32_t what = chance(p, p->depth < 3 ? 20 : 15);
	p->statements++;
	if (what < 6)
		words(p);
	else if (what < 8)
		reals(p);
	else if (what < 10)
		longs(p);
	else if (what < 12)
		predicates(p);
	else if (what == 12)
		memory(p);
	else if (what == 13)
		division(p);
	else if (what == 14)
		atomic(p);
	else if (p->statements > 120)
		words(p);
	else if (what < 18)
		branch(p);
	else
		loop(p);
}

static void block(struct program *p, unsigned count)
{
	p->depth++;
	for (unsigned i = 0; i < count; i++)
		statement(p);
	p->depth--;
}

/* Every thread gives a word to another one of its block. */
static void exchange(struct program *p)
{
	EMIT("\tst.shared.u32 [%%a3], %%r%u;\n\tbar.sync 0;\n", WORD);
	EMIT("\tmov.u32 %%t0, %%tid.x;\n\tadd.u32 %%t0, %%t0, %u;\n\trem.u32 %%t0, %%t0, %u;\n\tmul.wide.u32 %%a0, %%t0, 4;\n\tmov.u64 %%a4, slots;\n\tadd.s64 %%a0, %%a0, %%a4;\n",
	     1 + chance(p, 60), BLOCK);
	EMIT("\tld.shared.u32 %%r%u, [%%a0];\n\tbar.sync 0;\n", WORD);
}

static void lanes(struct program *p)
{
	static const char *const shuffles[] = {"up", "down", "bfly", "idx"};
	unsigned kind = chance(p, 4);
	switch (chance(p, 5)) {
	case 0: EMIT("\tvote.sync.ballot.b32 %%r%u, %%p%u, 0xffffffff;\n", WORD, PREDICATE); break;
	case 1: EMIT("\tvote.sync.any.pred %%p%u, %%p%u, 0xffffffff;\n", PREDICATE, PREDICATE); break;
	case 2: EMIT("\tand.b32 %%t0, %%r%u, 3;\n\tmatch.any.sync.b32 %%r%u, %%t0, 0xffffffff;\n", WORD, WORD); break;
	default:
		EMIT("\tshfl.sync.%s.b32 %%r%u|%%p%u, %%r%u, %u, %s, 0xffffffff;\n", shuffles[kind], WORD, PREDICATE, WORD, chance(p, 32), kind ? "31" : "0");
	}
}

static void top(struct program *p)
{
	uint32_t what = chance(p, 8);
	if (what == 0)
		exchange(p);
	else if (what == 1 && !p->left)
		lanes(p);
	else if (what == 2 && !p->left && chance(p, 4) == 0) {
		EMIT("\t@%%p%u exit;\n", PREDICATE);
		p->left = true;
	} else {
		statement(p);
	}
}

static void prologue(struct program *p)
{
	EMIT("// launch %u %u %u %u\n.version 7.0\n.target sm_80\n.address_size 64\n\n", BLOCKS, BLOCK, WORDS + LONGS + REALS + 4, THREADS * SCRATCH);
	EMIT(".visible .entry test(.param .u64 test_param_0, .param .u64 test_param_1, .param .u64 test_param_2)\n{\n");
	EMIT("\t.reg .b32 %%r<%u>;\n\t.reg .b64 %%rd<%u>;\n\t.reg .f32 %%f<%u>;\n\t.reg .pred %%p<%u>;\n\t.reg .pred %%q;\n", WORDS, LONGS, REALS, PREDICATES);
	EMIT("\t.reg .b32 %%t<3>;\n\t.reg .b32 %%i<8>;\n\t.reg .b32 %%n<8>;\n\t.reg .b64 %%a<8>;\n");
	EMIT("\t.shared .align 4 .b8 slots[%u];\n\t.shared .align 4 .b8 totals[16];\n\t.local .align 4 .b8 own[32];\n", BLOCK * 4);
	EMIT("\tld.param.u64 %%a5, [test_param_0];\n\tld.param.u64 %%a6, [test_param_1];\n\tld.param.u64 %%a2, [test_param_2];\n");
	EMIT("\tcvta.to.global.u64 %%a5, %%a5;\n\tcvta.to.global.u64 %%a6, %%a6;\n\tcvta.to.global.u64 %%a2, %%a2;\n");
	EMIT("\tmov.u32 %%t0, %%ctaid.x;\n\tmov.u32 %%t1, %%ntid.x;\n\tmov.u32 %%t2, %%tid.x;\n\tmad.lo.s32 %%t0, %%t0, %%t1, %%t2;\n");
	EMIT("\tmul.wide.u32 %%a0, %%t0, %u;\n\tadd.s64 %%a5, %%a5, %%a0;\n", INPUT_WORDS * 8);
	EMIT("\tmul.wide.u32 %%a0, %%t0, 8;\n\tadd.s64 %%a6, %%a6, %%a0;\n\tmul.wide.u32 %%a0, %%t0, %u;\n\tadd.s64 %%a2, %%a2, %%a0;\n", SCRATCH);
	EMIT("\tmul.wide.u32 %%a0, %%t2, 4;\n\tmov.u64 %%a3, slots;\n\tadd.s64 %%a3, %%a3, %%a0;\n\tmov.u64 %%a1, own;\n");
	EMIT("\tst.shared.u32 [%%a3], %%t2;\n\tsetp.lt.u32 %%q, %%t2, 4;\n\t@!%%q bra READY;\n\tmul.wide.u32 %%a0, %%t2, 4;\n"
	     "\tmov.u64 %%a4, totals;\n\tadd.s64 %%a0, %%a0, %%a4;\n\tmov.u32 %%t0, 0;\n\tst.shared.u32 [%%a0], %%t0;\nREADY:\n\tbar.sync 0;\n");
	for (unsigned i = 0; i < 8; i++)
		EMIT("\tld.global.u32 %%t0, [%%a5+%u];\n\tst.local.u32 [own+%u], %%t0;\n", i * 8 + 4, i * 4);
	for (unsigned i = 0; i < WORDS; i++)
		EMIT("\tld.global.u32 %%r%u, [%%a5+%u];\n", i, i * 8);
	for (unsigned i = 0; i < LONGS; i++)
		EMIT("\tld.global.u64 %%rd%u, [%%a5+%u];\n", i, (i + 2) * 8);
	for (unsigned i = 0; i < REALS; i++)
		EMIT("\tcvt.rn.f32.s32 %%f%u, %%r%u;\n\tmul.rn.f32 %%f%u, %%f%u, 0f3a%06x;\n", i, i, i, i, chance(p, 1 << 23));
	for (unsigned i = 0; i < PREDICATES; i++)
		EMIT("\tand.b32 %%t0, %%r%u, %u;\n\tsetp.ne.u32 %%p%u, %%t0, 0;\n", i, 1u << i, i);
}

/* Stores the registers, and in thread 0 of each block the totals. */
static void epilogue(struct program *p)
{
	unsigned form = 0;
	EMIT("\tbar.sync 0;\n");
	for (unsigned i = 0; i < WORDS; i++, form++)
		EMIT("\t// form %u i32 r%u\n\tcvt.u64.u32 %%a0, %%r%u;\n\tst.global.u64 [%%a6+%u], %%a0;\n", form, i, i, form * THREADS * 8);
	for (unsigned i = 0; i < LONGS; i++, form++)
		EMIT("\t// form %u i64 rd%u\n\tst.global.u64 [%%a6+%u], %%rd%u;\n", form, i, form * THREADS * 8, i);
	for (unsigned i = 0; i < REALS; i++, form++)
		EMIT("\t// form %u f32 f%u\n\tst.global.f32 [%%a6+%u], %%f%u;\n", form, i, form * THREADS * 8, i);
	for (unsigned i = 0; i < 4; i++, form++)
		EMIT("\t// form %u i32 total%u\n\tld.shared.u32 %%t0, [totals+%u];\n\tst.global.u32 [%%a6+%u], %%t0;\n", form, i, i * 4, form * THREADS * 8);
	EMIT("\tret;\n}\n");
}

static void write_program(const char *folder, unsigned seed)
{
	char path[4096];
	struct program program = {.state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1}, *p = &program;
	snprintf(path, sizeof path, "%s/random-%u.ptx", folder, seed);
	p->out = fopen(path, "w");
	if (!p->out) {
		perror(path);
		exit(1);
	}
	for (int i = 0; i < 16; i++)
		chance(p, 2);
	prologue(p);
	for (unsigned i = 10 + chance(p, 30); i--;)
		top(p);
	epilogue(p);
	fclose(p->out);
}

static void write_input(const char *folder)
{
	char path[4096];
	struct program p = {.state = 12345};
	snprintf(path, sizeof path, "%s/input", folder);
	FILE *f = fopen(path, "w");
	for (unsigned i = 0; f && i < THREADS * INPUT_WORDS * 2; i++) {
		uint32_t word = chance(&p, 1u << 31) << 1 ^ chance(&p, 1u << 31);
		if (chance(&p, 3) == 0)
			word >>= 20;
		fwrite(&word, 4, 1, f);
	}
	if (!f || fclose(f)) {
		perror(path);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: random FOLDER SEED COUNT\n");
		return 2;
	}
	write_input(argv[1]);
	for (unsigned n = 0; n < strtoul(argv[3], NULL, 10); n++)
		write_program(argv[1], (unsigned)strtoul(argv[2], NULL, 10) + n);
	return 0;
}
