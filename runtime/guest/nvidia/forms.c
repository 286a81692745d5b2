#include "runtime/guest/nvidia/forms.h"

#include "runtime/config/log.h"
#include "runtime/guest/nvidia/calls.h"
#include "runtime/guest/nvidia/twins.h"

#include <string.h>

#define LOG_DOMAIN "cuda"

/* ---- loading ---- */

static const struct counting_text *text_of(const struct gpu_module *m, enum twin_form form)
{
	return form == TWIN_TRACES || form == TWIN_TRACES_TIGHTLY ? &m->lifted->traced : &m->lifted->counted;
}

/* So few registers that groups of any size can be launched. */
static int load_tightly(void **out, const char *ptx)
{
	enum { JIT_MAX_REGISTERS = 0, MOST_REGISTERS = 64 };
	int option = JIT_MAX_REGISTERS;
	void *value = (void *)(uintptr_t)MOST_REGISTERS;
	return nvidia.module_load_with ? nvidia.module_load_with(out, ptx, 1, &option, &value) : -1;
}

static bool load(struct gpu_kernel *k, enum twin_form form, unsigned long long context)
{
	struct gpu_twin *t = &k->module->twins[form];
	const char *ptx = text_of(k->module, form)->ptx;
	if (t->module && t->context != context)
		t->module = k->twins[form] = NULL;
	if (!t->module && (t->failed || (form >= TWIN_COUNTS_TIGHTLY ? load_tightly(&t->module, ptx) : nvidia.module_load(&t->module, ptx)))) {
		t->module = NULL;
		if (!t->failed)
			log_info("the driver does not build PTX that %s %s", text_of(k->module, form) == &k->module->lifted->traced ? "traces" : "counts", k->title);
		t->failed = true;
		return false;
	}
	t->context = context;
	return k->twins[form] || !nvidia.module_function(&k->twins[form], t->module, k->name);
}

static bool takes(const void *function, unsigned threads)
{
	enum { MAX_THREADS_PER_BLOCK = 0 };
	int most;
	return !nvidia.function_attribute || nvidia.function_attribute(&most, MAX_THREADS_PER_BLOCK, function) || (unsigned)most >= threads;
}

int form_for(struct gpu_kernel *k, bool traces, unsigned long long context, unsigned threads)
{
	const enum twin_form forms[] = {traces ? TWIN_TRACES : TWIN_COUNTS, traces ? TWIN_TRACES_TIGHTLY : TWIN_COUNTS_TIGHTLY};
	for (size_t i = 0; i < GS_ARRAY_LEN(forms); i++)
		if (!load(k, forms[i], context))
			return -1;
		else if (takes(k->twins[forms[i]], threads))
			return (int)forms[i];
	return -1;
}

bool form_has_traces(const struct gpu_kernel *k)
{
	enum { MOST_PTX = 1 << 20 }; /* the driver takes about a second for that */
	const struct counting_text *t = &k->module->lifted->traced;
	return t->ptx && strlen(t->ptx) <= MOST_PTX && kernels_has_line(t->kernels, k->name);
}

/* ---- variables ---- */

static bool find_variable(const struct gpu_module *m, const char *name, uint64_t *address, size_t *bytes)
{
	return m->library ? nvidia.library_global && !nvidia.library_global(address, bytes, (void *)m->handle, name)
	                  : !nvidia.module_global(address, bytes, (void *)m->handle, name);
}

void variables_note(const struct gpu_module *m)
{
	const struct lifted_facts *f = m->lifted->lifted;
	uint64_t address;
	size_t bytes;
	for (uint32_t i = 0; i < f->variable_count; i++)
		if (find_variable(m, f->variables[i].name, &address, &bytes))
			twin_memory_made((void *)(uintptr_t)address, bytes, false);
}

bool variables_copy(const struct gpu_module *m, const struct gpu_twin *twin, void *stream)
{
	const struct lifted_facts *f = m->lifted->lifted;
	uint64_t from, to;
	size_t bytes, twin_bytes;
	for (uint32_t i = 0; i < f->variable_count; i++) {
		if (nvidia.module_global(&to, &twin_bytes, twin->module, f->variables[i].name))
			continue; /* no kernel uses it */
		if (!find_variable(m, f->variables[i].name, &from, &bytes) || bytes != twin_bytes || nvidia.copy(to, from, bytes, stream))
			return false;
	}
	return true;
}
