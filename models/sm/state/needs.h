/*
 * needs: what a machine instruction takes of its scheduler beyond a turn, as measured on an H200 (docs/machine.md).
 *
 *   in turn: operands of what goes through a queue (accesses, special functions, shuffles) and of products with 64 bits are read one
 *            register a cycle, and keep their bank for one more. Others that read from that bank wait, and with them the scheduler
 *   half:    the units of 32-bit numbers have two halves, which take two cycles for an instruction. Products of integers are done by one, those of
 *            16-bit numbers by the other, and others by whichever is free. A product with 64 bits takes four cycles, and nothing issues
 *            for two after it
 *   sync:    what gathers lanes (BSSY, BSYNC) has a unit of its own
 * Of selected code and of traces only the halves are known: an assembler chooses registers, and where lanes gather; a trace does not have what it
 * says of them.
 */
#ifndef GPUSIM_MODELS_SM_STATE_NEEDS_H
#define GPUSIM_MODELS_SM_STATE_NEEDS_H

#include "models/code/code.h"
#include "models/gpu/gpu.h"

enum ov_half { OV_NO_HALF, OV_HEAVY, OV_LITE, OV_EITHER };
enum { OV_HALF_CYCLES = 2, OV_WIDE_CYCLES = 4, OV_WIDE_HELD = 2 };
enum { OV_MOST_IN_TURN = 16, OV_BANK_BITS = 2 };

struct ov_needs {
	uint32_t banks;   /* of those registers, OV_BANK_BITS each */
	uint8_t in_turn;  /* registers */
	uint8_t half;     /* enum ov_half */
	uint8_t cycles;   /* of the half */
	uint8_t held;     /* cycles after the one that it issues in */
	uint8_t sync;     /* cycles */
};

/* Whether the GPU's description says any of it, and the code has it. */
bool needs_are_known(const struct gpu *gpu, const struct kernel_code *code);
/* banks: of a scheduler (read_ports.h) */
struct ov_needs needs_of(const struct gpu *gpu, const struct kernel_code *code, const struct code_instruction *i, uint32_t banks);

#endif
