/* gpusim tune: measures the GPU of this machine and writes a description of it (tune.h). */
#include "runtime/cmd/cmd.h"

#include "runtime/config/gpus.h"
#include "runtime/cmd/tune/search.h"
#include "runtime/cmd/tune/tune.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* In the order in which they run. Later benchmarks use what earlier ones have found. */
static const struct benchmark {
	const char *name;
	int (*run)(struct tuner *t);
	const char *help;
} benchmarks[] = {
	{"device", tune_device_facts, "what the device says: SMs, largest group, memory"},
	{"clock", tune_clock, "clock under load"},
	{"launch", tune_launch, "an empty launch"},
	{"compute", tune_compute, "latency and initiation interval of the instruction classes"},
	{"issue", tune_issue, "schedulers"},
	{"warp", tune_warp, "warp size"},
	{"barrier", tune_barrier, "work-group barriers"},
	{"local", tune_local, "local memory, constants, width of L1"},
	{"dram", tune_dram, "latency of DRAM"},
	{"l2", tune_l2, "latency and size of L2"},
	{"l1", tune_l1, "latency and size of L1"},
	{"lines", tune_lines, "lines and sectors"},
	{"bandwidth", tune_bandwidth, "bandwidth of L2 and DRAM"},
	{"atomics", tune_atomics, "atomics on global memory"},
	{"limits", tune_limits, "work-groups, warps and local memory that an SM holds"},
	{"link", tune_link, "copies from the host"},
};

struct tune_arguments {
	const char *base, *name, *output, *log, *only, *times, *measured;
	int device;
	bool quick, list, cuda;
};

static int print_help(void)
{
	puts("Usage: gpusim tune --base NAME|FILE.gpu [OPTIONS] > my.gpu\n\n"
	     "Measures a GPU with microbenchmarks and writes its description. Each measured value has its spread and date. Values\n"
	     "that cannot be measured, or were too noisy, stay as in the base. Takes a minute or two.\n\n"
	     "  --base NAME|FILE.gpu   the description to start from; best one of the same architecture\n"
	     "  --device N             the OpenCL device (--list has them); default: the first GPU\n"
	     "  --list                 list the devices and exit\n"
	     "  --name NAME            name of the new description; default: tuned\n"
	     "  --only LIST            only these benchmarks, with commas\n"
	     "  --quick                shorter benchmarks, for simulated or slow devices; the default where a CPU runs the kernels\n"
	     "  --log FILE             write every measured time here; default: stderr\n"
	     "  -o FILE                write the description here; default: stdout\n\n"
	     "The second half, with CUDA (NVIDIA's driver is enough), for what OpenCL C cannot measure. The times of microbenchmarks in PTX\n"
	     "are compared with those of the models, for all candidates of a key; the log has every candidate and its error:\n\n"
	     "  --cuda                 measure the first CUDA device, then search\n"
	     "  --times FILE           only measure, and write the times here\n"
	     "  --measured FILE        search with these times, which may be of another machine\n\nBenchmarks:");
	for (size_t i = 0; i < GS_ARRAY_LEN(benchmarks); i++)
		printf("  %-10s %s\n", benchmarks[i].name, benchmarks[i].help);
	puts("With --cuda:");
	search_print_parts();
	return 0;
}

bool tune_is_listed(const char *list, const char *name)
{
	size_t length = strlen(name);
	for (const char *at = list; (at = strstr(at, name)); at += length)
		if ((at == list || at[-1] == ',') && (!at[length] || at[length] == ','))
			return true;
	return false;
}

static int check_only(const struct tune_arguments *a)
{
	const char *names[GS_ARRAY_LEN(benchmarks) + 1] = {NULL};
	for (size_t i = 0; i < GS_ARRAY_LEN(benchmarks); i++)
		names[i] = a->cuda ? search_part_name(i) : benchmarks[i].name;
	for (const char *at = a->only; *at; at += strspn(at, ",")) {
		char word[64];
		int length = (int)strcspn(at, ",");
		snprintf(word, sizeof word, "%.*s", length, at);
		bool known = false;
		for (size_t i = 0; names[i]; i++)
			known |= !strcmp(names[i], word);
		const char *near = known ? NULL : gs_nearest(word, names);
		if (!known)
			return cmd_fail("tune: there is no benchmark '%s'%s%s%s", word, near ? "; did you mean '" : " (gpusim tune --help)",
			                near ? near : "", near ? "'?" : "");
		at += length;
	}
	return 0;
}

static int take_arguments(int argc, char **argv, struct tune_arguments *a)
{
	for (int i = 1; i < argc; i++) {
		const char *number = NULL;
		char *end = NULL;
		if (!strcmp(argv[i], "--list"))
			a->list = true;
		else if (!strcmp(argv[i], "--quick"))
			a->quick = true;
		else if (!strcmp(argv[i], "--cuda"))
			a->cuda = true;
		else if (cmd_value("--device", argc, argv, &i, &number)) {
			a->device = (int)strtol(number, &end, 10);
			if (end == number || *end || a->device < 0)
				return cmd_fail("tune: --device %s: must be a number from 0", number);
		} else if (!cmd_value("--base", argc, argv, &i, &a->base) && !cmd_value("--name", argc, argv, &i, &a->name) &&
		           !cmd_value("--only", argc, argv, &i, &a->only) && !cmd_value("--log", argc, argv, &i, &a->log) &&
		           !cmd_value("--times", argc, argv, &i, &a->times) && !cmd_value("--measured", argc, argv, &i, &a->measured) &&
		           !cmd_value("-o", argc, argv, &i, &a->output))
			return cmd_fail("tune: unexpected '%s' (gpusim tune --help)", argv[i]);
	}
	if (!a->base && !a->list)
		return cmd_fail("tune: name a description to start from: --base NAME (gpusim gpus lists them)");
	if ((a->times || a->measured) && !a->cuda)
		return cmd_fail("tune: --times and --measured belong to --cuda");
	if (a->times && a->measured)
		return cmd_fail("tune: either --times, to measure only, or --measured, not to measure");
	if (a->cuda && (a->list || a->quick || a->device >= 0))
		return cmd_fail("tune: --cuda measures the first CUDA device; --list, --device and --quick are OpenCL's");
	return a->only ? check_only(a) : 0;
}

static int load_base(struct tuner *t, const char *name)
{
	t->base_name = name;
	t->origins = calloc(gpu_key_count(), sizeof *t->origins);
	t->values = calloc(gpu_key_count(), sizeof *t->values);
	if (!t->origins || !t->values)
		return gs_fail(&t->error, ENOMEM, "out of memory");
	return gpu_load(&t->base, name, gpus_read, NULL, NULL, t->origins, &t->error);
}

/* Whether a CPU runs the kernels, even if it reports that it is a GPU. */
static bool is_slow(const struct tuner *t)
{
	return strstr(t->device.platform, "Portable Computing Language") || t->device.memory_bytes < 1u << 28;
}

static void check_arch(const struct tuner *t)
{
	char arch[32];
	snprintf(arch, sizeof arch, "sm_%u%u", t->device.major, t->device.minor);
	if (t->device.major && strcmp(arch, t->base.arch))
		cmd_fail("tune: the device is %s, the base %s: a base of the same architecture would be better", arch, t->base.arch);
}

static int set_up(struct tuner *t, const struct tune_arguments *a)
{
	int result = tune_open(t, a->device);
	if (result)
		return result;
	check_arch(t);
	t->quick = a->quick || is_slow(t);
	t->repeats = t->quick ? 1 : 7;
	t->clock_mhz = t->device.clock_mhz ? t->device.clock_mhz : t->base.clock_mhz;
	/* As many work-items as the largest launch of a benchmark has. */
	t->out_items = (size_t)t->device.units * 64 * 1024;
	t->out = tune_buffer(t, t->out_items * sizeof(cl_uint), NULL);
	tune_say(t, "%s, %s, driver %s: %u units, %u MHz, groups of %zu, %llu bytes, %llu of local memory%s", t->device.name,
	         t->device.platform, t->device.driver, t->device.units, t->device.clock_mhz, t->device.group_size,
	         (unsigned long long)t->device.memory_bytes, (unsigned long long)t->device.local_bytes, t->quick ? ", quick" : "");
	return t->out ? 0 : -EIO;
}

static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* If a benchmark fails, its keys stay as they are, and the others go on. */
static void run_benchmarks(struct tuner *t, const char *only)
{
	for (size_t i = 0; i < GS_ARRAY_LEN(benchmarks); i++) {
		if (only && !tune_is_listed(only, benchmarks[i].name))
			continue;
		double start = seconds();
		fprintf(stderr, "gpusim: tune: %s\n", benchmarks[i].help);
		if (benchmarks[i].run(t))
			cmd_fail("tune: %s: %s", benchmarks[i].name, t->error.text);
		tune_say(t, "%s took %.2f s", benchmarks[i].name, seconds() - start);
	}
}

static int write_out(struct tuner *t, const struct tune_arguments *a)
{
	struct gs_buf text = {0};
	int result = tune_describe(t, a->name, &text);
	if (!result && a->output)
		result = gs_write_file(a->output, text.data, text.len, &t->error);
	else if (!result && (fwrite(text.data, 1, text.len, stdout) != text.len || fflush(stdout)))
		result = gs_fail(&t->error, EIO, "cannot write to stdout");
	gs_buf_free(&text);
	return result;
}

static int tune_by_cuda(struct tuner *t, const struct tune_arguments *a)
{
	int result = tune_search(t, &(struct search_arguments){a->times, a->measured, a->only});
	return result || a->times ? result : write_out(t, a);
}

static int tune(struct tuner *t, const struct tune_arguments *a)
{
	time_t now = time(NULL);
	struct tm day;
	strftime(t->date, sizeof t->date, "%Y-%m-%d", gmtime_r(&now, &day));
	int result = load_base(t, a->base);
	if (!result && a->cuda)
		return tune_by_cuda(t, a);
	if (!result)
		result = set_up(t, a);
	if (result)
		return result;
	run_benchmarks(t, a->only);
	result = write_out(t, a);
	tune_free(t, t->out);
	return result;
}

int cmd_tune(int argc, char **argv)
{
	struct tune_arguments a = {.device = -1, .name = "tuned"};
	struct tuner t = {.log = stderr, .api = "OpenCL"};
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return print_help();
	int result = take_arguments(argc, argv, &a);
	if (result)
		return result;
	if (a.cuda)
		t.api = "CUDA";
	if (a.log && !(t.log = fopen(a.log, "we")))
		return cmd_fail("tune: cannot write %s: %s", a.log, strerror(errno));
	result = a.list ? tune_list(&t) : tune(&t, &a);
	if (result)
		cmd_fail("tune: %s", t.error.text);
	tune_close(&t);
	if (a.log)
		fclose(t.log);
	free(t.origins);
	free(t.values);
	return result ? 1 : 0;
}
