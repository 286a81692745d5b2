/* Numbers, names and colours of reports; see show.h. */
#include "runtime/config/show.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Divides n by `step` until it fits one of the `count` units. */
static const char *show_scaled(char cell[SHOW_CELL], double n, double step, const char *const *units, size_t count)
{
	size_t u = 0;
	while (fabs(n) >= step - 0.5 && u + 1 < count) {
		n /= step;
		u++;
	}
	double size = fabs(n);
	snprintf(cell, SHOW_CELL, "%.*f%s%s", size < 9.995 ? 2 : size < 99.95 ? 1 : 0, n, *units[u] ? " " : "", units[u]);
	return cell;
}

const char *show_time(char cell[SHOW_CELL], double ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	return show_scaled(cell, ns, 1000, units, GS_ARRAY_LEN(units));
}

const char *show_bytes(char cell[SHOW_CELL], double bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	if (bytes >= 1023.5)
		return show_scaled(cell, bytes, 1024, units, GS_ARRAY_LEN(units));
	snprintf(cell, SHOW_CELL, "%.0f B", bytes);
	return cell;
}

const char *show_count(char cell[SHOW_CELL], double number)
{
	static const char *const units[] = {"", "K", "M", "G", "T", "P"};
	if (fabs(number) >= 999.5)
		return show_scaled(cell, number, 1000, units, GS_ARRAY_LEN(units));
	snprintf(cell, SHOW_CELL, "%.0f", number);
	return cell;
}

const char *show_energy(char cell[SHOW_CELL], double joules)
{
	static const char *const units[] = {"nJ", "uJ", "mJ", "J", "kJ"};
	return show_scaled(cell, joules * 1e9, 1000, units, GS_ARRAY_LEN(units));
}

const char *show_change(char cell[SHOW_CELL], double before, double after)
{
	double ratio = before > 0 && after > 0 ? before / after : 0;
	if (!(ratio > 0))
		snprintf(cell, SHOW_CELL, "-");
	else if (ratio > 1 / 1.005 && ratio < 1.005)
		snprintf(cell, SHOW_CELL, "same");
	else
		snprintf(cell, SHOW_CELL, "%.2fx %s", ratio > 1 ? ratio : 1 / ratio, ratio > 1 ? "faster" : "slower");
	return cell;
}

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

static void add_clean(struct gs_buf *b, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		gs_buf_add(b, (unsigned char)text[i] < ' ' || text[i] == 0x7f ? "?" : text + i, 1);
}

/* What follows the namespaces of a name: those of libraries are longer than all that tells their kernels apart. */
static const char *after_namespaces(const char *name)
{
	size_t own = strcspn(name, "<(");
	const char *from = name;
	for (size_t i = 0; i + 2 < own; i++)
		if (name[i] == ':' && name[i + 1] == ':')
			from = name + i + 2;
	return from;
}

void show_name(struct gs_buf *b, const char *name, size_t most)
{
	name = strlen(name) <= most ? name : after_namespaces(name);
	size_t length = strlen(name);
	if (length <= most) {
		add_clean(b, name, length);
		return;
	}
	size_t dots = most > 5 ? 3 : 0, own = strcspn(name, "<("), head = (most - dots) * 2 / 3;
	if (own < length && own > head) /* its arguments matter less */
		head = own < most - dots ? own : most - dots;
	size_t tail = length - (most - dots - head);
	while (head > 0 && is_continuation(name[head]))
		head--;
	while (tail < length && is_continuation(name[tail]))
		tail++;
	add_clean(b, name, head);
	gs_buf_add(b, "...", dots);
	add_clean(b, name + tail, length - tail);
}

/* Whether a unit, as the functions above write them, begins at `text`. */
static bool is_unit(const char *text)
{
	static const char *const units[] = {"ns", "us", "ms", "s", "B", "KiB", "MiB", "GiB", "TiB", "K", "M", "G", "T", "P", "MHz"};
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strlen(units[i]) == n && !strncmp(units[i], text, n))
			return true;
	return false;
}

/* The length of what must stay on one line: a word, or a number and its unit. */
static size_t word_length(const char *text)
{
	size_t n = strcspn(text, " ");
	bool number = n && text[n - 1] >= '0' && text[n - 1] <= '9';
	return number && text[n] && is_unit(text + n + 1) ? n + 1 + strcspn(text + n + 1, " ") : n;
}

size_t show_width(int descriptor)
{
	enum { LEAST = 60 };
	struct winsize size = {0};
	int saved = errno;
	bool known = !ioctl(descriptor, TIOCGWINSZ, &size) && size.ws_col;
	errno = saved;
	return !known || size.ws_col > SHOW_WIDTH ? SHOW_WIDTH : size.ws_col < LEAST ? LEAST : size.ws_col;
}

void show_wrapped(struct gs_buf *b, const char *prefix, const char *text, int indent)
{
	size_t width = show_width(STDERR_FILENO) - strlen(prefix), column = strspn(text, " ");
	gs_buf_puts(b, prefix);
	gs_buf_add(b, text, column);
	text += column;
	bool begun = false; /* this line has a word */
	while (*text) {
		size_t n = word_length(text), blank = begun;
		if (begun && column + blank + n > width) {
			gs_buf_printf(b, "\n%s%*s", prefix, indent, "");
			column = (size_t)indent;
			blank = 0;
		}
		if (n > width - column - blank)
			n = width - column - blank;
		gs_buf_add(b, " ", blank);
		add_clean(b, text, n);
		column += blank + n;
		begun = true;
		text += n;
		text += *text == ' ';
	}
	gs_buf_puts(b, "\n");
}

bool show_colours(int descriptor)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
	int saved = errno;
	bool terminal = isatty(descriptor);
	errno = saved;
	return terminal && !(no && *no) && !(term && !strcmp(term, "dumb"));
}

const char *show_style(bool colours, enum show_style style)
{
	static const char *const sequences[] = {"\033[0m", "\033[2m", "\033[1m", "\033[1;31m", "\033[33m", "\033[32m"};
	return colours ? sequences[style] : "";
}
