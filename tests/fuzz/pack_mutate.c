/*
 * pack_mutate.c - changes to records, sections, lines, numbers and words of packs. The result is still a pack. Sections and
 * lines are dropped, doubled, renamed and moved. Numbers, and words of 32 and 64 bits in binary sections, become values that
 * often cause errors. A kernel's code loses elements of its arrays and is written anew.
 */
#include "tests/fuzz/packs.h"

#include "models/code/code.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

static uint64_t chance(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return below ? (state >> 11) % below : 0;
}

static uint64_t odd_number(void)
{
	static const uint64_t numbers[] = {
		0, 1, 2, 3, 7, 8, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 1000, 1023, 1024, 4096, 32767, 32768, 65535, 65536,
		1 << 20, (1 << 20) + 1, 1 << 24, 1 << 30, INT32_MAX, UINT64_C(1) << 31, UINT32_MAX - 1, UINT32_MAX, UINT64_C(1) << 32,
		UINT64_C(1) << 40, UINT64_C(1) << 53, UINT64_C(1) << 60, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX - 1, UINT64_MAX,
	};
	return numbers[chance(GS_ARRAY_LEN(numbers))];
}

/* ---- bytes of a section ---- */

static void set_bytes(struct gs_section *s, const void *data, size_t length)
{
	char *fresh = malloc(length + 1);
	if (!fresh)
		abort();
	if (length)
		memcpy(fresh, data, length);
	fresh[length] = 0;
	free(s->data);
	s->data = fresh;
	s->len = length;
}

/* Replaces the `length` bytes at `at` by `by`. */
static void replace(struct gs_section *s, size_t at, size_t length, const char *by, size_t by_length)
{
	struct gs_buf out = {0};
	gs_buf_add(&out, s->data, at);
	gs_buf_add(&out, by, by_length);
	gs_buf_add(&out, s->data + at + length, s->len - at - length);
	set_bytes(s, out.data, out.len);
	gs_buf_free(&out);
}

static void change_bits(struct gs_section *s)
{
	if (s->len)
		s->data[chance(s->len)] ^= (char)(1 << chance(8));
}

static void change_word(struct gs_section *s)
{
	size_t size = chance(4) ? 4 : chance(2) ? 8 : 1, offset = s->len % 4 && chance(2) ? s->len % 4 : 0;
	if (s->len < offset + size)
		return;
	/* The arrays of code begin after a line. */
	const char *newline = memchr(s->data, '\n', s->len);
	if (!strcmp(s->name, "code") && newline && s->len - (size_t)(newline + 1 - s->data) >= size)
		offset = (size_t)(newline + 1 - s->data);
	char *at = s->data + offset + chance((s->len - offset) / size) * size;
	uint64_t value = 0;
	memcpy(&value, at, size);
	switch (chance(5)) {
	case 0: value++; break;
	case 1: value--; break;
	case 2: value = chance(300); break;
	case 3: value = odd_number(); break;
	default: memcpy(&value, s->data + chance(s->len - size + 1), size);
	}
	memcpy(at, &value, size);
}

static void cut_bytes(struct gs_section *s)
{
	size_t at = chance(s->len + 1), length = chance(2) ? s->len - at : chance(64);
	replace(s, at, length < s->len - at ? length : s->len - at, "", 0);
}

static void double_bytes(struct gs_section *s)
{
	size_t at = chance(s->len + 1), length = chance(64);
	length = length < s->len - at ? length : s->len - at;
	char copy[64];
	memcpy(copy, s->data + at, length);
	replace(s, at, 0, copy, length);
}

/* ---- lines and numbers ---- */

struct span {
	size_t from, to;
};

static struct span any_line(const struct gs_section *s)
{
	size_t at = chance(s->len);
	struct span line = {at, at};
	while (line.from && s->data[line.from - 1] != '\n')
		line.from--;
	while (line.to < s->len && s->data[line.to++] != '\n')
		;
	return line;
}

static void change_line(struct gs_section *s)
{
	if (!s->len)
		return;
	struct span line = any_line(s), other = any_line(s);
	char *copy = strndup(s->data + line.from, line.to - line.from);
	uint64_t kind = chance(4);
	if (kind == 0) /* remove */
		replace(s, line.from, line.to - line.from, "", 0);
	else if (kind == 1) /* double */
		replace(s, line.from, 0, copy, strlen(copy));
	else if (kind == 2) /* copy to another place */
		replace(s, other.from, 0, copy, strlen(copy));
	else /* replace another line */
		replace(s, other.from, other.to - other.from, copy, strlen(copy));
	free(copy);
}

static void change_number(struct gs_section *s)
{
	size_t begin = s->len ? chance(s->len) : 0, end;
	char text[32];
	while (begin < s->len && !(s->data[begin] >= '0' && s->data[begin] <= '9'))
		begin++;
	while (begin && s->data[begin - 1] >= '0' && s->data[begin - 1] <= '9')
		begin--;
	for (end = begin; end < s->len && s->data[end] >= '0' && s->data[end] <= '9';)
		end++;
	uint64_t value = strtoull(s->data + begin, NULL, 10), kind = chance(6);
	value = kind == 0 ? value + 1 : kind == 1 ? value - 1 : kind == 2 ? chance(300) : kind == 3 ? value * 2 : odd_number();
	int length = snprintf(text, sizeof text, "%s%" PRIu64, chance(12) ? "" : "-", value);
	replace(s, begin, end - begin, text, (size_t)length);
}

/* Changes a word of the text: its end is cut off, or another word or blanks replace it. */
static void change_words(struct gs_section *s)
{
	static const char *const texts[] = {" ", "\n", "=", ":", "*", "sums", "entry", "every:1:0:0", "%n%s", "kernel", "failure ", "\n\n",
	                                    "-1", "1*0", "host", "item"};
	const char *by = texts[chance(GS_ARRAY_LEN(texts))];
	size_t at = chance(s->len + 1), length = chance(3) ? chance(8) : 0;
	replace(s, at, length < s->len - at ? length : s->len - at, by, strlen(by));
}

/* ---- a kernel's code ---- */

/* One of its arrays loses its end, or one of its numbers changes. */
static void change_code(struct gs_section *s)
{
	char *line = memchr(s->data, '\n', s->len);
	struct kernel_code *c;
	struct gs_buf out = {0};
	size_t head = line ? (size_t)(line + 1 - s->data) : 0;
	if (!line || code_read(line + 1, s->len - head, &c, NULL))
		return;
	uint32_t *const counts[] = {&c->code_count, &c->operand_count, &c->register_count, &c->edge_count, &c->term_count,
	                            &c->loop_count, &c->unknown_count, &c->check_count, &c->node_count, &c->machine_count,
	                            &c->machine_block_count, &c->machine_register_count, &c->machine_operand_count,
	                            &c->machine_origin_count, &c->function_count, &c->file_count, &c->probe_count,
	                            &c->string_bytes, &c->block_count};
	uint32_t *const numbers[] = {&c->instructions, &c->registers, &c->shared_bytes, &c->local_bytes, &c->counter_count, &c->site_count};
	if (chance(3)) {
		uint32_t *count = counts[chance(GS_ARRAY_LEN(counts))];
		*count = chance(4) ? (*count ? *count - 1 : 0) : (uint32_t)chance((uint64_t)*count + 1);
	} else {
		*numbers[chance(GS_ARRAY_LEN(numbers))] = (uint32_t)odd_number();
	}
	gs_buf_add(&out, s->data, head);
	code_write(c, &out);
	set_bytes(s, out.data, out.len);
	gs_buf_free(&out);
	code_free(c);
}

/* Changes one field of the code, but keeps it valid. The models see only code that code_read() accepts. */
static void change_soundly(struct gs_section *s)
{
	struct kernel_code *c;
	for (int i = 0; i < 32; i++) {
		struct gs_section copy = {.name = s->name};
		set_bytes(&copy, s->data, s->len);
		change_word(&copy);
		char *line = memchr(copy.data, '\n', copy.len);
		if (line && !code_read(line + 1, copy.len - (size_t)(line + 1 - copy.data), &c, NULL)) {
			code_free(c);
			set_bytes(s, copy.data, copy.len);
		}
		free(copy.data);
	}
}

/* ---- sections and records ---- */

static bool is_binary(const struct gs_section *s)
{
	return !strcmp(s->name, "code") || !strcmp(s->name, "counters") || !strcmp(s->name, "trace") || !strcmp(s->name, "memory");
}

static void change_section(struct gs_section *s)
{
	if (!strcmp(s->name, "code") && chance(4)) {
		if (chance(3))
			change_soundly(s);
		else
			change_code(s);
		return;
	}
	static void (*const binary[])(struct gs_section *) = {change_bits, change_word, change_word, change_word, cut_bytes, double_bytes};
	static void (*const text[])(struct gs_section *) = {change_bits, change_line, change_line, change_number, change_number,
	                                                    change_words, cut_bytes, double_bytes};
	if (is_binary(s) ? chance(10) > 0 : !chance(10))
		binary[chance(GS_ARRAY_LEN(binary))](s);
	else
		text[chance(GS_ARRAY_LEN(text))](s);
}

static void swap_sections(struct gs_section *a, struct gs_section *b)
{
	struct gs_section other = *a;
	*a = *b;
	*b = other;
}

static void change_sections(struct gs_pack *p)
{
	struct gs_section *a = &p->sections[chance(p->count)], *b = &p->sections[chance(p->count)];
	char *name;
	switch (chance(5)) {
	case 0:
		free(a->name);
		free(a->data);
		*a = p->sections[--p->count];
		break;
	case 1: {
		struct gs_buf copy = {0};
		gs_buf_add(&copy, a->data, a->len);
		name = strdup(a->name);
		gs_pack_add(p, name, copy.data, copy.len);
		gs_buf_free(&copy);
		free(name);
		break;
	}
	case 2:
		name = strdup(b->name);
		free(a->name);
		a->name = name;
		break;
	case 3:
		set_bytes(a, "", 0);
		break;
	default:
		swap_sections(a, b);
	}
}

static void change_records(struct fuzz_input *in)
{
	size_t a = chance(in->count), b = chance(in->count);
	struct fuzz_record other = in->records[a];
	if (chance(2)) {
		in->records[a] = in->records[b];
		in->records[b] = other;
	} else if (in->count > 1) {
		gs_pack_free(&in->records[a].pack);
		memmove(&in->records[a], &in->records[a + 1], (--in->count - a) * sizeof *in->records);
	}
}

/* Every section is equally likely, whatever its size. Sections of the same name share their chance. */
static struct gs_section *any_section(struct gs_pack *p)
{
	struct gs_section *s = &p->sections[chance(p->count)];
	for (int i = 0; i < 3 && (!strcmp(s->name, "code") || !strcmp(s->name, "target")) && chance(2); i++)
		s = &p->sections[chance(p->count)];
	return s;
}

static void mutate(struct fuzz_input *in)
{
	if (!chance(20))
		change_records(in);
	struct gs_pack *p = &in->records[chance(in->count)].pack;
	if (!p->count)
		return;
	if (!chance(8))
		change_sections(p);
	else
		change_section(any_section(p));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed)
{
	struct fuzz_input in;
	struct gs_buf out = {0};
	state = (uint64_t)seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
	chance(2);
	fuzz_input_read(&in, data, size);
	if (!in.count || !chance(50)) {
		fuzz_input_free(&in);
		return LLVMFuzzerMutate(data, size, most);
	}
	for (uint64_t i = 0, changes = 1 + chance(4); i < changes; i++)
		mutate(&in);
	for (size_t i = 0; i < in.count; i++)
		fuzz_record_write(&out, in.records[i].kind, &in.records[i].pack);
	if (out.len && out.len <= most && !out.failed) {
		memcpy(data, out.data, out.len);
		size = out.len;
	}
	gs_buf_free(&out);
	fuzz_input_free(&in);
	return size;
}
