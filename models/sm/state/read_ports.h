/*
 * read_ports: how many registers each instruction reads from each bank, for GPUs whose schedulers have banks of their own
 * that give one register a cycle (read_window).
 *
 *   banks: the assembler chooses them. It spreads the operands of an instruction over banks as far as other instructions leave it free to
 *   reads: each register counts once, and a register of two words in two banks. One operand may be a constant, as parameters are, and
 *          is not read; if there are two, they are loaded into registers
 *   after: the same right after the instruction before it, whose operands are still at hand: all of them, or those that an assembler says
 */
#ifndef GPUSIM_MODELS_SM_STATE_READ_PORTS_H
#define GPUSIM_MODELS_SM_STATE_READ_PORTS_H

#include "models/code/code.h"
#include "models/gpu/gpu.h"

enum { READ_PORT_BANKS = 4 }; /* at most */

struct read_ports {
	uint8_t reads[READ_PORT_BANKS], after[READ_PORT_BANKS];
};

/* How many of such banks a scheduler has; 0: its GPU is not looked at in this way. */
uint32_t read_port_banks(const struct gpu *gpu);
/* bank_of: an entry per register of code: the bank that is chosen for it; READ_PORT_NONE: nothing reads it. */
enum { READ_PORT_NONE = 0xff };
int read_ports_choose(const struct kernel_code *code, uint32_t banks, uint8_t *bank_of);
/* out: an entry per instruction of code. banks: 1 to READ_PORT_BANKS. */
int read_ports_find(const struct kernel_code *code, uint32_t banks, struct read_ports *out);

#endif
