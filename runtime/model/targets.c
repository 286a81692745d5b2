/* The targets: which GPUs are modelled, by which model, and which kernels. */
#include "runtime/model/targets.h"

#include "runtime/config/gpus.h"
#include "runtime/config/log.h"
#include "runtime/model/simulation.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define LOG_DOMAIN "start"

/* Targets of one architecture, library and assembler share a compile. */
unsigned target_arch(struct simulation *sim, const struct gpu *gpu)
{
	char name[sizeof sim->archs[0]];
	gpu_target_name(gpu, name);
	for (unsigned i = 0; i < sim->arch_count; i++)
		if (!strcmp(sim->archs[i], name))
			return i;
	strcpy(sim->archs[sim->arch_count], name);
	return (unsigned)sim->arch_count++;
}

/* GPUSIM_CODE, for GPUs whose machine code is timed. */
static void choose_code(const struct simulation *sim, struct gpu *gpu)
{
	enum { CHOICE_AUTO, CHOICE_MACHINE, CHOICE_SELECTED }; /* as in options.def */
	if (sim->options.code.number != CHOICE_AUTO && gpu_times_machine_code(gpu))
		gpu->machine_code = sim->options.code.number == CHOICE_MACHINE ? GPU_CODE_machine : GPU_CODE_selected;
}

static int add_target(struct simulation *sim, const char *name, struct gs_error *err)
{
	if (sim->target_count == MAX_TARGETS)
		return gs_fail(err, E2BIG, "'%s' is one too many: at most %d GPUs at once", name, MAX_TARGETS);
	struct target *t = &sim->targets[sim->target_count];
	int failed = gpu_load(&t->gpu, name, gpus_read, NULL, sim->options.set.text, NULL, err);
	if (failed && !strncmp(err->text, "GPUSIM_SET", 10)) {
		log_warning("%s; nothing is overridden", err->text);
		options_set(&sim->options, options_find("SET"), "GPUSIM_SET", "", NULL);
		failed = gpu_load(&t->gpu, name, gpus_read, NULL, NULL, NULL, err);
	}
	if (failed)
		return failed;
	choose_code(sim, &t->gpu);
	t->arch = target_arch(sim, &t->gpu);
	sim->target_count++;
	return 0;
}

/* Of several names the good ones count; without any, the default. */
void load_targets(struct simulation *sim)
{
	const char *fallback = options_find("GPU")->fallback;
	char *names = strdup(sim->options.gpu.text);
	struct gs_error err, first = {"no GPU is named"};
	size_t bad = 0;
	for (char *save, *name = names ? strtok_r(names, ",", &save) : NULL; name; name = strtok_r(NULL, ",", &save))
		if (add_target(sim, name, &err) && !bad++)
			first = err;
	free(names);
	if (!sim->target_count && add_target(sim, fallback, &err))
		log_error("%s", err.text);
	if (bad || !*sim->options.gpu.text)
		log_warning("GPUSIM_GPU: %s; using '%s'", first.text, sim->targets[0].gpu.name);
}

void choose_model(struct simulation *sim)
{
	sim->model.kind = (enum model_kind)sim->options.model.number; /* the words are in this order */
	sim->model.hierarchy = sim->options.memory.number == MEMORY_HIERARCHY;
	sim->model.exact = sim->options.exact.number != 0;
	sim->model.iterations = (uint32_t)sim->options.iterations.number;
}

bool kernel_wanted(const struct simulation *sim, const char *name)
{
	char patterns[1024];
	strncpy(patterns, sim->options.kernels.text, sizeof patterns - 1);
	patterns[sizeof patterns - 1] = 0;
	for (char *save, *p = strtok_r(patterns, ",", &save); p; p = strtok_r(NULL, ",", &save))
		if (!fnmatch(p, name, 0))
			return true;
	return false;
}
