/*
 * packs.h - inputs of fuzz targets that read packs: records, one after the other, each a letter for its kind, four digits of 64
 * for the length, and the bytes of a pack (base.h) without the closing hash. The hash is added when an input is read, so that
 * every mutation gets past it.
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

/* Records that are no packs are left out. Freed by fuzz_input_free. */
void fuzz_input_read(struct fuzz_input *in, const void *data, size_t size);
void fuzz_input_free(struct fuzz_input *in);
void fuzz_record_write(struct gs_buf *out, char kind, const struct gs_pack *pack);

/* ---- modelling.c ---- */

extern struct simulation fuzz_simulation;

void fuzz_models_setup(void);
/* The one that takes least time most often: it reads everything, too. */
void fuzz_choose_model(size_t number);
/* A record without what is for other targets, and text that nobody reads: small inputs are tried more often. */
void fuzz_seed_record(struct gs_buf *out, char kind, const struct gs_pack *pack);

/* libFuzzer's: pack_mutate.c has ours. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

#endif
