#include "runtime/guest/nvidia/kernels.h"

#include "runtime/config/log.h"
#include "runtime/format/fatbin.h"
#include "runtime/guest/nvidia/calls.h"
#include "runtime/guest/support/names.h"
#include "runtime/guest/support/table.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define LOG_DOMAIN "cuda"

/* Handles may come back for other modules and kernels. What is in use stays, so records are never freed. */
static struct {
	pthread_mutex_t lock;
	struct table modules, kernels;
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *find(const struct table *t, const void *handle)
{
	pthread_mutex_lock(&known.lock);
	void *found = handle ? table_get(t, handle) : NULL;
	pthread_mutex_unlock(&known.lock);
	return found;
}

static void put(struct table *t, const void *handle, void *record)
{
	pthread_mutex_lock(&known.lock);
	table_put(t, handle, record);
	pthread_mutex_unlock(&known.lock);
}

/* ---- modules ---- */

/* Images are copied, since the program may free them. Those of NVIDIA's libraries have hundreds of MiB, and no PTX. NULL: *why says why not. */
static struct cuda_module *module_of(const void *image, const char **why)
{
	enum { MOST_BYTES = 16 << 20, MOST_TOGETHER = 256 << 20 };
	static atomic_size_t together;
	uint32_t magic;
	memcpy(&magic, image, sizeof magic);
	if (magic == FATBIN_WRAPPER_MAGIC)
		image = ((const struct fatbin_wrapper *)image)->container;
	size_t bytes = image ? image_bytes(image) : 0;
	*why = !bytes                                                     ? "its module has a form that is not known"
	       : !image_has_ptx(image, bytes)                             ? "its module has no PTX, only machine code"
	       : bytes > MOST_BYTES || together + bytes > MOST_TOGETHER ? "its module is too large to look for PTX"
	                                                                  : NULL;
	if (*why)
		return NULL;
	together += bytes;
	return cuda_module_new(image, bytes);
}

void kernels_loaded(const void *handle, const void *image, bool library)
{
	struct gpu_module *m = image ? calloc(1, sizeof *m) : NULL;
	if (!m)
		return;
	m->handle = handle;
	m->library = library;
	m->lifted = module_of(image, &m->why);
	put(&known.modules, handle, m);
}

void kernels_module_alias(const void *handle, const void *same)
{
	struct gpu_module *m = find(&known.modules, same);
	if (m)
		put(&known.modules, handle, m);
}

/* ---- kernels ---- */

static struct gpu_kernel *kernel_new(const void *function, struct gpu_module *module, const char *name)
{
	struct gpu_kernel *k = calloc(1, sizeof *k);
	if (!k || !(k->name = strdup(name)) || !(k->title = readable_name(name))) {
		if (k)
			free(k->name);
		free(k);
		return NULL;
	}
	k->module = module;
	put(&known.kernels, function, k);
	return k;
}

void kernels_found(const void *function, const void *module, const char *name)
{
	struct gpu_kernel *k = find(&known.kernels, function);
	struct gpu_module *m = find(&known.modules, module);
	if (name && (!k || k->module != m || strcmp(k->name, name)))
		kernel_new(function, m, name);
}

void kernels_alias(const void *function, const void *same)
{
	struct gpu_kernel *k = find(&known.kernels, same);
	if (k)
		put(&known.kernels, function, k);
}

/* Libraries may get handles in ways that we do not see. */
struct gpu_kernel *kernels_get(const void *function)
{
	const char *name = NULL;
	struct gpu_kernel *k = find(&known.kernels, function);
	if (k)
		return k;
	if (nvidia.function_name && nvidia.function_name(&name, function))
		name = NULL;
	if (!name && nvidia.kernel_name && nvidia.kernel_name(&name, function))
		name = NULL;
	return kernel_new(function, NULL, name ? name : "(unknown)");
}

/* ---- what gpusim-cc knows ---- */

static void cannot(struct gpu_kernel *k, const char *why)
{
	k->why = strdup(why);
}

static void prepare_module(struct gpu_module *m)
{
	struct gs_error err = {""};
	if (m->prepared)
		return;
	m->prepared = true;
	if (!m->lifted && !m->why)
		m->why = "memory is short";
	else if (m->lifted && cuda_module_prepare(m->lifted, &err) != CUDA_MODULE_FINE)
		m->why = strdup(*err.text ? err.text : "its module could not be lifted");
}

bool kernels_has_line(const char *lines, const char *name)
{
	size_t length = strlen(name);
	for (const char *at = lines; at && *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
		if (!strncmp(at, name, length) && (at[length] == '\n' || !at[length]))
			return true;
	return false;
}

static void ask(struct gpu_kernel *k)
{
	enum { MOST_PTX = 2 << 20 };
	struct gs_error err = {""};
	if (!k->module) {
		cannot(k, "gpusim has not seen the PTX of it");
		return;
	}
	prepare_module(k->module);
	if (k->module->why)
		cannot(k, k->module->why);
	else if (cuda_module_kernel(k->module->lifted, k->name, &k->kernel, &err))
		cannot(k, err.text);
	else if (!k->kernel->wanted)
		cannot(k, "not among GPUSIM_KERNELS");
	else if (k->kernel->lifted->waits)
		cannot(k, "its blocks may wait for one another, so that it is not executed twice");
	else if (k->kernel->lifted->prints)
		cannot(k, "it prints, so that it is not executed twice");
	else if (k->module->lifted->counted.ptx && strlen(k->module->lifted->counted.ptx) > MOST_PTX)
		cannot(k, "the PTX of its module is so large that the driver would take long to build it");
	else if (!kernels_has_line(k->module->lifted->counted.kernels, k->name))
		cannot(k, "instructions that count could not be added to its PTX: it jumps by tables, or calls functions by address, recursively or outside of its module");
	if (k->why) {
		k->kernel = NULL;
		log_info("%s is measured, but not modelled: %s", k->title, k->why);
	}
}

bool kernels_ask(struct gpu_kernel *k)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_lock(&lock);
	bool first = !k->asked;
	if (first)
		ask(k);
	k->asked = true;
	pthread_mutex_unlock(&lock);
	return first;
}
