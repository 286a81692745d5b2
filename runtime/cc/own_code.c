/* See own_code.h. */
#include "runtime/cc/own_code.h"

#include "analysis/builtins/target_name.h"

#include <stdlib.h>

/* Objects that are linked make one text of PTX, whose lines are others. */
static void forget_lines(struct own_code *o)
{
	for (size_t i = 0; i < o->count; i++)
		for (size_t k = 0; k < o->parts[i].cubin.count; k++) {
			free(o->parts[i].cubin.codes[k].lines);
			o->parts[i].cubin.codes[k].lines = NULL;
		}
}

void own_code_read(const struct fatbin *f, const char *target, struct own_code *out)
{
	uint32_t containers = f->count ? f->images[f->count - 1].container + 1 : 0;
	struct gs_error ignored;
	*out = (struct own_code){.parts = target_is_machine(target) ? calloc(containers + 1u, sizeof *out->parts) : NULL};
	for (uint32_t i = 0; i < containers && out->parts; i++) {
		struct fatbin container = fatbin_container(f, i);
		struct own_part *p = &out->parts[out->count];
		if (!fatbin_choose_code(&container, fatbin_arch(target_assembler(target)), &p->bytes, &ignored) &&
		    !cubin_read(p->bytes.data, p->bytes.len, &p->cubin, &ignored))
			out->count++;
		else
			gs_buf_free(&p->bytes);
	}
	if (out->count > 1)
		forget_lines(out);
}

void own_code_free(struct own_code *o)
{
	for (size_t i = 0; i < o->count; i++) {
		cubin_free(&o->parts[i].cubin);
		gs_buf_free(&o->parts[i].bytes);
	}
	free(o->parts);
	*o = (struct own_code){0};
}

const struct cubin_code *own_code_find(const struct own_code *o, const char *kernel, const struct cubin **cubin)
{
	for (size_t i = 0; i < o->count; i++) {
		const struct cubin_code *found = cubin_find(&o->parts[i].cubin, kernel);
		*cubin = &o->parts[i].cubin;
		if (found)
			return found;
	}
	return NULL;
}
