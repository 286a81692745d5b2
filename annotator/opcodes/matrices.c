/*
 * Matrices that a warp multiplies: mma and wmma, and ldmatrix, stmatrix and movmatrix, which spread matrices of 8 by 8 halves over lanes.
 * runtime/format/matrices.h has who holds what. The multiplication itself is native code (runtime/guest/support/matrices.c). All lanes of the
 * warp execute these instructions together (.aligned), so they need not wait for one another.
 */
#include "annotator/opcodes/opcode.h"

#include "runtime/format/matrices.h"

#include <stdio.h>
#include <string.h>

static bool read_shape(const struct opcode_work *w, struct matrix_product *p)
{
	for (uint32_t i = 1; i < w->word_count; i++)
		if (matrix_shape_of(w->words[i], p))
			return true;
	return false;
}

/* The types that the opcode names, in order. */
static uint32_t read_kinds(const struct opcode_work *w, enum matrix_kind out[4])
{
	uint32_t count = 0;
	for (uint32_t i = 1; i < w->word_count; i++) {
		enum matrix_kind kind = matrix_kind_of(w->words[i]);
		if (kind && count < 4)
			out[count++] = kind;
	}
	return count;
}

static bool is_shape(const struct matrix_product *p, uint32_t m, uint32_t n, uint32_t k)
{
	return p->m == m && p->n == n && p->k == k;
}

/* Shapes of mma by the bits of A's elements: PTX ISA, table "Matrix fragments for mma". */
static bool is_mma(const struct matrix_product *p)
{
	uint32_t bits = matrix_bits(p->a);
	bool integers = p->a >= MATRIX_S8 && p->a <= MATRIX_B1, small = is_shape(p, 8, 8, 128 / bits), tall = p->m == 16 && p->n == 8;
	if (p->a == MATRIX_F64)
		return is_shape(p, 8, 8, 4) || (tall && (p->k == 4 || p->k == 8 || p->k == 16));
	if (integers)
		return small || (tall && (p->k == 128 / bits || p->k == 256 / bits));
	if (p->flags & MATRIX_QUADS)
		return true;
	return tall && (p->k == 256 / bits || (p->k == 128 / bits && bits > 8));
}

static bool is_wmma(const struct matrix_product *p)
{
	uint32_t bits = matrix_bits(p->a);
	if (p->a == MATRIX_E4M3 || p->a == MATRIX_E5M2)
		return false;
	if (bits == 64 || bits == 4 || bits == 1)
		return is_shape(p, 8, 8, bits == 64 ? 4 : 128 / bits);
	if (bits == 32)
		return is_shape(p, 16, 16, 8);
	return is_shape(p, 16, 16, 16) || is_shape(p, 32, 8, 16) || is_shape(p, 8, 32, 16);
}

static bool kinds_fit(const struct matrix_product *p)
{
	bool integers = p->a >= MATRIX_S8 && p->a <= MATRIX_B1;
	if (p->a == MATRIX_F64)
		return p->b == p->a && p->c == p->a && p->d == p->a;
	if (integers)
		return p->c == MATRIX_S32 && p->d == MATRIX_S32 && matrix_bits(p->a) == matrix_bits(p->b) && p->b >= MATRIX_S8 && p->b <= MATRIX_B1;
	bool halves = p->a == MATRIX_F16 || matrix_bits(p->a) == 8;
	bool sums = (p->c == MATRIX_F32 || (p->c == MATRIX_F16 && halves)) && (p->d == MATRIX_F32 || (p->d == MATRIX_F16 && halves));
	return sums && p->a >= MATRIX_F16 && p->a <= MATRIX_E5M2 && p->b >= MATRIX_F16 && p->b <= MATRIX_E5M2 && (p->a == p->b || (matrix_bits(p->a) == 8 && matrix_bits(p->b) == 8));
}

/* The first of "row" and "col" is A's, the second B's. */
static uint32_t read_layouts(const struct opcode_work *w)
{
	uint32_t count = 0, flags = 0;
	for (uint32_t i = 1; i < w->word_count; i++) {
		bool column = !strcmp(w->words[i], "col");
		if (!column && strcmp(w->words[i], "row"))
			continue;
		flags |= !column ? 0 : count ? MATRIX_B_COLUMNS : MATRIX_A_COLUMNS;
		count++;
	}
	return flags;
}

static bool read_product(struct opcode_work *w, bool wmma, struct matrix_product *p)
{
	static const char *const unknown[] = {"sp", "sp::ordered_metadata", "block_scale", "kind::f8f6f4", "kind::mxf4", "kind::mxf8f6f4", NULL};
	enum matrix_kind kinds[4];
	uint32_t count = read_kinds(w, kinds);
	bool known = read_shape(w, p) && opcode_which(w, unknown) < 0;
	if (wmma && count == 2) { /* of halves: only the sums are named */
		*p = (struct matrix_product){p->m, p->n, p->k, MATRIX_F16, MATRIX_F16, kinds[1], kinds[0], 0};
	} else if (count == 4) {
		*p = (struct matrix_product){p->m, p->n, p->k, kinds[1], kinds[2], kinds[3], kinds[0], 0};
	} else {
		known = false;
	}
	p->flags = (opcode_has(w, "satfinite") && p->d == MATRIX_S32 ? MATRIX_SATURATES : 0) | (opcode_has(w, "and") ? MATRIX_AND : 0);
	if (known && !wmma && is_shape(p, 8, 8, 4) && p->a == MATRIX_F16)
		p->flags |= MATRIX_QUADS | read_layouts(w);
	if (!known || !kinds_fit(p) || !(wmma ? is_wmma(p) : is_mma(p)))
		opcode_refuse(w, "its form is not known");
	return !w->rc;
}

/* Registers of a fragment. Those of halves for wmma are 8, as on the first GPUs that had them: more than are needed, the rest again. */
static uint32_t registers_of(const struct matrix_product *p, bool wmma, enum matrix_part part, enum matrix_kind kind)
{
	return wmma && part != MATRIX_C && kind == MATRIX_F16 ? 8 : matrix_words(p, part, kind);
}

static struct opcode_type word_type(enum matrix_kind kind)
{
	return opcode_type_of(kind == MATRIX_F64 ? "b64" : "b32");
}

static void gather_fragment(struct opcode_work *w, const char *name, enum matrix_kind kind, uint32_t words, uint32_t first)
{
	opcode_put(w, "%s %s[%u]; " EACH " {\n", opcode_c_type(word_type(kind)), name, words * 32);
	for (uint32_t i = 0; i < words; i++) {
		opcode_put(w, "%s[%u + l] = ", name, i * 32);
		opcode_put_operand(w, opcode_source(w, first + i), word_type(kind));
		opcode_put(w, ";\n");
	}
	opcode_put(w, "}\n");
}

static void write_product(struct opcode_work *w, bool wmma)
{
	struct matrix_product p = {0};
	if (!read_product(w, wmma, &p))
		return;
	uint32_t a = registers_of(&p, wmma, MATRIX_A, p.a), b = registers_of(&p, wmma, MATRIX_B, p.b), c = matrix_words(&p, MATRIX_C, p.c);
	uint32_t d = matrix_words(&p, MATRIX_C, p.d);
	if (w->results != d || opcode_sources(w) != a + b + c) {
		opcode_refuse(w, "it has another number of registers");
		return;
	}
	opcode_put(w, "{ ");
	gather_fragment(w, "gs_a", p.a, matrix_words(&p, MATRIX_A, p.a), 0);
	gather_fragment(w, "gs_b", p.b, matrix_words(&p, MATRIX_B, p.b), a);
	gather_fragment(w, "gs_c", p.c, c, a + b);
	opcode_put(w, "%s gs_d[%u]; uint gs_p[8] = {%u, %u, %u, %u, %u, %u, %u, %u};\ngs_matrix_multiply(gs_p, gs_a, gs_b, gs_c, gs_d);\n" EACH_ON "\n",
	           opcode_c_type(word_type(p.d)), d * 32, p.m, p.n, p.k, p.a, p.b, p.c, p.d, p.flags);
	for (uint32_t i = 0; i < d; i++) {
		char text[24];
		snprintf(text, sizeof text, "gs_d[%u + l]", i * 32);
		opcode_assign(w, i, word_type(p.d), text);
	}
	opcode_put(w, "} }\n");
}

void opcode_write_mma(struct opcode_work *w)
{
	write_product(w, false);
}

void opcode_write_wmma(struct opcode_work *w)
{
	write_product(w, true);
}

/* ---- fragments in memory ---- */

struct fragment {
	struct matrix_product p;
	enum matrix_part part;
	enum matrix_kind kind;
	uint32_t registers, address, stride; /* which operands they are; none: a stride as long as a line */
	bool columns;                        /* elements of a column follow one another */
	uint32_t lines, length;              /* of elements that follow one another */
};

static bool read_fragment(struct opcode_work *w, struct fragment *f)
{
	enum matrix_kind kinds[4] = {0};
	bool load = !strcmp(w->words[0], "wmma.load");
	f->part = opcode_has(w, "a") ? MATRIX_A : opcode_has(w, "b") ? MATRIX_B : MATRIX_C;
	f->columns = opcode_has(w, "col");
	bool known = read_shape(w, &f->p) && read_kinds(w, kinds) == 1 && (f->columns || opcode_has(w, "row"));
	f->kind = kinds[0];
	f->p.a = f->part != MATRIX_C ? f->kind : is_shape(&f->p, 16, 16, 8) ? MATRIX_TF32 : f->kind == MATRIX_F64 ? MATRIX_F64 : f->p.k == 32 ? MATRIX_S4 : f->p.k == 128 ? MATRIX_B1 : MATRIX_F16;
	f->registers = registers_of(&f->p, true, f->part, f->kind);
	f->address = load ? w->results : 0;
	f->stride = f->address + 1 + (load ? 0 : f->registers);
	uint32_t rows = f->part == MATRIX_B ? f->p.k : f->p.m, columns = f->part == MATRIX_A ? f->p.k : f->p.n;
	f->lines = f->columns ? columns : rows;
	f->length = f->columns ? rows : columns;
	/* Elements of less than a byte lie in rows of A and in columns of B. */
	bool in_bytes = matrix_bits(f->kind) >= 8 || f->columns == (f->part == MATRIX_B);
	const struct ptx_operand *o = w->i->operands;
	known = known && is_wmma(&f->p) && in_bytes && f->address < w->i->operand_count && o[f->address].kind == PTX_ADDRESS;
	if (!known || (load ? w->results : w->i->operand_count - 1) < f->registers || (load && w->results != f->registers))
		opcode_refuse(w, "its form is not known");
	return !w->rc;
}

/* Elements from the begin of a line to that of the next. */
static void put_stride(struct opcode_work *w, const struct fragment *f)
{
	if (f->stride < w->i->operand_count)
		opcode_put_operand(w, &w->i->operands[f->stride], opcode_type_of("u32"));
	else
		opcode_put(w, "%u", f->length);
}

/* Writes the address, and how many elements apart rows and columns are. */
static void open_fragment(struct opcode_work *w, const struct fragment *f)
{
	opcode_put(w, "ulong gs_a = ");
	opcode_put_address(w, &w->i->operands[f->address], w->i->space);
	opcode_put(w, ", gs_n = ");
	put_stride(w, f);
	opcode_put(w, ", gs_x = %s, gs_y = %s;\n", f->columns ? "1" : "gs_n", f->columns ? "gs_n" : "1");
}

/* The number of an element in memory. Rows and columns are linear in l / 4 and l % 4. */
static void put_element(struct opcode_work *w, const struct fragment *f, uint32_t word, uint32_t element)
{
	struct matrix_place at = matrix_place(&f->p, f->part, f->kind, 0, word, element), next = matrix_place(&f->p, f->part, f->kind, 1, word, element),
	                    four = matrix_place(&f->p, f->part, f->kind, 4, word, element);
	opcode_put(w, "((%u + l / 4 * %u + l %% 4 * %u) * gs_x + (%u + l / 4 * %u + l %% 4 * %u) * gs_y)", at.row, four.row - at.row, next.row - at.row,
	           at.column, four.column - at.column, next.column - at.column);
}

/* Where an element is, as an lvalue. Elements of less than a byte are taken by whole words. */
static void put_place(struct opcode_work *w, const struct fragment *f, uint32_t word, uint32_t element)
{
	uint32_t bits = matrix_bits(f->kind);
	opcode_put(w, "*(__global gs_m%u *)(gs_a + ", bits < 8 ? 32 : bits);
	put_element(w, f, word, element);
	if (bits < 8)
		opcode_put(w, " / %u)", 8 / bits);
	else
		opcode_put(w, " * %u)", bits / 8);
}

static uint32_t loads_of(const struct fragment *f)
{
	return matrix_bits(f->kind) < 8 ? 1 : matrix_elements(f->kind);
}

void opcode_write_wmma_load(struct opcode_work *w)
{
	struct fragment f = {0};
	if (!read_fragment(w, &f))
		return;
	uint32_t words = matrix_words(&f.p, f.part, f.kind);
	opcode_put(w, EACH_ON " ");
	open_fragment(w, &f);
	for (uint32_t i = 0; i < f.registers; i++) {
		opcode_open(w, i, word_type(f.kind));
		for (uint32_t e = 0; e < loads_of(&f); e++) {
			opcode_put(w, "%s(%s)", e ? " | " : "", opcode_c_type(word_type(f.kind)));
			put_place(w, &f, i % words, e);
			if (e)
				opcode_put(w, " << %u", e * matrix_bits(f.kind));
		}
		opcode_close(w, i, word_type(f.kind));
	}
	opcode_put(w, "}\n");
}

void opcode_write_wmma_store(struct opcode_work *w)
{
	struct fragment f = {0};
	if (!read_fragment(w, &f))
		return;
	opcode_put(w, EACH_ON " ");
	open_fragment(w, &f);
	for (uint32_t i = 0; i < f.registers; i++)
		for (uint32_t e = 0; e < loads_of(&f); e++) {
			put_place(w, &f, i, e);
			opcode_put(w, " = (");
			opcode_put_operand(w, &w->i->operands[1 + i], word_type(f.kind));
			opcode_put(w, ") >> %u;\n", e * matrix_bits(f.kind));
		}
	opcode_put(w, "}\n");
}

/* All lanes together access whole rows, or columns: this lane's share of them, for traces. Which elements it needs does not matter there. */
bool opcode_put_fragment_address(struct opcode_work *w)
{
	struct fragment f = {0};
	if (!read_fragment(w, &f))
		return false;
	uint32_t bits = matrix_bits(f.kind), lanes = f.lines < 32 ? 32 / f.lines : 1;
	opcode_put_place(w, &w->i->operands[f.address], w->i->space);
	opcode_put(w, " + (ulong)(l / %u) * ", lanes);
	put_stride(w, &f);
	opcode_put(w, " * %u / 8 + l %% %u * %u", bits, lanes, f.length * bits / 8 / lanes);
	return !w->rc;
}

/* ---- matrices of 8 by 8 halves ---- */

/* Lanes 8 i to 8 i + 7 name the rows of matrix i. */
static bool open_rows(struct opcode_work *w, uint32_t *matrices)
{
	static const char *const counts[] = {"x1", "x2", "x4", NULL};
	int count = opcode_which(w, counts);
	uint32_t at = w->results;
	*matrices = count < 0 ? 0 : 1u << count;
	bool load = w->results > 0;
	if (!*matrices || !opcode_has(w, "m8n8") || w->type.bits != 16 || at >= w->i->operand_count || w->i->operands[at].kind != PTX_ADDRESS ||
	    (load ? w->results : w->i->operand_count - 1) != *matrices) {
		opcode_refuse(w, "its form is not known");
		return false;
	}
	opcode_put(w, "{ ulong gs_x[32]; " EACH " gs_x[l] = ");
	opcode_put_address(w, &w->i->operands[at], w->i->space);
	opcode_put(w, ";\n");
	return true;
}

#define ROW_WORD "*(__global gs_m32 *)(gs_x[%u + l / 4] + l %% 4 * 4)"
#define TURNED_HALF "*(__global gs_m16 *)(gs_x[%u + l %% 4 * 2] + l / 4 * 2)"

void opcode_write_ldmatrix(struct opcode_work *w)
{
	uint32_t matrices;
	if (!open_rows(w, &matrices))
		return;
	opcode_put(w, EACH_ON "\n");
	for (uint32_t i = 0; i < matrices; i++) {
		opcode_open(w, i, opcode_type_of("b32"));
		if (opcode_has(w, "trans"))
			opcode_put(w, TURNED_HALF " | (uint)" TURNED_HALF " << 16", i * 8, i * 8 + 1);
		else
			opcode_put(w, ROW_WORD, i * 8);
		opcode_close(w, i, opcode_type_of("b32"));
	}
	opcode_put(w, "} }\n");
}

void opcode_write_stmatrix(struct opcode_work *w)
{
	uint32_t matrices;
	if (!open_rows(w, &matrices))
		return;
	opcode_put(w, EACH_ON "\n");
	for (uint32_t i = 0; i < matrices; i++) {
		opcode_put(w, "{ uint gs_v = ");
		opcode_put_operand(w, &w->i->operands[1 + i], opcode_type_of("b32"));
		if (opcode_has(w, "trans"))
			opcode_put(w, ";\n" TURNED_HALF " = (ushort)gs_v; " TURNED_HALF " = (ushort)(gs_v >> 16); }\n", i * 8, i * 8 + 1);
		else
			opcode_put(w, ";\n" ROW_WORD " = gs_v; }\n", i * 8);
	}
	opcode_put(w, "} }\n");
}

/* The transpose of a matrix that lanes hold. */
void opcode_write_movmatrix(struct opcode_work *w)
{
	if (w->results != 1 || !opcode_has(w, "trans") || !opcode_has(w, "m8n8") || w->type.bits != 16) {
		opcode_refuse(w, "its form is not known");
		return;
	}
	opcode_put(w, "{ uint gs_x[32]; " EACH " gs_x[l] = ");
	opcode_put_operand(w, opcode_source(w, 0), opcode_type_of("b32"));
	opcode_put(w, ";\n" EACH_ON "\n");
	opcode_assign(w, 0, opcode_type_of("b32"), "(gs_x[l % 4 * 8 + l / 8] >> l / 4 % 2 * 16 & 0xffffu) | gs_x[l % 4 * 8 + 4 + l / 8] >> l / 4 % 2 * 16 << 16");
	opcode_put(w, "} }\n");
}
