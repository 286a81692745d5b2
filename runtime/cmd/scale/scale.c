/* gpusim scale: writes the description of a GPU on paper (scale.h). */
#include "runtime/cmd/cmd.h"

#include "runtime/cmd/scale/scale.h"
#include "runtime/config/gpus.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct scale_arguments {
	const char *base, *name, *title, *output;
	struct scale_wishes wishes;
};

/* A number above 0, whole or not, or EXIT_USAGE after a complaint. */
static int take_number(const char *flag, const char *text, bool whole, double *out)
{
	char *end;
	double value = strtod(text, &end);
	if (end == text || *end || !(value > 0) || !(value < 1e9) || (whole && value != floor(value)))
		return cmd_fail("scale: %s %s: not a %snumber above 0", flag, text, whole ? "whole " : "");
	*out = value;
	return 0;
}

static int take_wish(int argc, char **argv, int *i, struct scale_wishes *w, bool *taken)
{
	const struct {
		const char *flag;
		double *value;
		bool whole;
	} wishes[] = {
		{"--sm", &w->sms, true}, {"--clock-mhz", &w->clock_mhz, false}, {"--dram-gbps", &w->dram_gbps, false},
		{"--dram-channels", &w->dram_channels, true}, {"--dram-gb", &w->dram_gb, false}, {"--l2-mb", &w->l2_mb, false},
		{"--fp32-lanes", &w->fp32_lanes, true}, {"--fp64-lanes", &w->fp64_lanes, true}, {"--link-gbps", &w->link_gbps, false},
	};
	for (size_t k = 0; k < GS_ARRAY_LEN(wishes); k++) {
		const char *text;
		if (!cmd_value(wishes[k].flag, argc, argv, i, &text))
			continue;
		*taken = true;
		return take_number(wishes[k].flag, text, wishes[k].whole, wishes[k].value);
	}
	return 0;
}

static int take_arguments(int argc, char **argv, struct scale_arguments *a)
{
	struct scale_wishes *w = &a->wishes;
	for (int i = 1; i < argc; i++) {
		bool taken = false;
		int result = take_wish(argc, argv, &i, w, &taken);
		if (result)
			return result;
		if (taken || cmd_value("--node", argc, argv, &i, &w->node) || cmd_value("--from-node", argc, argv, &i, &w->from_node) ||
		    cmd_value("--name", argc, argv, &i, &a->name) || cmd_value("--title", argc, argv, &i, &a->title) || cmd_value("-o", argc, argv, &i, &a->output))
			continue;
		if (argv[i][0] == '-' || a->base)
			return cmd_fail("scale: unexpected '%s'", argv[i]);
		a->base = argv[i];
	}
	if (!a->base)
		return cmd_fail("scale: name the GPU to start from (gpusim gpus lists them)");
	return 0;
}

static void add_value(struct gs_buf *out, double value)
{
	char text[64];
	snprintf(text, sizeof text, "%.6f", value);
	size_t n = strlen(text);
	while (text[n - 1] == '0')
		n--;
	n -= text[n - 1] == '.';
	gs_buf_printf(out, "%.*s", (int)n, text);
}

static void write_description(const struct scale *s, const struct scale_arguments *a, struct gs_buf *out)
{
	char name[GPU_TEXT_SIZE], title[GPU_TEXT_SIZE];
	snprintf(name, sizeof name, "%.50s_scaled", s->base.name);
	snprintf(title, sizeof title, "%.50s, scaled", s->base.title);
	gs_buf_printf(out, "# A GPU on paper, by gpusim scale from %s. Each key that differs names its rule. Not validated.\n\n", a->base);
	gs_buf_printf(out, "base = %s\n\nname = %s\ntitle = %s\n", a->base, a->name ? a->name : name, a->title ? a->title : title);
	for (size_t i = 0; i < s->count; i++) {
		size_t before = out->len;
		gs_buf_printf(out, "%s = ", s->changes[i].key);
		add_value(out, s->changes[i].value);
		enum { COMMENT = 35 };
		gs_buf_printf(out, "%*s# %s\n", out->len - before < COMMENT ? (int)(COMMENT - (out->len - before)) : 1, "", s->changes[i].rule);
	}
}

/* For gpu_load: the text that was just made, and its bases from where all descriptions are. */
static int read_made(void *ctx, const char *name, struct gs_buf *text, char *path, size_t path_size, struct gs_error *err)
{
	const struct gs_buf *made = ctx;
	static const char own[] = "scaled description";
	if (strcmp(name, own))
		return gpus_read(NULL, name, text, path, path_size, err);
	gs_buf_add(text, made->data, made->len);
	snprintf(path, path_size, "%s", own);
	return 0;
}

static int write_out(const char *path, const struct gs_buf *text, struct gs_error *err)
{
	if (path)
		return gs_write_file(path, text->data, text->len, err);
	if (fwrite(text->data, 1, text->len, stdout) != text->len || fflush(stdout))
		return gs_fail(err, EIO, "cannot write to stdout");
	return 0;
}

int cmd_scale(int argc, char **argv)
{
	struct scale_arguments a = {0};
	struct scale s = {0};
	struct gs_buf text = {0};
	struct gpu made;
	int result = take_arguments(argc, argv, &a);
	if (result)
		return result;
	result = gpu_load(&s.base, a.base, gpus_read, NULL, NULL, NULL, &s.error);
	if (!result)
		result = scale_apply(&s, &a.wishes);
	if (!result) {
		write_description(&s, &a, &text);
		result = text.failed ? gs_fail(&s.error, ENOMEM, "out of memory") : gpu_load(&made, "scaled description", read_made, &text, NULL, NULL, &s.error);
	}
	if (!result)
		result = write_out(a.output, &text, &s.error);
	if (result)
		cmd_fail("scale: %s", s.error.text);
	gs_buf_free(&text);
	return result ? 1 : 0;
}
