/* Checks measured values for noise and plausibility, and makes the description from them. */
#include "runtime/cmd/tune/tune.h"

#include "runtime/config/gpus.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* With more noise than this, the base's value is the better one. */
static const double most_spread = 0.10;

static size_t key_index(const char *name)
{
	size_t i = 0;
	while (i < gpu_key_count() && strcmp(gpu_key(i)->name, name))
		i++;
	return i;
}

static struct tune_value *value_of(const struct tuner *t, const char *name)
{
	size_t i = key_index(name);
	return i < gpu_key_count() ? &t->values[i] : NULL;
}

static double number_of(const struct gpu *gpu, size_t i)
{
	const void *field = (const char *)gpu + gpu_key(i)->offset;
	switch (gpu_key(i)->kind) {
	case GPU_COUNT:
		return *(const uint32_t *)field;
	case GPU_BYTES:
		return (double)*(const uint64_t *)field;
	case GPU_REAL:
		return *(const double *)field;
	case GPU_FLAG:
		return *(const bool *)field;
	default:
		return 0;
	}
}

double tune_value(const struct tuner *t, const char *key)
{
	size_t i = key_index(key);
	return t->values[i].measured ? t->values[i].value : number_of(&t->base, i);
}

bool tune_value_text(const struct tuner *t, const char *key, struct gs_buf *out)
{
	const struct tune_value *v = value_of(t, key);
	if (!v->measured)
		return false;
	if (*v->word)
		gs_buf_puts(out, v->word);
	else
		gs_buf_printf(out, v->value == floor(v->value) && fabs(v->value) < 1e15 ? "%.0f" : "%.10g", v->value);
	return true;
}

static void print_value(struct tuner *t, const char *key, struct tune_value *v)
{
	size_t i = key_index(key);
	char base[128];
	v->told = true;
	gpu_format_value(&t->base, i, base, sizeof base);
	if (v->measured && *v->word)
		tune_say(t, "= %s = %s (base: %s): %s", key, v->word, base, v->how);
	else if (*v->word || gpu_key(i)->kind == GPU_POLICY)
		tune_say(t, "= %s stays %s: %s", key, base, v->how);
	else if (v->measured)
		tune_say(t, "= %s = %g (base: %g), spread %.2f%%: %s", key, v->value, number_of(&t->base, i), 100 * v->spread, v->how);
	else
		tune_say(t, "= %s stays %g: %s", key, number_of(&t->base, i), v->how);
}

void tune_keep(struct tuner *t, const char *key, const char *fmt, ...)
{
	struct tune_value *v = value_of(t, key);
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(v->how, sizeof v->how, fmt, ap);
	va_end(ap);
	v->measured = false;
	print_value(t, key, v);
}

void tune_put(struct tuner *t, const char *key, double value, double spread, double least, double most, const char *fmt, ...)
{
	struct tune_value *v = value_of(t, key);
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(v->how, sizeof v->how, fmt, ap);
	va_end(ap);
	if (!(value >= least && value <= most)) {
		tune_keep(t, key, "measured %g, not in %g to %g", value, least, most);
		return;
	}
	if (spread > most_spread) {
		tune_keep(t, key, "measured %g, but %.0f%% apart", value, 100 * spread);
		return;
	}
	v->measured = true;
	v->value = value;
	v->spread = spread;
	print_value(t, key, v);
}

void tune_put_text(struct tuner *t, const char *key, const char *text, const char *fmt, ...)
{
	struct tune_value *v = value_of(t, key);
	char *end = NULL;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(v->how, sizeof v->how, fmt, ap);
	va_end(ap);
	v->measured = true;
	v->value = strtod(text, &end);
	v->spread = 0;
	snprintf(v->word, sizeof v->word, "%s", *end ? text : "");
	print_value(t, key, v);
}

/* ---- the description ---- */

static void add_override(struct tuner *t, struct gs_buf *all, size_t key)
{
	gs_buf_printf(all, "%s%s=", all->len ? "," : "", gpu_key(key)->name);
	tune_value_text(t, gpu_key(key)->name, all);
}

/* Adds one value, or two that need each other, to the values that are taken. False if they do not fit. */
static bool takes(struct tuner *t, struct gs_buf *taken, size_t one, size_t other, struct gpu *gpu, struct gs_error *err)
{
	size_t before = taken->len;
	struct gpu with;
	add_override(t, taken, one);
	if (other != one)
		add_override(t, taken, other);
	if (taken->failed)
		return false;
	if (!gpu_load(&with, t->base_name, gpus_read, NULL, taken->data, NULL, err)) {
		*gpu = with;
		return true;
	}
	taken->data[taken->len = before] = 0;
	return false;
}

/* Takes the values one after the other. A value is not taken if it does not fit the ones before it, not even together with a
 * later one. */
static int apply(struct tuner *t, struct gpu *gpu)
{
	struct gs_buf taken = {0};
	struct gs_error err;
	*gpu = t->base;
	for (size_t i = 0; i < gpu_key_count() && !taken.failed; i++) {
		struct tune_value *v = &t->values[i];
		if (!v->measured || v->taken || takes(t, &taken, i, i, gpu, &err) || taken.failed)
			continue;
		struct gs_error alone = err;
		for (size_t k = i + 1; k < gpu_key_count() && !v->taken; k++)
			if (t->values[k].measured && !t->values[k].taken)
				v->taken = t->values[k].taken = takes(t, &taken, i, k, gpu, &err);
		if (!v->taken && !taken.failed)
			tune_keep(t, gpu_key(i)->name, "measured %g, which does not fit: %.70s", v->value, alone.text);
	}
	bool failed = taken.failed;
	gs_buf_free(&taken);
	return failed ? gs_fail(&t->error, ENOMEM, "out of memory") : 0;
}

static void add_source(const struct tuner *t, size_t i, struct gs_buf *out)
{
	const struct gpu_key *key = gpu_key(i);
	const struct tune_value *v = &t->values[i];
	const struct gpu_origin *o = &t->origins[i];
	const char *unit = key->unit, *link = *unit ? ", " : "";
	if (v->measured)
		gs_buf_printf(out, "%s%smeasured %s: %s; spread %.1f%%", unit, link, t->date, v->how, 100 * v->spread);
	else if (o->line == 0)
		gs_buf_printf(out, "%s%s%s", unit, link, "assumed: the default");
	else
		gs_buf_printf(out, "%s", *o->comment ? o->comment : key->text);
	if (!v->measured && v->told)
		gs_buf_printf(out, " (not measured: %s)", v->how);
}

static void add_key(const struct tuner *t, const struct gpu *gpu, size_t i, struct gs_buf *out)
{
	char value[128], line[256];
	gpu_format_value(gpu, i, value, sizeof value);
	if (!*value)
		return;
	snprintf(line, sizeof line, "%s = %s", gpu_key(i)->name, value);
	gs_buf_printf(out, "%-34s # ", line);
	add_source(t, i, out);
	gs_buf_puts(out, "\n");
}

int tune_describe(struct tuner *t, const char *name, struct gs_buf *out)
{
	struct gpu gpu;
	size_t measured = 0;
	int result = apply(t, &gpu);
	if (result)
		return result;
	for (size_t i = 0; i < gpu_key_count(); i++)
		measured += t->values[i].measured;
	gs_buf_printf(out, "# %s, measured by gpusim tune on %s.\n#\n", t->device.name, t->date);
	gs_buf_printf(out, "# %zu values were measured, with %s (%s, driver %s); the others are those of %s.\n\n", measured, t->api,
	              t->device.platform, t->device.driver, t->base_name);
	gs_buf_printf(out, "name = %s\ntitle = %.60s\n", name, t->device.name);
	for (size_t i = 0; i < gpu_key_count(); i++)
		if (strcmp(gpu_key(i)->name, "name") && strcmp(gpu_key(i)->name, "title"))
			add_key(t, &gpu, i, out);
	return out->failed ? gs_fail(&t->error, ENOMEM, "out of memory") : 0;
}
