/* Flow of task lists' kernels: loops, branches, and what only some lanes or warps do. */
#include "runtime/cmd/task/parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static enum task_by parse_by(struct task_parser *p, enum task_by usual)
{
	return parse_take(p, "lane") ? BY_LANE : parse_take(p, "warp") ? BY_WARP : parse_take(p, "group") ? BY_GROUP : usual;
}

/* A body whose lanes or warps may not all be there. */
static int parse_inner(struct task_parser *p, int32_t node, bool other, bool parted)
{
	uint32_t before = p->depth;
	int32_t body;
	if (parted)
		p->depth |= 1u << 31;
	int result = parse_open(p);
	if (!result)
		result = parse_body(p, &body);
	p->depth = before;
	if (result)
		return result;
	if (other)
		p->list->nodes[node].other = body;
	else
		p->list->nodes[node].body = body;
	return 0;
}

int parse_loop(struct task_parser *p, int32_t node, bool bare)
{
	uint64_t least, most;
	double chance = 0;
	char *dots;
	int result = parse_word(p, "the turns");
	if (result)
		return result;
	if ((dots = strstr(p->word, ".."))) { /* the range is two words for the reader of numbers */
		size_t length = strlen(p->word);
		p->at -= length - (size_t)(dots - p->word) - 2;
		*dots = 0;
	}
	struct task_parser first = *p;
	char text[TASK_WORD];
	strcpy(text, p->word);
	first.at = text;
	first.end = text + strlen(text);
	result = parse_number(&first, "the number of turns", 0, 1 << 30, &least);
	most = least;
	if (!result && dots)
		result = parse_number(p, "the most turns", least, 1 << 30, &most);
	enum task_by by = parse_by(p, BY_WARP);
	if (!result && parse_take(p, "until"))
		result = parse_real(p, "the chance to end", 0, 1, &chance);
	struct task_node *n = &p->list->nodes[node];
	n->least = least;
	n->most = most;
	n->chance = chance;
	n->by = by;
	n->bare = bare;
	bool random = least != most || chance > 0;
	if (p->kernel)
		p->kernel->varies |= random;
	if (!result)
		result = parse_inner(p, node, false, random && by != BY_GROUP);
	if (!bare) {
		p->list->nodes[node].pc = p->pc;
		p->pc += 2 * PC_STEP;
	}
	return result;
}

static int parse_else(struct task_parser *p, int32_t node, bool parted)
{
	struct task_parser before = *p;
	if (parse_skip(p) && parse_take(p, "else"))
		return parse_inner(p, node, true, parted);
	*p = before;
	return 0;
}

int parse_branch(struct task_parser *p, int32_t node)
{
	double chance;
	int result = parse_real(p, "the chance", 0, 1, &chance);
	enum task_by by = parse_by(p, BY_LANE);
	struct task_node *n = &p->list->nodes[node];
	n->chance = chance;
	n->by = by;
	n->pc = p->pc;
	p->pc += 2 * PC_STEP;
	if (p->kernel)
		p->kernel->varies |= chance > 0 && chance < 1;
	bool parted = by != BY_GROUP && chance > 0 && chance < 1;
	if (!result)
		result = parse_inner(p, node, false, parted);
	return result ? result : parse_else(p, node, parted);
}

int parse_when(struct task_parser *p, int32_t node)
{
	struct gs_error why;
	struct task_list *l = p->list;
	if (!gs_reserve(&l->expressions, l->expression_count, &l->expression_room, sizeof *l->expressions))
		return gs_fail(p->err, ENOMEM, "out of memory");
	struct task_expression *e = expression_read(&p->at, &why);
	if (!e)
		return parse_fail(p, "%s", why.text);
	l->expressions[l->expression_count++] = e;
	l->nodes[node].when = e;
	if (p->kernel)
		p->kernel->varies = true;
	int result = parse_inner(p, node, false, false);
	return result ? result : parse_else(p, node, false);
}

/* Numbers of warps in the launch: 0-31 40 50-60 */
int parse_warps(struct task_parser *p, int32_t node)
{
	struct task_list *l = p->list;
	size_t first = l->range_count;
	while (parse_more(p)) {
		char *end;
		int result = parse_word(p, "the number of a warp");
		if (result)
			return result;
		struct task_range r = {strtoull(p->word, &end, 10), 0};
		r.last = *end == '-' ? strtoull(end + 1, &end, 10) : r.first;
		if (end == p->word || *end || r.last < r.first)
			return parse_fail(p, "numbers of warps are 7 or 0-31, not '%.40s'", p->word);
		if (!gs_reserve(&l->ranges, l->range_count, &l->range_room, sizeof *l->ranges))
			return gs_fail(p->err, ENOMEM, "out of memory");
		l->ranges[l->range_count++] = r;
	}
	l->nodes[node].first_range = first;
	l->nodes[node].range_count = l->range_count - first;
	if (p->kernel)
		p->kernel->varies = true;
	return parse_inner(p, node, false, false);
}

int parse_do(struct task_parser *p, int32_t node)
{
	struct task_list *l = p->list;
	int result = parse_word(p, "the name of the piece");
	size_t i = 0;
	while (!result && i < l->piece_count && strcmp(l->pieces[i].name, p->word))
		i++;
	if (!result && i == l->piece_count)
		result = parse_fail(p, "there is no piece '%.60s' before it", p->word);
	if (result)
		return result;
	l->nodes[node].body = l->pieces[i].body;
	while (!result && parse_take(p, "(")) {
		int32_t access;
		result = parse_access(p, l->pieces[i].widths[l->nodes[node].access_count % TASK_MOST_PIECE_ACCESSES], &access);
		if (!result && !parse_take(p, ")"))
			result = parse_fail(p, "a ) is missing");
		if (!result && !l->nodes[node].access_count++)
			l->nodes[node].access = access;
	}
	if (!result && l->nodes[node].access_count != l->pieces[i].accesses)
		return parse_fail(p, "%s makes %u accesses, not %u", l->pieces[i].name, l->pieces[i].accesses, l->nodes[node].access_count);
	return result ? result : parse_end(p);
}
