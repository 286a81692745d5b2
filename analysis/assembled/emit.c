/* Writes the machine code as the models read it; see assembled.h. */
#include "analysis/assembled/assembled.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Registers that stand for one barrier are taken in turn. A barrier of the machine counts to 63. */
enum { FEW_IN_TURN = 8, MOST_IN_TURN = 32, MOST_RESULTS = 8, REAL_REGISTERS = 256,
       MOST_OPERANDS = SASS_MOST_REGISTERS + SASS_BARRIERS * MOST_IN_TURN + 3 + MOST_RESULTS + CODE_MOST_COPIES };

struct assembled_emitter {
	const struct assembled_kernel *k;
	struct kernel_code *code;    /* the arrays machine* of this one are written */
	uint16_t stall;              /* the register of stalls */
	uint16_t first[SASS_BARRIERS]; /* the first register of each barrier */
	uint32_t turns[SASS_BARRIERS], used[SASS_BARRIERS]; /* how many there are; how many instructions wrote one so far */
	uint32_t first_group, groups; /* registers for groups of copies to shared memory (struct code_register) */
};

/* The barrier by which others learn that the result is there; SASS_NO_BARRIER: none. */
static uint8_t barrier_of(const struct sass_instruction *in)
{
	return in->write_barrier < SASS_BARRIERS ? in->write_barrier : SASS_NO_BARRIER;
}

/* The same for operands that an access has read, so that they may be written. Others than accesses read theirs at once here. */
static uint8_t read_barrier_of(const struct assembled_kernel *k, uint32_t i)
{
	return k->in[i].read_barrier < SASS_BARRIERS && assembled_is_access(assembled_class(k, i).class) ? k->in[i].read_barrier : SASS_NO_BARRIER;
}

/*
 * A barrier counts: instructions that count it up one after the other do not wait for one another. Here each takes the next register of the
 * barrier. So there are as many as are counted up before somebody waits for them, and some more for those that a loop comes back to.
 */
static void count_barriers(struct assembled_emitter *e)
{
	const struct assembled_kernel *k = e->k;
	uint32_t all[SASS_BARRIERS] = {0}, open[SASS_BARRIERS] = {0}, most[SASS_BARRIERS] = {0};
	for (uint32_t b = 0; b < k->block_count; b++)
		for (uint32_t i = k->blocks[b].first; i < k->blocks[b].first + k->blocks[b].count && (k->blocks[b].reached || k->blocks[b].called); i++) {
			uint8_t barrier = barrier_of(&k->in[i]), read = read_barrier_of(k, i);
			for (uint32_t n = 0; n < SASS_BARRIERS; n++) {
				uint32_t more = (barrier == n) + (read == n);
				all[n] += more;
				open[n] = (k->in[i].wait_mask >> n & 1 ? 0 : open[n]) + more;
				most[n] = open[n] > most[n] ? open[n] : most[n];
			}
		}
	uint16_t next = REAL_REGISTERS + 1;
	e->stall = REAL_REGISTERS;
	for (uint32_t n = 0; n < SASS_BARRIERS; n++) {
		uint32_t few = all[n] < FEW_IN_TURN ? all[n] : FEW_IN_TURN, turns = most[n] > few ? most[n] : few;
		e->turns[n] = turns < MOST_IN_TURN ? turns : MOST_IN_TURN;
		e->first[n] = next;
		next = (uint16_t)(next + e->turns[n]);
	}
	e->code->machine_register_count = next;
}

static void add_operand(struct kernel_code *c, uint8_t *count, uint32_t reg)
{
	c->machine_operands[c->machine_operand_count++] = (uint16_t)reg;
	++*count;
}

/* What it is in the source, from its instruction of the PTX or from the first of its block. */
static struct code_instruction like_ptx(const struct assembled_emitter *e, uint32_t i, uint32_t owner)
{
	const struct kernel_code *c = e->code;
	int32_t origin = e->k->origin[i];
	struct code_instruction in = c->code[origin >= 0 ? (uint32_t)origin : c->blocks[owner].first];
	in.space = SPACE_none;
	in.bytes = 0;
	in.elements = 1;
	in.flags = 0;
	in.writes = in.reads = in.waits = 0;
	in.first_operand = c->machine_operand_count;
	in.address = in.site = -1;
	in.stall = in.kept = 0;
	return in;
}

/* Who goes elsewhere waits (CODE_UNIFORM: nobody does). A branch forwards that all lanes take alike is taken to be one past code that is executed;
 * of those that part, some go. BSSY only says where lanes will meet. */
static uint8_t branch_flags(const struct assembled_emitter *e, const struct assembled_block *b, uint32_t i)
{
	const struct kernel_code *c = e->code;
	const struct sass_instruction *s = &e->k->in[i];
	const struct code_block *owner = &c->blocks[b->owner];
	const struct code_instruction *last = &c->code[owner->first + owner->count - 1];
	int32_t origin = e->k->origin[i];
	if (s->flow == SASS_ENDS)
		return s->conditional ? CODE_CONDITIONAL | CODE_UNIFORM : CODE_EXIT;
	if (s->flow != SASS_BRANCHES)
		return CODE_EXPANDED | (s->name && (!strcmp(s->name, "BSSY") || !strcmp(s->name, "BREAK")) ? CODE_UNIFORM : 0);
	if (!s->conditional)
		return 0;
	if (s->for_parted)
		return CODE_CONDITIONAL | CODE_UNIFORM;
	bool always = b->next[0] < 0 || s->target <= (int64_t)i * CUBIN_WORD;
	const struct code_instruction *like = origin >= 0 && c->code[origin].class == CODE_branch ? &c->code[origin] : last;
	return (uint8_t)(CODE_CONDITIONAL | (!always && like->class == CODE_branch ? like->flags & (CODE_UNIFORM | CODE_ORDERED) : 0));
}

static uint16_t next_of(struct assembled_emitter *e, uint8_t barrier)
{
	return (uint16_t)(e->first[barrier] + e->used[barrier]++ % e->turns[barrier]);
}

/* A copy to shared memory (LDGSTS) writes the open group. What ends a group (LDGDEPBAR) writes all: they become older. Its barrier is counted by DEPBAR alone. */
static bool writes_groups(struct assembled_emitter *e, const struct sass_instruction *s, struct code_instruction *in)
{
	bool copy = !strcmp(s->name, "LDGSTS");
	if (!e->groups || (!copy && strcmp(s->name, "LDGDEPBAR")))
		return false;
	for (uint32_t g = 0; g < (copy ? 1 : e->groups); g++)
		add_operand(e->code, &in->writes, e->first_group + g);
	return true;
}

static void add_registers(struct assembled_emitter *e, uint32_t i, struct code_instruction *in)
{
	struct kernel_code *c = e->code;
	const struct sass_instruction *s = &e->k->in[i];
	bool grouped = writes_groups(e, s, in);
	uint8_t barrier = grouped ? SASS_NO_BARRIER : barrier_of(s), read = read_barrier_of(e->k, i);
	bool apart = grouped || barrier != SASS_NO_BARRIER || (in->class >= CODE_load && in->class <= CODE_texture);
	if (barrier != SASS_NO_BARRIER)
		add_operand(c, &in->writes, next_of(e, barrier));
	if (s->stall > 1 && in->class != CODE_barrier) {
		in->stall = (uint8_t)(s->stall | (apart ? CODE_STALL_APART : 0));
		if (!apart)
			add_operand(c, &in->writes, e->stall);
	}
	for (uint32_t r = 0; r < s->reads; r++)
		add_operand(c, &in->reads, s->registers[r]);
	in->kept = s->kept;
	if (read != SASS_NO_BARRIER) {
		in->stall |= CODE_STALL_READ;
		add_operand(c, &in->waits, next_of(e, read));
	}
	for (uint32_t n = 0; n < SASS_BARRIERS; n++)
		for (uint32_t t = 0; t < e->turns[n] && s->wait_mask >> n & 1; t++)
			add_operand(c, &in->waits, e->first[n] + t);
	for (uint32_t g = s->special + 1u; g < e->groups && !strcmp(s->name, "DEPBAR"); g++)
		add_operand(c, &in->waits, e->first_group + g);
	add_operand(c, &in->waits, e->stall); /* the last one, as CODE_STALL_APART has it */
	/* Not counted: nobody waits for these, since control fields say when they are there. Whoever writes the code down needs them. */
	for (uint32_t r = 0; r < s->results && r < MOST_RESULTS && s->result + r < REAL_REGISTERS - 1u; r++)
		c->machine_operands[c->machine_operand_count++] = (uint16_t)(s->result + r);
}

/* Its name among the strings of the code; where it cannot be kept, that of the PTX instruction. */
static void set_name(struct kernel_code *c, const char *name, struct code_instruction *in)
{
	size_t length = strlen(name) + 1;
	for (uint32_t at = 0; at < c->string_bytes; at += (uint32_t)strlen(c->strings + at) + 1)
		if (!strcmp(c->strings + at, name)) {
			in->opcode = at;
			return;
		}
	char *strings = realloc(c->strings, c->string_bytes + length);
	if (!strings)
		return;
	memcpy(strings + c->string_bytes, name, length);
	c->strings = strings;
	in->opcode = c->string_bytes;
	c->string_bytes += (uint32_t)length;
}

/* Products and sums of halves have a pipe of their own in a chip's counters. ptxas makes constants by them, too. */
static bool is_half(const char *name)
{
	return !strncmp(name, "HFMA2", 5) || !strncmp(name, "HADD2", 5) || !strncmp(name, "HMUL2", 5);
}

/* A product of 32 bits each, and a sum with 64. */
static bool is_wide(const struct sass_instruction *s)
{
	return !strcmp(s->name, "IMAD") && (s->opcode & 0x1ff) == 0x025;
}

static void add_instruction(struct assembled_emitter *e, const struct assembled_block *b, uint32_t i)
{
	struct kernel_code *c = e->code;
	const struct sass_instruction *s = &e->k->in[i];
	struct sass_opcode o = assembled_class(e->k, i);
	struct code_instruction in = like_ptx(e, i, (uint32_t)b->owner);
	int32_t origin = e->k->origin[i];
	bool access = o.class >= CODE_load && o.class <= CODE_texture;
	if (o.class == CODE_fence && (origin < 0 || c->code[origin].class != CODE_fence)) {
		o.class = CODE_nop;
		access = false;
	}
	in.class = o.class;
	in.elements = o.class == CODE_branch ? o.elements : 1; /* a table of jumps */
	in.flags = s->predicate != SASS_PT || s->negated ? CODE_GUARDED : 0;
	if (o.class == CODE_branch)
		in.flags |= branch_flags(e, b, i);
	if (access) {
		const struct code_instruction *from = &c->code[origin];
		in.space = from->space;
		in.bytes = o.bytes > from->bytes ? o.bytes : from->bytes;
		in.elements = from->elements;
		in.address = from->address;
		in.site = from->site;
		in.flags |= o.class == CODE_fence && code_fences_gpu(c, from) ? CODE_OF_GPU : 0;
	}
	if (b->times && assembled_is_uniform(e->k, i)) {
		const struct code_instruction *from = &c->code[origin];
		in.class = CODE_uniform;
		in.space = SPACE_const;
		in.bytes = from->bytes;
		in.address = from->address;
		in.site = from->site;
		access = true;
	}
	if (in.class == CODE_nop)
		in.space = o.space; /* of a parameter */
	if (!strcmp(s->name, "S2R") && (s->special < SASS_TID || s->special > SASS_TID + 2))
		in.space = SPACE_param; /* where the block is in the grid: no pipe is counted for it */
	in.bytes = is_half(s->name) ? 2 : is_wide(s) ? 8 : in.bytes;
	set_name(c, s->name, &in);
	add_registers(e, i, &in);
	c->machine[c->machine_count] = in;
	c->machine_origins[c->machine_count++] = access ? (uint32_t)origin : UINT32_MAX;
}

/* All but its return. */
static void add_called(struct assembled_emitter *e, const struct assembled_block *from, int32_t callee)
{
	for (uint32_t n = 0; callee >= 0 && n + 1 < e->k->blocks[callee].count; n++)
		add_instruction(e, from, e->k->blocks[callee].first + n);
}

/* A block of the machine for those that stand for `times` executions of one of the PTX. */
static void add_block(struct assembled_emitter *e, uint32_t p, uint32_t times, struct code_machine_block *to)
{
	const struct assembled_kernel *k = e->k;
	uint32_t first = e->code->machine_count;
	for (uint32_t n = 0; n < 2 * k->block_count; n++) {
		const struct assembled_block *s = &k->blocks[n % k->block_count];
		bool own = s->reached && s->owner == (int32_t)p && s->times == times && !s->copy && s->early == (n < k->block_count);
		for (uint32_t i = s->first; i < s->first + s->count && own; i++)
			if (!k->moved[i]) {
				add_instruction(e, s, i);
				add_called(e, s, assembled_callee(k, i));
			}
	}
	*to = (struct code_machine_block){first, e->code->machine_count - first, p, times, -1};
}

/* The one instruction that is executed again by lanes that have parted. */
static void add_parted(struct assembled_emitter *e, const struct assembled_block *s, uint32_t i, uint32_t times)
{
	struct kernel_code *c = e->code;
	c->machine_blocks[c->machine_block_count++] = (struct code_machine_block){c->machine_count, 1, (uint32_t)s->owner, times, -1};
	add_instruction(e, s, i);
}

static bool is_join(const struct kernel_code *c, uint32_t block)
{
	uint32_t ways = 0;
	for (uint32_t i = 0; i < c->edge_count; i++)
		ways += c->edges[i].to == (int32_t)block;
	return ways > 1;
}

/* Lanes that come to a join from several sides execute its BSYNC each time, and a jump by a table once for each way that they go. */
static void add_all_parted(struct assembled_emitter *e)
{
	const struct assembled_kernel *k = e->k;
	for (uint32_t p = 0; p < e->code->block_count; p++) {
		const struct assembled_block *first = NULL, *jumps = NULL;
		for (uint32_t b = 0; b < k->block_count; b++) {
			const struct assembled_block *s = &k->blocks[b];
			if (!s->reached || s->owner != (int32_t)p || s->times != 1 || s->copy || k->unrolled[p])
				continue;
			first = first ? first : s;
			jumps = k->in[s->first + s->count - 1].flow == SASS_JUMPS ? s : jumps;
		}
		if (first && k->in[first->first].name && !strcmp(k->in[first->first].name, "BSYNC") && is_join(e->code, p))
			add_parted(e, first, first->first, CODE_ARRIVES);
		if (jumps)
			add_parted(e, jumps, jumps->first + jumps->count - 1, CODE_GOES_AGAIN);
	}
}

/* Pieces of unrolled loops come after the blocks of the PTX. */
static void add_blocks(struct assembled_emitter *e)
{
	const struct assembled_kernel *k = e->k;
	struct kernel_code *c = e->code;
	c->machine_block_count = c->block_count;
	for (uint32_t p = 0; p < c->block_count; p++) {
		add_block(e, p, 1, &c->machine_blocks[p]);
		c->machine_blocks[p].merged = k->has_code[p] ? -1 : k->merged[p];
	}
	for (uint32_t b = 0; b < k->block_count; b++) {
		const struct assembled_block *s = &k->blocks[b];
		bool first = s->reached && s->times != 1 && !s->copy;
		for (uint32_t other = 0; other < b && first; other++)
			first = !k->blocks[other].reached || k->blocks[other].owner != s->owner || k->blocks[other].times != s->times;
		if (first)
			add_block(e, (uint32_t)s->owner, s->times, &c->machine_blocks[c->machine_block_count++]);
	}
	add_all_parted(e);
}

static void free_machine(struct kernel_code *c)
{
	free(c->machine);
	free(c->machine_blocks);
	free(c->machine_registers);
	free(c->machine_operands);
	free(c->machine_origins);
}

/* Those of the PTX, with the same meaning. */
static void add_groups(struct assembled_emitter *e)
{
	for (uint32_t r = 0; r < e->code->register_count; r++)
		if (e->code->register_table[r].copies)
			e->code->machine_registers[e->first_group + e->groups++] = e->code->register_table[r];
	e->code->machine_register_count += e->groups;
}

static size_t count_called(const struct assembled_kernel *k)
{
	size_t sum = 0;
	for (uint32_t i = 0; i < k->count; i++) {
		int32_t callee = assembled_callee(k, i);
		sum += callee >= 0 ? k->blocks[callee].count : 0;
	}
	return sum;
}

int assembled_emit(const struct assembled_kernel *k, struct kernel_code *code, struct gs_error *why)
{
	struct kernel_code c = *code;
	struct assembled_emitter e = {.k = k, .code = &c};
	count_barriers(&e);
	c.machine_count = c.machine_operand_count = 0;
	size_t room = k->count + count_called(k) + 2u * c.block_count + 1; /* with those of add_all_parted */
	c.machine = calloc(room, sizeof *c.machine);
	c.machine_blocks = calloc(3u * c.block_count + k->block_count + 1u, sizeof *c.machine_blocks);
	c.machine_registers = calloc(c.machine_register_count + c.register_count + 1u, sizeof *c.machine_registers);
	c.machine_operands = calloc(room * MOST_OPERANDS, sizeof *c.machine_operands);
	c.machine_origins = calloc(room, sizeof *c.machine_origins);
	if (!c.machine || !c.machine_blocks || !c.machine_registers || !c.machine_operands || !c.machine_origins) {
		free_machine(&c);
		return gs_fail(why, ENOMEM, "out of memory");
	}
	for (uint32_t r = 0; r < c.machine_register_count; r++)
		c.machine_registers[r] = (struct code_register){.number = (uint16_t)r, .words = r < REAL_REGISTERS};
	e.first_group = c.machine_register_count;
	add_groups(&e);
	add_blocks(&e);
	c.machine_origin_count = c.machine_count;
	c.origin = CODE_ASSEMBLED;
	free_machine(code);
	*code = c;
	return 0;
}
