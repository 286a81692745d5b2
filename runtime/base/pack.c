/* Named sections with a closing hash. base.h describes the format. */
#include "runtime/base/base.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char pack_magic[] = "gpusim-pack 1\n";

void gs_pack_add(struct gs_pack *p, const char *name, const void *data, size_t len)
{
	/* Grows by doubling whenever the count is a power of two. */
	if (!(p->count & (p->count - 1))) {
		size_t cap = p->count ? p->count * 2 : 1;
		struct gs_section *grown = realloc(p->sections, cap * sizeof *grown);
		if (!grown) {
			p->failed = true;
			return;
		}
		p->sections = grown;
	}
	struct gs_section s = {.name = strdup(name), .data = malloc(len + 1), .len = len};
	if (!s.name || !s.data) {
		free(s.name);
		free(s.data);
		p->failed = true;
		return;
	}
	if (len)
		memcpy(s.data, data, len);
	s.data[len] = 0;
	p->sections[p->count++] = s;
}

void gs_pack_puts(struct gs_pack *p, const char *name, const char *text)
{
	gs_pack_add(p, name, text, strlen(text));
}

const struct gs_section *gs_pack_find(const struct gs_pack *p, const char *name)
{
	for (size_t i = 0; i < p->count; i++)
		if (!strcmp(p->sections[i].name, name))
			return &p->sections[i];
	return NULL;
}

const char *gs_pack_text(const struct gs_pack *p, const char *name)
{
	const struct gs_section *s = gs_pack_find(p, name);
	return s ? s->data : "";
}

void gs_pack_drop_first(struct gs_pack *p)
{
	if (!p->count)
		return;
	free(p->sections[0].name);
	free(p->sections[0].data);
	memmove(p->sections, p->sections + 1, --p->count * sizeof *p->sections);
}

void gs_pack_free(struct gs_pack *p)
{
	for (size_t i = 0; i < p->count; i++) {
		free(p->sections[i].name);
		free(p->sections[i].data);
	}
	free(p->sections);
	*p = (struct gs_pack){0};
}

int gs_pack_encode(const struct gs_pack *p, struct gs_buf *out, struct gs_error *err)
{
	char hex[33];
	size_t start = out->len;
	gs_buf_puts(out, pack_magic);
	for (size_t i = 0; i < p->count; i++) {
		const struct gs_section *s = &p->sections[i];
		gs_buf_printf(out, "%s %zu\n", s->name, s->len);
		gs_buf_add(out, s->data, s->len);
		gs_buf_puts(out, "\n");
	}
	if (p->failed || out->failed)
		return gs_fail(err, ENOMEM, "out of memory while packing");
	gs_hash_hex(out->data + start, out->len - start, hex);
	gs_buf_printf(out, "end %s\n", hex);
	return out->failed ? gs_fail(err, ENOMEM, "out of memory while packing") : 0;
}

static int decode(struct gs_pack *p, const void *data, size_t len, struct gs_error *err)
{
	enum { MAX_NAME = 256, TRAILER = 4 + 32 + 1 };
	const char *at = data, *end = at + len;
	char hex[33], name[MAX_NAME + 1];
	if (len < sizeof pack_magic - 1 + TRAILER || memcmp(at, pack_magic, sizeof pack_magic - 1))
		return gs_fail(err, EBADMSG, "not a gpusim pack");
	end -= TRAILER;
	gs_hash_hex(data, len - TRAILER, hex);
	if (memcmp(end, "end ", 4) || memcmp(end + 4, hex, 32) || end[36] != '\n')
		return gs_fail(err, EBADMSG, "a gpusim pack is damaged or truncated");
	for (at += sizeof pack_magic - 1; at < end;) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));
		const char *space = line_end ? memchr(at, ' ', (size_t)(line_end - at)) : NULL;
		if (!space || space == at || space - at > MAX_NAME)
			return gs_fail(err, EBADMSG, "a gpusim pack has a malformed section");
		memcpy(name, at, (size_t)(space - at));
		name[space - at] = 0;
		char *number_end;
		unsigned long long size = strtoull(space + 1, &number_end, 10);
		if (number_end != line_end || size >= (unsigned long long)(end - line_end - 1))
			return gs_fail(err, EBADMSG, "a gpusim pack has a malformed section");
		gs_pack_add(p, name, line_end + 1, (size_t)size);
		at = line_end + 1 + size + 1;
	}
	return p->failed ? gs_fail(err, ENOMEM, "out of memory while unpacking") : 0;
}

int gs_pack_decode(struct gs_pack *p, const void *data, size_t len, struct gs_error *err)
{
	int result = decode(p, data, len, err);
	if (result)
		gs_pack_free(p);
	return result;
}
