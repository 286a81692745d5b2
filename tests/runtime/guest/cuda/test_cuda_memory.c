/* Allocations, copies and fills of CUDA programs. */
#include "tests/tests.h"

#include "runtime/format/fatbin.h"
#include "runtime/guest/cuda/copies.h"
#include "runtime/guest/cuda/memory.h"
#include "runtime/guest/cuda/modules.h"
#include "runtime/guest/cuda/scratch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void allocations_are_found_by_any_of_their_addresses(void)
{
	void *a, *b;
	struct cuda_allocation found;
	CU_ASSERT_FATAL(!cuda_allocate(1000, CUDA_DEVICE_MEMORY, 7, &a, NULL) && !cuda_allocate(24, CUDA_HOST_MEMORY, 0, &b, NULL));
	CU_ASSERT_EQUAL((uintptr_t)a % 512, 0);
	CU_ASSERT_EQUAL((uintptr_t)b % 512, 0);
	CU_ASSERT_FATAL(cuda_find_allocation((char *)a + 999, &found));
	CU_ASSERT_PTR_EQUAL(found.address, a);
	CU_ASSERT_EQUAL(found.bytes, 1000);
	CU_ASSERT_EQUAL(found.kind, CUDA_DEVICE_MEMORY);
	CU_ASSERT_EQUAL(found.flags, 7);
	CU_ASSERT(!cuda_find_allocation((char *)a + 1000, &found));
	CU_ASSERT(!cuda_find_allocation((char *)a - 1, &found) || found.address != a);
	CU_ASSERT_FATAL(cuda_find_allocation(b, &found));
	CU_ASSERT_EQUAL(found.kind, CUDA_HOST_MEMORY);
	CU_ASSERT_EQUAL(memory_release((char *)a + 8, NULL), -EINVAL);
	CU_ASSERT_EQUAL(memory_release(a, NULL), 0);
	CU_ASSERT_EQUAL(memory_release(a, NULL), -EINVAL);
	CU_ASSERT(!cuda_find_allocation(a, &found));
	CU_ASSERT_EQUAL(memory_release(b, NULL), 0);
}

/* In an order in which the table has to insert in its middle. */
static void many_allocations_are_kept_in_order(void)
{
	enum { COUNT = 500 };
	static char area[COUNT * 16];
	struct cuda_allocation found;
	for (int i = 0; i < COUNT; i++)
		CU_ASSERT_FATAL(!cuda_register(area + (i * 7 % COUNT) * 16, 12, (unsigned)(i * 7 % COUNT), NULL));
	for (int i = 0; i < COUNT; i++) {
		CU_ASSERT(cuda_find_allocation(area + i * 16 + 11, &found) && found.flags == (unsigned)i && found.kind == CUDA_REGISTERED_MEMORY);
		CU_ASSERT(!cuda_find_allocation(area + i * 16 + 12, &found));
	}
	CU_ASSERT_EQUAL(cuda_register(area + 8, 16, 0, NULL), -EEXIST);
	for (int i = 0; i < COUNT; i++)
		CU_ASSERT_EQUAL(memory_release(area + i * 16, NULL), 0);
	CU_ASSERT(!cuda_find_allocation(area, &found));
}

static void device_memory_has_a_bound(void)
{
	void *a, *b, *c;
	size_t free_bytes, total;
	memory_bound(4096);
	CU_ASSERT_FATAL(!cuda_allocate(3000, CUDA_DEVICE_MEMORY, 0, &a, NULL));
	cuda_memory_info(&free_bytes, &total);
	CU_ASSERT_EQUAL(free_bytes, 1096);
	CU_ASSERT_EQUAL(total, 4096);
	CU_ASSERT_EQUAL(cuda_allocate(1097, CUDA_MANAGED_MEMORY, 0, &b, NULL), -ENOMEM);
	CU_ASSERT_PTR_NULL(b);
	CU_ASSERT_EQUAL(cuda_allocate(1096, CUDA_MANAGED_MEMORY, 0, &b, NULL), 0);
	CU_ASSERT_EQUAL(cuda_allocate(100000, CUDA_HOST_MEMORY, 0, &c, NULL), 0); /* no device memory */
	CU_ASSERT(!memory_release(a, NULL) && !memory_release(b, NULL) && !memory_release(c, NULL));
	cuda_memory_info(&free_bytes, &total);
	CU_ASSERT_EQUAL(free_bytes, 4096);
	memory_bound(SIZE_MAX);
}

static void nothing_is_allocated_for_no_bytes(void)
{
	void *a = &a;
	CU_ASSERT_EQUAL(cuda_allocate(0, CUDA_DEVICE_MEMORY, 0, &a, NULL), 0);
	CU_ASSERT_PTR_NULL(a);
	CU_ASSERT_EQUAL(cuda_allocate(SIZE_MAX - 3, CUDA_DEVICE_MEMORY, 0, &a, NULL), -ENOMEM);
}

/* A GPU has pages of 2 MiB: kernels may access a little before and after, and nothing else changes. */
static void there_is_memory_around_allocations(void)
{
	enum { MARGIN = 2 << 20 };
	static const size_t sizes[] = {3 << 20, 200000, 100, 4};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		char *a, *b;
		size_t bytes = sizes[i];
		CU_ASSERT_FATAL(!cuda_allocate(bytes, CUDA_DEVICE_MEMORY, 0, (void **)&a, NULL));
		CU_ASSERT_FATAL(!cuda_allocate(bytes, CUDA_DEVICE_MEMORY, 0, (void **)&b, NULL));
		CU_ASSERT_EQUAL((uintptr_t)a % 512, 0);
		CU_ASSERT_EQUAL((uintptr_t)b % 512, 0);
		memset(b, 2, bytes);
		memset(a - MARGIN, 1, bytes + 2 * MARGIN);
		CU_ASSERT(b[0] == 2 && b[bytes - 1] == 2);
		struct cuda_allocation found;
		CU_ASSERT(!cuda_find_allocation(a + bytes, &found) && !cuda_find_allocation(a - 1, &found));
		CU_ASSERT_EQUAL(memory_release(a, NULL), 0);
		CU_ASSERT_EQUAL(memory_release(b, NULL), 0);
	}
}

/* Two slices of two rows of three bytes. */
static void copies_have_three_dimensions(void)
{
	const char from[] = "abc.def.....ghi.jkl";
	char to[24];
	struct cuda_copy c = {.to = to, .from = from, .width = 3, .height = 2, .depth = 2, .to_pitch = 5, .to_slice = 12, .from_pitch = 4, .from_slice = 12};
	memset(to, '-', sizeof to);
	copy_execute(&c);
	CU_ASSERT(!memcmp(to, "abc--def----ghi--jkl----", sizeof to));
	CU_ASSERT_EQUAL(copy_bytes(&c), 12);
	void *staged;
	CU_ASSERT_FATAL(copy_stage(&c, &staged));
	CU_ASSERT(!memcmp(staged, "abcdefghijkl", 12));
	memset(to, '-', sizeof to);
	copy_execute(&c);
	CU_ASSERT(!memcmp(to, "abc--def----ghi--jkl----", sizeof to));
	free(staged);
}

static void rows_that_touch_may_overlap(void)
{
	char text[] = "0123456789";
	copy_execute(&(struct cuda_copy){.to = text + 2, .from = text, .width = 4, .height = 2, .depth = 1, .to_pitch = 4, .from_pitch = 4});
	CU_ASSERT_STRING_EQUAL(text, "0101234567");
}

static void fills_have_units_of_one_two_and_four_bytes(void)
{
	unsigned char to[16] = {0};
	struct cuda_copy shape = {.to = to, .width = 4, .height = 2, .depth = 1, .to_pitch = 8};
	fill_execute(&shape, 0x1ff, 1);
	CU_ASSERT(!memcmp(to, "\xff\xff\xff\xff\0\0\0\0\xff\xff\xff\xff\0\0\0\0", 16));
	fill_execute(&shape, 0x10203, 2);
	CU_ASSERT(!memcmp(to, "\x03\x02\x03\x02\0\0\0\0\x03\x02\x03\x02\0\0\0\0", 16));
	fill_execute(&shape, 0x01020304, 4);
	CU_ASSERT(!memcmp(to + 8, "\x04\x03\x02\x01\0\0\0\0", 8));
}

static void scratch_is_used_again(void)
{
	struct scratch *a = scratch_take(3, 1000);
	CU_ASSERT_PTR_NOT_NULL_FATAL(a);
	CU_ASSERT_EQUAL(a->slot_bytes, 1024);
	a->flags[2] = 1; /* as after a fault */
	scratch_give_back(a);
	struct scratch *b = scratch_take(2, 512), *c = scratch_take(2, 512);
	CU_ASSERT_PTR_EQUAL(b, a);
	CU_ASSERT_PTR_NOT_EQUAL(c, a);
	CU_ASSERT_EQUAL(b->flags[2], 0);
	memset(b->memory, 1, b->slots * b->slot_bytes);
	scratch_give_back(b);
	scratch_give_back(c);
}

static void images_say_how_long_they_are(void)
{
	static const unsigned char fat[24] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 8};
	CU_ASSERT_EQUAL(image_bytes(fat), 24);
	CU_ASSERT_EQUAL(image_bytes(".version 8.0\n"), 13);
	CU_ASSERT_EQUAL(image_bytes("\x01\x02\x03\x04"), 0);
}

/* A container of one image: a header of 16 bytes, then one of 64, whose first two bytes are the kind. */
static void images_say_whether_they_have_ptx(void)
{
	unsigned char fat[16 + 16 + 64] = {0x50, 0xed, 0x55, 0xba, 0x53, 0x47, 16, 0, 80}, *only = fat + 16;
	const unsigned char header[16] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 64};
	memcpy(only, header, sizeof header);
	only[16] = FATBIN_ELF;
	only[20] = 64;
	CU_ASSERT_FALSE(image_has_ptx(only, 80));
	CU_ASSERT_FALSE(image_has_ptx(fat, 96)); /* containers in a row */
	only[16] = FATBIN_PTX;
	CU_ASSERT_TRUE(image_has_ptx(only, 80));
	CU_ASSERT_TRUE(image_has_ptx(fat, 96));
	only[16] = FATBIN_ELF;
	only[24] = 1; /* its data would be beyond the end: gpusim-cc says what is wrong with it */
	CU_ASSERT_TRUE(image_has_ptx(only, 80));
	CU_ASSERT_TRUE(image_has_ptx(".version 8.0\n", 13));
	CU_ASSERT_FALSE(image_has_ptx("\177ELF, and so on ...", 20));
}

void add_cuda_memory_tests(void)
{
	CU_pSuite s = CU_add_suite("cuda_memory", NULL, NULL);
	CU_add_test(s, "allocations are found by any of their addresses", allocations_are_found_by_any_of_their_addresses);
	CU_add_test(s, "many allocations are kept in order", many_allocations_are_kept_in_order);
	CU_add_test(s, "device memory has a bound", device_memory_has_a_bound);
	CU_add_test(s, "nothing is allocated for no bytes, and too many are refused", nothing_is_allocated_for_no_bytes);
	CU_add_test(s, "there is memory around large allocations", there_is_memory_around_allocations);
	CU_add_test(s, "copies have three dimensions", copies_have_three_dimensions);
	CU_add_test(s, "rows that touch may overlap", rows_that_touch_may_overlap);
	CU_add_test(s, "fills have units of one, two and four bytes", fills_have_units_of_one_two_and_four_bytes);
	CU_add_test(s, "scratch is used again", scratch_is_used_again);
	CU_add_test(s, "images say how long they are", images_say_how_long_they_are);
	CU_add_test(s, "images say whether they have PTX", images_say_whether_they_have_ptx);
}
