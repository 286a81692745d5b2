/* Looks up machine instructions by name; see opcodes.h. */
#include "analysis/sass/opcodes.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define LOAD SASS_LOAD
#define STORE SASS_STORE
#define ATOMIC SASS_ATOMIC
#define BARRIER SASS_BARRIER
#define BRANCH SASS_BRANCH
#define CALL SASS_CALL
#define RETURN SASS_RETURN
#define EXIT SASS_EXIT
#define UNIFORM SASS_UNIFORM
#define COPY SASS_COPY
#define BULK SASS_BULK
#define WIDE SASS_WIDE
#define D8 SASS_D8
#define PREDICATE SASS_PREDICATE

struct sass_row {
	const char *name;
	uint8_t class, space;
	uint16_t flags;
};

#define OP(name, class, space, flags) {#name, CODE_##class, SPACE_##space, flags},
static const struct sass_row rows[] = {
#include "analysis/sass/opcodes.def"
};
#undef OP

static const struct sass_row *find_row(const char *name, size_t length)
{
	for (size_t i = 0; i < GS_ARRAY_LEN(rows); i++)
		if (!strncmp(rows[i].name, name, length) && !rows[i].name[length])
			return &rows[i];
	return NULL;
}

/* The pipes of names that are not in the table: letters at their begin, the longer ones first. */
static const struct sass_row *default_row(const char *name)
{
	static const struct sass_row defaults[] = {
		{"LDS", CODE_load, SPACE_shared, SASS_LOAD},  {"LDC", CODE_load, SPACE_const, SASS_LOAD}, {"LDL", CODE_load, SPACE_local, SASS_LOAD},
		{"LD", CODE_load, SPACE_global, SASS_LOAD},   {"STS", CODE_store, SPACE_shared, SASS_STORE}, {"STL", CODE_store, SPACE_local, SASS_STORE},
		{"ST", CODE_store, SPACE_global, SASS_STORE}, {"ATOMS", CODE_atomic, SPACE_shared, SASS_ATOMIC},
		{"ATOM", CODE_atomic, SPACE_global, SASS_ATOMIC}, {"RED", CODE_atomic, SPACE_global, SASS_ATOMIC},
		{"T", CODE_texture, SPACE_texture, SASS_LOAD}, {"MUFU", CODE_sfu, SPACE_none, 0},
		{"UT", CODE_nop, SPACE_none, 0}, {"U", CODE_nop, SPACE_none, SASS_UNIFORM}, {"F2", CODE_conv, SPACE_none, 0}, {"I2", CODE_conv, SPACE_none, 0},
		{"F", CODE_fp32, SPACE_none, 0}, {"H", CODE_fp32, SPACE_none, 0}, {"D", CODE_fp64, SPACE_none, SASS_WIDE},
		{"BR", CODE_branch, SPACE_none, SASS_BRANCH}, {"J", CODE_branch, SPACE_none, SASS_BRANCH}, {"BAR", CODE_barrier, SPACE_none, SASS_BARRIER},
		{"L", CODE_logic, SPACE_none, 0}, {"S", CODE_logic, SPACE_none, 0}, {"P", CODE_logic, SPACE_none, 0}, {"MOV", CODE_move, SPACE_none, 0},
		{"", CODE_int, SPACE_none, 0},
	};
	size_t i = 0;
	while (strncmp(defaults[i].name, name, strlen(defaults[i].name)))
		i++;
	return &defaults[i];
}

/* ---- suffixes ---- */

static bool has_word(const char *opcode, const char *word)
{
	size_t length = strlen(word);
	for (const char *p = strchr(opcode, '.'); p; p = strchr(p + 1, '.'))
		if (!strncmp(p + 1, word, length) && (!p[length + 1] || p[length + 1] == '.'))
			return true;
	return false;
}

/* The bytes of a size: 64, U8, S16, F32; 0: it is none. */
static unsigned size_of_word(const char *word)
{
	const char *digits = *word && strchr("USFB", *word) ? word + 1 : word;
	char *end;
	if (!isdigit((unsigned char)*digits))
		return 0;
	unsigned long bits = strtoul(digits, &end, 10);
	if (*end && *end != '.' && *end != 'x' && strncmp(end, "_V2", 3))
		return 0;
	return bits >= 8 && bits <= 256 && !(bits & (bits - 1)) ? (unsigned)bits / 8 : 0;
}

/* LDG.E.64.CONSTANT: the last size counts, since a name of an atomic may have the type of its operation and then that of its access. */
static unsigned access_bytes(const char *opcode, const struct sass_row *row)
{
	unsigned bytes = 0;
	if (!strncmp(row->name, "LDSM", 4) || !strncmp(row->name, "STSM", 4)) /* 8 by 8 matrices of halves: 4 bytes per lane each */
		return strstr(opcode, ".4") ? 16 : strstr(opcode, ".2") ? 8 : 4;
	for (const char *p = strchr(opcode, '.'); p; p = strchr(p + 1, '.')) {
		bool cache = !strncmp(p + 1, "LTC", 3); /* LTC128B is a hint for L2 */
		unsigned size = cache ? 0 : size_of_word(p + 1);
		const char *times = size ? memchr(p + 1, 'x', strcspn(p + 1, ".")) : NULL; /* F16x2 */
		if (size)
			bytes = times && times[1] == '4' ? size * 4 : times && times[1] == '2' ? size * 2 : size;
	}
	return bytes ? bytes : row->flags & SASS_D8 ? 8 : 4;
}

/* ---- products of matrices ---- */

struct product {
	unsigned m, n, k;
};

/* HMMA.16816 is 16 by 8 by 16; HGMMA.64x128x16 is of four warps, each of which has 16 rows. */
static bool product_of(const char *word, struct product *p)
{
	static const struct {
		const char *word;
		struct product shape;
	} shapes[] = {
		{"884", {8, 8, 4}}, {"1684", {16, 8, 4}}, {"1688", {16, 8, 8}}, {"16816", {16, 8, 16}}, {"8816", {8, 8, 16}},
		{"8832", {8, 8, 32}}, {"16832", {16, 8, 32}}, {"16864", {16, 8, 64}}, {"88128", {8, 8, 128}}, {"168128", {16, 8, 128}},
		{"168256", {16, 8, 256}},
	};
	size_t length = strcspn(word, ".");
	char *end;
	unsigned long m = strtoul(word, &end, 10);
	if (*end == 'x' && m) {
		unsigned long n = strtoul(end + 1, &end, 10), k = *end == 'x' ? strtoul(end + 1, &end, 10) : 0;
		*p = (struct product){m > 1024 ? 256 : (unsigned)m / 4, n > 1024 ? 1024 : (unsigned)n, k > 1024 ? 1024 : (unsigned)k};
		return k;
	}
	for (size_t i = 0; i < GS_ARRAY_LEN(shapes); i++)
		if (strlen(shapes[i].word) == length && !strncmp(shapes[i].word, word, length)) {
			*p = shapes[i].shape;
			return true;
		}
	return false;
}

static unsigned product_bits(const char *opcode)
{
	if (*opcode == 'B')
		return 1;
	if (has_word(opcode, "TF32"))
		return 32;
	if (*opcode == 'I')
		return has_word(opcode, "S4") || has_word(opcode, "U4") ? 4 : 8;
	return *opcode == 'Q' ? 8 : 16;
}

/* As analysis/ptx/classes.c counts steps. Of Volta's products, which are several instructions, the first has them all. */
static void set_steps(struct sass_opcode *o, const char *opcode)
{
	struct product p = {16, 8, o->class == CODE_tensor_fp64 ? 4 : 16};
	for (const char *at = strchr(opcode, '.'); at && !product_of(at + 1, &p);)
		at = strchr(at + 1, '.');
	if (has_word(opcode, "STEP1") || has_word(opcode, "STEP2") || has_word(opcode, "STEP3")) {
		o->class = CODE_nop;
		return;
	}
	unsigned bits = product_bits(opcode), depth = p.k / 4;
	if (o->class == CODE_tensor && strstr(opcode, "STEP0")) {
		p = (struct product){16, 8, 8}; /* four of 8 by 8 by 4 */
		o->class = CODE_tensor_half;
		depth = 1;
	} else if (o->class == CODE_tensor) {
		bool half = p.k * bits < 256;
		o->class = half ? CODE_tensor_half : CODE_tensor;
		depth = p.k * bits / (half ? 128 : 256);
	}
	unsigned steps = p.m * p.n * (depth ? depth : 1) / (16 * 8);
	o->elements = (uint8_t)(steps < 1 ? 1 : steps < UINT8_MAX ? steps : UINT8_MAX);
}

/* ---- the instruction ---- */

static uint8_t registers_of(const struct sass_opcode *o, const char *opcode)
{
	if (o->space != SPACE_none)
		return o->bytes > 8 ? 4 : o->bytes > 4 ? 2 : 1;
	if (o->class == CODE_tensor || o->class == CODE_tensor_half || o->class == CODE_tensor_fp64)
		return has_word(opcode, "F32") || *opcode != 'H' ? 4 : 2;
	if (o->flags & SASS_WIDE || has_word(opcode, "WIDE") || (o->class == CODE_conv && has_word(opcode, "F64")) || has_word(opcode, "64"))
		return 2;
	return 1;
}

/* What the classes of the table do not tell apart. */
static void refine(struct sass_opcode *o, const char *opcode)
{
	if (!strcmp(o->name, "IMAD") && (has_word(opcode, "MOV") || has_word(opcode, "SHL")))
		o->class = CODE_int_mul; /* a move or a shift by the multipliers, as analysis/machine has it */
	else if (!strcmp(o->name, "BAR") && has_word(opcode, "ARV"))
		o->flags &= (uint16_t)~SASS_BARRIER; /* arrives and does not wait */
}

struct sass_opcode sass_look_up(const char *opcode)
{
	if (*opcode == '@') {
		opcode += strcspn(opcode, " ");
		opcode += *opcode == ' ';
	}
	size_t length = strcspn(opcode, ". ;");
	const struct sass_row *row = find_row(opcode, length), *known = row;
	if (!row)
		row = default_row(opcode);
	struct sass_opcode o = {.name = known ? row->name : NULL, .class = row->class, .space = row->space, .elements = 1, .flags = row->flags};
	if (known && !strcmp(row->name, "BRX"))
		o.elements = CODE_TABLE_WAY;
	if (o.space != SPACE_none) {
		unsigned bytes = access_bytes(opcode, row);
		o.bytes = (uint8_t)(bytes < UINT8_MAX ? bytes : UINT8_MAX);
		o.elements = (uint8_t)(bytes > 4 && bytes <= 16 ? bytes / 4 : 1);
	}
	if (known && (o.class == CODE_tensor || o.class == CODE_tensor_fp64))
		set_steps(&o, opcode);
	if (known)
		refine(&o, opcode);
	o.results = registers_of(&o, opcode);
	return o;
}
