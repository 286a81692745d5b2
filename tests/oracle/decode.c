/* Turns PTX instructions into handlers with rows. */
#include "tests/oracle/internal.h"

#include "tests/oracle/extended/extended.h"
#include "tests/oracle/values.h"

#include <errno.h>
#include <stdlib.h>

bool oracle_has(const char *opcode, const char *modifier)
{
	size_t length = strlen(modifier);
	for (const char *dot = strchr(opcode, '.'); dot; dot = strchr(dot + 1, '.'))
		if (!strncmp(dot + 1, modifier, length) && (!dot[length + 1] || dot[length + 1] == '.'))
			return true;
	return false;
}

enum oracle_type oracle_type_of(const char *opcode, uint32_t which)
{
#define NAME(name) #name,
	static const char *const names[] = {ORACLE_TYPES(NAME)};
	static const struct {
		const char *bits;
		enum oracle_type type;
	} untyped[] = {{"b8", TYPE_u8}, {"b16", TYPE_u16}, {"b32", TYPE_u32}, {"b64", TYPE_u64}};
	for (const char *dot = strchr(opcode, '.'); dot; dot = strchr(dot + 1, '.')) {
		size_t length = strcspn(dot + 1, ".");
		enum oracle_type type = TYPE_NONE;
		for (size_t i = 0; i < GS_ARRAY_LEN(names); i++)
			if (strlen(names[i]) == length && !strncmp(dot + 1, names[i], length))
				type = (enum oracle_type)i;
		for (size_t i = 0; i < GS_ARRAY_LEN(untyped); i++)
			if (strlen(untyped[i].bits) == length && !strncmp(dot + 1, untyped[i].bits, length))
				type = untyped[i].type;
		if (type != TYPE_NONE && !which--)
			return type;
	}
	return TYPE_NONE;
}

uint32_t oracle_type_bytes(enum oracle_type type)
{
	static const uint8_t bytes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 1, 2, 2, 4, 4};
	return type < TYPE_NONE ? bytes[type] : 0;
}

static int32_t constant_row(struct oracle *o, uint64_t value)
{
	if (o->constant_count == o->constant_room) {
		uint32_t room = o->constant_room ? o->constant_room * 2 : 64;
		uint64_t *grown = reallocarray(o->constants, room, ORACLE_WARP * sizeof *grown);
		if (!grown)
			return NO_ROW;
		o->constants = grown;
		o->constant_room = room;
	}
	for (uint32_t l = 0; l < ORACLE_WARP; l++)
		o->constants[(size_t)o->constant_count * ORACLE_WARP + l] = value;
	return ~(int32_t)o->constant_count++;
}

static int32_t special_row(struct oracle *o, const char *name)
{
	uint32_t s = 0;
	while (s < o->special_count && strcmp(o->specials[s], name))
		s++;
	if (s == GS_ARRAY_LEN(o->specials))
		return NO_ROW;
	if (s == o->special_count)
		o->specials[o->special_count++] = name;
	return (int32_t)(o->function->register_count + s);
}

/* An integer constant, cut to the width of its type. -1 is 0xffffffff if the type has 32 bits. */
static uint64_t cut(int64_t value, enum oracle_type type)
{
	uint32_t bytes = oracle_type_bytes(type);
	return bytes && bytes < 8 && type != TYPE_pred ? (uint64_t)value & ((UINT64_C(1) << 8 * bytes) - 1)
						       : (uint64_t)value;
}

/* A constant of an instruction of some type. 1.5 is a float where that is the type. */
static uint64_t constant_value(const struct ptx_operand *operand, enum oracle_type type)
{
	if (operand->constant == PTX_DOUBLE && type == TYPE_f32)
		return put_f32((float)get_f64((uint64_t)operand->value));
	return operand->constant == PTX_INTEGER ? cut(operand->value, type) : (uint64_t)operand->value;
}

static int32_t row_of(struct oracle *o, const struct ptx_operand *operand, enum oracle_type type)
{
	uint64_t address;
	uint8_t space;
	switch (operand->kind) {
	case PTX_REGISTER: return operand->reg;
	case PTX_SPECIAL: return operand->text[0] == '_' ? NO_ROW : special_row(o, operand->text);
	case PTX_IMMEDIATE: return constant_row(o, constant_value(operand, type));
	case PTX_SYMBOL:
		return oracle_symbol(o, operand->text, &address, &space)
			   ? constant_row(o, address + (uint64_t)operand->value)
			   : NO_ROW;
	default: return NO_ROW;
	}
}

static bool decode_address(struct oracle *o, struct oracle_op *op, const struct ptx_operand *operand)
{
	uint64_t address = 0;
	uint8_t space;
	op->offset = operand->value;
	if (operand->reg >= 0) {
		op->a = operand->reg;
		return true;
	}
	if (operand->text && !oracle_symbol(o, operand->text, &address, &space))
		return false;
	op->a = constant_row(o, address);
	return op->a != NO_ROW;
}

static uint8_t bits_of(const struct oracle *o, int32_t row)
{
	return row >= 0 && (uint32_t)row < o->function->register_count ? o->function->registers[row].bits : 64;
}

/* ld d, [a]; st [a], b; atom d, [a], b, c; red [a], b. */
static bool decode_memory(struct oracle *o, struct oracle_op *op, const struct ptx_instruction *i)
{
	uint32_t values = 0, element = 0;
	bool atomic = i->class == CODE_atomic, addressed = false;
	op->kind = OP_MEMORY;
	op->run = oracle_memory_handler(i->opcode);
	op->space = i->space;
	op->elements = i->elements;
	op->element_bytes = (uint8_t)(i->bytes / (i->elements ? i->elements : 1));
	for (uint32_t n = 0; n < i->operand_count; n++) {
		const struct ptx_operand *operand = &i->operands[n];
		if (operand->kind == PTX_ADDRESS) {
			addressed = decode_address(o, op, operand);
			continue;
		}
		int32_t row = row_of(o, operand, op->type);
		if (!atomic && element < MAX_ELEMENTS)
			op->rows[element++] = row;
		else if (operand->write)
			op->d = row;
		else
			*(values++ ? &op->c : &op->b) = row;
		op->register_bits = bits_of(o, row);
	}
	return op->run && addressed && (atomic || element == i->elements);
}

static void decode_operands(struct oracle *o, struct oracle_op *op, const struct ptx_instruction *i)
{
	int32_t *const sources[] = {&op->a, &op->b, &op->c, &op->rows[0]};
	uint32_t source = 0, result = 0;
	for (uint32_t n = 0; n < i->operand_count; n++) {
		const struct ptx_operand *operand = &i->operands[n];
		if (operand->write)
			*(result++ ? &op->d2 : &op->d) = row_of(o, operand, op->type);
		else if (source < GS_ARRAY_LEN(sources)) {
			op->negated |= (uint8_t)(operand->negated << source);
			if (operand->kind == PTX_REGISTER && source < GS_ARRAY_LEN(op->parts))
				op->parts[source] = operand->text;
			*sources[source++] = row_of(o, operand, op->type);
		}
	}
}

/* mov.b64 {a, b}, c and mov.b64 c, {a, b}. */
static bool decode_vector(struct oracle *o, struct oracle_op *op, const struct ptx_instruction *i)
{
	op->run = oracle_vector_handler(i);
	op->elements = (uint8_t)(i->operand_count - 1);
	bool unpacks = i->operands[1].write;
	if (!op->run || op->elements > MAX_ELEMENTS - 1)
		return false;
	for (uint32_t n = 0; n < i->operand_count; n++) {
		int32_t row = row_of(o, &i->operands[n], op->type);
		if (unpacks && n == i->operand_count - 1)
			op->a = row;
		else if (!unpacks && n == 0)
			op->d = row;
		else
			op->rows[unpacks ? n + 1 : n] = row;
	}
	return true;
}

/* Instructions beyond those of the suite. */
static bool decode_extended(struct oracle_op *op, bool plain_real)
{
	enum oracle_type type = (enum oracle_type)op->type;
	op->run = oracle_carry_handler(op->opcode);
	if (!op->run)
		op->run = oracle_warp_handler(op->opcode);
	if (!op->run)
		op->run = oracle_predicate_handler(op->opcode, type);
	if (op->run)
		return true;
	op->lane = oracle_bits_lane(op->opcode);
	if (!op->lane)
		op->lane = oracle_test_lane(op->opcode);
	if (!op->lane)
		op->lane = oracle_video_lane(op->opcode);
	if (!op->lane && !plain_real)
		op->lane = oracle_rounded_lane(op->opcode, type);
	op->run = op->lane ? oracle_each_lane : NULL;
	return op->run;
}

/* Whether floats.c computes it: float or double, to the nearest, without modifiers. */
static bool is_plain_real(const struct oracle_op *op)
{
	static const char *const others[] = {"ftz", "NaN", "xorsign", "sat", "relu", "approx"};
	for (size_t i = 0; i < GS_ARRAY_LEN(others); i++)
		if (oracle_has(op->opcode, others[i]))
			return false;
	return (op->type == TYPE_f32 || op->type == TYPE_f64) && op->rounding == ROUND_NEAREST && strncmp(op->opcode, "min", 3) &&
	       strncmp(op->opcode, "max", 3);
}

/* Whether arithmetic.c compares it. */
static bool is_plain_comparison(const struct oracle_op *op)
{
	return !strncmp(op->opcode, "setp.", 5) && op->type <= TYPE_f64 && !oracle_has(op->opcode, "ftz") && !op->negated;
}

static void decode_modifiers(struct oracle_op *op, const char *opcode)
{
	static const struct {
		const char *words[2]; /* for values, and for values that become integers */
		enum oracle_rounding rounding;
	} roundings[] = {{{"rn", "rni"}, ROUND_NEAREST},
			 {{"rz", "rzi"}, ROUND_ZERO},
			 {{"rm", "rmi"}, ROUND_DOWN},
			 {{"rp", "rpi"}, ROUND_UP}};
	for (size_t r = 0; r < GS_ARRAY_LEN(roundings); r++) {
		for (size_t k = 0; k < 2; k++) {
			if (oracle_has(opcode, roundings[r].words[k])) {
				op->rounding = (uint8_t)roundings[r].rounding;
				op->to_integer = k;
			}
		}
	}
	op->saturate = oracle_has(opcode, "sat");
	op->combine = !strncmp(opcode, "set", 3)
	                  ? (oracle_has(opcode, "and")  ? COMBINE_AND
	                     : oracle_has(opcode, "or") ? COMBINE_OR
	                     : oracle_has(opcode, "xor") ? COMBINE_XOR
	                                                 : COMBINE_NONE)
	                  : COMBINE_NONE;
}

/* cvta.to.shared and the like: converts between generic addresses and addresses of a space. */
static bool decode_cvta(struct oracle *o, struct oracle_op *op, const char *opcode)
{
	uint64_t base = oracle_has(opcode, "shared") ? SHARED_BASE : oracle_has(opcode, "local") ? LOCAL_BASE : 0;
	op->b = constant_row(o, oracle_has(opcode, "to") ? 0 - base : base);
	op->run = oracle_integer_handler("add.u64", TYPE_u64);
	return true;
}

static bool decode_plain(struct oracle *o, struct oracle_op *op, const struct ptx_instruction *i)
{
	if (!strncmp(i->opcode, "mov.", 4) && i->operand_count != 2)
		return decode_vector(o, op, i);
	decode_operands(o, op, i);
	decode_modifiers(op, i->opcode);
	op->register_bits = bits_of(o, op->d);
	if (!strncmp(i->opcode, "cvta", 4))
		return decode_cvta(o, op, i->opcode);
	if (!strncmp(i->opcode, "cvt.", 4)) {
		op->from = (uint8_t)oracle_type_of(i->opcode, 1);
		op->run = op->from == TYPE_NONE ? NULL : oracle_convert;
		return op->run;
	}
	if (!is_plain_comparison(op) && decode_extended(op, is_plain_real(op)))
		return true;
	if (op->negated)
		return false;
	op->run = oracle_compare_handler(i->opcode, op->type);
	if (!op->run)
		op->run = oracle_real_handler(i->opcode, op->type);
	if (!op->run)
		op->run = oracle_integer_handler(i->opcode, op->type);
	return op->run;
}

static bool decode_branch(const struct oracle *o, struct oracle_op *op, const struct ptx_instruction *i)
{
	if (!strncmp(i->opcode, "ret", 3) || !strncmp(i->opcode, "exit", 4)) {
		op->kind = OP_EXIT;
		return true;
	}
	op->kind = OP_BRANCH;
	if (strncmp(i->opcode, "bra", 3) || !i->operand_count || i->operands[0].label < 0)
		return false;
	uint32_t at = o->function->labels[i->operands[0].label].at;
	op->target = at < o->function->instruction_count ? o->block_of[at] : o->block_count;
	return true;
}

static bool decode_one(struct oracle *o, struct oracle_op *op, const struct ptx_instruction *i)
{
	*op = (struct oracle_op){.opcode = i->opcode, .guard = i->guard < 0 ? NO_ROW : i->guard, .guard_negated = i->guard_negated};
	op->d = op->d2 = NO_ROW;
	op->a = op->b = op->c = op->rows[0] = constant_row(o, 0);
	op->type = (uint8_t)oracle_type_of(i->opcode, 0);
	switch (i->class) {
	case CODE_branch: return decode_branch(o, op, i);
	case CODE_barrier:
		op->kind = OP_BARRIER;
		decode_operands(o, op, i);
		return true;
	case CODE_load:
	case CODE_store:
	case CODE_atomic: return decode_memory(o, op, i);
	default: return decode_plain(o, op, i);
	}
}

int oracle_decode(struct oracle *o, struct gs_error *err)
{
	const struct ptx_function *f = o->function;
	o->ops = calloc(f->instruction_count + 1, sizeof *o->ops);
	if (!o->ops)
		return gs_fail(err, ENOMEM, "out of memory");
	for (uint32_t i = 0; i < f->instruction_count; i++)
		if (!decode_one(o, &o->ops[i], &f->instructions[i]))
			return gs_fail(err, ENOTSUP, "%s, line %u: cannot run %s", f->name, f->instructions[i].ptx_line,
			               f->instructions[i].opcode);
	o->row_count = f->register_count + o->special_count;
	return 0;
}
