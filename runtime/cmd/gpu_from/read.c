/* Configuration files: options and their values, in words between blanks. A value in quotes may go over several lines. */
#include "runtime/cmd/gpu_from/gpu_from.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 24 };

struct config_reader {
	struct from *f;
	const char *file, *at;
	unsigned line;
};

#define OPTION(id, name, older, fallback) {name, older},
static const struct {
	const char *name, *older;
} options[] = {
#include "runtime/cmd/gpu_from/options.def"
};
#undef OPTION

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
}

static void skip_blanks(struct config_reader *r)
{
	for (;; r->at++) {
		if (*r->at == '#')
			r->at += strcspn(r->at, "\n");
		if (!is_blank(*r->at))
			return;
		r->line += *r->at == '\n';
	}
}

static int fail(struct config_reader *r, unsigned line, const char *what, const char *word)
{
	r->f->failed = true;
	return gs_fail(&r->f->error, EINVAL, "%s:%u: %s '%.60s'", r->file, line, what, word);
}

/* The next word, without quotes and the blanks in them; NULL at the end. *unclosed: a quote has no end. */
static char *next_word(struct config_reader *r, bool *unclosed)
{
	struct gs_buf word = {0};
	bool quoted = false;
	*unclosed = false;
	skip_blanks(r);
	if (!*r->at)
		return NULL;
	for (; *r->at && (quoted || (!is_blank(*r->at) && *r->at != '#')); r->at++) {
		r->line += *r->at == '\n';
		if (*r->at == '"')
			quoted = !quoted;
		else if (!is_blank(*r->at))
			gs_buf_add(&word, r->at, 1);
	}
	*unclosed = quoted;
	gs_buf_puts(&word, "");
	if (word.failed || !word.data) {
		gs_buf_free(&word);
		return strdup("");
	}
	return word.data;
}

static bool is_name(const char *word)
{
	return word[0] == '-' && ((word[1] >= 'a' && word[1] <= 'z') || (word[1] >= 'A' && word[1] <= 'Z'));
}

/* The last of several entries counts, as in the simulator. */
static void find_option(struct from *f, size_t entry)
{
	const char *name = f->entries[entry].name;
	for (size_t o = 0; o < CONFIG_COUNT; o++) {
		if (strcmp(name, options[o].name) && (!*options[o].older || strcmp(name, options[o].older)))
			continue;
		if (f->at[o])
			f->entries[f->at[o] - 1].next = entry + 1;
		f->at[o] = entry + 1;
	}
}

/* Takes over name and value. */
static int add_entry(struct config_reader *r, char *name, char *value, unsigned line)
{
	struct from *f = r->f;
	if (!name || !value || !gs_reserve(&f->entries, f->count, &f->room, sizeof *f->entries)) {
		free(name);
		free(value);
		f->failed = true;
		return gs_fail(&f->error, ENOMEM, "out of memory");
	}
	f->entries[f->count++] = (struct from_entry){.name = name, .value = value, .file = r->file, .line = line};
	find_option(f, f->count - 1);
	return 0;
}

/* Published files have lines that a merge left: "<<<<<<< HEAD". */
static bool is_marker(const char *word)
{
	return !strncmp(word, "<<<<<<<", 7) || !strncmp(word, "=======", 7) || !strncmp(word, ">>>>>>>", 7);
}

static int skip_marker(struct config_reader *r, char *word)
{
	size_t length = strcspn(r->at, "\r\n");
	char *rest = strndup(r->at, length);
	r->at += length;
	return add_entry(r, word, rest, r->line);
}

static int read_option(struct config_reader *r, bool *more)
{
	bool unclosed;
	char *name = next_word(r, &unclosed);
	unsigned line = r->line;
	*more = name != NULL;
	if (!name)
		return 0;
	if (is_marker(name))
		return skip_marker(r, name);
	int result = is_name(name) && !unclosed ? 0 : fail(r, line, "expected -option value, found", name);
	char *value = result ? NULL : next_word(r, &unclosed);
	if (!result && unclosed)
		result = fail(r, line, "there is no closing quote after", name);
	if (!result && (!value || is_name(value)))
		result = fail(r, line, "there is no value after", name);
	if (!result)
		return add_entry(r, name, value, line);
	free(name);
	free(value);
	return result;
}

int from_read(struct from *f, const char *path, const char *file)
{
	struct gs_buf text = {0};
	struct config_reader r = {f, file, "", 1};
	bool more = true;
	int result = gs_read_regular_file(path, &text, &f->error);
	if (!result && (text.len > MOST_BYTES || (text.data && strlen(text.data) != text.len)))
		result = gs_fail(&f->error, EINVAL, "%s: not a configuration: %s", file, text.len > MOST_BYTES ? "too large" : "it has a zero byte");
	if (!result && text.data)
		r.at = text.data;
	size_t before = f->count;
	while (!result && more)
		result = read_option(&r, &more);
	if (!result && f->count == before)
		result = gs_fail(&f->error, EINVAL, "%s: it has no options", file);
	gs_buf_free(&text);
	return result;
}

void from_free(struct from *f)
{
	for (size_t i = 0; i < f->count; i++) {
		free(f->entries[i].name);
		free(f->entries[i].value);
	}
	free(f->entries);
	free(f->values);
	free(f->origins);
	*f = (struct from){0};
}
