/* Joules of a launch; expected values by hand. */
#include "models/energy/energy.h"
#include "tests/tests.h"

#include <math.h>

static struct gpu priced(void)
{
	return (struct gpu){
		.sm_count = 10, .clock_mhz = 1000, .tensor_units = 4, .energy_idle_w = 100, .energy_sm_w = 2, .energy_lane_share = 0.25,
		.energy_fma_nj = 1, .energy_alu_nj = 2, .energy_xu_nj = 3, .energy_fp64_nj = 4, .energy_lsu_nj = 5, .energy_other_nj = 6,
		.energy_tensor_nj = 7, .energy_shared_nj = 8, .energy_l1_nj = 9, .energy_l2_pj = 10, .energy_dram_pj = 20,
	};
}

/* 2 us, of which 1 us is the start of the launch; 5 of 10 SMs. */
static struct estimate half_used(void)
{
	struct estimate e = {
		.cycles = 2000, .time_ns = 2000, .machine_instructions = 1000, .lane_efficiency = 1, .occupancy.blocks_per_sm = 1,
		.by_pipe = {[PIPE_fma] = 0.5, [PIPE_lsu] = 0.25, [PIPE_other] = 0.25},
		.accesses = {.load_sectors = 400, .store_sectors = 100, .shared_requests = 30},
		.memory = {.shared_factor = 2, .l2_read_bytes = 6000, .l2_written_bytes = 4000, .dram_read_bytes = 3000, .dram_written_bytes = 2000},
	};
	e.by[CYCLES_launch] = e.by[CYCLES_issue] = 1000;
	e.unit_cycles[RESOURCE_tensor] = 50;
	return e;
}

static void near(double found, double expected)
{
	CU_ASSERT_DOUBLE_EQUAL(found, expected, 1e-9 * expected);
}

static void by_hand(void)
{
	struct gpu gpu = priced();
	struct estimate e = half_used();
	struct energy j = energy_of_launch(&gpu, &e, 5);
	double sum = 0;
	near(j.by[ENERGY_idle], 100 * 2e-6);
	near(j.by[ENERGY_sms], 2 * 5 * 1e-6);
	near(j.by[ENERGY_fma], 500e-9);
	near(j.by[ENERGY_alu], 0);
	near(j.by[ENERGY_lsu], 250 * 5e-9);
	near(j.by[ENERGY_other], 250 * 6e-9);
	near(j.by[ENERGY_tensor], 50 * 4 * 5 * 7e-9); /* cycles of a unit, units of an SM, SMs */
	near(j.by[ENERGY_shared], 30 * 2 * 8e-9);
	near(j.by[ENERGY_l1], 500 * 9e-9);
	near(j.by[ENERGY_l2], 10000 * 10e-12);
	near(j.by[ENERGY_dram], 5000 * 20e-12);
	for (int p = 0; p < ENERGY_PART_COUNT; p++)
		sum += j.by[p];
	near(j.total, sum);
}

/* A quarter of an instruction's energy stays where no lane is active, by the description. */
static void lanes(void)
{
	struct gpu gpu = priced();
	struct estimate e = half_used();
	e.lane_efficiency = 0.5;
	struct energy j = energy_of_launch(&gpu, &e, 5);
	near(j.by[ENERGY_fma], 500e-9 * (0.25 + 0.75 * 0.5));
	near(j.by[ENERGY_l1], 500 * 9e-9);
}

/* Perfect memory says nothing of sectors and bytes; PTX has no pipes. */
static void unknown(void)
{
	struct gpu gpu = priced();
	struct estimate e = half_used();
	e.accesses.load_sectors = e.memory.shared_factor = e.memory.l2_read_bytes = e.memory.dram_read_bytes = NAN;
	for (int p = 0; p < MACHINE_PIPE_COUNT; p++)
		e.by_pipe[p] = 0;
	struct energy j = energy_of_launch(&gpu, &e, 5);
	near(j.by[ENERGY_other], 1000 * 6e-9);
	near(j.by[ENERGY_shared], 30 * 8e-9);
	near(j.by[ENERGY_l1] + j.by[ENERGY_l2] + j.by[ENERGY_dram], 0);
	CU_ASSERT(isfinite(j.total));
}

static void without_keys(void)
{
	struct gpu gpu = {.sm_count = 10, .clock_mhz = 1000, .energy_sm_w = 2};
	struct estimate e = half_used();
	CU_ASSERT_FALSE(energy_known(&gpu));
	CU_ASSERT_EQUAL(energy_of_launch(&gpu, &e, 5).total, 0);
}

static void sums(void)
{
	struct gpu gpu = priced();
	struct estimate e = half_used();
	struct energy one = energy_of_launch(&gpu, &e, 5), all = one;
	energy_add(&all, &one);
	near(all.total, 2 * one.total);
	near(all.by[ENERGY_dram], 2 * one.by[ENERGY_dram]);
	CU_ASSERT_STRING_EQUAL(energy_part_name(ENERGY_fma + PIPE_fp64), "fp64"); /* pipes in the order of MACHINE_PIPES */
	CU_ASSERT_STRING_EQUAL(energy_part_name(ENERGY_fma + PIPE_other), "other");
}

void add_energy_tests(void)
{
	CU_pSuite suite = CU_add_suite("energy", NULL, NULL);
	CU_add_test(suite, "energies are counts times what one takes", by_hand);
	CU_add_test(suite, "lanes that are off save a part", lanes);
	CU_add_test(suite, "what is not known adds nothing", unknown);
	CU_add_test(suite, "a description without energies has none", without_keys);
	CU_add_test(suite, "energies add up", sums);
}
