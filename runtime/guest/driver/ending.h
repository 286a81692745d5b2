/* The end of the program: a handler of ours that runs while the driver still works. */
#ifndef GPUSIM_RUNTIME_GUEST_DRIVER_ENDING_H
#define GPUSIM_RUNTIME_GUEST_DRIVER_ENDING_H

#include <stdbool.h>

/* Sets the handler, once. The handler may run more than once. */
void ending_start(void (*handler)(void));
/* Makes the handler run before all exit handlers that were registered up to now. */
void run_first_at_exit(void);
/* Whether exit() has been called and the handler has begun. */
bool program_is_ending(void);

#endif
