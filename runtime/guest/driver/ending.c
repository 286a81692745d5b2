#include "runtime/guest/driver/ending.h"

#include "runtime/guest/driver/simulation.h"

#include <stdatomic.h>
#include <stdlib.h>

static void (*at_exit)(void);

void ending_start(void (*handler)(void))
{
	at_exit = handler;
	run_first_at_exit();
}

bool program_is_ending(void)
{
	return simulation.cost.exit_begin_ns;
}

/*
 * Exit handlers run in reverse order, and ours must run while the driver still works. A driver registers handlers when it is
 * loaded, which is before us. Compilers register more at their first use (destructors of C++ statics). So our handler is
 * registered again whenever a compiler has been at work. The list of handlers only grows, and a compiler that has worked often
 * registers nothing new. So after the first 128 times, only the 256th, 512th, 1024th ... time counts.
 */
void run_first_at_exit(void)
{
	enum { ALWAYS = 128 };
	static atomic_uint times;
	unsigned n = ++times;
	if (at_exit && (n < ALWAYS || !(n & (n - 1))))
		atexit(at_exit);
}
