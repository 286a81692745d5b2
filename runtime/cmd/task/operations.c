/* Operations of task lists' kernels: classes, accesses and machine instructions, and the values that they wait for. */
#include "runtime/cmd/task/parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_NAME = 300, REGISTERS_EACH = 4, MOST_NAMES = 8000 };

/* ---- registers ---- */

/* R7 is register 7; other names have registers of their own. */
static int register_of(struct task_parser *p, int16_t *out)
{
	struct task_list *l = p->list;
	char *end;
	unsigned long number = *p->word == 'R' && isdigit((unsigned char)p->word[1]) ? strtoul(p->word + 1, &end, 10) : 255;
	if (number != 255 && !*end) {
		*out = (int16_t)(number < FIRST_NAME ? number : 255);
		return number < 255 ? 0 : parse_fail(p, "registers are R0 to R254, not %.20s", p->word);
	}
	size_t i = 0;
	while (i < l->name_count && strcmp(l->names[i], p->word))
		i++;
	if (i == MOST_NAMES)
		return parse_fail(p, "a list has %d names of values at most", MOST_NAMES);
	if (i == l->name_count) {
		if (!gs_reserve(&l->names, i, &l->name_room, sizeof *l->names) || !(l->names[i] = strdup(p->word)))
			return gs_fail(p->err, ENOMEM, "out of memory");
		l->name_count++;
	}
	*out = (int16_t)(FIRST_NAME + i * REGISTERS_EACH);
	return 0;
}

/* "-> x" and "<- y z", in any order. What is not named goes through the chains of the kernel. */
static int parse_values(struct task_parser *p, struct task_node *n)
{
	int result = 0;
	bool named = false, sources = false;
	while (!result && parse_more(p)) {
		if (parse_take(p, "->")) {
			result = parse_word(p, "the name of the result");
			if (!result)
				result = register_of(p, &n->result);
			named = true;
			n->keeps = false;
		} else if (parse_take(p, "<-")) {
			sources = true;
			n->waits = false;
			while (!result && parse_more(p) && strncmp(p->at, "->", 2) && *p->at != '(') {
				result = parse_word(p, "a value");
				if (!result && strcmp(p->word, "none")) {
					if (n->source_count == OBSERVED_SOURCES)
						return parse_fail(p, "an operation waits for %d values at most", OBSERVED_SOURCES);
					result = register_of(p, &n->sources[n->source_count++]);
				}
			}
		} else {
			return parse_end(p);
		}
	}
	if (named && sources)
		n->chains = 0;
	return result;
}

static void set_chains(struct task_parser *p, struct task_node *n)
{
	n->chains = (uint8_t)(p->kernel && p->kernel->ilp ? p->kernel->ilp : 1);
	n->chain = (uint8_t)(p->chain % n->chains);
	p->chain += n->times;
}

static void set_place(struct task_parser *p, struct task_node *n)
{
	n->pc = p->pc;
	p->pc += PC_STEP * (n->times < TASK_MOST_UNROLLED ? n->times : TASK_MOST_UNROLLED);
}

/* ---- operations ---- */

static const struct {
	const char *word, *opcode;
	bool results;
} operations[] = {
	{"fp32", "FADD", true}, {"fp32_fma", "FFMA", true}, {"fma", "FFMA", true}, {"fp32_minmax", "FMNMX", true}, {"fp16", "HADD2", true},
	{"fp16_fma", "HFMA2", true}, {"fp64", "DADD", true}, {"fp64_fma", "DFMA", true}, {"int", "IADD3", true}, {"int_mul", "IMUL", true},
	{"int_mad", "IMAD", true}, {"int_minmax", "IMNMX", true}, {"logic", "LOP3.LUT", true}, {"conv", "I2F", true}, {"move", "MOV", true},
	{"special", "MUFU.EX2", true}, {"sfu", "MUFU.EX2", true}, {"shuffle", "SHFL.IDX", true}, {"tensor", "HMMA.16816.F32", true},
	{"tensor_half", "HMMA.1688.F32", true}, {"tensor_fp64", "DMMA.884", true}, {"nop", "NOP", false}, {"fence", "MEMBAR.SC.GPU", false},
	{"barrier", "BAR.SYNC", false},
};

static int operation_of(const char *word)
{
	for (size_t i = 0; i < GS_ARRAY_LEN(operations); i++)
		if (!strcmp(operations[i].word, word))
			return (int)i;
	return -1;
}

static int parse_times(struct task_parser *p, struct task_node *n)
{
	uint64_t times = 1;
	int result = 0;
	if (parse_more(p) && *p->at == 'x' && isdigit((unsigned char)p->at[1]))
		p->at++;
	if (parse_more(p) && isdigit((unsigned char)*p->at))
		result = parse_number(p, "how often", 1, 1 << 30, &times);
	n->times = (uint32_t)times;
	return result;
}

static int parse_class(struct task_parser *p, int32_t node, const char *opcode, bool results)
{
	struct task_node *n = &p->list->nodes[node];
	int result = parse_times(p, n);
	if (result)
		return result;
	strncpy(n->opcode, opcode, sizeof n->opcode - 1);
	n->waits = n->keeps = results;
	set_chains(p, n);
	set_place(p, n);
	if (!strncmp(opcode, "BAR", 3) && p->depth & 1u << 31)
		return parse_fail(p, "not all work-items of a group come to this barrier");
	return parse_values(p, n);
}

static void access_opcode(char out[28], const char *word, int32_t target, uint32_t width, bool result)
{
	static const char *const suffix[] = {".U8", ".U16", "", ".64", ".128"};
	bool load = !strcmp(word, "load"), atomic = !strcmp(word, "atomic");
	const char *name = target == TARGET_LOCAL ? (load ? "LDS" : atomic ? "ATOMS.ADD" : "STS")
	                   : target == TARGET_PRIVATE ? (load ? "LDL" : "STL") : load ? "LDG.E" : atomic ? (result ? "ATOMG.E.ADD" : "RED.E.ADD") : "STG.E";
	snprintf(out, 28, "%s%s", name, suffix[__builtin_ctz(width)]);
}

static int parse_memory(struct task_parser *p, int32_t node, const char *word)
{
	char kind[16];
	int32_t access;
	snprintf(kind, sizeof kind, "%s", word);
	int result = parse_access(p, 0, &access);
	if (result)
		return result;
	struct task_node *n = &p->list->nodes[node];
	const struct task_access *a = &p->list->accesses[access];
	if (a->target == TARGET_PRIVATE && !strcmp(kind, "atomic"))
		return parse_fail(p, "private memory needs no atomic operations");
	n->access = access;
	n->access_count = 1;
	n->keeps = !strcmp(kind, "load");
	n->waits = strcmp(kind, "load") != 0;
	if (parse_take(p, "dependent"))
		n->waits = true;
	if (parse_more(p) && *p->at == 'x')
		result = parse_times(p, n);
	set_chains(p, n);
	set_place(p, n);
	if (!result)
		result = parse_values(p, n);
	access_opcode(n->opcode, kind, a->target, a->width, n->result >= 0);
	return result;
}

/* A machine instruction by its name. What it accesses is behind `in`, or comes with the piece. */
static int parse_opcode(struct task_parser *p, int32_t node)
{
	struct task_node *n = &p->list->nodes[node];
	if (strlen(p->word) >= sizeof n->opcode)
		return parse_fail(p, "'%.60s' is longer than opcodes are", p->word);
	strcpy(n->opcode, p->word);
	const struct sass_opcode o = sass_look_up(n->opcode);
	bool memory = o.space != SPACE_none && o.space != SPACE_const, exits = o.flags & SASS_EXIT;
	int result = parse_times(p, n);
	if (!result && memory && parse_take(p, "off")) {
		n->off = true;
		memory = false;
	} else if (!result && parse_take(p, "in")) {
		int32_t access;
		if (!memory)
			return parse_fail(p, "%s accesses no memory", n->opcode);
		result = parse_access(p, o.bytes ? o.bytes : 4, &access);
		n = &p->list->nodes[node];
		n->access = access;
	} else if (!result && memory && p->kernel) {
		return parse_fail(p, "%s needs an address: 'in BUFFER PATTERN'", n->opcode);
	}
	n->access_count = memory;
	set_place(p, n);
	if (p->kernel)
		p->kernel->exits |= exits;
	p->list->exits |= exits && !p->kernel;
	return result ? result : parse_values(p, n);
}

int parse_operation(struct task_parser *p, int32_t node, bool *taken)
{
	int operation = operation_of(p->word);
	*taken = true;
	if (operation >= 0)
		return parse_class(p, node, operations[operation].opcode, operations[operation].results);
	if (!strcmp(p->word, "load") || !strcmp(p->word, "store") || !strcmp(p->word, "atomic"))
		return p->kernel ? parse_memory(p, node, p->word) : parse_fail(p, "accesses of a piece have opcodes");
	if (isupper((unsigned char)*p->word))
		return parse_opcode(p, node);
	*taken = false;
	return 0;
}
