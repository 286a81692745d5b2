/* Our side of layout.c: our names and CUDA's for error numbers do not go into one file. */
#include "interposer/cuda/types.h"

const size_t our_offsets[] = {
#define LAYOUT(ours, member, theirs, their_member) offsetof(ours, member),
#include "tests/cuda/api/layout.def"
#undef LAYOUT
	sizeof(struct api_launch_attribute_entry),
};
