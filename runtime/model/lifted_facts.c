/* Reads the sections lifted and image of a result (protocol.h). */
#include "runtime/model/lifted_facts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More than any module has. A damaged file must neither fill the memory nor make lookups take hours. */
enum { MOST_KERNELS = 1 << 14, MOST_VARIABLES = 1 << 16, MOST_RELOCATIONS = 1 << 22, MOST_PARAMETERS = 1 << 13, MOST_BLOCK = 1 << 16 };
enum { LEAST_ALIGN = 256 };

struct rooms {
	size_t kernels, variables, relocations;
};

void lifted_facts_free(struct lifted_facts *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->kernel_count; i++) {
		free(f->kernels[i].name);
		free(f->kernels[i].refused);
		free(f->kernels[i].parameters);
	}
	for (uint32_t i = 0; i < f->variable_count; i++)
		free(f->variables[i].name);
	free(f->kernels);
	free(f->variables);
	free(f->relocations);
	free(f->image);
	free(f);
}

/* Cuts the first word off a line. "": there is none. */
static char *take_word(char **line)
{
	char *word = *line + strspn(*line, " "), *end = word + strcspn(word, " ");
	*line = *end ? end + 1 : end;
	*end = 0;
	return word;
}

static bool take_number(char **line, uint64_t most, uint64_t *out)
{
	char *word = take_word(line), *end;
	errno = 0;
	*out = strtoull(word, &end, 10);
	return *word >= '0' && *word <= '9' && !*end && !errno && *out <= most;
}

static bool take_small(char **line, uint32_t *out)
{
	uint64_t value;
	if (!take_number(line, UINT32_MAX, &value))
		return false;
	*out = (uint32_t)value;
	return true;
}

static bool is_align(uint64_t n)
{
	return n && !(n & (n - 1)) && n <= 1 << 16;
}

/* OFFSET:BYTES:ALIGN ... */
static bool take_parameters(struct lifted_kernel *k, char *line)
{
	size_t room = 0;
	uint64_t end = 0;
	for (char *word = take_word(&line); *word; word = take_word(&line)) {
		struct lifted_parameter p;
		int skip = 0;
		if (sscanf(word, "%u:%u:%u%n", &p.offset, &p.bytes, &p.align, &skip) != 3 || word[skip] || !is_align(p.align) ||
		    p.offset < end || (uint64_t)p.offset + p.bytes > k->sizes.parameter_bytes ||
		    k->parameter_count == MOST_PARAMETERS || !gs_reserve(&k->parameters, k->parameter_count, &room, sizeof p))
			return false;
		end = (uint64_t)p.offset + p.bytes;
		k->parameters[k->parameter_count++] = p;
	}
	return true;
}

static bool take_sizes(struct lifted_kernel *k, char **line)
{
	struct lifted_sizes *s = &k->sizes;
	uint32_t *const all[] = {&s->parameter_bytes, &s->shared_bytes, &s->local_bytes,  &s->warp_bytes,  &k->maxntid[0],
	                         &k->maxntid[1],      &k->maxntid[2],   &k->reqntid[0],   &k->reqntid[1],  &k->reqntid[2]};
	for (size_t i = 0; i < GS_ARRAY_LEN(all); i++)
		if (!take_small(line, all[i]))
			return false;
	return s->parameter_bytes <= MOST_BLOCK && s->local_bytes % 16 == 0 && s->warp_bytes % 64 == 0;
}

static struct lifted_kernel *add_kernel(struct lifted_facts *f, struct rooms *rooms, const char *name)
{
	char *copy = *name ? strdup(name) : NULL;
	if (!copy || f->kernel_count == MOST_KERNELS || !gs_reserve(&f->kernels, f->kernel_count, &rooms->kernels, sizeof *f->kernels)) {
		free(copy);
		return NULL;
	}
	f->kernels[f->kernel_count] = (struct lifted_kernel){.name = copy};
	return &f->kernels[f->kernel_count++];
}

/* kernel NAME SIZES MAXNTID REQNTID FLAGS PARAMETER... */
static bool read_kernel(struct lifted_facts *f, struct rooms *rooms, char *line)
{
	struct lifted_kernel *k = add_kernel(f, rooms, take_word(&line));
	if (!k || !take_sizes(k, &line))
		return false;
	const char *flags = take_word(&line);
	k->prints = strchr(flags, 'p');
	k->barriers = strchr(flags, 'b');
	k->waits = strchr(flags, 'w');
	k->fetches = strchr(flags, 'f');
	k->meets_groups = strchr(flags, 'a');
	k->large = strchr(flags, 'l');
	k->of_warps = strchr(flags, 'o');
	return *flags && take_parameters(k, line);
}

/* cluster NAME X Y Z, of the kernel before */
static bool read_cluster(struct lifted_facts *f, char *line)
{
	struct lifted_kernel *k = f->kernel_count ? &f->kernels[f->kernel_count - 1] : NULL;
	if (!k || k->refused || strcmp(take_word(&line), k->name))
		return false;
	for (int d = 0; d < 3; d++) {
		if (!take_small(&line, &k->cluster[d]))
			return false;
		k->cluster[d] = k->cluster[d] ? k->cluster[d] : 1;
	}
	return !*line;
}

/* refused NAME REASON */
static bool read_refused(struct lifted_facts *f, struct rooms *rooms, char *line)
{
	struct lifted_kernel *k = add_kernel(f, rooms, take_word(&line));
	return k && (k->refused = strdup(line));
}

/* variable NAME SPACE OFFSET BYTES ALIGN */
static bool read_variable(struct lifted_facts *f, struct rooms *rooms, char *line)
{
	struct lifted_variable v = {0};
	const char *name = take_word(&line), *space = take_word(&line);
	v.constant = !strcmp(space, "const");
	if (!*name || (!v.constant && strcmp(space, "global")) || !take_number(&line, f->image_bytes, &v.offset) ||
	    !take_number(&line, f->image_bytes - v.offset, &v.bytes) || !take_small(&line, &v.align) || !is_align(v.align) || *line ||
	    f->variable_count == MOST_VARIABLES || !gs_reserve(&f->variables, f->variable_count, &rooms->variables, sizeof v) ||
	    !(v.name = strdup(name)))
		return false;
	f->image_align = v.align > f->image_align ? v.align : f->image_align;
	f->variables[f->variable_count++] = v;
	return true;
}

/* relocation OFFSET ADDEND data|function */
static bool read_relocation(struct lifted_facts *f, struct rooms *rooms, char *line)
{
	struct lifted_relocation r;
	if (!take_number(&line, f->image_bytes, &r.offset) || f->image_bytes - r.offset < sizeof(uint64_t) ||
	    !take_number(&line, UINT64_MAX, &r.addend))
		return false;
	const char *of = take_word(&line);
	r.function = !strcmp(of, "function");
	if ((!r.function && strcmp(of, "data")) || f->relocation_count == MOST_RELOCATIONS ||
	    !gs_reserve(&f->relocations, f->relocation_count, &rooms->relocations, sizeof r))
		return false;
	f->relocations[f->relocation_count++] = r;
	return true;
}

/* ptx VERSION TARGET */
static bool read_ptx(struct lifted_facts *f, char *line)
{
	int major = 0, minor = 0;
	const char *version = take_word(&line), *target = take_word(&line);
	if (sscanf(version, "%d.%d", &major, &minor) < 1 || major < 0 || major > 99 || minor < 0 || minor > 9)
		return false;
	f->ptx_version = 10 * major + minor;
	snprintf(f->ptx_target, sizeof f->ptx_target, "%s", target);
	if (sscanf(target, "%*[a-z]_%4d", &f->ptx_arch) != 1)
		f->ptx_arch = 0;
	return true;
}

static bool read_line(struct lifted_facts *f, struct rooms *rooms, char *line)
{
	const char *word = take_word(&line);
	if (!strcmp(word, "kernel"))
		return read_kernel(f, rooms, line);
	if (!strcmp(word, "cluster"))
		return read_cluster(f, line);
	if (!strcmp(word, "refused"))
		return read_refused(f, rooms, line);
	if (!strcmp(word, "variable"))
		return read_variable(f, rooms, line);
	if (!strcmp(word, "relocation"))
		return read_relocation(f, rooms, line);
	return !strcmp(word, "ptx") && read_ptx(f, line);
}

static bool read_image(struct lifted_facts *f, const struct gs_pack *result)
{
	const struct gs_section *s = gs_pack_find(result, "image");
	f->image_align = LEAST_ALIGN;
	f->image_bytes = s ? s->len : 0;
	f->image = malloc(f->image_bytes + 1);
	if (f->image && s)
		memcpy(f->image, s->data, s->len);
	return f->image;
}

int lifted_facts_read(const struct gs_pack *result, struct lifted_facts **out, struct gs_error *err)
{
	const struct gs_section *section = gs_pack_find(result, "lifted");
	struct rooms rooms = {0};
	if (!section)
		return gs_fail(err, ENOENT, "the result is not that of a CUDA module");
	struct lifted_facts *f = calloc(1, sizeof *f);
	char *text = strdup(section->data), *rest = text, *line;
	bool good = f && text && read_image(f, result);
	while (good && (line = strsep(&rest, "\n")))
		good = !*line || read_line(f, &rooms, line);
	free(text);
	if (!good) {
		lifted_facts_free(f);
		return gs_fail(err, EINVAL, "the tables of a CUDA module are damaged");
	}
	*out = f;
	return 0;
}

const struct lifted_kernel *lifted_facts_kernel(const struct lifted_facts *f, const char *name)
{
	for (uint32_t i = 0; i < f->kernel_count; i++)
		if (!strcmp(f->kernels[i].name, name))
			return &f->kernels[i];
	return NULL;
}

const struct lifted_variable *lifted_facts_variable(const struct lifted_facts *f, const char *name)
{
	for (uint32_t i = 0; i < f->variable_count; i++)
		if (!strcmp(f->variables[i].name, name))
			return &f->variables[i];
	return NULL;
}

void lifted_facts_place(const struct lifted_facts *f, void *to)
{
	memcpy(to, f->image, f->image_bytes);
	for (uint32_t i = 0; i < f->relocation_count; i++) {
		const struct lifted_relocation *r = &f->relocations[i];
		uint64_t value = r->addend + (r->function ? 0 : (uint64_t)(uintptr_t)to);
		memcpy((char *)to + r->offset, &value, sizeof value);
	}
}
