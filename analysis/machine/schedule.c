/*
 * Orders machine instructions as an assembler does. In every block, loads come before everything else, as long as there are registers
 * for what they load. The instructions that compute a load's address come before it. A warp waits longest for loads. It waits less if
 * more of them are on their way at once.
 *
 *   names   A register may be written several times in a block, as in the copies of an unrolled loop. Then each value except the last
 *           gets a name of its own, so that only true dependences are left. A guarded instruction may leave a register's old
 *           value, so such registers keep their name.
 *   order   Loads whose addresses are known come before those that wait for what others load: indices before what they lead to. Loads pass
 *           stores and atomics that they cannot meet: those of global memory pass those to shared memory, and the other way round. Other accesses, barriers
 *           and everything else that depends on memory keep their order. The rest follows the last load in its old order. No instruction
 *           moves past one without operands (CODE_nop), which stands for a parameter or an id.
 *   limit   Before a load for which no register is left, the oldest instructions that wait for earlier loads are executed, until their operands
 *           leave enough of them. The assembler takes as many registers as a thread of a full SM can have, or as the kernel needs
 *           anyway (graph_free_words). The most that are taken in a block are the registers of the kernel.
 *
 * Source of the limit: ptxas 13.0, sm_90, NVIDIA's PTX, 32 registers. matmul's loop of 16 trips has 17 loads, then turns of one FFMA and
 * the loads that fit into the registers of its operands. gemm_quad's, with loads of 16 bytes, has 4 loads, then turns of 4 FFMAs and 2 loads.
 * Source of the order: spmv's loop has 12 loads of columns and values, then turns of what columns lead to and further columns. The loop that fills
 * bank_stride's shared memory, unrolled by four by the front end and by four again, has 16 LDG, then 16 STS.
 */
#include "analysis/machine/machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_INSTRUCTIONS = 2048 }; /* a longer block keeps its order */

struct scheduler {
	struct kernel_code *code;
	uint32_t first, count; /* the block */
	uint32_t *writes;      /* per register: the writes in the block that are still to come */
	uint8_t *kept;         /* per register: keeps its name */
	uint16_t *name;        /* per register: the name of its current value */
	uint32_t fresh, most_fresh, named; /* names of the block's own values; the most in any block; registers that are named as in PTX */
	uint32_t *order, *place; /* instructions of the block, counted from its first: as they come; UINT32_MAX: not yet */
	uint32_t done;           /* how many are placed */
	uint32_t *levels;        /* by instruction: how many loads, one after the other, it waits for */
	uint8_t *words; /* by name: 32-bit registers that its value takes */
	/* By name: the reads that are still to come. The block may read a value from before it and leave another one. The latter has one read more. */
	struct scheduled_value {
		uint32_t old, own;    /* reads of the value from before the block, and of the block's own if it makes one */
		bool remade, alive; /* remade: the block will still write it */
	} *values;
	uint32_t now, most, free_words; /* words of the values that are alive, and the most of them so far; as many as there may be */
};

/* Where values are alive between the blocks. */
struct scheduled_functions {
	const struct reached_functions *reached;
	struct liveness *liveness; /* by function */
};

static struct code_instruction *instruction(const struct scheduler *s, uint32_t i)
{
	return &s->code->machine[s->first + i];
}

/* A wait for groups of asynchronous copies. */
static bool awaits_copies(const struct scheduler *s, const struct code_instruction *in)
{
	const uint16_t *last = &s->code->machine_operands[in->first_operand + in->writes + in->reads + in->waits] - 1;
	return in->waits && *last < s->named && s->code->machine_registers[*last].copies;
}

static bool holds_memory(const struct scheduler *s, const struct code_instruction *in)
{
	return in->class == CODE_load || in->class == CODE_store || in->class == CODE_atomic || in->class == CODE_fence ||
	       in->class == CODE_texture || in->class == CODE_barrier || in->class == CODE_shuffle || in->flags & CODE_CALL ||
	       awaits_copies(s, in);
}

static bool is_load(const struct code_instruction *in)
{
	return in->class == CODE_load || in->class == CODE_texture;
}

/* Whether it copies from global into shared memory, while the warp goes on. */
static bool copies(const struct scheduler *s, const struct code_instruction *load)
{
	const uint16_t *results = &s->code->machine_operands[load->first_operand];
	for (uint32_t k = 0; k < load->writes; k++)
		if (results[k] < s->named && s->code->machine_registers[results[k]].copies)
			return true;
	return false;
}

/* Whether a load may come before an access that was before it: another load, or a store or an atomic that cannot meet it, because one of them is of global
 * memory and the other of shared memory. */
static bool passes(const struct scheduler *s, const struct code_instruction *load, const struct code_instruction *before)
{
	bool apart = (load->space == SPACE_global && before->space == SPACE_shared) || (load->space == SPACE_shared && before->space == SPACE_global);
	if (load->class != CODE_load || copies(s, load))
		return false;
	return before->class == CODE_load ? !copies(s, before) : (before->class == CODE_store || before->class == CODE_atomic) && apart;
}

/* ---- names ---- */

static void count_writes(struct scheduler *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		const struct code_instruction *in = instruction(s, i);
		const uint16_t *operand = &s->code->machine_operands[in->first_operand];
		for (uint32_t k = 0; k < (uint32_t)in->writes + in->reads + in->waits; k++) {
			s->name[operand[k]] = operand[k];
			s->writes[operand[k]] += k < in->writes;
			s->kept[operand[k]] |= k < in->writes && (in->flags & CODE_GUARDED || s->code->machine_registers[operand[k]].copies);
		}
	}
}

static void clear_writes(struct scheduler *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		const struct code_instruction *in = instruction(s, i);
		const uint16_t *operand = &s->code->machine_operands[in->first_operand];
		for (uint32_t k = 0; k < in->writes; k++)
			if (operand[k] < s->named)
				s->writes[operand[k]] = s->kept[operand[k]] = 0;
	}
}

static uint16_t fresh_name(struct scheduler *s, uint16_t reg)
{
	uint16_t name = (uint16_t)(s->named + s->fresh++);
	s->words[name] = s->words[reg];
	return name;
}

/* Reads come first, because an instruction may read the old value of the register that it writes. */
static void give_names(struct scheduler *s)
{
	s->fresh = 0;
	for (uint32_t i = 0; i < s->count; i++) {
		const struct code_instruction *in = instruction(s, i);
		uint16_t *operand = &s->code->machine_operands[in->first_operand];
		for (uint32_t k = in->writes; k < (uint32_t)in->writes + in->reads + in->waits; k++)
			operand[k] = s->name[operand[k]];
		for (uint32_t k = 0; k < in->writes; k++) {
			uint16_t reg = operand[k];
			bool last = --s->writes[reg] == 0;
			if (!last && !s->kept[reg] && s->named + s->fresh < UINT16_MAX)
				s->name[reg] = fresh_name(s, reg);
			else if (last)
				s->name[reg] = reg;
			operand[k] = s->name[reg];
		}
	}
	s->most_fresh = s->fresh > s->most_fresh ? s->fresh : s->most_fresh;
}

/* ---- dependences ---- */

/* Whether `later` must stay after `earlier`. */
static bool depends(const struct scheduler *s, const struct code_instruction *later, const struct code_instruction *earlier)
{
	const uint16_t *a = &s->code->machine_operands[earlier->first_operand], *b = &s->code->machine_operands[later->first_operand];
	uint32_t a_all = (uint32_t)earlier->writes + earlier->reads + earlier->waits;
	uint32_t b_all = (uint32_t)later->writes + later->reads + later->waits;
	if (earlier->class == CODE_nop || (holds_memory(s, later) && holds_memory(s, earlier) && !passes(s, later, earlier)))
		return true;
	for (uint32_t i = 0; i < a_all; i++)
		for (uint32_t k = 0; k < (i < earlier->writes ? b_all : later->writes); k++)
			if (a[i] == b[k])
				return true;
	return false;
}

/* ---- registers ---- */

static uint32_t *reads_of(struct scheduled_value *v)
{
	return v->remade ? &v->old : &v->own;
}

static void begin_value(struct scheduler *s, uint16_t name)
{
	struct scheduled_value *v = &s->values[name];
	if (v->alive || !*reads_of(v))
		return;
	v->alive = true;
	s->now += s->words[name];
	s->most = s->now > s->most ? s->now : s->most;
}

static void read_value(struct scheduler *s, uint16_t name)
{
	struct scheduled_value *v = &s->values[name];
	uint32_t *reads = reads_of(v);
	if (!*reads || --*reads || !v->alive)
		return;
	v->alive = false;
	s->now -= s->words[name];
}

static void write_value(struct scheduler *s, uint16_t name)
{
	s->values[name].remade = false;
	begin_value(s, name);
}

/* An instruction is executed. A load keeps its operands until it has its results. */
static void execute(struct scheduler *s, const struct code_instruction *in)
{
	const uint16_t *operand = &s->code->machine_operands[in->first_operand];
	for (uint32_t k = 0; is_load(in) && k < in->writes; k++)
		write_value(s, operand[k]);
	for (uint32_t k = in->writes; k < (uint32_t)in->writes + in->reads + in->waits; k++)
		read_value(s, operand[k]);
	for (uint32_t k = 0; !is_load(in) && k < in->writes; k++)
		write_value(s, operand[k]);
}

static void forget_values(struct scheduler *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		const struct code_instruction *in = instruction(s, i);
		const uint16_t *operand = &s->code->machine_operands[in->first_operand];
		for (uint32_t k = 0; k < (uint32_t)in->writes + in->reads + in->waits; k++)
			s->values[operand[k]] = (struct scheduled_value){0};
	}
}

static void mark_remade(struct scheduler *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		const struct code_instruction *in = instruction(s, i);
		for (uint32_t k = 0; k < in->writes; k++)
			s->values[s->code->machine_operands[in->first_operand + k]].remade = true;
	}
}

/* Counts the reads of all values of the block, in its order. */
static void count_reads(struct scheduler *s)
{
	mark_remade(s);
	for (uint32_t i = 0; i < s->count; i++) {
		const struct code_instruction *in = instruction(s, i);
		const uint16_t *operand = &s->code->machine_operands[in->first_operand];
		for (uint32_t k = in->writes; k < (uint32_t)in->writes + in->reads + in->waits; k++)
			++*reads_of(&s->values[operand[k]]);
		for (uint32_t k = 0; k < in->writes; k++)
			s->values[operand[k]].remade = false;
	}
	mark_remade(s);
}

/* Does something with every register of a set that begins at one of a function's. */
static void each_of(const uint64_t *set, uint32_t words, uint32_t first, struct scheduler *s, void (*visit)(struct scheduler *, uint16_t))
{
	for (uint32_t w = 0; w < words; w++)
		for (uint64_t bits = set[w]; bits; bits &= bits - 1)
			visit(s, (uint16_t)(first + w * 64 + (uint32_t)__builtin_ctzll(bits)));
}

static void leave_value(struct scheduler *s, uint16_t name)
{
	s->values[name].own++;
}

static void forget_value(struct scheduler *s, uint16_t name)
{
	s->values[name] = (struct scheduled_value){0};
}

/* Counts what is alive before the block, or forgets it all after that. */
static void cross_borders(struct scheduler *s, const struct scheduled_functions *f, const struct code_machine_block *b, bool before)
{
	uint32_t number = s->code->blocks[b->of].function;
	const struct reached_function *own = &f->reached->functions[number];
	const struct liveness *l = &f->liveness[number];
	size_t set = (size_t)(b->of - own->first_block) * l->words;
	s->now = 0;
	each_of(l->out + set, l->words, own->first_register, s, before ? leave_value : forget_value);
	each_of(l->in + set, l->words, own->first_register, s, before ? begin_value : forget_value);
}

/* ---- order ---- */

/* Places an instruction after all instructions that it depends on. */
static void place_instruction(struct scheduler *s, uint32_t i)
{
	if (s->place[i] != UINT32_MAX)
		return;
	for (uint32_t k = 0; k < i; k++)
		if (s->place[k] == UINT32_MAX && depends(s, instruction(s, i), instruction(s, k)))
			place_instruction(s, k);
	s->place[i] = s->done;
	s->order[s->done++] = i;
	execute(s, instruction(s, i));
}

static uint32_t words_written(const struct scheduler *s, const struct code_instruction *in)
{
	uint32_t words = 0;
	for (uint32_t k = 0; k < in->writes; k++)
		words += s->words[s->code->machine_operands[in->first_operand + k]];
	return words;
}

/* Places the oldest instructions until there are registers for the results of a load, or until it is the oldest itself. */
static void make_room_for(struct scheduler *s, uint32_t load, uint32_t *oldest)
{
	uint32_t wanted = words_written(s, instruction(s, load));
	while (s->now + wanted > s->free_words) {
		while (*oldest < s->count && s->place[*oldest] != UINT32_MAX)
			++*oldest;
		if (*oldest >= load)
			return;
		place_instruction(s, *oldest);
	}
}

/* Returns how many levels the loads of the block have. */
static uint32_t find_levels(struct scheduler *s)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < s->count; i++) {
		s->levels[i] = 0;
		for (uint32_t k = 0; k < i; k++) {
			uint32_t after = s->levels[k] + is_load(instruction(s, k));
			if (after > s->levels[i] && depends(s, instruction(s, i), instruction(s, k)))
				s->levels[i] = after;
		}
		if (is_load(instruction(s, i)) && s->levels[i] >= count)
			count = s->levels[i] + 1;
	}
	return count;
}

static void place_loads(struct scheduler *s)
{
	uint32_t oldest = 0, levels = find_levels(s);
	for (uint32_t level = 0; level < levels; level++)
		for (uint32_t i = 0; i < s->count; i++)
			if (is_load(instruction(s, i)) && s->levels[i] == level && s->place[i] == UINT32_MAX) {
				make_room_for(s, i, &oldest);
				place_instruction(s, i);
			}
}

static int reorder(struct scheduler *s)
{
	struct code_instruction *code = malloc(s->count * sizeof *code);
	uint32_t *origins = malloc(s->count * sizeof *origins);
	int result = code && origins ? 0 : -ENOMEM;
	s->done = 0;
	memset(s->place, 0xff, s->count * sizeof *s->place);
	if (!result)
		place_loads(s);
	for (uint32_t i = 0; i < s->count && !result; i++)
		place_instruction(s, i);
	for (uint32_t i = 0; i < s->count && !result; i++) {
		code[i] = *instruction(s, s->order[i]);
		origins[i] = s->code->machine_origins[s->first + s->order[i]];
	}
	if (!result) {
		memcpy(instruction(s, 0), code, s->count * sizeof *code);
		memcpy(&s->code->machine_origins[s->first], origins, s->count * sizeof *origins);
	}
	free(code);
	free(origins);
	return result;
}

static int schedule_block(struct scheduler *s, const struct scheduled_functions *f, const struct code_machine_block *b)
{
	uint32_t loads = 0;
	s->first = b->first;
	s->count = b->count;
	for (uint32_t i = 0; i < s->count; i++)
		loads += is_load(instruction(s, i));
	if (loads < 2 || s->count > MOST_INSTRUCTIONS)
		return 0;
	count_writes(s);
	give_names(s);
	clear_writes(s);
	count_reads(s);
	cross_borders(s, f, b, true);
	int result = reorder(s);
	forget_values(s);
	cross_borders(s, f, b, false);
	return result;
}

/* The new registers have one word each. Blocks share them, for values of any width. So for values of two words, the ports of
 * registers see only one word. */
static int add_registers(struct kernel_code *c, uint32_t count)
{
	struct code_register *grown = reallocarray(c->machine_registers, (size_t)c->machine_register_count + count + 1, sizeof *grown);
	if (!grown)
		return -ENOMEM;
	c->machine_registers = grown;
	for (uint32_t i = 0; i < count; i++)
		grown[c->machine_register_count + i] = (struct code_register){.number = (uint16_t)(c->machine_register_count + i), .words = 1};
	c->machine_register_count += count;
	return 0;
}

/* The words of all registers, by the rules that count the registers of PTX. */
static int find_words(struct scheduler *s, const struct scheduled_functions *f, struct gs_error *err)
{
	for (uint32_t r = 0; r < s->named; r++)
		s->words[r] = s->code->machine_registers[r].words;
	for (uint32_t i = 0; i < f->reached->count; i++) {
		const struct reached_function *own = &f->reached->functions[i];
		int result = graph_liveness(own->graph, &f->liveness[i], err);
		if (result)
			return result;
		if (graph_register_words(own->graph, &f->liveness[i], s->words + own->first_register))
			return gs_fail(err, ENOMEM, "out of memory");
	}
	return 0;
}

static int schedule_all(struct scheduler *s, const struct scheduled_functions *f, const char *arch, struct gs_error *err)
{
	struct kernel_code *code = s->code;
	int result = find_words(s, f, err);
	if (result)
		return result;
	s->free_words = graph_free_words(f->reached->functions[0].graph, arch, code->registers);
	for (uint32_t b = 0; b < code->machine_block_count && !result; b++)
		result = schedule_block(s, f, &code->machine_blocks[b]);
	if (!result)
		result = add_registers(code, s->most_fresh);
	if (result)
		return gs_fail(err, ENOMEM, "out of memory");
	uint32_t taken = graph_registers_of(s->most < s->free_words ? s->most : s->free_words);
	if (taken > code->registers)
		code->registers = taken;
	return 0;
}

int machine_schedule(const struct reached_functions *reached, const char *arch, struct kernel_code *code, struct gs_error *err)
{
	struct scheduler s = {.code = code, .named = code->machine_register_count};
	struct scheduled_functions f = {reached, calloc(reached->count + 1u, sizeof *f.liveness)};
	s.writes = calloc(s.named + 1u, sizeof *s.writes);
	s.kept = calloc(s.named + 1u, sizeof *s.kept);
	s.name = calloc(s.named + 1u, sizeof *s.name);
	s.order = calloc(MOST_INSTRUCTIONS, sizeof *s.order);
	s.place = calloc(MOST_INSTRUCTIONS, sizeof *s.place);
	s.levels = calloc(MOST_INSTRUCTIONS, sizeof *s.levels);
	s.words = calloc(UINT16_MAX + 1u, sizeof *s.words);
	s.values = calloc(UINT16_MAX + 1u, sizeof *s.values);
	bool room = f.liveness && s.writes && s.kept && s.name && s.order && s.place && s.levels && s.words && s.values;
	int result = room ? schedule_all(&s, &f, arch, err) : gs_fail(err, ENOMEM, "out of memory");
	for (uint32_t i = 0; f.liveness && i < reached->count; i++)
		liveness_free(&f.liveness[i]);
	free(f.liveness);
	free(s.writes);
	free(s.kept);
	free(s.name);
	free(s.order);
	free(s.place);
	free(s.levels);
	free(s.words);
	free(s.values);
	return result;
}
