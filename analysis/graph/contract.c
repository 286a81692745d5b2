/* Products that join sums; see contract.h. */
#include "analysis/graph/contract.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PLAIN, LESS_ADDEND, LESS_PRODUCT, SIGNS };
enum { FORMS = 7 };
static const char *const products[FORMS] = {"mul.f32", "mul.ftz.f32", "mul.f64", "mul.f16", "mul.f16x2", "mul.bf16", "mul.bf16x2"};
/* A product with a reciprocal, which joins as well. */
static const char *const quotients[FORMS] = {"div.approx.f32", "div.approx.ftz.f32"};
static const char *const sums[FORMS] = {"add.f32", "add.ftz.f32", "add.f64", "add.f16", "add.f16x2", "add.bf16", "add.bf16x2"};
static const char *const differences[FORMS] = {"sub.f32", "sub.ftz.f32", "sub.f64", "sub.f16", "sub.f16x2", "sub.bf16", "sub.bf16x2"};
static const char *const fused[FORMS][SIGNS] = {
	{"fma.rn.f32", "fma.rn.less_addend.f32", "fma.rn.less_product.f32"},
	{"fma.rn.ftz.f32", "fma.rn.ftz.less_addend.f32", "fma.rn.ftz.less_product.f32"},
	{"fma.rn.f64", "fma.rn.less_addend.f64", "fma.rn.less_product.f64"},
	{"fma.rn.f16", "fma.rn.less_addend.f16", "fma.rn.less_product.f16"},
	{"fma.rn.f16x2", "fma.rn.less_addend.f16x2", "fma.rn.less_product.f16x2"},
	{"fma.rn.bf16", "fma.rn.less_addend.bf16", "fma.rn.less_product.bf16"},
	{"fma.rn.bf16x2", "fma.rn.less_addend.bf16x2", "fma.rn.less_product.bf16x2"},
};

/* The same forms, where the product is a quotient. */
static const char *const fused_quotients[FORMS][SIGNS] = {
	{"fma.rn.quotient.f32", "fma.rn.quotient_less_addend.f32", "fma.rn.less_quotient.f32"},
	{"fma.rn.ftz.quotient.f32", "fma.rn.ftz.quotient_less_addend.f32", "fma.rn.ftz.less_quotient.f32"},
};

enum { NOT_WRITTEN = -1, WRITTEN_TWICE = -2 };

struct contraction {
	const struct ptx_function *f;
	const struct graph *graph;
	int32_t *writer; /* per register: the only instruction that writes it */
	bool *joins;     /* per register: it is a product, which joins sums */
};

static int form_of(const char *opcode, const char *const *names)
{
	for (int f = 0; f < FORMS; f++)
		if (names[f] && !strcmp(opcode, names[f]))
			return f;
	return -1;
}

static int form_of_product(const char *opcode)
{
	int form = form_of(opcode, products);
	return form < 0 ? form_of(opcode, quotients) : form;
}

static int form_of_sum(const struct ptx_instruction *i)
{
	int form = form_of(i->opcode, sums);
	form = form < 0 ? form_of(i->opcode, differences) : form;
	return i->operand_count == 3 ? form : -1;
}

static bool reads(const struct ptx_operand *o, int32_t reg)
{
	return !o->write && o->reg == reg && (o->kind == PTX_REGISTER || o->kind == PTX_ADDRESS);
}

static void find_products(struct contraction *c)
{
	for (uint32_t i = 0; i < c->f->instruction_count; i++)
		for (uint32_t o = 0; o < c->f->instructions[i].operand_count; o++) {
			const struct ptx_operand *operand = &c->f->instructions[i].operands[o];
			if (operand->write && operand->reg >= 0)
				c->writer[operand->reg] = c->writer[operand->reg] == NOT_WRITTEN ? (int32_t)i : WRITTEN_TWICE;
		}
	for (uint32_t r = 0; r < c->f->register_count; r++) {
		const struct ptx_instruction *i = c->writer[r] >= 0 ? &c->f->instructions[c->writer[r]] : NULL;
		c->joins[r] = i && i->guard < 0 && i->operand_count == 3 && form_of_product(i->opcode) >= 0;
	}
}

/* Whether a register that the product reads has another value at the sum. */
static bool changes(const struct contraction *c, uint32_t product, uint32_t sum)
{
	for (uint32_t i = product; i < sum; i++)
		for (uint32_t o = 0; o < c->f->instructions[i].operand_count; o++) {
			const struct ptx_operand *written = &c->f->instructions[i].operands[o];
			if (written->write && written->reg >= 0 &&
			    (reads(&c->f->instructions[product].operands[1], written->reg) || reads(&c->f->instructions[product].operands[2], written->reg)))
				return true;
		}
	return false;
}

static bool takes(const struct contraction *c, uint32_t sum, int32_t reg)
{
	const struct ptx_instruction *s = &c->f->instructions[sum];
	uint32_t product = (uint32_t)c->writer[reg];
	return form_of_sum(s) >= 0 && form_of_sum(s) == form_of_product(c->f->instructions[product].opcode) && sum > product &&
	       graph_block_of(c->graph, sum) == graph_block_of(c->graph, product) && !(reads(&s->operands[1], reg) && reads(&s->operands[2], reg)) &&
	       !changes(c, product, sum);
}

static void leave_other_uses(struct contraction *c)
{
	for (uint32_t i = 0; i < c->f->instruction_count; i++)
		for (uint32_t o = 0; o < c->f->instructions[i].operand_count; o++) {
			const struct ptx_operand *operand = &c->f->instructions[i].operands[o];
			if (operand->reg >= 0 && reads(operand, operand->reg) && c->joins[operand->reg] && !takes(c, i, operand->reg))
				c->joins[operand->reg] = false;
		}
}

static bool is_joining(const struct contraction *c, const struct ptx_operand *o)
{
	return o->kind == PTX_REGISTER && o->reg >= 0 && c->joins[o->reg];
}

/* Makes the sum an fma with these four operands. */
static void fuse(struct contraction *c, struct ptx_instruction *sum, bool first, struct ptx_operand *room)
{
	const struct ptx_operand *factor = &sum->operands[first ? 1 : 2], *addend = &sum->operands[first ? 2 : 1];
	const struct ptx_instruction *product = &c->f->instructions[c->writer[factor->reg]];
	bool less = !strncmp(sum->opcode, "sub", 3);
	if (is_joining(c, addend))
		c->joins[addend->reg] = false;
	room[0] = sum->operands[0];
	room[1] = product->operands[1];
	room[2] = product->operands[2];
	room[3] = *addend;
	const char *const *names = form_of(product->opcode, quotients) >= 0 ? fused_quotients[form_of_sum(sum)] : fused[form_of_sum(sum)];
	sum->opcode = names[!less ? PLAIN : first ? LESS_ADDEND : LESS_PRODUCT];
	sum->operands = room;
	sum->operand_count = 4;
}

static void fuse_all(struct contraction *c, struct ptx_instruction *instructions, struct ptx_operand *room)
{
	for (uint32_t i = 0; i < c->f->instruction_count; i++) {
		struct ptx_instruction *sum = &instructions[i];
		if (form_of_sum(sum) < 0)
			continue;
		bool first = is_joining(c, &sum->operands[1]);
		if (first || is_joining(c, &sum->operands[2])) {
			fuse(c, sum, first, room);
			room += 4;
		}
	}
}

static uint32_t sum_count(const struct ptx_function *f)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < f->instruction_count; i++)
		count += form_of_sum(&f->instructions[i]) >= 0;
	return count;
}

int graph_contract(const struct graph *g, bool debug, struct ptx_function **out)
{
	const struct ptx_function *f = g->function;
	/* One piece of memory: the function, its instructions, and operands. */
	size_t instructions = (f->instruction_count + 1u) * sizeof *f->instructions, operands = sum_count(f) * 4u * sizeof(struct ptx_operand);
	struct ptx_function *copy = malloc(sizeof *copy + instructions + operands);
	struct contraction c = {f, g, calloc(f->register_count + 1u, sizeof *c.writer), calloc(f->register_count + 1u, sizeof *c.joins)};
	*out = copy;
	if (copy && c.writer && c.joins) {
		*copy = *f;
		copy->instructions = (struct ptx_instruction *)(copy + 1);
		if (f->instruction_count)
			memcpy(copy->instructions, f->instructions, f->instruction_count * sizeof *f->instructions);
		for (uint32_t r = 0; r < f->register_count; r++)
			c.writer[r] = NOT_WRITTEN;
		if (!debug)
			find_products(&c);
		leave_other_uses(&c);
		fuse_all(&c, copy->instructions, (struct ptx_operand *)((char *)copy->instructions + instructions));
	}
	bool failed = !copy || !c.writer || !c.joins;
	free(c.writer);
	free(c.joins);
	return failed ? -ENOMEM : 0;
}
