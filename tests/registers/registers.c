/*
 * registers - compares our registers per thread with those of NVIDIA's assembler, for every kernel of some OpenCL files.
 *
 *   registers PTXAS FOLDER FILE.cl...
 *
 * FOLDER is for the PTX files. Kernels that ptxas accepts are sorted by name. Every other one belongs to the half that the rule
 * was chosen on (chosen). The rest belongs to the half that was not used for it (held out). Exits 1 if the median error over all
 * is above 15%, or if fewer than 80% have the same number of work-groups of 256 on an SM.
 */
#include "analysis/graph/graph.h"
#include "models/models.h"
#include "runtime/cmd/explain/explain.h"
#include "runtime/config/gpus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 4096, LOCAL_SIZE = 256, NAME_SIZE = 128 };
static const double MOST_ERROR = 0.15, LEAST_SAME = 0.80;

static const struct {
	const char *arch, *gpu;
} targets[] = {{"sm_75", "rtx2060"}, {"sm_80", "a100"}, {"sm_90", "h100"}};

struct row {
	char kernel[NAME_SIZE];
	uint32_t ours[GS_ARRAY_LEN(targets)], ptxas[GS_ARRAY_LEN(targets)]; /* 0: not known */
	bool same[GS_ARRAY_LEN(targets)];
};

static struct row rows[MOST_ROWS];
static size_t row_count;

static void check(bool good, const char *what)
{
	if (good)
		return;
	printf("FAILED: %s\n", what);
	exit(1);
}

static struct row *row_of(const char *kernel)
{
	for (size_t i = 0; i < row_count; i++)
		if (!strcmp(rows[i].kernel, kernel))
			return &rows[i];
	check(row_count < MOST_ROWS && strlen(kernel) < NAME_SIZE, "too many kernels, or too long a name");
	strcpy(rows[row_count].kernel, kernel);
	return &rows[row_count++];
}

static uint32_t our_registers(const struct ptx_function *f, const char *arch)
{
	struct graph *g;
	struct liveness l;
	struct gs_error err;
	uint32_t spilled;
	check(!graph_build(f, &g, &err) && !graph_liveness(g, &l, &err), "memory");
	uint32_t registers = graph_registers(g, &l, arch, 0, &spilled);
	liveness_free(&l);
	graph_free(g);
	return registers;
}

/* Reads the assembler's output: "Compiling entry function 'NAME' ...", then "Used N registers". */
static void read_ptxas(const char *ptxas, const char *file, size_t target)
{
	char command[16384], line[1024], kernel[NAME_SIZE] = "";
	uint32_t registers;
	snprintf(command, sizeof command, "'%s' -v -arch=%s -o '%s.cubin' '%s' 2>&1; rm -f '%s.cubin'", ptxas, targets[target].arch, file, file, file); /* it would replace /dev/null */
	FILE *out = popen(command, "r");
	check(out != NULL, "popen");
	while (fgets(line, sizeof line, out)) {
		const char *entry = strstr(line, "entry function '"), *used = strstr(line, "Used ");
		if (entry)
			sscanf(entry, "entry function '%127[^']'", kernel);
		else if (used && *kernel && sscanf(used, "Used %u registers", &registers) == 1)
			row_of(kernel)->ptxas[target] = registers;
	}
	pclose(out);
}

static void compare_file(const char *ptxas, const char *folder, const char *file, size_t target)
{
	struct gs_buf source = {0};
	struct gs_pack result = {0};
	struct gs_error err = {""};
	struct ptx_module *module;
	char path[4096];
	const char *base = strrchr(file, '/');
	if (gs_read_file(file, &source, &err) ||
	    explain_compile(file, &source, "", targets[target].arch, &result, &err)) {
		printf("FAILED: %s\n", err.text);
		exit(1);
	}
	const char *ptx = gs_pack_text(&result, "ptx");
	snprintf(path, sizeof path, "%s/%s.%s.ptx", folder, base ? base + 1 : file, targets[target].arch);
	check(!gs_write_file(path, ptx, strlen(ptx), &err) && !ptx_read(ptx, strlen(ptx), &module, &err),
	      "reading PTX");
	for (uint32_t i = 0; i < module->function_count; i++)
		if (module->functions[i].entry)
			row_of(module->functions[i].name)->ours[target] =
			    our_registers(&module->functions[i], targets[target].arch);
	read_ptxas(ptxas, path, target);
	ptx_free(module);
	gs_pack_free(&result);
	gs_buf_free(&source);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct row *)a)->kernel, ((const struct row *)b)->kernel);
}

static int by_value(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* Kernels that the assembler rejects are left out (images stay calls in them). */
static void drop_unknown(void)
{
	size_t kept = 0;
	for (size_t i = 0; i < row_count; i++) {
		bool known = false;
		for (size_t t = 0; t < GS_ARRAY_LEN(targets); t++)
			known |= rows[i].ours[t] && rows[i].ptxas[t];
		if (known)
			rows[kept++] = rows[i];
		else
			printf("not taken by ptxas: %s\n", rows[i].kernel);
	}
	row_count = kept;
}

static void find_classes(void)
{
	for (size_t t = 0; t < GS_ARRAY_LEN(targets); t++) {
		struct gpu gpu;
		struct gs_error err;
		check(!gpu_load(&gpu, targets[t].gpu, gpus_read, NULL, NULL, NULL, &err), err.text);
		for (size_t i = 0; i < row_count; i++)
			rows[i].same[t] = gpu_occupancy(&gpu, LOCAL_SIZE, rows[i].ours[t], 0).blocks_per_sm ==
			                  gpu_occupancy(&gpu, LOCAL_SIZE, rows[i].ptxas[t], 0).blocks_per_sm;
	}
}

static void print_table(void)
{
	printf("%-20s %-8s", "kernel", "half");
	for (size_t t = 0; t < GS_ARRAY_LEN(targets); t++)
		printf("  %s ours/ptxas", targets[t].arch);
	for (size_t i = 0; i < row_count; i++) {
		printf("\n%-20s %-8s", rows[i].kernel, i % 2 ? "held out" : "chosen");
		for (size_t t = 0; t < GS_ARRAY_LEN(targets); t++)
			if (rows[i].ours[t] && rows[i].ptxas[t])
				printf("  %7u /%3u %s", rows[i].ours[t], rows[i].ptxas[t],
				       rows[i].same[t] ? "    " : "*   ");
			else
				printf("  %16s", "-");
	}
	printf("\n* another number of work-groups of %d on an SM\n", LOCAL_SIZE);
}

/* Sums up rows first, first + step, ... Returns whether both aims are met. */
static bool print_summary(const char *name, size_t first, size_t step)
{
	static double errors[MOST_ROWS * GS_ARRAY_LEN(targets)];
	size_t count = 0, same = 0;
	for (size_t i = first; i < row_count; i += step)
		for (size_t t = 0; t < GS_ARRAY_LEN(targets); t++)
			if (rows[i].ours[t] && rows[i].ptxas[t]) {
				errors[count++] = fabs((double)rows[i].ours[t] / rows[i].ptxas[t] - 1);
				same += rows[i].same[t];
			}
	check(count > 0, "nothing to compare");
	qsort(errors, count, sizeof *errors, by_value);
	double median = (errors[count / 2] + errors[(count - 1) / 2]) / 2, share = (double)same / (double)count;
	printf("%-9s %4zu numbers, median error %4.1f%%, worst %4.1f%%, same occupancy %3.0f%%\n", name, count,
	       100 * median, 100 * errors[count - 1], 100 * share);
	return median <= MOST_ERROR && share >= LEAST_SAME;
}

int main(int argc, char **argv)
{
	check(argc > 3, "usage: registers PTXAS FOLDER FILE.cl...");
	for (int i = 3; i < argc; i++)
		for (size_t t = 0; t < GS_ARRAY_LEN(targets); t++)
			compare_file(argv[1], argv[2], argv[i], t);
	drop_unknown();
	qsort(rows, row_count, sizeof *rows, by_name);
	find_classes();
	print_table();
	print_summary("chosen", 0, 2);
	print_summary("held out", 1, 2);
	bool good = print_summary("all", 0, 1);
	printf("%d passed, %d failed\n", good, !good);
	return good ? 0 : 1;
}
