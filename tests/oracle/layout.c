/* Places variables, and reads the initial values of the module's variables from the PTX text itself. */
#include "tests/oracle/internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t align_up(uint64_t at, uint64_t align)
{
	return align > 1 ? (at + align - 1) / align * align : at;
}

static uint64_t place(uint64_t *used, const struct ptx_variable *v)
{
	uint64_t at = align_up(*used, v->align);
	*used = at + v->bytes;
	return at;
}

static uint64_t *space_end(struct oracle *o, uint8_t space)
{
	switch (space) {
	case SPACE_param: return &o->parameter_bytes;
	case SPACE_shared: return &o->shared_bytes;
	case SPACE_local: return &o->local_bytes;
	default: return &o->static_bytes;
	}
}

/* ".const .align 4 .b8 NAME[516] = {1, 2};": reads the elements. The last type before the name gives their width. */
static void read_initialiser(const char *text, const char *end, const char *name, uint8_t *out, uint64_t bytes)
{
	char mark[300];
	snprintf(mark, sizeof mark, " %s[", name);
	const char *at = memmem(text, (size_t)(end - text), mark, strlen(mark));
	const char *open = at ? memchr(at, '{', (size_t)(end - at)) : NULL,
		   *stop = at ? memchr(at, ';', (size_t)(end - at)) : NULL;
	if (!open || !stop || open > stop)
		return;
	const char *type = at;
	while (type > text && *type != '.')
		type--;
	size_t width = strtoul(type + 2, NULL, 10) / 8;
	for (const char *p = open + 1; p < stop && width && bytes >= width; p++) {
		if (!isdigit((unsigned char)*p) && *p != '-')
			continue;
		char *next;
		uint64_t value = (uint64_t)strtoll(p, &next, 0);
		memcpy(out, &value, width < 8 ? width : 8);
		out += width;
		bytes -= width;
		p = next;
	}
}

int oracle_layout(struct oracle *o, const char *ptx, size_t length, struct gs_error *err)
{
	const struct ptx_module *m = o->module;
	const struct ptx_function *f = o->function;
	o->variable_at = calloc(f->variable_count + 1, sizeof *o->variable_at);
	o->module_at = calloc(m->variable_count + 1, sizeof *o->module_at);
	if (!o->variable_at || !o->module_at)
		return gs_fail(err, ENOMEM, "out of memory");
	for (uint32_t v = 0; v < f->variable_count; v++)
		o->variable_at[v] = place(space_end(o, f->variables[v].space), &f->variables[v]);
	for (uint32_t v = 0; v < m->variable_count; v++) {
		struct ptx_variable placed = m->variables[v];
		if (placed.space != SPACE_shared) /* on lines of their own, as in GPGPU-Sim */
			placed.align = BUFFER_ALIGN;
		o->module_at[v] = place(space_end(o, placed.space), &placed);
	}
	o->statics = calloc(1, o->static_bytes + 1);
	if (!o->statics)
		return gs_fail(err, ENOMEM, "out of memory");
	for (uint32_t v = 0; v < m->variable_count; v++)
		if (m->variables[v].space == SPACE_const || m->variables[v].space == SPACE_global)
			read_initialiser(ptx, ptx + length, m->variables[v].name, o->statics + o->module_at[v],
					 m->variables[v].bytes);
	return 0;
}

bool oracle_symbol(const struct oracle *o, const char *name, uint64_t *address, uint8_t *space)
{
	const struct ptx_function *f = o->function;
	for (uint32_t v = 0; v < f->variable_count; v++) {
		if (!strcmp(f->variables[v].name, name)) {
			*address = o->variable_at[v];
			*space = f->variables[v].space;
			return true;
		}
	}
	for (uint32_t v = 0; v < o->module->variable_count; v++) {
		if (!strcmp(o->module->variables[v].name, name)) {
			*space = o->module->variables[v].space;
			*address = o->module_at[v] + (*space == SPACE_shared ? 0 : GLOBAL_BASE);
			return true;
		}
	}
	return false;
}
