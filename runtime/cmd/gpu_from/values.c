/* What options say, and the keys that rules make of it. */
#include "runtime/cmd/gpu_from/gpu_from.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPTION(id, name, older, fallback) {name, fallback},
static const struct {
	const char *name, *fallback;
} options[] = {
#include "runtime/cmd/gpu_from/options.def"
};
#undef OPTION

static struct from_entry *entry_of(const struct from *f, enum from_option o)
{
	return f->at[o] ? &f->entries[f->at[o] - 1] : NULL;
}

bool from_has(const struct from *f, enum from_option o)
{
	return f->at[o] != 0;
}

const char *from_text(struct from *f, enum from_option o)
{
	struct from_entry *e = entry_of(f, o);
	if (!e)
		return options[o].fallback;
	e->taken = true;
	return e->value;
}

void from_bad(struct from *f, enum from_option o, const char *why)
{
	const struct from_entry *e = entry_of(f, o);
	if (f->failed)
		return;
	f->failed = true;
	if (e)
		gs_fail(&f->error, EINVAL, "%s:%u: %s %.80s: %s", e->file, e->line, e->name, e->value, why);
	else
		gs_fail(&f->error, EINVAL, "%s: %s", options[o].name, why);
}

/* Digits with a point, whatever the locale. Returns the rest, or NULL if there is no number. */
static const char *read_number(const char *s, double *value)
{
	double scale = 1;
	size_t whole = strspn(s, "0123456789"), part = 0;
	*value = 0;
	if (!whole || whole > 15)
		return NULL;
	for (size_t i = 0; i < whole; i++)
		*value = *value * 10 + (*s++ - '0');
	if (*s == '.' && (part = strspn(s + 1, "0123456789")) <= 15)
		for (s++; part--; scale *= 10)
			*value = *value * 10 + (*s++ - '0');
	*value /= scale;
	return s;
}

size_t from_list(struct from *f, enum from_option o, double *out, size_t most, size_t least)
{
	const char *s = from_text(f, o);
	size_t count = 0;
	memset(out, 0, most * sizeof *out);
	while (count < most && (s = read_number(s, &out[count]))) {
		count++;
		if (*s != ',' && *s != ':')
			break;
		s++;
	}
	if (!s || (*s && count < most))
		from_bad(f, o, "expected numbers with commas or colons between them");
	else if (count < least)
		from_bad(f, o, "has too few numbers");
	return count;
}

double from_number(struct from *f, enum from_option o)
{
	double value;
	const char *rest = read_number(from_text(f, o), &value);
	if (!rest || *rest)
		from_bad(f, o, "expected a number");
	return rest ? value : 0;
}

/* ---- caches ---- */

/* The n-th field, from 0, of text up to `end`. Fields have colons between them. */
static const char *field(const char *text, const char *end, size_t n)
{
	for (; n && text < end; text++)
		n -= *text == ':';
	return text < end && *text != ':' ? text : NULL;
}

static bool number_in(const char *text, const char *end, size_t n, double *value)
{
	const char *at = field(text, end, n), *rest = at ? read_number(at, value) : NULL;
	return rest && rest <= end && (rest == end || *rest == ':') && *value < 1 << 24;
}

static char letter_in(const char *text, const char *end, size_t n)
{
	const char *at = field(text, end, n);
	return at ? *at : 0;
}

struct from_cache from_cache(struct from *f, enum from_option o)
{
	struct from_cache c = {.index = 'L'};
	const char *text = from_text(f, o), *part[5] = {0}, *end[5] = {0};
	size_t parts = 0;
	if (!strcmp(text, "none")) {
		c.none = true;
		return c;
	}
	for (const char *at = text; parts < GS_ARRAY_LEN(part); at = end[parts++] + 1) {
		part[parts] = at;
		end[parts] = at + strcspn(at, ",");
		if (!*end[parts]) {
			parts++;
			break;
		}
	}
	bool typed = parts && (*part[0] == 'S' || *part[0] == 'N');
	c.sectored = typed && *part[0] == 'S';
	bool good = parts >= 4 && number_in(part[0], end[0], typed, &c.sets) && number_in(part[0], end[0], typed + 1u, &c.line) &&
	            number_in(part[0], end[0], typed + 2u, &c.ways) && number_in(part[2], end[2], 1, &c.mshrs) &&
	            number_in(part[2], end[2], 2, &c.merges) && number_in(part[3], end[3], 0, &c.queue) && c.sets >= 1 && c.line >= 1 && c.ways >= 1;
	if (good) {
		c.write = letter_in(part[1], end[1], 1);
		c.allocate = letter_in(part[1], end[1], 2);
		c.write_allocate = letter_in(part[1], end[1], 3);
		c.index = letter_in(part[1], end[1], 4) ? letter_in(part[1], end[1], 4) : 'L';
	}
	if (good && parts == 5)
		good = number_in(part[4], end[4], 0, &c.port);
	if (!good) {
		from_bad(f, o, "not a cache: S:sets:line:ways,policies,mshr:entries:merges,queue:fifo,port");
		c = (struct from_cache){.none = true, .index = 'L'};
	}
	return c;
}

/* ---- keys ---- */

static struct from_value *value_of(const struct from *f, const char *key)
{
	for (size_t i = 0; i < gpu_key_count(); i++)
		if (!strcmp(gpu_key(i)->name, key))
			return &f->values[i];
	return NULL;
}

double from_value(const struct from *f, const char *key)
{
	const struct from_value *v = value_of(f, key);
	char text[128];
	double number = 0;
	if (!v)
		return 0;
	snprintf(text, sizeof text, "%s", v->text);
	if (v->kind == FROM_BASE)
		gpu_format_value(&f->base, (size_t)(v - f->values), text, sizeof text);
	read_number(text, &number);
	return number;
}

/* At most three places, and none where there are none to show. */
static void format_number(double value, char *out, size_t size)
{
	double thousandths = floor(value * 1000 + 0.5);
	uint64_t n = thousandths >= 0 && thousandths < 1e18 ? (uint64_t)thousandths : 0;
	int length = snprintf(out, size, "%llu.%03llu", (unsigned long long)(n / 1000), (unsigned long long)(n % 1000));
	while (out[length - 1] == '0')
		out[--length] = 0;
	if (out[length - 1] == '.')
		out[length - 1] = 0;
}

static void add_source(const struct from *f, struct from_value *v, enum from_option o, const char *note)
{
	const struct from_entry *e = entry_of(f, o);
	v->kind = FROM_OPTION;
	if (e)
		snprintf(v->source, sizeof v->source, "%.60s:%u: %.60s %.70s%s%.100s", e->file, e->line, e->name, e->value, *note ? "; " : "", note);
	else
		snprintf(v->source, sizeof v->source, "%.60s is not set: GPGPU-Sim's default %.40s%s%.100s", options[o].name, options[o].fallback,
		         *note ? "; " : "", note);
}

void from_put(struct from *f, const char *key, double value, enum from_option o, const char *note, ...)
{
	struct from_value *v = value_of(f, key);
	char text[128];
	va_list ap;
	if (!v)
		return;
	va_start(ap, note);
	vsnprintf(text, sizeof text, note, ap);
	va_end(ap);
	format_number(value, v->text, sizeof v->text);
	add_source(f, v, o, text);
}

void from_put_word(struct from *f, const char *key, const char *word, enum from_option o, const char *note)
{
	struct from_value *v = value_of(f, key);
	if (!v)
		return;
	snprintf(v->text, sizeof v->text, "%s", word);
	add_source(f, v, o, note);
}

void from_fact(struct from *f, const char *key, const char *value, const char *source)
{
	struct from_value *v = value_of(f, key);
	if (!v)
		return;
	v->kind = FROM_FACT;
	snprintf(v->text, sizeof v->text, "%s", value);
	snprintf(v->source, sizeof v->source, "%s", source);
}
