/* fuzz.h - what the fuzz target, its mutator and the plain driver share. */
#ifndef FUZZ_H
#define FUZZ_H

#include "runtime/base/base.h"

/*
 * Annotates the bytes as a program and checks what comes of it; ends the process with a message where anything is
 * wrong. A first line "// CL2.0" names the language version (else CL1.2), and @ separates units.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* libFuzzer's side of mutation: ours in mutate.c, its own byte-wise one to fall back upon. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t first_size, const uint8_t *second, size_t second_size,
                                 uint8_t *out, size_t most, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

/* clean.c: what a preprocessor would leave of the bytes. Names of macros stay. */
void clean(const char *text, size_t length, struct gs_buf *out);

/* grammar.c: random text that most often parses where the names of grammar_prelude are known, and a, p, x, y, v, s */
extern const char grammar_prelude[];
void grammar_seed(unsigned int seed);
uint32_t grammar_chance(uint32_t below);
void grammar_expression(struct gs_buf *out, int depth);
void grammar_statement(struct gs_buf *out, int depth);
void grammar_function(struct gs_buf *out);
/* Text around a statement: before it, and behind it. */
void grammar_wrap(const char **before, const char **behind);

#endif
