/*
 * The kernels of a CUDA program, of all its modules; see explain.h. What an assembler wrote down in machine code is taken from there: of the
 * architecture that a driver would choose for the target, else of the highest that there is. Kernels of which there is only PTX are compiled.
 */
#include "runtime/cmd/explain/explain.h"

#include "analysis/fatbin/fatbin.h"
#include "analysis/sass/cubin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_THREADS = 256 };

static struct explain_listed *add_kernel(struct explain_list *l, const char *name)
{
	struct explain_listed *more = realloc(l->kernels, (l->count + 1) * sizeof *more);
	char *copy = strdup(name);
	if (more)
		l->kernels = more;
	if (!more || !copy) {
		free(copy);
		return NULL;
	}
	l->kernels[l->count] = (struct explain_listed){.name = copy};
	return &l->kernels[l->count++];
}

static struct explain_listed *find_kernel(const struct explain_list *l, size_t first, const char *name)
{
	for (size_t i = first; i < l->count; i++)
		if (!strcmp(l->kernels[i].name, name))
			return &l->kernels[i];
	return NULL;
}

/* ---- machine code ---- */

static int unpack_highest(const struct fatbin *part, struct gs_buf *out, struct gs_error *err)
{
	const struct fatbin_image *highest = NULL;
	for (size_t i = 0; i < part->count; i++)
		if (part->images[i].kind == FATBIN_ELF && (!highest || part->images[i].arch > highest->arch))
			highest = &part->images[i];
	return highest ? fatbin_unpack(highest, out, err) : -ENOENT;
}

static int list_code(const struct fatbin *part, uint32_t arch, struct explain_list *l, struct gs_error *err)
{
	struct gs_buf bytes = {0};
	struct gs_error ignored;
	struct cubin c = {0};
	int result = fatbin_choose_code(part, arch, &bytes, &ignored);
	if (result)
		result = unpack_highest(part, &bytes, &ignored);
	if (!result)
		result = cubin_read(bytes.data, bytes.len, &c, &ignored);
	bool readable = !result; /* that of architectures before sm_70 is not */
	result = 0;
	for (size_t i = 0; i < c.count && readable && !result; i++) {
		struct explain_listed *k = c.codes[i].kernel ? add_kernel(l, c.codes[i].name) : NULL;
		if (k) {
			k->registers = c.codes[i].registers;
			k->shared_bytes = c.codes[i].shared_bytes;
			k->private_bytes = c.codes[i].stack_bytes;
			k->arch = c.arch;
		}
		result = c.codes[i].kernel && !k ? gs_fail(err, ENOMEM, "out of memory") : 0;
	}
	if (readable)
		cubin_free(&c);
	gs_buf_free(&bytes);
	return result;
}

/* ---- PTX ---- */

/* Marks kernels of the PTX that are listed, from `first` on. Returns how many are not. */
static size_t mark_ptx(const struct gs_buf *ptx, struct explain_list *l, size_t first)
{
	struct ptx_module *m = NULL;
	struct gs_error ignored;
	size_t missing = 0;
	if (ptx_read(ptx->data, ptx->len, &m, &ignored))
		return 1; /* the compiler will say why */
	for (uint32_t i = 0; i < m->function_count; i++) {
		struct explain_listed *k = m->functions[i].entry ? find_kernel(l, first, m->functions[i].name) : NULL;
		if (k)
			k->ptx = true;
		missing += m->functions[i].entry && !k;
	}
	ptx_free(m);
	return missing;
}

static int compile_kernels(const struct explain *e, const char *target, const struct gs_buf *ptx, struct explain_list *l, size_t first, struct gs_error *err)
{
	struct explain part = {.gpu = e->gpu, .source = {.file = e->source.file}};
	struct gs_pack answer = {0};
	int result = explain_compile_ptx(e->source.file, ptx, target, &answer, err);
	if (!result)
		result = explain_read_code(&part, &answer, NULL, err);
	for (size_t i = 0; i < part.kernel_count && !result; i++) {
		const struct kernel_code *code = part.kernels[i].code;
		struct explain_listed *k = find_kernel(l, first, part.kernels[i].name) ? NULL : add_kernel(l, part.kernels[i].name);
		if (k) {
			k->registers = code->registers;
			k->shared_bytes = code->shared_bytes;
			k->private_bytes = code->local_bytes;
			k->ptx = true;
		}
	}
	gs_pack_free(&answer);
	explain_free(&part);
	return result;
}

static int list_ptx(const struct explain *e, const char *target, const struct fatbin *part, struct explain_list *l, size_t first, struct gs_error *err)
{
	struct gs_buf text = {0}, note = {0};
	struct gs_error ignored;
	int result = 0;
	if (!fatbin_choose(part, fatbin_arch(target), &text, &note, &ignored) && mark_ptx(&text, l, first))
		result = compile_kernels(e, target, &text, l, first, err);
	gs_buf_free(&text);
	gs_buf_free(&note);
	return result;
}

/* ---- all ---- */

int explain_list_kernels(const struct explain *e, const char *target, struct explain_list *out, struct gs_error *err)
{
	struct fatbin f;
	struct gs_error ignored;
	int result = 0;
	*out = (struct explain_list){0};
	if (fatbin_read(e->source.text.data, e->source.text.len, &f, &ignored))
		return 0;
	bool text = f.count == 1 && f.images[0].kind == FATBIN_PTX && f.images[0].data == (const uint8_t *)e->source.text.data;
	for (uint32_t i = 0; f.count && !text && i <= f.images[f.count - 1].container && !result; i++) {
		struct fatbin part = fatbin_container(&f, i);
		size_t first = out->count;
		result = part.count ? list_code(&part, fatbin_arch(target), out, err) : 0;
		if (!result && part.count)
			result = list_ptx(e, target, &part, out, first, err);
	}
	fatbin_free(&f);
	if (result)
		explain_list_free(out);
	return result;
}

void explain_list_free(struct explain_list *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->kernels[i].name);
	free(l->kernels);
	*l = (struct explain_list){0};
}

static void put_kernel(const struct explain *e, const struct explain_listed *k, uint64_t threads, struct gs_buf *out)
{
	struct occupancy o = gpu_occupancy(&e->gpu, threads, k->registers, k->shared_bytes + e->dynamic_shared);
	gs_buf_printf(out, "%11u  %12llu  %14llu  ", k->registers, (unsigned long long)(k->shared_bytes + e->dynamic_shared), (unsigned long long)k->private_bytes);
	if (o.blocks_per_sm)
		gs_buf_printf(out, "%8.0f%%  ", 100 * o.fraction);
	else
		gs_buf_puts(out, " no room   ");
	char code[32] = "PTX";
	if (k->arch)
		snprintf(code, sizeof code, "sm_%u%s", k->arch, k->ptx ? ", PTX" : "");
	gs_buf_printf(out, "%-11s  %s\n", code, k->name);
}

void explain_list_text(const struct explain *e, const struct explain_list *l, struct gs_buf *out)
{
	uint64_t threads = e->local_threads ? e->local_threads : USUAL_THREADS;
	bool estimated = false, ptx = false;
	gs_buf_printf(out, "%s on %s (%s, %u SMs, %.0f MHz)\n\n", e->source.file, e->gpu.title, e->gpu.arch, e->gpu.sm_count, e->gpu.clock_mhz);
	gs_buf_puts(out, "  registers  local memory  private memory  occupancy  code         kernel\n");
	for (size_t i = 0; i < l->count; i++) {
		put_kernel(e, &l->kernels[i], threads, out);
		estimated |= !l->kernels[i].arch;
		ptx |= l->kernels[i].ptx;
	}
	gs_buf_printf(out, "\n  Bytes of memory are those that are declared; occupancy is with %llu work-items.%s\n", (unsigned long long)threads,
	              estimated ? " Registers of PTX are an estimate." : "");
	if (ptx)
		gs_buf_puts(out, "  --kernel NAME shows the lines of the PTX of one.\n");
}
