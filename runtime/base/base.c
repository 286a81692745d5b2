/* Errors, growing text and near matches; see base.h. */
#include "runtime/base/base.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

int gs_fail(struct gs_error *err, int code, const char *fmt, ...)
{
	if (err) {
		va_list ap;
		va_start(ap, fmt);
		vsnprintf(err->text, sizeof err->text, fmt, ap);
		va_end(ap);
	}
	return -code;
}

void gs_buf_free(struct gs_buf *b)
{
	free(b->data);
	*b = (struct gs_buf){0};
}

static bool buf_reserve(struct gs_buf *b, size_t more)
{
	if (b->failed || more > SIZE_MAX / 2 - b->len) {
		b->failed = true;
		return false;
	}
	size_t need = b->len + more + 1;
	if (need <= b->cap)
		return true;
	size_t cap = b->cap ? b->cap : 128;
	while (cap < need)
		cap *= 2;
	char *data = realloc(b->data, cap);
	if (!data) {
		b->failed = true;
		return false;
	}
	b->data = data;
	b->cap = cap;
	return true;
}

void gs_buf_add(struct gs_buf *b, const void *data, size_t len)
{
	if (!buf_reserve(b, len))
		return;
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = 0;
}

void gs_buf_puts(struct gs_buf *b, const char *s)
{
	gs_buf_add(b, s, strlen(s));
}

void gs_buf_vprintf(struct gs_buf *b, const char *fmt, va_list ap)
{
	va_list again;
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0 || !buf_reserve(b, (size_t)n)) {
		b->failed = true;
		return;
	}
	vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
	b->len += (size_t)n;
}

void gs_buf_printf(struct gs_buf *b, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	gs_buf_vprintf(b, fmt, ap);
	va_end(ap);
}

/* Length of the well-formed UTF-8 sequence at s; 0 if there is none. */
static size_t utf8_length(const unsigned char *s)
{
	size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3 :
		   s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	bool overlong_or_surrogate = (n == 3 && ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f))) ||
				     (n == 4 && ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)));
	return overlong_or_surrogate ? 0 : n;
}

void gs_buf_json(struct gs_buf *b, const char *s)
{
	gs_buf_puts(b, "\"");
	for (const unsigned char *p = (const unsigned char *)s; *p;) {
		size_t n = utf8_length(p);
		if (*p == '"' || *p == '\\')
			gs_buf_printf(b, "\\%c", *p);
		else if (*p < 0x20 || *p == 0x7f)
			gs_buf_printf(b, "\\u%04x", *p);
		else if (n == 0)
			gs_buf_puts(b, "\\ufffd");
		else
			gs_buf_add(b, p, n);
		p += n ? n : 1;
	}
	gs_buf_puts(b, "\"");
}

void gs_buf_html(struct gs_buf *b, const char *s)
{
	for (const unsigned char *p = (const unsigned char *)s; *p;) {
		size_t n = utf8_length(p);
		if (*p == '<' || *p == '>' || *p == '&' || *p == '"' || *p == '\'')
			gs_buf_printf(b, "&#%u;", *p);
		else if (n == 0 || (*p < 0x20 && *p != '\t' && *p != '\n') || *p == 0x7f)
			gs_buf_puts(b, "\xef\xbf\xbd");
		else
			gs_buf_add(b, p, n);
		p += n ? n : 1;
	}
}

uint64_t gs_hash(const void *data, size_t len)
{
	return XXH3_64bits(data, len);
}

void gs_hash_hex(const void *data, size_t len, char hex[33])
{
	XXH128_hash_t h = XXH3_128bits(data, len);
	for (int i = 0; i < 16; i++) { /* without printf: every launch makes several of these */
		hex[i] = "0123456789abcdef"[h.high64 >> (60 - 4 * i) & 15];
		hex[16 + i] = "0123456789abcdef"[h.low64 >> (60 - 4 * i) & 15];
	}
	hex[32] = 0;
}

size_t gs_edit_distance(const char *a, const char *b, size_t limit)
{
	enum { MAX_WORD = 64 };
	size_t la = strlen(a), lb = strlen(b), row[MAX_WORD + 1];
	if (la > MAX_WORD || lb > MAX_WORD)
		return limit + 1;
	for (size_t j = 0; j <= lb; j++)
		row[j] = j;
	for (size_t i = 1; i <= la; i++) {
		size_t diagonal = row[0];
		row[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			size_t above = row[j], best = diagonal + (a[i - 1] != b[j - 1]);
			if (above + 1 < best)
				best = above + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
			diagonal = above;
		}
	}
	return row[lb] > limit ? limit + 1 : row[lb];
}

const char *gs_nearest(const char *word, const char *const *candidates)
{
	size_t length = strlen(word), limit = length < 4 ? 1 : length < 8 ? 2 : 3, best = limit + 1;
	const char *found = NULL;
	for (; *candidates; candidates++) {
		size_t d = gs_edit_distance(word, *candidates, limit);
		if (d < best) {
			best = d;
			found = *candidates;
		}
	}
	return found;
}

bool gs_reserve(void *array_pointer, size_t count, size_t *room, size_t size)
{
	enum { FIRST = 16 };
	void *array;
	if (count < *room)
		return true;
	size_t more = *room ? 2 * *room : FIRST;
	memcpy(&array, array_pointer, sizeof array); /* memcpy, because the caller's pointer has another type than void ** */
	array = reallocarray(array, more, size);
	if (!array)
		return false;
	memcpy(array_pointer, &array, sizeof array);
	*room = more;
	return true;
}
