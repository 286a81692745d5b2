/* The source as its author sees it: lines, functions, loops; see explain.h. */
#include "runtime/cmd/explain/explain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int explain_read_source(struct explain_source *s, const char *file, struct gs_error *err)
{
	s->file = file;
	int result = gs_read_file(file, &s->text, err);
	if (result)
		return result;
	for (size_t i = 0; i < s->text.len; i++)
		s->line_count += s->text.data[i] == '\n' || i + 1 == s->text.len;
	return 0;
}

/* Replaces line ends by NULs. The original text is not needed any more. */
int explain_split_lines(struct explain_source *s, struct gs_error *err)
{
	char *at = s->text.data;
	s->lines = calloc(s->line_count + 1u, sizeof *s->lines);
	if (!s->lines)
		return gs_fail(err, ENOMEM, "out of memory");
	s->lines[0] = "";
	for (uint32_t i = 1; i <= s->line_count; i++) {
		char *end = memchr(at, '\n', (size_t)(s->text.data + s->text.len - at));
		s->lines[i] = at;
		if (!end)
			break;
		*end = 0;
		if (end > at && end[-1] == '\r')
			end[-1] = 0;
		at = end + 1;
	}
	return 0;
}

struct source_block {
	uint32_t first, last;
	int32_t loop;
	char function[128], kind[32];
	bool own; /* in the user's file */
};

/* Reads the tables "blocks" and "block-details". Both have a line for every block, in the same order. */
static struct source_block *read_blocks(const struct gs_pack *answer, size_t *count)
{
	const char *at = gs_pack_text(answer, "blocks"), *details = gs_pack_text(answer, "block-details");
	size_t room = 1;
	for (const char *p = at; *p; p++)
		room += *p == '\n';
	struct source_block *blocks = calloc(room, sizeof *blocks);
	for (*count = 0; blocks && *at && *count < room; (*count)++) {
		struct source_block *b = &blocks[*count];
		int skip = 0;
		if (sscanf(at, "%*u %*u %127s %31s %u %*u %n", b->function, b->kind, &b->first, &skip) < 3 ||
		    sscanf(details, "%*u %u %*u %d", &b->last, &b->loop) != 2)
			break;
		b->own = skip && !strncmp(at + skip, "program.cl\n", 11);
		at = strchrnul(at, '\n');
		at += *at == '\n';
		details = strchrnul(details, '\n');
		details += *details == '\n';
	}
	return blocks;
}

static void add_range(struct explain_range *list, size_t *count, const struct source_block *b, uint32_t first,
                      uint32_t depth)
{
	if (b->own && b->first && b->last >= first)
		list[(*count)++] = (struct explain_range){
		    .function = strdup(b->function), .first = first, .last = b->last, .depth = depth};
}

static uint32_t loop_depth(const char *loops, int32_t loop)
{
	uint32_t depth = 0;
	while (loop >= 0 && depth < 64) {
		const char *at = loops;
		int32_t id, outer = -1;
		bool found = false;
		for (; *at && !found; at = strchrnul(at, '\n'), at += *at == '\n')
			found = sscanf(at, "%d %*u %*u %*u %d", &id, &outer) == 2 && id == loop;
		depth++;
		loop = found ? outer : -1;
	}
	return depth;
}

int explain_read_ranges(struct explain_source *s, const struct gs_pack *answer, struct gs_error *err)
{
	const char *loops = gs_pack_text(answer, "loops");
	size_t count = 0, loop_lines = 0;
	struct source_block *blocks = read_blocks(answer, &count);
	for (const char *p = loops; *p; p++)
		loop_lines += *p == '\n';
	s->functions = calloc(count + 1, sizeof *s->functions);
	s->loops = calloc(loop_lines + 1, sizeof *s->loops);
	int result = blocks && s->functions && s->loops ? explain_split_lines(s, err) : gs_fail(err, ENOMEM, "out of memory");
	for (size_t i = 0; i < count && !result; i++)
		if (!strcmp(blocks[i].kind, "entry"))
			add_range(s->functions, &s->function_count, &blocks[i], blocks[i].first, 0);
	for (const char *at = loops; *at && !result; at = strchrnul(at, '\n'), at += *at == '\n') {
		uint32_t body;
		int32_t id;
		if (sscanf(at, "%d %*u %*u %u", &id, &body) == 2 && body < count)
			add_range(s->loops, &s->loop_count, &blocks[body], blocks[body].first, loop_depth(loops, id));
	}
	free(blocks);
	return result;
}

void explain_source_free(struct explain_source *s)
{
	for (size_t i = 0; i < s->function_count; i++)
		free(s->functions[i].function);
	for (size_t i = 0; i < s->loop_count; i++)
		free(s->loops[i].function);
	free(s->functions);
	free(s->loops);
	free(s->lines);
	gs_buf_free(&s->text);
}

const struct explain_range *explain_function_of(const struct explain_source *s, uint32_t line)
{
	for (size_t i = 0; i < s->function_count; i++)
		if (s->functions[i].first <= line && line <= s->functions[i].last)
			return &s->functions[i];
	return NULL;
}

const struct explain_range *explain_loop_of(const struct explain_source *s, uint32_t line)
{
	const struct explain_range *inner = NULL;
	for (size_t i = 0; i < s->loop_count; i++) {
		const struct explain_range *r = &s->loops[i];
		if (r->first <= line && line <= r->last && (!inner || r->depth > inner->depth))
			inner = r;
	}
	return inner;
}
