/*
 * Loads and stores of fragments (wmma.load, wmma.store) as what compilers make of them: a load or store for each word that a lane holds. Where the halves
 * of a word do not follow one another in memory, lanes load words of neighbours and turn them around (movmatrix): so an H200 makes as many requests. Other
 * elements that lie apart are accessed one by one. matrices.h has who holds what. It is PTX text in and out, with the same lines, because
 * all that reads the module is to see the same instructions. What is not known here stays as it is: it is one access then.
 */
#include "analysis/ptx/ptx.h"
#include "runtime/format/matrices.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 8, LANES = 32, TEXT = 64 };

struct fragment_text {
	bool load, columns;
	struct matrix_product p;
	enum matrix_part part;
	enum matrix_kind kind;
	char space[TEXT], base[TEXT], stride[TEXT]; /* space: with its dot, or empty */
	char registers[MOST_WORDS][TEXT];
	uint32_t register_count, words;
	int64_t offset;
};

struct line_place { /* which line of memory, and which element of it */
	uint32_t line, element;
};

/* ---- reading ---- */

static bool known_shape(const struct matrix_product *p)
{
	return (p->m == 16 && p->n == 16 && (p->k == 16 || p->k == 8)) || (p->m == 32 && p->n == 8 && p->k == 16) || (p->m == 8 && p->n == 32 && p->k == 16);
}

static bool read_words(char *opcode, struct fragment_text *f)
{
	static const char *const spaces[] = {"global", "shared", "shared::cta", "const", "local"};
	bool layout = false, shape = false, part = false;
	char *rest;
	for (char *word = strtok_r(opcode, ".", &rest); word; word = strtok_r(NULL, ".", &rest)) {
		enum matrix_kind kind = matrix_kind_of(word);
		if (!part && strlen(word) == 1 && strchr("abcd", *word)) {
			f->part = *word == 'a' ? MATRIX_A : *word == 'b' ? MATRIX_B : MATRIX_C;
			part = true;
		} else if (!strcmp(word, "row") || !strcmp(word, "col")) {
			f->columns = *word == 'c';
			layout = true;
		} else if (matrix_shape_of(word, &f->p)) {
			shape = true;
		} else if (kind) {
			f->kind = kind;
		}
		for (size_t i = 0; i < GS_ARRAY_LEN(spaces); i++)
			if (!strcmp(word, spaces[i]))
				snprintf(f->space, sizeof f->space, ".%s", word);
	}
	if (!layout || !shape || !part || !f->kind || !known_shape(&f->p))
		return false;
	f->p.a = f->part != MATRIX_C ? f->kind : f->p.k == 8 ? MATRIX_TF32 : MATRIX_F16;
	return true;
}

/* A name or a number without blanks. */
static bool take(const char **at, const char *stop, char out[TEXT])
{
	size_t n = 0;
	*at += strspn(*at, " \t");
	while (**at && !strchr(stop, **at) && !strchr(" \t", **at) && n + 1 < TEXT)
		out[n++] = *(*at)++;
	out[n] = '\0';
	*at += strspn(*at, " \t");
	return n > 0;
}

static bool take_char(const char **at, char c)
{
	*at += strspn(*at, " \t");
	bool found = **at == c;
	*at += found;
	return found;
}

static bool take_registers(const char **at, struct fragment_text *f)
{
	if (!take_char(at, '{'))
		return false;
	do {
		if (f->register_count == MOST_WORDS || !take(at, ",}", f->registers[f->register_count++]))
			return false;
	} while (take_char(at, ','));
	return take_char(at, '}');
}

static bool take_address(const char **at, struct fragment_text *f)
{
	char number[TEXT];
	if (!take_char(at, '[') || !take(at, "+]", f->base))
		return false;
	if (take_char(at, '+')) {
		char *end;
		if (!take(at, "]", number))
			return false;
		f->offset = strtoll(number, &end, 0);
		if (*end)
			return false;
	}
	return take_char(at, ']') && !strncmp(f->base, "%rd", 3); /* other names may be those of registers with 32 bits */
}

static bool read_statement(const char *text, struct fragment_text *f)
{
	char opcode[160];
	size_t length = strcspn(text, " \t\n{[");
	f->load = !strncmp(text, "wmma.load.", 10);
	const char *at = text + length;
	if (length >= sizeof opcode || strchr(text, '\n'))
		return false;
	snprintf(opcode, sizeof opcode, "%.*s", (int)length, text);
	if (!read_words(opcode + (f->load ? 9 : 10), f))
		return false;
	bool good = f->load ? take_registers(&at, f) && take_char(&at, ',') && take_address(&at, f)
	                    : take_address(&at, f) && take_char(&at, ',') && take_registers(&at, f);
	if (good && take_char(&at, ','))
		good = take(&at, ";", f->stride);
	else if (good) /* a line is as long as the matrix */
		snprintf(f->stride, sizeof f->stride, "%u",
		         f->columns == (f->part == MATRIX_B) ? f->p.k : f->part == MATRIX_A ? f->p.m : f->part == MATRIX_B ? f->p.n : f->columns ? f->p.m : f->p.n);
	f->words = good ? matrix_words(&f->p, f->part, f->kind) : 0;
	return good && !*at && f->words && f->words <= MOST_WORDS && f->register_count >= f->words;
}

/* ---- writing ---- */

static struct line_place place_of(const struct fragment_text *f, uint32_t lane, uint32_t word, uint32_t element)
{
	struct matrix_place p = matrix_place(&f->p, f->part, f->kind, lane, word, element);
	return f->columns ? (struct line_place){p.column, p.row} : (struct line_place){p.row, p.column};
}

/* What a lane adds to the place of lane 0: lane / 4, or lane % 4 times 1, 2 or 4, as a register that the function begins with. NULL: something else */
static const char *lane_term(uint32_t by_four, uint32_t by_one)
{
	if (by_four == 1 && !by_one)
		return "%gs_quad";
	if (by_four || !by_one)
		return NULL;
	return by_one == 1 ? "%gs_in1" : by_one == 2 ? "%gs_in2" : by_one == 4 ? "%gs_in4" : NULL;
}

/* Whether all words are as far from those of lane 0 as the first one is. */
static bool is_regular(const struct fragment_text *f, const char **line, const char **element)
{
	struct line_place zero = place_of(f, 0, 0, 0), one = place_of(f, 1, 0, 0), four = place_of(f, 4, 0, 0);
	uint32_t by[4] = {four.line - zero.line, one.line - zero.line, four.element - zero.element, one.element - zero.element};
	*line = lane_term(by[0], by[1]);
	*element = lane_term(by[2], by[3]);
	for (uint32_t lane = 0; lane < LANES; lane++)
		for (uint32_t w = 0; w < f->words; w++)
			for (uint32_t e = 0; e < matrix_elements(f->kind); e++) {
				struct line_place here = place_of(f, lane, w, e), first = place_of(f, 0, w, e);
				if (here.line - first.line != lane / 4 * by[0] + lane % 4 * by[1] || here.element - first.element != lane / 4 * by[2] + lane % 4 * by[3])
					return false;
			}
	return *line && *element;
}

static bool follows(struct line_place a, struct line_place b, uint32_t by)
{
	return a.line == b.line && b.element == a.element + by;
}

/* Whether the elements of a word follow one another. */
static bool is_whole(const struct fragment_text *f, uint32_t word)
{
	for (uint32_t e = 1; e < matrix_elements(f->kind); e++)
		if (!follows(place_of(f, 0, word, 0), place_of(f, 0, word, e), e))
			return false;
	return true;
}

/* The register with the address of a line, which is written at its first use. */
static uint32_t line_register(const struct fragment_text *f, uint32_t line, uint32_t lines[], uint32_t *count, struct gs_buf *out)
{
	for (uint32_t i = 0; i < *count; i++)
		if (lines[i] == line)
			return i;
	uint32_t bytes = line * (matrix_bits(f->kind) / 8);
	if (*f->stride == '%')
		gs_buf_printf(out, " mad.wide.u32 %%gs_a%u, %s, %u, %%gs_a0;", *count, f->stride, bytes);
	else
		gs_buf_printf(out, " add.s64 %%gs_a%u, %%gs_a0, %llu;", *count, strtoull(f->stride, NULL, 0) * bytes);
	lines[*count] = line;
	return (*count)++;
}

static void write_word(const struct fragment_text *f, uint32_t word, uint32_t lines[], uint32_t *count, struct gs_buf *out)
{
	const char *reg = f->registers[word], *type = f->kind == MATRIX_F32 ? "f32" : "b32";
	uint32_t elements = is_whole(f, word) ? 1 : matrix_elements(f->kind), bytes = matrix_bits(f->kind) / 8;
	if (elements > 1 && !f->load)
		gs_buf_printf(out, " mov.b32 {%%gs_h%u, %%gs_h%u}, %s;", 2 * word, 2 * word + 1, reg);
	for (uint32_t e = 0; e < elements; e++) {
		struct line_place at = place_of(f, 0, word, e);
		uint32_t address = line_register(f, at.line, lines, count, out);
		long long offset = f->offset + (long long)at.element * bytes;
		char value[TEXT + 1];
		snprintf(value, sizeof value, "%s", reg);
		if (elements > 1)
			snprintf(value, sizeof value, "%%gs_h%u", 2 * word + e);
		if (f->load)
			gs_buf_printf(out, " ld%s.%s %s, [%%gs_a%u+%lld];", f->space, elements > 1 ? "b16" : type, value, address, offset);
		else
			gs_buf_printf(out, " st%s.%s [%%gs_a%u+%lld], %s;", f->space, elements > 1 ? "b16" : type, address, offset, value);
	}
}

/* After all loads, because compilers do not wait for one before the next: halves become words, and more registers than words have the same again. */
static void write_packs(const struct fragment_text *f, bool turned, struct gs_buf *out)
{
	for (uint32_t w = 0; w < f->words; w++)
		if (!is_whole(f, w) && !turned)
			gs_buf_printf(out, " mov.b32 %s, {%%gs_h%u, %%gs_h%u};", f->registers[w], 2 * w, 2 * w + 1);
	for (uint32_t w = f->words; w < f->register_count; w++)
		gs_buf_printf(out, " mov.b32 %s, %s;", f->registers[w], f->registers[w % f->words]);
}

/* Two words that follow one another are accessed together, as compilers do. */
static bool write_pair(const struct fragment_text *f, uint32_t word, uint32_t lines[], uint32_t *count, struct gs_buf *out)
{
	struct line_place at = place_of(f, 0, word, 0);
	uint32_t each = matrix_elements(f->kind);
	if (each != 1 || word + 1 >= f->words || at.element % 2 || !follows(at, place_of(f, 0, word + 1, 0), 1))
		return false;
	uint32_t address = line_register(f, at.line, lines, count, out);
	long long offset = f->offset + (long long)at.element * 4;
	const char *a = f->registers[word], *b = f->registers[word + 1], *type = f->kind == MATRIX_F32 ? "f32" : "b32";
	if (f->load)
		gs_buf_printf(out, " ld%s.v2.%s {%s, %s}, [%%gs_a%u+%lld];", f->space, type, a, b, address, offset);
	else
		gs_buf_printf(out, " st%s.v2.%s [%%gs_a%u+%lld], {%s, %s};", f->space, type, address, offset, a, b);
	return true;
}

/* Matrices of 8 by 8 halves whose lines are the lanes' columns: loaded line by line, and turned around. */
static void write_turned(const struct fragment_text *f, uint32_t lines[], uint32_t *count, struct gs_buf *out)
{
	for (uint32_t w = 0; w < f->words; w++) {
		struct line_place at = place_of(f, 0, w, 0);
		uint32_t address = line_register(f, at.line, lines, count, out);
		gs_buf_printf(out, " ld%s.b32 %%gs_w%u, [%%gs_a%u+%lld];", f->space, w, address, f->offset + (long long)at.element * 2);
	}
	for (uint32_t w = 0; w < f->words; w++)
		gs_buf_printf(out, " movmatrix.sync.aligned.m8n8.trans.b16 %s, %%gs_w%u;", f->registers[w], w);
}

static bool write_fragment(const struct fragment_text *f, struct gs_buf *out)
{
	const char *line, *element;
	uint32_t lines[1 + MOST_WORDS * 2] = {0}, count = 1, bits = matrix_bits(f->kind);
	if ((bits != 16 && bits != 32) || !is_regular(f, &line, &element))
		return false;
	bool turned = f->load && bits == 16 && !strcmp(line, "%gs_in2") && !strcmp(element, "%gs_quad");
	if (turned) {
		line = "%gs_quad";
		element = "%gs_in2";
	}
	gs_buf_puts(out, "{ .reg .b16 %gs_h<16>; .reg .b32 %gs_t, %gs_w<8>; .reg .b64 %gs_a<17>;");
	gs_buf_printf(out, " mad.lo.u32 %%gs_t, %s, %s, %s; mad.wide.u32 %%gs_a0, %%gs_t, %u, %s;", line, f->stride, element, bits / 8, f->base);
	if (turned)
		write_turned(f, lines, &count, out);
	for (uint32_t w = 0; w < f->words && !turned; w++)
		if (write_pair(f, w, lines, &count, out))
			w++;
		else
			write_word(f, w, lines, &count, out);
	if (f->load)
		write_packs(f, turned, out);
	gs_buf_puts(out, " }");
	return true;
}

/* ---- the text ---- */

/* What functions begin with that have such an instruction. */
static const char lane_registers[] = " .reg .b32 %gs_quad, %gs_in1, %gs_in2, %gs_in4; mov.u32 %gs_quad, %laneid; and.b32 %gs_in1, %gs_quad, 3;"
                                     " shl.b32 %gs_in2, %gs_in1, 1; shl.b32 %gs_in4, %gs_in1, 2; shr.u32 %gs_quad, %gs_quad, 2;";

static bool expand_statement(const char *text, size_t length, struct gs_buf *out)
{
	struct fragment_text f = {0};
	struct gs_buf made = {0};
	char copy[512];
	if (length >= sizeof copy)
		return false;
	memcpy(copy, text, length);
	copy[length] = '\0';
	bool good = read_statement(copy, &f) && write_fragment(&f, &made);
	if (good)
		gs_buf_puts(out, made.data);
	out->failed |= made.failed;
	gs_buf_free(&made);
	return good;
}

/* The length of a comment or a string that begins there; 0: none does. */
static size_t passage(const char *at, const char *end)
{
	const char *close = NULL;
	size_t left = (size_t)(end - at), more = 1;
	if (left > 1 && at[0] == '/' && at[1] == '/')
		close = memchr(at, '\n', left);
	else if (left > 1 && at[0] == '/' && at[1] == '*')
		close = memmem(at + 2, left - 2, "*/", more = 2);
	else if (*at == '"')
		close = memchr(at + 1, '"', left - 1);
	else
		return 0;
	return close ? (size_t)(close - at) + more : left;
}

static bool is_fragment_access(const char *at, const char *end)
{
	return end - at > 11 && (!memcmp(at, "wmma.load.", 10) || !memcmp(at, "wmma.store.", 11));
}

int ptx_expand_fragments(const char *text, size_t length, struct gs_buf *out, struct gs_error *err)
{
	struct gs_buf body = {0}, *to = out;
	const char *at = text, *end = text + length;
	bool fresh = false, used = false; /* fresh: a statement begins here */
	for (int depth = 0; at < end && !body.failed;) {
		size_t skip = passage(at, end);
		const char *semicolon = fresh && depth && is_fragment_access(at, end) ? memchr(at, ';', (size_t)(end - at)) : NULL;
		if (semicolon && expand_statement(at, (size_t)(semicolon - at), to)) {
			used = true;
			at = semicolon + 1;
			continue;
		}
		if (!skip && *at == '}' && depth && !--depth) {
			gs_buf_puts(out, used ? lane_registers : "");
			gs_buf_add(out, body.data ? body.data : "", body.len);
			out->failed |= body.failed;
			gs_buf_free(&body);
			body = (struct gs_buf){0};
			to = out;
		}
		gs_buf_add(to, at, skip ? skip : 1);
		if (!skip && *at == '{' && !depth++) {
			to = &body;
			used = false;
		}
		fresh = skip ? fresh && *at != '"' : strchr(";{}:", *at) || (fresh && strchr(" \t\r\n", *at));
		at += skip ? skip : 1;
	}
	gs_buf_add(out, body.data ? body.data : "", body.len); /* text that ends too early: whoever reads it says so */
	out->failed |= body.failed;
	gs_buf_free(&body);
	return out->failed ? gs_fail(err, ENOMEM, "out of memory") : 0;
}
