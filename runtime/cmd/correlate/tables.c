/* Tables of truth and lists of cases; see correlate.h. */
#include "runtime/cmd/correlate/correlate.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables ---- */

/* Splits a line into cells, which become strings. A cell in quotes may have commas, and doubled quotes. */
static size_t split_line(char *line, char **cells)
{
	size_t count = 0;
	for (char *at = line; at && count < TABLE_COLUMNS; count++) {
		bool quoted = *at == '"';
		char *to = at += quoted;
		cells[count] = to;
		for (; *at && (quoted || *at != ','); *to++ = *at++) {
			if (quoted && *at == '"' && at[1] == '"')
				at++;
			else if (quoted && *at == '"')
				quoted = (at++, false);
			if (!quoted && (*at == ',' || !*at))
				break;
		}
		char *next = *at == ',' ? at + 1 : NULL;
		*to = 0;
		at = next;
	}
	return count;
}

int table_column(const struct truth_table *t, const char *name)
{
	for (size_t i = 0; i < t->columns; i++)
		if (!strcmp(t->header[i], name))
			return (int)i;
	return -1;
}

const char *table_cell(const struct truth_table *t, const struct table_row *r, const char *column)
{
	int i = table_column(t, column);
	return i < 0 ? "" : r->cells[i];
}

double table_number(const struct truth_table *t, const struct table_row *r, const char *column)
{
	const char *cell = table_cell(t, r, column);
	char *end;
	double value = strtod(cell, &end);
	return end == cell || *end ? NAN : value;
}

static int take_line(struct truth_table *t, char *line, unsigned number, struct gs_error *err)
{
	struct table_row r = {.used = false};
	size_t count = split_line(line, t->columns ? r.cells : t->header);
	if (!t->columns) {
		t->columns = count;
		return table_column(t, "case") < 0 ? gs_fail(err, EINVAL, "%s:%u: a table without a column 'case'", t->path, number) : 0;
	}
	if (count != t->columns)
		return gs_fail(err, EINVAL, "%s:%u: %zu cells under %zu columns", t->path, number, count, t->columns);
	if (!(t->row_count & (t->row_count - 1))) {
		struct table_row *grown = reallocarray(t->rows, t->row_count ? 2 * t->row_count : 1, sizeof *grown);
		if (!grown)
			return gs_fail(err, ENOMEM, "out of memory");
		t->rows = grown;
	}
	t->rows[t->row_count++] = r;
	return 0;
}

void table_free(struct truth_table *t)
{
	gs_buf_free(&t->text);
	gs_buf_free(&t->comments);
	free(t->path);
	free(t->rows);
	free(t);
}

int table_read(const char *path, struct gs_buf *text, struct truth_table **out, struct gs_error *err)
{
	struct truth_table *t = calloc(1, sizeof *t);
	if (!t || !(t->path = strdup(path))) {
		free(t);
		gs_buf_free(text);
		return gs_fail(err, ENOMEM, "out of memory");
	}
	t->text = *text;
	int result = 0;
	unsigned number = 0;
	for (char *rest = t->text.data, *line; !result && (line = strsep(&rest, "\n"));) {
		number++;
		line[strcspn(line, "\r")] = 0;
		if (*line == '#')
			gs_buf_printf(&t->comments, "%s\n", line + 1 + (line[1] == ' '));
		else if (*line)
			result = take_line(t, line, number, err);
	}
	if (!result && !t->row_count)
		result = gs_fail(err, EINVAL, "%s: a table without rows", path);
	if (result)
		table_free(t);
	else
		*out = t;
	return result;
}

/* ---- lists of cases ---- */

static int take_kernel(struct correlation *c, const char *name, struct gs_error *err)
{
	for (size_t i = 0; i < c->kernel_count; i++)
		if (!strcmp(c->kernels[i], name))
			return 0;
	char **grown = reallocarray(c->kernels, c->kernel_count + 1, sizeof *grown);
	if (!grown || !(grown[c->kernel_count] = strdup(name)))
		return gs_fail(err, ENOMEM, "out of memory");
	c->kernels = grown;
	c->kernel_count++;
	return 0;
}

static int read_case(struct correlation *c, const char *line, struct listed_case *out, struct gs_error *err)
{
	char file[CORRELATE_NAME], global[64];
	if (sscanf(line, "%127s %127s %127s %63s", out->name, file, out->kernel, global) != 4)
		return gs_fail(err, EINVAL, "a case is: name file kernel global local arguments; not '%.60s'", line);
	snprintf(out->group, sizeof out->group, "%.*s", (int)strcspn(file, "."), file);
	out->items = 1;
	for (char *at = global; *at; at += *at == ',')
		out->items *= strtoull(at, &at, 10);
	return take_kernel(c, out->kernel, err);
}

int correlate_cases(struct correlation *c, const char *path, struct case_list *out, struct gs_error *err)
{
	struct gs_buf text = {0};
	int result = gs_read_file(path, &text, err);
	free(out->list);
	*out = (struct case_list){0};
	for (char *rest = text.data, *line; !result && (line = strsep(&rest, "\n"));) {
		if (!*line || *line == '#')
			continue;
		struct listed_case *grown = reallocarray(out->list, out->count + 1, sizeof *grown);
		if (!grown) {
			result = gs_fail(err, ENOMEM, "out of memory");
			break;
		}
		out->list = grown;
		result = read_case(c, line, &grown[out->count], err);
		out->count += !result;
	}
	gs_buf_free(&text);
	return result;
}

const struct listed_case *listed_case(const struct case_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->list[i].name, name))
			return &list->list[i];
	return NULL;
}
