/* Traces as Accel-Sim's tracer writes them: every mode of addresses, every version, and what is not one. Written by hand. */
#include "runtime/cmd/accelsim/export/export.h"
#include "runtime/cmd/accelsim/import/trace.h"
#include "runtime/cmd/streams/job.h"
#include "tests/tests.h"

#include "models/sm/state/read_ports.h"
#include "models/trace/read.h"
#include "runtime/format/traces.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

static bool reads(const char *text, uint32_t version, bool line_info, struct sass_line *out)
{
	return sass_line_read(text, strcspn(text, "\n"), version, line_info, out);
}

static void lines(void)
{
	struct sass_line l;
	CU_ASSERT(reads("0010 ffffffff 1 R4 IMAD.WIDE.U32 3 R2 R255 R6 0 0", 4, false, &l));
	CU_ASSERT_EQUAL(l.in.pc, 0x10);
	CU_ASSERT_EQUAL(l.in.mask, 0xffffffff);
	CU_ASSERT_EQUAL(l.in.result, 4);
	CU_ASSERT_EQUAL(l.in.source_count, 3);
	CU_ASSERT_EQUAL(l.in.sources[1], 255);
	CU_ASSERT_EQUAL(l.in.opcode_length, strlen("IMAD.WIDE.U32"));
	CU_ASSERT_FALSE(l.in.addresses);
	CU_ASSERT(reads("0010 1 0 STG.E 2 R2 UR4 4 0 0x7f0000001000 0", 3, false, &l)); /* uniform registers are not waited for */
	CU_ASSERT_EQUAL(l.in.source_count, 1);
	CU_ASSERT_EQUAL(l.address[0], 0x7f0000001000);
	CU_ASSERT(reads("5 0 2 1 0010 1 0 EXIT 0 0", 2, false, &l));
	CU_ASSERT_EQUAL(l.in.pc, 0x10);
	CU_ASSERT(reads("5 0 2 1 0010 1 0 EXIT 0 0", 1, false, &l));
	CU_ASSERT(reads("0 0 0 0 20 3 0 EXIT 0 0", 0, false, &l));
	CU_ASSERT(reads("217 0010 1 0 EXIT 0 0", 5, true, &l));
	CU_ASSERT_EQUAL(l.in.pc, 0x10);
	CU_ASSERT(reads("c0e0 f 1 R24 HGMMA.64x64x16.F32 2 R24 R28 1 0 0", 5, false, &l)); /* a number more */
	CU_ASSERT_EQUAL(l.in.pc, 0xc0e0);
	CU_ASSERT(reads("c0e0 f 1 R24 HGMMA.64x64x16.F32 2 R24 R28 0 0", 5, false, &l));
	CU_ASSERT(reads("0040 1 0 UTMALDG.2D 2 R2 R4 16 3 2 0x1000 0x2000 0", 5, false, &l)); /* a form of its own */
	CU_ASSERT_FALSE(l.in.addresses);
}

static void modes(void)
{
	struct sass_line l;
	CU_ASSERT(reads("0 0000000d 1 R1 LDG.E 1 R2 4 0 0x100 0x200 0x300 0", 3, false, &l));
	CU_ASSERT(l.address[0] == 0x100 && l.address[2] == 0x200 && l.address[3] == 0x300);
	CU_ASSERT(reads("0 000000f0 1 R1 LDG.E 1 R2 4 1 0x100 -8", 3, false, &l));
	CU_ASSERT(l.address[4] == 0x100 && l.address[7] == 0x100 - 24);
	CU_ASSERT(reads("0 0000000d 1 R1 LDG.E 1 R2 4 2 0x100 16 -32 0", 4, false, &l)); /* two for three lanes, then the immediate */
	CU_ASSERT(l.address[0] == 0x100 && l.address[2] == 0x110 && l.address[3] == 0xf0);
	CU_ASSERT(reads("0 0000000d 1 R1 LDG.E 1 R2 4 2 0x100 16 -32", 3, false, &l));
	CU_ASSERT(reads("0 00000001 1 R1 LDG.E 1 R2 4 2 0x100", 3, false, &l));
	CU_ASSERT_EQUAL(l.address[0], 0x100);
}

static void bad_lines(void)
{
	static const char *const bad[] = {"", "zz 1 0 EXIT 0 0", "0 1", "0 1ffffffff 0 EXIT 0 0", "0 1 0 EXIT 0", "0 1 9 EXIT 0 0",
	                                  "0 1 0 EXIT 99 0",
	                                  "0 3 0 LDG 1 R1 4 0 0x10", "0 3 0 LDG 1 R1 4 1 0x10", "0 3 0 LDG 1 R1 4 2 0x10", "0 3 0 LDG 1 R1 4 7 0x10",
	                                  "0 3 0 LDG 1 R1 4 2 0x10 4x", "99999999999999999999 1 0 EXIT 0 0"};
	struct sass_line l;
	for (size_t i = 0; i < GS_ARRAY_LEN(bad); i++)
		CU_ASSERT_FALSE(reads(bad[i], 4, false, &l));
}

static const char header[] = "-kernel name = void f<int>(float*)\n-kernel id = 7\n-grid dim = (2,1,1)\n-block dim = (48,1,1)\n-shmem = 1024\n"
                             "-nregs = 24\n"
                             "-binary version = 70\n-cuda stream id = 3\n-shmem base_addr = 0x00007f1000000000\n"
                             "-local mem base_addr = 0x00007f2000000000\n"
                             "-nvbit version = 1.5.5\n-accelsim tracer version = 4\n-enable lineinfo = 0\n\n#traces format = x\n";

static const char *write_trace(const char *name, const void *bytes, size_t length)
{
	static char path[4096];
	struct gs_error err;
	snprintf(path, sizeof path, "%s/%s", test_folder(), name);
	CU_ASSERT_EQUAL(gs_write_file(path, bytes, length, &err), 0);
	return path;
}

/* What items a trace has: a letter each; ! for an error. */
static void items_of(const char *path, char out[64])
{
	struct sass_trace *t;
	struct gs_error err;
	size_t n = 0;
	int item = sass_trace_open(path, &t, &err);
	if (item < 0) {
		strcpy(out, "!");
		return;
	}
	while (n < 60 && (item = sass_trace_next(t, &err)) > SASS_ITEM_END)
		out[n++] = ".GWLE"[item];
	strcpy(out + n, item < 0 ? "!" : "");
	sass_trace_close(t);
}

static const char *text_items(const char *body)
{
	static char items[64];
	struct gs_buf text = {0};
	gs_buf_printf(&text, "%s%s", header, body);
	items_of(write_trace("kernel-1.traceg", text.data, text.len), items);
	gs_buf_free(&text);
	return items;
}

static void whole_traces(void)
{
	CU_ASSERT_STRING_EQUAL(text_items("\n#BEGIN_TB\n\nthread block = 1,0,0\n\nwarp = 0\ninsts = 1\n0 1 0 EXIT 0 0 0\n\n"
	                                  "warp = 1\ninsts = 0\n\n#END_TB\n"), "GWLWE");
	CU_ASSERT_STRING_EQUAL(text_items("#BEGIN_TB\nthread block = 0,0,0\ncluster id = 0,0,0\ncluster rank = 0\nwarp = 0\n"
	                                  "c0 1 0 EXIT 0 0\n#END_TB\n"), "GWLE");
	CU_ASSERT_STRING_EQUAL(text_items(""), "");
	CU_ASSERT_STRING_EQUAL(text_items("#BEGIN_TB\nthread block = 2,0,0\n"), "!");        /* not in the grid */
	CU_ASSERT_STRING_EQUAL(text_items("#BEGIN_TB\nthread block = 1,0,0\nwarp = 2\n"), "G!"); /* not in the block */
	CU_ASSERT_STRING_EQUAL(text_items("#BEGIN_TB\nthread block = 1,0,0\nwarp = 1\n0 10000 0 EXIT 0 0\n"), "GW!"); /* lanes 0 to 15 are */
	CU_ASSERT_STRING_EQUAL(text_items("#BEGIN_TB\nthread block = 1,0,0\nwarp = 1\n0 8000 0 EXIT 0 0\n"), "GWL!"); /* cut off */
	CU_ASSERT_STRING_EQUAL(text_items("0 1 0 EXIT 0 0\n"), "!");
}

/* A predicate that is off in all lanes: a turn of the scheduler, or an access that no lane makes, at a place of its own. */
static void skipped_lines(void)
{
	static const char body[] = "#BEGIN_TB\nthread block = 0,0,0\nwarp = 1\n10 0 1 R4 LDG.E 1 R2 4 1 0x0 0\n20 f 0 BRA 0 0\n2c 3 0 EXIT 0 0\n"
	                           "30 00000000 0 EXIT 0 0\n#END_TB\n";
	static const struct {
		uint64_t pc;
		uint32_t mask;
		bool off;
	} expected[] = {{0x11, 0xffff, true}, {0x20, 0xf, false}, {0x31, 0xf, false}};
	struct sass_trace *t;
	struct gs_error err;
	struct gs_buf text = {0};
	size_t n = 0;
	int item;
	gs_buf_printf(&text, "%s%s", header, body);
	CU_ASSERT_EQUAL_FATAL(sass_trace_open(write_trace("kernel-1.traceg", text.data, text.len), &t, &err), 0);
	while ((item = sass_trace_next(t, &err)) > SASS_ITEM_END) {
		if (item != SASS_ITEM_LINE || n == GS_ARRAY_LEN(expected))
			continue;
		const struct observed_instruction *in = &sass_trace_line(t)->in;
		CU_ASSERT_EQUAL(in->pc, expected[n].pc);
		CU_ASSERT_EQUAL(in->mask, expected[n].mask);
		CU_ASSERT_EQUAL(in->addresses, false);
		CU_ASSERT_EQUAL(in->off, expected[n].off);
		n++;
	}
	CU_ASSERT_EQUAL(n, GS_ARRAY_LEN(expected));
	sass_trace_close(t);
	gs_buf_free(&text);
}

static void headers(void)
{
	struct sass_trace *t;
	struct gs_error err;
	CU_ASSERT_EQUAL_FATAL(sass_trace_open(write_trace("kernel-1.traceg", header, strlen(header)), &t, &err), 0);
	const struct sass_header *h = sass_trace_header(t);
	CU_ASSERT_STRING_EQUAL(h->name, "void f<int>(float*)");
	CU_ASSERT(h->grid[0] == 2 && h->block[0] == 48 && h->shared_bytes == 1024 && h->registers == 24 && h->id == 7 && h->stream == 3);
	CU_ASSERT(h->shared_base == 0x7f1000000000 && h->local_base == 0x7f2000000000 && h->tracer_version == 4 && !h->line_info);
	sass_trace_close(t);
	static const char *const bad[] = {"", "-kernel name = f\n#\n", "-kernel name = f\n-grid dim = (0,1,1)\n-block dim = (1,1,1)\n#\n",
	                                  "-kernel name = f\n-grid dim = (1,1,1)\n-block dim = (1024,1024,1)\n#\n",
	                                  "-kernel name = f\n-grid dim = (1,1,1)\n-block dim = (1,1,1)\n-accelsim tracer version = 6\n#\n",
	                                  "-grid dim = (1,1,1)\n-block dim = (1,1,1)\n#\n"};
	for (size_t i = 0; i < GS_ARRAY_LEN(bad); i++)
		CU_ASSERT(sass_trace_open(write_trace("kernel-1.traceg", bad[i], strlen(bad[i])), &t, &err) < 0);
}

/* ---- packed traces ---- */

static void put32(struct gs_buf *b, uint32_t v)
{
	v = htole32(v);
	gs_buf_add(b, &v, 4);
}

/* One block of two warps; the first has two chunks. */
static void make_packed(struct gs_buf *b)
{
	static const char *const chunks[] = {"0 1 0 MOV 0 0 0\n10 1 0 MOV 0 0 0", "20 1 0 EXIT 0 0 0\n", "20 1 0 EXIT 0 0 0\n"};
	char packed[256];
	uint64_t at[2], index;
	gs_buf_add(b, header, sizeof header); /* with its NUL */
	put32(b, 0);
	put32(b, 2);
	for (int w = 0, chunk = 0; w < 2; w++) {
		at[w] = b->len;
		put32(b, w ? 1 : 3);
		put32(b, w ? 1 : 2);
		for (int i = 0; i < (w ? 1 : 2); i++, chunk++) {
			size_t n = ZSTD_compress(packed, sizeof packed, chunks[chunk], strlen(chunks[chunk]), 1);
			put32(b, (uint32_t)n);
			gs_buf_add(b, packed, n);
		}
	}
	index = b->len;
	put32(b, 1);
	for (int i = 0; i < 10; i++)
		put32(b, i == 0);
	put32(b, 2);
	for (int w = 0; w < 2; w++) {
		put32(b, w ? 1 : 3);
		put32(b, w ? 1 : 2);
		put32(b, (uint32_t)at[w]);
		put32(b, 0);
		for (int i = 0; i < (w ? 1 : 2); i++)
			put32(b, w || i ? 1 : 2);
	}
	put32(b, (uint32_t)index);
	put32(b, 0);
}

static void packed_traces(void)
{
	struct gs_buf b = {0};
	char items[64];
	make_packed(&b);
	items_of(write_trace("kernel-1.tracez", b.data, b.len), items);
	CU_ASSERT_STRING_EQUAL(items, "GWLLLWLE");
	for (size_t length = 0; length < b.len; length++) { /* no part of it is one: the end says where the index is */
		items_of(write_trace("kernel-1.tracez", b.data, length), items);
		CU_ASSERT_EQUAL(items[strlen(items) - 1], '!');
	}
	b.data[b.len - 19] = 127; /* the second warp is somewhere else */
	items_of(write_trace("kernel-1.tracez", b.data, b.len), items);
	CU_ASSERT_NOT_EQUAL(strcmp(items, "GWLLLWLE"), 0);
	gs_buf_free(&b);
}

/* ---- memory, and what is written ---- */

static void pieces(void)
{
	struct touched_pieces m = {0};
	CU_ASSERT_EQUAL(pieces_copy(&m, 0x1000, 0x100), 0);
	CU_ASSERT_EQUAL(pieces_copy(&m, 0x3000, 0x100), 0);
	CU_ASSERT_EQUAL(pieces_copy(&m, 0x1080, 0x100), 0); /* the same buffer, longer */
	CU_ASSERT_EQUAL(m.count, 2);
	CU_ASSERT_EQUAL(m.list[0].bytes, 0x180);
	CU_ASSERT_EQUAL(pieces_find(&m, 0x117f), 0);
	CU_ASSERT_EQUAL(pieces_find(&m, 0x1180), PIECES_NONE);
	CU_ASSERT_EQUAL(pieces_find(&m, 0xfff), PIECES_NONE);
	CU_ASSERT(pieces_touch(&m, 0x2000, 4));
	CU_ASSERT(pieces_touch(&m, 0x4000, 4));
	CU_ASSERT(pieces_touch(&m, 0x40000000, 8));
	CU_ASSERT_EQUAL(pieces_settle(&m), 0); /* what was touched is around a piece that is known */
	CU_ASSERT_EQUAL(m.count, 5);
	CU_ASSERT(pieces_find(&m, 0x2000) != pieces_find(&m, 0x4000));
	CU_ASSERT_EQUAL(m.list[4].bytes, 8);
	pieces_free(&m);
}

/* Events come back as they were written, over the ends of chunks. */
static void lane_events(void)
{
	enum { TIMES = 400, CHUNK = TRACE_CHUNK_BYTES / 8, HEAD = TRACE_CHUNK_HEADER_WORDS * 8 };
	static const struct trace_site sites[2] = {{.kind = TRACE_load, .space = SPACE_global, .bytes = 4},
	                                           {.kind = TRACE_store, .space = SPACE_shared, .bytes = 4}};
	static const uint32_t bytes[2] = {4, 4};
	static const uint8_t spaces[2] = {SPACE_global, SPACE_shared};
	static const struct touched_piece piece = {.begin = 0x500000000, .bytes = 1 << 20};
	struct lane_layout layout = {.block_count = 3, .site_bytes = bytes, .site_spaces = spaces, .local = {2, 1, 1}, .grid = {4, 1, 1},
	                             .shared_base = 0x7f0000000000, .pieces = &piece, .piece_count = 1};
	struct lane_writer *w = lane_writer_new(&layout);
	struct gs_buf packed = {0};
	lane_writer_begin(w, 3);
	for (uint32_t i = 0; i < TIMES; i++) {
		lane_writer_block(w, 1, i % 3);
		lane_writer_access(w, 1, 0, piece.begin + i * i % 4096 * 4);
		lane_writer_access(w, 1, 1, 0x7f0000000000 + i * 4);
	}
	lane_writer_end(w, &packed);
	uint64_t *words = calloc(TRACE_HEADER_WORDS + CHUNK * 64, 8), argument_bytes = 1 << 20, used;
	for (size_t at = 0; at < packed.len; at += HEAD + (size_t)used) {
		memcpy(&used, packed.data + at + 16, 8);
		memcpy(words + TRACE_HEADER_WORDS + CHUNK * words[0]++, packed.data + at, HEAD + (size_t)used);
	}
	CU_ASSERT(words[0] > 2 && words[0] < 64);
	struct trace_layout back = {.sites = sites, .site_count = 2, .block_count = 3, .local = {2, 1, 1}, .groups = {4, 1, 1},
	                            .argument_bytes = &argument_bytes, .argument_count = 1};
	struct launch_trace *t = NULL;
	struct gs_error err;
	CU_ASSERT_EQUAL_FATAL(trace_read(words, TRACE_HEADER_WORDS + CHUNK * words[0], &back, &t, &err), 0);
	CU_ASSERT_EQUAL_FATAL(t->group_count, 1);
	CU_ASSERT_EQUAL(t->groups[0].group, 3);
	const struct lane_trace *lane = &t->groups[0].lanes[1];
	CU_ASSERT_EQUAL_FATAL(lane->count, 3 * TIMES);
	for (uint32_t i = 0; i < TIMES; i++) {
		CU_ASSERT_EQUAL(lane->events[3 * i].what, i % 3);
		CU_ASSERT_EQUAL(lane->events[3 * i + 1].address, (UINT64_C(1) << 40) + i * i % 4096 * 4);
		CU_ASSERT_EQUAL(lane->events[3 * i + 2].address, i * 4);
	}
	trace_free(t);
	free(words);
	gs_buf_free(&packed);
	lane_writer_free(w);
}

/* ---- what is written for Accel-Sim ---- */

static const char *written(uint32_t mask, const uint64_t *addresses)
{
	static char text[2048];
	struct export_instruction in = {.result = 7, .sources = {2, 300}, .source_count = 2};
	FILE *f = fmemopen(text, sizeof text, "w");
	export_line(f, &in, 0x120, mask, "LDG.E", addresses, 4);
	fclose(f);
	return text;
}

static void written_lines(void)
{
	uint64_t a[TRACE_WARP_LANES];
	struct sass_line l;
	for (int i = 0; i < TRACE_WARP_LANES; i++)
		a[i] = 0x7f4000000000 + 8 * (uint64_t)i;
	CU_ASSERT_STRING_EQUAL(written(0xffffffff, a), "0120 ffffffff 1 R7 LDG.E 2 R2 R300 4 1 0x00007f4000000000 8\n");
	CU_ASSERT_STRING_EQUAL(written(0x0ff0, a), "0120 00000ff0 1 R7 LDG.E 2 R2 R300 4 1 0x00007f4000000000 8\n");
	CU_ASSERT_STRING_EQUAL(written(0x80000000, a), "0120 80000000 1 R7 LDG.E 2 R2 R300 4 1 0x00007f4000000000 0\n");
	CU_ASSERT_STRING_EQUAL(written(0, &(const uint64_t){0}), "0120 00000000 1 R7 LDG.E 2 R2 R300 4 1 0x0000000000000000 0\n"); /* as the tracer does */
	/* Strides are for lanes that follow one another. */
	CU_ASSERT_STRING_EQUAL(written(0xd, a), "0120 0000000d 1 R7 LDG.E 2 R2 R300 4 2 0x00007f4000000000 8 8\n");
	a[1] -= 24;
	CU_ASSERT_STRING_EQUAL(written(0x7, a), "0120 00000007 1 R7 LDG.E 2 R2 R300 4 2 0x00007f4000000000 -16 32\n");
	a[2] += UINT64_C(1) << 33;
	CU_ASSERT_STRING_EQUAL(written(0x7, a), "0120 00000007 1 R7 LDG.E 2 R2 R300 4 0 0x00007f4000000000 0x00007f3ffffffff0 0x00007f4200000010\n");
	CU_ASSERT(reads(written(0x15, a), 3, false, &l));
	CU_ASSERT(l.address[0] == a[0] && l.address[2] == a[1] && l.address[4] == a[2]);
	CU_ASSERT_STRING_EQUAL(written(0x15, NULL), "0120 00000015 1 R7 LDG.E 2 R2 R300 0\n");
}

/* A group whose trace has no room is cut: its lanes say so, and the trace does not grow. */
static void cut_lanes(void)
{
	static const uint32_t bytes[1] = {4};
	static const uint8_t spaces[1] = {SPACE_global};
	struct lane_layout layout = {.block_count = 3, .site_bytes = bytes, .site_spaces = spaces, .local = {2, 1, 1}, .grid = {4, 1, 1}, .most_bytes = 1000};
	struct lane_writer *w = lane_writer_new(&layout);
	struct gs_buf out = {0};
	lane_writer_begin(w, 0);
	for (uint32_t i = 0; i < 100000; i++)
		lane_writer_block(w, i % 2, 1);
	lane_writer_end(w, &out);
	CU_ASSERT(out.len > 1000 && out.len < 1200);
	uint64_t chunk[TRACE_CHUNK_HEADER_WORDS], cut = 0;
	for (size_t at = 0; at < out.len; at += sizeof chunk + (uint32_t)chunk[2]) {
		memcpy(chunk, out.data + at, sizeof chunk);
		cut += chunk[2] >> 32;
	}
	CU_ASSERT_EQUAL(cut, 2);
	gs_buf_free(&out);
	lane_writer_free(w);
}

/* Register 0 is summed up in a loop of 300 additions, each to a value of its own that the next one reads: more values than numbers. */
static void numbers_of_registers(void)
{
	enum { VALUES = 300 };
	static struct code_instruction in[VALUES];
	static uint16_t operands[VALUES * 3];
	static struct code_register registers[VALUES + 1];
	static int32_t numbers[VALUES + 1];
	struct code_block blocks[2] = {{.first = 0, .count = 1, .loop = -1}, {.first = 1, .count = VALUES - 1, .loop = 0}};
	struct code_loop loops[1] = {{.header = 1, .outer = -1}};
	struct kernel_code code = {.code = in, .code_count = VALUES, .operands = operands, .operand_count = VALUES * 3, .register_table = registers,
	                           .register_count = VALUES + 1, .blocks = blocks, .block_count = 2, .loops = loops, .loop_count = 1};
	const struct gpu plain = {.read_window = 0};
	for (uint16_t i = 0; i <= VALUES; i++)
		registers[i] = (struct code_register){.number = i, .words = 1};
	for (uint16_t i = 0; i < VALUES; i++) { /* value i + 1 from values i and 0; the last one is the sum */
		in[i] = (struct code_instruction){.class = CODE_int, .writes = 1, .reads = 2, .first_operand = i * 3u};
		operands[i * 3] = i + 1 < VALUES ? i + 1 : 0;
		operands[i * 3 + 1] = i;
		operands[i * 3 + 2] = 0;
	}
	CU_ASSERT_EQUAL_FATAL(export_registers(&code, &code, &plain, numbers), 0);
	for (uint32_t i = 0; i <= VALUES; i++)
		CU_ASSERT(numbers[i] >= 0 && numbers[i] < 255 && (uint32_t)numbers[i] % 4 == i % 4);
	for (uint32_t i = 1; i < VALUES; i++) /* it is needed in all of the loop */
		CU_ASSERT_NOT_EQUAL(numbers[i], numbers[0]);
	CU_ASSERT_NOT_EQUAL(numbers[VALUES - 1], numbers[VALUES - 2]);
}

/* A sum of two values, and a branch by its comparison: the operands are in the two banks, the predicate is behind all values. */
static void banks_of_registers(void)
{
	struct code_instruction in[] = {
		{.class = CODE_int, .writes = 1, .first_operand = 0}, {.class = CODE_int, .writes = 1, .first_operand = 1},
		{.class = CODE_int, .writes = 1, .reads = 2, .first_operand = 2}, {.class = CODE_int, .writes = 1, .reads = 2, .first_operand = 5},
		{.class = CODE_branch, .waits = 1, .first_operand = 8},
	};
	uint16_t operands[] = {0, 1, 2, 0, 1, 3, 2, 0, 3};
	struct code_register registers[] = {{.number = 0, .words = 1}, {.number = 4, .words = 1}, {.number = 8, .words = 1}, {.number = 12, .words = 0}};
	struct code_block block = {.count = 5, .loop = -1};
	struct kernel_code code = {.code = in, .code_count = 5, .operands = operands, .operand_count = 9, .register_table = registers, .register_count = 4,
	                           .blocks = &block, .block_count = 1};
	const struct gpu volta = {.read_window = 3, .sub_cores = true, .schedulers_per_sm = 4, .register_banks = 8};
	int32_t numbers[4];
	CU_ASSERT_EQUAL(read_port_banks(&volta), 2);
	CU_ASSERT_EQUAL_FATAL(export_registers(&code, &code, &volta, numbers), 0);
	CU_ASSERT_NOT_EQUAL(numbers[0] % 2, numbers[1] % 2);
	CU_ASSERT_NOT_EQUAL(numbers[0] % 2, numbers[2] % 2); /* the comparison reads both, too */
	CU_ASSERT(numbers[3] >= 223 && numbers[3] < 255);
	for (int i = 0; i < 3; i++)
		CU_ASSERT(numbers[i] < 223);
}

void add_sass_trace_tests(void)
{
	CU_pSuite suite = CU_add_suite("sass_trace", NULL, NULL);
	CU_add_test(suite, "lines of all versions", lines);
	CU_add_test(suite, "modes of addresses", modes);
	CU_add_test(suite, "what is no line", bad_lines);
	CU_add_test(suite, "headers", headers);
	CU_add_test(suite, "whole traces", whole_traces);
	CU_add_test(suite, "instructions that all lanes skip", skipped_lines);
	CU_add_test(suite, "packed traces", packed_traces);
	CU_add_test(suite, "pieces of memory", pieces);
	CU_add_test(suite, "events of work-items", lane_events);
	CU_add_test(suite, "a group without room", cut_lanes);
	CU_add_test(suite, "lines that are written", written_lines);
	CU_add_test(suite, "numbers of registers", numbers_of_registers);
	CU_add_test(suite, "banks of registers", banks_of_registers);
}
