/* Which pages the processor used between commands of the GPU. Where the system does not tell, nothing is known, and there is nothing to test. */
#include "tests/tests.h"

#include "runtime/guest/support/pages.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 64 };

/* PAGES of memory between two that are others. */
static char *memory_new(void)
{
	char *all = mmap(NULL, (PAGES + 2) * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CU_ASSERT_FATAL(all != MAP_FAILED);
	mprotect(all, PAGE, PROT_NONE);
	mprotect(all + (PAGES + 1) * PAGE, PAGE, PROT_NONE);
	pages_made(all + PAGE, PAGES * PAGE, all + PAGE, all + (PAGES + 1) * PAGE);
	return all + PAGE;
}

static void memory_free(char *memory)
{
	pages_gone(memory);
	munmap(memory - PAGE, (PAGES + 2) * PAGE);
}

static void touch(char *memory, int first, int count)
{
	for (int i = first; i < first + count; i++)
		((volatile char *)memory)[i * PAGE]++;
}

/* A launch that uses the memory: these pages. */
static bool launch(char *memory, int first, int count, struct argument_pages *out)
{
	*out = (struct argument_pages){0};
	pages_before_command();
	bool known = pages_found(memory, out);
	touch(memory, first, count);
	pages_grown(memory, out);
	pages_after_command();
	return known;
}

static void pages_of_the_processor_and_of_nobody(void)
{
	struct argument_pages p;
	char *memory = memory_new();
	touch(memory, 0, 5);
	if (launch(memory, 0, 8, &p)) {
		CU_ASSERT_EQUAL(p.touched, 5 * PAGE);
		CU_ASSERT_EQUAL(p.untouched, 3 * PAGE);
		CU_ASSERT(launch(memory, 0, 8, &p));
		CU_ASSERT_EQUAL(p.touched, 0); /* what the launch before used is not the processor's */
		CU_ASSERT_EQUAL(p.untouched, 0);
		touch(memory, 7, 4);
		CU_ASSERT(launch(memory, 0, 8, &p));
		CU_ASSERT_EQUAL(p.touched, 4 * PAGE);
	}
	memory_free(memory);
}

static void pages_that_are_used_while_another_launch_runs(void)
{
	struct argument_pages p;
	char *one = memory_new(), *other = memory_new();
	if (launch(one, 0, 1, &p)) {
		pages_before_command();
		CU_ASSERT(pages_found(one, &p));
		touch(other, 0, 3);
		pages_after_command();
		CU_ASSERT(launch(other, 0, 3, &p));
		CU_ASSERT_EQUAL(p.touched, 3 * PAGE);
	}
	memory_free(one);
	memory_free(other);
}

static void pages_that_are_brought(void)
{
	struct argument_pages p;
	char *memory = memory_new();
	touch(memory, 0, 5);
	pages_before_command();
	pages_brought(memory, PAGES * PAGE, true);
	pages_after_command();
	if (launch(memory, 0, 10, &p)) {
		CU_ASSERT_EQUAL(p.touched, 0);
		CU_ASSERT_EQUAL(p.untouched, 0);
		pages_before_command();
		pages_brought(memory, 4 * PAGE, false);
		pages_after_command();
		CU_ASSERT(launch(memory, 0, 10, &p));
		CU_ASSERT_EQUAL(p.touched, 4 * PAGE);
	}
	memory_free(memory);
}

static void other_memory_is_not_known(void)
{
	struct argument_pages p = {0};
	int local = 0;
	CU_ASSERT(!launch((char *)&local, 0, 0, &p));
	CU_ASSERT_EQUAL(p.known, 0);
}

/* Of 64 pages, two may have been accessed by a processor that speculates. */
static void two_pages_of_many_are_none(void)
{
	struct argument_pages p;
	char *memory = memory_new();
	if (launch(memory, 0, 8, &p)) {
		touch(memory, 3, 2);
		CU_ASSERT(launch(memory, 0, 8, &p));
		CU_ASSERT_EQUAL(p.touched, 0);
		touch(memory, 3, 3);
		CU_ASSERT(launch(memory, 0, 8, &p));
		CU_ASSERT_EQUAL(p.touched, 3 * PAGE);
	}
	memory_free(memory);
}

void add_pages_tests(void)
{
	CU_pSuite s = CU_add_suite("pages", NULL, NULL);
	if (sysconf(_SC_PAGESIZE) != PAGE)
		return;
	CU_add_test(s, "pages of the processor and of nobody", pages_of_the_processor_and_of_nobody);
	CU_add_test(s, "pages that are used while another launch runs", pages_that_are_used_while_another_launch_runs);
	CU_add_test(s, "pages that are brought", pages_that_are_brought);
	CU_add_test(s, "two pages of many are none", two_pages_of_many_are_none);
	CU_add_test(s, "other memory is not known", other_memory_is_not_known);
}
