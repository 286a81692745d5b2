#include "models/accesses/requests.h"

void memory_scale(struct memory_statistics *m, double times)
{
	m->requests *= times;
	m->transactions *= times;
	m->dram_read_bytes *= times;
	m->dram_written_bytes *= times;
	m->atomics *= times;
}
