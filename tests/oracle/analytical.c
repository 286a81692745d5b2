/*
 * analytical - runs the optimistic, the probabilistic and the full model on the suite's cases, with exactly what their warps
 * execute. It prints their results beside the cycles and the operand collectors' bank conflicts of GPGPU-Sim.
 *
 *   analytical [-o CSV] [-m MEAN] [-n NEAR] CASES PTX_FOLDER GPGPUSIM_CSV [PATTERN...]
 *
 * Prints a line per case and a summary by configuration. Fails if the probabilistic model's mean error with one SM is above MEAN
 * percent, or if fewer than NEAR percent of the cases are within 10%. The numbers of registers are those of the reference.
 */
#include "models/models.h"
#include "models/full.h"
#include "runtime/config/gpus.h"
#include "tests/oracle/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const struct {
	const char *config, *overrides, *title;
} configs[] = {
	{"gtx480_pm_1sm", "sm_count=1", "1 SM, 2 schedulers"},
	{"gtx480_pm_15sm_1sched", "schedulers_per_sm=1", "15 SMs, 1 scheduler"},
	{"gtx480_pm_15sm_2sched", "", "15 SMs, 2 schedulers"},
};

/* BY_CHANCE: the fixed point of all models. RESOLVED: banks register by register, as GPUSIM_MODEL=full does here. */
enum { OPTIMISTIC, PROBABILISTIC, BY_CHANCE, RESOLVED, MODEL_COUNT };
static const char *const model_names[] = {"optimistic", "probabilistic", "full by chance", "full resolved"};

struct errors {
	double sum, worst;
	int count, near;                          /* near: within 10% */
	int conflicts_near, conflicts_count;      /* with 32 warps or more: within a factor of 0.75 to 1.35 */
	int at_once_near;                         /* the same for the paper's formula, with reads and writes */
};

struct table {
	const char *reference;
	FILE *csv;
	struct gpu gpus[GS_ARRAY_LEN(configs)];
	struct errors errors[GS_ARRAY_LEN(configs)][MODEL_COUNT];
	double most_mean, least_near, slowest_ms;
	int failures;
};

struct result {
	double cycles, conflicts, at_once;
	uint32_t warps; /* resident warps */
};

static double cpu_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static uint64_t local_bytes(const struct oracle_launch *launch)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < launch->argument_count; i++)
		bytes += launch->arguments[i].kind == ORACLE_LOCAL ? launch->arguments[i].bytes : 0;
	return bytes;
}

/* As in the paper: accesses per cycle are rounded down, and all of them come at once. */
static double paper_conflicts(const struct gpu *gpu, const struct probabilistic_timing *p)
{
	double sms = gpu->sm_count, accesses = p->timing.register_reads + p->timing.register_writes;
	double per_cycle = floor(accesses / sms / p->timing.cycles);
	return sms * p->timing.cycles * bank_conflicts_at_once(per_cycle, gpu->register_banks);
}

static int analytical_models(struct table *t, const struct gpu *gpu, const struct launch_warps *warps, uint32_t groups,
                             struct result results[MODEL_COUNT])
{
	struct optimistic_timing o;
	struct probabilistic_timing p;
	double start = cpu_ms();
	int rc = model_optimistic(gpu, warps, groups, NULL, &o, NULL);
	if (!rc)
		rc = model_probabilistic(gpu, warps, groups, NULL, &p, NULL);
	if (rc)
		return rc;
	t->slowest_ms = fmax(t->slowest_ms, cpu_ms() - start);
	uint32_t resident = p.timing.resident_groups * warps->warps_per_group;
	results[OPTIMISTIC] = (struct result){.cycles = o.cycles, .warps = resident};
	results[PROBABILISTIC] = (struct result){p.timing.cycles, p.register_bank_conflicts, paper_conflicts(gpu, &p), resident};
	return 0;
}

static int full_models(const struct gpu *gpu, const struct launch_warps *warps, uint32_t groups,
                       struct result results[MODEL_COUNT])
{
	for (int m = BY_CHANCE; m <= RESOLVED; m++) {
		struct full_timing f;
		const struct full_options options = {.warps = {.exact = true, .resolve_banks = m == RESOLVED},
		                                     .occupancy = model_occupancy_vector};
		int rc = model_full(gpu, warps, groups, &options, &f, NULL);
		if (rc)
			return rc;
		results[m] = (struct result){f.cycles, f.register_bank_conflicts, 0, results[PROBABILISTIC].warps};
	}
	return 0;
}

static void add_result(struct errors *e, const struct result *r, const struct reference *ref)
{
	double error = 100 * (r->cycles / ref->cycles - 1), factor = r->conflicts / ref->register_bank_conflicts;
	e->sum += fabs(error);
	e->worst = fabs(error) > fabs(e->worst) ? error : e->worst;
	e->near += fabs(error) <= 10;
	e->count++;
	if (r->warps < 32)
		return;
	e->conflicts_count++;
	e->conflicts_near += factor >= 0.75 && factor <= 1.35;
	factor = r->at_once / ref->register_bank_conflicts;
	e->at_once_near += factor >= 0.75 && factor <= 1.35;
}

static int run_config(struct table *t, size_t config, const struct suite_case *c, const struct oracle_trace *trace,
                      const struct reference *ref)
{
	const struct gpu *gpu = &t->gpus[config];
	const uint64_t *local = c->launch.local;
	struct result results[MODEL_COUNT] = {{0}};
	struct occupancy fits = gpu_occupancy(gpu, local[0] * local[1] * local[2], ref->registers,
	                                      trace->warps.code->shared_bytes + local_bytes(&c->launch));
	int rc = analytical_models(t, gpu, &trace->warps, fits.blocks_per_sm, results);
	if (!rc)
		rc = full_models(gpu, &trace->warps, fits.blocks_per_sm, results);
	if (rc)
		return rc;
	if (config == 0)
		printf("%-20s %9.0f", c->name, ref->cycles);
	for (int m = 0; m < MODEL_COUNT; m++) {
		add_result(&t->errors[config][m], &results[m], ref);
		double error = 100 * (results[m].cycles / ref->cycles - 1);
		double factor = results[m].conflicts / ref->register_bank_conflicts;
		if (config == 0)
			printf(m == OPTIMISTIC ? " %+7.2f%%" : " %+7.2f%% %5.2f", error, factor);
		if (t->csv)
			fprintf(t->csv, "%s,%s,%s,%.0f,%.0f,%.3f,%.0f,%.0f\n", c->name, configs[config].config, model_names[m],
			        ref->cycles, results[m].cycles, error, ref->register_bank_conflicts, results[m].conflicts);
	}
	if (config == 0)
		putchar('\n');
	return 0;
}

static void run_case(void *user, const struct suite_case *c)
{
	struct table *t = user;
	struct oracle_trace trace;
	struct reference ref;
	struct gs_error err;
	if (oracle_trace(c->oracle, &c->launch, &trace, &err)) {
		printf("%-20s %s\n", c->name, err.text);
		t->failures++;
		return;
	}
	for (size_t i = 0; i < GS_ARRAY_LEN(configs); i++)
		if (reference_find(t->reference, c->name, configs[i].config, &ref))
			t->failures += run_config(t, i, c, &trace, &ref) != 0;
	oracle_trace_free(&trace);
}

/* Returns whether the probabilistic model is worse than allowed. */
static bool print_summary(const struct table *t)
{
	for (size_t i = 0; i < GS_ARRAY_LEN(configs); i++)
		for (int m = 0; m < MODEL_COUNT; m++) {
			const struct errors *e = &t->errors[i][m];
			if (!e->count)
				continue;
			printf("%-21s %-16s mean error %5.2f%%, worst %+6.2f%%, %2d of %2d within 10%%", configs[i].title,
			       model_names[m], e->sum / e->count, e->worst, e->near, e->count);
			if (m != OPTIMISTIC)
				printf("; conflicts near in %2d of %2d", e->conflicts_near, e->conflicts_count);
			if (m == PROBABILISTIC)
				printf(" (the paper's formula: %d)", e->at_once_near);
			putchar('\n');
		}
	const struct errors *e = &t->errors[0][PROBABILISTIC];
	bool bad = e->count && (e->sum / e->count > t->most_mean || 100.0 * e->near / e->count < t->least_near);
	printf("slowest launch: optimistic and probabilistic together %.1f ms%s\n", t->slowest_ms, bad ? "; TOO MUCH ERROR" : "");
	printf("%d passed, %d failed, 0 skipped\n", !bad, bad + t->failures);
	return bad;
}

/* The index of the first argument that is not an option, or -1. */
static int read_options(struct table *t, int argc, char **argv)
{
	t->most_mean = INFINITY;
	for (int option; (option = getopt(argc, argv, "o:m:n:")) != -1;) {
		if (option == 'o')
			t->csv = fopen(optarg, "w");
		else if (option == 'm')
			t->most_mean = atof(optarg);
		else if (option == 'n')
			t->least_near = atof(optarg);
		else
			return -1;
	}
	return argc - optind < 3 ? -1 : optind;
}

static int load_gpus(struct table *t)
{
	struct gs_error err;
	for (size_t i = 0; i < GS_ARRAY_LEN(configs); i++)
		if (gpu_load(&t->gpus[i], "gtx480", gpus_read, NULL, configs[i].overrides, NULL, &err)) {
			fprintf(stderr, "%s\n", err.text);
			return -1;
		}
	return 0;
}

int main(int argc, char **argv)
{
	static struct table t;
	int first = read_options(&t, argc, argv);
	if (first < 0) {
		fprintf(stderr, "usage: analytical [-o CSV] [-m MEAN] [-n NEAR] CASES PTX_FOLDER GPGPUSIM_CSV [PATTERN...]\n");
		return 2;
	}
	char *reference = suite_read_file(argv[first + 2]);
	t.reference = reference;
	if (load_gpus(&t))
		return 1;
	if (t.csv)
		fprintf(t.csv, "case,config,model,gpgpusim_cycles,model_cycles,error_percent,gpgpusim_conflicts,model_conflicts\n");
	printf("%-20s %9s %8s %14s %14s %14s   (errors, factors of bank conflicts)\n", configs[0].title, "gpgpusim",
	       model_names[0], model_names[1], model_names[2], model_names[3]);
	t.failures += suite_run(argv[first], argv[first + 1], argc - first - 3, argv + first + 3, run_case, &t);
	bool bad = print_summary(&t);
	if (t.csv)
		fclose(t.csv);
	free(reference);
	return bad || t.failures;
}
