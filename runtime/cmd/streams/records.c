/* Records of a profile: what gpusim-cc would have answered for a kernel (runtime/format/protocol.h), and launches. */
#include "runtime/cmd/streams/job.h"

#include "runtime/format/protocol.h"
#include "runtime/model/launch_record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_section(struct gs_pack *out, const char *name, struct gs_buf *text)
{
	gs_pack_add(out, name, text->data ? text->data : "", text->len);
	out->failed |= text->failed;
	text->len = 0;
}

/* Counters: blocks, then ways. Each is a column of every work-item. */
static void add_counters(const struct imported_kernel *k, struct gs_pack *out, struct gs_buf *text)
{
	const struct kernel_code *c = k->code;
	for (uint32_t i = 0; i < c->counter_count; i++)
		gs_buf_printf(text, "%u 0 %s %s 0 0 sass\n", i, k->name, i < c->block_count ? "block" : "edge");
	add_section(out, "blocks", text);
	for (uint32_t i = 0; i < c->counter_count; i++)
		gs_buf_printf(text, "%u 0 0 -1 -\n", i);
	add_section(out, "block-details", text);
	gs_buf_printf(text, "%s 0", k->name);
	for (uint32_t i = 0; i < c->counter_count; i++)
		gs_buf_printf(text, " %u", i);
	gs_buf_puts(text, "\n");
	add_section(out, "columns", text);
}

/* Sites are numbered in the order of the code. Texels have plain addresses here. */
static void add_sites(const struct kernel_code *c, struct gs_pack *out, struct gs_buf *text)
{
#define NAME(name) #name,
	static const char *const spaces[] = {CODE_SPACES(NAME)};
#undef NAME
	uint32_t *block_of = calloc(c->code_count + 1u, sizeof *block_of);
	for (uint32_t b = 0; b < c->block_count && block_of; b++)
		for (uint32_t i = c->blocks[b].first; i < c->blocks[b].first + c->blocks[b].count; i++)
			block_of[i] = b;
	for (uint32_t i = 0; i < c->code_count && block_of; i++) {
		const struct code_instruction *in = &c->code[i];
		const char *kind = in->class == CODE_store ? "store" : in->class == CODE_atomic ? "atomic" : "load";
		if (in->site >= 0)
			gs_buf_printf(text, "%d 0 %u %s %s %u 0 0 sass\n", in->site, block_of[i], kind,
			              in->space == SPACE_texture ? "global" : spaces[in->space], in->bytes);
	}
	text->failed |= !block_of;
	free(block_of);
	add_section(out, "sites", text);
}

static void add_code(const struct imported_kernel *k, struct gs_pack *out, struct gs_buf *text)
{
	gs_buf_printf(text, "any\nkernel %s instructions=%u shared_bytes=0 registers=%u\n", k->name, k->code->instructions, k->registers);
	add_section(out, "target", text);
	gs_buf_printf(text, "any %s\n", k->name);
	code_write(k->code, text);
	add_section(out, "code", text);
}

void import_program(const struct imported_kernel *k, size_t number, struct gs_pack *out)
{
	struct gs_buf text = {0};
	gs_buf_printf(&text, "%zu", number);
	add_section(out, "number", &text);
	gs_pack_puts(out, "version", GPUSIM_CC_VERSION);
	gs_pack_puts(out, "host", "");
	gs_pack_puts(out, "host-options", "");
	gs_pack_puts(out, "traced", "");
	gs_pack_puts(out, "layout", "item");
	gs_buf_printf(&text, "%s %zu\n", k->name, k->arguments);
	add_section(out, "kernels", &text);
	gs_buf_printf(&text, "%s\n", k->name);
	add_section(out, "safety", &text);
	gs_buf_puts(&text, k->name);
	for (size_t i = 0; i < k->arguments; i++)
		gs_buf_puts(&text, " global");
	gs_buf_puts(&text, "\n");
	add_section(out, "arguments", &text);
	add_counters(k, out, &text);
	add_sites(k->code, out, &text);
	add_code(k, out, &text);
	gs_buf_free(&text);
}

/* ---- launches ---- */

static void add_facts(const struct import_job *job, const struct imported_launch *l, bool counted, size_t used, const size_t *numbers,
                      struct gs_pack *out)
{
	const struct imported_kernel *k = &job->kernels[l->kernel];
	const uint64_t *g = l->header.grid, *b = l->header.block;
	struct gs_buf text = {0};
	gs_buf_printf(&text, "seq=%" PRIu64 "\nprogram=%zu\nkernel=%s\n", l->seq, l->kernel + 1, k->name);
	if (strcmp(k->name, k->title))
		gs_buf_printf(&text, "title=%s\n", k->title);
	gs_buf_printf(&text, "global=%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\nlocal=%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", g[0] * b[0], g[1] * b[1],
	              g[2] * b[2], b[0], b[1], b[2]);
	gs_buf_printf(&text, "local_bytes=%" PRIu64 "\nslots=%zu\nplaces=%zu\nmeasured_ns=0\ncuda=1\n", l->header.shared_bytes, l->slots, l->places);
	if (!counted)
		gs_buf_printf(&text, "counters_of=%" PRIu64 "\ntrace_of=%" PRIu64 "\n", job->launches[l->repeats - 1].seq, job->launches[l->repeats - 1].seq);
	if (l->shared)
		gs_buf_puts(&text, "trace_shared=1\n");
	for (size_t i = 0; i < k->arguments; i++)
		gs_buf_printf(&text, "argument=%d,%" PRIu64 "\n", i < used, i < used ? job->memory.list[numbers[i]].begin : 0);
	add_section(out, "facts", &text);
	gs_buf_free(&text);
}

void import_launch(struct import_job *job, const struct imported_launch *l, const struct launch_counts *counts, struct gs_pack *out)
{
	size_t numbers[IMPORT_MOST_PIECES], used = import_pieces(job, l, numbers), arguments = job->kernels[l->kernel].arguments;
	uint64_t bytes[IMPORT_MOST_PIECES] = {0};
	struct argument_memory memory[IMPORT_MOST_PIECES] = {{0}};
	add_facts(job, l, counts != NULL, used, numbers, out);
	if (counts)
		gs_pack_add(out, "counters", counts->words, counts->word_count * sizeof *counts->words);
	if (counts && counts->trace.len)
		gs_pack_add(out, "trace", counts->trace.data, counts->trace.len);
	for (size_t i = 0; i < used; i++) {
		struct touched_piece *p = &job->memory.list[numbers[i]];
		bytes[i] = p->bytes;
		memory[i] = (struct argument_memory){numbers[i] + 1, p->copied, p->largest, 0};
		p->copied = p->largest = 0;
	}
	gs_pack_add(out, "memory", bytes, arguments * sizeof *bytes);
	gs_pack_add(out, "buffers", memory, arguments * sizeof *memory);
}
