/* gpusim gpus, gpusim show: list and show GPU descriptions. */
#include "runtime/cmd/cmd.h"

#include "runtime/config/accuracy.h"
#include "runtime/config/gpus.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_json_row(const struct gpu *gpu, bool first)
{
	json_t *row = json_pack("{ss ss ss si sf sf sI sb}", "name", gpu->name, "title", gpu->title, "arch", gpu->arch, "sm_count", (int)gpu->sm_count,
	                        "clock_mhz", gpu->clock_mhz, "dram_gbps", gpu->dram_gbps, "dram_bytes", (json_int_t)gpu->dram_bytes, "validated",
	                        accuracy_is_measured(gpu->name));
	char *text = json_dumps(row, JSON_COMPACT | JSON_REAL_PRECISION(10));
	printf("%s%s", first ? "" : ",\n", text ? text : "null");
	free(text);
	json_decref(row);
}

static void print_row(const struct gpu *gpu)
{
	printf("%-18s %-6s %5u %5.0f MHz %5.0f GB/s  %s%s\n", gpu->name, gpu->arch, gpu->sm_count, gpu->clock_mhz, gpu->dram_gbps, gpu->title,
	       accuracy_is_measured(gpu->name) ? " (validated)" : "");
}

int cmd_gpus(int argc, char **argv)
{
	int failures = 0, rows = 0;
	bool json = argc == 2 && !strcmp(argv[1], "--json");
	if (argc > 1 && !json)
		return cmd_fail("gpus: unexpected '%s'", argv[1]);
	char **names = gpus_names();
	if (json)
		fputs("[", stdout);
	else
		printf("%-18s %-6s %5s %9s %10s  %s\n", "name", "arch", "SMs", "clock", "memory", "GPU");
	for (char **n = names; n && *n; n++) {
		struct gpu gpu;
		struct gs_error err;
		if (gpu_load(&gpu, *n, gpus_read, NULL, NULL, NULL, &err)) {
			cmd_fail("%s", err.text);
			failures++;
		} else if (json) {
			print_json_row(&gpu, !rows++);
		} else {
			print_row(&gpu);
		}
		free(*n);
	}
	if (json)
		puts("]");
	free(names);
	return failures ? 1 : 0;
}

static void print_value(const struct gpu *gpu, size_t i, const struct gpu_origin *from)
{
	char value[128], line[24] = "";
	gpu_format_value(gpu, i, value, sizeof value);
	if (from->line)
		snprintf(line, sizeof line, ":%u", from->line);
	printf("%-28s = %-14s # ", gpu_key(i)->name, value);
	if (from->comment[0])
		printf("%s", from->comment);
	else
		printf("%s%s%s", gpu_key(i)->unit, gpu_key(i)->unit[0] ? ": " : "", gpu_key(i)->text);
	printf(" [%s%s]\n", from->file, line);
}

int cmd_show(int argc, char **argv)
{
	const char *name = NULL, *set = NULL;
	struct gpu gpu;
	struct gs_error err;
	for (int i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "--set=", 6))
			set = argv[i] + 6;
		else if (!strcmp(argv[i], "--set") && i + 1 < argc)
			set = argv[++i];
		else if (argv[i][0] == '-' || name)
			return cmd_fail("show: unexpected '%s'", argv[i]);
		else
			name = argv[i];
	}
	if (!name)
		return cmd_fail("show: name a GPU (gpusim gpus lists them)");
	struct gpu_origin *origins = calloc(gpu_key_count(), sizeof *origins);
	if (!origins)
		return cmd_fail("show: out of memory");
	int failed = gpu_load(&gpu, name, gpus_read, NULL, set, origins, &err);
	for (size_t i = 0; !failed && i < gpu_key_count(); i++)
		print_value(&gpu, i, &origins[i]);
	free(origins);
	return failed ? cmd_fail("show: %s", err.text) : 0;
}
