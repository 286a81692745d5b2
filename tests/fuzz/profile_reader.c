/*
 * Fuzz target of profiles. Any bytes are treated as a file. They are also treated as the records of a profile, without hashes
 * and compression (packs.h; p: program, l: launch, n: note, t: transfers). These are replayed. No input may do harm.
 *     fuzz/profile --seed PROFILE FILE      writes a profile in that form
 *     fuzz/profile --profile INPUT FILE     converts it back, for gpusim replay
 */
#include "runtime/cmd/cmd.h"
#include "runtime/cmd/sweep/replay.h"
#include "runtime/format/profile_file.h"
#include "tests/fuzz/packs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const kinds[] = {"program", "launch", "note", "transfers"};

int cmd_fail(const char *fmt, ...)
{
	(void)fmt;
	return EXIT_USAGE;
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
		for (size_t i = 0; i < GS_ARRAY_LEN(kinds); i++)
			if (!strcmp(kind, kinds[i]))
				fuzz_seed_record(&out, kind[0], &pack);
		gs_pack_free(&pack);
	}
	profile_reader_free(r);
	int failed = gs_write_file(to, out.data, out.len, &err);
	gs_buf_free(&out);
	return failed ? 1 : 0;
}

static const char *kind_of(char letter)
{
	for (size_t i = 0; i < GS_ARRAY_LEN(kinds); i++)
		if (kinds[i][0] == letter)
			return kinds[i];
	return kinds[0];
}

static int write_profile(const char *from, const char *to)
{
	struct gs_buf bytes = {0}, out = {0};
	struct gs_error err;
	struct fuzz_input in;
	if (gs_read_file(from, &bytes, &err))
		return 1;
	fuzz_input_read(&in, bytes.data, bytes.len);
	profile_begin(&out);
	for (size_t i = 0; i < in.count; i++)
		if (profile_add(&out, kind_of(in.records[i].kind), &in.records[i].pack, &err))
			abort();
	profile_end(&out);
	int failed = gs_write_file(to, out.data, out.len, &err);
	fuzz_input_free(&in);
	gs_buf_free(&bytes);
	gs_buf_free(&out);
	return failed ? 1 : 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	fuzz_models_setup();
	if (*argc == 4 && !strcmp((*argv)[1], "--seed"))
		exit(write_seed((*argv)[2], (*argv)[3]));
	if (*argc == 4 && !strcmp((*argv)[1], "--profile"))
		exit(write_profile((*argv)[2], (*argv)[3]));
	return 0;
}

static void read_as_file(const uint8_t *data, size_t size)
{
	char path[64];
	struct gs_error err;
	struct profile_reader *r;
	char kind[PROFILE_KIND_SIZE];
	struct gs_pack pack;
	snprintf(path, sizeof path, "/tmp/gpusim-fuzz.%ld", (long)getpid());
	if (gs_write_file(path, data, size, &err))
		abort();
	if (!profile_open(path, &r, &err)) {
		while (profile_next(r, kind, &pack, &err) > 0)
			gs_pack_free(&pack);
		profile_reader_free(r);
	}
	unlink(path);
}

/* As in `gpusim replay`, the first record that cannot be read ends it. */
static void replay(const struct fuzz_input *in)
{
	struct replay play = {.sim = &fuzz_simulation};
	struct gs_error err;
	for (size_t i = 0; i < in->count; i++)
		if (replay_record(&play, kind_of(in->records[i].kind), &in->records[i].pack, &err))
			break;
	replay_reset(&play);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in;
	if (size > 7 && !memcmp(data, "gpusim-", 7))
		read_as_file(data, size);
	fuzz_input_read(&in, data, size);
	fuzz_choose_model(size);
	replay(&in);
	fuzz_input_free(&in);
	return 0;
}
