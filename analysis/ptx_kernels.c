/*
 * A first reader of PTX: how many instructions each kernel's body has and how much shared memory it declares.
 *
 * PTX is read as statements that end with a semicolon, because calls span lines. A brace counts as a block's
 * only where a statement begins; elsewhere it holds a vector operand or an initialiser.
 */
#include "analysis/analysis.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct text {
	const char *at, *end;
};

struct shared_array {
	struct text name;
	uint32_t size_bytes;
};

struct reader {
	struct text in;
	struct shared_array *shared; /* at the top level, usable by every kernel */
	size_t shared_count;
	struct ptx_kernel *kernels;
	size_t kernel_count;
	struct gs_error *err;
};

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static bool starts_with(struct text t, const char *word)
{
	size_t length = strlen(word);
	return (size_t)(t.end - t.at) >= length && !memcmp(t.at, word, length);
}

static void skip_line(struct text *t)
{
	while (t->at < t->end && *t->at != '\n')
		t->at++;
}

static void skip_blanks(struct text *t)
{
	while (t->at < t->end) {
		if (starts_with(*t, "//"))
			skip_line(t);
		else if (isspace((unsigned char)*t->at))
			t->at++;
		else
			break;
	}
}

/* Directives that end with their line instead of a semicolon. */
static bool is_line_directive(struct text t)
{
	static const char *const names[] = {".loc",    ".file",         ".pseudoprobe", ".version",
	                                    ".target", ".address_size", ".section"};
	for (size_t i = 0; i < GS_ARRAY_LEN(names); i++)
		if (starts_with(t, names[i]) && (t.at + strlen(names[i]) == t.end || !is_name(t.at[strlen(names[i])])))
			return true;
	return false;
}

/* The length of a label with its colon at the start of t, or 0. */
static size_t label_length(struct text t)
{
	const char *p = t.at;
	while (p < t.end && is_name(*p))
		p++;
	if (p == t.at)
		return 0;
	while (p < t.end && (*p == ' ' || *p == '\t'))
		p++;
	return p < t.end && *p == ':' && (p + 1 == t.end || p[1] != ':') ? (size_t)(p + 1 - t.at) : 0;
}

/* One statement up to its semicolon, or up to the brace that opens a body (which is not taken). */
static struct text read_statement(struct text *in)
{
	struct text statement = {in->at, in->at};
	bool initialiser = false;
	for (; in->at < in->end; in->at++) {
		if (starts_with(*in, "//"))
			skip_line(in);
		if (in->at == in->end || *in->at == ';')
			break;
		if (*in->at == '"')
			for (in->at++; in->at < in->end && *in->at != '"'; in->at++)
				;
		else if (*in->at == '=')
			initialiser = true;
		else if (*in->at == '{' && !initialiser && *statement.at == '.')
			break;
		if (in->at == in->end)
			break;
	}
	statement.end = in->at;
	if (in->at < in->end && *in->at == ';')
		in->at++;
	return statement;
}

static struct text find_word(struct text t, const char *word)
{
	const char *found = memmem(t.at, (size_t)(t.end - t.at), word, strlen(word));
	return found ? (struct text){found + strlen(word), t.end} : (struct text){t.end, t.end};
}

static uint32_t element_bytes(struct text declaration)
{
	for (const char *p = declaration.at; p + 2 < declaration.end; p++)
		if (*p == '.' && strchr("busf", p[1]) && isdigit((unsigned char)p[2]))
			return (uint32_t)strtoul(p + 2, NULL, 10) / 8;
	return 1;
}

/* ".shared .align 4 .b8 name[256]": the name is the last word before the bracket or the end. */
static struct shared_array read_shared(struct text declaration)
{
	const char *bracket = memchr(declaration.at, '[', (size_t)(declaration.end - declaration.at));
	const char *end = bracket ? bracket : declaration.end;
	while (end > declaration.at && isspace((unsigned char)end[-1]))
		end--;
	const char *start = end;
	while (start > declaration.at && is_name(start[-1]))
		start--;
	uint32_t count = bracket ? (uint32_t)strtoul(bracket + 1, NULL, 10) : 1;
	return (struct shared_array){.name = {start, end}, .size_bytes = count * element_bytes(declaration)};
}

static bool mentions(struct text body, struct text name)
{
	size_t length = (size_t)(name.end - name.at);
	for (const char *p = body.at; length && p < body.end; p++) {
		p = memmem(p, (size_t)(body.end - p), name.at, length);
		if (!p)
			return false;
		if (!is_name(p[-1]) && (p + length == body.end || !is_name(p[length])))
			return true;
	}
	return false;
}

/* A body from its opening brace to the one that closes it, counted into *code. */
static void read_body(struct reader *r, struct kernel_code *code)
{
	struct text *in = &r->in, body = {in->at, in->at};
	size_t depth = 0, label;
	for (skip_blanks(in); in->at < in->end; skip_blanks(in)) {
		if (*in->at == '{' || *in->at == '}') {
			depth += *in->at == '{' ? 1 : (size_t)-1;
			in->at++;
			if (!depth)
				break;
		} else if ((label = label_length(*in))) {
			in->at += label;
		} else if (is_line_directive(*in)) {
			skip_line(in);
		} else {
			struct text statement = read_statement(in);
			if (starts_with(statement, ".shared"))
				code->shared_bytes += read_shared(statement).size_bytes;
			else if (*statement.at != '.' && *statement.at != ';')
				code->instructions++;
		}
	}
	body.end = in->at;
	for (size_t i = 0; i < r->shared_count; i++)
		if (mentions(body, r->shared[i].name))
			code->shared_bytes += r->shared[i].size_bytes;
}

static int add_kernel(struct reader *r, struct text after_entry)
{
	struct text name = after_entry;
	skip_blanks(&name);
	for (name.end = name.at; name.end < after_entry.end && is_name(*name.end);)
		name.end++;
	struct ptx_kernel *grown = reallocarray(r->kernels, r->kernel_count + 1, sizeof *grown);
	if (grown)
		r->kernels = grown;
	char *copy = grown ? strndup(name.at, (size_t)(name.end - name.at)) : NULL;
	if (!copy)
		return gs_fail(r->err, ENOMEM, "out of memory");
	struct ptx_kernel *k = &r->kernels[r->kernel_count++];
	*k = (struct ptx_kernel){.name = copy};
	read_body(r, &k->code);
	return 0;
}

static int add_shared(struct reader *r, struct text declaration)
{
	struct shared_array *grown = reallocarray(r->shared, r->shared_count + 1, sizeof *grown);
	if (!grown)
		return gs_fail(r->err, ENOMEM, "out of memory");
	r->shared = grown;
	r->shared[r->shared_count++] = read_shared(declaration);
	return 0;
}

/* One declaration or body of the top level. */
static int read_item(struct reader *r)
{
	struct text statement = read_statement(&r->in);
	bool has_body = r->in.at < r->in.end && *r->in.at == '{';
	struct text entry = find_word(statement, ".entry"), shared = find_word(statement, ".shared");
	if (has_body && entry.at < entry.end)
		return add_kernel(r, entry);
	if (has_body)
		read_body(r, &(struct kernel_code){0});
	else if (shared.at < shared.end && entry.at == entry.end)
		return add_shared(r, shared);
	return 0;
}

int ptx_read_kernels(const char *ptx, size_t length, struct ptx_kernel **out, size_t *count, struct gs_error *err)
{
	struct reader r = {.in = {ptx, ptx + length}, .err = err};
	int result = 0;
	for (skip_blanks(&r.in); r.in.at < r.in.end && !result; skip_blanks(&r.in)) {
		const char *before = r.in.at;
		if (is_line_directive(r.in))
			skip_line(&r.in);
		else
			result = read_item(&r);
		if (!result && r.in.at == before)
			r.in.at++; /* a stray character must not stop the reader */
	}
	free(r.shared);
	if (result) {
		ptx_kernels_free(r.kernels, r.kernel_count);
		return result;
	}
	*out = r.kernels;
	*count = r.kernel_count;
	return 0;
}

void ptx_kernels_free(struct ptx_kernel *kernels, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(kernels[i].name);
	free(kernels);
}
