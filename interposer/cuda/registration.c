#include "interposer/cuda/registration.h"

#include "runtime/format/fatbin.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct registered_variable {
	const void *host;
	char *name;
	size_t bytes;
	bool managed;
	bool reads_reals; /* of a texture reference: integers are fetched as reals */
	_Atomic(void *) address; /* on the device; NULL: not asked for yet */
	struct registered_binary *binary;
	struct registered_variable *next;
};

struct registered_binary {
	const struct fatbin_wrapper *wrapper;
	struct cuda_module *module; /* NULL: not needed yet */
	pthread_mutex_t making;
	struct registered_binary *next;
};

enum { BUCKETS = 1024 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all lists */
static struct registered_binary *binaries;
static struct registered_function *functions[BUCKETS], *handles[BUCKETS]; /* by `host`, and by their own address */
static struct registered_variable *variables[BUCKETS];
static atomic_bool exiting;

static size_t bucket_of(const void *host)
{
	uintptr_t address = (uintptr_t)host;
	return gs_hash(&address, sizeof address) % BUCKETS;
}

/* ---- registering ---- */

static struct registered_binary *register_binary(const struct fatbin_wrapper *wrapper, struct cuda_module *module)
{
	struct registered_binary *b = calloc(1, sizeof *b);
	if (!b)
		return NULL;
	b->wrapper = wrapper;
	b->module = module;
	pthread_mutex_init(&b->making, NULL);
	pthread_mutex_lock(&lock);
	b->next = binaries;
	binaries = b;
	pthread_mutex_unlock(&lock);
	return b;
}

void **hook___cudaRegisterFatBinary(void *wrapper)
{
	return (void **)register_binary(wrapper, NULL);
}

void hook___cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

static void free_functions(const struct registered_binary *b)
{
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct registered_function **at = &handles[i]; *at;)
			if ((*at)->binary == b)
				*at = (*at)->next_handle;
			else
				at = &(*at)->next_handle;
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct registered_function **at = &functions[i], *f; (f = *at);)
			if (f->binary == b) {
				*at = f->next;
				free(f->name);
				free(f);
			} else {
				at = &f->next;
			}
}

static void free_variables(const struct registered_binary *b)
{
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct registered_variable **at = &variables[i], *v; (v = *at);)
			if (v->binary == b) {
				*at = v->next;
				free(v->name);
				free(v);
			} else {
				at = &v->next;
			}
}

/* When the process ends, commands may still run, and the report still wants to name them: all stays. */
void hook___cudaUnregisterFatBinary(void **handle)
{
	struct registered_binary *b = (struct registered_binary *)handle;
	if (!b || atomic_load(&exiting))
		return;
	pthread_mutex_lock(&lock);
	struct registered_binary **at = &binaries;
	while (*at && *at != b)
		at = &(*at)->next;
	bool known = *at;
	if (known)
		*at = b->next;
	if (known) {
		free_functions(b);
		free_variables(b);
	}
	pthread_mutex_unlock(&lock);
	if (!known)
		return;
	if (b->module)
		cuda_module_free(b->module);
	pthread_mutex_destroy(&b->making);
	free(b);
}

static void note_exit(void)
{
	atomic_store(&exiting, true);
}

/* Code on the host has no name of its own for functions of modules that the application loads: host is NULL then. */
static struct registered_function *register_function(struct registered_binary *b, const void *host, const char *name, struct cuda_kernel *kernel)
{
	struct registered_function *f = calloc(1, sizeof *f);
	char *kept = strdup(name);
	if (!f || !kept) {
		free(kept);
		free(f);
		return NULL;
	}
	*f = (struct registered_function){.host = host ? host : f, .name = kept, .binary = b, .kernel = kernel, .carveout = -1};
	pthread_mutex_lock(&lock);
	struct registered_function **by_host = &functions[bucket_of(f->host)], **by_handle = &handles[bucket_of(f)];
	f->next = *by_host;
	*by_host = f;
	f->next_handle = *by_handle;
	*by_handle = f;
	pthread_mutex_unlock(&lock);
	return f;
}

void hook___cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int thread_limit, void *thread,
                                 void *block, void *block_size, void *grid_size, int *warp_size)
{
	(void)device, (void)thread_limit, (void)thread, (void)block, (void)block_size, (void)grid_size, (void)warp_size;
	if (handle)
		register_function((struct registered_binary *)handle, host, name, NULL);
}

static struct registered_variable *register_variable(struct registered_binary *b, const void *host, const char *name, size_t bytes, bool managed,
                                                     void *address)
{
	struct registered_variable *v = calloc(1, sizeof *v);
	char *kept = strdup(name);
	if (!v || !kept || !b) {
		free(kept);
		free(v);
		return NULL;
	}
	*v = (struct registered_variable){.host = host ? host : v, .name = kept, .bytes = bytes, .managed = managed, .address = address, .binary = b};
	pthread_mutex_lock(&lock);
	struct registered_variable **at = &variables[bucket_of(v->host)];
	v->next = *at;
	*at = v;
	pthread_mutex_unlock(&lock);
	return v;
}

void hook___cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t bytes, int constant, int global)
{
	(void)device, (void)external, (void)constant, (void)global;
	register_variable((struct registered_binary *)handle, host, name, bytes, false, NULL);
}

static atomic_bool any_managed; /* variables: few programs have them */

/* The code on the host has a pointer to the variable. It is filled when the module is there (__cudaInitModule). */
void hook___cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int external, size_t bytes, int constant,
                                   int global)
{
	(void)device, (void)external, (void)constant, (void)global;
	register_variable((struct registered_binary *)handle, host, name, bytes, true, NULL);
	atomic_store(&any_managed, true);
}

/* The variable has the object that is bound to it (references.h). */
void hook___cudaRegisterTexture(void **handle, const void *host, const void **device, const char *name, int dims, int normalised,
                                int external)
{
	(void)device, (void)dims, (void)external;
	struct registered_variable *v = register_variable((struct registered_binary *)handle, host, name, sizeof(uint64_t), false, NULL);
	if (v)
		v->reads_reals = normalised;
}

bool variable_reads_reals(const void *symbol)
{
	pthread_mutex_lock(&lock);
	const struct registered_variable *v = variables[bucket_of(symbol)];
	while (v && v->host != symbol)
		v = v->next;
	bool reals = v && v->reads_reals;
	pthread_mutex_unlock(&lock);
	return reals;
}

void hook___cudaRegisterSurface(void **handle, const void *host, const void **device, const char *name, int dims, int external)
{
	(void)device, (void)dims, (void)external;
	register_variable((struct registered_binary *)handle, host, name, sizeof(uint64_t), false, NULL);
}

void hook___cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes)
{
	(void)handle, (void)name, (void)host, (void)bytes;
}

void hook___cudaRegisterUnifiedTable(void **handle, void *table)
{
	(void)handle, (void)table;
}

/* ---- modules ---- */

/* A linked container has no PTX. That is in those of the objects, which follow it. The list ends with NULL. */
static void add_parts(struct gs_buf *all, const void *const *parts)
{
	for (; parts && *parts; parts++) {
		const struct fatbin_wrapper *w = *parts;
		const void *container = w->magic == FATBIN_WRAPPER_MAGIC ? w->container : *parts;
		gs_buf_add(all, container, fatbin_bytes(container));
	}
}

static struct cuda_module *make_module(const struct fatbin_wrapper *w)
{
	struct gs_buf all = {0};
	struct cuda_module *module = NULL;
	if (w->magic == FATBIN_WRAPPER_MAGIC && w->container)
		gs_buf_add(&all, w->container, fatbin_bytes(w->container));
	if (all.len && w->version == FATBIN_WRAPPER_RELOCATABLE)
		add_parts(&all, w->parts);
	if (!all.failed)
		module = cuda_module_new(all.len ? all.data : "", all.len);
	gs_buf_free(&all);
	return module;
}

static int problem_error(enum cuda_module_problem problem)
{
	switch (problem) {
	case CUDA_MODULE_FINE:
		return cudaSuccess;
	case CUDA_NO_PTX:
		return cudaErrorNoKernelImageForDevice;
	case CUDA_NOT_AN_IMAGE:
		return cudaErrorInvalidKernelImage;
	case CUDA_CANNOT_BUILD:
		break;
	}
	return cudaErrorInvalidPtx;
}

static void watch_exit(void)
{
	atexit(note_exit);
}

/* The module of a binary, ready for use. */
static int prepare_module(struct registered_binary *b, struct cuda_module **out)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct gs_error err = {""};
	pthread_once(&once, watch_exit);
	pthread_mutex_lock(&b->making);
	if (!b->module)
		b->module = make_module(b->wrapper);
	*out = b->module;
	pthread_mutex_unlock(&b->making);
	int error = *out ? problem_error(cuda_module_prepare(*out, &err)) : cudaErrorMemoryAllocation;
	if (error && *err.text)
		error_say_once(err.text, "%s", err.text);
	return error;
}

/* ---- functions ---- */

int function_find(const void *function, struct registered_function **out)
{
	size_t bucket = bucket_of(function);
	*out = NULL;
	pthread_mutex_lock(&lock);
	for (struct registered_function *f = functions[bucket]; f && !*out; f = f->next)
		if (f->host == function)
			*out = f;
	for (struct registered_function *f = handles[bucket]; f && !*out; f = f->next_handle)
		if (f == function)
			*out = f;
	pthread_mutex_unlock(&lock);
	return *out ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

int function_prepare(const void *function, struct registered_function **out)
{
	struct gs_error err = {""};
	struct cuda_module *module;
	struct cuda_kernel *kernel;
	int error = function_find(function, out);
	if (error || atomic_load(&(*out)->kernel))
		return error;
	error = prepare_module((*out)->binary, &module);
	if (error)
		return error;
	int result = cuda_module_kernel(module, (*out)->name, &kernel, &err);
	if (!result)
		atomic_store(&(*out)->kernel, kernel);
	else if (*err.text)
		error_say_once((*out)->name, "%s", err.text);
	return result == -ENOENT ? cudaErrorInvalidDeviceFunction : error_of(result, cudaErrorInvalidPtx);
}

int hook___cudaGetKernel(void **kernel, const void *function)
{
	struct registered_function *f;
	int error = kernel ? function_find(function, &f) : cudaErrorInvalidValue;
	if (!error)
		*kernel = f;
	return error;
}

/* ---- variables ---- */

static int prepare_variable(struct registered_variable *v)
{
	struct gs_error err = {""};
	struct cuda_module *module;
	void *address;
	size_t bytes;
	if (atomic_load(&v->address))
		return cudaSuccess;
	int error = prepare_module(v->binary, &module);
	if (error)
		return error;
	int result = cuda_module_variable(module, v->name, &address, &bytes, &err);
	if (result)
		return error_of(result, cudaErrorInvalidSymbol);
	if (v->managed)
		*(void **)v->host = address;
	atomic_store(&v->address, address);
	return cudaSuccess;
}

/* A managed variable is called by its address, because the host has only a pointer to it. With the lock held. */
static struct registered_variable *managed_at(const void *address)
{
	for (size_t i = 0; i < BUCKETS && atomic_load(&any_managed); i++)
		for (struct registered_variable *v = variables[i]; v; v = v->next)
			if (v->managed && v->address == address)
				return v;
	return NULL;
}

int variable_find(const void *symbol, void **address, size_t *bytes)
{
	pthread_mutex_lock(&lock);
	struct registered_variable *v = variables[bucket_of(symbol)];
	while (v && v->host != symbol)
		v = v->next;
	if (!v && symbol)
		v = managed_at(symbol);
	pthread_mutex_unlock(&lock);
	int error = v ? prepare_variable(v) : cudaErrorInvalidSymbol;
	if (!error) {
		*address = v->address;
		*bytes = v->bytes;
	}
	return error;
}

bool variable_contains(const void *address, size_t *bytes)
{
	bool found = false;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < BUCKETS && !found; i++)
		for (struct registered_variable *v = variables[i]; v && !found; v = v->next) {
			const char *begin = v->address;
			found = begin && (const char *)address >= begin && (const char *)address < begin + v->bytes;
			if (found)
				*bytes = (size_t)(begin + v->bytes - (const char *)address);
		}
	pthread_mutex_unlock(&lock);
	return found;
}

bool variable_is_managed(const void *address)
{
	bool found = false;
	if (!atomic_load(&any_managed))
		return false;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < BUCKETS && !found; i++)
		for (struct registered_variable *v = variables[i]; v && !found; v = v->next)
			found = v->managed && v->address && (const char *)address >= (const char *)v->address &&
			        (const char *)address < (const char *)v->address + v->bytes;
	pthread_mutex_unlock(&lock);
	return found;
}

/* The next managed variable of the binary that has no address yet, or NULL. */
static struct registered_variable *next_managed(const struct registered_binary *b)
{
	struct registered_variable *found = NULL;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < BUCKETS && !found; i++)
		for (struct registered_variable *v = variables[i]; v && !found; v = v->next)
			if (v->managed && v->binary == b && !v->address)
				found = v;
	pthread_mutex_unlock(&lock);
	return found;
}

/* Called before code on the host uses a managed variable. Where there is no module, the host still has some memory for it: the program
 * goes on, and learns from its launches that something is wrong. */
char hook___cudaInitModule(void **handle)
{
	struct registered_variable *v;
	char good = 1;
	while (handle && (v = next_managed((struct registered_binary *)handle)))
		if (entry_device_error() || prepare_variable(v)) {
			good = 0;
			void *instead = calloc(1, v->bytes + 1);
			if (!instead)
				break;
			*(void **)v->host = instead;
			atomic_store(&v->address, instead);
		}
	return good;
}

/* ---- images that the application loads itself ---- */

bool binary_exists(const struct registered_binary *b)
{
	pthread_mutex_lock(&lock);
	const struct registered_binary *at = binaries;
	while (at && at != b)
		at = at->next;
	pthread_mutex_unlock(&lock);
	return at && b;
}

int binary_load(const void *image, size_t bytes, struct registered_binary **out)
{
	uint32_t magic = 0;
	struct cuda_module *module;
	*out = NULL;
	if (!image)
		return cudaErrorInvalidValue;
	if (!bytes) /* a wrapper has a pointer, which means nothing in bytes from a file */
		memcpy(&magic, image, sizeof magic);
	module = magic == FATBIN_WRAPPER_MAGIC ? make_module(image) : cuda_module_new(image, bytes);
	struct registered_binary *b = module ? register_binary(NULL, module) : NULL;
	if (!b)
		return cudaErrorMemoryAllocation;
	int error = prepare_module(b, &module);
	if (error)
		binary_unload(b);
	else
		*out = b;
	return error;
}

int binary_unload(struct registered_binary *b)
{
	if (!binary_exists(b))
		return cudaErrorInvalidResourceHandle;
	hook___cudaUnregisterFatBinary((void **)b);
	return cudaSuccess;
}

/* The handle of a function, always the same. NULL as kernel: it is looked for when it is needed. */
static int function_handle(struct registered_binary *b, const char *name, struct cuda_kernel *kernel, struct registered_function **out)
{
	*out = NULL;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < BUCKETS && !*out; i++)
		for (struct registered_function *f = functions[i]; f && !*out; f = f->next)
			if (f->binary == b && !strcmp(f->name, name))
				*out = f;
	pthread_mutex_unlock(&lock);
	if (!*out)
		*out = register_function(b, NULL, name, kernel);
	return *out ? cudaSuccess : cudaErrorMemoryAllocation;
}

int binary_function(struct registered_binary *b, const char *name, struct registered_function **out)
{
	struct gs_error err = {""};
	struct cuda_kernel *kernel;
	*out = NULL;
	if (!binary_exists(b))
		return cudaErrorInvalidResourceHandle;
	int result = cuda_module_kernel(b->module, name, &kernel, &err);
	if (result == -ENOENT)
		return cudaErrorSymbolNotFound;
	if (result && *err.text)
		error_say_once(name, "%s", err.text);
	if (result)
		return error_of(result, cudaErrorInvalidPtx);
	return function_handle(b, name, kernel, out);
}

int binary_function_count(struct registered_binary *b, unsigned *count)
{
	if (!binary_exists(b))
		return cudaErrorInvalidResourceHandle;
	*count = cuda_module_kernel_count(b->module);
	return cudaSuccess;
}

int binary_function_at(struct registered_binary *b, unsigned number, struct registered_function **out)
{
	if (!binary_exists(b))
		return cudaErrorInvalidResourceHandle;
	const char *name = cuda_module_kernel_name(b->module, number);
	return name ? function_handle(b, name, NULL, out) : cudaErrorInvalidValue;
}

int binary_variable(struct registered_binary *b, const char *name, void **address, size_t *bytes)
{
	struct gs_error err = {""};
	size_t follow;
	if (!binary_exists(b))
		return cudaErrorInvalidResourceHandle;
	int result = cuda_module_variable(b->module, name, address, bytes, &err);
	if (result)
		return result == -ENOENT ? cudaErrorSymbolNotFound : error_of(result, cudaErrorSymbolNotFound);
	if (!variable_contains(*address, &follow) && !register_variable(b, NULL, name, *bytes, false, *address))
		return cudaErrorMemoryAllocation;
	return cudaSuccess;
}
