/* What reports say about accuracy. */
#include "tests/tests.h"

#include "runtime/config/accuracy.h"

#include <stdio.h>
#include <string.h>

struct said {
	char text[4000];
	unsigned count;
};

static void hear(const char *text, void *data)
{
	struct said *s = data;
	snprintf(s->text + strlen(s->text), sizeof s->text - strlen(s->text), "%s\n", text);
	s->count++;
}

static void sentences_are_about_the_targets(void)
{
	const struct accuracy_target measured = {"gtx480", "hierarchy"}, two[] = {{"gtx480", "perfect"}, {"480", "perfect"}};
	struct said s = {.count = 0}, t = {.count = 0};
	accuracy_tell(&measured, 1, hear, &s);
	CU_ASSERT_EQUAL(s.count, 1);
	CU_ASSERT_EQUAL(strncmp(s.text, "gtx480: With the memory hierarchy, cycles are within ", 53), 0);
	/* One GPU is measured. The name of the other is a part of its name, but it is not measured. Perfect memory leaves out caches. */
	accuracy_tell(two, 2, hear, &t);
	CU_ASSERT_PTR_NOT_NULL(strstr(t.text, "gtx480: With perfect memory"));
	CU_ASSERT_PTR_NULL(strstr(t.text, "gtx480, 480:"));
	CU_ASSERT_PTR_NOT_NULL(strstr(t.text, "\nCaches and DRAM are left out"));
	CU_ASSERT_PTR_NOT_NULL(strstr(t.text, "\n480: not validated"));
	CU_ASSERT_PTR_NULL(strstr(t.text, "gtx480: not validated"));
}

void add_accuracy_tests(void)
{
	CU_pSuite s = CU_add_suite("accuracy", NULL, NULL);
	CU_add_test(s, "sentences name the targets that they are about", sentences_are_about_the_targets);
}
