/* Rules of the SM: residency, schedulers, fetching, registers, operand collectors and units. */
#include "runtime/cmd/gpu_from/gpu_from.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void chip(struct from *f)
{
	double clocks[4], major = from_number(f, CONFIG_MAJOR), minor = from_number(f, CONFIG_MINOR);
	char arch[32];
	from_list(f, CONFIG_CLOCKS, clocks, 4, 4);
	snprintf(arch, sizeof arch, "sm_%.0f%.0f", major < 100 ? major : 0, minor < 10 ? minor : 0);
	from_put_word(f, "arch", arch, CONFIG_MAJOR, "and -gpgpu_compute_capability_minor");
	if (!f->trace)
		from_fact(f, "assembler_arch", major * 10 + minor < 75 ? "sm_75" : arch,
		          "GPGPU-Sim 4 takes registers from ptxas, and today's knows sm_75 and later");
	double cores = from_number(f, CONFIG_CORES);
	from_put(f, "sm_count", from_number(f, CONFIG_CLUSTERS) * cores, CONFIG_CLUSTERS, "of %.0f SMs each", cores);
	from_put(f, "clock_mhz", clocks[0], CONFIG_CLOCKS, "core");
	double cycles = from_number(f, CONFIG_LAUNCH), ns = clocks[0] > 0 ? cycles / clocks[0] * 1000 : 0;
	from_put(f, "launch_overhead_ns", ns, CONFIG_LAUNCH, "cycles");
	from_put(f, "cuda_launch_overhead_ns", ns, CONFIG_LAUNCH, "cycles");
	from_put(f, "concurrent_kernels", from_number(f, CONFIG_KERNELS), CONFIG_KERNELS, "%s", "");
}

static void residency(struct from *f)
{
	double threads[2], most = f->base.max_threads_per_block;
	from_list(f, CONFIG_THREADS, threads, 2, 2);
	double warp = threads[1] >= 1 ? threads[1] : 1;
	from_put(f, "warp_size", threads[1], CONFIG_THREADS, "%s", "");
	from_put(f, "max_warps_per_sm", trunc(threads[0] / warp), CONFIG_THREADS, "threads / threads of a warp");
	if (threads[0] < most)
		from_put(f, "max_threads_per_block", threads[0], CONFIG_THREADS, "all threads of an SM");
	from_put(f, "max_blocks_per_sm", from_number(f, CONFIG_BLOCKS), CONFIG_BLOCKS, "%s", "");
	from_put(f, "registers_per_sm", from_number(f, CONFIG_REGISTERS), CONFIG_REGISTERS, "%s", "");
	from_put(f, "shared_bytes_per_sm", from_number(f, CONFIG_SHARED), CONFIG_SHARED, "%s", "");
	from_put(f, "max_shared_bytes_per_block", from_number(f, CONFIG_SHARED), CONFIG_SHARED, "the simulator has no other limit");
}

static void policy(struct from *f)
{
	static const char two_level[] = "two_level_active";
	const char *word = from_text(f, CONFIG_POLICY);
	unsigned warps = 0;
	if (!strcmp(word, "gto") || !strcmp(word, "lrr"))
		from_put_word(f, "scheduler_policy", word, CONFIG_POLICY, "");
	else if (!strcmp(word, "old") || !strcmp(word, "oldest_first"))
		from_put_word(f, "scheduler_policy", "oldest", CONFIG_POLICY, "");
	else if (!strncmp(word, two_level, strlen(two_level)) && sscanf(word + strlen(two_level), ":%u", &warps) == 1) {
		from_put_word(f, "scheduler_policy", "two_level", CONFIG_POLICY, "");
		from_put(f, "two_level_warps", warps, CONFIG_POLICY, "active warps");
	} else
		from_bad(f, CONFIG_POLICY, "gpusim has the schedulers gto, lrr, old and two_level_active:N");
}

static void schedulers(struct from *f)
{
	double fetches = from_number(f, CONFIG_FETCHES);
	from_put(f, "schedulers_per_sm", from_number(f, CONFIG_SCHEDULERS), CONFIG_SCHEDULERS, "%s", "");
	from_put(f, "issue_per_scheduler", from_number(f, CONFIG_ISSUE), CONFIG_ISSUE, "%s", "");
	policy(f);
	from_put(f, "fetches_per_cycle", fetches, CONFIG_FETCHES, "%s", "");
	/* With several rounds of decoding and fetching in a cycle, what a round fetched is decoded by the next. */
	from_put(f, "fetch_to_issue_cycles", fetches > 1 ? 1 : 2, CONFIG_FETCHES, "%s, as measured in GPGPU-Sim 4",
	         fetches > 1 ? "decoded in the cycle of the fetch" : "fetch, decode, issue");
}

static void registers(struct from *f)
{
	double steps = from_number(f, CONFIG_REGISTER_PORTS);
	from_put(f, "register_banks", from_number(f, CONFIG_REGISTER_BANKS), CONFIG_REGISTER_BANKS, "%s", "");
	from_put(f, "sub_cores", from_number(f, CONFIG_SUB_CORES) != 0, CONFIG_SUB_CORES, "%s", "");
	from_put(f, "collector_steps", steps, CONFIG_REGISTER_PORTS, "%s", "");
	from_put(f, "pipeline_latency", steps > 1 ? 5 : 6, CONFIG_REGISTER_PORTS,
	         "added to latencies of units, measured in GPGPU-Sim 4: 6 (SM2_GTX480), 5 with two steps (SM7_QV100)");
}

/* Collectors for one kind of units, or a pool that all take from. */
static void collectors(struct from *f)
{
	static const struct {
		const char *key;
		enum from_option option;
	} kinds[] = {{"fp32_collectors", CONFIG_COLLECTORS_SP},
	             {"fp64_collectors", CONFIG_COLLECTORS_DP},
	             {"int_collectors", CONFIG_COLLECTORS_INT},
	             {"sfu_collectors", CONFIG_COLLECTORS_SFU},
	             {"ldst_collectors", CONFIG_COLLECTORS_MEM}};
	bool special = from_number(f, CONFIG_SPECIALIZED) != 0;
	double pool = from_number(f, CONFIG_COLLECTORS_GEN), all = pool;
	for (size_t i = 0; special && i < GS_ARRAY_LEN(kinds); i++) {
		double units = from_number(f, kinds[i].option);
		from_put(f, kinds[i].key, units, kinds[i].option, "%s", "");
		all += units;
	}
	for (size_t i = 0; !special && i < GS_ARRAY_LEN(kinds); i++)
		from_put(f, kinds[i].key, 0, CONFIG_SPECIALIZED, "none of their own");
	from_put(f, "operand_collectors", all, special ? CONFIG_SPECIALIZED : CONFIG_COLLECTORS_GEN, "all there are");
}

static void widths(struct from *f)
{
	static const struct {
		const char *key;
		unsigned place;
	} ports[] = {{"fp32_ports", 0}, {"fp64_ports", 1}, {"int_ports", 2}, {"sfu_ports", 3}, {"ldst_ports", 4}, {"tensor_ports", 11}};
	enum { WRITE_BACK = 10, PLACES = 13 };
	double width[PLACES];
	from_list(f, CONFIG_WIDTHS, width, PLACES, WRITE_BACK + 1);
	for (size_t i = 0; i < GS_ARRAY_LEN(ports); i++)
		from_put(f, ports[i].key, width[ports[i].place], CONFIG_WIDTHS, "%s", ports[i].place ? "" : "ID_OC of SP");
	from_put(f, "result_buses", width[WRITE_BACK], CONFIG_WIDTHS, "EX_WB");
}

static void units(struct from *f)
{
	double tensor = from_number(f, CONFIG_TENSOR) != 0 ? from_number(f, CONFIG_UNITS_TENSOR) : 0;
	from_put(f, "fp32_units", from_number(f, CONFIG_UNITS_SP), CONFIG_UNITS_SP, "%s", "");
	from_put(f, "int_units", from_number(f, CONFIG_UNITS_INT), CONFIG_UNITS_INT, "%s", "");
	from_put(f, "fp64_units", from_number(f, CONFIG_UNITS_DP), CONFIG_UNITS_DP, "%s", "");
	from_put(f, "sfu_units", from_number(f, CONFIG_UNITS_SFU), CONFIG_UNITS_SFU, "%s", "");
	from_put(f, "tensor_units", tensor, CONFIG_UNITS_TENSOR, "%s", "");
}

void from_core(struct from *f)
{
	chip(f);
	residency(f);
	schedulers(f);
	registers(f);
	collectors(f);
	widths(f);
	units(f);
}
