/*
 * Registers per thread as NVIDIA's assembler allocates them, from the liveness of PTX.
 *
 *   registers = BASE + pressure, where pressure is the most 32-bit words that are live at once, with these rules:
 *   - Parameters, constants and the sizes of the launch take no register. Instructions read them from constant memory.
 *   - A 64-bit value takes one register if no instruction reads its upper half. Addresses of shared memory have 32 bits.
 *   - A 64-bit value also takes one register if its upper half is zero: it was an unsigned 32-bit value, or the id of a work-item.
 *     The machine has a register that is always zero. If the 32-bit value is still needed, both share a register.
 *   - Division, square root and library functions take the registers of the instructions that replace them.
 *   - From sm_80 on, a memory instruction keeps its operands until its result arrives.
 *   - Loads come as early as possible, unless that takes more registers than each thread of a full SM can have. The assembler
 *     spends registers to hide latency as long as they cost no occupancy.
 *
 * The rule was chosen on every other kernel of the suite (in the order of their names) for sm_75, sm_80 and sm_90.
 * tests/command/registers.sh compares it with ptxas on all kernels, and reports both halves.
 */
#include "analysis/graph/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The registers that ptxas 13 gives a kernel without instructions: the stack pointer, and room for results that are on their
 * way. */
enum { BASE = 4 };

static uint32_t arch_number(const char *arch)
{
	return (uint32_t)strtoul(arch + strcspn(arch, "0123456789"), NULL, 10);
}

/* The most registers that an instruction can name. CUDA C programming guide, technical specifications per compute capability. */
static uint32_t most_registers(uint32_t arch)
{
	return arch < 32 ? 63 : 255;
}

/* The registers of an SM divided by its threads, rounded to the unit of allocation. Same source. */
static uint32_t registers_at_full_occupancy(uint32_t arch)
{
	if (arch < 30)
		return 20; /* 32 Ki / 1536 */
	if (arch == 75)
		return 64; /* 64 Ki / 1024 */
	return arch == 86 || arch == 87 || arch == 89 ? 40 : 32; /* 64 Ki / 1536, 64 Ki / 2048 */
}

static uint32_t most_warps(uint32_t arch)
{
	return arch == 75 ? 32 : arch < 30 || arch == 86 || arch == 87 || arch == 89 ? 48 : 64;
}

static uint64_t threads_of(const uint32_t *size)
{
	return (uint64_t)size[0] * (size[1] ? size[1] : 1) * (size[2] ? size[2] : 1);
}

/* The most registers with which .maxnreg, and groups of .maxntid or .reqntid threads, .minnctapersm of them on an SM, are possible. Warps are
 * spread over the four parts of an SM, each with a quarter of its registers, given out by 8 per thread. Measured with ptxas 13, sm_75 and
 * sm_90: __launch_bounds__(1024) 64; (256, 3), (96, 7) and (100, 6) 80; (512) 128. */
static uint32_t bounded_registers(const struct ptx_function *f, uint32_t arch)
{
	enum { PARTS = 4, LANES = 32 };
	uint32_t most = most_registers(arch), unit = arch < 30 ? 2 : 8, parts = arch < 50 ? 1 : PARTS, all = arch < 30 ? 32768 : 65536;
	uint64_t threads = threads_of(f->reqntid[0] ? f->reqntid : f->maxntid);
	uint64_t warps = (threads + LANES - 1) / LANES * (f->minnctapersm ? f->minnctapersm : 1);
	if (warps > most_warps(arch))
		warps = most_warps(arch);
	if (warps) {
		uint64_t fit = all / parts / LANES / ((warps + parts - 1) / parts) / unit * unit;
		most = fit < most ? (uint32_t)fit : most;
	}
	return f->maxnreg && f->maxnreg < most ? f->maxnreg : most;
}

/* Whether the result of a load may reuse the register of its address. Measured with ptxas 13: n loads in a row, all live. */
static bool reuses_operands_of(uint32_t arch, const struct ptx_instruction *i)
{
	return arch < 80 || (i->class != CODE_load && i->class != CODE_store && i->class != CODE_atomic);
}

/* ---- values that take no register ---- */

static bool is_constant_operand(const struct ptx_operand *o, const bool *constant)
{
	static const char *const sizes[] = {"%ntid", "%nctaid", "%nwarpid", "%nsmid"};
	if (o->kind == PTX_IMMEDIATE || o->kind == PTX_SYMBOL)
		return true;
	if (o->kind == PTX_REGISTER)
		return o->reg >= 0 && constant[o->reg];
	for (size_t i = 0; i < GS_ARRAY_LEN(sizes) && o->kind == PTX_SPECIAL && o->text; i++)
		if (!strncmp(o->text, sizes[i], strlen(sizes[i])))
			return true;
	return false;
}

/* The parameters of a kernel are in constant memory. Parameters of other functions, and results of calls, are in registers. */
static bool reads_parameter(const struct ptx_function *f, const struct ptx_instruction *i)
{
	const char *name = NULL;
	if (!f->entry || i->class != CODE_load || i->space != SPACE_param)
		return false;
	for (uint32_t o = 0; o < i->operand_count; o++)
		if (i->operands[o].kind == PTX_ADDRESS)
			name = i->operands[o].text;
	for (uint32_t v = 0; v < f->parameter_count && name; v++)
		if (!strcmp(f->variables[v].name, name))
			return true;
	return false;
}

/* Whether the instruction copies, or truncates, or widens an integer with zeros. The halves of the result exist already. */
static bool copies(const struct ptx_instruction *i)
{
	return opcode_is(i->opcode, "mov") || opcode_is(i->opcode, "cvta") || opcode_is(i->opcode, "cvt.u64.u32") ||
	       opcode_is(i->opcode, "cvt.u32.u64");
}

/* Whether the instruction reads a parameter, or copies a constant value. */
static bool makes_constant(const struct ptx_function *f, const struct ptx_instruction *i, const bool *constant)
{
	if (reads_parameter(f, i))
		return true;
	if (!copies(i))
		return false;
	for (uint32_t o = 0; o < i->operand_count; o++)
		if (!i->operands[o].write && !is_constant_operand(&i->operands[o], constant))
			return false;
	return true;
}

enum { NEVER = -1, OFTEN = -2 };

/* Per register: the only instruction that writes it, or NEVER, or OFTEN. */
static void find_writers(const struct ptx_function *f, int32_t *writer)
{
	struct ptx_uses u;
	for (uint32_t r = 0; r < f->register_count; r++)
		writer[r] = NEVER;
	for (uint32_t i = 0; i < f->instruction_count; i++) {
		ptx_uses(&f->instructions[i], &u);
		for (uint32_t k = 0; k < u.writes; k++)
			writer[u.list[k]] = writer[u.list[k]] == NEVER ? (int32_t)i : OFTEN;
	}
}

/* Finds registers that are written once, with a value that is in constant memory anyway. A copy of a copy needs another pass
 * only if it stands before its source in the text. */
static void find_constants(const struct ptx_function *f, const int32_t *writer, bool *constant)
{
	struct ptx_uses u;
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t i = 0; i < f->instruction_count; i++) {
			ptx_uses(&f->instructions[i], &u);
			bool once = u.writes && f->instructions[i].guard < 0;
			for (uint32_t k = 0; k < u.writes; k++)
				once &= writer[u.list[k]] >= 0 && !constant[u.list[k]];
			if (!once || !makes_constant(f, &f->instructions[i], constant))
				continue;
			for (uint32_t k = 0; k < u.writes; k++)
				constant[u.list[k]] = changed = true;
		}
	}
}

/* ---- 64-bit values that need only one half ---- */

/* Whether the lower half of the result needs only the lower halves of the operands. */
static bool keeps_halves_apart(const struct ptx_instruction *i)
{
	static const char *const words[] = {"add", "sub", "mul.lo", "mad.lo", "shl", "and", "or", "xor",
	                                    "not", "neg", "mov",    "cvta",   "selp"};
	for (size_t w = 0; w < GS_ARRAY_LEN(words); w++)
		if (opcode_is(i->opcode, words[w]))
			return true;
	return false;
}

/* cvt.TO.FROM: whether both types are integers. */
static bool converts_integers(const struct ptx_instruction *i)
{
	return opcode_is(i->opcode, "cvt") && !strstr(i->opcode, ".f") && !strstr(i->opcode, ".bf");
}

static bool reads_upper_half(const struct ptx_function *f, const struct ptx_instruction *i, const struct ptx_operand *o,
                             const bool *upper)
{
	if (o->kind == PTX_ADDRESS)
		return i->space != SPACE_shared && i->space != SPACE_local && i->space != SPACE_const &&
		       i->space != SPACE_param;
	if (converts_integers(i) && !opcode_ends(i->opcode, "64"))
		return false;
	if (!keeps_halves_apart(i) && !converts_integers(i))
		return true;
	uint32_t results = 0;
	bool wanted = false;
	for (uint32_t k = 0; k < i->operand_count; k++)
		if (i->operands[k].write && i->operands[k].reg >= 0) {
			results++;
			wanted |= f->registers[i->operands[k].reg].bits == 64 && upper[i->operands[k].reg];
		}
	return wanted || results != 1; /* mov.b64 {a, b}, c splits c */
}

static bool find_upper_in(const struct ptx_function *f, const struct ptx_instruction *i, bool *upper)
{
	bool changed = false;
	for (uint32_t k = 0; k < i->operand_count; k++) {
		const struct ptx_operand *o = &i->operands[k];
		bool counts = (o->kind == PTX_REGISTER || o->kind == PTX_ADDRESS) && !o->write && o->reg >= 0;
		if (counts && !upper[o->reg] && f->registers[o->reg].bits >= 64 && reads_upper_half(f, i, o, upper))
			changed = upper[o->reg] = true;
	}
	return changed;
}

static void find_upper_halves(const struct ptx_function *f, bool *upper)
{
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t i = f->instruction_count; i-- > 0;)
			changed |= find_upper_in(f, &f->instructions[i], upper);
	}
}

/* The instruction that makes a value that another instruction reads. It is found in the same block before the reader, or it is
 * the only instruction that writes the register. NULL: not known. */
static const struct ptx_instruction *maker_of(const struct graph *g, uint32_t reader, int32_t reg, const int32_t *writer)
{
	const struct graph_block *b = &g->blocks[graph_block_of(g, reader)];
	for (uint32_t i = reader; i-- > b->first;)
		for (uint32_t k = 0; k < g->function->instructions[i].operand_count; k++)
			if (g->function->instructions[i].operands[k].write && g->function->instructions[i].operands[k].reg == reg)
				return &g->function->instructions[i];
	return writer[reg] >= 0 ? &g->function->instructions[writer[reg]] : NULL;
}

/* The most bits that the unsigned value of an operand can have. A work-group has up to 1024 work-items. */
static uint32_t bits_of(const struct graph *g, uint32_t reader, const struct ptx_operand *o, const int32_t *writer,
                        uint32_t depth)
{
	enum { ID_BITS = 10, MOST_DEPTH = 4 };
	uint32_t all = o->reg >= 0 ? g->function->registers[o->reg].bits : 64;
	const struct ptx_instruction *i = o->kind == PTX_REGISTER && o->reg >= 0 ? maker_of(g, reader, o->reg, writer) : NULL;
	if (!i || depth >= MOST_DEPTH || i->operand_count < 2 || i->guard >= 0)
		return all;
	const struct ptx_operand *from = &i->operands[1];
	uint32_t at = (uint32_t)(i - g->function->instructions), bits = all;
	if (opcode_is(i->opcode, "mov") && from->kind == PTX_SPECIAL && !strncmp(from->text, "%tid", 4))
		bits = ID_BITS;
	else if (copies(i) && from->kind == PTX_REGISTER)
		bits = bits_of(g, at, from, writer, depth + 1);
	else if (opcode_is(i->opcode, "shl") && i->operand_count == 3 && i->operands[2].kind == PTX_IMMEDIATE &&
	         i->operands[2].value >= 0 && i->operands[2].value < 32)
		bits = bits_of(g, at, from, writer, depth + 1) + (uint32_t)i->operands[2].value;
	return bits < all ? bits : all;
}

/* Finds 64-bit values whose upper half is zero. */
static void find_short(const struct graph *g, const int32_t *writer, bool *upper)
{
	for (uint32_t r = 0; r < g->function->register_count; r++) {
		struct ptx_operand o = {.kind = PTX_REGISTER, .reg = (int32_t)r, .label = -1};
		if (upper[r] && writer[r] >= 0 && bits_of(g, (uint32_t)writer[r] + 1, &o, writer, 0) <= 32)
			upper[r] = false;
	}
}

/* ---- copies that share a register ---- */

static bool is_live(const uint64_t *sets, uint32_t words, uint32_t block, int32_t reg)
{
	return sets[(size_t)block * words + (uint32_t)reg / 64] >> reg % 64 & 1;
}

/* Whether no instruction writes to the source while the copy is needed. */
static bool may_share(const struct graph *g, const struct liveness *l, uint32_t copy, int32_t to, int32_t from)
{
	const struct ptx_function *f = g->function;
	uint32_t own = (uint32_t)graph_block_of(g, copy);
	for (uint32_t i = 0; i < f->instruction_count; i++)
		for (uint32_t k = 0; k < f->instructions[i].operand_count; k++) {
			if (!f->instructions[i].operands[k].write || f->instructions[i].operands[k].reg != from)
				continue;
			uint32_t block = (uint32_t)graph_block_of(g, i);
			bool before = block == own && i < copy;
			if (!before && (block == own || is_live(l->in, l->words, block, to) || is_live(l->out, l->words, block, to)))
				return false;
		}
	return true;
}

/* If a 32-bit value and its copy widened with zeros are both live, they share a register. */
static void find_twins(const struct graph *g, const struct liveness *l, const uint8_t *weights, const int32_t *writer,
                       int32_t *twins)
{
	const struct ptx_function *f = g->function;
	for (uint32_t r = 0; r < f->register_count; r++)
		twins[r] = -1;
	for (uint32_t r = 0; r < f->register_count; r++) {
		const struct ptx_instruction *i = writer[r] >= 0 ? &f->instructions[writer[r]] : NULL;
		int32_t from = i && opcode_is(i->opcode, "cvt.u64.u32") && i->operand_count == 2 ? i->operands[1].reg : -1;
		if (from >= 0 && weights[r] == 1 && weights[from] == 1 && twins[from] < 0 &&
		    may_share(g, l, (uint32_t)writer[r], (int32_t)r, from)) {
			twins[r] = from;
			twins[from] = (int32_t)r;
		}
	}
}

/* ---- the rule ---- */

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* The most pressure in any block. `order` is the order of instructions; NULL: the order of the text. */
static uint32_t most_pressure(const struct graph *g, const struct liveness *l, struct pressure *p,
			      const uint32_t *order, uint32_t arch, uint32_t call_temporaries)
{
	uint32_t most = 0;
	for (uint32_t n = 0; n < g->order_count; n++) {
		const struct graph_block *b = &g->blocks[g->order[n]];
		pressure_end_of(p, l, g->order[n]);
		for (uint32_t k = b->first + b->count; k-- > b->first;) {
			uint32_t i = order ? order[k] : k;
			const struct ptx_instruction *in = &g->function->instructions[i];
			pressure_behind(p, i);
			if (!reuses_operands_of(arch, in))
				pressure_across(p, i);
			most = larger(most, p->words + register_temporaries(in, call_temporaries));
			pressure_before(p, i);
			most = larger(most, p->words);
		}
	}
	return most;
}

static bool find_weights(const struct graph *g, const struct liveness *l, uint8_t *weights, int32_t *twins)
{
	const struct ptx_function *f = g->function;
	bool *constant = calloc((size_t)f->register_count + 1, sizeof *constant);
	bool *upper = calloc((size_t)f->register_count + 1, sizeof *upper);
	int32_t *writer = calloc((size_t)f->register_count + 1, sizeof *writer);
	bool done = constant && upper && writer;
	if (done) {
		find_writers(f, writer);
		find_constants(f, writer, constant);
		find_upper_halves(f, upper);
		find_short(g, writer, upper);
	}
	for (uint32_t r = 0; done && r < f->register_count; r++)
		if (constant[r])
			weights[r] = 0;
		else if (f->registers[r].bits == 64 && !upper[r])
			weights[r] = 1;
	if (done)
		find_twins(g, l, weights, writer, twins);
	free(constant);
	free(upper);
	free(writer);
	return done;
}

static uint32_t needed(const struct graph *g, const struct liveness *l, uint32_t arch, uint32_t call_registers)
{
	uint32_t calls = call_registers > BASE ? call_registers - BASE : 0, need = BASE + l->most + calls;
	uint32_t free_registers = registers_at_full_occupancy(arch);
	uint32_t *order = calloc((size_t)g->function->instruction_count + 1, sizeof *order);
	int32_t *twins = calloc((size_t)g->function->register_count + 1, sizeof *twins);
	struct pressure p = {0};
	if (order && twins && !pressure_create(&p, g->function) && find_weights(g, l, p.weights, twins) &&
	    !graph_early_loads(g, order)) {
		p.twins = twins;
		need = BASE + most_pressure(g, l, &p, order, arch, calls);
		if (need > free_registers)
			need = larger(BASE + most_pressure(g, l, &p, NULL, arch, calls), free_registers);
	}
	pressure_free(&p);
	free(order);
	free(twins);
	return need;
}

uint32_t graph_registers(const struct graph *g, const struct liveness *l, const char *arch, uint32_t call_registers,
                         uint32_t *spilled)
{
	uint32_t number = arch_number(arch), most = bounded_registers(g->function, number);
	uint32_t need = needed(g, l, number, call_registers);
	*spilled = need > most ? need - most : 0;
	return need - *spilled;
}

int graph_register_words(const struct graph *g, const struct liveness *l, uint8_t *words)
{
	struct pressure p = {0};
	int32_t *twins = calloc((size_t)g->function->register_count + 1, sizeof *twins);
	int result = twins && !pressure_create(&p, g->function) && find_weights(g, l, p.weights, twins) ? 0 : -ENOMEM;
	if (!result)
		memcpy(words, p.weights, g->function->register_count);
	pressure_free(&p);
	free(twins);
	return result;
}

uint32_t graph_free_words(const struct graph *g, const char *arch, uint32_t registers)
{
	uint32_t number = arch_number(arch), most = bounded_registers(g->function, number);
	uint32_t given = larger(registers, registers_at_full_occupancy(number));
	return (given < most ? given : most) - BASE;
}

uint32_t graph_registers_of(uint32_t words)
{
	return BASE + words;
}
