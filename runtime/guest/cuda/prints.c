#include "runtime/guest/cuda/prints.h"

#include "runtime/config/log.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define LOG_DOMAIN "cuda"

struct print_record {
	uint64_t bytes, format;
	const uint64_t *arguments;
	size_t count, next;
};

/* One conversion of a format: "%-08.3llx". */
struct conversion {
	char flags[8];
	int width, precision; /* -1: none */
	bool width_given, precision_given; /* by an argument */
	size_t size; /* bytes of an integer */
	char letter;
	size_t length; /* characters of the format */
};

static int read_number(const char **at)
{
	enum { MOST = 4096 }; /* so that a format cannot fill the memory */
	int n = 0;
	while (**at >= '0' && **at <= '9') {
		n = n * 10 + (**at - '0');
		n = n > MOST ? MOST : n;
		(*at)++;
	}
	return n;
}

static size_t read_size(const char **at)
{
	size_t size = sizeof(int);
	if (!strncmp(*at, "hh", 2)) {
		*at += 2;
		return sizeof(char);
	}
	for (; **at && strchr("hlLqjzt", **at); (*at)++)
		size = **at == 'h' ? sizeof(short) : sizeof(long);
	return size;
}

/* `at` is after the percent sign. */
static struct conversion read_conversion(const char *at)
{
	const char *begin = at;
	struct conversion c = {.width = -1, .precision = -1};
	size_t flags = 0;
	for (; *at && strchr("-+ #0", *at); at++)
		if (flags < sizeof c.flags - 1 && !strchr(c.flags, *at))
			c.flags[flags++] = *at;
	if ((c.width_given = *at == '*'))
		at++;
	else if (*at >= '1' && *at <= '9')
		c.width = read_number(&at);
	if (*at == '.') {
		at++;
		if ((c.precision_given = *at == '*'))
			at++;
		else
			c.precision = read_number(&at);
	}
	c.size = read_size(&at);
	c.letter = *at;
	c.length = (size_t)(at - begin) + (*at != 0);
	return c;
}

static uint64_t next_argument(struct print_record *r)
{
	return r->next < r->count ? r->arguments[r->next++] : 0;
}

static int bounded(uint64_t word)
{
	enum { MOST = 4096 };
	int n = (int)(uint32_t)word;
	return n > MOST ? MOST : n < -MOST ? -MOST : n;
}

static long long as_signed(uint64_t word, size_t size)
{
	return size == 1 ? (int8_t)word : size == 2 ? (int16_t)word : size == 4 ? (int32_t)word : (long long)word;
}

static unsigned long long as_unsigned(uint64_t word, size_t size)
{
	return size == sizeof word ? word : word & ((UINT64_C(1) << 8 * size) - 1);
}

/* The conversion as C's printf takes it: width and precision are arguments. */
static void make_format(const struct conversion *c, const char *size, char out[32])
{
	snprintf(out, 32, "%%%s*%s%s%c", c->flags, c->precision >= 0 ? ".*" : "", size, c->letter);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#define PUT(value) \
	(c->precision >= 0 ? gs_buf_printf(out, format, c->width, c->precision, value) : gs_buf_printf(out, format, c->width, value))

/* False: the conversion is not one of C's. */
static bool put_value(const struct conversion *c, uint64_t word, struct gs_buf *out)
{
	char format[32];
	double real;
	if (strchr("di", c->letter)) {
		make_format(c, "ll", format);
		PUT(as_signed(word, c->size));
	} else if (strchr("uoxX", c->letter)) {
		make_format(c, "ll", format);
		PUT(as_unsigned(word, c->size));
	} else if (strchr("eEfFgGaA", c->letter)) {
		make_format(c, "", format);
		memcpy(&real, &word, sizeof real);
		PUT(real);
	} else if (c->letter == 'c') {
		gs_buf_printf(out, strchr(c->flags, '-') ? "%-*c" : "%*c", c->width, (int)word);
	} else if (c->letter == 'p') {
		gs_buf_printf(out, strchr(c->flags, '-') ? "%-*p" : "%*p", c->width, (void *)(uintptr_t)word);
	} else if (c->letter == 's' && word) {
		make_format(c, "", format);
		PUT((const char *)(uintptr_t)word);
	} else {
		return false;
	}
	return true;
}
#pragma GCC diagnostic pop

static bool takes_a_value(char letter)
{
	return letter && strchr("diuoxXeEfFgGaAcps", letter);
}

static void put_conversion(struct print_record *r, const char *at, struct conversion *c, struct gs_buf *out)
{
	if (c->letter == '%') {
		gs_buf_puts(out, "%");
		return;
	}
	if (c->width_given)
		c->width = bounded(next_argument(r));
	if (c->precision_given)
		c->precision = bounded(next_argument(r));
	c->width = c->width == -1 && !c->width_given ? 0 : c->width;
	if (!takes_a_value(c->letter) || r->next >= r->count || !put_value(c, next_argument(r), out))
		gs_buf_add(out, at, c->length + 1);
}

static void format_record(struct print_record *r, struct gs_buf *out)
{
	for (const char *at = (const char *)(uintptr_t)r->format; at && *at;) {
		size_t plain = strcspn(at, "%");
		gs_buf_add(out, at, plain);
		at += plain;
		if (!*at)
			break;
		struct conversion c = read_conversion(at + 1);
		put_conversion(r, at, &c, out);
		at += 1 + c.length;
	}
}

void prints_format(const struct lifted_prints *p, struct gs_buf *out)
{
	const uint64_t *words = (const uint64_t *)(p + 1);
	uint64_t used = p->used < p->room ? p->used : p->room;
	for (uint64_t at = 0; at + 16 <= used;) {
		const uint64_t *record = words + at / 8;
		struct print_record r = {.bytes = record[0], .format = record[1], .arguments = record + 2};
		if (r.bytes < 16 || r.bytes % 8 || r.bytes > used - at)
			break;
		r.count = r.bytes / 8 - 2;
		format_record(&r, out);
		at += r.bytes;
	}
}

/* ---- until the program waits ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gs_buf kept; /* under the lock */
static bool told_of_loss;

void prints_keep(const struct lifted_prints *p)
{
	if (!p->used)
		return;
	pthread_mutex_lock(&lock);
	prints_format(p, &kept);
	bool tell = (p->lost || p->used > p->room) && !told_of_loss;
	told_of_loss |= tell;
	pthread_mutex_unlock(&lock);
	if (tell)
		log_warning("a kernel printed more than %llu bytes: the rest is lost", (unsigned long long)p->room);
}

void prints_write(void)
{
	pthread_mutex_lock(&lock);
	struct gs_buf text = kept;
	kept = (struct gs_buf){0};
	pthread_mutex_unlock(&lock);
	if (text.len)
		fwrite(text.data, 1, text.len, stdout);
	gs_buf_free(&text);
}
