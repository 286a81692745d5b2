/* Accesses of task lists: to what, by which pattern; and tables of addresses. */
#include "runtime/cmd/task/parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ADDRESSES = 1 << 24 };

static int find_target(struct task_parser *p, int32_t *out)
{
	int result = parse_word(p, "what is accessed (a buffer, local or private)");
	if (result)
		return result;
	*out = !strcmp(p->word, "local") ? TARGET_LOCAL : TARGET_PRIVATE;
	if (!strcmp(p->word, "local") || !strcmp(p->word, "private"))
		return 0;
	for (size_t i = 0; i < p->list->buffer_count; i++)
		if (!strcmp(p->list->buffers[i].name, p->word)) {
			*out = (int32_t)i;
			return 0;
		}
	return parse_fail(p, "there is no buffer '%.60s'; 'buffer NAME BYTES' makes one", p->word);
}

static int read_expression(struct task_parser *p, struct task_access *a)
{
	struct gs_error why;
	struct task_list *l = p->list;
	if (!gs_reserve(&l->expressions, l->expression_count, &l->expression_room, sizeof *l->expressions))
		return gs_fail(p->err, ENOMEM, "out of memory");
	a->at = expression_read(&p->at, &why);
	if (!a->at)
		return parse_fail(p, "%s", why.text);
	l->expressions[l->expression_count++] = a->at;
	return 0;
}

static int read_pattern(struct task_parser *p, struct task_access *a)
{
	static const char *const known[] = {"coalesced", "strided", "random", "broadcast", "at", "table", NULL};
	uint64_t stride = 0;
	int result = parse_word(p, "the pattern (coalesced, strided N, random, broadcast, at EXPRESSION or table NAME)");
	int pattern = 0;
	while (!result && known[pattern] && strcmp(known[pattern], p->word))
		pattern++;
	if (result)
		return result;
	if (!known[pattern])
		return parse_unknown(p, "pattern", known);
	a->pattern = (enum task_pattern)pattern;
	if (a->pattern == PATTERN_STRIDED) {
		result = parse_number(p, "the stride", 0, UINT32_MAX, &stride);
		a->stride = (int64_t)stride;
	} else if (a->pattern == PATTERN_AT) {
		result = read_expression(p, a);
	} else if (a->pattern == PATTERN_TABLE) {
		result = parse_word(p, "the table");
		a->table = 0;
		while (!result && (size_t)a->table < p->list->table_count && strcmp(p->list->tables[a->table].name, p->word))
			a->table++;
		if (!result && (size_t)a->table == p->list->table_count)
			result = parse_fail(p, "there is no table '%.60s' before it", p->word);
	}
	return result;
}

static int read_width(struct task_parser *p, struct task_access *a)
{
	uint64_t width = 4;
	if (!parse_more(p) || *p->at < '0' || *p->at > '9')
		return 0;
	int result = parse_number(p, "the width", 1, 16, &width);
	if (result)
		return result;
	if (width & (width - 1))
		return parse_fail(p, "an access has 1, 2, 4, 8 or 16 bytes");
	a->width = (uint32_t)width;
	return 0;
}

static int check_access(struct task_parser *p, struct task_access *a)
{
	uint64_t all = a->target >= 0 ? p->list->buffers[a->target].bytes : a->target == TARGET_LOCAL && p->kernel ? p->kernel->local_bytes : 1 << 16;
	if (a->target == TARGET_LOCAL && p->kernel && !all)
		return parse_fail(p, "the kernel has no local memory: 'local BYTES' comes first");
	if (!a->footprint)
		a->footprint = all > a->offset ? all - a->offset : 0;
	if (a->offset > all || a->footprint > all - a->offset || a->footprint < a->width)
		return parse_fail(p, "the access is not within the %llu bytes that there are", (unsigned long long)all);
	return 0;
}

int parse_access(struct task_parser *p, uint32_t width, int32_t *out)
{
	struct task_list *l = p->list;
	struct task_access a = {.width = width ? width : 4, .reuse = 1, .table = TASK_NONE};
	if (!gs_reserve(&l->accesses, l->access_count, &l->access_room, sizeof *l->accesses))
		return gs_fail(p->err, ENOMEM, "out of memory");
	int result = find_target(p, &a.target);
	if (!result)
		result = read_pattern(p, &a);
	if (!result && !width)
		result = read_width(p, &a);
	for (bool more = true; !result && more;) {
		if (parse_take(p, "footprint"))
			result = parse_number(p, "the footprint", 1, UINT64_C(1) << 40, &a.footprint);
		else if (parse_take(p, "offset"))
			result = parse_number(p, "the offset", 0, UINT64_C(1) << 40, &a.offset);
		else if (parse_take(p, "reuse"))
			result = parse_number(p, "the reuse", 1, UINT32_MAX, &a.reuse);
		else
			more = false;
	}
	if (!result)
		result = check_access(p, &a);
	if (result)
		return result;
	*out = (int32_t)l->access_count;
	l->accesses[l->access_count++] = a;
	return 0;
}

/* ---- tables ---- */

static int add_value(struct task_parser *p, struct task_table *t, struct task_row *row, uint64_t value)
{
	if (t->value_count >= MOST_ADDRESSES)
		return parse_fail(p, "a table has %d addresses at most", MOST_ADDRESSES);
	if (!gs_reserve(&t->values, t->value_count, &t->value_room, sizeof *t->values))
		return gs_fail(p->err, ENOMEM, "out of memory");
	t->values[t->value_count++] = value;
	row->count++;
	return 0;
}

/* BASE, BASE+STRIDE, BASE-STRIDE; or the addresses of lanes. */
static int read_row(struct task_parser *p, struct task_table *t)
{
	struct task_row row = {.first = t->value_count};
	if (!gs_reserve(&t->rows, t->row_count, &t->row_room, sizeof *t->rows))
		return gs_fail(p->err, ENOMEM, "out of memory");
	while (parse_more(p)) {
		char *end;
		int result = parse_word(p, "an address");
		if (result)
			return result;
		uint64_t value = strtoull(p->word, &end, 0);
		if (end == p->word || (*end && (row.count || (*end != '+' && *end != '-'))))
			return parse_fail(p, "'%.40s' is no address", p->word);
		if (*end)
			row.stride = strtoll(end, &end, 10);
		if (*end || row.count == TASK_LANES)
			return parse_fail(p, *end ? "'%.40s' is no address" : "'%.40s' is one address more than a warp has lanes", p->word);
		if ((result = add_value(p, t, &row, value)))
			return result;
	}
	if (row.count)
		t->rows[t->row_count++] = row;
	return parse_end(p);
}

int parse_table(struct task_parser *p)
{
	struct task_list *l = p->list;
	int result = parse_word(p, "the name of the table");
	if (result)
		return result;
	if (!gs_reserve(&l->tables, l->table_count, &l->table_room, sizeof *l->tables))
		return gs_fail(p->err, ENOMEM, "out of memory");
	struct task_table *t = &l->tables[l->table_count];
	*t = (struct task_table){.name = strdup(p->word)};
	l->table_count++;
	if (!t->name)
		return gs_fail(p->err, ENOMEM, "out of memory");
	result = parse_open(p);
	while (!result && !parse_close(p)) {
		if (p->at == p->end)
			return parse_fail(p, "the table has no end");
		result = *p->at == '{' ? parse_fail(p, "a table has rows of addresses") : read_row(p, t);
	}
	if (!result && !t->row_count)
		result = parse_fail(p, "the table has no rows");
	return result;
}
