#include "models/accesses/requests.h"

bool same_parts(const struct path_requests *r, uint32_t a, uint32_t b)
{
	uint32_t count = r->first[a + 1] - r->first[a];
	bool same = count && count == r->first[b + 1] - r->first[b];
	for (uint32_t i = 0; i < count && same; i++)
		same = r->parts[r->first[a] + i].address == r->parts[r->first[b] + i].address &&
		       r->parts[r->first[a] + i].sectors == r->parts[r->first[b] + i].sectors;
	return same;
}

void memory_scale(struct memory_statistics *m, double times)
{
	m->requests *= times;
	m->transactions *= times;
	m->dram_read_bytes *= times;
	m->dram_written_bytes *= times;
	m->atomics *= times;
	m->l2_read_bytes *= times;
	m->l2_written_bytes *= times;
}
