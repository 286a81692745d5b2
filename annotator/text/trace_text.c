/*
 * The functions that traced text calls, in OpenCL C. The form of what they write is told where it is read, in
 * models/trace/read.c, which predicts addresses as __gpusim_e does. A work-item has its cursor in a chunk of the trace
 * buffer and its predictions in a private structure, which helpers get as their last argument. Nothing is static, because
 * that came with OpenCL C 1.2: every name is a macro that adds the unit's number.
 *
 * Where kernels run in the guest's own process (POCL's CPU devices), the functions are compiled C there (runtime/guest/trace_native.c),
 * and the text has only their declarations: NATIVE_MACRO asks for that. POCL takes calls of functions that it does not know for errors,
 * unless their names are those of LLVM's intrinsics (NATIVE_PREFIX); what is no intrinsic after all is left to the linker. The
 * first traced kernel of a program then compiles several times faster.
 *
 * Elsewhere they are text. POCL inlines every function wherever it is called, and its passes take more than linear time: a program of CLBlast with 346
 * events was built for 65 s, and one of its kernels for 17 s more. LLVM never inlines a function that calls va_start, so those
 * that write events do, where that is never reached: 8 s and 2 s. OpenCL C knows no other way to say so that POCL
 * respects. LLVM 19 and later do not take it. What is inlined has no branches: where a kernel has barriers under conditions, each
 * branch more may be the one that makes POCL 3.1 compute something else (counter_macros.c).
 */
#include "annotator/text/trace_text.h"

#include "models/trace/read.h"
#include "runtime/format/native.h"
#include "runtime/format/traces.h"

#include <stdio.h>
#include <string.h>

#define T "__private struct __gpusim_trace *t"

#define APART "__gpusim_apart(t);"

static const char *const names[] = {"more", "number", "b", "event", "e", "begin_trace", "end_trace", "base_f", "copy",
                                    "a_g", "a_l", "a_c", "a_p", "a_n", "a_f", "a_d", "v_g", "v_l", "v_c", "v_p", "v_n",
                                    "k_g", "k_l", "k_c", "k_p", "k_n",
                                    "i_at", "i_int", "i_int2", "i_int4", "i_float", "i_float2", "i_float4"};

static void write_names(size_t unit, struct gs_buf *out)
{
	for (size_t i = 0; i < GS_ARRAY_LEN(names); i++)
		gs_buf_printf(out, "#define __gpusim_%s __gpusim_%s_%zu\n", names[i], names[i], unit);
}

/* Without a word it is generic, or private where the device has no such space; see spell_type. */
static const struct {
	char letter;
	enum code_space space;
	const char *word;
	int class;
} spaces[] = {{'g', SPACE_global, "__global", 0}, {'l', SPACE_shared, "__local", 1}, {'c', SPACE_const, "__constant", 3},
              {'p', SPACE_local, "__private", 2}, {'n', SPACE_generic, "", 0}};

/* NAME(parameters) of a function that is compiled C. */
static void declare(struct gs_buf *out, const char *type, const char *name, const char *parameters)
{
	gs_buf_printf(out, "%s __gpusim_%s(%s, " T ") __asm__(\"" NATIVE_PREFIX "%s\");\n", type, name, parameters, name);
}

static void declare_accesses(const char *word, char letter, struct gs_buf *out)
{
	static const struct {
		char kind;
		const char *before;
	} functions[] = {{'a', "int first, int second, unsigned int base, unsigned long bytes"},
	                 {'v', "unsigned int site, unsigned int base, unsigned long bytes, unsigned long apart, unsigned long offset"},
	                 {'k', "int which"}};
	for (size_t i = 0; i < GS_ARRAY_LEN(functions); i++) {
		char type[32], name[8], parameters[256];
		snprintf(type, sizeof type, "%s void *", word);
		snprintf(name, sizeof name, "%c_%c", functions[i].kind, letter);
		snprintf(parameters, sizeof parameters, "%s, const volatile %s void *p", functions[i].before, word);
		declare(out, type, name, parameters);
	}
}

static void declare_arrays(const char *word, char letter, struct gs_buf *out)
{
	char type[32], name[8], parameters[256];
	snprintf(type, sizeof type, "%s void *", word);
	snprintf(name, sizeof name, "a_%c", letter);
	snprintf(parameters, sizeof parameters, "int first, int second, unsigned int base, unsigned long bytes, unsigned long offset, "
	         "unsigned long origin, const volatile %s void *p", word);
	declare(out, type, name, parameters);
}

static bool accesses(const struct annotation *a, size_t unit, enum code_space space);

static void write_native(const struct annotation *a, size_t unit, struct gs_buf *out)
{
	gs_buf_puts(out, "struct __gpusim_trace;\n"
	                 "__private struct __gpusim_trace *__gpusim_begin_native(__global unsigned long *buffer, unsigned long chunks, "
	                 "unsigned long of, unsigned long part, unsigned long group, unsigned int block, unsigned int site, unsigned long x, "
	                 "unsigned long y, unsigned long z, unsigned long sx, unsigned long sy, unsigned long lx, unsigned long ly, "
	                 "unsigned long lz, unsigned long wx, unsigned long wy, unsigned long wz, unsigned int blocks, unsigned int sites) "
	                 "__asm__(\"" NATIVE_PREFIX "begin\");\n");
	gs_buf_printf(out,
	              "#define __gpusim_trace_begins(block, site) __private struct __gpusim_trace *__gpusim_t = __gpusim_begin_native("
	              "__gpusim_traces, __gpusim_box.s9, __gpusim_box.sa, __gpusim_box.sb, __gpusim_group, block, site, __gpusim_from(0), "
	              "__gpusim_from(1), __gpusim_from(2), __gpusim_global_size(0), __gpusim_global_size(1), __gpusim_local_id(0), "
	              "__gpusim_local_id(1), __gpusim_local_id(2), __gpusim_local_size(0), __gpusim_local_size(1), __gpusim_local_size(2), "
	              "%zu, %zu)\n", a->block_count, a->site_count);
	gs_buf_puts(out, "void __gpusim_end_trace(" T ") __asm__(\"" NATIVE_PREFIX "end\");\n"
	                 "#define __gpusim_base(base, kind, what, p) __gpusim_base_f(base, kind, what, (unsigned long)(p), __gpusim_t)\n");
	declare(out, "void", "b", "unsigned int block");
	declare(out, "void", "base_f", "unsigned int base, unsigned int kind, unsigned long what, unsigned long address");
	declare(out, "void", "i_at", "unsigned int site, unsigned int argument, unsigned long w, unsigned long h, unsigned long x, "
	        "unsigned long y, unsigned long z");
	declare(out, "unsigned long", "copy", "int to, int to_kind, int from, int from_kind, unsigned long bytes, unsigned long count");
	for (size_t i = 0; i < GS_ARRAY_LEN(spaces); i++)
		if (accesses(a, unit, spaces[i].space))
			declare_accesses(spaces[i].word, spaces[i].letter, out);
	if (accesses(a, unit, SPACE_local))
		declare_arrays("__private", 'f', out);
	if (accesses(a, unit, SPACE_const))
		declare_arrays("__constant", 'd', out);
}

static void write_state(struct gs_buf *out)
{
	gs_buf_puts(out, "#define __gpusim_trace_begins(block, site) struct __gpusim_trace __gpusim_state;"
	                 "__private struct __gpusim_trace *__gpusim_t = &__gpusim_state;__gpusim_begin_trace(__gpusim_traces, __gpusim_box, "
	                 "__gpusim_group, block, site, (ulong16)(__gpusim_from(0), __gpusim_from(1), __gpusim_from(2), __gpusim_global_size(0), "
	                 "__gpusim_global_size(1), __gpusim_local_id(0), __gpusim_local_id(1), __gpusim_local_id(2), __gpusim_local_size(0), "
	                 "__gpusim_local_size(1), __gpusim_local_size(2), 0, 0, 0, 0, 0), __gpusim_t)\n");
	gs_buf_printf(out,
	              "struct __gpusim_slot { unsigned long last; int stride; unsigned int tag; };\n"
	              "struct __gpusim_trace { __global unsigned char *at, *end; __global unsigned long *chunk, *buffer; "
	              "unsigned long group, item, base[%d], near[%d], kept[2]; "
	              "unsigned int on, chunks, number, lane, first_block, first_site; struct __gpusim_slot slots[%d]; };\n",
	              TRACE_BASES, TRACE_CLASSES, TRACE_SLOTS);
}

static void write_apart(enum marker_form form, struct gs_buf *out)
{
	if (form == MARK_COUNT_PLAIN)
		gs_buf_puts(out, "#if defined POCL_DEVICE_ADDRESS_BITS && __clang_major__ < 19\n"
		                 "void __gpusim_list(__private void *) __asm__(\"llvm.va_start\");\n"
		                 "#define __gpusim_apart(t) if (t->on > 1) { unsigned long l[8]; __gpusim_list(l); t->on = (unsigned int)l[0]; }\n"
		                 "#endif\n");
	gs_buf_puts(out, "#ifndef __gpusim_apart\n#define __gpusim_apart(t)\n#endif\n");
}

/* Taking chunks, and numbers of 7 bits a byte. An event is never cut in two. */
static void write_bytes(struct gs_buf *out)
{
	gs_buf_printf(out,
	              "void __gpusim_more(" T ") { "
	              "unsigned long used = t->chunk ? t->at - (__global unsigned char *)(t->chunk + %d) : 0; "
	              "unsigned int i = atomic_inc((__global volatile unsigned int *)t->buffer); "
	              "if (i >= t->chunks) { if (t->chunk) t->chunk[2] = used | 1ul << 32; t->chunk = 0; t->on = 0; return; } "
	              "if (t->chunk) t->chunk[2] = used; "
	              "t->chunk = t->buffer + %d + (unsigned long)i * %d; "
	              "t->chunk[0] = t->group; t->chunk[1] = t->lane | (unsigned long)t->number << 32; t->chunk[2] = 0; t->number++; "
	              "t->at = (__global unsigned char *)(t->chunk + %d); t->end = (__global unsigned char *)(t->chunk + %d); }\n",
	              TRACE_CHUNK_HEADER_WORDS, TRACE_HEADER_WORDS, TRACE_CHUNK_BYTES / 8, TRACE_CHUNK_HEADER_WORDS,
	              TRACE_CHUNK_BYTES / 8);
	gs_buf_puts(out, "void __gpusim_number(unsigned long v, " T ") { "
	                 "while (v > 127) { *t->at++ = (unsigned char)(v | 128); v >>= 7; } *t->at++ = (unsigned char)v; }\n");
	gs_buf_printf(out, "#define __gpusim_room(t, n) if (t->on && t->end - t->at < n) __gpusim_more(t); if (!t->on) return\n");
}

static void write_events(const struct annotation *a, struct gs_buf *out)
{
	gs_buf_printf(out,
	              "void __gpusim_b(unsigned int block, " T ") { __gpusim_room(t, %d); "
	              "__gpusim_number((block >= t->first_block ? block - t->first_block : block + %zuu - t->first_block) * 2ul, t); " APART " }\n",
	              TRACE_EVENT_BYTES, a->block_count);
	gs_buf_printf(out,
	              "void __gpusim_event(unsigned int site, unsigned int kind, unsigned int base, unsigned long bytes, "
	              "unsigned long address, unsigned long copied, " T ") { __gpusim_room(t, %d); "
	              "__private struct __gpusim_slot *q = &t->slots[site %% %d]; int fresh = q->tag != site + 1; "
	              "unsigned long guess = !fresh ? q->last + (unsigned long)(long)q->stride : base < %d ? t->base[base %% %d] + bytes * "
	              "(kind == 1 ? t->lane : t->item) : t->near[kind]; "
	              "long d = (long)(address - guess), stride = (long)(address - q->last); "
	              "unsigned long z = (unsigned long)d << 1 ^ (unsigned long)(d >> 63); if (fresh) z = z << 3 | base; "
	              "int more = fresh || z; "
	              "__gpusim_number((unsigned long)(site >= t->first_site ? site - t->first_site : site + %zuu - t->first_site) << 2 "
	              "| (more ? 3 : 1), t); if (more) __gpusim_number(z, t); if (copied) __gpusim_number(copied, t); "
	              "q->stride = fresh || (long)(int)stride != stride ? 0 : (int)stride; q->last = address; q->tag = site + 1; "
	              "t->near[kind] = address; }\n",
	              TRACE_EVENT_BYTES, TRACE_SLOTS, TRACE_BASES, TRACE_BASES, a->site_count);
	gs_buf_puts(out, "void __gpusim_e(int first, int second, unsigned int kind, unsigned int base, unsigned long bytes, "
	                 "unsigned long address, unsigned long copied, " T ") { "
	                 "__gpusim_event(first, kind, base, bytes, address, copied, t); "
	                 "if (second >= 0) __gpusim_event(second, kind, base, bytes, address, copied, t); " APART " }\n");
}

static void write_zeros(const char *array, const char *member, int count, struct gs_buf *out)
{
	for (int i = 0; i < count; i++)
		gs_buf_printf(out, "t->%s[%d]%s = ", array, i, member);
	gs_buf_puts(out, "0; ");
}

/* Functions apart cannot ask for ids. The first work-item of a group tells what is the same for all of them. No loops: with them compilers leave all of the
 * state in memory, and tracing took 14.5 ns an event instead of 8.5. */
static void write_ends(const struct annotation *a, struct gs_buf *out)
{
	gs_buf_puts(out,
	              "void __gpusim_begin_trace(__global unsigned long *buffer, ulong16 b, unsigned long group, unsigned int block, "
	              "unsigned int site, ulong16 w, " T
	              ") { t->on = b.s9 && (!b.sa || group % b.sa < b.sb); t->chunk = 0; if (!t->on) return; "
	              "unsigned long x = w.s0, y = w.s1, z = w.s2, sx = w.s3, sy = w.s4, lx = w.s5, ly = w.s6, lz = w.s7; "
	              "t->at = t->end = 0; t->buffer = buffer; t->chunks = b.s9 < 0xffffffffu ? (unsigned int)b.s9 : 0xffffffffu; "
	              "t->number = 0; t->group = group; t->first_block = block; t->first_site = site; "
	              "t->lane = (unsigned int)((lz * w.s9 + ly) * w.s8 + lx); "
	              "t->item = ((z + lz) * sy + y + ly) * sx + x + lx; ");
	write_zeros("base", "", TRACE_BASES, out);
	write_zeros("near", "", TRACE_CLASSES, out);
	write_zeros("slots", ".tag", TRACE_SLOTS, out);
	gs_buf_printf(out,
	              "t->near[%d] = t->item * %d << %d; " APART " if (t->lane) return; "
	              "__gpusim_room(t, 128); __gpusim_number(%zuul, t); __gpusim_number(0, t); __gpusim_number(block, t); "
	              "__gpusim_number(site, t); __gpusim_number(x, t); __gpusim_number(y, t); __gpusim_number(z, t); "
	              "__gpusim_number(w.s8, t); __gpusim_number(w.s9, t); __gpusim_number(w.sa, t); "
	              "__gpusim_number(sx, t); __gpusim_number(sy, t); }\n",
	              TRACE_CLASSES - 1, TRACE_TEXEL_BYTES, TRACE_IMAGE_BITS, a->block_count * 2);
	gs_buf_printf(out,
	              "void __gpusim_base_f(unsigned int base, unsigned int kind, unsigned long what, unsigned long address, " T
	              ") { if (!t->on) return; if (base < %d) t->base[base %% %d] = address; if (!base && !kind) t->near[0] = address; "
	              "if (t->lane) return; __gpusim_room(t, 64); __gpusim_number(%zuul, t); __gpusim_number(1, t); __gpusim_number(base, t); "
	              "__gpusim_number(kind, t); __gpusim_number(what, t); __gpusim_number(address, t); " APART " }\n"
	              "#define __gpusim_base(base, kind, what, p) __gpusim_base_f(base, kind, what, (unsigned long)(p), __gpusim_t)\n",
	              TRACE_BASES, TRACE_BASES, a->block_count * 2);
	gs_buf_printf(out,
	              "void __gpusim_end_trace(" T ") { if (t->chunk) t->chunk[2] = t->at - (__global unsigned char *)(t->chunk + %d); " APART
	              " }\n",
	              TRACE_CHUNK_HEADER_WORDS);
}

static void write_accesses(size_t i, struct gs_buf *out)
{
	const char *word = spaces[i].word;
	char letter = spaces[i].letter;
	int class = spaces[i].class;
	gs_buf_printf(out,
	              "%s void *__gpusim_a_%c(int first, int second, unsigned int base, unsigned long bytes, const volatile %s void *p, "
	              T ") { __gpusim_e(first, second, %d, base, bytes, (unsigned long)p, 0, t); return (%s void *)p; }\n",
	              word, letter, word, class, word);
	gs_buf_printf(out,
	              "%s void *__gpusim_v_%c(unsigned int site, unsigned int base, unsigned long bytes, unsigned long apart, "
	              "unsigned long offset, const volatile %s void *p, " T ") { const volatile %s char *q = (const volatile %s char *)p + "
	              "apart * offset; __gpusim_e(site, -1, %d, base, bytes, (unsigned long)q, 0, t); return (%s void *)q; }\n",
	              word, letter, word, word, word, class, word);
	gs_buf_printf(out,
	              "%s void *__gpusim_k_%c(int which, const volatile %s void *p, " T ") { t->kept[which] = (unsigned long)p; "
	              "return (%s void *)p; }\n", word, letter, word, word);
}

/* Of variables whose place in the kernel's own order is known. */
static void write_arrays(char letter, const char *word, int class, struct gs_buf *out)
{
	gs_buf_printf(out,
	              "%s void *__gpusim_a_%c(int first, int second, unsigned int base, unsigned long bytes, unsigned long offset, "
	              "unsigned long origin, const volatile %s void *p, " T ") { "
	              "__gpusim_e(first, second, %d, base, bytes, (unsigned long)p - origin + offset, 0, t); return (%s void *)p; }\n",
	              word, letter, word, class, word);
}

static void write_copies(const struct annotation *a, size_t unit, struct gs_buf *out)
{
	const struct access_site *s = NULL;
	for (size_t i = 0; i < a->site_count; i++)
		if (a->sites[i].unit == unit && (a->sites[i].kind == TRACE_copy_in || a->sites[i].kind == TRACE_copy_out))
			s = &a->sites[i];
	if (!s)
		return;
	gs_buf_puts(out, "size_t __gpusim_copy(int to, int to_kind, int from, int from_kind, unsigned long bytes, size_t count, " T ") { "
	                 "if (t->on && count) { __gpusim_event(from, from_kind, 7, bytes, t->kept[1], count * bytes, t); "
	                 "__gpusim_event(to, to_kind, 7, bytes, t->kept[0], count * bytes, t); } " APART " return count; }\n");
}

/* A position in an image is that of its texel, row after row, with the argument's number below it. */
static void write_image_place(struct gs_buf *out)
{
	gs_buf_printf(out,
	              "void __gpusim_i_at(unsigned int site, unsigned int argument, unsigned long w, unsigned long h, unsigned long x, "
	              "unsigned long y, unsigned long z, " T ") { unsigned long at = (z * h + y) * w + x; "
	              "__gpusim_e(site, -1, %d, 7, %d, (at * %d << %d) + (argument & %d), 0, t); }\n",
	              TRACE_CLASSES - 1, TRACE_TEXEL_BYTES, TRACE_TEXEL_BYTES, TRACE_IMAGE_BITS, (1 << TRACE_IMAGE_BITS) - 1);
}

static void write_images(struct gs_buf *out)
{
	static const struct {
		const char *type, *x, *y, *z;
	} coordinates[] = {{"int", "c", "0", "0"},           {"int2", "c.x", "c.y", "0"},   {"int4", "c.x", "c.y", "c.z"},
	                   {"float", "c", "0.0f", "0.0f"}, {"float2", "c.x", "c.y", "0.0f"}, {"float4", "c.x", "c.y", "c.z"}};
	for (size_t i = 0; i < GS_ARRAY_LEN(coordinates); i++) {
		const char *type = coordinates[i].type;
		bool whole = *type == 'i';
		gs_buf_printf(out, "%s __gpusim_i_%s(unsigned int site, unsigned int argument, int part, unsigned long w, unsigned long h, %s c, "
		              T ") { __gpusim_i_at(site, argument, w, h, ", type, type, type);
		if (whole)
			gs_buf_printf(out, "convert_ulong_sat(%s), convert_ulong_sat(%s), convert_ulong_sat(%s)", coordinates[i].x,
			              coordinates[i].y, coordinates[i].z);
		else
			gs_buf_printf(out, "convert_ulong_sat(part ? %s * w : %s), convert_ulong_sat(part ? %s * h : %s), "
			              "convert_ulong_sat(%s)", coordinates[i].x, coordinates[i].x, coordinates[i].y, coordinates[i].y,
			              coordinates[i].z);
		gs_buf_puts(out, ", t); return c; }\n");
	}
}

static bool accesses(const struct annotation *a, size_t unit, enum code_space space)
{
	for (size_t i = 0; i < a->site_count; i++)
		if (a->sites[i].unit == unit && a->sites[i].space == space)
			return true;
	return false;
}

/* Everything that is compiled C elsewhere. */
static void write_own(const struct annotation *a, size_t unit, enum marker_form form, struct gs_buf *out)
{
	write_state(out);
	write_apart(form, out);
	write_bytes(out);
	write_events(a, out);
	if (a->units[unit].has_kernels)
		write_ends(a, out);
	for (size_t i = 0; i < GS_ARRAY_LEN(spaces); i++)
		if (accesses(a, unit, spaces[i].space))
			write_accesses(i, out);
	if (accesses(a, unit, SPACE_local))
		write_arrays('f', "__private", 2, out);
	if (accesses(a, unit, SPACE_const))
		write_arrays('d', "__constant", 3, out);
	if (accesses(a, unit, SPACE_texture))
		write_image_place(out);
	write_copies(a, unit, out);
}

void write_trace_functions(const struct annotation *a, size_t unit, enum marker_form form, struct gs_buf *out)
{
	write_names(unit, out);
	gs_buf_puts(out, "#if defined " NATIVE_MACRO " && defined POCL_DEVICE_ADDRESS_BITS && __clang_major__ < 19\n");
	write_native(a, unit, out);
	gs_buf_puts(out, "#else\n");
	write_own(a, unit, form, out);
	gs_buf_puts(out, "#endif\n");
	if (accesses(a, unit, SPACE_texture))
		write_images(out);
}

/* __gpusim_group is there already. */
void write_trace_begin(const struct function *kernel, unsigned block, struct gs_buf *out)
{
	gs_buf_printf(out, "__gpusim_trace_begins(%u, %u);%s", block, kernel->first_site, kernel->bases ? kernel->bases : "");
}
