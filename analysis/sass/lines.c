/* The state machine of DWARF's tables of lines; see cubin.h. Its operations are those of the DWARF 2 specification, section 6.2.5. */
#include "analysis/sass/cubin.h"

#include <errno.h>
#include <string.h>

enum { OP_EXTENDED, OP_COPY, OP_ADVANCE_PC, OP_ADVANCE_LINE, OP_SET_FILE, OP_SET_COLUMN, OP_NEGATE, OP_BLOCK, OP_CONST_PC, OP_FIXED_PC };
enum { EXTENDED_END = 1, EXTENDED_ADDRESS = 2 };

struct line_reader {
	const uint8_t *base, *at, *end;
	bool failed;
};

static uint64_t number(struct line_reader *r, unsigned bytes)
{
	uint64_t value = 0;
	if ((size_t)(r->end - r->at) < bytes) {
		r->failed = true;
		r->at = r->end;
		return 0;
	}
	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)*r->at++ << 8 * i;
	return value;
}

/* LEB128: seven bits per byte. */
static uint64_t leb(struct line_reader *r, bool with_sign)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;
	do {
		byte = (uint8_t)number(r, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 127) << shift;
		shift += 7;
	} while (byte & 128 && !r->failed);
	return with_sign && byte & 64 && shift < 64 ? value | ~UINT64_C(0) << shift : value;
}

struct line_program {
	uint8_t step, line_range, opcode_base;
	int8_t line_base;
	uint8_t arguments[256]; /* of the standard operations */
};

struct line_state {
	size_t address_at;
	uint64_t offset;
	int64_t line;
};

static uint32_t line_of(const struct line_state *s)
{
	return s->line > 0 && s->line < UINT32_MAX ? (uint32_t)s->line : 0;
}

/* Returns whether the sequence ended. */
static bool read_extended(struct line_reader *r, struct line_state *s)
{
	uint64_t length = leb(r, false);
	if (r->failed || !length || length > (uint64_t)(r->end - r->at)) {
		r->failed |= length != 0;
		return false;
	}
	const uint8_t *next = r->at + length;
	uint8_t op = *r->at++;
	if (op == EXTENDED_ADDRESS) {
		s->address_at = (size_t)(r->at - r->base);
		s->offset = 0; /* a relocation says where the sequence is; what is here is added to it */
		struct line_reader address = {r->base, r->at, next, false};
		s->offset = number(&address, length - 1 < 8 ? (unsigned)(length - 1) : 8);
	}
	r->at = next;
	return op == EXTENDED_END;
}

static void read_standard(struct line_reader *r, const struct line_program *p, uint8_t op, struct line_state *s)
{
	switch (op) {
	case OP_ADVANCE_PC:
		s->offset += leb(r, false) * p->step;
		break;
	case OP_ADVANCE_LINE:
		s->line = (int64_t)((uint64_t)s->line + leb(r, true));
		break;
	case OP_CONST_PC:
		s->offset += (uint64_t)((255 - p->opcode_base) / p->line_range) * p->step;
		break;
	case OP_FIXED_PC:
		s->offset += number(r, 2);
		break;
	default:
		for (uint8_t i = 0; i < p->arguments[op] && !r->failed; i++)
			leb(r, false);
	}
}

static void run(struct line_reader *r, const struct line_program *p, cubin_row *row, void *context)
{
	struct line_state s = {.line = 1};
	while (r->at < r->end && !r->failed) {
		uint8_t op = *r->at++;
		if (op >= p->opcode_base) {
			op = (uint8_t)(op - p->opcode_base);
			s.offset += (uint64_t)(op / p->line_range) * p->step;
			s.line += p->line_base + op % p->line_range;
			row(context, s.address_at, s.offset, line_of(&s));
		} else if (op == OP_EXTENDED) {
			if (!read_extended(r, &s))
				continue;
			row(context, s.address_at, s.offset, 0);
			s = (struct line_state){.line = 1};
		} else if (op == OP_COPY) {
			row(context, s.address_at, s.offset, line_of(&s));
		} else {
			read_standard(r, p, op, &s);
		}
	}
}

/* One unit: its header, then its operations. */
static void walk_unit(struct line_reader *r, cubin_row *row, void *context)
{
	struct line_program p = {0};
	uint64_t length = number(r, 4);
	if (r->failed || length > (uint64_t)(r->end - r->at)) {
		r->failed = true;
		return;
	}
	struct line_reader unit = {r->base, r->at, r->at + length, false};
	r->at += length;
	uint64_t version = number(&unit, 2), header = number(&unit, 4);
	const uint8_t *program = unit.at;
	if (unit.failed || version < 2 || version > 4 || header > (uint64_t)(unit.end - unit.at)) {
		r->failed = true;
		return;
	}
	p.step = (uint8_t)number(&unit, 1);
	if (version == 4)
		number(&unit, 1);
	number(&unit, 1);
	p.line_base = (int8_t)number(&unit, 1);
	p.line_range = (uint8_t)number(&unit, 1);
	p.opcode_base = (uint8_t)number(&unit, 1);
	for (unsigned i = 1; i < p.opcode_base && !unit.failed; i++)
		p.arguments[i] = (uint8_t)number(&unit, 1);
	unit.at = program + header;
	if (unit.failed || !p.line_range || !p.opcode_base)
		r->failed = true;
	else
		run(&unit, &p, row, context);
	r->failed |= unit.failed;
}

int cubin_walk_lines(const uint8_t *section, size_t bytes, cubin_row *row, void *context)
{
	struct line_reader r = {section, section, section + bytes, false};
	while (r.at < r.end && !r.failed)
		walk_unit(&r, row, context);
	return r.failed ? -EBADMSG : 0;
}
