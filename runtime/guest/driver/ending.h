/* The end of the program: a handler of ours that runs while the driver still works. */
#ifndef GPUSIM_RUNTIME_GUEST_DRIVER_ENDING_H
#define GPUSIM_RUNTIME_GUEST_DRIVER_ENDING_H

#include <stdbool.h>

/* Once: the handler, which may run more than once. */
void ending_start(void (*handler)(void));
/* The handler runs before all that were registered up to now. */
void run_first_at_exit(void);
/* exit() has been called, and the handler has begun. */
bool program_is_ending(void);

#endif
