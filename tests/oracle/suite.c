#include "tests/oracle/suite.h"

#include "kernels/cases.h"

char *suite_read_file(const char *path)
{
	size_t size;
	return read_file(path, &size);
}

static void set_arguments(struct test_case *c, struct oracle_argument *out)
{
	for (int i = 0; i < c->arg_count; i++) {
		struct arg *a = &c->args[i];
		if (a->init)
			out[i] = (struct oracle_argument){ORACLE_BUFFER, a->init, a->size_bytes};
		else if (a->kind == 'L')
			out[i] = (struct oracle_argument){ORACLE_LOCAL, NULL, a->count};
		else
			out[i] =
			    (struct oracle_argument){ORACLE_VALUE, a->kind == 'F' ? (void *)&a->f : (void *)&a->i, 4};
	}
}

static int run_case(struct test_case *c, const char *folder, suite_function run, void *user)
{
	struct oracle_argument arguments[MAX_ARGS];
	struct suite_case ready = {.name = c->name, .kernel = c->kernel};
	struct gs_error err;
	char path[4096];
	snprintf(path, sizeof path, "%s/%.*s.ptx", folder, (int)strcspn(c->file, "."), c->file);
	char *ptx = suite_read_file(path);
	int result = oracle_create(ptx, strlen(ptx), c->kernel, &ready.oracle, &err);
	if (result) {
		fprintf(stderr, "%s: %s\n", c->name, err.text);
	} else {
		set_arguments(c, arguments);
		ready.launch = (struct oracle_launch){.arguments = arguments, .argument_count = (uint32_t)c->arg_count};
		for (uint32_t d = 0; d < 3; d++) {
			ready.launch.global[d] = d < c->dims ? c->global[d] : 1;
			ready.launch.local[d] = d < c->dims ? c->local[d] : 1;
		}
		run(user, &ready);
		oracle_free(ready.oracle);
	}
	free(ptx);
	return result != 0;
}

int suite_run(const char *cases, const char *ptx_folder, int pattern_count, char **patterns, suite_function run,
	      void *user)
{
	char *text = suite_read_file(cases), *save;
	int failures = 0;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct test_case c;
		if (line[0] == '#' || !strcspn(line, " \t") || !wanted(line, pattern_count, patterns))
			continue;
		parse_case(&c, line);
		failures += run_case(&c, ptx_folder, run, user);
		for (int i = 0; i < c.arg_count; i++)
			free(c.args[i].init);
	}
	free(text);
	return failures;
}

bool reference_find(const char *csv, const char *name, const char *config, struct reference *out)
{
	for (const char *line = csv; line && *line; line = strchr(line, '\n'), line += line != NULL) {
		char case_name[64], in_config[64];
		double occupancy;
		if (sscanf(line, "%63[^,],%*[^,],%63[^,],%lf,%lf,%lf,%lf,%u,%u,%u,%*f,%lf,%*f,%*f,%lf", case_name, in_config,
		           &out->cycles, &out->thread_instructions, &out->warp_instructions, &occupancy, &out->blocks_per_sm,
		           &out->registers, &out->shared_bytes, &out->register_bank_conflicts, &out->cpu_seconds) == 11 &&
		    !strcmp(case_name, name) && !strcmp(in_config, config))
			return true;
	}
	return false;
}
