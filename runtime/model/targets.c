/* The targets: which GPUs are modelled, and by which model. */
#include "runtime/model/targets.h"

#include "runtime/config/gpus.h"
#include "runtime/config/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LOG_DOMAIN "start"

struct runtime_state runtime;

/* Targets of one architecture, library and assembler share a compile. */
unsigned target_arch(const struct gpu *gpu)
{
	char name[sizeof runtime.archs[0]];
	gpu_target_name(gpu, name);
	for (unsigned i = 0; i < runtime.arch_count; i++)
		if (!strcmp(runtime.archs[i], name))
			return i;
	strcpy(runtime.archs[runtime.arch_count], name);
	return (unsigned)runtime.arch_count++;
}

static int add_target(const char *name, struct gs_error *err)
{
	if (runtime.target_count == MAX_TARGETS)
		return gs_fail(err, E2BIG, "'%s' is one too many: at most %d GPUs at once", name, MAX_TARGETS);
	struct target *t = &runtime.targets[runtime.target_count];
	int failed = gpu_load(&t->gpu, name, gpus_read, NULL, runtime.options.set.text, NULL, err);
	if (failed && !strncmp(err->text, "GPUSIM_SET", 10)) {
		log_warning("%s; nothing is overridden", err->text);
		options_set(&runtime.options, options_find("SET"), "GPUSIM_SET", "", NULL);
		failed = gpu_load(&t->gpu, name, gpus_read, NULL, NULL, NULL, err);
	}
	if (failed)
		return failed;
	t->arch = target_arch(&t->gpu);
	runtime.target_count++;
	return 0;
}

/* Of several names the good ones count; without any, the default. */
void load_targets(void)
{
	const char *fallback = options_find("GPU")->fallback;
	char *names = strdup(runtime.options.gpu.text);
	struct gs_error err, first = {"no GPU is named"};
	size_t bad = 0;
	for (char *save, *name = names ? strtok_r(names, ",", &save) : NULL; name; name = strtok_r(NULL, ",", &save))
		if (add_target(name, &err) && !bad++)
			first = err;
	free(names);
	if (!runtime.target_count && add_target(fallback, &err))
		log_error("%s", err.text);
	if (bad || !*runtime.options.gpu.text)
		log_warning("GPUSIM_GPU: %s; using '%s'", first.text, runtime.targets[0].gpu.name);
}

void choose_model(void)
{
	runtime.model.kind = (enum model_kind)runtime.options.model.number; /* the words are in this order */
	runtime.model.hierarchy = runtime.options.memory.number == MEMORY_HIERARCHY;
	runtime.model.exact = runtime.options.exact.number != 0;
	runtime.model.iterations = (uint32_t)runtime.options.iterations.number;
}
