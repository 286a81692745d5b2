/*
 * Modules. Nothing is done with a module before something of it is needed: programs register many that they never use. Then gpusim-cc
 * lifts all of its kernels, or the cache has that. The driver builds the text with the first launch.
 */
#include "runtime/guest/cuda/modules.h"

#include "runtime/config/log.h"
#include "runtime/guest/cuda/memory.h"
#include "runtime/guest/cuda/start.h"
#include "runtime/guest/driver/ending.h"
#include "runtime/guest/driver/simulation.h"
#include "runtime/guest/launches/timeline.h"
#include "runtime/guest/programs/compile.h"
#include "runtime/guest/support/names.h"
#include "runtime/model/lines.h"
#include "runtime/model/simulation.h"
#include "runtime/process/thread.h"
#include "runtime/report/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_DOMAIN "cuda"

struct cuda_module *cuda_module_new(const void *image, size_t bytes)
{
	struct cuda_module *m = calloc(1, sizeof *m);
	bytes = bytes ? bytes : image_bytes(image);
	if (!m || !(m->image = malloc(bytes + 1))) {
		free(m);
		return NULL;
	}
	memcpy(m->image, image, bytes);
	m->bytes = bytes;
	m->refs = 1;
	pthread_mutex_init(&m->lock, NULL);
	return m;
}

struct cuda_module *module_retain(struct cuda_module *m)
{
	m->refs++;
	return m;
}

/* When the program ends, the driver may be gone before its modules are. */
static void free_form(struct lifted_form *f)
{
	if (f->kernel && !program_is_ending())
		cl.clReleaseKernel(f->kernel);
}

static void free_kernels(struct cuda_module *m)
{
	for (uint32_t i = 0; m->kernels && i < m->lifted->kernel_count; i++) {
		struct cuda_kernel *k = &m->kernels[i];
		free_form(&k->counting);
		free_form(&k->tracing);
		free((void *)k->about.parameters);
		free(k->title);
		pthread_mutex_destroy(&k->lock);
	}
	free(m->kernels);
}

void module_release(struct cuda_module *m)
{
	if (!m || --m->refs)
		return;
	free_kernels(m);
	if (m->counting.program && !program_is_ending())
		cl.clReleaseProgram(m->counting.program);
	if (m->tracing.program && !program_is_ending())
		cl.clReleaseProgram(m->tracing.program);
	if (m->variables)
		memory_forget(m->variables);
	free(m->variables);
	artifact_release(m->artifact);
	lifted_facts_free(m->lifted);
	free(m->counted.ptx);
	free(m->counted.kernels);
	free(m->traced.ptx);
	free(m->traced.kernels);
	free(m->image);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

void cuda_module_free(struct cuda_module *m)
{
	if (!m)
		return;
	cuda_wait_all(NULL);
	module_release(m);
}

/* ---- what gpusim-cc says ---- */

/* "STAGE: text" */
static enum cuda_module_problem problem_of(const char *failure, struct gs_error *err)
{
	const char *text = strstr(failure, ": ");
	gs_fail(err, ENOTSUP, "%s", text ? text + 2 : failure);
	return !strncmp(failure, "no-ptx:", 7)      ? CUDA_NO_PTX
	       : !strncmp(failure, "not-image:", 10) ? CUDA_NOT_AN_IMAGE
	                                             : CUDA_CANNOT_BUILD;
}

/* For reports: where the PTX names no lines of a source, its own lines are shown. */
static void keep_ptx(struct artifact *a, const char *ptx)
{
	a->sources = calloc(a->host_count, sizeof *a->sources);
	if (a->sources && a->host_count)
		a->sources[0] = strdup(ptx);
}

static enum cuda_module_problem read_result(struct cuda_module *m, const struct gs_pack *result, struct gs_error *err)
{
	const char *failure = gs_pack_text(result, "failure");
	if (*failure)
		return problem_of(failure, err);
	if (lifted_facts_read(result, &m->lifted, err) || artifact_read(&simulation, &m->artifact, result, err))
		return CUDA_CANNOT_BUILD;
	if (gs_pack_find(result, "counting")) {
		m->counted = (struct counting_text){strdup(gs_pack_text(result, "counting")), strdup(gs_pack_text(result, "counting-kernels"))};
		m->traced = (struct counting_text){strdup(gs_pack_text(result, "tracing")), strdup(gs_pack_text(result, "tracing-kernels"))};
	}
	return CUDA_MODULE_FINE;
}

static bool place_variables(struct cuda_module *m, struct gs_error *err)
{
	const struct lifted_facts *f = m->lifted;
	if (!f->image_bytes)
		return true;
	enum { SLACK = 256 };
	m->variables = aligned_alloc(f->image_align, (f->image_bytes + SLACK + f->image_align - 1) / f->image_align * f->image_align);
	if (!m->variables) {
		gs_fail(err, ENOMEM, "out of memory");
		return false;
	}
	lifted_facts_place(f, m->variables);
	return !memory_add(&(struct cuda_allocation){m->variables, f->image_bytes, CUDA_DEVICE_MEMORY, 0, cuda_current_device()}, err);
}

/* ---- kernels ---- */

static uint32_t constant_bytes(const struct lifted_facts *f)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < f->variable_count; i++)
		bytes += f->variables[i].constant ? f->variables[i].bytes : 0;
	return (uint32_t)bytes;
}

static uint32_t registers_of(const struct artifact_kernel *facts)
{
	const struct kernel_code *code = facts ? facts->code[simulation.targets[0].arch] : NULL;
	return code ? gpu_thread_registers(cuda_gpu(), code->registers) : 0;
}

/* What registers and the kernel itself allow. */
static uint32_t most_threads(const struct lifted_kernel *k, uint32_t registers)
{
	const struct gpu *gpu = cuda_gpu();
	uint32_t most = gpu->max_threads_per_block;
	const uint32_t *given = k->reqntid[0] ? k->reqntid : k->maxntid;
	uint64_t asked = given[0] ? (uint64_t)given[0] * (given[1] ? given[1] : 1) * (given[2] ? given[2] : 1) : most;
	most = asked < most ? (uint32_t)asked : most;
	while (most > gpu->warp_size && registers && !gpu_occupancy(gpu, most, registers, 0).blocks_per_sm)
		most -= gpu->warp_size;
	return most;
}

static bool fill_kernel(struct cuda_module *m, struct cuda_kernel *k, const struct lifted_kernel *lifted)
{
	pthread_mutex_init(&k->lock, NULL);
	k->module = m;
	k->lifted = lifted;
	k->facts = lifted->refused ? NULL : artifact_kernel(m->artifact, lifted->name);
	k->title = readable_name(lifted->name);
	k->wanted = kernel_wanted(&simulation, lifted->name) || (k->title && kernel_wanted(&simulation, k->title));
	struct cuda_parameter *parameters = calloc(lifted->parameter_count + 1, sizeof *parameters);
	for (uint32_t i = 0; parameters && i < lifted->parameter_count; i++)
		parameters[i] = (struct cuda_parameter){lifted->parameters[i].offset, lifted->parameters[i].bytes};
	uint32_t registers = registers_of(k->facts);
	int binary = 0;
	sscanf(cuda_gpu()->arch, "%*[a-z]_%d", &binary);
	k->about = (struct cuda_kernel_facts){
		.name = lifted->name,
		.parameter_count = lifted->parameter_count,
		.parameters = parameters,
		.parameter_bytes = lifted->sizes.parameter_bytes,
		.shared_bytes = lifted->sizes.shared_bytes,
		.local_bytes = lifted->sizes.local_bytes,
		.const_bytes = constant_bytes(m->lifted),
		.registers = registers,
		.max_threads = lifted->refused ? cuda_gpu()->max_threads_per_block : most_threads(lifted, registers),
		.ptx_version = m->lifted->ptx_arch,
		.binary_version = binary,
		.cluster = {lifted->cluster[0], lifted->cluster[1], lifted->cluster[2]},
	};
	return parameters && k->title;
}

static bool make_kernels(struct cuda_module *m, struct gs_error *err)
{
	m->kernels = calloc(m->lifted->kernel_count + 1, sizeof *m->kernels);
	bool made = m->kernels;
	for (uint32_t i = 0; m->kernels && i < m->lifted->kernel_count; i++)
		made = fill_kernel(m, &m->kernels[i], &m->lifted->kernels[i]) && made;
	if (!made)
		gs_fail(err, ENOMEM, "out of memory");
	return made;
}

/* ---- preparing ---- */

/* With the module's lock held. */
static enum cuda_module_problem prepare(struct cuda_module *m, struct gs_error *err)
{
	struct gs_pack result = {0};
	char key[33] = "";
	enum cuda_module_problem problem = CUDA_CANNOT_BUILD;
	if (!compile_module(m->image, m->bytes, &result, key, err))
		problem = read_result(m, &result, err);
	if (problem == CUDA_MODULE_FINE) {
		memcpy(m->artifact->key, key, sizeof key);
		record_program(&simulation, m->artifact, &result);
		if (lines_wanted(&simulation))
			keep_ptx(m->artifact, gs_pack_text(&result, "ptx"));
		if (!place_variables(m, err) || !make_kernels(m, err))
			problem = CUDA_CANNOT_BUILD;
	}
	gs_pack_free(&result);
	return problem;
}

/* The time that it takes is neither the application's nor the GPU's. */
enum cuda_module_problem cuda_module_prepare(struct cuda_module *m, struct gs_error *err)
{
	pthread_mutex_lock(&m->lock);
	if (!m->prepared) {
		uint64_t begin = clock_ns();
		m->problem = prepare(m, &m->why);
		m->prepared = true;
		simulation.cost.wait_ns += clock_ns() - begin;
		timeline_leave_out(begin);
	}
	enum cuda_module_problem problem = m->problem;
	if (problem != CUDA_MODULE_FINE)
		gs_fail(err, ENOTSUP, "%s", m->why.text);
	pthread_mutex_unlock(&m->lock);
	return problem;
}

int cuda_module_kernel(struct cuda_module *m, const char *name, struct cuda_kernel **out, struct gs_error *err)
{
	if (cuda_module_prepare(m, err) != CUDA_MODULE_FINE)
		return -ENOTSUP;
	const struct lifted_kernel *k = lifted_facts_kernel(m->lifted, name);
	if (!k)
		return gs_fail(err, ENOENT, "the PTX of the module has no kernel %s", name);
	if (k->refused)
		return gs_fail(err, ENOTSUP, "kernel %s cannot be lifted: %s", name, k->refused);
	*out = &m->kernels[k - m->lifted->kernels];
	return (*out)->facts ? 0 : gs_fail(err, ENOTSUP, "gpusim-cc has not lifted kernel %s", name);
}

unsigned cuda_module_kernel_count(const struct cuda_module *m)
{
	return m->lifted ? m->lifted->kernel_count : 0;
}

const char *cuda_module_kernel_name(const struct cuda_module *m, unsigned number)
{
	return number < cuda_module_kernel_count(m) ? m->lifted->kernels[number].name : NULL;
}

int cuda_module_variable(struct cuda_module *m, const char *name, void **address, size_t *bytes, struct gs_error *err)
{
	if (cuda_module_prepare(m, err) != CUDA_MODULE_FINE)
		return -ENOTSUP;
	const struct lifted_variable *v = lifted_facts_variable(m->lifted, name);
	if (!v)
		return gs_fail(err, ENOENT, "the PTX of the module has no variable %s", name);
	*address = (char *)m->variables + v->offset;
	*bytes = v->bytes;
	return 0;
}

const struct cuda_kernel_facts *cuda_kernel_facts(const struct cuda_kernel *k)
{
	return &k->about;
}

unsigned cuda_occupancy(const struct cuda_kernel *k, unsigned threads, size_t dynamic_shared)
{
	return gpu_occupancy(cuda_gpu(), threads, k->about.registers, k->about.shared_bytes + dynamic_shared).blocks_per_sm;
}
