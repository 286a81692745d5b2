/*
 * Fuzz target of the cache. Bytes that begin like a pack are treated as the file of an entry. Other bytes are records (packs.h):
 *   r   a result of gpusim-cc for a program; it is read, and every kernel in it is launched and modelled
 *   b   the units of a binary
 * No input may do harm.
 *     fuzz/cache --seed PROFILE FILE      writes the programs of a profile in that form
 */
#include "runtime/config/cache.h"
#include "runtime/format/counters.h"
#include "runtime/format/profile_file.h"
#include "runtime/guest/support/units.h"
#include "runtime/estimates/estimates.h"
#include "runtime/model/profile.h"
#include "runtime/report/report.h"
#include "tests/fuzz/packs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static void remove_folder(void)
{
	char path[96];
	cache_trim(0);
	snprintf(path, sizeof path, "%s/results", folder);
	rmdir(path);
	rmdir(folder);
}

/* ---- seeds ---- */

static void write_units(struct gs_buf *out, const struct gs_pack *program)
{
	struct gs_pack units = {0};
	gs_pack_puts(&units, "cwd", "/tmp");
	for (int i = 0; i < 2; i++) {
		gs_pack_puts(&units, "options", gs_pack_text(program, "host-options"));
		gs_pack_puts(&units, "header", "a.h\n#define A 1\n");
		gs_pack_puts(&units, "source", "#include \"a.h\"\n__kernel void f(__global int *x) { *x = A; }\n");
	}
	fuzz_record_write(out, 'b', &units);
	gs_pack_free(&units);
}

static int write_seed(const char *from, const char *to)
{
	struct profile_reader *r;
	char kind[PROFILE_KIND_SIZE];
	struct gs_pack pack;
	struct gs_buf out = {0};
	struct gs_error err;
	if (profile_open(from, &r, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	while (profile_next(r, kind, &pack, &err) > 0) {
		if (!strcmp(kind, "program")) {
			fuzz_seed_record(&out, 'r', &pack);
			write_units(&out, &pack);
		}
		gs_pack_free(&pack);
	}
	profile_reader_free(r);
	int failed = gs_write_file(to, out.data, out.len, &err);
	gs_buf_free(&out);
	return failed ? 1 : 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	fuzz_models_setup();
	if (*argc == 4 && !strcmp((*argv)[1], "--seed"))
		exit(write_seed((*argv)[2], (*argv)[3]));
	snprintf(folder, sizeof folder, "/tmp/gpusim-fuzz.XXXXXX");
	if (!mkdtemp(folder))
		abort();
	cache_setup(folder, UINT64_C(1) << 30);
	atexit(remove_folder);
	return 0;
}

/* ---- one input ---- */

static void read_as_entry(const uint8_t *data, size_t size)
{
	char path[96];
	struct gs_pack pack = {0};
	snprintf(path, sizeof path, "%s/results", folder);
	mkdir(path, 0700);
	snprintf(path, sizeof path, "%s/results/entry", folder);
	if (gs_write_file(path, data, size, NULL))
		abort();
	if (!cache_get_pack(CACHE_RESULTS, "entry", &pack, NULL))
		gs_pack_free(&pack);
}

static void report(const struct launch_result *r, void *owner)
{
	(void)owner;
	report_launch(r);
}

/* Two groups whose work-items ran everything once. */
static void launch(struct artifact *a, struct artifact_kernel *k)
{
	uint64_t values[4] = {1 << 20, 2 << 20, 7, 0};
	bool known[4] = {true, true, true, false};
	struct launch_record l = {.kernel_name = k->name, .artifact = a, .facts = k, .slots = 2, .places = 128, .seq = 1,
	                          .global = {128, 1, 1}, .local = {64, 1, 1}, .argument_values = values, .arguments_known = known,
	                          .argument_count = GS_ARRAY_LEN(values)};
	l.counter_words = launch_words(&l);
	if (l.counter_words > 1 << 20)
		return;
	uint64_t *words = calloc(l.counter_words + 1, sizeof *words);
	if (!words)
		abort();
	for (size_t i = COUNTER_HEADER_WORDS + l.slots + 1; i < l.counter_words; i++)
		words[i] = a->counts_by_item && !k->summed ? UINT64_C(0x100000001) : 64;
	for (size_t s = 0; s < l.slots && a->counts_by_item; s++)
		words[COUNTER_HEADER_WORDS + s] = 64 | UINT64_C(1) << COUNTER_SIZE_BITS | UINT64_C(1) << 2 * COUNTER_SIZE_BITS;
	l.counters = words;
	if (launch_is_sound(&l))
		estimate_launch(&fuzz_simulation, &l, report);
	free(words);
}

static void use_result(const struct gs_pack *pack)
{
	struct artifact *a;
	struct gs_error err;
	struct gs_buf text = {0};
	cache_worth_keeping(pack);
	if (artifact_read(&fuzz_simulation, &a, pack, &err))
		return;
	if (a->renames && a->traced_texts)
		artifact_text_together(a, &text);
	for (size_t i = 0; i < a->kernel_count && i < 8; i++)
		launch(a, &a->kernels[i]);
	gs_buf_free(&text);
	artifact_release(a);
}

static void use_units(const struct gs_pack *pack)
{
	struct unit_list list = {0};
	struct gs_pack again = {0};
	if (!unit_list_decode(&list, pack)) {
		unit_list_includes(&list);
		unit_list_encode(&list, &again);
	}
	gs_pack_free(&again);
	unit_list_free(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in;
	if (size > 7 && !memcmp(data, "gpusim-", 7))
		read_as_entry(data, size);
	fuzz_choose_model(size);
	fuzz_input_read(&in, data, size);
	for (size_t i = 0; i < in.count; i++)
		if (in.records[i].kind == 'b')
			use_units(&in.records[i].pack);
		else
			use_result(&in.records[i].pack);
	fuzz_input_free(&in);
	return 0;
}
