/* Options of the driver's compiler, as far as they change what a launch takes. */
#include "interposer/cuda/driver/compiler_options.h"

#include "runtime/format/fatbin.h"

#include <stdint.h>
#include <string.h>

unsigned option_registers(unsigned count, const int *options, void *const *values)
{
	enum { MAX_REGISTERS = 0 };
	for (unsigned i = 0; options && values && i < count; i++)
		if (options[i] == MAX_REGISTERS)
			return (unsigned)(uintptr_t)values[i];
	return 0;
}

bool is_ptx(const void *image)
{
	static const unsigned char elf[] = {0x7f, 'E', 'L', 'F'};
	uint32_t magic;
	if (!memchr(image, 0, sizeof magic)) { /* else it is no text of that length */
		memcpy(&magic, image, sizeof magic);
		return magic != FATBIN_MAGIC && magic != FATBIN_WRAPPER_MAGIC && memcmp(image, elf, sizeof elf);
	}
	return false;
}

static bool is_in_comment(const char *line, const char *at)
{
	const char *comment = strstr(line, "//");
	return comment && comment < at;
}

/* The next ".entry" that is no part of a comment. NULL: there is none. */
static const char *next_kernel(const char *text)
{
	const char *line = text, *at = text, *end;
	while ((at = strstr(at, ".entry"))) {
		while ((end = memchr(line, '\n', (size_t)(at - line))))
			line = end + 1;
		if (!is_in_comment(line, at))
			return at;
		at++;
	}
	return NULL;
}

static bool has_bound(const char *from, const char *to)
{
	static const char *const bounds[] = {".maxnreg", ".maxntid", ".reqntid", ".minnctapersm"};
	for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
		const char *at = strstr(from, bounds[i]);
		if (at && at < to)
			return true;
	}
	return false;
}

void bound_registers(struct gs_buf *out, const char *text, unsigned most)
{
	const char *kernel, *body;
	while ((kernel = next_kernel(text)) && (body = strchr(kernel, '{'))) {
		gs_buf_add(out, text, (size_t)(body - text));
		if (!has_bound(kernel, body))
			gs_buf_printf(out, "\n.maxnreg %u\n", most);
		text = body;
	}
	gs_buf_puts(out, text);
}
