/* Splitting and sorting of build options; see options.h. */
#include "runtime/cc/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Reads one word at *at, without its quotes, and appends it to `word`. */
static void read_word(const char **at, struct gs_buf *word)
{
	char quote = 0;
	const char *p = *at;
	for (; *p && (quote || !isspace((unsigned char)*p)); p++) {
		if (!quote && (*p == '"' || *p == '\''))
			quote = *p;
		else if (quote == *p)
			quote = 0;
		else if (*p == '\\' && p[1] && quote != '\'' && (!quote || p[1] == '"' || p[1] == '\\'))
			gs_buf_add(word, ++p, 1);
		else
			gs_buf_add(word, p, 1);
	}
	*at = p;
}

/* The same as POCL 3.1 does it. There, -DC='x' defines C as a character. */
static void read_pocl_word(const char **at, struct gs_buf *word)
{
	bool quoted = false;
	const char *p = *at;
	for (; *p && (quoted || !isspace((unsigned char)*p)); p++) {
		quoted ^= *p == '"';
		if (*p != '"')
			gs_buf_add(word, p, 1);
		else if (word->len)
			gs_buf_add(word, " ", 1);
	}
	*at = p;
}

void build_options_split(const char *text, enum option_quotes quotes, struct words *out)
{
	for (const char *p = text; ; ) {
		struct gs_buf word = {0};
		while (isspace((unsigned char)*p))
			p++;
		if (!*p)
			break;
		if (quotes == QUOTES_OF_POCL)
			read_pocl_word(&p, &word);
		else
			read_word(&p, &word);
		if (word.failed)
			out->failed = true;
		words_add(out, word.data ? word.data : "");
		gs_buf_free(&word);
	}
}

/* Whether clang has an option of the same name, and it changes code or macros. */
static bool changes_code(const char *word)
{
	static const char *const names[] = {
		"-cl-fast-relaxed-math", "-cl-finite-math-only", "-cl-unsafe-math-optimizations", "-cl-mad-enable",
		"-cl-no-signed-zeros", "-cl-denorms-are-zero", "-cl-opt-disable", "-cl-single-precision-constant",
		"-cl-fp32-correctly-rounded-divide-sqrt", "-cl-strict-aliasing", "-cl-uniform-work-group-size",
	};
	for (size_t i = 0; i < GS_ARRAY_LEN(names); i++)
		if (!strcmp(word, names[i]))
			return true;
	return false;
}

/* Takes word i and, where its value is a separate word, word i + 1. Returns the index of the last word that it used. */
static size_t sort_word(const struct words *all, size_t i, struct build_options *out)
{
	const char *word = all->items[i];
	if (word[0] == '-' && word[1] && strchr("DUI", word[1])) {
		if (word[2])
			words_add(&out->macros, word);
		else if (i + 1 < all->count)
			words_printf(&out->macros, "%s%s", word, all->items[++i]);
		return i;
	}
	/* The twin needs neither option. With -g, POCL's compiler also prints complaints of its own. */
	if (!strcmp(word, "-Werror") || !strcmp(word, "-g"))
		return i;
	if (!strncmp(word, "-cl-std=", 8)) {
		free(out->standard);
		out->standard = strdup(word + 8);
	} else if (changes_code(word)) {
		words_add(&out->code, word);
	}
	words_add(&out->host, word);
	return i;
}

int build_options_read(const char *text, enum option_quotes quotes, struct build_options *out, struct gs_error *err)
{
	struct words all = {0};
	build_options_split(text, quotes, &all);
	for (size_t i = 0; i < all.count; i++)
		i = sort_word(&all, i, out);
	bool failed = all.failed || out->macros.failed || out->code.failed || out->host.failed;
	words_free(&all);
	return failed ? gs_fail(err, ENOMEM, "out of memory") : 0;
}

void build_options_free(struct build_options *o)
{
	words_free(&o->macros);
	words_free(&o->code);
	words_free(&o->host);
	free(o->standard);
	*o = (struct build_options){0};
}

void build_options_join(const struct words *w, struct gs_buf *out)
{
	for (size_t i = 0; i < w->count; i++) {
		const char *word = w->items[i];
		bool plain = *word && !strpbrk(word, " \t\n\r\"'\\");
		gs_buf_puts(out, i ? " " : "");
		gs_buf_puts(out, plain ? "" : "\"");
		for (const char *p = word; *p; p++)
			gs_buf_printf(out, *p == '"' || *p == '\\' ? "\\%c" : "%c", *p);
		gs_buf_puts(out, plain ? "" : "\"");
	}
	gs_buf_add(out, "", 0);
}
