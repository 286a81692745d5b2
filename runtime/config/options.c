/* Reads options, all of which are in the table options.def. */
#include "runtime/config/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option_row rows[] = {
#define OPTION(field, name, type, fallback, allowed, help) \
	{name, fallback, allowed, help, OPTION_##type, offsetof(struct gs_options, field)},
#include "runtime/config/options.def"
#undef OPTION
};

static const char prefix[] = "GPUSIM_";

size_t options_rows(const struct option_row **out)
{
	*out = rows;
	return GS_ARRAY_LEN(rows);
}

static bool same_name(const char *name, const char *given)
{
	for (; *name && *given; name++, given++)
		if (*name != (*given == '-' ? '_' : toupper((unsigned char)*given)))
			return false;
	return !*name && !*given;
}

const struct option_row *options_find(const char *name)
{
	for (size_t i = 0; i < GS_ARRAY_LEN(rows); i++)
		if (same_name(rows[i].name, name))
			return &rows[i];
	return NULL;
}

const char *options_nearest(const char *name)
{
	static const char *const names[] = {
#define OPTION(field, name, type, fallback, allowed, help) "GPUSIM_" name,
#include "runtime/config/options.def"
#undef OPTION
		NULL};
	return gs_nearest(name, names);
}

static const char default_words[] = "; default: ";

const char *options_default(const struct option_row *row)
{
	const char *words = strstr(row->help, default_words);
	return row->fallback[0] ? row->fallback : words ? words + sizeof default_words - 1 : "none";
}

int options_help_length(const struct option_row *row)
{
	const char *words = row->fallback[0] ? NULL : strstr(row->help, default_words);
	return (int)(words ? (size_t)(words - row->help) : strlen(row->help));
}

void options_flag_name(const struct option_row *row, char *out, size_t size)
{
	snprintf(out, size, "--%s", row->name);
	for (char *p = out; *p; p++)
		*p = *p == '_' ? '-' : (char)tolower((unsigned char)*p);
}

/* Index of `word` among the '|'-separated words, or -1. */
static int word_index(const char *words, const char *word, size_t length)
{
	for (int i = 0; words; i++) {
		size_t n = strcspn(words, "|");
		if (n == length && !strncmp(words, word, n))
			return i;
		words = words[n] ? words + n + 1 : NULL;
	}
	return -1;
}

static bool parse_list(const char *allowed, const char *value, uint64_t *bits)
{
	*bits = 0;
	for (const char *p = value;;) {
		size_t n = strcspn(p, ",");
		int i = word_index(allowed, p, n);
		if (i < 0)
			return false;
		*bits |= UINT64_C(1) << i;
		if (!p[n])
			return true;
		p += n + 1;
	}
}

static bool parse_number(const char *value, bool suffix, uint64_t *number)
{
	char *end;
	if (!isdigit((unsigned char)*value))
		return false;
	errno = 0;
	unsigned long long n = strtoull(value, &end, 10);
	int shift = 0;
	if (suffix && *end) {
		const char *units = "KMG", *unit = strchr(units, toupper((unsigned char)*end));
		if (!unit)
			return false;
		shift = 10 * (int)(unit - units + 1);
		end++;
	}
	if (*end || errno || n > UINT64_MAX >> shift)
		return false;
	*number = (uint64_t)n << shift;
	return true;
}

static bool parse_value(const struct option_row *row, const char *value, uint64_t *number)
{
	int index;
	switch (row->type) {
	case OPTION_TEXT:
		return true;
	case OPTION_FLAG:
		*number = value[0] == '1';
		return (value[0] == '0' || value[0] == '1') && !value[1];
	case OPTION_CHOICE:
		index = word_index(row->allowed, value, strlen(value));
		*number = (uint64_t)index;
		return index >= 0;
	case OPTION_LIST:
		return parse_list(row->allowed, value, number);
	case OPTION_SIZE:
		return parse_number(value, true, number);
	case OPTION_SECONDS:
		return parse_number(value, false, number) && *number >= 1 && *number <= 86400;
	case OPTION_COUNT:
		return parse_number(value, false, number) && *number >= 1 && *number <= UINT32_MAX;
	case OPTION_NUMBER:
		return parse_number(value, false, number) && *number <= UINT32_MAX;
	}
	return false;
}

int options_set(struct gs_options *o, const struct option_row *row, const char *who, const char *value,
                struct gs_error *err)
{
	struct option_value *v = (struct option_value *)((char *)o + row->offset);
	uint64_t number = 0;
	if (!parse_value(row, value, &number))
		return gs_fail(err, EINVAL, "%s: '%.200s' is not allowed; allowed: %s%s", who, value, row->allowed,
		               row->type == OPTION_LIST ? " (several with commas)" : "");
	char *text = strdup(value);
	if (!text)
		return gs_fail(err, ENOMEM, "%s: out of memory", who);
	free(v->text);
	v->text = text;
	v->number = number;
	v->given = true;
	return 0;
}

void options_defaults(struct gs_options *o)
{
	*o = (struct gs_options){0};
	for (size_t i = 0; i < GS_ARRAY_LEN(rows); i++)
		if (!options_set(o, &rows[i], rows[i].name, rows[i].fallback, NULL))
			((struct option_value *)((char *)o + rows[i].offset))->given = false;
}

void options_from_environment(struct gs_options *o, char *const *environment, void (*complain)(const char *line))
{
	for (; environment && *environment; environment++) {
		const char *equals = strchr(*environment, '=');
		char name[128];
		if (strncmp(*environment, prefix, sizeof prefix - 1) || !equals)
			continue;
		snprintf(name, sizeof name, "%.*s", (int)(equals - *environment), *environment);
		const struct option_row *row = NULL;
		for (size_t i = 0; i < GS_ARRAY_LEN(rows); i++)
			if (!strcmp(rows[i].name, name + sizeof prefix - 1))
				row = &rows[i];
		struct gs_error err;
		if (!row && !strncmp(name, "GPUSIM_TEST_", 12))
			continue;
		if (!row) {
			const char *nearest = options_nearest(name);
			gs_fail(&err, EINVAL, "%s is not one of our variables%s%s%s", name,
			        nearest ? "; did you mean " : " (gpusim --help lists them)", nearest ? nearest : "",
			        nearest ? "?" : "");
			complain(err.text);
		} else if (equals[1] && options_set(o, row, name, equals + 1, &err)) {
			struct gs_error line;
			gs_fail(&line, EINVAL, "%.400s; using '%s'", err.text, row->fallback);
			complain(line.text);
		}
	}
}

void options_free(struct gs_options *o)
{
	for (size_t i = 0; i < GS_ARRAY_LEN(rows); i++)
		free(((struct option_value *)((char *)o + rows[i].offset))->text);
	*o = (struct gs_options){0};
}
