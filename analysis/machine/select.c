/*
 * Decides which machine instructions the PTX instructions of a block become.
 *
 *   free       These need no instruction: copies whose source is not used afterwards; cvta; cvt between halves and between equal widths;
 *              constants (immediate operands); abs and neg of floats, and neg of integers in sums (operand modifiers); `not` in logic;
 *              and.pred and the like after a setp.
 *   moves      Moves that remain, and left shifts by a constant, run on the multipliers (IMAD.MOV, HFMA2, IMAD.SHL).
 *   values     One ULDC or LDC reads a parameter or a size of the launch. One S2R reads an id. The id of a work-item comes through
 *              the load/store unit: Nsight Compute counts it there. The address of a __shared__ variable takes three instructions on
 *              sm_90, because the window begins at the block's place in the cluster. It takes none before sm_90.
 *   64 bits    add and sub are two instructions (IADD3, IADD3.X), also with three operands. shl is two. It is none if the lower half
 *              becomes 0 or if only the lower half counts. A shl with one user becomes part of it if that is an addition (LEA,
 *              LEA.HI.X). A shl with two users does not. mul.wide becomes part of every addition that uses it (IMAD.WIDE). The
 *              exception is an index under a mask: NVIDIA's front end shifts it in 32 bits and adds halves.
 *   32 bits    mul joins add (IMAD), also several of its block, shl joins add (LEA), add joins add (IADD3), logic joins logic (LOP3, three
 *              operands), a comparison of a logic result with 0 joins the logic, add joins min and max.
 *   floats     mul joins add (FFMA: NVIDIA's OpenCL contracts; in a final text only without .rn, as PTX has it). div.full by a constant is a mul.
 *   loops      A value that only the way out needs is copied there. An index that is a loop's counter plus a value from outside is
 *              not computed, because the front end advances the address instead.
 *   sequences  They come from builtins.def (analysis/machine/divide.c).
 *
 * What NVIDIA's front end does is not done again where the text is final.
 *
 * A value joins its user only within a block, and only if it has no other user. Source: ptxas 13.0, sm_90, observed on NVIDIA's
 * and clang's PTX of the suite.
 */
#include "analysis/machine/machine.h"

#include <string.h>

static void plan(struct machine_plan *p, uint8_t count, enum code_class class)
{
	*p = (struct machine_plan){.count = count, .planned = true};
	memset(p->classes, class, MACHINE_MOST_OPS);
}

static bool is_int(const struct ptx_instruction *i, const char *name, unsigned bits)
{
	return machine_is(i, name) && !machine_is_real(i) && machine_bits(i) == bits;
}

static bool is_immediate(const struct machine_function *f, const struct ptx_operand *o)
{
	return o && (o->kind == PTX_IMMEDIATE || (o->kind == PTX_REGISTER && o->reg >= 0 && f->values[o->reg].constant));
}

static bool is_logic(const struct ptx_instruction *i)
{
	return (machine_is(i, "and") || machine_is(i, "or") || machine_is(i, "xor") || machine_is(i, "not"));
}

static const struct machine_value *result_value(const struct machine_function *f, const struct ptx_instruction *i)
{
	int32_t result = machine_result(i);
	return result < 0 ? NULL : &f->values[result];
}

/* The width that is computed. It is 32 bits for a 64-bit result whose upper half is not needed. */
static unsigned width(const struct machine_function *f, const struct ptx_instruction *i)
{
	const struct machine_value *v = result_value(f, i);
	return machine_bits(i) == 64 && v && v->high_unused ? 32 : machine_bits(i);
}

/* The only user of an instruction's result, if that user is in the same block. Otherwise NULL. */
static const struct ptx_instruction *only_user(const struct machine_function *f, const struct ptx_instruction *i)
{
	const struct machine_value *v = result_value(f, i);
	uint32_t at = machine_index(f, i);
	if (!v || v->def != (int32_t)at || v->uses != 1 || i->guard >= 0)
		return NULL;
	uint32_t user = f->use_list[v->first_use];
	return user > at && f->block_of[user] == f->block_of[at] ? &f->ptx->instructions[user] : NULL;
}

static bool is_part(const struct machine_function *f, const struct ptx_instruction *i)
{
	const struct machine_plan *p = &f->plans[machine_index(f, i)];
	return p->planned && !p->count && !p->kept && !p->cost;
}

/* Counts the operands whose instructions have already become part of this instruction. */
static uint32_t parts_of(const struct machine_function *f, const struct ptx_instruction *i)
{
	uint32_t parts = 0;
	const struct ptx_operand *o;
	for (uint32_t n = 0; (o = machine_source(i, n)); n++) {
		const struct ptx_instruction *def = machine_def(f, o);
		bool own = def && (only_user(f, def) == i || (machine_is(def, "mul") && !machine_has_word(def, "wide")));
		parts += own && !is_immediate(f, o) && is_part(f, def) && !machine_is(def, "cvt");
	}
	return parts;
}

static bool is_addition(const struct ptx_instruction *i)
{
	return (machine_is(i, "add") || machine_is(i, "sub")) && !machine_is_real(i);
}

/* Whether all users of a result are additions. The result is that of mul.wide, or of a 64-bit mul.lo of 32-bit values. */
static bool all_users_add(const struct machine_function *f, const struct ptx_instruction *i)
{
	const struct machine_value *v = result_value(f, i);
	for (uint32_t u = 0; v && u < v->uses; u++) {
		const struct ptx_instruction *user = &f->ptx->instructions[f->use_list[v->first_use + u]];
		if (!machine_is(user, "add") || machine_is_real(user))
			return false;
	}
	return v && v->def >= 0 && v->uses;
}

static bool is_wide(const struct machine_function *f, const struct ptx_operand *o)
{
	const struct ptx_instruction *def = machine_def(f, o);
	return def && machine_is(def, "mul") && machine_has_word(def, "wide") && all_users_add(f, def);
}

static bool is_wide_part(const struct machine_function *f, const struct ptx_operand *o)
{
	return is_wide(f, o) && is_part(f, machine_def(f, o));
}

/* Whether one of its operands is a product that has become part of it. */
static bool has_product(const struct machine_function *f, const struct ptx_instruction *i)
{
	for (uint32_t n = 0; n < 2; n++) {
		const struct ptx_instruction *def = machine_def(f, machine_source(i, n));
		if (def && machine_is(def, "mul") && is_part(f, def))
			return true;
	}
	return false;
}

/* ---- integers ---- */

/* Whether the instruction becomes part of an addition that is its only user. */
static bool joins_addition(const struct machine_function *f, const struct ptx_instruction *i)
{
	const struct ptx_instruction *user = only_user(f, i);
	return user && is_addition(user) && width(f, user) <= 32 && !parts_of(f, user);
}

/* Whether a product becomes part of several sums of its block: each is an IMAD. */
static bool joins_all_additions(const struct machine_function *f, const struct ptx_instruction *i)
{
	const struct machine_value *v = result_value(f, i);
	uint32_t at = machine_index(f, i);
	for (uint32_t u = 0; v && u < v->uses; u++) {
		uint32_t user = f->use_list[v->first_use + u];
		const struct ptx_instruction *sum = &f->ptx->instructions[user];
		if (user < at || f->block_of[user] != f->block_of[at] || !is_int(sum, "add", 32) || sum->guard >= 0 || parts_of(f, sum))
			return false;
	}
	return v && v->def == (int32_t)at && v->uses && i->guard < 0 && machine_bits(i) == 32;
}

/* Whether the innermost loop around a block writes a register or, with `reads`, reads it. */
static bool is_in_loop(const struct machine_function *f, int32_t reg, int32_t loop, bool reads)
{
	for (uint32_t i = 0; i < f->ptx->instruction_count; i++) {
		const struct ptx_instruction *in = &f->ptx->instructions[i];
		if (!graph_in_loop(f->graph, (uint32_t)f->block_of[i], (uint32_t)loop))
			continue;
		for (uint32_t k = 0; k < in->operand_count; k++)
			if (in->operands[k].reg == reg && in->operands[k].write == !reads &&
			    (in->operands[k].kind == PTX_REGISTER || in->operands[k].kind == PTX_ADDRESS))
				return true;
		if (reads && in->guard == reg)
			return true;
	}
	return false;
}

/* Whether the register only grows in the loop: add r, r, ... */
static bool is_counter(const struct machine_function *f, int32_t reg, int32_t loop)
{
	bool grows = false;
	for (uint32_t i = 0; i < f->ptx->instruction_count; i++) {
		const struct ptx_instruction *in = &f->ptx->instructions[i];
		if (machine_result(in) != reg || !graph_in_loop(f->graph, (uint32_t)f->block_of[i], (uint32_t)loop))
			continue;
		const struct ptx_operand *a = machine_source(in, 0);
		if (!machine_is(in, "add") || !a || a->kind != PTX_REGISTER || a->reg != reg)
			return false;
		grows = true;
	}
	return grows;
}

/* Whether an index is the sum of a loop's counter and a value from outside. Then the machine advances the address instead. */
static bool is_moving_index(const struct machine_function *f, const struct ptx_instruction *i)
{
	const struct ptx_operand *a = machine_source(i, 0), *b = machine_source(i, 1);
	const struct ptx_instruction *user = only_user(f, i);
	int32_t loop = f->graph->blocks[f->block_of[machine_index(f, i)]].loop;
	if (f->final || loop < 0 || !machine_is(i, "add") || !user || !machine_is(user, "mul") || !machine_has_word(user, "wide") || !a ||
	    !b || a->kind != PTX_REGISTER || b->kind != PTX_REGISTER || result_value(f, user)->high_unused)
		return false;
	return all_users_add(f, user) &&
	       ((is_counter(f, a->reg, loop) && !is_in_loop(f, b->reg, loop, false)) ||
	        (is_counter(f, b->reg, loop) && !is_in_loop(f, a->reg, loop, false)));
}

static void select_addition(struct machine_function *f, const struct ptx_instruction *i, struct machine_plan *p)
{
	const struct ptx_operand *a = machine_source(i, 0), *b = machine_source(i, 1);
	const struct ptx_instruction *user = only_user(f, i);
	bool wide = is_wide_part(f, a) || is_wide_part(f, b);
	if (machine_bits(i) == 32 && is_moving_index(f, i)) {
		plan(p, 0, CODE_int);
		return;
	}
	if (width(f, i) <= 32) {
		bool joins = (joins_addition(f, i) || (user && (is_int(user, "min", 32) || is_int(user, "max", 32)))) &&
		             !parts_of(f, i) && !wide;
		plan(p, !joins, has_product(f, i) ? CODE_int_mad : CODE_int);
		return;
	}
	if (wide) {
		plan(p, 1, CODE_int_mad);
		return;
	}
	bool joins = user && is_addition(user) && machine_bits(user) == 64 && !parts_of(f, user) && !parts_of(f, i) &&
	             !is_wide_part(f, machine_source(user, 0)) && !is_wide_part(f, machine_source(user, 1));
	plan(p, joins ? 0 : 2, CODE_int);
}

/* Whether the product is an index under a mask, times a size. NVIDIA's front end shifts it first, in 32 bits, and adds halves. */
static bool is_masked_index(const struct machine_function *f, const struct ptx_instruction *i)
{
	const struct ptx_operand *size = machine_source(i, 1), *mask;
	const struct ptx_instruction *def = machine_def(f, machine_source(i, 0));
	const struct machine_value *v = result_value(f, i);
	if (f->final || !machine_has_word(i, "u32") || !size || size->kind != PTX_IMMEDIATE || size->value & (size->value - 1) || !def ||
	    !machine_is(def, "and") || !v || v->high_unused)
		return false;
	mask = machine_source(def, 1);
	return mask && mask->kind == PTX_IMMEDIATE && (uint64_t)(uint32_t)mask->value * (uint64_t)size->value <= UINT32_MAX;
}

static void select_product(struct machine_function *f, const struct ptx_instruction *i, struct machine_plan *p)
{
	if (machine_has_word(i, "wide")) {
		plan(p, is_masked_index(f, i) || !all_users_add(f, i), CODE_int_mad);
		return;
	}
	const struct ptx_operand *a = machine_source(i, 0), *b = machine_source(i, 1);
	bool short_operands = a && b && a->kind == PTX_REGISTER && b->kind == PTX_REGISTER && f->values[a->reg].high_zero &&
	                      f->values[b->reg].high_zero;
	if (machine_has_word(i, "hi") || (width(f, i) > 32 && !short_operands))
		return;
	if (width(f, i) <= 32)
		plan(p, !joins_addition(f, i) && !joins_all_additions(f, i), CODE_int_mad);
	else
		plan(p, !all_users_add(f, i), CODE_int_mad);
}

static void select_shift(struct machine_function *f, const struct ptx_instruction *i, struct machine_plan *p)
{
	const struct ptx_operand *a = machine_source(i, 0), *by = machine_source(i, 1);
	const struct ptx_instruction *user = only_user(f, i), *def = machine_def(f, a);
	bool left = machine_is(i, "shl"), fixed = is_immediate(f, by);
	if (width(f, i) <= 32) {
		plan(p, !(left && fixed && joins_addition(f, i)), left && fixed ? CODE_int_mul : CODE_logic);
		return;
	}
	if (left && fixed && by->kind == PTX_IMMEDIATE && by->value >= 32)
		plan(p, 0, CODE_logic);
	else if (left && fixed && user && is_addition(user) && width(f, user) == 64 && !parts_of(f, user))
		plan(p, 0, CODE_logic);
	else if (!left && def && machine_is(def, "shl")) /* of a former int: one half is shifted, the addition does the rest */
		plan(p, result_value(f, i) && result_value(f, i)->uses > 1 ? 2 : 1, CODE_logic);
	else
		plan(p, fixed ? 2 : 3, CODE_logic);
	if (left && fixed && p->count == 2)
		p->classes[0] = CODE_int_mul;
}

static bool compares_with_zero(const struct machine_function *f, const struct ptx_instruction *i)
{
	const struct ptx_operand *a = machine_source(i, 0), *b = machine_source(i, 1);
	const struct ptx_instruction *def = machine_def(f, a);
	return b && b->kind == PTX_IMMEDIATE && !b->value && (machine_has_word(i, "eq") || machine_has_word(i, "ne")) && def &&
	       is_logic(def) && machine_bits(def) == 32 &&
	       f->block_of[machine_index(f, def)] == f->block_of[machine_index(f, i)];
}

static void select_logic(struct machine_function *f, const struct ptx_instruction *i, struct machine_plan *p)
{
	const struct ptx_instruction *user = only_user(f, i);
	if (machine_bits(i) == 1) {
		const struct ptx_operand *o;
		bool part = machine_is(i, "not");
		for (uint32_t n = 0; (o = machine_source(i, n)) && !part; n++) {
			const struct ptx_instruction *def = machine_def(f, o);
			part = is_immediate(f, o) ||
			       (def && (machine_is(def, "setp") || is_logic(def)) && only_user(f, def) == i);
		}
		plan(p, !part, CODE_logic);
		return;
	}
	if (machine_is(i, "not") && !user) {
		plan(p, width(f, i) > 32 ? 2 : 1, CODE_logic);
		return;
	}
	bool joins = user && is_logic(user) && machine_bits(user) == machine_bits(i) && !parts_of(f, i) && !parts_of(f, user);
	const struct machine_value *v = result_value(f, i);
	plan(p, joins ? 0 : width(f, i) > 32 && !(v && v->high_zero) ? 2 : 1, CODE_logic);
}

/* ---- floats ---- */

/* Whether a product and its only user, a sum, become one instruction. */
static bool may_contract(const struct machine_function *f, const struct ptx_instruction *product, const struct ptx_instruction *sum)
{
	return !f->final || (!machine_has_word(product, "rn") && !machine_has_word(sum, "rn"));
}

static void select_float(struct machine_function *f, const struct ptx_instruction *i, struct machine_plan *p)
{
	const struct ptx_instruction *user = only_user(f, i);
	bool single = machine_bits(i) == 32;
	if (!single && machine_bits(i) != 64)
		return;
	bool divides = machine_is(i, "div") && (machine_has_word(i, "full") || machine_has_word(i, "approx")) &&
	               is_immediate(f, machine_source(i, 1));
	if (machine_is(i, "mul") || divides) {
		bool joins = user && (machine_is(user, "add") || machine_is(user, "sub")) && machine_is_real(user) &&
		             !parts_of(f, user) && may_contract(f, i, user);
		plan(p, !joins, single ? CODE_fp32 : CODE_fp64);
	} else if (machine_is(i, "add") || machine_is(i, "sub")) {
		bool fused = parts_of(f, i) > 0;
		plan(p, 1, single ? fused ? CODE_fp32_fma : CODE_fp32 : fused ? CODE_fp64_fma : CODE_fp64);
	}
}

/* Whether all users accept signs as modifiers of their operands. Instructions of arithmetic do. */
static bool users_take_signs(const struct machine_function *f, const struct ptx_instruction *i)
{
	static const char *const names[] = {"add", "sub", "mul", "fma", "mad", "setp", "rcp", "rsqrt", "sqrt", "div", "min",
	                                    "max", "neg", "abs", "ex2", "lg2", "cvt"};
	const struct machine_value *v = result_value(f, i);
	for (uint32_t u = 0; v && u < v->uses; u++) {
		bool takes = false;
		for (size_t k = 0; k < GS_ARRAY_LEN(names); k++)
			takes |= machine_is(&f->ptx->instructions[f->use_list[v->first_use + u]], names[k]);
		if (!takes)
			return false;
	}
	return v && v->def >= 0;
}

/* ---- copies, conversions, comparisons ---- */

static uint8_t words_of(const struct machine_function *f, int32_t reg)
{
	return f->values[reg].bits == 64 && !f->values[reg].high_unused ? 2 : 1;
}

/* Whether a variable is in shared memory. A cluster gives each block a window of it: S2UR, UMOV, ULEA, once in a block. */
static bool is_shared(const struct machine_function *f, const char *name)
{
	for (uint32_t v = 0; v < f->ptx->variable_count; v++)
		if (!strcmp(f->ptx->variables[v].name, name))
			return f->ptx->variables[v].space == SPACE_shared;
	return true; /* a variable of the module; constant arrays do not come here, ld.const addresses them */
}

static void select_address(struct machine_function *f, uint32_t at, const struct ptx_operand *symbol,
                           struct machine_plan *p)
{
	bool first = true;
	if (!is_shared(f, symbol->text) || f->arch < 90) {
		plan(p, 1, CODE_nop);
		return;
	}
	for (uint32_t k = at; k-- > 0 && f->block_of[k] == f->block_of[at];) {
		const struct ptx_operand *other = machine_source(&f->ptx->instructions[k], 0);
		first &= !(machine_is(&f->ptx->instructions[k], "mov") && other && other->kind == PTX_SYMBOL);
	}
	plan(p, first ? 3 : 1, CODE_nop);
}

static void select_copy(struct machine_function *f, const struct ptx_instruction *i, struct machine_plan *p)
{
	const struct ptx_operand *source = machine_source(i, 0);
	int32_t to = machine_result(i);
	uint32_t at = machine_index(f, i);
	if (!source || to < 0)
		return;
	bool once = f->values[to].def >= 0;
	int32_t loop = f->graph->blocks[f->block_of[at]].loop;
	if (loop >= 0 && !once && !is_in_loop(f, to, loop, true)) /* only the way out needs it, so it is made there */
		plan(p, 0, CODE_move);
	else if (source->kind == PTX_SPECIAL)
		plan(p, 1, strncmp(source->text, "%tid", 4) ? CODE_nop : CODE_shuffle);
	else if (source->kind == PTX_SYMBOL)
		select_address(f, at, source, p);
	else if (source->kind == PTX_IMMEDIATE || (source->kind == PTX_REGISTER && source->reg >= 0 &&
	                                           (f->values[source->reg].constant || f->values[source->reg].parameter)))
		plan(p, once || f->values[to].bits == 1 ? 0 : words_of(f, to), CODE_int_mul);
	else if (source->kind == PTX_REGISTER && source->reg >= 0)
		plan(p, once || f->values[source->reg].uses == 1 || f->values[to].bits == 1 ? 0 : words_of(f, to), CODE_int_mul);
}

static void select_conversion(struct machine_function *f, const struct ptx_instruction *i, struct machine_plan *p)
{
	struct machine_types t = machine_conversion(i);
	const struct machine_value *v = result_value(f, i);
	const struct ptx_instruction *def = machine_def(f, machine_source(i, 0));
	if (t.to_real && !t.from_real && t.to_bits == 32 && t.from_bits == 32) {
		plan(p, 1, f->arch >= 90 ? CODE_int : CODE_conv); /* I2FP */
	} else if (t.to_real || t.from_real) {
		plan(p, 1, t.to_real && t.from_real && t.to_bits == t.from_bits ? CODE_fp32 : CODE_conv);
	} else if (t.to_bits == 64 && t.from_bits <= 32 && t.from_signed) {
		plan(p, !(v && v->high_unused), CODE_logic); /* SHF.R.S32.HI */
	} else if (t.to_bits >= 32 && t.from_bits < 32) {
		plan(p, !(def && def->class == CODE_load), CODE_logic); /* loads widen by themselves */
	} else {
		/* If the sum with a product reads a half that is 0, that half must be in a register. */
		const struct ptx_instruction *user = only_user(f, i);
		bool joins_product = t.to_bits == 64 && t.from_bits == 32 && user && machine_is(user, "add") &&
		                     width(f, user) == 64 &&
		                     (is_wide(f, machine_source(user, 0)) || is_wide(f, machine_source(user, 1)));
		plan(p, joins_product, CODE_int_mul);
	}
}

static void select_comparison(struct machine_function *f, const struct ptx_instruction *i, struct machine_plan *p)
{
	bool real = machine_is_real(i), wide = machine_bits(i) == 64;
	if (compares_with_zero(f, i))
		plan(p, 0, CODE_int);
	else
		plan(p, wide && !real ? 2 : 1, real ? wide ? CODE_fp64 : CODE_fp32_minmax : CODE_int);
}

static void select_other(struct machine_function *f, const struct ptx_instruction *i, struct machine_plan *p)
{
	if (machine_is(i, "selp"))
		plan(p, machine_bits(i) == 64 ? 2 : 1, CODE_logic);
	else if (machine_is(i, "neg") || machine_is(i, "abs"))
		plan(p, users_take_signs(f, i) ? 0 : 1, machine_is_real(i) ? CODE_fp32 : CODE_int);
	else if (i->class == CODE_move || i->class == CODE_logic)
		plan(p, 1, CODE_logic);
	else
		plan(p, 1, (enum code_class)i->class);
}

/* ---- all ---- */

/* st.param and ld.param around a call are moves of registers. Around a library function they disappear
 * (analysis/mapping/expand.c). */
static void select_parameter(const struct machine_function *f, const struct ptx_instruction *i, struct machine_plan *p)
{
	const struct machine_value *v = result_value(f, i);
	if (i->class == CODE_load && f->kernel)
		plan(p, v && v->uses ? 1 : 0, CODE_nop);
	else
		plan(p, i->class == CODE_store, CODE_move);
}

static bool stays(const struct ptx_instruction *i)
{
	return i->class >= CODE_load || i->class == CODE_barrier || i->class == CODE_shuffle;
}

static void select_instruction(struct machine_function *f, const struct ptx_instruction *i, struct machine_plan *p)
{
	if (stays(i) && i->space != SPACE_param) {
		*p = (struct machine_plan){.kept = true, .planned = true};
		return;
	}
	const struct ptx_operand *callee = ptx_callee(i);
	const struct builtin_cost *library = callee && callee->kind == PTX_SYMBOL ? builtin_find(callee->text) : NULL;
	if (library) /* analysis/mapping/expand.c writes it; here its size counts */
		*p = (struct machine_plan){.cost = library, .planned = true};
	else if (i->space == SPACE_param)
		select_parameter(f, i, p);
	else if (i->class == CODE_branch)
		plan(p, 1, CODE_branch);
	else if (machine_is(i, "mov"))
		select_copy(f, i, p);
	else if (machine_is(i, "cvta"))
		plan(p, 0, CODE_move);
	else if (machine_is(i, "cvt"))
		select_conversion(f, i, p);
	else if (machine_is(i, "setp"))
		select_comparison(f, i, p);
	else if (machine_is_real(i))
		select_float(f, i, p);
	else if (is_addition(i) && machine_bits(i) >= 32)
		select_addition(f, i, p);
	else if (machine_is(i, "mul"))
		select_product(f, i, p);
	else if (machine_is(i, "shl") || machine_is(i, "shr"))
		select_shift(f, i, p);
	else if (is_logic(i))
		select_logic(f, i, p);
	if (p->planned)
		return;
	const struct builtin_cost *cost = machine_sequence(f, i);
	if (cost)
		*p = (struct machine_plan){.cost = cost, .planned = true};
	else
		select_other(f, i, p);
}

void machine_select(struct machine_function *f)
{
	for (uint32_t i = 0; i < f->ptx->instruction_count; i++)
		select_instruction(f, &f->ptx->instructions[i], &f->plans[i]);
	machine_balance_pipes(f);
}

uint32_t machine_plan_size(const struct machine_function *f, uint32_t instruction)
{
	const struct machine_plan *p = &f->plans[instruction];
	return p->cost ? (uint32_t)builtin_expand(p->cost, "sm_90", NULL, 0) : (uint32_t)p->count + p->kept;
}
