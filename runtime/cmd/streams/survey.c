/* The first time that a stream is read: its kernel's code, and the memory that the launch touches. */
#include "runtime/cmd/streams/job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LOCAL_WINDOW = 1 << 24 }; /* of a work-item's private memory, from its base: more than any has */
enum { FIRST_OF_16_BYTES = 70 };  /* Volta: control fields are part of each instruction */

enum code_space import_space(const struct sass_header *h, uint64_t address)
{
	if (h->shared_base && address >= h->shared_base && address - h->shared_base < LOCAL_WINDOW)
		return SPACE_shared;
	if (h->local_base && address >= h->local_base && address - h->local_base < LOCAL_WINDOW)
		return SPACE_local;
	return SPACE_global;
}

/* ---- kernels ---- */

/* Programs are named in lines of words. */
static char *word_of(const char *title)
{
	char *word = strdup(title);
	for (char *p = word; p && *p; p++)
		*p = *p <= ' ' || *p == 127 ? '_' : *p;
	return word;
}

/* again: another code of the same name. */
static long find_kernel(struct import_job *job, const struct sass_header *h, bool again)
{
	for (size_t i = job->kernel_count; i-- > 0 && !again;)
		if (!strcmp(job->kernels[i].title, h->name))
			return (long)i;
	if (!gs_reserve(&job->kernels, job->kernel_count, &job->kernel_room, sizeof *job->kernels))
		return -1;
	struct imported_kernel k = {.name = word_of(h->name), .title = strdup(h->name), .observed = observed_new()};
	job->kernels[job->kernel_count++] = k;
	return k.name && k.title && k.observed ? (long)job->kernel_count - 1 : -1;
}

/* ---- memory ---- */

struct survey {
	struct import_job *job;
	struct imported_launch *launch;
	struct imported_kernel *kernel;
	uint64_t low, high; /* of what was found last */
};

/* Notes the first address in each piece or page. What is found in the same place as the last is not looked up. */
static void touch_global(struct survey *s, uint64_t address, uint32_t bytes)
{
	struct imported_launch *l = s->launch;
	if (address >= s->low && address < s->high)
		return;
	long piece = pieces_find(&s->job->memory, address);
	if (piece >= 0) {
		const struct touched_piece *p = &s->job->memory.list[piece];
		s->low = p->begin;
		s->high = p->begin + p->bytes;
	} else {
		pieces_touch(&s->job->memory, address, bytes);
		s->low = s->high = 0;
	}
	for (size_t i = 0; i < l->touch_count; i++)
		if (piece >= 0 ? pieces_find(&s->job->memory, l->first_touch[i]) == piece
		               : l->first_touch[i] >> 21 == address >> 21 && pieces_find(&s->job->memory, l->first_touch[i]) < 0)
			return;
	if (l->touch_count < IMPORT_MOST_PIECES)
		l->first_touch[l->touch_count++] = address;
}

static void touch_memory(struct survey *s, const struct sass_line *line, const struct sass_opcode *o)
{
	for (uint32_t left = line->in.mask; left; left &= left - 1) {
		uint64_t address = line->address[__builtin_ctz(left)];
		enum code_space space = o->space == SPACE_generic ? import_space(&s->launch->header, address) : (enum code_space)o->space;
		if (space == SPACE_local) {
			uint64_t end = address - s->launch->header.local_base + o->bytes;
			if (end < LOCAL_WINDOW && end > s->kernel->local_bytes)
				s->kernel->local_bytes = end;
		} else if (space == SPACE_global || space == SPACE_texture) {
			touch_global(s, address, o->bytes);
		}
	}
}

/* ---- lines ---- */

static int take_line(struct survey *s, struct observed_warp *warp, const struct sass_line *line)
{
	struct observed_instruction in = line->in;
	s->job->lines++;
	if (in.addresses) {
		char name[260];
		memcpy(name, line->in.opcode, line->in.opcode_length);
		name[line->in.opcode_length] = 0;
		struct sass_opcode o = sass_look_up(name);
		in.space = (uint8_t)import_space(&s->launch->header, line->address[__builtin_ctz(line->in.mask)]);
		touch_memory(s, line, &o);
	}
	int64_t result = observed_execute(s->kernel->observed, warp, &in);
	return result < 0 ? (int)result : 0;
}

static int read_stream(struct survey *s, void *stream, struct gs_error *err)
{
	struct observed_warp warp;
	struct sass_part part = {0};
	int item, result = 0;
	observed_begin(&warp);
	while ((item = s->launch->kind->next(stream, &part, err)) > SASS_ITEM_END && !result) {
		if (item != SASS_ITEM_LINE)
			result = observed_end(s->kernel->observed, &warp);
		else
			result = take_line(s, &warp, part.line);
		if (!(s->job->lines & 0xffff))
			import_progress(s->job, part.bytes);
	}
	s->launch->file_bytes = part.bytes;
	if (result == -ENOMEM)
		return gs_fail(err, ENOMEM, "out of memory");
	if (result == -EFBIG)
		return gs_fail(err, EFBIG, "%s has more code than a kernel can have", s->launch->path);
	return item < 0 ? item : result;
}

static int survey_as(struct import_job *job, struct imported_launch *l, bool again, struct gs_error *err)
{
	const struct sass_header *header;
	void *stream = NULL;
	int result = l->kind->open(l->of, &stream, &header, err);
	if (result)
		return result;
	l->header = *header;
	l->touch_count = 0;
	long kernel = find_kernel(job, &l->header, again);
	if (kernel < 0) {
		result = gs_fail(err, ENOMEM, "out of memory");
	} else {
		struct survey s = {.job = job, .launch = l, .kernel = &job->kernels[kernel]};
		l->kernel = (size_t)kernel;
		if (l->header.registers > s.kernel->registers)
			s.kernel->registers = l->header.registers;
		s.kernel->step = l->header.binary_version >= FIRST_OF_16_BYTES ? 16 : 0;
		result = read_stream(&s, stream, err);
	}
	job->read_bytes += l->file_bytes;
	l->kind->close(stream);
	return result;
}

int import_survey(struct import_job *job, struct imported_launch *launch, struct gs_error *err)
{
	int result = survey_as(job, launch, false, err);
	if (result == -EEXIST) /* another program's kernel of the same name */
		result = survey_as(job, launch, true, err);
	return result == -EEXIST ? gs_fail(err, EBADMSG, "%s has different instructions at the same place", launch->path) : result;
}

int import_finish_code(struct import_job *job, struct gs_error *err)
{
	for (size_t i = 0; i < job->kernel_count; i++) {
		struct imported_kernel *k = &job->kernels[i];
		int result = observed_finish(k->observed, k->registers, k->step, &k->code, err);
		if (result)
			return result;
		k->code->local_bytes = (uint32_t)k->local_bytes;
	}
	return 0;
}
