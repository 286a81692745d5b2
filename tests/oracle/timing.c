/*
 * timing - runs the occupancy-vector model on the suite's cases, with exactly what their warps execute. It compares the result
 * with the cycles of GPGPU-Sim. So it shows the error of the timing rules alone, without errors of counts, paths or addresses.
 *
 *   timing [-c CONFIGURATIONS] [-e] [-o CSV] [-m MEAN] [-w WORST] CASES PTX_FOLDER GPGPUSIM_CSV [PATTERN...]
 *
 * Prints a line per case, and the mean and worst error of each configuration (or of those that match a pattern). It fails if an
 * error is above the given percentages. Configurations with a memory hierarchy have limits of their own. The numbers of
 * registers are those of the reference. With -e, large launches are extrapolated from a part of them.
 */
#include "models/grid/occupancy_vector.h"
#include "models/models.h"
#include "runtime/config/gpus.h"
#include "tests/oracle/suite.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct {
	const char *config, *gpu, *overrides, *title;
	bool hierarchy;
	double mean, worst; /* in percent, at most; 0: as the options say */
} configs[] = {
	{"gtx480_pm_1sm", "gtx480", "sm_count=1", "1 SM, 2 schedulers", false, 0, 0},
	{"gtx480_pm_15sm_1sched", "gtx480", "schedulers_per_sm=1", "15 SMs, 1 scheduler", false, 0, 0},
	{"gtx480_pm_15sm_2sched", "gtx480", "", "15 SMs, 2 schedulers", false, 0, 0},
	{"gtx480_full", "gtx480", "", "GTX 480, its memory", true, 3, 15},
	{"qv100_full", "qv100", "", "QV100, its memory", true, 3, 15},
};

struct table {
	const char *reference;
	const char *pattern; /* chooses configurations; NULL: all */
	bool extrapolated;
	FILE *csv;
	struct gpu gpus[GS_ARRAY_LEN(configs)];
	double sum[GS_ARRAY_LEN(configs)], worst[GS_ARRAY_LEN(configs)];
	char worst_case[GS_ARRAY_LEN(configs)][64];
	int count[GS_ARRAY_LEN(configs)];
	int failures;
	double most_mean, most_worst; /* percent */
	double seconds, reference_seconds, thread_instructions; /* CPU seconds of the model and of GPGPU-Sim */
	struct {
		char name[64];
		double seconds;
	} dearest[3];
};

/* CPU seconds: other programs may run beside this one. */
static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t local_bytes(const struct oracle_launch *launch)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < launch->argument_count; i++)
		bytes += launch->arguments[i].kind == ORACLE_LOCAL ? launch->arguments[i].bytes : 0;
	return bytes;
}

/* Cycles of one configuration, or a negative number. */
static double model(struct table *t, size_t config, const struct suite_case *c, const struct oracle_trace *trace,
                    uint32_t registers)
{
	const struct gpu *gpu = &t->gpus[config];
	const uint64_t *local = c->launch.local;
	uint64_t shared = trace->warps.code->shared_bytes + local_bytes(&c->launch);
	struct warp_options options = {.exact = !t->extrapolated, .resolve_banks = true, .hierarchy = configs[config].hierarchy,
	                               .shared_bytes = shared};
	struct warp_timing timing;
	struct occupancy fits = gpu_occupancy(gpu, local[0] * local[1] * local[2], registers,
	                                      shared);
	double start = now();
	int result =
	    model_occupancy_vector(gpu, &trace->warps, fits.blocks_per_sm ? fits.blocks_per_sm : 1, &options, &timing, NULL);
	t->seconds += now() - start;
	t->thread_instructions += (double)trace->counts.thread_instructions;
	return result ? -1 : timing.cycles;
}

static void add_error(struct table *t, size_t config, const char *name, double error)
{
	t->sum[config] += fabs(error);
	t->count[config]++;
	if (fabs(error) >= fabs(t->worst[config])) {
		t->worst[config] = error;
		snprintf(t->worst_case[config], sizeof t->worst_case[config], "%s", name);
	}
}

/* The oracle leaves the kernel's output in the buffers. This restores the first contents, so that every run begins with them. */
static void keep_buffers(const struct suite_case *c, void **copies, bool restore)
{
	for (uint32_t i = 0; i < c->launch.argument_count; i++) {
		const struct oracle_argument *a = &c->launch.arguments[i];
		if (a->kind != ORACLE_BUFFER)
			continue;
		if (!copies[i])
			copies[i] = malloc(a->bytes);
		if (copies[i])
			memcpy(restore ? a->data : copies[i], restore ? copies[i] : a->data, a->bytes);
	}
}

/* The trace for a configuration. With a memory hierarchy, it has the addresses of every warp. */
static int trace_case(const struct table *t, size_t config, const struct suite_case *c, struct oracle_trace *trace)
{
	struct gs_error err;
	int rc = oracle_trace_for(c->oracle, &c->launch, configs[config].hierarchy ? &t->gpus[config] : NULL, trace, &err);
	if (rc)
		printf(" %s", err.text);
	return rc;
}

static void note_cost(struct table *t, const char *name, double seconds)
{
	size_t at = GS_ARRAY_LEN(t->dearest);
	while (at && t->dearest[at - 1].seconds < seconds)
		at--;
	for (size_t i = GS_ARRAY_LEN(t->dearest) - 1; i > at; i--)
		t->dearest[i] = t->dearest[i - 1];
	if (at == GS_ARRAY_LEN(t->dearest))
		return;
	t->dearest[at].seconds = seconds;
	snprintf(t->dearest[at].name, sizeof t->dearest[at].name, "%s", name);
}

static void run_case(void *user, const struct suite_case *c)
{
	struct table *t = user;
	struct oracle_trace trace;
	void *copies[64] = {NULL};
	bool traced = false;
	double before = t->seconds;
	keep_buffers(c, copies, false);
	printf("%-20s", c->name);
	for (size_t i = 0; i < GS_ARRAY_LEN(configs); i++) {
		struct reference r;
		if (!reference_find(t->reference, c->name, configs[i].config, &r) || (t->pattern && fnmatch(t->pattern, configs[i].config, 0))) {
			printf(" %29s", "");
			continue;
		}
		if (traced && configs[i].hierarchy)
			oracle_trace_free(&trace);
		if (!traced || configs[i].hierarchy) {
			keep_buffers(c, copies, true);
			traced = !trace_case(t, i, c, &trace);
			if (!traced) {
				t->failures++;
				break;
			}
		}
		double cycles = model(t, i, c, &trace, r.registers), error = (cycles / r.cycles - 1) * 100;
		t->failures += cycles < 0;
		t->reference_seconds += r.cpu_seconds;
		add_error(t, i, c->name, error);
		printf(" %9.0f %9.0f %+8.2f%%", r.cycles, cycles, error);
		if (t->csv)
			fprintf(t->csv, "%s,%s,%.0f,%.0f,%.3f\n", c->name, configs[i].config, r.cycles, cycles, error);
	}
	note_cost(t, c->name, t->seconds - before);
	putchar('\n');
	fflush(stdout);
	for (size_t i = 0; i < GS_ARRAY_LEN(copies); i++)
		free(copies[i]);
	if (traced)
		oracle_trace_free(&trace);
}

static int load_gpus(struct table *t)
{
	struct gs_error err;
	for (size_t i = 0; i < GS_ARRAY_LEN(configs); i++) {
		if (gpu_load(&t->gpus[i], configs[i].gpu, gpus_read, NULL, configs[i].overrides, NULL, &err)) {
			fprintf(stderr, "%s\n", err.text);
			return -1;
		}
	}
	return 0;
}

/* Returns how many configurations are worse than allowed. */
static int print_summary(const struct table *t)
{
	int bad = 0, count = 0;
	for (size_t i = 0; i < GS_ARRAY_LEN(configs); i++) {
		if (!t->count[i])
			continue;
		double mean = t->sum[i] / t->count[i];
		bool worse = mean > (configs[i].mean > 0 ? configs[i].mean : t->most_mean) ||
		             fabs(t->worst[i]) > (configs[i].worst > 0 ? configs[i].worst : t->most_worst);
		printf("%-22s %2d cases, mean error %.2f%%, worst %+.2f%% (%s)%s\n", configs[i].title, t->count[i],
		       mean, t->worst[i], t->worst_case[i], worse ? ": TOO MUCH" : "");
		bad += worse;
		count++;
	}
	double seconds = t->seconds > 0 ? t->seconds : 1e-9;
	printf("%.2f CPU s, %.1f million thread instructions/s; GPGPU-Sim: %.0f CPU s, %.2f million/s, %.0f times as long\n", seconds,
	       t->thread_instructions / seconds / 1e6, t->reference_seconds,
	       t->reference_seconds > 0 ? t->thread_instructions / t->reference_seconds / 1e6 : 0, t->reference_seconds / seconds);
	printf("dearest:");
	for (size_t i = 0; i < GS_ARRAY_LEN(t->dearest) && t->dearest[i].name[0]; i++)
		printf("%s %s %.0f%%", i ? "," : "", t->dearest[i].name, 100 * t->dearest[i].seconds / seconds);
	putchar('\n');
	printf("%d passed, %d failed, 0 skipped\n", count - bad, bad + t->failures);
	return bad;
}

/* The index of the first argument that is not an option, or -1. */
static int read_options(struct table *t, int argc, char **argv)
{
	t->most_mean = t->most_worst = INFINITY;
	for (int option; (option = getopt(argc, argv, "c:eo:m:w:")) != -1;) {
		if (option == 'o')
			t->csv = fopen(optarg, "w");
		else if (option == 'c')
			t->pattern = optarg;
		else if (option == 'e')
			t->extrapolated = true;
		else if (option == 'm')
			t->most_mean = atof(optarg);
		else if (option == 'w')
			t->most_worst = atof(optarg);
		else
			return -1;
	}
	return argc - optind < 3 ? -1 : optind;
}

int main(int argc, char **argv)
{
	static struct table t;
	int first = read_options(&t, argc, argv);
	if (first < 0) {
		fprintf(stderr,
			"usage: timing [-c CONFIGURATIONS] [-e] [-o CSV] [-m MEAN] [-w WORST] CASES PTX_FOLDER GPGPUSIM_CSV [PATTERN...]\n");
		return 2;
	}
	char *reference = suite_read_file(argv[first + 2]);
	t.reference = reference;
	if (load_gpus(&t))
		return 1;
	if (t.csv)
		fprintf(t.csv, "case,config,gpgpusim_cycles,model_cycles,error_percent\n");
	printf("%-20s", "gpgpusim, model");
	for (size_t i = 0; i < GS_ARRAY_LEN(configs); i++)
		printf(" %29s", configs[i].title);
	putchar('\n');
	t.failures += suite_run(argv[first], argv[first + 1], argc - first - 3, argv + first + 3, run_case, &t);
	int bad = print_summary(&t);
	if (t.csv)
		fclose(t.csv);
	free(reference);
	return bad || t.failures;
}
