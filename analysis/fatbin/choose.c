/* Which PTX and which machine code a target takes. */
#include "analysis/fatbin/fatbin.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

/* 'a' or 'f' of ".target sm_90a", or 0. Toolkits did not always set the flags. */
static char suffix_of(const struct gs_buf *ptx)
{
	static const char target[] = ".target";
	const char *at = ptx->len ? memmem(ptx->data, ptx->len, target, sizeof target - 1) : NULL;
	at = at ? strpbrk(at, "0123456789\n") : NULL;
	while (at && isdigit((unsigned char)*at))
		at++;
	return at && (*at == 'a' || *at == 'f') ? *at : 0;
}

static char suffix_by_flags(const struct fatbin_image *i)
{
	return i->flags & FATBIN_SPECIFIC ? 'a' : i->flags & FATBIN_FAMILY ? 'f' : 0;
}

static bool runs_on(uint32_t arch, char suffix, uint32_t target)
{
	if (suffix == 'a')
		return arch == target;
	return arch <= target && (suffix != 'f' || arch / 10 == target / 10);
}

struct choice {
	const struct fatbin_image *fitting, *lowest;
	char suffix; /* of the fitting one */
};

static void consider(struct choice *c, const struct fatbin_image *i, char suffix, uint32_t target)
{
	if (!c->lowest || i->arch < c->lowest->arch)
		c->lowest = i;
	if (!runs_on(i->arch, suffix, target))
		return;
	bool closer = c->fitting && i->arch == c->fitting->arch && suffix && !c->suffix;
	if (!c->fitting || i->arch > c->fitting->arch || closer) {
		c->fitting = i;
		c->suffix = suffix;
	}
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

/* Says what there is, and how to compile. */
static int fail_without_ptx(const struct fatbin *f, uint32_t target, struct gs_error *err)
{
	struct gs_buf list = {0};
	uint32_t *archs = calloc(f->count + 1, sizeof *archs), count = 0, last = 0, wanted = 0;
	for (size_t i = 0; archs && i < f->count; i++)
		if (f->images[i].kind == FATBIN_ELF)
			archs[count++] = f->images[i].arch;
	if (archs)
		qsort(archs, count, sizeof *archs, by_number);
	for (uint32_t i = 0; i < count; i++) {
		if (archs[i] != last)
			gs_buf_printf(&list, "%ssm_%u", list.len ? ", " : "", archs[i]);
		last = archs[i];
		wanted = last <= target || !wanted ? last : wanted;
	}
	free(archs);
	wanted = wanted ? wanted : target;
	int result = gs_fail(err, ENOENT,
	                     "the kernels have no PTX%s%.200s: compile them with -gencode arch=compute_%u,code=compute_%u as well",
	                     list.len ? ", only machine code for " : "", list.len ? list.data : "", wanted, wanted);
	gs_buf_free(&list);
	return result;
}

/* Unpacks an image, if it is one of PTX. */
static int unpack_ptx(const struct fatbin_image *i, struct gs_buf *ptx, struct gs_error *err)
{
	ptx->len = 0;
	return i->kind == FATBIN_PTX ? fatbin_unpack(i, ptx, err) : -ENOENT;
}

int fatbin_choose(const struct fatbin *f, uint32_t arch, struct gs_buf *ptx, struct gs_buf *note, struct gs_error *err)
{
	struct choice c = {0};
	for (size_t i = 0; i < f->count; i++) {
		struct gs_buf text = {0};
		int result = unpack_ptx(&f->images[i], &text, err);
		char suffix = suffix_by_flags(&f->images[i]);
		if (!result)
			consider(&c, &f->images[i], suffix ? suffix : suffix_of(&text), arch);
		gs_buf_free(&text);
		if (result && result != -ENOENT)
			return result;
	}
	if (!c.lowest)
		return fail_without_ptx(f, arch, err);
	if (!c.fitting)
		gs_buf_printf(note, "the kernels have PTX for sm_%u, which is not for sm_%u: it is modelled as if it were", c.lowest->arch, arch);
	return unpack_ptx(c.fitting ? c.fitting : c.lowest, ptx, err);
}

int fatbin_choose_code(const struct fatbin *f, uint32_t arch, struct gs_buf *cubin, struct gs_error *err)
{
	const struct fatbin_image *chosen = NULL;
	for (size_t i = 0; i < f->count; i++) {
		const struct fatbin_image *image = &f->images[i];
		char suffix = suffix_by_flags(image);
		if (image->kind != FATBIN_ELF || image->arch / 10 != arch / 10 || !runs_on(image->arch, suffix, arch))
			continue;
		if (!chosen || image->arch > chosen->arch || (image->arch == chosen->arch && suffix))
			chosen = image;
	}
	return chosen ? fatbin_unpack(chosen, cubin, err) : gs_fail(err, ENOENT, "there is no machine code for sm_%u", arch);
}
