/*
 * Occupancy vector: the instructions and the sizes of an SM, from the GPU's description and the launch.
 *
 *   issue, + 1: collector allocated, + 1: registers read, + 1: collected, + 1: started in the unit (load/store: at once)
 *   result: released when distance (costs.h) has passed since issue, if nothing was in the way
 * Where latencies are whole (pipeline_latency is 0), the cycles before the start are part of them.
 */
#include "models/sm/state/machine.h"

#include "models/sm/variants.h"
#include "models/util/minmax.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint32_t to_cycles(double value)
{
	return value <= 0 ? 0 : value >= 1e9 ? 1000000000 : (uint32_t)(value + 0.5);
}

static uint32_t subtract(uint32_t a, uint32_t b)
{
	return a > b ? a - b : 0;
}

static enum ov_memory_rule memory_rule(const struct code_instruction *i)
{
	if (!code_is_memory(i->class))
		return OV_NOT_MEMORY;
	if (i->class == CODE_fence)
		return OV_FENCE;
	if (i->class == CODE_store)
		return OV_STORE;
	return i->space == SPACE_shared ? OV_SHARED : OV_LOAD;
}

/* Constants and atomics are measured without a register to read, the others with one for the address. */
static uint32_t memory_result(const struct ov_machine *m, const struct code_instruction *i, double distance)
{
	const struct gpu *gpu = m->gpu;
	uint32_t front = subtract(m->front[1], 1), bare = subtract(m->front[0], 1);
	if (i->class == CODE_fence || (i->class == CODE_store && (i->space == SPACE_shared || gpu->store_latency <= 0)))
		return 1;
	if (i->class == CODE_store)
		return subtract(to_cycles(gpu->store_latency), front);
	if (i->class == CODE_atomic && i->space != SPACE_shared && gpu->atomic_fast_latency > 0)
		return subtract(to_cycles(gpu->atomic_fast_latency), bare);
	bool constant = i->space == SPACE_param || i->space == SPACE_const;
	return subtract(to_cycles(distance), constant ? bare : front);
}

static enum ov_wait what_stops(const struct gpu *gpu, const struct kernel_code *code, const struct code_instruction *i)
{
	return i->class == CODE_barrier ? OV_AT_BARRIER
	     : i->class == CODE_fence ? gpu->fence_latency > 0 && code_fences_gpu(code, i) ? OV_AT_GPU_FENCE : OV_AT_FENCE
	     : goes_by_table(gpu, i) ? OV_AT_TABLE
	     : branch_wait(gpu, i) > 1 ? OV_AT_BRANCH
	     : i->class == CODE_atomic && gpu->atomics_stop_warp ? OV_AT_ATOMIC
	                                                         : OV_RUNS;
}

/* Registers of groups are not written by what makes their copies: they follow from the warp's counts. Groups of one function are modelled. */
static void find_copies(struct ov_machine *m, const struct code_instruction *i, struct ov_op *op)
{
	const struct kernel_code *code = m->launch->code;
	uint32_t groups = code_copy_groups(code, i), first = groups ? code->operands[i->first_operand] : 0;
	if (groups < 2)
		return;
	if (!m->copy_groups) {
		m->copy_groups = groups;
		m->first_copies = first;
	}
	if (first == m->first_copies)
		op->copies = i->class == CODE_load ? OV_COPY : OV_COMMIT;
	op->first_operand += op->writes;
	op->writes = 0;
}

/* An assembler's instruction has its results behind what it waits for. */
static bool has_result(const struct kernel_code *code, const struct code_instruction *i)
{
	uint32_t own = (uint32_t)i->writes + i->reads + i->waits, next = i + 1 < code->code + code->code_count ? i[1].first_operand : code->operand_count;
	return code->origin == CODE_ASSEMBLED ? next > i->first_operand + own : i->writes > 0;
}

static struct ov_op make_op(const struct ov_machine *m, const struct code_instruction *i)
{
	struct instruction_cost cost = gpu_instruction_cost(m->gpu, i);
	struct ov_op op = {.first_operand = i->first_operand,
	                   .class = i->class,
	                   .space = i->space,
	                   .flags = i->flags,
	                   .kind = (uint8_t)(cost.unit - RESOURCE_fp32),
	                   .writes = i->writes,
	                   .reads = i->reads,
	                   .waits = i->waits,
	                   .latency_rule = (uint8_t)memory_rule(i),
	                   .stops = (uint8_t)what_stops(m->gpu, m->launch->code, i),
	                   .accesses = code_has_accesses(i->class),
	                   .returns = i->class == CODE_atomic && has_result(m->launch->code, i),
	                   .constant = i->class == CODE_uniform && m->gpu->const_uniform_bytes >= m->gpu->const_access_bytes,
	                   .leaves = i->flags & CODE_EXIT || what_stops(m->gpu, m->launch->code, i),
	                   .latency = to_cycles(cost.latency),
	                   .initiation = to_cycles(cost.initiation * OV_FRACTION)};
	if (op.latency_rule == OV_NOT_MEMORY)
		op.result = max_u32(subtract(to_cycles(cost.distance), m->front[i->reads > 0]), m->collects ? 0 : 1);
	else
		op.result = max_u32(memory_result(m, i, cost.distance), 1);
	return op;
}

static void find_banks(const struct ov_machine *m, struct ov_op *op)
{
	const struct kernel_code *code = m->launch->code;
	for (uint32_t i = 0; i < (uint32_t)op->writes + op->reads; i++) {
		uint64_t bank = m->bank_bits << code->register_table[code->operands[op->first_operand + i]].number % m->banks;
		if (i < op->writes)
			op->write_banks |= bank;
		else
			op->repeats |= (op->read_banks & bank) != 0;
		op->read_banks |= i < op->writes ? 0 : bank;
	}
}

static void find_registers(const struct ov_machine *m, struct ov_op *op)
{
	const uint16_t *operands = &m->launch->code->operands[op->first_operand];
	for (uint32_t i = 0; i < (uint32_t)op->writes + op->reads + op->waits; i++) {
		op->uses |= 1ULL << operands[i] % 64;
		op->sets |= i < op->writes ? 1ULL << operands[i] % 64 : 0;
	}
	op->target = op->writes ? operands[0] : (uint16_t)(m->register_count - 1);
	op->marks = op->latency_rule == OV_NOT_MEMORY ? OV_PENDING : OV_LOADING;
}

static int make_blocks(struct ov_machine *m)
{
	const struct kernel_code *code = m->launch->code;
	m->blocks = calloc(code->block_count + 1u, sizeof *m->blocks);
	if (!m->blocks)
		return -ENOMEM;
	for (uint32_t b = 0; b < code->block_count; b++)
		for (uint32_t i = code->blocks[b].first; i < code->blocks[b].first + code->blocks[b].count; i++) {
			m->blocks[b].accesses += m->ops[i].accesses;
			m->blocks[b].touches |= m->ops[i].accesses && ov_goes_to_caches(&m->ops[i]);
		}
	return 0;
}

static int make_ops(struct ov_machine *m)
{
	const struct kernel_code *code = m->launch->code;
	uint32_t line = m->gpu->icache_line_instructions;
	m->op_count = code->code_count;
	m->operands = code->operands;
	m->bus_places = 1;
	m->ops = aligned_alloc(_Alignof(struct ov_op), (code->code_count + 1) * sizeof *m->ops);
	m->lines = calloc(code->code_count + 1, sizeof *m->lines);
	if (!m->ops || !m->lines)
		return -ENOMEM;
	memset(m->ops, 0, (code->code_count + 1) * sizeof *m->ops);
	for (uint32_t i = 0; i < code->code_count; i++) {
		m->ops[i] = make_op(m, &code->code[i]);
		find_copies(m, &code->code[i], &m->ops[i]);
		if (line)
			m->lines[i] = (i + m->launch->code_offset % line) / line;
		find_banks(m, &m->ops[i]);
		find_registers(m, &m->ops[i]);
		while (m->ops[i].latency_rule == OV_NOT_MEMORY && m->bus_places <= m->ops[i].latency)
			m->bus_places *= 2;
		m->max_reads = max_u32(code->code[i].reads, m->max_reads);
	}
	return 0;
}

static int make_read_ports(struct ov_machine *m)
{
	m->read_window = m->gpu->read_window;
	if (!m->read_window)
		return 0;
	m->read_ports = calloc(m->op_count + 1u, sizeof *m->read_ports);
	if (!m->read_ports)
		return -ENOMEM;
	return read_ports_find(m->launch->code, read_port_banks(m->gpu), m->read_ports);
}

static int make_marks(struct ov_machine *m)
{
	const struct kernel_code *code = m->launch->code;
	for (uint32_t i = 0; i < code->code_count; i++) {
		const struct code_instruction *in = &code->code[i];
		if (!(in->stall & (CODE_STALL_APART | CODE_STALL_READ)) || !in->waits)
			continue;
		if (!m->marks && !(m->marks = calloc(code->code_count + 1u, sizeof *m->marks)))
			return -ENOMEM;
		const uint16_t *waits = &code->operands[in->first_operand + in->writes + in->reads];
		if (in->stall & CODE_STALL_READ && code_has_accesses(in->class))
			m->marks[i].read = (uint16_t)(waits[0] + 1);
		if (in->stall & CODE_STALL_APART && in->stall & CODE_STALL_CYCLES) {
			m->marks[i].stall = (uint16_t)(waits[in->waits - 1] + 1);
			m->marks[i].cycles = in->stall & CODE_STALL_CYCLES;
		}
	}
	m->masks = m->masks && !m->marks;
	return 0;
}

static int make_needs(struct ov_machine *m)
{
	const struct kernel_code *code = m->launch->code;
	if (!needs_are_known(m->gpu, code))
		return 0;
	m->needs = calloc(code->code_count + 1u, sizeof *m->needs);
	for (uint32_t i = 0; i < code->code_count && m->needs; i++) {
		m->needs[i] = needs_of(m->gpu, code, &code->code[i], read_port_banks(m->gpu));
		if (m->needs[i].half)
			m->ops[i].initiation = OV_FRACTION; /* of both halves */
	}
	return m->needs ? 0 : -ENOMEM;
}

static uint32_t share_of(uint32_t total, uint32_t partitions)
{
	return total ? max_u32(total / partitions, 1) : 0;
}

static void size_kinds(struct ov_machine *m)
{
	const struct gpu *g = m->gpu;
	const uint32_t ports[OV_KINDS] = {g->fp32_ports, g->int_ports, g->fp64_ports, g->sfu_ports, g->tensor_ports, g->ldst_ports};
	const uint32_t collectors[OV_KINDS] = {g->fp32_collectors, g->int_collectors, g->fp64_collectors, g->sfu_collectors, g->tensor_collectors,
	                                       g->ldst_collectors};
	uint32_t issue = m->schedulers * g->issue_per_scheduler;
	for (uint32_t k = 0; k < OV_KINDS; k++) {
		m->ports[k] = share_of(ports[k] ? ports[k] : issue, m->partitions);
		m->unit_count[k] = gpu_unit_count(g, (enum pipeline_resource)(RESOURCE_fp32 + k));
		m->first_unit[k] = m->units;
		m->units += m->unit_count[k];
		m->collectors[k] = min_u32(share_of(collectors[k], m->partitions), OV_MAX_BANKS);
		m->collector_total += m->collectors[k];
		m->pool_kinds[m->collectors[k] ? k : OV_KINDS] |= 1u << k;
	}
	m->pool_collectors = min_u32(share_of(g->operand_collectors, m->partitions), OV_MAX_BANKS);
	m->collector_steps = g->collector_steps;
	m->read_cycles = 2 / g->collector_steps ? 2 / g->collector_steps : 1;
	m->collector_total += m->pool_collectors;
	m->banks = min_u32(share_of(g->register_banks, m->partitions), OV_MAX_BANKS);
	m->all_banks = m->banks < 64 ? (1ULL << m->banks) - 1 : ~0ULL;
	m->banks_rotate = 64 % m->banks == 0;
	m->bank_bits = m->banks_rotate ? ~0ULL / m->all_banks : 1;
	m->collects = g->operand_collectors > 0;
	m->resolves_banks = m->collects && m->options->resolve_banks && g->banks_by_name;
	/* Allocated in the cycle after issue; each round of collecting then takes it a step on: read, handed over. */
	m->front[0] = m->collects ? 2 + 1 / g->collector_steps : 0;
	m->front[1] = m->collects ? 2 + 2 / g->collector_steps : 0;
}

static uint32_t words_for(uint32_t bits)
{
	return max_u32((bits + 63) / 64, 1);
}

static void choose_variant(struct ov_machine *m)
{
	bool word = m->slot_words == 1 && m->position_words == 1, single = word && m->partitions == 1;
	bool plain = single && !m->options->hierarchy && m->resolves_banks && m->banks_rotate && m->collector_steps == 1 &&
	             m->issues == 1 && m->fetches == 1 && !m->on_issue && !m->gpu->read_window;
	bool masks = plain && m->masks && ov_has_bmi();
	m->run = masks ? ov_run_masks : plain ? ov_run_plain : single ? ov_run_single : word ? ov_run_word : ov_run_any;
}

int ov_machine_init(struct ov_machine *m, const struct gpu *gpu, const struct launch_warps *launch, uint32_t groups_per_sm,
                    const struct warp_options *options, struct gs_error *err)
{
	uint64_t slots = (uint64_t)groups_per_sm * launch->warps_per_group;
	*m = (struct ov_machine){.gpu = gpu, .launch = launch, .options = options, .groups_per_sm = groups_per_sm};
	m->on_issue = options->on_issue;
	if (slots == 0 || slots > OV_MAX_SLOTS)
		return gs_fail(err, EINVAL, "an SM would have %llu warps at once; from 1 to %d can be modelled",
		               (unsigned long long)slots, OV_MAX_SLOTS);
	m->warps_per_group = launch->warps_per_group;
	m->slots = (uint32_t)slots;
	m->schedulers = gpu->schedulers_per_sm;
	m->partitions = gpu->sub_cores ? m->schedulers : 1;
	m->policy = (enum gpu_scheduler_policy)gpu->scheduler_policy;
	m->by_age = m->policy == GPU_SCHEDULER_gto || m->policy == GPU_SCHEDULER_oldest;
	/* More room than warps, so that places need renumbering only now and then; but a word is enough where it has some. */
	uint32_t own = m->slots / m->schedulers + 1;
	m->position_words = own <= 56 ? 1 : words_for(2 * own);
	m->positions = m->position_words * 64;
	m->slot_words = words_for(m->slots);
	/* All that is fetched in the cycles until it may issue, flushed or not. */
	m->fill_places = 1;
	while (m->fill_places < gpu->fetches_per_cycle * (gpu->fetch_to_issue_cycles + 1))
		m->fill_places *= 2;
	m->fetches = gpu->fetches_per_cycle;
	m->fetch_width = gpu->fetch_width;
	m->buffer_entries = gpu->instruction_buffer_entries;
	m->fetch_cycles = gpu->fetch_to_issue_cycles;
	m->issues = gpu->issue_per_scheduler;
	m->result_buses = gpu->result_buses;
	m->barrier_cycles = to_cycles(gpu->barrier_latency);
	m->refill_at = gpu->refill_when_empty ? 0 : gpu->instruction_buffer_entries - 1;
	m->register_count = launch->code->register_count + 1;
	m->masks = launch->code->register_count <= 64;
	if (gpu->icache_line_instructions)
		m->line_count = launch->code->code_count / gpu->icache_line_instructions + 2;
	for (uint32_t p = 0; p < launch->path_count; p++)
		m->gap_room = max_u32(m->gap_room, (uint32_t)launch->paths[p].gap_count);
	size_kinds(m);
	int rc = make_marks(m);
	choose_variant(m);
	if (!rc)
		rc = make_ops(m);
	if (!rc)
		rc = make_blocks(m);
	if (!rc)
		rc = make_needs(m);
	return rc ? rc : make_read_ports(m);
}

void ov_machine_finish(struct ov_machine *m)
{
	free(m->read_ports);
	free(m->needs);
	free(m->marks);
	free(m->blocks);
	free(m->ops);
	free(m->lines);
}
