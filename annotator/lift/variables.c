/* The image of a module's .global and .const variables, and the addresses that it holds. */
#include "annotator/lift/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_ALIGN = 16, MOST_ALIGN = 4096 };

static uint64_t place(struct lifted *l, const struct lift_variable *v)
{
	uint64_t align = v->align > LEAST_ALIGN ? v->align < MOST_ALIGN ? v->align : MOST_ALIGN : LEAST_ALIGN;
	uint64_t at = (l->image_bytes + align - 1) / align * align;
	l->image_bytes = at + v->bytes;
	return at;
}

/* Constants come first, as if they had a bank of their own: caches have them in lines. */
static void place_all(struct lifted *l, enum code_space space)
{
	for (uint32_t v = 0; v < l->variable_count; v++)
		if (l->variables[v].space == space)
			l->variables[v].offset = place(l, &l->variables[v]);
}

static const struct lift_variable *find_variable(const struct lifted *l, const char *name)
{
	for (uint32_t v = 0; v < l->variable_count; v++)
		if (!strcmp(l->variables[v].name, name))
			return &l->variables[v];
	return NULL;
}

/* -ENOENT: nobody knows the symbol. The variable then begins with zeros there. */
static int relocate(struct lifted *l, uint64_t offset, const struct ptx_relocation *r)
{
	const struct lift_variable *to = find_variable(l, r->symbol);
	int32_t f = to ? -1 : function_index(l->module, r->symbol);
	if ((!to && f < 0) || r->bytes != 8)
		return -ENOENT;
	struct lift_relocation *larger = realloc(l->relocations, (l->relocation_count + 1u) * sizeof *larger);
	if (!larger)
		return -ENOMEM;
	l->relocations = larger;
	larger[l->relocation_count++] = (struct lift_relocation){
		.offset = offset + r->offset, .addend = (to ? to->offset : (uint64_t)f + 1) + (uint64_t)r->addend, .function = !to};
	return 0;
}

static int fill(struct lifted *l, const struct ptx_variable *v, uint64_t offset)
{
	int result = 0;
	if (v->initial_bytes)
		memcpy(l->image + offset, v->initial, v->initial_bytes < v->bytes ? v->initial_bytes : v->bytes);
	for (uint32_t r = 0; r < v->relocation_count && result != -ENOMEM; r++)
		result = relocate(l, offset, &v->relocations[r]);
	return result == -ENOMEM ? result : 0;
}

int lay_out_variables(struct lifted *l, struct gs_error *err)
{
	const struct ptx_module *m = l->module;
	l->variables = calloc(m->variable_count + 1u, sizeof *l->variables);
	if (!l->variables)
		return gs_fail(err, ENOMEM, "out of memory");
	for (uint32_t v = 0; v < m->variable_count; v++) {
		const struct ptx_variable *own = &m->variables[v];
		if (own->space != SPACE_global && own->space != SPACE_const)
			continue;
		if (own->bytes > UINT32_MAX)
			return gs_fail(err, ENOTSUP, "%s is too large", own->name);
		l->variables[l->variable_count++] = (struct lift_variable){.name = own->name, .bytes = own->bytes, .align = own->align, .space = own->space};
	}
	place_all(l, SPACE_const);
	place_all(l, SPACE_global);
	l->image = calloc(l->image_bytes + 1, 1);
	int result = l->image ? 0 : -ENOMEM;
	for (uint32_t v = 0, made = 0; v < m->variable_count && !result; v++)
		if (m->variables[v].space == SPACE_global || m->variables[v].space == SPACE_const)
			result = fill(l, &m->variables[v], l->variables[made++].offset);
	return result ? gs_fail(err, ENOMEM, "out of memory") : 0;
}
