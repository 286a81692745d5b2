/*
 * target.c - the fuzz target. The annotator must accept any text, and its output must still be a program.
 *
 * It finds crashes, leaks and undefined behaviour. It also finds annotated text that clang rejects although it accepted the
 * original, blocks without a counter, and tables with indices that are out of range.
 */
#include "annotator/annotator.h"
#include "runtime/cc/device.h"
#include "tests/fuzz/fuzz.h"

#include <clang-c/Index.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_UNITS = 3 };

/* As POCL 3.1 describes itself. */
static const char device_text[] =
	"type=cpu\naddress_bits=64\nc_version=120\ncl_version=300\nimage_support=1\nlittle_endian=1\nplatform=Test\n"
	"extensions=cl_khr_byte_addressable_store cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics "
	"cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics cl_khr_3d_image_writes "
	"cl_khr_int64_base_atomics cl_khr_int64_extended_atomics cl_khr_fp64\n"
	"features=__opencl_c_3d_image_writes __opencl_c_images __opencl_c_fp64 __opencl_c_int64 "
	"__opencl_c_generic_address_space __opencl_c_program_scope_global_variables "
	"__opencl_c_work_group_collective_functions\n";

struct input {
	struct gs_buf text[MOST_UNITS];
	struct annotator_unit units[MOST_UNITS];
	size_t unit_count;
	struct words args;
};

static void read_args(struct input *in, const char *data, size_t size)
{
	struct build_options options = {0};
	struct host_device device;
	struct gs_error err;
	bool two = size > 8 && !memcmp(data, "// CL2.0", 8), three = size > 8 && !memcmp(data, "// CL3.0", 8);
	if (device_read(device_text, &device, &err) ||
	    build_options_read(two ? "-cl-std=CL2.0" : three ? "-cl-std=CL3.0" : "-cl-std=CL1.2", QUOTES_OF_SHELLS, &options, &err))
		abort();
	device_language_args(&device, &options, &in->args);
	device_free(&device);
	build_options_free(&options);
}

static void read_units(struct input *in, const char *data, size_t size)
{
	const char *end = data + size;
	while (in->unit_count < MOST_UNITS) {
		const char *at = memchr(data, '@', (size_t)(end - data));
		size_t length = (size_t)((at && in->unit_count + 1 < MOST_UNITS ? at : end) - data);
		struct gs_buf *text = &in->text[in->unit_count];
		gs_buf_puts(text, "# 1 \"program.cl\"\n");
		clean(data, length, text);
		if (text->failed)
			abort();
		in->units[in->unit_count++] = (struct annotator_unit){
		    .text = text->data, .length = text->len, .clang_args = (const char *const *)in->args.items};
		data += length;
		if (data++ == end)
			break;
	}
}

static void free_input(struct input *in)
{
	for (size_t i = 0; i < in->unit_count; i++)
		gs_buf_free(&in->text[i]);
	words_free(&in->args);
}

/* ---- reasons to reject a text ---- */

static enum CXChildVisitResult find_macro(CXCursor cursor, CXCursor parent, CXClientData data)
{
	enum CXCursorKind kind = clang_getCursorKind(cursor);
	(void)parent;
	if (!clang_Location_isFromMainFile(clang_getCursorLocation(cursor)))
		return CXChildVisit_Continue;
	*(bool *)data |= kind == CXCursor_MacroExpansion || kind == CXCursor_MacroDefinition;
	return CXChildVisit_Continue;
}

/* Whether a text has no errors; `message` is the first error. With `macros`, also says whether it uses macros. */
static bool parses(const struct input *in, const struct gs_buf *text, bool *macros, char *message, size_t size)
{
	CXIndex index = clang_createIndex(0, 0);
	CXTranslationUnit tu = NULL;
	bool good = true;
	struct CXUnsavedFile file = {.Filename = "fuzz.cl", .Contents = text->data, .Length = text->len};
	if (clang_parseTranslationUnit2(index, "fuzz.cl", (const char *const *)in->args.items, (int)in->args.count, &file, 1,
	                                CXTranslationUnit_KeepGoing |
	                                    (macros ? CXTranslationUnit_DetailedPreprocessingRecord : 0), &tu)) {
		clang_disposeIndex(index);
		return true; /* the parser itself crashed */
	}
	for (unsigned i = 0; i < clang_getNumDiagnostics(tu) && good; i++) {
		CXDiagnostic d = clang_getDiagnostic(tu, i);
		CXString s = clang_formatDiagnostic(d, clang_defaultDiagnosticDisplayOptions());
		good = clang_getDiagnosticSeverity(d) < CXDiagnostic_Error;
		snprintf(message, size, "%s", clang_getCString(s));
		clang_disposeString(s);
		clang_disposeDiagnostic(d);
	}
	if (macros)
		clang_visitChildren(clang_getTranslationUnitCursor(tu), find_macro, macros);
	clang_disposeTranslationUnit(tu);
	clang_disposeIndex(index);
	return good;
}

/* Text with macros or with a trigraph in it does not come from a preprocessor. The annotator promises nothing for it. */
static bool is_preprocessed(const struct input *in)
{
	char unused[8];
	for (size_t i = 0; i < in->unit_count; i++) {
		bool macros = strstr(in->text[i].data, "??") || strstr(in->text[i].data, "_Pragma");
		parses(in, &in->text[i], &macros, unused, sizeof unused);
		if (macros)
			return false;
	}
	return true;
}

/* Ends the process if the input is one that the annotator must handle. */
static void complain(const struct input *in, const char *what, const struct gs_buf *text)
{
	if (!is_preprocessed(in))
		return;
	fprintf(stderr, "annotator: %s\n", what);
	for (size_t i = 0; i < in->unit_count; i++)
		fprintf(stderr, "---- unit %zu\n%s\n", i, in->text[i].data);
	if (text)
		fprintf(stderr, "---- written\n%s\n", text->data);
	fprintf(stderr, "---- end of %s\n", what);
	abort();
}

/* ---- results of the annotator ---- */

static const char *check_blocks(const struct annotation *a, const struct input *in)
{
	const struct block *b;
	size_t count = annotation_blocks(a, &b);
	for (size_t i = 0; i < count; i++) {
		const struct loop *l;
		if (b[i].id != i || b[i].unit >= in->unit_count || !b[i].function || !b[i].kind || !b[i].place.file ||
		    !b[i].end.file || b[i].loop < -1 || b[i].loop >= (int)annotation_loops(a, &l))
			return "a block that is not as it should be";
		for (size_t j = 0; j < b[i].term_count; j++)
			if (b[i].terms[j].block >= i)
				return "a term of a later block";
	}
	return NULL;
}

static const char *check_tables(const struct annotation *a, const struct input *in)
{
	const struct block *b;
	const struct loop *l;
	const struct kernel_entry *k;
	size_t blocks = annotation_blocks(a, &b), loops = annotation_loops(a, &l), kernels = annotation_kernels(a, &k);
	const char *wrong = check_blocks(a, in);
	for (size_t i = 0; i < loops && !wrong; i++)
		if (l[i].id != i || l[i].parent >= blocks || l[i].body >= blocks || l[i].outer >= (int)i ||
		    strcmp(b[l[i].body].kind, "body") || b[l[i].body].loop != (int)i)
			wrong = "a loop that is not as it should be";
	for (size_t i = 0; i < kernels && !wrong; i++) {
		if (k[i].entry >= blocks || strcmp(b[k[i].entry].kind, "entry") || strcmp(b[k[i].entry].function, k[i].name))
			wrong = "a kernel that is not as it should be";
		for (size_t j = 0; j < k[i].column_count && !wrong; j++)
			if (k[i].columns[j] >= blocks || b[k[i].columns[j]].term_count)
				wrong = "a column that is not as it should be";
		for (size_t j = 0; j < k[i].computed_count && !wrong; j++)
			if (k[i].computed[j] >= blocks || !b[k[i].computed[j]].trips.kind)
				wrong = "computed trips that are not as they should be";
	}
	return wrong;
}

static bool is_kernel_entry(const struct annotation *a, unsigned block)
{
	const struct kernel_entry *k;
	size_t count = annotation_kernels(a, &k);
	for (size_t i = 0; i < count; i++)
		if (k[i].entry == block)
			return true;
	return false;
}

/*
 * Whether a block has a counter of its own in one of the forms. Blocks that run once, or that share a word, cannot be found by
 * their number. Computed trips have no counter if work-items store their counters.
 */
static bool is_counted(const struct annotation *a, const struct block *b, const char *text)
{
	static const char *const forms[] = {"__gpusim_block(%u)", "__gpusim_part(%u)", "__gpusim_round(%u)", "__gpusim_trips(%u,"};
	char marker[64];
	if (b->bound == BOUND_ONCE || b->half >= 0 || (b->computed && annotation_layout(a) == COUNTERS_BY_ITEM))
		return true;
	for (size_t i = 0; i < GS_ARRAY_LEN(forms); i++) {
		snprintf(marker, sizeof marker, forms[i], b->id);
		if (strstr(text, marker))
			return true;
	}
	return false;
}

/* Every block has its counter or its probe in the text. */
static const char *check_markers(const struct annotation *a, size_t unit, enum marker_form form, const char *text)
{
	const struct block *b;
	size_t count = annotation_blocks(a, &b);
	for (size_t i = 0; i < count; i++) {
		char marker[64];
		bool trips = b[i].trips.kind != TRIPS_NONE;
		if (b[i].unit != unit || (form == MARK_PROBE ? trips : b[i].term_count || is_kernel_entry(a, b[i].id)))
			continue;
		snprintf(marker, sizeof marker, ", %u, 0, -1)", b[i].id);
		if (form == MARK_PROBE ? !strstr(text, marker) : !is_counted(a, &b[i], text))
			return form == MARK_PROBE ? "a block without its probe" : "a block without its counter";
	}
	return NULL;
}

static void check_text(const struct annotation *a, const struct input *in, size_t unit, enum marker_form form)
{
	static struct gs_buf last; /* in the item layout, both host forms are the same */
	struct gs_buf text = {0};
	struct gs_error err;
	char message[600];
	if (annotation_write(a, unit, form, &text, &err))
		abort();
	const char *wrong = check_markers(a, unit, form, text.data);
	if (wrong)
		complain(in, wrong, &text);
	if (!last.data || strcmp(last.data, text.data)) {
		if (!parses(in, &text, NULL, message, sizeof message))
			complain(in, message, &text);
		gs_buf_free(&last);
		last = text;
	} else {
		gs_buf_free(&text);
	}
}

static void check_annotation(const struct annotation *a, const struct input *in, bool probes)
{
	const char *wrong = check_tables(a, in);
	if (wrong)
		complain(in, wrong, NULL);
	for (size_t unit = 0; unit < in->unit_count; unit++)
		for (enum marker_form form = MARK_COUNT_PLAIN; form <= (probes ? MARK_PROBE : MARK_TRACE_ATOMIC); form++)
			check_text(a, in, unit, form);
}

static void want_all_trips(struct annotation *a, const struct input *in)
{
	const struct loop *l;
	size_t count = annotation_loops(a, &l);
	for (size_t i = 0; i < count; i++) {
		struct gs_error err;
		unsigned counter;
		struct trips want = {TRIPS_COUNT_EVERY, (unsigned)i, l[i].body, 2, 0};
		int result = annotation_want_trips(a, &want, &counter, &err);
		if (result != (l[i].has_trips ? 0 : -EINVAL) && result != -ENOSPC)
			complain(in, "trips that are not as the loop says", NULL);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {0};
	struct annotation *a = NULL;
	struct gs_error err = {0};
	read_args(&in, (const char *)data, size);
	read_units(&in, (const char *)data, size);
	int result = annotation_create(in.units, in.unit_count, &a, &err);
	if (result == -ENOTSUP && strncmp(err.text, "program.cl:", 11) && !strchr(err.text, ':'))
		complain(&in, "a refusal without a place", NULL);
	if (!result) {
		const struct loop *l;
		check_annotation(a, &in, true);
		want_all_trips(a, &in);
		if (annotation_loops(a, &l))
			check_annotation(a, &in, false);
	}
	annotation_free(a);
	free_input(&in);
	return result == -EINVAL ? -1 : 0; /* libFuzzer need not keep the input */
}
