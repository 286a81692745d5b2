/* What reports say about accuracy; see accuracy.h. */
#include "runtime/config/accuracy.h"

#include <string.h>

static const struct row {
	const char *targets, *memory, *text;
} rows[] = {
#define ACCURACY(targets, memory, text) {targets, memory, text},
#include "runtime/config/accuracy_measured.def"
#include "runtime/config/accuracy.def"
#undef ACCURACY
};

static bool in_list(const char *list, const char *word)
{
	size_t length = strlen(word);
	if (!strcmp(list, "*"))
		return true;
	for (const char *p = list; length && (p = strstr(p, word)); p += length)
		if ((p == list || p[-1] == ',') && (!p[length] || p[length] == ','))
			return true;
	return false;
}

static bool is_about(const struct row *r, const struct accuracy_target *t)
{
	return in_list(r->targets, t->name) && in_list(r->memory, t->memory);
}

/* Makes "gtx480, v100: TEXT", or TEXT alone where it applies to any GPU. */
static void make_sentence(const struct row *r, const struct accuracy_target *targets, size_t count, struct gs_buf *out)
{
	bool any = false, all = !strcmp(r->targets, "*");
	for (size_t i = 0; i < count; i++)
		if (is_about(r, &targets[i])) {
			if (!all)
				gs_buf_printf(out, "%s%s", any ? ", " : "", targets[i].name);
			any = true;
		}
	if (any)
		gs_buf_printf(out, "%s%s", all ? "" : ": ", r->text);
}

static bool is_measured(const struct accuracy_target *t)
{
	for (size_t i = 0; i < GS_ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].targets, "*") && is_about(&rows[i], t))
			return true;
	return false;
}

bool accuracy_is_measured(const char *gpu)
{
	return is_measured(&(struct accuracy_target){gpu, "hierarchy"});
}

void accuracy_tell(const struct accuracy_target *targets, size_t count, void (*say)(const char *text, void *data), void *data)
{
	struct gs_buf text = {0};
	for (size_t i = 0; i < GS_ARRAY_LEN(rows); i++) {
		text.len = 0;
		make_sentence(&rows[i], targets, count, &text);
		if (text.len && !text.failed)
			say(text.data, data);
	}
	text.len = 0;
	for (size_t i = 0; i < count; i++)
		if (!is_measured(&targets[i]))
			gs_buf_printf(&text, "%s%s", text.len ? ", " : "", targets[i].name);
	if (text.len) {
		gs_buf_puts(&text, ": not validated: no estimate for such a GPU has been compared with what it takes, with this model of memory");
		if (!text.failed)
			say(text.data, data);
	}
	gs_buf_free(&text);
}
