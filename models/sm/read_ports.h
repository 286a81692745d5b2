/*
 * read_ports: how many registers each instruction reads from each bank, for GPUs whose schedulers have banks of their own
 * that give one register a cycle (read_window).
 *
 *   banks: an assembler knows them, and spreads the operands of an instruction over them as far as others leave it free to
 *   reads: registers that are not the same, and of two words one from each of two banks; one operand may be a constant, which
 *          parameters are: it takes none; where there are two, they are loaded into registers
 *   after: the same right after the instruction before it, whose operands are still at hand
 */
#ifndef GPUSIM_MODELS_SM_READ_PORTS_H
#define GPUSIM_MODELS_SM_READ_PORTS_H

#include "models/code/code.h"

enum { READ_PORT_BANKS = 4 }; /* at most */

struct read_ports {
	uint8_t reads[READ_PORT_BANKS], after[READ_PORT_BANKS];
};

/* out: an entry per instruction of code. banks: 1 to READ_PORT_BANKS. */
int read_ports_find(const struct kernel_code *code, uint32_t banks, struct read_ports *out);

#endif
