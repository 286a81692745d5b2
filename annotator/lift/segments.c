#include "annotator/lift/segments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Longer loops have more values at once than a CPU has registers. */
enum { MOST_IN_LOOP = 400, MOST_SITES_IN_LOOP = 64 };

/* ---- items ---- */

const struct ptx_instruction *last_flow(const struct planned_function *f, const struct kernel_part *part)
{
	const struct ptx_instruction *last = part->end > part->first ? &f->function->instructions[part->end - 1] : NULL;
	return last && flow_kind(last) != FLOW_NONE ? last : NULL;
}

bool guard_varies(const struct planned_function *f, const struct ptx_instruction *i)
{
	return i && i->guard >= 0 && !f->registers[i->guard].uniform;
}

static bool is_uniform(const struct planned_function *f, const struct ptx_instruction *i)
{
	bool writes = false;
	for (uint32_t o = 0; o < i->operand_count; o++)
		if (i->operands[o].write && i->operands[o].reg >= 0) {
			if (!f->registers[i->operands[o].reg].uniform)
				return false;
			writes = true;
		}
	return writes;
}

struct item_builder {
	const struct planned_function *f;
	struct item_list *list;
	uint32_t *open; /* instructions of the loop that is still growing */
	uint32_t open_count, open_sites;
};

static void add_item(struct item_builder *b, enum item_kind kind, const uint32_t *instructions, uint32_t count, bool traced)
{
	struct item_list *l = b->list;
	struct text_item *last = l->count ? &l->items[l->count - 1] : NULL;
	memcpy(l->instructions + l->instruction_count, instructions, count * sizeof *instructions);
	if (kind == ITEM_UNIFORM && last && last->kind == kind && !traced)
		last->count += count;
	else
		l->items[l->count++] = (struct text_item){.kind = kind, .first = l->instruction_count, .count = count, .traced = traced};
	l->instruction_count += count;
}

static void close_loop(struct item_builder *b)
{
	if (b->open_count)
		add_item(b, ITEM_LANES, b->open, b->open_count, false);
	b->open_count = b->open_sites = 0;
}

/* Whether the open loop still needs what the instruction overwrites. */
static bool is_needed_before(const struct item_builder *b, const struct ptx_instruction *in)
{
	for (uint32_t k = 0; k < b->open_count; k++) {
		const struct ptx_instruction *earlier = &b->f->function->instructions[b->open[k]];
		for (uint32_t o = 0; o < in->operand_count; o++) {
			if (!in->operands[o].write)
				continue;
			if (earlier->guard == in->operands[o].reg && earlier->guard >= 0)
				return true;
			for (uint32_t r = 0; r < earlier->operand_count; r++)
				if (earlier->operands[r].reg == in->operands[o].reg && in->operands[o].reg >= 0)
					return true;
		}
	}
	return false;
}

static void add_instruction(struct item_builder *b, uint32_t i, enum item_use_of_sites sites)
{
	const struct ptx_instruction *in = &b->f->function->instructions[i];
	enum lift_kind kind = lift_kind(in);
	bool traced = sites != SITES_PLAIN && has_site(in);
	if (flow_kind(in) != FLOW_NONE || kind == LIFT_FLOW || kind == LIFT_NOTHING)
		return;
	if (traced && sites == SITES_IN_LOOPS && kind == LIFT_LANE && !is_uniform(b->f, in)) {
		if (b->open_sites == MOST_SITES_IN_LOOP)
			close_loop(b);
		b->open_sites++;
		traced = false;
	}
	if (kind == LIFT_LANE && is_uniform(b->f, in) && !traced) {
		if (is_needed_before(b, in))
			close_loop(b);
		add_item(b, ITEM_UNIFORM, &i, 1, false);
		return;
	}
	if (kind != LIFT_LANE || traced || b->open_count == MOST_IN_LOOP)
		close_loop(b);
	if (kind == LIFT_LANE && !traced) {
		b->open[b->open_count++] = i;
		return;
	}
	bool uniform = kind == LIFT_LANE && is_uniform(b->f, in);
	add_item(b, uniform ? ITEM_UNIFORM : kind == LIFT_WARP ? ITEM_WARP : kind == LIFT_LANE ? ITEM_LANES : ITEM_ORDERED, &i, 1,
	         traced);
}

int list_items(const struct planned_function *f, const struct kernel_part *part, enum item_use_of_sites sites, struct item_list *out)
{
	uint32_t count = part->end - part->first;
	struct item_builder b = {.f = f, .list = out, .open = calloc(count + 1u, sizeof *b.open)};
	*out = (struct item_list){.items = calloc(2u * count + 2u, sizeof *out->items),
	                          .instructions = calloc(count + 1u, sizeof *out->instructions)};
	int result = b.open && out->items && out->instructions ? 0 : -ENOMEM;
	for (uint32_t i = part->first; i < part->end && !result; i++)
		add_instruction(&b, i, sites);
	if (!result && guard_varies(f, last_flow(f, part))) {
		if (b.open_count)
			close_loop(&b);
		else
			out->items[out->count++] = (struct text_item){.kind = ITEM_LANES, .first = out->instruction_count};
		out->items[out->count - 1].takes_mask = true;
	}
	if (!result)
		close_loop(&b);
	free(b.open);
	if (result)
		free_items(out);
	return result;
}

void free_items(struct item_list *list)
{
	free(list->items);
	free(list->instructions);
	*list = (struct item_list){0};
}

/* ---- what a loop loads and stores ---- */

static void note_use(const struct planned_function *f, struct item_uses *u, int32_t reg, bool written)
{
	if (reg < 0 || f->registers[reg].uniform)
		return;
	for (uint32_t i = 0; i < u->count; i++)
		if (u->list[i].reg == reg) {
			u->list[i].written |= written;
			return;
		}
	u->list[u->count++] = (struct item_use){.reg = reg, .written = written};
}

static void note_uses(const struct planned_function *f, struct item_uses *u, const struct ptx_instruction *i)
{
	note_use(f, u, i->guard, false);
	for (uint32_t o = 0; o < i->operand_count; o++)
		note_use(f, u, i->operands[o].reg, i->operands[o].write);
}

/* Whether the register is needed after the item. What the last instruction's guard was is in the mask then. */
static bool is_needed_after(const struct planned_function *f, const struct kernel_part *part, const struct item_list *list,
                            const struct text_item *item, uint32_t reg)
{
	const struct graph_block *b = &f->graph->blocks[part->block];
	uint32_t next = item->takes_mask ? part->end : list->instructions[item->first + item->count - 1] + 1;
	const uint64_t *after = next < b->first + b->count ? f->before + (size_t)next * f->live.words
	                                                    : f->live.out + (size_t)part->block * f->live.words;
	const struct ptx_instruction *flow = item->takes_mask ? last_flow(f, part) : NULL;
	for (uint32_t o = 0; flow && o < flow->operand_count; o++)
		if (flow->operands[o].reg == (int32_t)reg)
			return true;
	return is_live(after, reg);
}

static int find_uses(const struct planned_function *f, const struct kernel_part *part, const struct item_list *list, const struct text_item *item,
                     struct item_uses *out)
{
	uint32_t most = 2;
	for (uint32_t i = 0; i < item->count; i++)
		most += f->function->instructions[list->instructions[item->first + i]].operand_count + 1;
	*out = (struct item_uses){.list = calloc(most, sizeof *out->list)};
	if (!out->list)
		return -ENOMEM;
	for (uint32_t i = 0; i < item->count; i++)
		note_uses(f, out, &f->function->instructions[list->instructions[item->first + i]]);
	if (item->takes_mask)
		note_use(f, out, last_flow(f, part)->guard, false);
	for (uint32_t i = 0; i < out->count; i++) {
		struct item_use *u = &out->list[i];
		uint32_t first = item->count ? list->instructions[item->first] : part->end - 1;
		u->load = is_live(f->before + (size_t)first * f->live.words, (uint32_t)u->reg);
		u->store = u->written && is_needed_after(f, part, list, item, (uint32_t)u->reg);
	}
	return 0;
}

static void mark_flow(struct planned_function *f, const struct ptx_instruction *i)
{
	for (uint32_t o = 0; i && o < i->operand_count; o++)
		if (i->operands[o].reg >= 0 && !f->registers[i->operands[o].reg].uniform)
			f->registers[i->operands[o].reg].array = true;
}

static int mark_part(struct planned_function *f, const struct kernel_part *part, bool tracing)
{
	struct item_list list;
	int result = list_items(f, part, tracing ? SITES_APART : SITES_PLAIN, &list);
	if (result)
		return result;
	for (uint32_t i = 0; i < list.count && !result; i++) {
		struct item_uses uses = {0};
		bool lanes = list.items[i].kind == ITEM_LANES && !list.items[i].traced;
		if (list.items[i].kind == ITEM_UNIFORM && !list.items[i].traced)
			continue;
		result = find_uses(f, part, &list, &list.items[i], &uses);
		for (uint32_t u = 0; u < uses.count; u++)
			if (!lanes || uses.list[u].load || uses.list[u].store)
				f->registers[uses.list[u].reg].array = true;
		free(uses.list);
	}
	mark_flow(f, last_flow(f, part));
	free_items(&list);
	return result;
}

int mark_arrays(struct planned_function *f)
{
	int result = 0;
	for (uint32_t p = 0; p < 2 * f->part_count && !result; p++)
		result = mark_part(f, &f->parts[p / 2], p % 2);
	return result;
}

/* ---- text ---- */

static void spell(const struct lift_scope *s, int32_t reg, struct gs_buf *out)
{
	const struct kernel_writer *w = s->user;
	uint32_t f = (uint32_t)(w->f - w->plan->functions);
	if (w->f->registers[reg].uniform)
		gs_buf_printf(out, "u%u_%d", f, reg);
	else if (w->in_lanes)
		gs_buf_printf(out, "v%d", reg);
	else if (w->in_first)
		gs_buf_printf(out, "w%d", reg);
	else
		gs_buf_printf(out, "r%u_%d[l]", f, reg);
}

static bool find_in_function(const struct kernel_writer *w, const char *symbol, struct lift_place *out)
{
	const struct ptx_function *own = w->f->function;
	for (uint32_t v = 0; v < own->variable_count; v++) {
		if (strcmp(own->variables[v].name, symbol))
			continue;
		bool parameter = own->entry && v < own->parameter_count;
		*out = (struct lift_place){parameter                                  ? LIFT_PARAMETER
		                           : own->variables[v].space == SPACE_shared ? LIFT_SHARED
		                                                                       : LIFT_LOCAL,
		                           w->f->variable_at[v]};
		return true;
	}
	return false;
}

static bool find_symbol(const struct lift_scope *s, const char *symbol, struct lift_place *out)
{
	const struct kernel_writer *w = s->user;
	const struct lifted *l = w->plan->lifted;
	if (find_in_function(w, symbol, out))
		return true;
	for (uint32_t v = 0; v < l->variable_count; v++)
		if (!strcmp(l->variables[v].name, symbol)) {
			*out = (struct lift_place){LIFT_VARIABLE, l->variables[v].offset};
			return true;
		}
	for (uint32_t v = 0; v < l->module->variable_count; v++)
		if (l->module->variables[v].space == SPACE_shared && !strcmp(l->module->variables[v].name, symbol)) {
			*out = (struct lift_place){LIFT_SHARED, w->plan->module_at[v]};
			return true;
		}
	int32_t f = function_index(l->module, symbol);
	*out = (struct lift_place){LIFT_FUNCTION, (uint64_t)f + 1};
	return f >= 0;
}

struct lift_scope scope_of(struct kernel_writer *w)
{
	return (struct lift_scope){.module = w->plan->lifted->module, .function = w->f->function, .spell = spell, .find = find_symbol, .user = w,
	                           .straight = w->access.straight, .first = w->access.number, .stride = w->access.stride, .checks = w->checks};
}

int write_guard(struct kernel_writer *w, const struct ptx_instruction *i)
{
	struct lift_scope s = scope_of(w);
	struct ptx_operand o = {.kind = PTX_REGISTER, .reg = i->guard, .label = -1, .negated = i->guard_negated};
	gs_buf_puts(w->out, "(");
	int result = lift_value(&s, &o, "pred", w->out, w->err);
	gs_buf_puts(w->out, " & 1u)");
	return result;
}

/* Statements that must not be executed for lanes that are off, or that take long. */
static bool is_dangerous(const struct ptx_instruction *i)
{
	switch (i->class) {
	case CODE_int_div: case CODE_fp32_div: case CODE_fp64_div: case CODE_sfu: case CODE_load: case CODE_store: case CODE_atomic: case CODE_texture: return true;
	default: return false;
	}
}

/* The loop cannot be vectorised for some of the lanes. It is then made for these alone. */
static bool is_dangerous_item(const struct kernel_writer *w, const struct item_list *list, const struct text_item *item)
{
	for (uint32_t i = 0; i < item->count; i++)
		if (is_dangerous(&w->f->function->instructions[list->instructions[item->first + i]]))
			return true;
	return false;
}

int write_lane_statement(struct kernel_writer *w, const struct ptx_instruction *i, bool partial)
{
	struct lift_scope s = scope_of(w);
	bool on = partial && is_dangerous(i);
	int result = 0;
	if (on || i->guard >= 0)
		gs_buf_puts(w->out, on && i->guard >= 0 ? "if (on & " : on ? "if (on) " : "if ");
	if (i->guard >= 0) {
		result = write_guard(w, i);
		gs_buf_puts(w->out, on ? ") " : " ");
	}
	gs_buf_puts(w->out, "{ ");
	if (!result)
		result = lift_statement(&s, i, w->out, w->err);
	gs_buf_puts(w->out, " }\n");
	return result;
}

void write_load(struct kernel_writer *w, const struct item_use *use)
{
	uint32_t f = (uint32_t)(w->f - w->plan->functions);
	const char *type = lift_storage(&w->f->function->registers[use->reg]);
	if (use->load)
		gs_buf_printf(w->out, "%s v%d = r%u_%d[l];\n", type, use->reg, f, use->reg);
	else
		gs_buf_printf(w->out, "%s v%d = 0;\n", type, use->reg);
}

/* Whether lanes that are off may still need what the register is. */
static bool lanes_need(const struct kernel_writer *w, int32_t reg)
{
	return w->f->apart || !w->plan->plain_splits || w->f->registers[reg].parted;
}

int write_loop_end(struct kernel_writer *w, const struct kernel_part *part, const struct text_item *item, const struct item_uses *uses,
                   bool partial)
{
	uint32_t f = (uint32_t)(w->f - w->plan->functions);
	for (uint32_t i = 0; i < uses->count; i++) {
		int32_t reg = uses->list[i].reg;
		if (!uses->list[i].store)
			continue;
		bool keeps = partial && lanes_need(w, reg);
		gs_buf_printf(w->out, keeps ? "r%u_%d[l] = on ? v%d : r%u_%d[l];\n" : "r%u_%d[l] = v%d;\n", f, reg, reg, f, reg);
	}
	if (!item->takes_mask)
		return 0;
	gs_buf_puts(w->out, partial ? "t |= (on & " : "t |= (");
	int result = write_guard(w, last_flow(w->f, part));
	gs_buf_puts(w->out, ") << l;\n");
	return result;
}

static int write_loop(struct kernel_writer *w, const struct kernel_part *part, const struct item_list *list, const struct text_item *item,
                      const struct item_uses *uses, bool partial)
{
	int result = 0;
	bool each = partial && is_dangerous_item(w, list, item);
	gs_buf_puts(w->out, !partial ? "GS_ALL for (uint l = 0; l < 32; l++) {\n"
	                    : each   ? "for (; left; left &= left - 1) {\nconst uint l = GS_FIRST(left);\n"
	                             : "GS_SOME for (uint l = 0; l < 32; l++) {\nconst uint on = m >> l & 1u;\n");
	partial &= !each;
	w->in_lanes = true;
	for (uint32_t i = 0; i < uses->count; i++)
		write_load(w, &uses->list[i]);
	for (uint32_t i = 0; i < item->count && !result; i++)
		result = write_lane_statement(w, &w->f->function->instructions[list->instructions[item->first + i]], partial);
	if (!result)
		result = write_loop_end(w, part, item, uses, partial);
	w->in_lanes = false;
	gs_buf_puts(w->out, "}\n");
	return result;
}

static int write_lanes(struct kernel_writer *w, const struct kernel_part *part, const struct item_list *list, const struct text_item *item)
{
	struct item_uses uses;
	int result = find_uses(w->f, part, list, item, &uses);
	if (result)
		return gs_fail(w->err, ENOMEM, "out of memory");
	bool dangerous = is_dangerous_item(w, list, item);
	gs_buf_puts(w->out, item->takes_mask ? "t = 0;\n" : "");
	if (in_single_lanes(w)) {
		result = write_single_lanes(w, part, list, item, &uses);
		free(uses.list);
		return result;
	}
	if (dangerous) {
		bool straight = is_straight_item(w, list, item);
		gs_buf_puts(w->out, "{\nuint left = m;\nif (m == 0xffffffffu) {\nulong done = 0;\n");
		if (straight) {
			gs_buf_puts(w->out, "if (straight) {\n");
			result = write_straight(w, part, list, item, &uses);
			gs_buf_puts(w->out, "} else {\n");
		}
		if (!result)
			result = write_loop(w, part, list, item, &uses, false);
		gs_buf_printf(w->out, "done = 32;\n%sleft = done < 32 ? m << done : 0;\n}\n", straight ? "}\n" : "");
	}
	if (!result)
		result = write_loop(w, part, list, item, &uses, true);
	gs_buf_puts(w->out, dangerous ? "}\n" : "");
	free(uses.list);
	return result;
}

int write_guard_mask(struct kernel_writer *w, const struct ptx_instruction *i)
{
	int result = 0;
	gs_buf_puts(w->out, "uint x = m;\n");
	if (i->guard < 0)
		return 0;
	gs_buf_puts(w->out, "GS_LANES\nx &= ~((");
	result = write_guard(w, i);
	gs_buf_puts(w->out, " ^ 1u) << l);\n");
	return result;
}

static int write_warp_statement(struct kernel_writer *w, const struct kernel_part *part, const struct ptx_instruction *i)
{
	struct lift_scope s = scope_of(w);
	bool meets = w->plan->meets && is_sync(i);
	if (meets)
		write_here(w, part);
	gs_buf_puts(w->out, "{\n");
	int result = write_guard_mask(w, i);
	gs_buf_puts(w->out, "if (x) {\n");
	if (!result)
		result = lift_statement(&s, i, w->out, w->err);
	gs_buf_puts(w->out, meets ? "\n}\n}\nmet = 0;\n" : "\n}\n}\n");
	return result;
}

static int write_ordered(struct kernel_writer *w, const struct ptx_instruction *i)
{
	struct lift_scope s = scope_of(w);
	int result = 0;
	gs_buf_puts(w->out, "for (uint left = m; left; left &= left - 1) {\nconst uint l = GS_FIRST(left);\n");
	if (i->guard >= 0) {
		gs_buf_puts(w->out, "if (!");
		result = write_guard(w, i);
		gs_buf_puts(w->out, ") continue;\n");
	}
	if (!result)
		result = lift_statement(&s, i, w->out, w->err);
	gs_buf_puts(w->out, "\n}\n");
	return result;
}

/* The first instruction of an item whose address may be misaligned, or NULL. */
static const struct ptx_instruction *first_checked(const struct kernel_writer *w, const struct item_list *list, const struct text_item *item)
{
	for (uint32_t i = 0; i < item->count && item->kind != ITEM_WARP && w->form == LIFT_TRACING; i++) {
		const struct ptx_instruction *in = &w->f->function->instructions[list->instructions[item->first + i]];
		if (lift_low_bits(in))
			return in;
	}
	return NULL;
}

static int write_plain_item(struct kernel_writer *w, const struct kernel_part *part, const struct item_list *list, const struct text_item *item)
{
	int result = 0;
	const struct ptx_instruction *first = item->count ? &w->f->function->instructions[list->instructions[item->first]] : NULL;
	if (item->traced)
		result = write_traced_access(w, list->instructions[item->first]);
	switch (result ? ITEM_UNIFORM : item->kind) {
	case ITEM_LANES: return write_lanes(w, part, list, item);
	case ITEM_ORDERED: return write_ordered(w, first);
	case ITEM_WARP: return write_warp_statement(w, part, first);
	case ITEM_UNIFORM: break;
	}
	for (uint32_t i = 0; i < item->count && !result; i++)
		result = write_lane_statement(w, &w->f->function->instructions[list->instructions[item->first + i]], false);
	return result;
}

/*
 * The kernel goes on after a misaligned access, which the host can make; its fault is seen when it has ended. The text that counts does not look: that
 * took 3% of the time of kernels (25 medium cases).
 */
int write_item(struct kernel_writer *w, const struct kernel_part *part, const struct item_list *list, const struct text_item *item)
{
	const struct ptx_instruction *checked = first_checked(w, list, item);
	w->checks = checked;
	gs_buf_puts(w->out, checked ? "{\nuint bad = 0;\n" : "");
	int result = write_plain_item(w, part, list, item);
	if (checked)
		gs_buf_printf(w->out, "if (bad) gs_fault(launch, g->number, GS_LIFTED_MISALIGNED, %u, 0, 0, 0, 0, never);\n}\n", checked->ptx_line);
	w->checks = false;
	return result;
}

int write_items(struct kernel_writer *w, const struct kernel_part *part)
{
	struct item_list list;
	enum item_use_of_sites sites = w->form != LIFT_TRACING ? SITES_PLAIN : in_single_lanes(w) ? SITES_IN_LOOPS : SITES_APART;
	int result = list_items(w->f, part, sites, &list);
	if (result)
		return gs_fail(w->err, ENOMEM, "out of memory");
	if (w->plan->in_pieces)
		result = write_pieces(w, part, &list);
	else
		for (uint32_t i = 0; i < list.count && !result; i++)
			result = write_item(w, part, &list, &list.items[i]);
	free_items(&list);
	return result;
}
