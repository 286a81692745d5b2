/*
 * Units: a unit is a source with the options and headers that it was compiled with. A program is a list of units. Lists are
 * written into requests for gpusim-cc, and into the cache beside a program's binary.
 */
#include "runtime/guest/support/units.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void unit_release(struct unit *u)
{
	if (!u || --u->refs)
		return;
	for (size_t i = 0; i < u->header_count; i++) {
		free(u->headers[i].name);
		free(u->headers[i].text);
	}
	free(u->headers);
	free(u->options);
	free(u->source);
	free(u);
}

struct unit *unit_new(const char *source, size_t length, const char *options)
{
	struct unit *u = calloc(1, sizeof *u);
	if (!u)
		return NULL;
	u->refs = 1;
	u->source = malloc(length + 1);
	u->options = strdup(options ? options : "");
	if (!u->source || !u->options) {
		unit_release(u);
		return NULL;
	}
	memcpy(u->source, source, length);
	u->source[length] = 0;
	u->source_length = length;
	return u;
}

int unit_add_header(struct unit *u, const char *name, const char *text)
{
	struct header *grown = realloc(u->headers, (u->header_count + 1) * sizeof *grown);
	if (!grown)
		return -1;
	u->headers = grown;
	struct header h = {strdup(name), strdup(text)};
	u->headers[u->header_count++] = h;
	return h.name && h.text ? 0 : -1;
}

int unit_list_append(struct unit_list *list, struct unit *u)
{
	struct unit **grown = u ? realloc(list->units, (list->count + 1) * sizeof *grown) : NULL;
	if (!grown) {
		unit_release(u);
		return -1;
	}
	list->units = grown;
	list->units[list->count++] = u;
	return 0;
}

int unit_list_join(struct unit_list *list, const struct unit_list *more)
{
	if (!list->cwd && more->cwd && !(list->cwd = strdup(more->cwd)))
		return -1;
	for (size_t i = 0; i < more->count; i++) {
		more->units[i]->refs++;
		if (unit_list_append(list, more->units[i]))
			return -1;
	}
	return 0;
}

void unit_list_free(struct unit_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		unit_release(list->units[i]);
	free(list->units);
	free(list->cwd);
	*list = (struct unit_list){0};
}

/* May be true where nothing is included: the word may be in a comment. Never false where something is. */
bool unit_list_includes(const struct unit_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (memmem(list->units[i]->source, list->units[i]->source_length, "include", 7) ||
		    list->units[i]->header_count)
			return true;
	return false;
}

void unit_list_set_cwd(struct unit_list *list)
{
	if (!list->cwd && unit_list_includes(list))
		list->cwd = getcwd(NULL, 0);
}

int unit_list_encode(const struct unit_list *list, struct gs_pack *pack)
{
	if (list->cwd)
		gs_pack_puts(pack, "cwd", list->cwd);
	for (size_t i = 0; i < list->count; i++) {
		const struct unit *u = list->units[i];
		gs_pack_puts(pack, "options", u->options);
		for (size_t h = 0; h < u->header_count; h++) {
			struct gs_buf text = {0};
			gs_buf_printf(&text, "%s\n%s", u->headers[h].name, u->headers[h].text);
			gs_pack_add(pack, "header", text.data, text.len);
			gs_buf_free(&text);
		}
		gs_pack_add(pack, "source", u->source, u->source_length);
	}
	return pack->failed ? -1 : 0;
}

/* Makes a unit of the sections from `from` up to `end`, which is its source. */
static struct unit *unit_decode(const struct gs_section *from, const struct gs_section *end)
{
	const char *options = "";
	for (const struct gs_section *s = from; s < end; s++)
		if (!strcmp(s->name, "options"))
			options = s->data;
	struct unit *u = unit_new(end->data, end->len, options);
	for (const struct gs_section *s = from; u && s < end; s++) {
		char *newline = strcmp(s->name, "header") ? NULL : strchr(s->data, '\n');
		if (!newline)
			continue;
		*newline = 0;
		if (unit_add_header(u, s->data, newline + 1)) {
			unit_release(u);
			u = NULL;
		}
		*newline = '\n';
	}
	return u;
}

int unit_list_decode(struct unit_list *list, const struct gs_pack *pack)
{
	const struct gs_section *from = pack->sections;
	for (size_t i = 0; i < pack->count; i++) {
		const struct gs_section *s = &pack->sections[i];
		if (strcmp(s->name, "source"))
			continue;
		if (unit_list_append(list, unit_decode(from, s)))
			return -1;
		from = s + 1;
	}
	const struct gs_section *cwd = gs_pack_find(pack, "cwd");
	if (cwd && !(list->cwd = strdup(cwd->data)))
		return -1;
	return list->count ? 0 : -1;
}
