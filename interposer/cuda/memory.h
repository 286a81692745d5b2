/* memory: what an address is. */
#ifndef GPUSIM_INTERPOSER_CUDA_MEMORY_H
#define GPUSIM_INTERPOSER_CUDA_MEMORY_H

#include "interposer/cuda/interposer.h"

enum address_kind { ADDRESS_PAGEABLE, ADDRESS_HOST, ADDRESS_DEVICE, ADDRESS_MANAGED };

/* *bytes, which may be NULL: how many follow in the same allocation; SIZE_MAX for pageable memory of the application. */
enum address_kind address_kind_of(const void *address, size_t *bytes);

/* An allocation of any kind. The flags of device memory are the number of its pool, or 0. */
int memory_allocate(void **out, size_t bytes, enum cuda_memory_kind kind, unsigned flags);
/* pools.c: so many bytes of a pool were freed. 0 is no pool. */
void pool_freed(unsigned number, size_t bytes);

/* arrays.c: where a position of an array is, with x in elements, as memory with a pitch. NULL: the array is not one of ours. */
struct cuda_array_record;
const struct cuda_array_record *array_of(const void *handle);
struct api_pitched array_memory(const struct cuda_array_record *a);
size_t array_element_bytes(const struct cuda_array_record *a);
/* The arrays that are the levels of a mipmap, and how many; 0: it is not one of ours. */
unsigned mipmap_levels(const void *handle, void *const **levels);
/* Elements have one, two or four channels of the same size. */
bool is_channel(const struct api_channel *c);
unsigned channels_of(const struct api_channel *c);
size_t channel_bytes(const struct api_channel *c); /* of an element */

#endif
