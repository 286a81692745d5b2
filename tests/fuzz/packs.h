/*
 * packs.h - inputs of fuzz targets that read packs. An input is a sequence of records. A record is a letter for its kind, four
 * digits in base 64 for its length, and the bytes of a pack (base.h) without the closing hash. The hash is added when an input
 * is read, so every mutation gets past the check of the hash.
 */
#ifndef FUZZ_PACKS_H
#define FUZZ_PACKS_H

#include "runtime/base/base.h"
#include "runtime/model/simulation.h"

struct fuzz_record {
	char kind;
	struct gs_pack pack;
};

struct fuzz_input {
	struct fuzz_record *records;
	size_t count;
};

/* Records that are not packs are left out. Free it with fuzz_input_free. */
void fuzz_input_read(struct fuzz_input *in, const void *data, size_t size);
void fuzz_input_free(struct fuzz_input *in);
void fuzz_record_write(struct gs_buf *out, char kind, const struct gs_pack *pack);

/* ---- modelling.c ---- */

extern struct simulation fuzz_simulation;

void fuzz_models_setup(void);
/* Mostly chooses the fastest model. It reads all data, too. */
void fuzz_choose_model(size_t number);
/* Adds a record without the parts for other targets and without text that is not read. The fuzzer tries small inputs more often. */
void fuzz_seed_record(struct gs_buf *out, char kind, const struct gs_pack *pack);

/* libFuzzer calls these. pack_mutate.c has our mutator. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

#endif
