/* Task lists: buffers, pieces, kernels, and the steps of the program. docs/task-lists.md has the format. */
#include "runtime/cmd/task/parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Buffers begin pages apart, so that nobody takes two for one. */
static const uint64_t first_buffer = UINT64_C(0x7f4000000000), page = UINT64_C(1) << 21;

static int parse_buffer(struct task_parser *p)
{
	struct task_list *l = p->list;
	uint64_t bytes = 0;
	int result = parse_word(p, "the name of the buffer");
	for (size_t i = 0; i < l->buffer_count && !result; i++)
		if (!strcmp(l->buffers[i].name, p->word))
			result = parse_fail(p, "there is a buffer '%.60s' already", p->word);
	if (!result && (!strcmp(p->word, "local") || !strcmp(p->word, "private")))
		result = parse_fail(p, "'%s' is no name for a buffer", p->word);
	if (result)
		return result;
	if (l->buffer_count == IMPORT_MOST_PIECES)
		return parse_fail(p, "a list has %d buffers at most", IMPORT_MOST_PIECES);
	char *name = strdup(p->word);
	result = parse_number(p, "the bytes of the buffer", 1, UINT64_C(1) << 38, &bytes);
	if (result || !name || !gs_reserve(&l->buffers, l->buffer_count, &l->buffer_room, sizeof *l->buffers)) {
		free(name);
		return result ? result : gs_fail(p->err, ENOMEM, "out of memory");
	}
	const struct task_buffer *last = l->buffer_count ? &l->buffers[l->buffer_count - 1] : NULL;
	uint64_t begin = last ? last->begin + (last->bytes / page + 2) * page : first_buffer;
	l->buffers[l->buffer_count++] = (struct task_buffer){name, bytes, begin};
	return parse_end(p);
}

/* ---- the program ---- */

static int add_step(struct task_parser *p, struct task_step step)
{
	struct task_list *l = p->list;
	if (l->step_count == TASK_MOST_STEPS)
		return parse_fail(p, "a program has %d steps at most", TASK_MOST_STEPS);
	if (!gs_reserve(&l->steps, l->step_count, &l->step_room, sizeof *l->steps))
		return gs_fail(p->err, ENOMEM, "out of memory");
	l->steps[l->step_count++] = step;
	return 0;
}

static int parse_launch(struct task_parser *p)
{
	struct task_step step = {.kind = STEP_LAUNCH};
	int result = parse_word(p, "the kernel");
	while (!result && step.kernel < p->list->kernel_count && strcmp(p->list->kernels[step.kernel].name, p->word))
		step.kernel++;
	if (!result && step.kernel == p->list->kernel_count)
		result = parse_fail(p, "there is no kernel '%.60s' before it", p->word);
	if (!result)
		result = parse_end(p);
	return result ? result : add_step(p, step);
}

/* copy to|from BUFFER [BYTES], copy within BUFFER [BYTES] */
static int parse_copy(struct task_parser *p)
{
	struct task_step step = {.kind = STEP_COPY};
	int result = parse_word(p, "the direction (to, from or within)");
	if (result)
		return result;
	step.how = !strcmp(p->word, "to") ? TRANSFER_WRITE : !strcmp(p->word, "from") ? TRANSFER_READ : TRANSFER_COPY;
	if (step.how == TRANSFER_COPY && strcmp(p->word, "within"))
		return parse_fail(p, "a copy goes to, from or within a buffer, not '%.40s'", p->word);
	result = parse_word(p, "the buffer");
	while (!result && step.buffer < p->list->buffer_count && strcmp(p->list->buffers[step.buffer].name, p->word))
		step.buffer++;
	if (!result && step.buffer == p->list->buffer_count)
		result = parse_fail(p, "there is no buffer '%.60s'", p->word);
	if (result)
		return result;
	step.bytes = p->list->buffers[step.buffer].bytes;
	if (parse_more(p))
		result = parse_number(p, "the bytes of the copy", 1, step.bytes, &step.bytes);
	if (!result)
		result = parse_end(p);
	return result ? result : add_step(p, step);
}

static int parse_program(struct task_parser *p, bool inner);

static int parse_repeat(struct task_parser *p)
{
	uint64_t times;
	size_t first = p->list->step_count;
	int result = parse_number(p, "how often", 1, TASK_MOST_STEPS, &times);
	if (!result && ++p->depth > TASK_MOST_DEPTH)
		result = parse_fail(p, "blocks are in blocks more than %d deep", TASK_MOST_DEPTH);
	if (!result)
		result = parse_open(p);
	if (!result)
		result = parse_program(p, true);
	size_t length = p->list->step_count - first;
	for (uint64_t i = 1; i < times && !result; i++)
		for (size_t s = 0; s < length && !result; s++)
			result = add_step(p, p->list->steps[first + s]);
	p->depth--;
	return result;
}

static int parse_step(struct task_parser *p, bool inner)
{
	static const char *const known[] = {"buffer", "table", "piece", "kernel", "launch", "copy", "host", "repeat", NULL};
	struct task_step host = {.kind = STEP_HOST};
	int result = parse_word(p, "a statement");
	if (result)
		return result;
	if (!strcmp(p->word, "launch"))
		return parse_launch(p);
	if (!strcmp(p->word, "copy"))
		return parse_copy(p);
	if (!strcmp(p->word, "repeat"))
		return parse_repeat(p);
	if (!strcmp(p->word, "host")) {
		result = parse_real(p, "the seconds", 0, 1e9, &host.seconds);
		if (!result)
			result = parse_end(p);
		return result ? result : add_step(p, host);
	}
	if (inner && (!strcmp(p->word, "kernel") || !strcmp(p->word, "buffer") || !strcmp(p->word, "piece") || !strcmp(p->word, "table")))
		return parse_fail(p, "a %s is not within repeat", p->word);
	if (!strcmp(p->word, "buffer"))
		return parse_buffer(p);
	if (!strcmp(p->word, "table"))
		return parse_table(p);
	if (!strcmp(p->word, "piece"))
		return parse_piece(p);
	return !strcmp(p->word, "kernel") ? parse_kernel(p) : parse_unknown(p, "statement", known);
}

static int parse_program(struct task_parser *p, bool inner)
{
	int result = 0;
	while (!result && parse_skip(p)) {
		if (*p->at == '}') {
			p->at++;
			return inner ? 0 : parse_fail(p, "a } without a {");
		}
		if (*p->at == '{')
			return parse_fail(p, "a { without a kernel or repeat before it");
		result = parse_step(p, inner);
	}
	return result ? result : inner ? parse_fail(p, "a } is missing") : 0;
}

/* Without a program, every kernel is launched once. */
static int launch_all(struct task_parser *p)
{
	bool launches = false;
	for (size_t i = 0; i < p->list->step_count; i++)
		launches |= p->list->steps[i].kind == STEP_LAUNCH;
	int result = 0;
	for (size_t k = 0; k < p->list->kernel_count && !launches && !result; k++)
		result = add_step(p, (struct task_step){.kind = STEP_LAUNCH, .kernel = k});
	return result;
}

int task_parse(const char *path, const char *text, size_t length, struct task_list *out, struct gs_error *err)
{
	struct task_parser p = {.list = out, .at = text, .end = text + length, .line = 1, .err = err};
	*out = (struct task_list){.path = path};
	int result = memchr(text, 0, length) ? gs_fail(err, EINVAL, "%s is no text", path) : parse_program(&p, false);
	if (!result && !out->kernel_count)
		result = gs_fail(err, EINVAL, "%s has no kernel", path);
	return result ? result : launch_all(&p);
}

void task_free(struct task_list *l)
{
	for (size_t i = 0; i < l->buffer_count; i++)
		free(l->buffers[i].name);
	for (size_t i = 0; i < l->kernel_count; i++)
		free(l->kernels[i].name);
	for (size_t i = 0; i < l->piece_count; i++)
		free(l->pieces[i].name);
	for (size_t i = 0; i < l->table_count; i++) {
		free(l->tables[i].name);
		free(l->tables[i].rows);
		free(l->tables[i].values);
	}
	for (size_t i = 0; i < l->name_count; i++)
		free(l->names[i]);
	for (size_t i = 0; i < l->expression_count; i++)
		free(l->expressions[i]);
	free(l->buffers);
	free(l->kernels);
	free(l->pieces);
	free(l->tables);
	free(l->names);
	free(l->expressions);
	free(l->accesses);
	free(l->nodes);
	free(l->ranges);
	free(l->steps);
	*l = (struct task_list){0};
}
