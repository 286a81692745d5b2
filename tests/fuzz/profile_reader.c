/*
 * Fuzz target of profiles: any bytes are taken for a file, and, past hashes and compression, for the records of one: a letter
 * for the kind (p: program, l: launch, n: note, t: transfers), four digits of 64 for the length of a pack without its
 * closing hash, and the pack. None may do harm.
 *     fuzz/profile --seed PROFILE FILE      writes a profile in that form
 */
#include "runtime/cmd/cmd.h"
#include "runtime/cmd/replay.h"
#include "runtime/guest/state.h"
#include "runtime/profile_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static const char *const kinds[] = {"program", "launch", "note", "transfers"};

int cmd_fail(const char *fmt, ...)
{
	(void)fmt;
	return EXIT_USAGE;
}

/* ---- the form of the inputs ---- */

static void add_record(struct gs_buf *out, const char *kind, const struct gs_pack *pack)
{
	struct gs_buf bytes = {0};
	struct gs_error err;
	if (gs_pack_encode(pack, &bytes, &err))
		abort();
	size_t length = bytes.len - strlen("end \n") - 32;
	gs_buf_printf(out, "%c%c%c%c%c", kind[0], '0' + (int)(length >> 18 & 63), '0' + (int)(length >> 12 & 63),
	              '0' + (int)(length >> 6 & 63), '0' + (int)(length & 63));
	gs_buf_add(out, bytes.data, length);
	gs_buf_free(&bytes);
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
				add_record(&out, kind, &pack);
		gs_pack_free(&pack);
	}
	profile_reader_free(r);
	int failed = gs_write_file(to, out.data, out.len, &err);
	gs_buf_free(&out);
	return failed ? 1 : 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct gs_error err;
	if (*argc == 4 && !strcmp((*argv)[1], "--seed"))
		exit(write_seed((*argv)[2], (*argv)[3]));
	options_defaults(&runtime.options);
	options_set(&runtime.options, options_find("MODEL"), "", "optimistic", &err);
	options_set(&runtime.options, options_find("REPORT"), "", "none", &err);
	load_targets();
	choose_model();
	return 0;
}

/* ---- one input ---- */

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

static void replay_one(const char *kind, const uint8_t *data, size_t length)
{
	struct gs_buf bytes = {0};
	struct gs_pack pack = {0};
	struct gs_error err;
	char hash[33];
	gs_buf_add(&bytes, data, length);
	gs_hash_hex(data, length, hash);
	gs_buf_printf(&bytes, "end %s\n", hash);
	if (!gs_pack_decode(&pack, bytes.data, bytes.len, &err)) {
		replay_record(kind, &pack, &err);
		gs_pack_free(&pack);
	}
	gs_buf_free(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_as_file(data, size);
	for (size_t at = 0; at + 5 <= size;) {
		size_t length = 0;
		for (int i = 1; i < 5; i++)
			length = length << 6 | ((data[at + (size_t)i] - '0') & 63);
		const char *kind = kinds[0];
		for (size_t i = 0; i < GS_ARRAY_LEN(kinds); i++)
			if (kinds[i][0] == data[at])
				kind = kinds[i];
		at += 5;
		length = length < size - at ? length : size - at;
		replay_one(kind, data + at, length);
		at += length;
	}
	replay_reset();
	return 0;
}
