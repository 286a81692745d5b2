/* What each line of the source became; see explain.h. */
#include "runtime/cmd/explain/explain.h"

#include "models/code/costs.h"
#include "models/warps/machine/machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LETTER(name, letter, what) letter,
#define TEXT(name, letter, what) what,
static const char letters[] = {EXPLAIN_FAMILIES(LETTER)};
static const char *const texts[] = {EXPLAIN_FAMILIES(TEXT)};
#undef LETTER
#undef TEXT

char explain_letter(enum explain_family f)
{
	return letters[f];
}

const char *explain_family_text(enum explain_family f)
{
	return texts[f];
}

static enum explain_family family_of_memory(uint8_t space)
{
	switch (space) {
	case SPACE_shared:
		return FAMILY_shared;
	case SPACE_local:
		return FAMILY_private;
	case SPACE_const:
	case SPACE_param:
		return FAMILY_constant;
	case SPACE_texture:
		return FAMILY_texture;
	default:
		return FAMILY_global;
	}
}

static enum explain_family family_of(const struct code_instruction *i)
{
	switch ((enum code_class)i->class) {
	case CODE_int:
	case CODE_int_mul:
	case CODE_int_mad:
	case CODE_int_minmax:
		return FAMILY_int;
	case CODE_fp32:
	case CODE_fp32_fma:
	case CODE_fp32_minmax:
		return FAMILY_fp32;
	case CODE_fp64:
	case CODE_fp64_fma:
	case CODE_fp64_minmax:
		return FAMILY_fp64;
	case CODE_int_div:
	case CODE_fp32_div:
	case CODE_fp64_div:
	case CODE_sfu:
		return FAMILY_sfu;
	case CODE_logic:
		return FAMILY_logic;
	case CODE_conv:
	case CODE_move:
	case CODE_shuffle:
		return FAMILY_move;
	case CODE_branch:
		return FAMILY_branch;
	case CODE_barrier:
	case CODE_fence:
		return FAMILY_barrier;
	case CODE_load:
	case CODE_store:
		return family_of_memory(i->space);
	case CODE_atomic:
		return FAMILY_atomic;
	case CODE_texture:
		return FAMILY_texture;
	case CODE_tensor:
	case CODE_tensor_half:
	case CODE_tensor_fp64:
		return FAMILY_tensor;
	default:
		return FAMILY_other;
	}
}

/* ---- which line ---- */

static bool is_own_file(const char *name)
{
	return !strcmp(strncmp(name, "./", 2) ? name : name + 2, "program.cl");
}

static struct explain_line *place_of(struct explain_kernel *k, const char *file, uint32_t number)
{
	for (size_t i = 0; i < k->place_count; i++)
		if (k->places[i].number == number && !strcmp(k->places[i].file, file))
			return &k->places[i].line;
	struct explain_place *more = realloc(k->places, (k->place_count + 1) * sizeof *more);
	if (!more)
		return NULL;
	k->places = more;
	more[k->place_count] = (struct explain_place){.file = file, .number = number};
	return &more[k->place_count++].line;
}

/* The line of an instruction. Code from our own prelude, and code that the compiler added, belongs to no line. */
static struct explain_line *line_of(struct explain *e, struct explain_kernel *k, const struct code_instruction *i)
{
	const char *file = i->line && i->file < k->code->file_count ? k->code->strings + k->code->files[i->file] : NULL;
	const char *base = file && strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
	if (!file || !strcmp(base, "prelude.cl"))
		return &k->elsewhere;
	if (!is_own_file(file))
		return place_of(k, file, i->line);
	return i->line <= e->source.line_count ? &k->lines[i->line] : &k->elsewhere;
}

/* ---- adding up ---- */

static bool add_block(struct explain_line *l, uint32_t block)
{
	if (l->block_count && l->blocks[l->block_count - 1] == block)
		return true;
	uint32_t *more = realloc(l->blocks, (l->block_count + 1) * sizeof *more);
	if (!more)
		return false;
	l->blocks = more;
	l->blocks[l->block_count++] = block;
	return true;
}

static bool add_instruction(struct explain_line *l, const struct code_instruction *i, double cycles, uint32_t block,
                            uint32_t depth)
{
	l->instructions++;
	l->families[family_of(i)]++;
	l->cycles += cycles;
	if (depth > l->depth)
		l->depth = depth;
	return add_block(l, block);
}

static uint32_t loop_depth(const struct kernel_code *c, int32_t loop)
{
	uint32_t depth = 0;
	for (; loop >= 0; loop = c->loops[loop].outer)
		depth++;
	return depth;
}

/* The shortest piece of a block's loop that has several rounds; UINT32_MAX: there is none. */
static uint32_t shortest_piece(const struct kernel_code *c, uint32_t block)
{
	uint32_t best = UINT32_MAX;
	for (uint32_t b = c->block_count; b < c->machine_block_count; b++) {
		const struct code_machine_block *m = &c->machine_blocks[b];
		if (m->of == block && m->times > 1 && m->times <= CODE_MOST_TIMES && (best == UINT32_MAX || m->times < c->machine_blocks[best].times))
			best = b;
	}
	return best;
}

/* The instructions that a block is shown with: its own. If its loop only has several rounds at once, the fewest. */
static uint32_t shown_as(const struct kernel_code *c, uint32_t block)
{
	uint32_t piece = machine_has(c) && !c->machine_blocks[block].count ? shortest_piece(c, block) : UINT32_MAX;
	return piece == UINT32_MAX ? block : piece;
}

/* Block `as` of what is executed, for a block of the PTX. */
static int attribute_block(struct explain *e, struct explain_kernel *k, uint32_t block, uint32_t as, uint32_t depth)
{
	const struct code_block *b = &k->executed.blocks[as];
	double *cycles = calloc(b->count + 1u, sizeof *cycles);
	int result = cycles ? pipeline_issue_latencies(&e->gpu, &k->executed, as, cycles) : -ENOMEM;
	for (uint32_t i = 0; i < b->count && !result; i++) {
		const struct code_instruction *in = &k->executed.code[b->first + i];
		struct explain_line *l = line_of(e, k, in);
		if (!l || !add_instruction(l, in, cycles[i], block, depth) ||
		    !add_instruction(&k->all, in, cycles[i], block, depth))
			result = -ENOMEM;
	}
	free(cycles);
	return result;
}

/* A loop of the source was unrolled if fewer loops of the target are around its lines than loops of the source. */
static int find_unrolled(const struct explain_source *s, struct explain_kernel *k)
{
	k->unrolled = calloc(s->loop_count + 1, sizeof *k->unrolled);
	for (size_t i = 0; i < s->loop_count && k->unrolled; i++) {
		uint32_t depth = 0, instructions = 0;
		for (uint32_t line = s->loops[i].first; line <= s->loops[i].last && line <= s->line_count; line++) {
			instructions += k->lines[line].instructions;
			if (k->lines[line].depth > depth)
				depth = k->lines[line].depth;
		}
		k->unrolled[i] = instructions && depth < s->loops[i].depth;
	}
	return k->unrolled ? 0 : -ENOMEM;
}

static int choose_code(struct explain_kernel *k)
{
	k->executed = *k->code;
	if (!machine_has(k->code))
		return 0;
	k->machine_blocks = calloc(k->code->machine_block_count + 1u, sizeof *k->machine_blocks);
	if (!k->machine_blocks)
		return -ENOMEM;
	machine_view(k->code, k->machine_blocks, &k->executed);
	return 0;
}

/* What enters a loop that is not unrolled is outside it. */
static int attribute_ways_in(struct explain *e, struct explain_kernel *k)
{
	const struct kernel_code *c = k->code;
	int result = 0;
	for (uint32_t b = c->block_count; b < c->machine_block_count && !result; b++) {
		uint32_t of = c->machine_blocks[b].of, depth = loop_depth(c, c->blocks[of].loop);
		if (!c->machine_blocks[b].times && shortest_piece(c, of) == UINT32_MAX)
			result = attribute_block(e, k, of, b, depth ? depth - 1 : 0);
	}
	return result;
}

/* After the first `block_count` blocks come copies of unrolled loops, which are the same lines again. */
int explain_attribute(struct explain *e, struct explain_kernel *k, struct gs_error *err)
{
	k->lines = calloc(e->source.line_count + 1u, sizeof *k->lines);
	int result = k->lines ? choose_code(k) : -ENOMEM;
	for (uint32_t b = 0; b < k->code->block_count && !result; b++)
		result = attribute_block(e, k, b, shown_as(k->code, b), loop_depth(k->code, k->code->blocks[b].loop));
	if (!result)
		result = attribute_ways_in(e, k);
	if (!result)
		result = find_unrolled(&e->source, k);
	return result ? gs_fail(err, ENOMEM, "out of memory") : 0;
}

void explain_line_free(struct explain_line *l)
{
	free(l->blocks);
	l->blocks = NULL;
}

/* ---- asking ---- */

bool explain_shows(const struct explain *e, const struct explain_kernel *k, uint32_t line)
{
	const struct explain_range *f = explain_function_of(&e->source, line);
	if (!f)
		return k->lines[line].instructions > 0;
	if (!strcmp(f->function, k->name))
		return true;
	for (uint32_t l = f->first; l <= f->last && l <= e->source.line_count; l++)
		if (k->lines[l].instructions)
			return true;
	return false;
}

bool explain_has_loop(const struct explain *e, const struct explain_kernel *k)
{
	for (size_t i = 0; i < e->source.loop_count; i++)
		if (explain_shows(e, k, e->source.loops[i].first))
			return true;
	return false;
}

size_t explain_mix(const struct explain_line *l, enum explain_family order[FAMILY_COUNT])
{
	size_t count = 0;
	for (int f = 0; f < FAMILY_COUNT; f++) {
		size_t at = count;
		if (!l->families[f])
			continue;
		for (; at > 0 && l->families[order[at - 1]] < l->families[f]; at--)
			order[at] = order[at - 1];
		order[at] = (enum explain_family)f;
		count++;
	}
	return count;
}

void explain_blocks(const struct explain_line *l, struct gs_buf *out)
{
	for (uint32_t i = 0, next; i < l->block_count; i = next) {
		for (next = i + 1; next < l->block_count && l->blocks[next] == l->blocks[next - 1] + 1;)
			next++;
		gs_buf_printf(out, "%s%u", i ? "," : "", l->blocks[i]);
		if (next - i > 1)
			gs_buf_printf(out, "%s%u", next - i > 2 ? "-" : ",", l->blocks[next - 1]);
	}
}
