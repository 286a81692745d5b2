/* A kernel's code to bytes and back. The bytes are the arrays themselves, in the order of CODE_ARRAYS. */
#include "models/code/code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* X(type, array, count): one row per array of struct kernel_code. */
#define CODE_ARRAYS(X)                                                                                                 \
	X(struct code_instruction, code, code_count)                                                                   \
	X(struct code_register, register_table, register_count)                                                        \
	X(struct code_block, blocks, block_count)                                                                      \
	X(struct code_edge, edges, edge_count)                                                                         \
	X(struct code_term, terms, term_count)                                                                         \
	X(struct code_loop, loops, loop_count)                                                                         \
	X(struct code_unknown, unknowns, unknown_count)                                                                \
	X(struct code_check, checks, check_count)                                                                      \
	X(struct code_node, nodes, node_count)                                                                         \
	X(struct code_step, steps, step_count)                                                                         \
	X(struct code_instruction, machine, machine_count)                                                             \
	X(struct code_machine_block, machine_blocks, machine_block_count)                                              \
	X(struct code_register, machine_registers, machine_register_count)                                             \
	X(uint16_t, machine_operands, machine_operand_count)                                                           \
	X(uint32_t, machine_origins, machine_origin_count)                                                             \
	X(uint32_t, functions, function_count)                                                                         \
	X(uint32_t, files, file_count)                                                                                 \
	X(uint32_t, probes, probe_count)                                                                               \
	X(uint16_t, operands, operand_count)                                                                           \
	X(char, strings, string_bytes)

#define COUNT_ARRAY(type, array, count) +1
enum { ARRAY_COUNT = 0 CODE_ARRAYS(COUNT_ARRAY) };
#undef COUNT_ARRAY

/* What stands in front of the arrays. `size` differs for another layout. */
struct code_header {
	uint32_t magic, size;
	uint32_t instructions, registers, shared_bytes, local_bytes, counter_count, site_count, origin;
	uint32_t counts[ARRAY_COUNT];
};
enum { CODE_MAGIC = 0x32435347 }; /* GSC2 */
enum { MOST_LOOP_DEPTH = 1 << 12 }; /* compilers take a few hundred at most */

#define NAME(name) #name,
static const char *const class_names[] = {CODE_CLASSES(NAME)};
#undef NAME

bool code_fences_gpu(const struct kernel_code *code, const struct code_instruction *fence)
{
	const char *level = code->strings ? strrchr(code->strings + fence->opcode, '.') : NULL; /* traces and task lists have none */
	return level ? strcmp(level, ".cta") != 0 && strcmp(level, ".cluster") != 0 : fence->flags & CODE_OF_GPU;
}

const char *code_class_name(enum code_class class)
{
	return (unsigned)class < CODE_CLASS_COUNT ? class_names[class] : "unknown";
}

bool code_accesses_memory(const struct code_instruction *in)
{
	return in->class == CODE_load || in->class == CODE_store || in->class == CODE_atomic || in->class == CODE_texture;
}

static uint32_t layout_size(void)
{
	size_t size = sizeof(struct code_header);
#define ADD_SIZE(type, array, count) size = size * 31 + sizeof(type);
	CODE_ARRAYS(ADD_SIZE)
#undef ADD_SIZE
	return (uint32_t)size;
}

void code_write(const struct kernel_code *code, struct gs_buf *out)
{
	struct code_header header = {
		.magic = CODE_MAGIC, .size = layout_size(), .instructions = code->instructions, .registers = code->registers,
		.shared_bytes = code->shared_bytes, .local_bytes = code->local_bytes, .counter_count = code->counter_count,
		.site_count = code->site_count, .origin = code->origin,
	};
	size_t i = 0;
#define PUT_COUNT(type, array, count) header.counts[i++] = code->count;
	CODE_ARRAYS(PUT_COUNT)
#undef PUT_COUNT
	gs_buf_add(out, (const char *)&header, sizeof header);
#define PUT_ARRAY(type, array, count) gs_buf_add(out, (const char *)code->array, code->count * sizeof(type));
	CODE_ARRAYS(PUT_ARRAY)
#undef PUT_ARRAY
}

/* An array of `count` elements, at least one byte so that it can be freed and pointed at. */
static void *copy_array(const char **at, uint32_t count, size_t size)
{
	void *copy = malloc(count * size + 1);
	if (copy)
		memcpy(copy, *at, count * size);
	*at += count * size;
	return copy;
}

static bool in_range(uint64_t first, uint64_t count, uint64_t limit)
{
	return first + count <= limit;
}

static bool is_index(int64_t index, uint32_t limit)
{
	return index >= -1 && index < (int64_t)limit;
}

static bool instruction_sound(const struct kernel_code *c, const struct code_instruction *in, uint32_t operand_count)
{
	return in->class < CODE_CLASS_COUNT && in->space < CODE_SPACE_COUNT && in->opcode < c->string_bytes &&
	       !(in->line && in->file >= c->file_count) && is_index(in->address, c->node_count) &&
	       is_index(in->site, c->site_count) &&
	       in_range(in->first_operand, in->writes + in->reads + in->waits, operand_count);
}

static bool operands_sound(const uint16_t *operands, uint32_t count, uint32_t register_count)
{
	for (uint32_t i = 0; i < count; i++)
		if (operands[i] >= register_count)
			return false;
	return true;
}

static bool instructions_sound(const struct kernel_code *c)
{
	for (uint32_t i = 0; i < c->code_count; i++)
		if (!instruction_sound(c, &c->code[i], c->operand_count))
			return false;
	return operands_sound(c->operands, c->operand_count, c->register_count);
}

static bool origin_sound(const struct kernel_code *c, uint32_t i)
{
	bool uniform = c->machine[i].class == CODE_uniform;
	uint8_t class = uniform ? CODE_load : c->machine[i].class;
	bool has_access = class >= CODE_load && class <= CODE_texture;
	uint32_t origin = c->machine_origins[i];
	return origin == UINT32_MAX ? !has_access : origin < c->code_count && c->code[origin].class == class;
}

/* What stands for no execution of a block makes no accesses: nobody has counted any. */
static bool piece_sound(const struct kernel_code *c, const struct code_machine_block *b)
{
	bool parted = b->times == CODE_ARRIVES || b->times == CODE_GOES_AGAIN;
	for (uint32_t i = b->first; i < b->first + b->count && (parted || !b->times); i++) {
		uint8_t class = c->machine[i].class;
		if ((class >= CODE_load && class <= CODE_texture && class != CODE_fence) || class == CODE_uniform)
			return false;
	}
	return parted || b->times == CODE_REST || (b->times != 1 && b->times <= CODE_MOST_TIMES);
}

/* Either all of it or nothing is there. */
static bool machine_sound(const struct kernel_code *c)
{
	if (!c->machine_block_count)
		return !c->machine_count && !c->machine_register_count && !c->machine_operand_count && !c->machine_origin_count;
	if (c->machine_block_count < c->block_count || c->machine_origin_count != c->machine_count)
		return false;
	for (uint32_t i = 0; i < c->machine_count; i++)
		if (!instruction_sound(c, &c->machine[i], c->machine_operand_count) || !origin_sound(c, i))
			return false;
	for (uint32_t i = 0; i < c->machine_block_count; i++) {
		const struct code_machine_block *b = &c->machine_blocks[i];
		bool itself = i < c->block_count;
		if (!in_range(b->first, b->count, c->machine_count) || b->of >= c->block_count || (itself && b->of != i) ||
		    (itself ? b->times != 1 : !piece_sound(c, b)) || !is_index(b->merged, c->block_count) ||
		    (b->merged >= 0 && b->count))
			return false;
	}
	return operands_sound(c->machine_operands, c->machine_operand_count, c->machine_register_count);
}

/* Whether every loop is in others that end: what follows `outer` must not go round for ever. */
static bool loops_sound(const struct kernel_code *c)
{
	for (uint32_t i = 0; i < c->loop_count; i++) {
		uint32_t depth = 0;
		if (c->loops[i].header >= c->block_count || !is_index(c->loops[i].outer, c->loop_count))
			return false;
		for (int32_t l = (int32_t)i; l >= 0; l = is_index(c->loops[l].outer, c->loop_count) ? c->loops[l].outer : -1)
			if (++depth > MOST_LOOP_DEPTH)
				return false;
	}
	return true;
}

/* An instruction or edge is of one block at most: what executes a block takes no more time than the file is long. */
static bool blocks_sound(const struct kernel_code *c)
{
	uint64_t instructions = 0, edges = 0;
	for (uint32_t i = 0; i < c->block_count; i++) {
		const struct code_block *b = &c->blocks[i];
		instructions += b->count;
		edges += b->edge_count;
		if (!in_range(b->first, b->count, c->code_count) || !b->edge_count ||
		    !in_range(b->first_edge, b->edge_count, c->edge_count) || (b->call != CODE_CALL_ANY && !is_index(b->call, c->block_count)) ||
		    !is_index(b->join, c->block_count) || !is_index(b->loop, c->loop_count) ||
		    b->function >= c->function_count || !in_range(b->first_probe, b->probe_count, c->probe_count))
			return false;
	}
	for (uint32_t i = 0; i < c->function_count; i++)
		if (c->functions[i] >= c->block_count)
			return false;
	return c->block_count && c->function_count && instructions <= c->code_count && edges <= c->edge_count;
}

static bool counts_sound(const struct kernel_code *c)
{
	uint64_t terms = 0;
	for (uint32_t i = 0; i < c->edge_count; i++) {
		const struct code_edge *e = &c->edges[i];
		terms += e->term_count;
		if (e->from >= c->block_count || !is_index(e->to, c->block_count) || !e->denominator ||
		    e->alike > c->edge_count || !in_range(e->first_probe, e->probe_count, c->probe_count) ||
		    !in_range(e->first_term, e->term_count, c->term_count))
			return false;
	}
	for (uint32_t i = 0; i < c->term_count; i++)
		if (c->terms[i].of >= (uint64_t)c->counter_count + c->unknown_count)
			return false;
	for (uint32_t i = 0; i < c->unknown_count; i++)
		if (c->unknowns[i].edge >= c->edge_count)
			return false;
	for (uint32_t i = 0; i < c->check_count; i++) {
		terms += c->checks[i].term_count;
		if (!in_range(c->checks[i].first_term, c->checks[i].term_count, c->term_count))
			return false;
	}
	return terms <= c->term_count;
}

static bool nodes_sound(const struct kernel_code *c)
{
	for (uint32_t i = 0; i < c->node_count; i++) {
		const struct code_node *n = &c->nodes[i];
		if (n->op >= NODE_OP_COUNT || !is_index(n->a, i) || !is_index(n->b, i) || !is_index(n->c, i) ||
		    n->from_bits > 64 || n->to_bits > 64 || !n->from_bits || !n->to_bits)
			return false;
	}
	return true;
}

static bool step_sound(const struct code_step *s)
{
	const struct code_node *n = &s->node;
	bool slots = is_index(s->slot, STEP_MOST_SLOTS) && is_index(n->a, STEP_MOST_SLOTS) && is_index(n->b, STEP_MOST_SLOTS) &&
	             is_index(n->c, STEP_MOST_SLOTS);
	bool address = s->slot < 0;
	return slots && n->op < NODE_OP_COUNT && n->from_bits && n->from_bits <= 64 && n->to_bits && n->to_bits <= 64 &&
	       !(address && (n->a < 0 || s->instruction == STEP_FIRST));
}

/* Constants first, then in the order of the code. */
static bool steps_sound(const struct kernel_code *c)
{
	uint32_t last = STEP_FIRST;
	for (uint32_t i = 0; i < c->step_count; i++) {
		uint32_t at = c->steps[i].instruction;
		bool ordered = last == STEP_FIRST || (at != STEP_FIRST && at >= last);
		if (!ordered || (at != STEP_FIRST && at >= c->code_count) || !step_sound(&c->steps[i]))
			return false;
		last = at;
	}
	return true;
}

static bool strings_sound(const struct kernel_code *c)
{
	for (uint32_t i = 0; i < c->file_count; i++)
		if (c->files[i] >= c->string_bytes)
			return false;
	return c->string_bytes && !c->strings[c->string_bytes - 1];
}

static bool probes_sound(const struct kernel_code *c)
{
	for (uint32_t i = 0; i < c->probe_count; i++)
		if (c->probes[i] >= c->counter_count)
			return false;
	return true;
}

static uint64_t size_of_arrays(const struct code_header *header)
{
	uint64_t bytes = sizeof *header;
	size_t i = 0;
#define ADD_BYTES(type, array, count) bytes += (uint64_t)header->counts[i++] * sizeof(type);
	CODE_ARRAYS(ADD_BYTES)
#undef ADD_BYTES
	return bytes;
}

/* False when memory ran out. */
static bool fill(struct kernel_code *c, const struct code_header *header, const char *at)
{
	bool all = true;
	size_t i = 0;
	c->instructions = header->instructions;
	c->registers = header->registers;
	c->shared_bytes = header->shared_bytes;
	c->local_bytes = header->local_bytes;
	c->counter_count = header->counter_count;
	c->site_count = header->site_count;
	c->origin = header->origin;
#define TAKE_ARRAY(type, array, count)                                                                                 \
	c->count = header->counts[i++];                                                                                \
	c->array = copy_array(&at, c->count, sizeof(type));                                                                  \
	all = all && c->array;
	CODE_ARRAYS(TAKE_ARRAY)
#undef TAKE_ARRAY
	return all;
}

int code_read(const void *data, size_t length, struct kernel_code **out, struct gs_error *err)
{
	struct code_header header;
	if (length >= sizeof header)
		memcpy(&header, data, sizeof header);
	if (length < sizeof header || header.magic != CODE_MAGIC || header.size != layout_size() ||
	    size_of_arrays(&header) != length)
		return gs_fail(err, EINVAL, "not the code of a kernel");
	struct kernel_code *c = calloc(1, sizeof *c);
	int result = 0;
	if (!c || !fill(c, &header, (const char *)data + sizeof header))
		result = gs_fail(err, ENOMEM, "out of memory");
	else if (!strings_sound(c) || !instructions_sound(c) || !loops_sound(c) || !blocks_sound(c) || !counts_sound(c) ||
	         !nodes_sound(c) || !steps_sound(c) || !probes_sound(c) || !machine_sound(c))
		result = gs_fail(err, EINVAL, "the code of a kernel is damaged");
	if (result) {
		code_free(c);
		return result;
	}
	*out = c;
	return 0;
}

void code_free(struct kernel_code *code)
{
	if (!code)
		return;
#define FREE_ARRAY(type, array, count) free(code->array);
	CODE_ARRAYS(FREE_ARRAY)
#undef FREE_ARRAY
	free(code);
}

uint32_t code_copy_groups(const struct kernel_code *code, const struct code_instruction *instruction)
{
	if (!instruction->writes)
		return 0;
	uint32_t first = code->operands[instruction->first_operand], groups = 0;
	while (groups < CODE_MOST_COPIES && first + groups < code->register_count && code->register_table[first + groups].copies == groups + 1)
		groups++;
	return groups;
}
