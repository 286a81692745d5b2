/*
 * generate - writes kernels in PTX that execute every form of forms.c with many operands.
 *
 *   generate FOLDER
 *
 * FOLDER/input has the operands: for each of THREADS threads, four of each kind, as words of 64 bits. FOLDER/NAME.ptx has a kernel `test` with
 * three parameters: the input, the results (for each form a word per thread) and scratch memory. Its comments say the rest:
 *   // launch BLOCKS THREADS RESULTS SCRATCH_BYTES
 *   // form NUMBER RESULT_KIND TEXT
 */
#include "tests/lift/conformance/forms.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 4, BLOCK = 256, THREADS = BLOCKS * BLOCK, FORMS_PER_KERNEL = 48, SCRATCH = 128, TEXT = 2048 };

enum kind { I16, I32, I64, F16, X2, F32, F64, P, KINDS };
static const char *const kind_names[KINDS] = {"i16", "i32", "i64", "f16", "x2", "f32", "f64", "p"};
/* How a register of the kind is declared. */
static const char *const kind_types[KINDS] = {"b16", "b32", "b64", "b16", "b32", "f32", "f64", "pred"};

static void die(const char *what, const char *text)
{
	fprintf(stderr, "generate: %s: %s\n", what, text);
	exit(1);
}

/* ---- operands ---- */

static uint64_t random_state = 88172645463325252u;
static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static const uint64_t integer_edges[] = {
	0, 1, 2, 3, 5, 8, 15, 16, 17, 31, 32, 33, 63, 64, 127, 128, 255, 256, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
	0x100000000, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff, 0xfffffffffffffffe, 0xffffffff80000000, 0x00ff00ff12345678,
};
static const double real_edges[] = {
	0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 1e-3, -7.25, 1e10, -1e10, 127.5, 255.5, -128.5, 32767.5, 65535.5, 2147483647.5,
	-2147483648.5, 4294967295.5, 9.3e18, -9.3e18, 1.9e19, 1.0 / 3, 0.99999994, 1.0000001,
};
static const uint32_t single_edges[] = {1, 0x80000001, 0x007fffff, 0x00800000, 0x80800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000};
static const uint64_t double_edges[] = {1, 0x8000000000000001, 0x000fffffffffffff, 0x0010000000000000, 0x7fefffffffffffff, 0x7ff0000000000000,
                                        0xfff0000000000000, 0x7ff8000000000000, 0x36a0000000000000, 0x47efffffffffffff};
static const uint16_t half_edges[] = {0, 0x8000, 0x3c00, 0xbc00, 0x3800, 0x3e00, 0x4100, 0xc100, 1, 0x8001, 0x03ff, 0x0400, 0x7bff, 0xfbff,
                                      0x7c00, 0xfc00, 0x7e00, 0x57f8, 0x5bfc, 0xd804, 0x3555, 0x3bff, 0x3c01, 0x6800};
#define COUNT(a) (sizeof(a) / sizeof *(a))

static uint64_t single_edge(unsigned n)
{
	float f;
	uint32_t bits;
	if (n >= COUNT(real_edges))
		return single_edges[n - COUNT(real_edges)];
	f = (float)real_edges[n];
	memcpy(&bits, &f, 4);
	return bits;
}

static uint64_t double_edge(unsigned n)
{
	uint64_t bits;
	if (n >= COUNT(real_edges))
		return double_edges[n - COUNT(real_edges)];
	memcpy(&bits, &real_edges[n], 8);
	return bits;
}

/* Exponents mostly near to one another, so that sums round. */
static uint64_t random_value(enum kind k)
{
	uint64_t r = next_random(), near = next_random() % 24;
	bool any = next_random() % 4 == 0;
	switch (k) {
	case F32: return any ? (uint32_t)r : (r & 0x807fffff) | (115 + near) << 23;
	case F64: return any ? r : (r & 0x800fffffffffffff) | (1011 + near) << 52;
	case F16: return any ? (uint16_t)r : (r & 0x83ff) | (8 + near % 16) << 10;
	case X2: return random_value(F16) | random_value(F16) << 16;
	case P: return r & 1;
	case I16: return (uint16_t)r;
	case I32: return r >> 32;
	default: return r;
	}
}

static unsigned edge_count(enum kind k)
{
	return k == F32 || k == F64 ? COUNT(real_edges) + COUNT(single_edges) : k == F16 || k == X2 ? COUNT(half_edges) : COUNT(integer_edges);
}

static uint64_t edge_value(enum kind k, unsigned n)
{
	switch (k) {
	case F32: return single_edge(n);
	case F64: return double_edge(n);
	case F16: return half_edges[n];
	case X2: return half_edges[n] | (uint64_t)half_edges[(n * 5 + 7) % COUNT(half_edges)] << 16;
	case P: return integer_edges[n] & 1;
	case I16: return (uint16_t)integer_edges[n];
	case I32: return (uint32_t)integer_edges[n];
	default: return integer_edges[n];
	}
}

/* The first threads have pairs of edges, spread evenly over all pairs where there are more than threads for them. */
static void make_operands(unsigned thread, enum kind k, uint64_t out[4])
{
	unsigned n = edge_count(k), pairs = n * n, most = THREADS * 3 / 4;
	unsigned pair = pairs > most ? (unsigned)((uint64_t)thread * pairs / most) : thread;
	for (unsigned i = 0; i < 4; i++)
		out[i] = random_value(k);
	if (pair >= pairs)
		return;
	out[0] = edge_value(k, pair / n);
	out[1] = edge_value(k, pair % n);
	out[2] = edge_value(k, (pair * 7 + 3) % n);
	out[3] = edge_value(k, (pair * 11 + 5) % n);
}

static void write_input(const char *folder)
{
	char path[4096];
	uint64_t operands[4];
	snprintf(path, sizeof path, "%s/input", folder);
	FILE *f = fopen(path, "w");
	if (!f)
		die("cannot write", path);
	for (unsigned t = 0; t < THREADS; t++) {
		for (unsigned k = 0; k < KINDS; k++) {
			make_operands(t, (enum kind)k, operands);
			fwrite(operands, sizeof operands, 1, f);
		}
	}
	fclose(f);
}

/* ---- kernels ---- */

struct kernel {
	FILE *body; /* of the current kernel */
	char *text;
	size_t length;
	const char *folder;
	char group[64];
	unsigned part, forms;
};

static void begin_kernel(struct kernel *k)
{
	k->body = open_memstream(&k->text, &k->length);
	if (!k->body)
		die("out of memory", "");
	k->forms = 0;
}

static const char *type_bits(enum kind k)
{
	return k == I16 || k == F16 ? "u16" : k == I64 ? "u64" : k == F32 ? "f32" : k == F64 ? "f64" : "u32";
}

static void write_prologue(FILE *f)
{
	fprintf(f, ".visible .entry test(.param .u64 test_param_0, .param .u64 test_param_1, .param .u64 test_param_2)\n{\n");
	for (unsigned k = 0; k < KINDS; k++)
		for (const char *p = "abced"; *p; p++)
			fprintf(f, "\t.reg .%s %%%c_%s;\n", kind_types[k], *p, kind_names[k]);
	fprintf(f, "\t.reg .b32 %%t<4>;\n\t.reg .b64 %%w<8>;\n"
	           "\tld.param.u64 %%w0, [test_param_0];\n\tld.param.u64 %%w1, [test_param_1];\n\tld.param.u64 %%w2, [test_param_2];\n"
	           "\tcvta.to.global.u64 %%w0, %%w0;\n\tcvta.to.global.u64 %%w1, %%w1;\n\tcvta.to.global.u64 %%w2, %%w2;\n"
	           "\tmov.u32 %%t0, %%ctaid.x;\n\tmov.u32 %%t1, %%ntid.x;\n\tmov.u32 %%t2, %%tid.x;\n\tmad.lo.s32 %%t0, %%t0, %%t1, %%t2;\n"
	           "\tmul.wide.u32 %%w3, %%t0, %u;\n\tadd.s64 %%w0, %%w0, %%w3;\n\tmul.wide.u32 %%w3, %%t0, 8;\n\tadd.s64 %%w1, %%w1, %%w3;\n"
	           "\tmul.wide.u32 %%w3, %%t0, %u;\n\tadd.s64 %%w2, %%w2, %%w3;\n",
	        KINDS * 4 * 8, SCRATCH);
	for (unsigned k = 0; k < KINDS; k++) {
		for (unsigned p = 0; p < 4; p++) {
			unsigned at = (k * 4 + p) * 8;
			if (k == P)
				fprintf(f, "\tld.global.u32 %%t1, [%%w0+%u];\n\tsetp.ne.u32 %%%c_p, %%t1, 0;\n", at, "abce"[p]);
			else
				fprintf(f, "\tld.global.%s %%%c_%s, [%%w0+%u];\n", type_bits((enum kind)k), "abce"[p], kind_names[k], at);
		}
	}
}

static void end_kernel(struct kernel *k)
{
	char path[4096];
	fclose(k->body);
	if (k->forms) {
		snprintf(path, sizeof path, "%s/%s-%u.ptx", k->folder, k->group, k->part++);
		FILE *f = fopen(path, "w");
		if (!f)
			die("cannot write", path);
		fprintf(f, "// launch %u %u %u %u\n.version 8.0\n.target sm_90\n.address_size 64\n\n", BLOCKS, BLOCK, k->forms, THREADS * SCRATCH);
		write_prologue(f);
		fwrite(k->text, 1, k->length, f);
		fprintf(f, "\tret;\n}\n");
		fclose(f);
	}
	free(k->text);
}

static enum kind find_kind(const char *word, const char *text)
{
	for (unsigned k = 0; k < KINDS; k++)
		if (!strcmp(word, kind_names[k]))
			return (enum kind)k;
	die("no kind", text);
	return P;
}

/* The kind of a type of PTX. KINDS: it is no type. */
static enum kind kind_of_type(const char *word, size_t length)
{
	static const struct {
		const char *name;
		enum kind kind;
	} types[] = {{"u8", I32}, {"s8", I32}, {"b8", I32}, {"u16", I16}, {"s16", I16}, {"b16", I16}, {"u32", I32}, {"s32", I32}, {"b32", I32},
	             {"u64", I64}, {"s64", I64}, {"b64", I64}, {"f16", F16}, {"f16x2", X2}, {"f32", F32}, {"f64", F64}, {"pred", P},
	             {"bf16", I16}, {"bf16x2", I32}};
	for (size_t i = 0; i < COUNT(types); i++)
		if (strlen(types[i].name) == length && !strncmp(types[i].name, word, length))
			return types[i].kind;
	return KINDS;
}

/* The last type of an opcode, or the one before it. */
static enum kind opcode_kind(const char *opcode, bool before)
{
	enum kind last = KINDS, earlier = KINDS;
	for (const char *p = strchr(opcode, '.'); p; p = strchr(p + 1, '.')) {
		enum kind k = kind_of_type(p + 1, strcspn(p + 1, "."));
		if (k != KINDS) {
			earlier = last;
			last = k;
		}
	}
	return before ? earlier : last;
}

static enum kind word_kind(const char *word, const char *opcode)
{
	enum kind k = !strcmp(word, "T") ? opcode_kind(opcode, false) : !strcmp(word, "U") ? opcode_kind(opcode, true) : find_kind(word, opcode);
	if (k == KINDS)
		die("no type", opcode);
	return k;
}

/* Stores the result, as 64 bits. */
static void write_result(struct kernel *k, enum kind kind, bool pair)
{
	static const char *const convert[KINDS] = {
		"cvt.u64.u16 %w4, %d_i16;", "cvt.u64.u32 %w4, %d_i32;", "mov.u64 %w4, %d_i64;", "cvt.u64.u16 %w4, %d_f16;", "cvt.u64.u32 %w4, %d_x2;",
		"mov.b32 %t1, %d_f32; cvt.u64.u32 %w4, %t1;", "mov.b64 %w4, %d_f64;", "selp.u64 %w4, 1, 0, %d_p;"};
	fprintf(k->body, "\t%s\n", convert[kind]);
	if (pair)
		fprintf(k->body, "\tselp.u64 %%w5, 1, 0, %%d_p;\n\tshl.b64 %%w5, %%w5, 40;\n\tor.b64 %%w4, %%w4, %%w5;\n");
	fprintf(k->body, "\tst.global.u64 [%%w1+%u], %%w4;\n", k->forms * THREADS * 8);
	if (++k->forms == FORMS_PER_KERNEL) {
		end_kernel(k);
		begin_kernel(k);
	}
}

/* OPCODE | RESULT OPERAND... */
static void write_form(struct kernel *k, char *line)
{
	char *save, *opcode = strtok_r(line, " |", &save), *word = strtok_r(NULL, " |", &save);
	bool pair = word && strstr(word, "+p");
	if (!word)
		die("no result", opcode);
	word[strcspn(word, "+")] = 0;
	enum kind result = word_kind(word, opcode);
	fprintf(k->body, "\t// form %u %s %s\n\t%s %%d_%s%s", k->forms, kind_names[result], opcode, opcode, kind_names[result], pair ? "|%d_p" : "");
	for (const char *p = "abce"; (word = strtok_r(NULL, " ", &save)); ) {
		if (*word == '#')
			fprintf(k->body, ", %s", word + 1);
		else
			fprintf(k->body, ", %%%c_%s", *p++, kind_names[word_kind(word, opcode)]);
	}
	fprintf(k->body, ";\n");
	write_result(k, result, pair);
}

/* = NAME | RESULT | TEXT */
static void write_text(struct kernel *k, char *line)
{
	char *save, *name = strtok_r(line + 2, "|", &save), *result_word = strtok_r(NULL, "|", &save), *text = save;
	result_word[strlen(result_word) - 1] = 0;
	enum kind result = find_kind(result_word + 1, name);
	fprintf(k->body, "\t// form %u %s %s:", k->forms, kind_names[result], name);
	for (const char *p = text; *p; p++)
		fputc(*p == '\n' ? ' ' : *p, k->body);
	fprintf(k->body, "\n\t");
	for (const char *p = text + 1; *p; p++) {
		if (*p != '$')
			fputc(*p, k->body);
		else if (*++p == 'd')
			fprintf(k->body, "%%d_%s", kind_names[result]);
		else if (*p == 's')
			fprintf(k->body, "%%w2");
		else if (*p == 't')
			fprintf(k->body, "%%t3");
		else if (*p == 'k')
			fprintf(k->body, "%u_", k->forms);
		else
			fprintf(k->body, "%%%c_", *p++);
	}
	fprintf(k->body, "\n");
	write_result(k, result, false);
}

/* Writes the line for each way to choose from its first {a,b}, and so on. Vectors of operands have blanks or signs inside. */
static void expand(struct kernel *k, const char *line)
{
	char text[TEXT];
	const char *open = line, *close;
	for (; (open = strchr(open, '{')); open++) {
		close = strchr(open, '}');
		if (close && open + 1 + strspn(open + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,-") == close)
			break;
	}
	if (!open) {
		snprintf(text, sizeof text, "%s", line);
		if (*text == '=')
			write_text(k, text);
		else
			write_form(k, text);
		return;
	}
	for (const char *p = open + 1; p <= close; p += strcspn(p, ",}") + 1) {
		snprintf(text, sizeof text, "%.*s%.*s%s", (int)(open - line), line, (int)strcspn(p, ",}"), p, close + 1);
		expand(k, text);
	}
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: generate FOLDER\n");
		return 2;
	}
	struct kernel k = {.folder = argv[1]};
	write_input(argv[1]);
	begin_kernel(&k);
	for (const char *const *line = conformance_forms; *line; line++) {
		if (**line != '@') {
			expand(&k, *line);
			continue;
		}
		end_kernel(&k);
		snprintf(k.group, sizeof k.group, "%s", *line + 2);
		k.part = 0;
		begin_kernel(&k);
	}
	end_kernel(&k);
	return 0;
}
