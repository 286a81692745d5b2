/* Structs and numbers against CUDA's own header (of CUDA 13), where there is one. */
#include "interposer/cuda/device/properties.h"

#include <driver_types.h>
#include <stddef.h>
#include <stdio.h>
#include <texture_types.h>
#include <vector_types.h>

extern const size_t our_offsets[];

static const struct {
	const char *name;
	size_t offset;
} their_offsets[] = {
#define LAYOUT(ours, member, theirs, their_member) {#theirs " " #their_member, offsetof(theirs, their_member)},
#include "tests/cuda/api/layout.def"
#undef LAYOUT
	{"size of cudaLaunchAttribute", sizeof(cudaLaunchAttribute)},
};

/* Members that CUDA 13 has. */
#define LAST_99(first, name) {#name, offsetof(struct cudaDeviceProp, name)},
#define LAST_12(first, name)
static const struct {
	const char *name;
	size_t offset;
} properties[] = {
#define PROPERTY(type, name, first, last, ...) LAST_##last(first, name)
#include "interposer/cuda/device/properties.def"
#undef PROPERTY
};

/* Those of our error numbers that CUDA 13 has: all but the last. */
static const struct {
	const char *name;
	int theirs, ours;
} errors[] = {
#define ERROR(number, name, text) {#name, name, number},
#include "interposer/cuda/errors.def"
#undef ERROR
};

static int compare(const char *name, long ours, long theirs)
{
	if (ours == theirs)
		return 0;
	printf("%s: %ld here, %ld in CUDA\n", name, ours, theirs);
	return 1;
}

int main(void)
{
	int wrong = 0;
	for (size_t i = 0; i < sizeof their_offsets / sizeof *their_offsets; i++)
		wrong += compare(their_offsets[i].name, (long)our_offsets[i], (long)their_offsets[i].offset);
	for (size_t i = 0; i < sizeof properties / sizeof *properties; i++)
		wrong += compare(properties[i].name, properties_offset(properties[i].name, 13), (long)properties[i].offset);
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		wrong += compare(errors[i].name, errors[i].ours, errors[i].theirs);
	return wrong != 0;
}
