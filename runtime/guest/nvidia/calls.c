#include "runtime/guest/nvidia/calls.h"

struct nvidia_calls nvidia;

bool nvidia_find_calls(void *(*find)(const char *name))
{
	bool found = true;
#define X(name, symbol, params) found = (*(void **)&nvidia.name = find(symbol)) && found;
	NVIDIA_CALLS(X)
#undef X
#define X(name, symbol, params) *(void **)&nvidia.name = find(symbol);
	NVIDIA_NEWER_CALLS(X)
#undef X
	return found;
}

bool nvidia_can_count(void)
{
	return nvidia.context_id && nvidia.module_global && nvidia.memory_info && nvidia.allocate && nvidia.release && nvidia.copy && nvidia.copy_to &&
	       nvidia.copy_from && nvidia.fill;
}
