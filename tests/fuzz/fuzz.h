/* fuzz.h - declarations that the fuzz target, its mutator and the plain driver share. */
#ifndef FUZZ_H
#define FUZZ_H

#include "runtime/base/base.h"

/*
 * Annotates the bytes as a program and checks the result. If anything is wrong, it ends the process with a message. A first line
 * "// CL2.0" names the language version (default: CL1.2). @ separates units.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The mutators that libFuzzer calls. Ours is in mutate.c. It can fall back on libFuzzer's own, which changes bytes. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t first_size, const uint8_t *second, size_t second_size,
                                 uint8_t *out, size_t most, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

/* clean.c: the text that a preprocessor would make of the bytes. Names of macros stay. */
void clean(const char *text, size_t length, struct gs_buf *out);

/* grammar.c: random text. It mostly parses if the names of grammar_prelude and a, p, x, y, v, s are known. */
extern const char grammar_prelude[];
void grammar_seed(unsigned int seed);
uint32_t grammar_chance(uint32_t below);
void grammar_expression(struct gs_buf *out, int depth);
void grammar_statement(struct gs_buf *out, int depth);
void grammar_function(struct gs_buf *out);
/* Text to put before and after a statement. */
void grammar_wrap(const char **before, const char **behind);

#endif
