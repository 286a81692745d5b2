/* GPU descriptions, occupancy and the issue-rate model. GPUSIM_TEST_ROOT is the repository. */
#include "tests/tests.h"

#include "models/gpu/local_size.h"
#include "models/models.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A reader that knows a few texts. It finds the others among the shipped descriptions. */
struct text {
	const char *name, *text;
};

static const char *gpus_folder(void)
{
	static char folder[4096];
	const char *root = getenv("GPUSIM_TEST_ROOT");
	snprintf(folder, sizeof folder, "%s/models/gpus", root ? root : ".");
	return folder;
}

static int read_text(void *ctx, const char *name, struct gs_buf *out, char *path, size_t path_size,
                     struct gs_error *err)
{
	for (const struct text *t = ctx; t && t->name; t++)
		if (strcmp(t->name, name) == 0) {
			snprintf(path, path_size, "some/where/%s.gpu", name);
			gs_buf_puts(out, t->text);
			return 0;
		}
	char file[8192];
	snprintf(file, sizeof file, "%s/%s.gpu", gpus_folder(), name);
	snprintf(path, path_size, "%s.gpu", name);
	return gs_read_file(file, out, NULL) ? gs_fail(err, ENOENT, "there is no GPU '%s'", name) : 0;
}

static struct gpu shipped(const char *name)
{
	struct gpu gpu;
	struct gs_error err = {""};
	CU_ASSERT_EQUAL_FATAL(gpu_load(&gpu, name, read_text, NULL, NULL, NULL, &err), 0);
	return gpu;
}

/* The error of loading "x" if x has this text and `overrides` are set. "": it loads. */
static const char *load_error(const char *text, const char *overrides)
{
	static struct gs_error err;
	struct text texts[] = {{"x", text}, {NULL, NULL}};
	struct gpu gpu;
	err.text[0] = 0;
	int rc = gpu_load(&gpu, "x", read_text, texts, overrides, NULL, &err);
	CU_ASSERT_EQUAL(rc == 0, err.text[0] == 0);
	return err.text;
}

#define X "some/where/x.gpu"
#define HEAD "base = gtx480\nname = x\ntitle = X\n"

static void test_unknown_key(void)
{
	CU_ASSERT_STRING_EQUAL(load_error(HEAD "\n# text\nsm_cout = 3\n", NULL),
	                       X ":6: unknown key 'sm_cout' (did you mean 'sm_count'?)");
	CU_ASSERT_STRING_EQUAL(load_error(HEAD "colour_of_the_box = 3\n", NULL),
	                       X ":4: unknown key 'colour_of_the_box'");
}

static void test_missing_key(void)
{
	/* The name is not inherited. */
	CU_ASSERT_STRING_EQUAL(load_error("base = gtx480\ntitle = X\n", NULL), X ": missing key 'name'");
	CU_ASSERT_STRING_EQUAL(load_error("base = gtx480\n", NULL), X ": missing key 'name' (and 1 more)");
	CU_ASSERT_PTR_NOT_NULL(strstr(load_error("", NULL), X ": missing key 'name' (and "));
	CU_ASSERT_PTR_NOT_NULL(strstr(load_error("name = x\ntitle = X\n", NULL), X ": missing key 'arch' (and "));
}

static void test_bad_values(void)
{
	static const struct {
		const char *line, *error;
	} cases[] = {
		{"sm_count = 0", X ":4: sm_count = 0: must be 1 to 1024"},
		{"sm_count = 1025", X ":4: sm_count = 1025: must be 1 to 1024"},
		{"sm_count = -1", X ":4: sm_count = -1: must be 1 to 1024"},
		{"sm_count = 99999999999999999999", X ":4: sm_count = 99999999999999999999: must be 1 to 1024"},
		{"sm_count = 1.5", X ":4: sm_count = 1.5: must be a whole number"},
		{"sm_count = 0x10", X ":4: sm_count = 0x10: not a number; units belong in the comment"},
		{"sm_count = 15 SMs", X ":4: sm_count = 15 SMs: not a number; units belong in the comment"},
		{"sm_count = many", X ":4: sm_count = many: not a number"},
		{"sm_count = 1Ki", X ":4: sm_count = 1Ki: not a number; units belong in the comment"},
		{"sm_count = # 15", X ":4: sm_count has no value"},
		{"sm_count 15", X ":4: expected 'key = value', found 'sm_count 15'"},
		{"= 15", X ":4: expected 'key = value', found '= 15'"},
		{"clock_mhz = 0.5", X ":4: clock_mhz = 0.5: must be 1 to 10000"},
		{"clock_mhz = nan", X ":4: clock_mhz = nan: not a number"},
		{"int_initiation = 0", X ":4: int_initiation = 0: must be 0.01 to 100000"},
		{"l1_caches_global = yes", X ":4: l1_caches_global = yes: not a number"},
		{"l1_caches_global = 2", X ":4: l1_caches_global = 2: must be 0 to 1"},
		{"math_library = libc", X ":4: math_library = libc: must be vendor or libclc (did you mean 'libclc'?)"},
		{"scheduler_policy = gtoo",
		 X ":4: scheduler_policy = gtoo: must be lrr, gto, two_level or oldest (did you mean 'gto'?)"},
		{"fp32_fma_unit = fpu", X ":4: fp32_fma_unit = fpu: must be auto, fp32, int, fp64, sfu or ldst"},
		{"sm_count = 15\nsm_count = 15", X ":5: sm_count is already set in line 4"},
		{"arch = gfx900", X ":4: arch = gfx900: must be sm_ and digits"},
		{"arch = sm_20x", X ":4: arch = sm_20x: must be sm_ and digits"},
		{"arch = sm_", X ":4: arch = sm_: must be 4 to 63 characters"},
		{"max_threads_per_block = 1024\nmax_warps_per_sm = 16",
		 X ":4: max_threads_per_block = 1024: "
		 "max_threads_per_block must be at most max_warps_per_sm * warp_size"},
		{"l1_line_bytes = 128\nl1_sector_bytes = 48",
		 X ":4: l1_line_bytes = 128: l1_line_bytes must be a multiple of l1_sector_bytes"},
		{"base = k40", X ":4: base must be the first key"},
	};
	for (size_t i = 0; i < GS_ARRAY_LEN(cases); i++) {
		char text[512];
		snprintf(text, sizeof text, HEAD "%s\n", cases[i].line);
		CU_ASSERT_STRING_EQUAL(load_error(text, NULL), cases[i].error);
	}
}

static void test_accepted_spellings(void)
{
	struct text texts[] = {{"x", HEAD "\t l2_bytes=1Mi#\r\nl1_bytes = 32Ki\nclock_mhz = 901.5\r\nsm_count =7"},
	                       {NULL, NULL}};
	struct gpu gpu;
	CU_ASSERT_EQUAL_FATAL(gpu_load(&gpu, "x", read_text, texts, " sm_count = 9 ,, l2_bytes=768Ki,", NULL, NULL), 0);
	CU_ASSERT_EQUAL(gpu.l2_bytes, 768 * 1024);
	CU_ASSERT_EQUAL(gpu.l1_bytes, 32 * 1024);
	CU_ASSERT_EQUAL(gpu.clock_mhz, 901.5);
	CU_ASSERT_EQUAL(gpu.sm_count, 9);
}

static void test_base_is_overridden(void)
{
	struct text texts[] = {{"a", "base = b\nname = a\ntitle = A\nsm_count = 3\n"},
	                       {"b", "# text\n\nbase = gtx480\nname = b\ntitle = B\nsm_count = 2\nwarp_size = 64\n"},
	                       {NULL, NULL}};
	struct gpu gpu;
	CU_ASSERT_EQUAL_FATAL(gpu_load(&gpu, "a", read_text, texts, NULL, NULL, NULL), 0);
	CU_ASSERT_STRING_EQUAL(gpu.name, "a");
	CU_ASSERT_STRING_EQUAL(gpu.title, "A");
	CU_ASSERT_EQUAL(gpu.sm_count, 3);
	CU_ASSERT_EQUAL(gpu.warp_size, 64);
	CU_ASSERT_EQUAL(gpu.max_warps_per_sm, 48);
	CU_ASSERT_EQUAL(gpu.scheduler_policy, GPU_SCHEDULER_gto);
	CU_ASSERT_EQUAL(gpu.math_library, GPU_MATH_libclc);
}

static void test_bad_bases(void)
{
	struct text texts[] = {{"a", "base = b\n"}, {"b", "base = c\n"}, {"c", "\nbase = b\n"},
	                       {"self", "base = self\n"},
	                       {"n0", "base = n1"}, {"n1", "base = n2"}, {"n2", "base = n3"}, {"n3", "base = n4"},
	                       {"n4", "base = n5"}, {"n5", "base = n6"}, {"n6", "base = n7"}, {"n7", "base = n8"},
	                       {"n8", "base = gtx480"}, {"gone", "# text\nbase = nowhere\n"}, {NULL, NULL}};
	static const struct {
		const char *name, *error;
	} cases[] = {
		{"a", "some/where/c.gpu:2: base = b: leads back to 'b'"},
		{"self", "some/where/self.gpu:1: base = self: leads back to 'self'"},
		{"n0", "some/where/n7.gpu:1: base = n8: more than 8 descriptions in a row"},
		{"gone", "some/where/gone.gpu:2: base = nowhere: there is no GPU 'nowhere'"},
		{"nowhere", "there is no GPU 'nowhere'"},
	};
	for (size_t i = 0; i < GS_ARRAY_LEN(cases); i++) {
		struct gpu gpu;
		struct gs_error err = {""};
		CU_ASSERT_NOT_EQUAL(gpu_load(&gpu, cases[i].name, read_text, texts, NULL, NULL, &err), 0);
		CU_ASSERT_STRING_EQUAL(err.text, cases[i].error);
	}
}

static void test_overrides_are_checked(void)
{
	CU_ASSERT_STRING_EQUAL(load_error(HEAD, "sm_cout=3"),
	                       "GPUSIM_SET: unknown key 'sm_cout' (did you mean 'sm_count'?)");
	CU_ASSERT_STRING_EQUAL(load_error(HEAD, "sm_count=0"), "GPUSIM_SET: sm_count = 0: must be 1 to 1024");
	CU_ASSERT_STRING_EQUAL(load_error(HEAD, "sm_count=1,sm_count=2"), "GPUSIM_SET: sm_count is set twice");
	CU_ASSERT_STRING_EQUAL(load_error(HEAD, "sm_count"), "GPUSIM_SET: expected 'key = value', found 'sm_count'");
	CU_ASSERT_STRING_EQUAL(load_error(HEAD, "base=k40"), "GPUSIM_SET: base cannot be overridden");
	CU_ASSERT_STRING_EQUAL(load_error(HEAD, "warp_size=8"),
	                       "GPUSIM_SET: warp_size = 8: "
	                       "max_threads_per_block must be at most max_warps_per_sm * warp_size");
	CU_ASSERT_STRING_EQUAL(load_error(HEAD, "warp_size=8,max_threads_per_block=256"), "");
}

static size_t key_index(const char *name)
{
	size_t i = 0;
	while (i < gpu_key_count() && strcmp(gpu_key(i)->name, name) != 0)
		i++;
	CU_ASSERT_FATAL(i < gpu_key_count());
	return i;
}

static void test_origin(void)
{
	struct text texts[] = {{"x", HEAD "sm_count = 7   #  SMs, a guess \n"}, {NULL, NULL}};
	struct gpu_origin *origin = calloc(gpu_key_count(), sizeof *origin), *o;
	struct gpu gpu;
	CU_ASSERT_EQUAL_FATAL(gpu_load(&gpu, "x", read_text, texts, "clock_mhz=800", origin, NULL), 0);
	o = &origin[key_index("sm_count")];
	CU_ASSERT(strcmp(o->file, "x.gpu") == 0 && o->line == 4 && strcmp(o->comment, "SMs, a guess") == 0);
	o = &origin[key_index("warp_size")];
	CU_ASSERT(strcmp(o->file, "gtx480.gpu") == 0 && o->line > 0 && strncmp(o->comment, "threads, ", 9) == 0);
	o = &origin[key_index("clock_mhz")];
	CU_ASSERT(strcmp(o->file, "GPUSIM_SET") == 0 && o->line == 0 && !*o->comment);
	free(origin);
}

/* Every value of a shipped description has a comment: its unit, then its source. Optional values may be absent. */
static void check_comments(const struct gpu_origin *origin)
{
	for (size_t i = 0; i < gpu_key_count(); i++) {
		const char *key = gpu_key(i)->name, *unit = gpu_key(i)->unit, *comment = origin[i].comment;
		if (!gpu_key(i)->required && origin[i].line == 0)
			continue;
		CU_ASSERT(origin[i].line > 0);
		if (strcmp(key, "name") == 0 || strcmp(key, "title") == 0)
			continue;
		CU_ASSERT(strncmp(comment, unit, strlen(unit)) == 0 && strlen(comment) > strlen(unit) + 2);
	}
}

/* Lists and reports show titles: no two GPUs have the same. */
static void test_titles_differ(void)
{
	static const char *const alike[][2] = {{"gtx480", "gtx480_card"}, {"v100", "qv100"}, {"h100", "h200"}};
	for (size_t i = 0; i < GS_ARRAY_LEN(alike); i++)
		CU_ASSERT_STRING_NOT_EQUAL(shipped(alike[i][0]).title, shipped(alike[i][1]).title);
}

static void test_shipped_descriptions(void)
{
	DIR *folder = opendir(gpus_folder());
	CU_ASSERT_PTR_NOT_NULL_FATAL(folder);
	struct gpu_origin *origin = calloc(gpu_key_count(), sizeof *origin);
	unsigned count = 0;
	for (struct dirent *entry; (entry = readdir(folder));) {
		char name[256];
		char *dot = strrchr(entry->d_name, '.');
		if (!dot || strcmp(dot, ".gpu") != 0)
			continue;
		snprintf(name, sizeof name, "%.*s", (int)(dot - entry->d_name), entry->d_name);
		struct gpu gpu;
		struct gs_error err = {""};
		int rc = gpu_load(&gpu, name, read_text, NULL, NULL, origin, &err);
		CU_ASSERT_STRING_EQUAL(err.text, "");
		CU_ASSERT_EQUAL_FATAL(rc, 0);
		CU_ASSERT_STRING_EQUAL(gpu.name, name);
		CU_ASSERT(gpu.l1_latency < gpu.l2_latency && gpu.l2_latency < gpu.dram_latency);
		check_comments(origin);
		count++;
	}
	CU_ASSERT(count >= 13);
	free(origin);
	closedir(folder);
}

/*
 * What no description of a chip has a source of its own for is the same in all, so that it ranks no GPU before another: a launch that does nothing takes as long on all
 * chips. Configurations of simulators have no overheads. The H100 is an H200 with another memory.
 */
/* Peaks of data sheets, within 1%: lanes of 32 bits times two times the clock, and memory. A fused multiply-add is two operations. */
static void test_published_peaks(void)
{
	static const struct {
		const char *name;
		double tflops, gbps;
	} published[] = {{"rtx3090", 35.6, 936}, {"a10", 31.2, 600}, {"t4", 8.1, 320}, {"rtx4090", 82.6, 1008}, {"l40s", 91.6, 864},
	                 {"rtx5090", 104.8, 1792}, {"gb200", 80, 7800}, {"orin", 5.3, 204.8}, {"v100", 15.7, 900}, {"a100", 19.5, 1555}};
	for (size_t i = 0; i < GS_ARRAY_LEN(published); i++) {
		struct gpu gpu = shipped(published[i].name);
		double tflops = gpu.sm_count * gpu.fp32_units * 32 / gpu.fp32_fma_initiation * 2 * gpu.clock_mhz / 1e6;
		CU_ASSERT_DOUBLE_EQUAL(tflops, published[i].tflops, 0.01 * published[i].tflops);
		CU_ASSERT_DOUBLE_EQUAL(gpu.dram_gbps, published[i].gbps, 0.01 * published[i].gbps);
	}
}

static void test_descriptions_compare(void)
{
	static const char *const chips[] = {"gtx480_card", "m2090", "k40", "k6000", "tegra_k1", "titanx", "v100", "rtx2060", "rtx3070", "a100", "h100",
	                                    "rtx3090", "a10", "t4", "rtx4090", "l40s", "rtx5090", "orin"};
	struct gpu measured = shipped("h200"), h100 = shipped("h100");
	for (size_t i = 0; i < GS_ARRAY_LEN(chips); i++) {
		struct gpu gpu = shipped(chips[i]);
		CU_ASSERT_EQUAL(gpu.launch_overhead_ns, measured.launch_overhead_ns);
		CU_ASSERT_EQUAL(gpu.cuda_launch_overhead_ns, measured.cuda_launch_overhead_ns);
		CU_ASSERT_EQUAL(gpu.link_latency_ns, measured.link_latency_ns);
		CU_ASSERT_EQUAL(gpu.group_turnaround, measured.group_turnaround);
		CU_ASSERT_EQUAL(gpu.group_interval, measured.group_interval);
		CU_ASSERT_EQUAL(gpu.grid_interval, measured.grid_interval);
		CU_ASSERT(gpu.link_gbps <= measured.link_gbps && gpu.dram_gbps < measured.dram_gbps);
	}
	struct gpu simulated[] = {shipped("gtx480"), shipped("qv100")};
	for (size_t i = 0; i < GS_ARRAY_LEN(simulated); i++)
		CU_ASSERT(simulated[i].launch_overhead_ns == 0 && simulated[i].group_turnaround == 0 && simulated[i].grid_interval == 0);
	CU_ASSERT(h100.clock_mhz == measured.clock_mhz && h100.l1_latency == measured.l1_latency && h100.l2_latency == measured.l2_latency);
	CU_ASSERT(h100.dram_latency >= measured.dram_latency && h100.sfu_latency == measured.sfu_latency && h100.shared_latency == measured.shared_latency);
}

/*
 * Energies that were not measured on a chip: the H200's by what TSMC says of a process (0.7 from 7 to 5 nm, 0.6 from 10 to 7, 0.889 from 12 to 10), and DRAM's by
 * what Micron says of a bit (7.5 pJ of GDDR6 and 7.25 of GDDR6X, 6.0 of HBM2E).
 */
static void test_energies_by_rule(void)
{
	static const struct {
		const char *name;
		double process, dram, board_w;
	} chips[] = {{"rtx2060", 2.6784, 1.25, 160}, {"t4", 2.6784, 1.25, 70},       {"a100", 1.42857, 1, 400},    {"rtx3070", 1.42857, 1.25, 220},
	             {"rtx3090", 1.42857, 1.2083, 350}, {"a10", 1.42857, 1.25, 150}, {"rtx4090", 1, 1.2083, 450}, {"l40s", 1, 1.25, 350},
	             {"rtx5090", 1, 1.2083, 575},       {"h100", 1, 1, 700},         {"gb200", 1, 1, 1200}};
	struct gpu measured = shipped("h200"), v100 = shipped("v100");
	for (size_t i = 0; i < GS_ARRAY_LEN(chips); i++) {
		struct gpu gpu = shipped(chips[i].name);
		const double *first = &measured.energy_fma_nj, *of = &gpu.energy_fma_nj; /* to energy_l2_pj, in the order of the table of keys */
		for (long k = 0; k <= &measured.energy_l2_pj - first; k++)
			CU_ASSERT_DOUBLE_EQUAL(of[k] / first[k], chips[i].process, 0.002);
		CU_ASSERT_DOUBLE_EQUAL(gpu.energy_sm_w / measured.energy_sm_w, chips[i].process, 0.002);
		CU_ASSERT_DOUBLE_EQUAL(gpu.energy_dram_pj / measured.energy_dram_pj, chips[i].dram, 0.001);
		CU_ASSERT_DOUBLE_EQUAL(gpu.energy_idle_w, measured.energy_idle_w * chips[i].board_w / 700, 0.06);
		CU_ASSERT(!gpu.energy_validated);
	}
	CU_ASSERT_DOUBLE_EQUAL(v100.energy_idle_w, 32.3 + 80 * 0.28, 0.01);
	CU_ASSERT_DOUBLE_EQUAL(v100.energy_fma_nj / measured.energy_fma_nj, 2.6784, 0.002);
	CU_ASSERT(shipped("qv100").energy_idle_w == 0 && shipped("orin").energy_idle_w == 0);
}

static void check_value(const struct gpu *gpu, const char *key, const char *expected)
{
	char value[64];
	gpu_format_value(gpu, key_index(key), value, sizeof value);
	CU_ASSERT_STRING_EQUAL(value, expected);
}

static void test_format(void)
{
	struct gpu gpu = shipped("k6000");
	check_value(&gpu, "title", "NVIDIA Quadro K6000");
	check_value(&gpu, "clock_mhz", "901.5");
	check_value(&gpu, "int_initiation", "1.2");
	check_value(&gpu, "sm_count", "15");
	check_value(&gpu, "l2_bytes", "1572864");
	check_value(&gpu, "l1_caches_global", "0");
	check_value(&gpu, "scheduler_policy", "gto");
	check_value(&gpu, "int_rem_unit", "auto");
	check_value(&gpu, "math_library", "vendor");
	CU_ASSERT_PTR_NULL(gpu_key(gpu_key_count()));
}

/* Applications set their locale. A decimal comma must change nothing (tested if such a locale is installed). */
static void test_locale(void)
{
	static const char *const commas[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "nl_NL.UTF-8"};
	for (size_t i = 0; i < GS_ARRAY_LEN(commas); i++)
		if (setlocale(LC_ALL, commas[i]))
			break;
	struct gpu gpu = shipped("k6000");
	CU_ASSERT_EQUAL(gpu.clock_mhz, 901.5);
	check_value(&gpu, "clock_mhz", "901.5");
	setlocale(LC_ALL, "C");
}

static void check_occupancy(const struct gpu *gpu, uint64_t threads, uint32_t registers, uint64_t shared,
                            uint32_t blocks, uint32_t warps, enum occupancy_limit limit)
{
	struct occupancy o = gpu_occupancy(gpu, threads, registers, shared);
	CU_ASSERT_EQUAL(o.blocks_per_sm, blocks);
	CU_ASSERT_EQUAL(o.limit, limit);
	CU_ASSERT_DOUBLE_EQUAL(o.fraction, (double)warps / gpu->max_warps_per_sm, 1e-12);
	if (blocks)
		CU_ASSERT_EQUAL(o.blocks_per_sm * o.warps_per_block, warps);
}

static void test_occupancy(void)
{
	struct gpu g = shipped("gtx480");
	/* 8 warps a block: 48 / 8 = 6. Registers: 20 * 32 = 640 a warp, 32768 / 640 = 51 warps, 51 / 8 = 6 as well. */
	check_occupancy(&g, 256, 20, 0, 6, 48, OCCUPANCY_WARPS);
	/* 225 threads also take 8 warps. */
	check_occupancy(&g, 225, 20, 0, 6, 48, OCCUPANCY_WARPS);
	/* 1 warp a block: 8 blocks, though 48 warps would fit. */
	check_occupancy(&g, 32, 20, 0, 8, 8, OCCUPANCY_BLOCKS);
	/* 32 * 32 = 1024 a warp, 32 warps, 32 / 8 = 4. */
	check_occupancy(&g, 256, 32, 0, 4, 32, OCCUPANCY_REGISTERS);
	/* 25 * 32 = 800, in units of 128 it is 896: 36 warps, 36 / 8 = 4 (800 would give 5). */
	check_occupancy(&g, 256, 25, 0, 4, 32, OCCUPANCY_REGISTERS);
	/* Unknown registers do not limit. */
	check_occupancy(&g, 256, 0, 0, 6, 48, OCCUPANCY_WARPS);
	/* 49152 / 10000 = 4. */
	check_occupancy(&g, 256, 20, 10000, 4, 32, OCCUPANCY_SHARED);
	check_occupancy(&g, 256, 20, 49152, 1, 8, OCCUPANCY_SHARED);
	check_occupancy(&g, 256, 20, 49153, 0, 0, OCCUPANCY_NONE);
	check_occupancy(&g, 1024, 20, 0, 1, 32, OCCUPANCY_WARPS);
	check_occupancy(&g, 1025, 20, 0, 0, 0, OCCUPANCY_NONE);
	check_occupancy(&g, 0, 20, 0, 0, 0, OCCUPANCY_NONE);
	check_occupancy(&g, UINT64_MAX, UINT32_MAX, UINT64_MAX, 0, 0, OCCUPANCY_NONE);
	/* 32 warps of 63 registers: 2016, in units of 128 it is 2048: 16 warps, not 32. Registers above 63 are spilled. */
	check_occupancy(&g, 1024, 63, 0, 0, 0, OCCUPANCY_NONE);
	check_occupancy(&g, 512, 200, 0, 1, 16, OCCUPANCY_REGISTERS);
}

/* 15 SMs of 4 groups (896 registers a warp, above) hold 60. */
static void test_sm_use(void)
{
	struct gpu g = shipped("gtx480");
	struct occupancy o = gpu_occupancy(&g, 256, 25, 0), none = gpu_occupancy(&g, 1025, 20, 0);
	CU_ASSERT_DOUBLE_EQUAL(gpu_sm_use(&g, &o, 6), 0.4, 1e-12);
	CU_ASSERT_EQUAL(gpu_sm_use(&g, &o, 15), 1);
	CU_ASSERT_EQUAL(gpu_sm_use(&g, &o, 150), 1);
	CU_ASSERT_DOUBLE_EQUAL(gpu_waves(&g, &o, 6), 0.1, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(gpu_waves(&g, &o, 150), 2.5, 1e-12);
	CU_ASSERT_EQUAL(gpu_sm_use(&g, &none, 6), 0);
	CU_ASSERT_EQUAL(gpu_waves(&g, &none, 6), 0);
}

/* 8 warps a block: 48 / 8 = 6; 896 registers a warp (above), 36 warps, 36 / 8 = 4; 49152 / 10000 = 4 and 49152 / 20000 = 2. */
static void test_occupancy_limits(void)
{
	struct gpu g = shipped("gtx480");
	struct occupancy o = gpu_occupancy(&g, 256, 25, 20000);
	CU_ASSERT_EQUAL(o.limit, OCCUPANCY_SHARED);
	CU_ASSERT_EQUAL(o.allowed[OCCUPANCY_WARPS], 6);
	CU_ASSERT_EQUAL(o.allowed[OCCUPANCY_BLOCKS], 8);
	CU_ASSERT_EQUAL(o.allowed[OCCUPANCY_REGISTERS], 4);
	CU_ASSERT_EQUAL(o.allowed[OCCUPANCY_SHARED], 2);
	o = gpu_occupancy(&g, 256, 0, 0); /* neither is known to be used */
	CU_ASSERT_EQUAL(o.allowed[OCCUPANCY_REGISTERS], UINT32_MAX);
	CU_ASSERT_EQUAL(o.allowed[OCCUPANCY_SHARED], UINT32_MAX);
	o = gpu_occupancy(&g, 1024, 63, 0); /* 16 warps of 32 */
	CU_ASSERT_EQUAL(o.allowed[OCCUPANCY_REGISTERS], 0);
	CU_ASSERT_EQUAL(o.allowed[OCCUPANCY_WARPS], 1);
}

/* An H200 gives a thread at least 16: 512 a warp. 65536 hold 128 warps, so registers do not limit. A GTX 480 gives a thread what
 * it needs. */
static void test_registers_of_a_thread(void)
{
	struct gpu h200 = shipped("h200"), gtx480 = shipped("gtx480");
	CU_ASSERT_EQUAL(gpu_thread_registers(&h200, 9), 16);
	CU_ASSERT_EQUAL(gpu_thread_registers(&h200, 17), 17);
	CU_ASSERT_EQUAL(gpu_thread_registers(&h200, 300), 255);
	CU_ASSERT_EQUAL(gpu_thread_registers(&h200, 0), 0);
	CU_ASSERT_EQUAL(gpu_thread_registers(&gtx480, 9), 9);
	/* With at least 128, 4096 a warp: 16 warps, in blocks of 8. */
	h200.min_registers_per_thread = 128;
	check_occupancy(&h200, 256, 9, 0, 2, 16, OCCUPANCY_REGISTERS);
}

static void test_occupancy_of_partitions(void)
{
	struct gpu g = shipped("v100");
	/* 40 * 32 = 1280 a warp; 4 partitions of 16384 have 12 each, 48 in all: 24 blocks of 2 (not 51 / 2 = 25). */
	check_occupancy(&g, 64, 40, 0, 24, 48, OCCUPANCY_REGISTERS);
}

static void test_occupancy_with_reserved_shared_memory(void)
{
	struct gpu g = shipped("a100");
	/* 10000 + 1024 in units of 128 is 11136; 164 * 1024 / 11136 = 15. */
	check_occupancy(&g, 128, 16, 10000, 15, 60, OCCUPANCY_SHARED);
	/* The reserved 1024 alone: 164 blocks, so the blocks are the limit (32 of 1 warp). */
	check_occupancy(&g, 32, 16, 0, 32, 32, OCCUPANCY_BLOCKS);
}

static void test_limit_names(void)
{
	CU_ASSERT_STRING_EQUAL(occupancy_limit_name(OCCUPANCY_WARPS), "warps");
	CU_ASSERT_STRING_EQUAL(occupancy_limit_name(OCCUPANCY_BLOCKS), "blocks");
	CU_ASSERT_STRING_EQUAL(occupancy_limit_name(OCCUPANCY_REGISTERS), "registers");
	CU_ASSERT_STRING_EQUAL(occupancy_limit_name(OCCUPANCY_SHARED), "shared");
	CU_ASSERT_STRING_EQUAL(occupancy_limit_name(OCCUPANCY_GRID), "grid");
	CU_ASSERT_STRING_EQUAL(occupancy_limit_name(OCCUPANCY_NONE), "none");
}

/* What NVIDIA's driver chose on an H200. A kernel with many registers gets groups of 1 where the driver would take 1021 at once. */
static void test_chosen_local_sizes(void)
{
	struct gpu g = shipped("h200");
	char path[4096], line[256], kernel[32];
	unsigned rows = 0;
	snprintf(path, sizeof path, "%s/tests/reference/h200-truth/chosen.csv", getenv("GPUSIM_TEST_ROOT") ? getenv("GPUSIM_TEST_ROOT") : ".");
	FILE *f = fopen(path, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	while (fgets(line, sizeof line, f)) {
		uint64_t global[3] = {1, 1, 1}, local[3];
		unsigned wanted[3] = {1, 1, 1};
		char *sizes = strchr(line, ','), *chosen = sizes ? strchr(sizes + 1, ',') : NULL;
		if (!chosen || sscanf(line, "%31[a-z_]", kernel) != 1 || sscanf(sizes, ",%" SCNu64 "x%" SCNu64 "x%" SCNu64, &global[0], &global[1], &global[2]) < 1)
			continue;
		sscanf(chosen, ",%ux%ux%u", &wanted[0], &wanted[1], &wanted[2]);
		gpu_local_size(&g, global, local);
		bool same = local[0] == wanted[0] && local[1] == wanted[1] && local[2] == wanted[2];
		CU_ASSERT(same || (!strcmp(kernel, "registers") && global[0] == 1021));
		rows++;
	}
	fclose(f);
	CU_ASSERT_EQUAL(rows, 231);
}

void add_gpu_tests(void)
{
	CU_pSuite s = CU_add_suite("gpu", NULL, NULL);
	CU_add_test(s, "unknown key names file, line and the nearest key", test_unknown_key);
	CU_add_test(s, "missing key is an error", test_missing_key);
	CU_add_test(s, "bad values, duplicates and contradictions name their line", test_bad_values);
	CU_add_test(s, "blanks, comments, carriage returns and size suffixes are accepted", test_accepted_spellings);
	CU_add_test(s, "base is overridden", test_base_is_overridden);
	CU_add_test(s, "cycle of bases is an error, and so are long chains and missing bases", test_bad_bases);
	CU_add_test(s, "overrides are checked like a description", test_overrides_are_checked);
	CU_add_test(s, "origin tells file, line and comment of every value", test_origin);
	CU_add_test(s, "every shipped description loads and tells its sources", test_shipped_descriptions);
	CU_add_test(s, "titles tell descriptions apart", test_titles_differ);
	CU_add_test(s, "descriptions have the published peaks", test_published_peaks);
	CU_add_test(s, "descriptions compare", test_descriptions_compare);
	CU_add_test(s, "energies that were not measured follow a rule", test_energies_by_rule);
	CU_add_test(s, "values are formatted as a description has them", test_format);
	CU_add_test(s, "a decimal comma in the locale changes nothing", test_locale);
	CU_add_test(s, "occupancy is limited by warps, blocks, registers or shared memory", test_occupancy);
	CU_add_test(s, "a launch of few groups uses few SMs, however full each is", test_sm_use);
	CU_add_test(s, "each limit of occupancy is told", test_occupancy_limits);
	CU_add_test(s, "a warp's registers are in one partition", test_occupancy_of_partitions);
	CU_add_test(s, "a thread has the registers that its GPU gives at least", test_registers_of_a_thread);
	CU_add_test(s, "reserved shared memory counts", test_occupancy_with_reserved_shared_memory);
	CU_add_test(s, "limits have names", test_limit_names);
	CU_add_test(s, "local sizes are those that the driver chose", test_chosen_local_sizes);
}
