/* extended: handlers of instructions, lane by lane, that the suite's kernels do not have. */
#ifndef GPUSIM_TESTS_ORACLE_EXTENDED_EXTENDED_H
#define GPUSIM_TESTS_ORACLE_EXTENDED_EXTENDED_H

#include "tests/oracle/internal.h"

/* Each returns NULL if the opcode is not of its kind. */
oracle_lane oracle_bits_lane(const char *opcode);                                    /* bits.c */
oracle_lane oracle_rounded_lane(const char *opcode, enum oracle_type type);          /* rounded.c: f16, bf16, .rz, .ftz, .sat and the like */
oracle_lane oracle_test_lane(const char *opcode);                                    /* compare.c: testp */
oracle_lane oracle_video_lane(const char *opcode);                                   /* video.c */
oracle_handler oracle_carry_handler(const char *opcode);                             /* bits.c */
oracle_handler oracle_warp_handler(const char *opcode);                              /* lanes.c */
oracle_handler oracle_predicate_handler(const char *opcode, enum oracle_type type);  /* compare.c: set, testp, setp of halves */
oracle_handler oracle_vector_handler(const struct ptx_instruction *i);               /* lanes.c: mov of vectors */

/* Runs o->lane in every lane. */
void oracle_each_lane(struct warp *w, const struct oracle_op *o, uint32_t mask);

/* rounded.c: a value of a type as a double, exactly, and back with one rounding in the current mode. */
double oracle_to_double(uint64_t row, uint8_t type);
uint64_t oracle_from_double(double x, uint8_t type);
double oracle_flushed(double x, uint8_t type); /* subnormal values are 0 */
void oracle_round_as(uint8_t rounding);        /* the mode of the host; ROUND_NEAREST again afterwards */

#endif
