/* See energy.h. */
#include "models/energy/energy.h"

#include <math.h>

static const double NANO = 1e-9, PICO = 1e-12;

bool energy_known(const struct gpu *gpu)
{
	return gpu->energy_idle_w > 0;
}

const char *energy_part_name(enum energy_part part)
{
#define NAME(name) #name,
	static const char *const names[] = {ENERGY_PARTS(NAME)};
#undef NAME
	return (unsigned)part < ENERGY_PART_COUNT ? names[part] : "unknown";
}

static double known(double x)
{
	return isfinite(x) && x > 0 ? x : 0;
}

static void count_pipes(const struct estimate *e, double pipes[MACHINE_PIPE_COUNT])
{
	double named = 0;
	for (int p = 0; p < MACHINE_PIPE_COUNT; p++) {
		pipes[p] = e->by_pipe[p] * (double)e->machine_instructions;
		named += pipes[p];
	}
	if (named <= 0)
		pipes[PIPE_other] = (double)e->machine_instructions;
}

struct energy_activity energy_activity_of(const struct gpu *gpu, const struct estimate *e, uint64_t groups)
{
	double sms = gpu_sm_use(gpu, &e->occupancy, groups) * gpu->sm_count;
	double share = e->cycles > 0 ? 1 - e->by[CYCLES_launch] / e->cycles : 0;
	double turns = e->accesses.shared_requests * fmax(1, known(e->memory.shared_factor));
	struct energy_activity a = {
		.time_ns = e->time_ns,
		.busy_ns = e->time_ns * fmax(share, 0),
		.sms = sms,
		.lanes = e->lane_efficiency,
		.tensor_cycles = e->unit_cycles[RESOURCE_tensor] * gpu->tensor_units * sms,
		.shared_turns = turns,
		.l1_sectors = e->accesses.load_sectors + e->accesses.store_sectors,
		.l2_bytes = e->memory.l2_read_bytes + e->memory.l2_written_bytes,
		.dram_bytes = e->memory.dram_read_bytes + e->memory.dram_written_bytes,
	};
	count_pipes(e, a.pipes);
	return a;
}

/* An instruction's energy does not go away with its lanes: fetching, scheduling and a part of the unit remain. */
static double lane_factor(const struct gpu *gpu, double lanes)
{
	return gpu->energy_lane_share + (1 - gpu->energy_lane_share) * fmin(known(lanes), 1);
}

struct energy energy_of(const struct gpu *gpu, const struct energy_activity *a)
{
	struct energy e = {0};
	if (!energy_known(gpu))
		return e;
	const double pipes[MACHINE_PIPE_COUNT] = {
		[PIPE_fma] = gpu->energy_fma_nj, [PIPE_alu] = gpu->energy_alu_nj, [PIPE_xu] = gpu->energy_xu_nj,
		[PIPE_fp64] = gpu->energy_fp64_nj, [PIPE_lsu] = gpu->energy_lsu_nj, [PIPE_other] = gpu->energy_other_nj,
	};
	e.by[ENERGY_idle] = gpu->energy_idle_w * a->time_ns * NANO;
	e.by[ENERGY_sms] = gpu->energy_sm_w * a->sms * a->busy_ns * NANO;
	for (int p = 0; p < MACHINE_PIPE_COUNT; p++)
		e.by[ENERGY_fma + p] = known(a->pipes[p]) * pipes[p] * lane_factor(gpu, a->lanes) * NANO;
	e.by[ENERGY_tensor] = known(a->tensor_cycles) * gpu->energy_tensor_nj * NANO;
	e.by[ENERGY_shared] = known(a->shared_turns) * gpu->energy_shared_nj * NANO;
	e.by[ENERGY_l1] = known(a->l1_sectors) * gpu->energy_l1_nj * NANO;
	e.by[ENERGY_l2] = known(a->l2_bytes) * gpu->energy_l2_pj * PICO;
	e.by[ENERGY_dram] = known(a->dram_bytes) * gpu->energy_dram_pj * PICO;
	for (int p = 0; p < ENERGY_PART_COUNT; p++)
		e.total += e.by[p];
	return e;
}

struct energy energy_of_launch(const struct gpu *gpu, const struct estimate *e, uint64_t groups)
{
	struct energy_activity a = energy_activity_of(gpu, e, groups);
	return energy_of(gpu, &a);
}

void energy_add(struct energy *sum, const struct energy *more)
{
	sum->total += more->total;
	for (int p = 0; p < ENERGY_PART_COUNT; p++)
		sum->by[p] += more->by[p];
}
