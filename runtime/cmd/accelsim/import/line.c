/* One line of a trace; see trace.h and docs/accel-sim.md. */
#include "runtime/cmd/accelsim/import/trace.h"

#include <string.h>

struct line_cursor {
	const char *at, *end;
	bool bad;
};

/* The next word; its length is 0 at the end. */
static const char *next_word(struct line_cursor *c, size_t *length)
{
	while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\r'))
		c->at++;
	const char *word = c->at;
	while (c->at < c->end && *c->at != ' ' && *c->at != '\t' && *c->at != '\r')
		c->at++;
	*length = (size_t)(c->at - word);
	return word;
}

static int digit_of(char ch)
{
	return ch >= '0' && ch <= '9' ? ch - '0' : ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : ch >= 'A' && ch <= 'F' ? ch - 'A' + 10 : 99;
}

static uint64_t number_in(const char *word, size_t length, int base, bool *good)
{
	uint64_t value = 0;
	*good = length > 0;
	if (base == 16 && length > 2 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X')) {
		word += 2;
		length -= 2;
	}
	for (size_t i = 0; i < length; i++) {
		int digit = digit_of(word[i]);
		if (digit >= base || __builtin_mul_overflow(value, (uint64_t)base, &value) || __builtin_add_overflow(value, (uint64_t)digit, &value))
			*good = false;
	}
	return value;
}

static uint64_t next_number(struct line_cursor *c, int base)
{
	size_t length;
	bool good;
	const char *word = next_word(c, &length);
	uint64_t value = number_in(word, length, base, &good);
	c->bad |= !good;
	return value;
}

/* Decimal, with a sign; *there is false where the line ends. */
static int64_t next_difference(struct line_cursor *c, bool *there)
{
	size_t length;
	bool good;
	const char *word = next_word(c, &length);
	bool negative = length && *word == '-';
	*there = length > 0;
	uint64_t value = number_in(word + negative, length - negative, 10, &good);
	c->bad |= *there && !good;
	return (int64_t)(negative ? 0 - value : value);
}

/* R4; other names, such as UR4 and P0, are registers that are not waited for: -1. */
static int16_t next_register(struct line_cursor *c)
{
	size_t length;
	bool good;
	const char *word = next_word(c, &length);
	c->bad |= !length;
	if (length < 2 || *word != 'R')
		return -1;
	uint64_t number = number_in(word + 1, length - 1, 10, &good);
	return good && number < INT16_MAX - 8 ? (int16_t)number : -1;
}

/* ---- addresses ---- */

static void read_list(struct line_cursor *c, struct sass_line *out)
{
	for (uint32_t left = out->in.mask; left; left &= left - 1)
		out->address[__builtin_ctz(left)] = next_number(c, 16);
}

/* Active lanes follow one another. */
static void read_stride(struct line_cursor *c, struct sass_line *out)
{
	bool there;
	uint64_t address = next_number(c, 16);
	int64_t stride = next_difference(c, &there);
	c->bad |= !there;
	for (uint32_t left = out->in.mask; left; left &= left - 1, address += (uint64_t)stride)
		out->address[__builtin_ctz(left)] = address;
}

/* Each difference is that to the lane before. Writers have one for each lane but the first. */
static void read_deltas(struct line_cursor *c, struct sass_line *out)
{
	uint64_t address = next_number(c, 16);
	bool there = true, first = true;
	for (uint32_t left = out->in.mask; left; left &= left - 1) {
		address += first ? 0 : (uint64_t)next_difference(c, &there);
		c->bad |= !there;
		out->address[__builtin_ctz(left)] = address;
		first = false;
	}
}

/* Copies by units of their own have addresses of another form, which the models do not follow. */
static bool has_own_form(const struct sass_line *out)
{
	return out->in.opcode_length > 4 && (!strncmp(out->in.opcode, "UTMA", 4) || !strncmp(out->in.opcode, "UBLK", 4));
}

static void read_addresses(struct line_cursor *c, struct sass_line *out)
{
	if (!out->width || !out->in.mask || has_own_form(out))
		return;
	uint64_t mode = next_number(c, 10);
	out->in.addresses = true;
	if (mode == 0)
		read_list(c, out);
	else if (mode == 1)
		read_stride(c, out);
	else if (mode == 2)
		read_deltas(c, out);
	else
		c->bad = true;
}

static bool is_group_product(const struct sass_line *out)
{
	for (size_t i = 0; i + 4 <= out->in.opcode_length; i++)
		if (!strncmp(out->in.opcode + i, "GMMA", 4))
			return true;
	return false;
}

bool sass_line_read(const char *text, size_t length, uint32_t tracer_version, bool line_info, struct sass_line *out)
{
	struct line_cursor c = {text, text + length, false};
	*out = (struct sass_line){.in.result = -1};
	for (int i = 0; i < 4 && tracer_version < 3; i++) /* block and warp, which the lines before it say, too */
		next_number(&c, 10);
	if (line_info)
		next_number(&c, 10);
	out->in.pc = next_number(&c, 16);
	uint64_t mask = next_number(&c, 16), results = next_number(&c, 10);
	out->in.mask = (uint32_t)mask;
	if (c.bad || mask > UINT32_MAX || results > OBSERVED_SOURCES)
		return false;
	for (uint64_t i = 0; i < results; i++) {
		int16_t number = next_register(&c);
		out->in.result = i ? out->in.result : number;
	}
	out->in.opcode = next_word(&c, &out->in.opcode_length);
	uint64_t sources = next_number(&c, 10);
	if (c.bad || !out->in.opcode_length || out->in.opcode_length > 256 || sources > OBSERVED_SOURCES)
		return false;
	for (uint64_t i = 0; i < sources; i++) {
		int16_t number = next_register(&c);
		if (number >= 0)
			out->in.sources[out->in.source_count++] = number;
	}
	if (is_group_product(out)) /* some versions have the group that it is committed with here; it has no addresses */
		return !c.bad;
	uint64_t width = next_number(&c, 10);
	out->width = width < 4096 ? (uint32_t)width : 4096;
	read_addresses(&c, out);
	return !c.bad;
}
