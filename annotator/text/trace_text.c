/*
 * Chooses the functions that traced text calls (tracer.cl).
 *
 * Where kernels run in the guest's own process (POCL's CPU devices), the functions are native code (runtime/guest/support/trace_native.c).
 * The text then has only their declarations; NATIVE_MACRO asks for that. POCL reports calls of unknown functions as errors, unless
 * their names are those of LLVM's intrinsics (NATIVE_PREFIX). What is no intrinsic after all is left to the linker. The first
 * traced kernel of a program then compiles several times faster.
 *
 * Elsewhere the functions are text. POCL inlines every function wherever it is called, and its passes take more than linear time:
 * a program of CLBlast with 346 events took 65 s to build, and one of its kernels 17 s more. LLVM never inlines a function that
 * calls va_start, so the functions that write events do (__gpusim_apart), in a branch that is never taken: 8 s and 2 s. OpenCL C has
 * no other way to say so that POCL respects. LLVM 19 and later do not accept it. What is inlined has no branches. If a kernel has
 * barriers under conditions, any further branch may make POCL 3.1 compute something else (counter_macros.c).
 */
#include "annotator/text/trace_text.h"

#include "annotator/edits/box_calls.h"
#include "annotator/text/template.h"
#include "annotator/text/windows.h"
#include "runtime/format/facts.h"

/* Address spaces: the letter in the names of functions, the word of the language, and the class of the reader (models/trace/read.h).
 * Without a word a pointer is generic, or private if the device has no generic space; see spell_type. */
static const struct {
	const char *letter, *word;
	enum code_space space;
	unsigned class;
} spaces[] = {{"g", "__global", SPACE_global, 0}, {"l", "__local", SPACE_shared, 1}, {"c", "__constant", SPACE_const, 3},
              {"p", "__private", SPACE_local, 2}, {"n", "", SPACE_generic, 0}},
  arrays[] = {{"f", "__private", SPACE_local, 2}, {"d", "__constant", SPACE_const, 3}};

static bool accesses(const struct annotation *a, size_t unit, enum code_space space)
{
	for (size_t i = 0; i < a->site_count; i++)
		if (a->sites[i].unit == unit && a->sites[i].space == space)
			return true;
	return false;
}

static bool copies(const struct annotation *a, size_t unit)
{
	for (size_t i = 0; i < a->site_count; i++)
		if (a->sites[i].unit == unit && (a->sites[i].kind == TRACE_copy_in || a->sites[i].kind == TRACE_copy_out))
			return true;
	return false;
}

/* One section for each address space that the unit accesses, and one for each that it has arrays in. */
static void write_spaces(const struct annotation *a, size_t unit, const char *of_space, const char *of_array, struct gs_buf *out)
{
	for (size_t i = 0; i < GS_ARRAY_LEN(spaces); i++) {
		const struct text_value values[] = {{"WORD", spaces[i].word, 0}, {"LETTER", spaces[i].letter, 0},
		                                    {"CLASS", NULL, spaces[i].class}, {0}};
		if (accesses(a, unit, spaces[i].space))
			write_template(of_space, values, out);
	}
	for (size_t i = 0; i < GS_ARRAY_LEN(arrays); i++) {
		const struct text_value values[] = {{"WORD", arrays[i].word, 0}, {"LETTER", arrays[i].letter, 0},
		                                    {"CLASS", NULL, arrays[i].class}, {0}};
		if (accesses(a, unit, arrays[i].space))
			write_template(of_array, values, out);
	}
}

/* Everything that is native code elsewhere. */
static void write_own(const struct annotation *a, size_t unit, enum marker_form form, const struct text_value *values,
                      struct gs_buf *out)
{
	write_template(tracer_state, NULL, out);
	write_template(tracer_runs, NULL, out);
	if (form == MARK_COUNT_PLAIN)
		write_template(tracer_apart_plain, NULL, out);
	write_template(tracer_apart, NULL, out);
	write_template(tracer_words, NULL, out);
	write_template(tracer_events, values, out);
	if (has_windows(a, unit))
		write_template(tracer_windows, values, out);
	if (a->units[unit].has_kernels)
		write_template(tracer_ends, values, out);
	write_spaces(a, unit, tracer_accesses, tracer_arrays, out);
	if (accesses(a, unit, SPACE_texture))
		write_template(tracer_image_place, NULL, out);
	if (copies(a, unit))
		write_template(tracer_copy, NULL, out);
	if (!a->units[unit].hides_builtins)
		write_template(tracer_ids, NULL, out);
	if (a->units[unit].has_kernels || a->units[unit].box_functions & (1u << BOX_GLOBAL_OFFSET | 1u << BOX_GLOBAL_LINEAR_ID))
		write_template(tracer_offset, values, out);
	write_template(tracer_moved, NULL, out);
}

/*
 * Whether markers may look for themselves if anything is recorded. Most of a long launch is not, and a call takes several times as long as
 * a look. But it is a branch: see above for barriers, and each takes the driver time to compile.
 */
static bool may_branch(const struct annotation *a)
{
	enum { MOST_BRANCHES = 200 };
	for (size_t i = 0; i < a->kernel_count; i++)
		if (a->kernels[i].hazards & HAZARD_BARRIERS)
			return false;
	return a->block_count + a->site_count <= MOST_BRANCHES;
}

void write_trace_functions(const struct annotation *a, size_t unit, enum marker_form form, struct gs_buf *out)
{
	const struct text_value values[] = {
		{"UNIT", NULL, unit},
		{"BLOCKS", NULL, a->block_count},
		{"SITES", NULL, a->site_count},
		{"LOOPS", NULL, a->loop_count},
		{"NO_BLOCK", NULL, a->block_count * 2}, /* no block's event has this number: it is one of the others */
		{0},
	};
	bool guarded = may_branch(a);
	write_template(tracer_from, NULL, out);
	write_template(tracer_names, values, out);
	write_template(tracer_if_native, NULL, out);
	write_template(tracer_native, values, out);
	write_template(guarded ? tracer_guarded_calls : tracer_native_calls, values, out);
	write_spaces(a, unit, guarded ? tracer_guarded_accesses : tracer_native_accesses,
	             guarded ? tracer_guarded_arrays : tracer_native_arrays, out);
	write_template(tracer_else, NULL, out);
	write_own(a, unit, form, values, out);
	write_template(tracer_endif, NULL, out);
	if (accesses(a, unit, SPACE_texture))
		write_template(tracer_images, NULL, out);
}

/* __gpusim_group is declared already. */
void write_trace_begin(const struct function *kernel, unsigned block, struct gs_buf *out)
{
	gs_buf_printf(out, "__gpusim_trace_begins(%u, %u);%s", block, kernel->first_site, kernel->bases ? kernel->bases : "");
}
