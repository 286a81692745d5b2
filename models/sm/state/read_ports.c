/* See read_ports.h. */
#include "models/sm/state/read_ports.h"

#include "models/code/costs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct ports {
	const struct kernel_code *code;
	uint32_t banks;
	uint8_t *bank_of;      /* by register; READ_PORT_NONE: not chosen yet */
	uint8_t *writes;       /* by register: instructions that write it, 2 at most */
	bool *crosses;         /* by register: some block reads what another one wrote */
	bool *from_parameters; /* by register: one of those reads a parameter */
	uint64_t used[READ_PORT_BANKS]; /* registers */
};

static const uint16_t *reads_of(const struct kernel_code *code, const struct code_instruction *i)
{
	return &code->operands[i->first_operand + i->writes];
}

static bool is_among(const uint16_t *registers, uint32_t count, uint16_t which)
{
	for (uint32_t i = 0; i < count; i++)
		if (registers[i] == which)
			return true;
	return false;
}

static void find_parameters(struct ports *p)
{
	for (uint32_t n = 0; n < p->code->code_count; n++) {
		const struct code_instruction *i = &p->code->code[n];
		for (uint32_t w = 0; w < i->writes; w++) {
			uint16_t reg = p->code->operands[i->first_operand + w];
			p->writes[reg] = (uint8_t)(p->writes[reg] ? 2 : 1);
			p->from_parameters[reg] = i->class == CODE_load && i->space == SPACE_param;
		}
	}
}

static bool is_constant(const struct ports *p, uint16_t reg)
{
	return p->from_parameters[reg] && p->writes[reg] == 1;
}

/* The registers that an instruction has to read, each once; returns how many. */
static uint32_t find_reads(const struct ports *p, const struct code_instruction *i, uint16_t *out)
{
	const uint16_t *reads = reads_of(p->code, i);
	uint32_t count = 0, constants = 0, constant = 0;
	for (uint32_t r = 0; r < i->reads; r++) {
		if (p->code->register_table[reads[r]].words == 0 || is_among(out, count, reads[r]))
			continue;
		if (is_constant(p, reads[r])) {
			constants++;
			constant = count;
		}
		out[count++] = reads[r];
	}
	if (constants == 1)
		out[constant] = out[--count];
	return count;
}

static uint32_t best_bank(const struct ports *p, const uint8_t *reads)
{
	uint32_t best = 0;
	for (uint32_t b = 1; b < p->banks; b++)
		if (reads[b] < reads[best] || (reads[b] == reads[best] && p->used[b] < p->used[best]))
			best = b;
	return best;
}

static void add_reads(struct ports *p, uint16_t reg, uint8_t *reads)
{
	uint32_t words = p->code->register_table[reg].words;
	for (uint32_t w = 0; w < words; w++)
		reads[(p->bank_of[reg] + w) % p->banks]++;
}

/* Registers whose bank is known first, so that the others can avoid it. */
static void count_reads(struct ports *p, const uint16_t *registers, uint32_t count, uint8_t *reads)
{
	memset(reads, 0, READ_PORT_BANKS);
	for (uint32_t r = 0; r < count; r++)
		if (p->bank_of[registers[r]] != READ_PORT_NONE)
			add_reads(p, registers[r], reads);
	for (uint32_t r = 0; r < count; r++) {
		if (p->bank_of[registers[r]] != READ_PORT_NONE)
			continue;
		/* Two words begin in an even register. */
		uint32_t bank = p->code->register_table[registers[r]].words > 1 ? 0 : best_bank(p, reads);
		p->bank_of[registers[r]] = (uint8_t)bank;
		p->used[bank]++;
		add_reads(p, registers[r], reads);
	}
}

static bool writes_it(const struct ports *p, const struct code_instruction *i, uint16_t reg)
{
	return is_among(&p->code->operands[i->first_operand], i->writes, reg);
}

static bool reads_it(const struct ports *p, const struct code_instruction *i, uint16_t reg)
{
	return is_among(reads_of(p->code, i), i->reads, reg);
}

static bool is_written_before(const struct ports *p, const struct code_block *b, uint32_t at, uint16_t reg)
{
	while (at-- > b->first)
		if (writes_it(p, &p->code->code[at], reg))
			return true;
	return false;
}

static void find_crossing(struct ports *p)
{
	for (uint32_t k = 0; k < p->code->block_count; k++) {
		const struct code_block *b = &p->code->blocks[k];
		for (uint32_t n = b->first; n < b->first + b->count; n++) {
			const struct code_instruction *i = &p->code->code[n];
			for (uint32_t r = 0; r < i->reads; r++) {
				uint16_t reg = reads_of(p->code, i)[r];
				p->crosses[reg] = p->crosses[reg] || !is_written_before(p, b, n, reg);
			}
		}
	}
}

/* Whether nothing reads the register after instruction n of its block. */
static bool ends_at(const struct ports *p, const struct code_block *b, uint32_t n, uint16_t reg)
{
	if (writes_it(p, &p->code->code[n], reg))
		return true;
	while (++n < b->first + b->count) {
		if (reads_it(p, &p->code->code[n], reg))
			return false;
		if (writes_it(p, &p->code->code[n], reg))
			return true;
	}
	return !p->crosses[reg];
}

/* A result takes the register of an operand that is not needed afterwards: sums stay where they are. */
static void place_result(struct ports *p, const struct code_block *b, uint32_t n)
{
	const struct code_instruction *i = &p->code->code[n];
	const struct code_register *table = p->code->register_table;
	uint16_t result = i->writes ? p->code->operands[i->first_operand] : 0;
	if (i->writes != 1 || p->bank_of[result] != READ_PORT_NONE || code_is_memory(i->class))
		return;
	for (uint32_t r = i->reads; r-- > 0;) {
		uint16_t reg = reads_of(p->code, i)[r];
		if (table[reg].words == table[result].words && p->bank_of[reg] != READ_PORT_NONE && ends_at(p, b, n, reg)) {
			p->bank_of[result] = p->bank_of[reg];
			p->used[p->bank_of[reg]]++;
			return;
		}
	}
}

/* What the assembler says to keep. */
static uint32_t find_kept(const struct kernel_code *code, const struct code_instruction *i, uint16_t *out)
{
	uint32_t count = 0;
	for (uint32_t r = 0; r < i->reads; r++)
		if (i->kept >> r & 1)
			out[count++] = reads_of(code, i)[r];
	return count;
}

static void find_block(struct ports *p, const struct code_block *b, struct read_ports *out)
{
	uint16_t before[UINT8_MAX], now[UINT8_MAX], rest[UINT8_MAX];
	uint32_t before_count = 0;
	for (uint32_t n = b->first; n < b->first + b->count; n++) {
		uint32_t count = find_reads(p, &p->code->code[n], now), rest_count = 0;
		count_reads(p, now, count, out[n].reads);
		/* What the instruction before has written is new. */
		for (uint32_t r = 0; r < count; r++)
			if (!is_among(before, before_count, now[r]) || writes_it(p, &p->code->code[n - 1], now[r]))
				rest[rest_count++] = now[r];
		count_reads(p, rest, rest_count, out[n].after);
		place_result(p, b, n);
		before_count = code_has_control(p->code) ? find_kept(p->code, &p->code->code[n], before) : count;
		if (!code_has_control(p->code))
			memcpy(before, now, count * sizeof *now);
	}
}

uint32_t read_port_banks(const struct gpu *gpu)
{
	uint32_t parts = gpu->sub_cores && gpu->schedulers_per_sm ? gpu->schedulers_per_sm : 1, banks = gpu->register_banks / parts;
	return !gpu->read_window ? 0 : banks < 1 ? 1 : banks < READ_PORT_BANKS ? banks : READ_PORT_BANKS;
}

/* p->bank_of has room for every register, and one more. */
static int find_ports(struct ports *p, struct read_ports *out)
{
	const struct kernel_code *code = p->code;
	size_t registers = code->register_count + 1u;
	p->writes = calloc(registers, 1);
	p->crosses = calloc(registers, sizeof(bool));
	p->from_parameters = calloc(registers, sizeof(bool));
	int rc = p->writes && p->crosses && p->from_parameters ? 0 : -ENOMEM;
	if (!rc) {
		memset(p->bank_of, READ_PORT_NONE, registers);
		/* The assembler has chosen. */
		for (uint32_t r = 0; r < code->register_count && code->origin != CODE_SELECTED; r++)
			p->bank_of[r] = (uint8_t)(code->register_table[r].number % p->banks);
		find_parameters(p);
		find_crossing(p);
		for (uint32_t b = 0; b < code->block_count; b++)
			find_block(p, &code->blocks[b], out);
	}
	free(p->writes);
	free(p->crosses);
	free(p->from_parameters);
	return rc;
}

int read_ports_find(const struct kernel_code *code, uint32_t banks, struct read_ports *out)
{
	struct ports p = {.code = code, .banks = banks, .bank_of = malloc(code->register_count + 1u)};
	int rc = p.bank_of ? find_ports(&p, out) : -ENOMEM;
	free(p.bank_of);
	return rc;
}

int read_ports_choose(const struct kernel_code *code, uint32_t banks, uint8_t *bank_of)
{
	struct read_ports *reads = calloc(code->code_count + 1u, sizeof *reads);
	uint8_t *chosen = malloc(code->register_count + 1u);
	struct ports p = {.code = code, .banks = banks, .bank_of = chosen};
	int rc = reads && chosen ? find_ports(&p, reads) : -ENOMEM;
	if (!rc)
		memcpy(bank_of, chosen, code->register_count);
	free(reads);
	free(chosen);
	return rc;
}
