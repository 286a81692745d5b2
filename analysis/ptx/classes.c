/*
 * Describes an opcode: its class, its memory space, how many bytes it accesses, and which of its operands it writes.
 *
 * A row holds for every opcode that begins with its words. The longest row that fits is used. Modifiers then decide between
 * integer and floating point. They also name the space, the type and the length of a vector.
 */
#include "analysis/ptx/internal.h"

#include "runtime/format/matrices.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum extra {
	REM = 1,
	CALLS = 2,
	COPIES = 4,  /* copies from one space to another; the first constant is the number of bytes */
	BY_LIST = 8, /* the number of bytes follows from its list of registers */
};

struct opcode_row {
	const char *words;
	uint8_t integer, real, real64; /* class for each kind of type */
	uint8_t space;                 /* if no modifier names it; SPACE_none: it accesses no memory */
	uint8_t shape, extra;
};

#define TYPED(words, integer, real, real64, extra)                                                                     \
	{words, CODE_##integer, CODE_##real, CODE_##real64, SPACE_none, PTX_PLAIN, extra},
#define SHAPED(words, class, shape, extra)                                                                             \
	{words, CODE_##class, CODE_##class, CODE_##class, SPACE_none, PTX_##shape, extra},
#define MEMORY(words, class, space, shape, extra)                                                                      \
	{words, CODE_##class, CODE_##class, CODE_##class, SPACE_##space, PTX_##shape, extra},
#define ONE(words, class) SHAPED(words, class, PLAIN, 0)

/* Sorted in the order of strcmp. */
/* clang-format off */
static const struct opcode_row rows[] = {
	ONE("abs", move) ONE("activemask", move) TYPED("add", int, fp32, fp64, 0) TYPED("add.cc", int, fp32, fp64, 0)
	TYPED("addc", int, fp32, fp64, 0) ONE("alloca", move) ONE("and", logic)
	SHAPED("applypriority", nop, READS, 0) MEMORY("atom", atomic, generic, PLAIN, 0)
	SHAPED("bar", barrier, READS, 0) ONE("bar.red", barrier) SHAPED("bar.warp", move, READS, 0)
	SHAPED("barrier", barrier, READS, 0) SHAPED("barrier.cluster.arrive", nop, READS, 0) ONE("barrier.cta.red", barrier) ONE("barrier.red", barrier)
	ONE("bfe", logic) ONE("bfi", logic) ONE("bfind", logic) ONE("bmsk", logic) SHAPED("bra", branch, BRANCH, 0)
	ONE("brev", logic) SHAPED("brkpt", nop, READS, 0) SHAPED("brx", branch, TABLE, 0)
	SHAPED("call", branch, CALL, CALLS) SHAPED("clusterlaunchcontrol", nop, READS, 0)
	ONE("clusterlaunchcontrol.query_cancel", move) ONE("clz", logic) ONE("cnot", logic) ONE("copysign", move)
	ONE("cos", sfu) MEMORY("cp.async", load, global, READS, COPIES)
	MEMORY("cp.async.bulk", load, global, READS, COPIES) SHAPED("cp.async.bulk.commit_group", nop, READS, 0)
	SHAPED("cp.async.bulk.prefetch", nop, READS, 0) SHAPED("cp.async.bulk.wait_group", nop, READS, 0)
	SHAPED("cp.async.commit_group", nop, READS, 0) SHAPED("cp.async.mbarrier", nop, READS, 0)
	SHAPED("cp.async.wait_all", move, READS, 0) SHAPED("cp.async.wait_group", move, READS, 0)
	MEMORY("cp.reduce", atomic, global, READS, COPIES) ONE("createpolicy", move)
	TYPED("cvt", move, conv, conv, 0) ONE("cvta", move) SHAPED("discard", nop, READS, 0)
	TYPED("div", int_div, fp32_div, fp64_div, 0) TYPED("dp2a", int_mad, fp32_fma, fp64_fma, 0)
	TYPED("dp4a", int_mad, fp32_fma, fp64_fma, 0) ONE("elect", move) ONE("ex2", sfu)
	SHAPED("exit", branch, READS, 0) SHAPED("fence", fence, READS, 0)
	TYPED("fma", int_mad, fp32_fma, fp64_fma, 0) ONE("fns", logic) ONE("getctarank", move)
	SHAPED("griddepcontrol", nop, READS, 0) ONE("isspacep", move) ONE("istypep", move)
	MEMORY("ld", load, generic, PLAIN, 0) MEMORY("ldmatrix", load, shared, PLAIN, 0)
	MEMORY("ldu", load, generic, PLAIN, 0) ONE("lg2", sfu) ONE("lop3", logic)
	TYPED("mad", int_mad, fp32_fma, fp64_fma, 0) TYPED("mad24", int_mad, fp32_fma, fp64_fma, 0)
	TYPED("madc", int_mad, fp32_fma, fp64_fma, 0) ONE("mapa", move) ONE("match", move)
	TYPED("max", int_minmax, fp32_minmax, fp64_minmax, 0) MEMORY("mbarrier.arrive", atomic, shared, PLAIN, 0)
	MEMORY("mbarrier.arrive_drop", atomic, shared, PLAIN, 0)
	MEMORY("mbarrier.complete_tx", atomic, shared, READS, 0)
	MEMORY("mbarrier.expect_tx", atomic, shared, READS, 0) MEMORY("mbarrier.init", store, shared, READS, 0)
	MEMORY("mbarrier.inval", store, shared, READS, 0) ONE("mbarrier.pending_count", move)
	MEMORY("mbarrier.test_wait", load, shared, PLAIN, 0) MEMORY("mbarrier.try_wait", load, shared, PLAIN, 0)
	SHAPED("membar", fence, READS, 0) TYPED("min", int_minmax, fp32_minmax, fp64_minmax, 0) ONE("mma", tensor)
	ONE("mov", move) ONE("movmatrix", shuffle) TYPED("mul", int_mul, fp32, fp64, 0)
	TYPED("mul24", int_mul, fp32, fp64, 0) MEMORY("multimem.ld_reduce", load, generic, PLAIN, 0)
	MEMORY("multimem.red", atomic, generic, READS, 0) MEMORY("multimem.st", store, generic, READS, 0)
	SHAPED("nanosleep", nop, READS, 0) ONE("neg", move) ONE("not", logic) ONE("or", logic)
	SHAPED("pmevent", nop, READS, 0) ONE("popc", logic) SHAPED("prefetch", nop, READS, 0)
	SHAPED("prefetchu", nop, READS, 0) ONE("prmt", logic) ONE("rcp", sfu)
	MEMORY("red", atomic, generic, READS, 0) ONE("redux", shuffle) TYPED("rem", int_div, fp32_div, fp64_div, REM)
	SHAPED("ret", branch, READS, 0) ONE("rsqrt", sfu) TYPED("sad", int_mad, fp32_fma, fp64_fma, 0)
	ONE("selp", move) ONE("set", move) SHAPED("setmaxnreg", nop, READS, 0) ONE("setp", move) ONE("shf", logic)
	ONE("shfl", shuffle) ONE("shl", logic) ONE("shr", logic) ONE("sin", sfu) ONE("slct", move) ONE("sqrt", sfu)
	MEMORY("st", store, generic, READS, 0) SHAPED("stackrestore", move, READS, 0) ONE("stacksave", move)
	MEMORY("stmatrix", store, shared, READS, 0) TYPED("sub", int, fp32, fp64, 0)
	TYPED("sub.cc", int, fp32, fp64, 0) TYPED("subc", int, fp32, fp64, 0)
	MEMORY("suld", texture, texture, PLAIN, 0) MEMORY("suq", texture, texture, PLAIN, 0)
	MEMORY("sured", texture, texture, READS, 0) MEMORY("sust", store, texture, READS, 0) ONE("szext", logic)
	ONE("tanh", sfu) SHAPED("tcgen05", nop, READS, 0) SHAPED("tcgen05.cp", tensor, READS, 0)
	ONE("tcgen05.ld", tensor) SHAPED("tcgen05.mma", tensor, READS, 0) SHAPED("tcgen05.shift", tensor, READS, 0)
	SHAPED("tcgen05.st", tensor, READS, 0) MEMORY("tensormap", store, generic, READS, 0) ONE("testp", move)
	MEMORY("tex", texture, texture, PLAIN, 0) MEMORY("tld4", texture, texture, PLAIN, 0)
	SHAPED("trap", branch, READS, 0) MEMORY("txq", texture, texture, PLAIN, 0) ONE("vabsdiff", int)
	ONE("vabsdiff2", int) ONE("vabsdiff4", int) ONE("vadd", int) ONE("vadd2", int) ONE("vadd4", int)
	ONE("vavrg2", int) ONE("vavrg4", int) ONE("vmad", int_mad) ONE("vmax", int_minmax) ONE("vmax2", int_minmax)
	ONE("vmax4", int_minmax) ONE("vmin", int_minmax) ONE("vmin2", int_minmax) ONE("vmin4", int_minmax)
	ONE("vote", move) ONE("vset", move) ONE("vset2", move) ONE("vset4", move) ONE("vshl", logic)
	ONE("vshr", logic) ONE("vsub", int) ONE("vsub2", int) ONE("vsub4", int) SHAPED("wgmma", nop, READS, 0)
	ONE("wgmma.mma_async", tensor) ONE("wmma", tensor) MEMORY("wmma.load", load, generic, PLAIN, BY_LIST)
	MEMORY("wmma.store", store, generic, READS, BY_LIST) ONE("xor", logic)
};
/* clang-format on */

/* What the modifiers say. */
struct modifiers {
	bool real, real64;
	uint32_t bits;     /* of the last type; for textures, of the first type */
	uint32_t elements; /* .v4 */
	uint32_t matrices; /* .x4 of ldmatrix and stmatrix */
	int first_space;   /* -1: none is named */
	bool names_global, warp_matrices;
	uint32_t product_bits; /* of the smallest elements that matrices are multiplied of; 0: none is named, or halves */
};

static int compare_words(const void *key, const void *row)
{
	return strcmp(key, ((const struct opcode_row *)row)->words);
}

/* Finds the row of the longest beginning, cut at a dot. */
static const struct opcode_row *find_row(const char *opcode)
{
	enum { MOST_WORDS = 4 };
	char words[64];
	size_t ends[MOST_WORDS], count = 0, length = 0;
	while (length < sizeof words && count < MOST_WORDS) {
		if (!opcode[length] || opcode[length] == '.')
			ends[count++] = length;
		if (!opcode[length])
			break;
		words[length] = opcode[length];
		length++;
	}
	while (count--) {
		words[ends[count]] = 0;
		const struct opcode_row *row = bsearch(words, rows, GS_ARRAY_LEN(rows), sizeof rows[0], compare_words);
		if (row)
			return row;
	}
	return NULL;
}

/* Types of 4 to 19 bits that only tensor cores and conversions use. */
static bool is_small_real(struct ptx_span word)
{
	static const char *const names[] = {".tf32", ".e4m3", ".e5m2", ".e2m1", ".e2m3", ".e3m2", ".ue8m0"};
	for (size_t i = 0; i < GS_ARRAY_LEN(names); i++)
		if (word.length >= strlen(names[i]) && !memcmp(word.at, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Of types that only products of matrices have. Reals of 8 bits count as halves; 0: another word. */
static uint32_t product_bits(struct ptx_span word)
{
	static const struct {
		const char *name;
		uint32_t bits;
	} types[] = {{".tf32", 32}, {".s8", 8}, {".u8", 8}, {".s4", 4}, {".u4", 4}, {".b1", 1}};
	for (size_t i = 0; i < GS_ARRAY_LEN(types); i++)
		if (ptx_span_is(word, types[i].name))
			return types[i].bits;
	return 0;
}

static void apply_modifier(struct modifiers *m, struct ptx_span word, bool first_type)
{
	uint32_t bits = ptx_type_bits(word);
	int space = ptx_space_of(word);
	char kind = word.length > 1 ? word.at[1] : 0;
	bool digits = word.length > 2 && isdigit((unsigned char)word.at[2]);
	if (bits) {
		bool real = kind == 'f' || (kind == 'b' && word.at[2] == 'f');
		m->real |= real;
		m->real64 |= real && bits == 64;
		if (!m->bits || !first_type)
			m->bits = bits;
	} else if (is_small_real(word)) {
		m->real = true;
	} else if (kind == 'v' && digits) {
		m->elements = (uint32_t)(word.at[2] - '0');
	} else if (kind == 'x' && digits) {
		m->matrices = (uint32_t)(word.at[2] - '0');
	} else if (space >= 0 && m->first_space < 0) {
		m->first_space = space;
	}
	m->names_global |= space == SPACE_global;
	uint32_t small = product_bits(word);
	if (small && (!m->product_bits || small < m->product_bits))
		m->product_bits = small;
	m->warp_matrices |= ptx_span_is(word, ".m8n8") || ptx_span_is(word, ".m16n8") || ptx_span_is(word, ".m16n16");
}

static struct modifiers read_modifiers(const char *opcode, bool first_type)
{
	struct modifiers m = {.elements = 1, .matrices = 1, .first_space = -1};
	struct ptx_cursor c = {.at = opcode, .end = opcode + strlen(opcode)};
	ptx_take_name(&c, false);
	while (c.at < c.end) {
		struct ptx_span word = ptx_take_directive(&c);
		if (word.length > 1)
			apply_modifier(&m, word, first_type);
		else if (!word.length)
			c.at++;
	}
	return m;
}

static void set_memory(struct ptx_form *f, const struct opcode_row *row, const struct modifiers *m)
{
	uint32_t bytes = m->bits >= 8 ? m->bits / 8 * m->elements : 4;
	if (m->warp_matrices && row->space == SPACE_shared) /* each lane has a word of each matrix */
		bytes = 4 * m->matrices;
	f->space = row->space;
	if (m->first_space >= 0 && row->space != SPACE_texture)
		f->space = (uint8_t)m->first_space;
	if (row->extra & COPIES) { /* between shared and global memory: the access to global memory counts */
		if (f->class == CODE_load && m->first_space == SPACE_global)
			f->class = CODE_store;
		f->space = m->names_global || m->first_space < 0 ? SPACE_global : SPACE_shared;
	}
	f->elements = (uint8_t)(m->elements ? m->elements : 1);
	f->bytes = bytes < UINT8_MAX ? (uint8_t)bytes : UINT8_MAX;
	f->sized_by_constant = row->extra & COPIES;
	f->sized_by_list = row->extra & BY_LIST;
}

/*
 * The steps that a product of matrices takes of units that add up 16 by 8 sums of as many products as 32 or 16 bytes hold, or of 4 products of
 * doubles. Reals of 8 bits are multiplied as halves.
 */
static void set_steps(struct ptx_form *f, const char *opcode, const struct modifiers *m)
{
	struct matrix_product p = {.m = 16, .n = 8, .k = 16};
	for (const char *at = strstr(opcode, ".m"); at && !matrix_shape_of(at + 1, &p);)
		at = strstr(at + 1, ".m");
	uint32_t bits = m->product_bits ? m->product_bits : 16, depth = p.k;
	if (m->real64) {
		f->class = CODE_tensor_fp64;
		depth /= 4;
	} else {
		bool half = depth * bits < 256;
		f->class = half ? CODE_tensor_half : CODE_tensor;
		depth = depth * bits / (half ? 128 : 256);
	}
	uint32_t steps = p.m * p.n * (depth ? depth : 1) / (16 * 8);
	f->elements = (uint8_t)(steps < 1 ? 1 : steps < UINT8_MAX ? steps : UINT8_MAX);
}

static const struct opcode_row *default_row(const char *opcode)
{
	static const struct opcode_row defaults[] = {MEMORY("ld", load, generic, PLAIN, 0)
						  MEMORY("st", store, generic, READS, 0) TYPED("", int, fp32, fp64, 0)};
	return !strncmp(opcode, "ld", 2) ? &defaults[0] : !strncmp(opcode, "st", 2) ? &defaults[1] : &defaults[2];
}

struct ptx_form ptx_form_of(const char *opcode)
{
	const struct opcode_row *row = find_row(opcode);
	struct ptx_form f = {.known = row, .elements = 1};
	if (!row)
		row = default_row(opcode);
	struct modifiers m = read_modifiers(opcode, row->space == SPACE_texture);
	f.class = m.real64 ? row->real64 : m.real ? row->real : row->integer;
	f.shape = row->shape;
	f.flags = (uint8_t)((row->extra & REM ? CODE_REM : 0) | (row->extra & CALLS ? CODE_CALL : 0));
	if (row->space != SPACE_none)
		set_memory(&f, row, &m);
	else if (f.class == CODE_tensor)
		set_steps(&f, opcode, &m);
	return f;
}

bool ptx_classify(const char *opcode, struct ptx_instruction *out)
{
	struct ptx_form f = ptx_form_of(opcode);
	*out = (struct ptx_instruction){.opcode = opcode,
	                                .class = f.class,
	                                .space = f.space,
	                                .bytes = f.bytes,
	                                .elements = f.elements,
	                                .flags = f.flags,
	                                .guard = -1};
	return f.known;
}
