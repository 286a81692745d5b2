/*
 * Runs clang -E on the application's source; see preprocess.h.
 *
 * The source is in the same folder as its embedded headers, so that clang finds them first. A #line directive at its beginning
 * gives it a name. The output before that line comes from headers whose macros must be visible (-imacros), and is cut away.
 * Line markers of embedded headers lose the name of our temporary folder, so that the same program always gives the same text.
 */
#include "runtime/cc/preprocess.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int write_header(const char *folder, const struct gs_section *header, struct gs_error *err)
{
	const char *newline = memchr(header->data, '\n', header->len);
	struct gs_buf path = {0};
	int result = 0;
	if (!newline)
		return gs_fail(err, EINVAL, "an embedded header without a name");
	gs_buf_puts(&path, "/");
	gs_buf_add(&path, header->data, (size_t)(newline - header->data));
	gs_buf_puts(&path, "/");
	if (path.len < 3 || path.data[1] == '/' || strstr(path.data, "/../") || strlen(path.data) != path.len)
		result = gs_fail(err, EINVAL, "an embedded header with the name '%.*s'", (int)(newline - header->data),
		                 header->data);
	struct gs_buf full = {0};
	gs_buf_printf(&full, "%s%.*s", folder, (int)path.len - 1, path.data);
	char *slash = full.data ? strrchr(full.data, '/') : NULL;
	if (!result && slash) {
		*slash = 0;
		result = gs_make_dirs(full.data, 0777, err);
		*slash = '/';
	}
	if (!result)
		result = gs_write_file(full.data, newline + 1, header->len - (size_t)(newline + 1 - header->data), err);
	gs_buf_free(&path);
	gs_buf_free(&full);
	return result;
}

/* Files of one run; the first is a folder. */
enum { PATH_HEADERS, PATH_SOURCE, PATH_OUTPUT, PATH_MESSAGES };

static int write_inputs(const struct preprocess_unit *unit, const struct words *paths, struct gs_error *err)
{
	struct gs_buf source = {0};
	int result = gs_make_dirs(paths->items[PATH_HEADERS], 0777, err);
	for (size_t i = 0; i < unit->header_count && !result; i++)
		if (!strcmp(unit->headers[i].name, "header"))
			result = write_header(paths->items[PATH_HEADERS], &unit->headers[i], err);
	gs_buf_puts(&source, "#line 1 \"" SOURCE_NAME "\"\n");
	size_t start = source.len, mark = unit->source_length >= 3 && !memcmp(unit->source, "\xef\xbb\xbf", 3) ? 3 : 0;
	/* A byte order mark is white space only at the beginning of a file. */
	gs_buf_add(&source, unit->source + mark, unit->source_length - mark);
	/* Some applications pass lengths that include the terminating NUL. For compilers a NUL is white space. */
	for (size_t i = start; i < source.len; i++)
		if (!source.data[i])
			source.data[i] = ' ';
	gs_buf_puts(&source, "\n");
	if (!result && source.failed)
		result = gs_fail(err, ENOMEM, "out of memory");
	if (!result)
		result = gs_write_file(paths->items[PATH_SOURCE], source.data, source.len, err);
	gs_buf_free(&source);
	return result;
}

void preprocess_source_args(const struct host_device *d, const struct preprocess_unit *unit, const char *headers,
                            struct words *args)
{
	device_macro_args(d, unit->options, args);
	words_add(args, "-nostdlibinc");
	words_printf(args, "-fmacro-prefix-map=%s/=", headers);
	words_printf(args, "-I%s", headers);
	for (size_t i = 0; i < unit->options->macros.count; i++)
		words_add(args, unit->options->macros.items[i]);
	if (unit->cwd)
		words_add(args, "-I.");
}

static void add_arguments(const struct host_device *d, const struct preprocess_unit *unit, const char *headers,
                          struct words *args)
{
	device_language_args(d, unit->options, args);
	preprocess_source_args(d, unit, headers, args);
	words_add(args, "-E");
	words_add(args, "-fno-crash-diagnostics");
	words_add(args, "-cl-no-stdinc");
	words_add(args, "-imacros");
	words_add(args, "opencl-c-base.h");
}

/* Reads the quoted name in a line marker `# LINE "NAME" FLAGS`. *flags then points after the closing quote. */
static bool read_marker(const char *line, const char *end, struct gs_buf *name, const char **flags)
{
	if (end - line < 5 || line[0] != '#' || line[1] != ' ')
		return false;
	const char *p = line + 2;
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	if (end - p < 2 || p[0] != ' ' || p[1] != '"')
		return false;
	for (p += 2; p < end && *p != '"'; p++)
		gs_buf_add(name, *p == '\\' && p + 1 < end ? ++p : p, 1);
	*flags = p < end ? p + 1 : end;
	return p < end && name->data;
}

static void add_file(struct words *files, const char *cwd, const char *name)
{
	struct gs_buf path = {0};
	if (*name != '/')
		gs_buf_printf(&path, "%s/", cwd);
	gs_buf_puts(&path, strncmp(name, "./", 2) ? name : name + 2);
	for (size_t i = 0; i < files->count && path.data; i++)
		if (!strcmp(files->items[i], path.data)) {
			gs_buf_free(&path);
			return;
		}
	words_add(files, path.data ? path.data : "");
	gs_buf_free(&path);
}

struct marker_reader {
	const char *headers; /* folder of the embedded headers */
	const char *cwd;
	bool started; /* the application's own source has begun */
	struct preprocessed *out;
};

static void keep_resource_folder(struct marker_reader *r, const char *name)
{
	const char *base = strstr(name, "/opencl-c-base.h");
	if (base && !r->out->resource_folder)
		r->out->resource_folder = strndup(name, (size_t)(base - name));
}

/* Appends one line of clang's output to the text, if it belongs to the application. */
static void take_line(struct marker_reader *r, const char *line, const char *end)
{
	struct gs_buf name = {0};
	size_t prefix = strlen(r->headers);
	const char *flags;
	if (read_marker(line, end, &name, &flags)) {
		bool embedded = !strncmp(name.data, r->headers, prefix) && name.data[prefix] == '/';
		if (!r->started)
			keep_resource_folder(r, name.data);
		r->started |= !strcmp(name.data, SOURCE_NAME);
		if (r->started && !embedded && end - flags >= 2 && !memcmp(flags, " 1", 2) && *name.data != '<')
			add_file(&r->out->files, r->cwd, name.data);
		const char *inside = embedded ? memmem(line, (size_t)(end - line), r->headers, prefix) : NULL;
		if (r->started && inside) {
			gs_buf_add(&r->out->text, line, (size_t)(inside - line));
			line = inside + prefix + 1;
		}
	}
	gs_buf_free(&name);
	if (r->started)
		gs_buf_add(&r->out->text, line, (size_t)(end - line));
}

static int take_output(const char *output, struct marker_reader *r, struct gs_error *err)
{
	struct gs_buf all = {0};
	int result = gs_read_file(output, &all, err);
	if (!result) {
		for (const char *line = all.data, *stop = all.data + all.len, *end; line < stop; line = end) {
			end = memchr(line, '\n', (size_t)(stop - line));
			end = end ? end + 1 : stop;
			take_line(r, line, end);
		}
		if (!r->started)
			gs_buf_puts(&r->out->text, "# 1 \"" SOURCE_NAME "\"\n");
		if (r->out->text.failed || r->out->files.failed)
			result = gs_fail(err, ENOMEM, "out of memory");
	}
	gs_buf_free(&all);
	return result;
}

int preprocess(const struct host_device *d, const struct preprocess_unit *unit, const char *folder,
               struct preprocessed *out, struct gs_error *err)
{
	static const char *const names[] = {"headers", "headers/__gpusim_source.cl", "output", "messages"};
	struct words paths = {0}, args = {0};
	const char *cwd = unit->cwd ? unit->cwd : folder;
	int result = 0;
	for (size_t i = 0; i < GS_ARRAY_LEN(names); i++)
		words_printf(&paths, "%s/%s", folder, names[i]);
	if (!paths.failed) {
		add_arguments(d, unit, paths.items[PATH_HEADERS], &args);
		words_add(&args, paths.items[PATH_SOURCE]);
	}
	if (paths.failed || args.failed)
		result = gs_fail(err, ENOMEM, "out of memory");
	if (!result)
		result = write_inputs(unit, &paths, err);
	if (!result)
		result = clang_run(&(struct clang_run){.args = (const char *const *)args.items, .cwd = cwd,
		                                       .output = paths.items[PATH_OUTPUT],
		                                       .messages = paths.items[PATH_MESSAGES]}, err);
	if (!result)
		result = take_output(
		    paths.items[PATH_OUTPUT],
		    &(struct marker_reader){.headers = paths.items[PATH_HEADERS], .cwd = cwd, .out = out}, err);
	if (!result) {
		out->headers = strdup(paths.items[PATH_HEADERS]);
		out->source = strdup(paths.items[PATH_SOURCE]);
	}
	if (!result && (!out->headers || !out->source))
		result = gs_fail(err, ENOMEM, "out of memory");
	words_free(&args);
	words_free(&paths);
	return result;
}

void preprocessed_free(struct preprocessed *p)
{
	gs_buf_free(&p->text);
	words_free(&p->files);
	free(p->resource_folder);
	free(p->headers);
	free(p->source);
	*p = (struct preprocessed){0};
}
