/* Names of C++ functions as people read them. */
#include "tests/tests.h"

#include "runtime/guest/support/names.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool reads(const char *name, const char *expected)
{
	char *text = readable_name(name);
	bool same = text && !strcmp(text, expected);
	if (!same)
		printf("%s: %s\n", name, text ? text : "NULL");
	free(text);
	return same;
}

static void names_of_functions_are_read(void)
{
	dlopen("libstdc++.so.6", RTLD_LAZY); /* programs in C++ have it */
	CU_ASSERT(reads("_Z4vaddPKfS0_Pfi", "vadd"));
	CU_ASSERT(reads("_Z4spanIiLi4EEvPKT_PS0_", "span<int, 4>"));
	CU_ASSERT(reads("_ZN2ns3addEPfi", "ns::add"));
	CU_ASSERT(reads("_ZN12_GLOBAL__N_13addEPfi", "(anonymous namespace)::add"));
	CU_ASSERT(reads("_ZN2ns5applyIFvifEEEvT_", "ns::apply<void (int, float)>"));
	CU_ASSERT(reads("_ZN4main4histB2v8B6cw51cXEi", "main::hist"));
}

static void other_names_stay(void)
{
	CU_ASSERT(reads("vadd", "vadd"));
	CU_ASSERT(reads("_Zwhat", "_Zwhat"));
	CU_ASSERT(reads("", ""));
}

void add_names_tests(void)
{
	CU_pSuite s = CU_add_suite("names", NULL, NULL);
	CU_add_test(s, "names of functions are read", names_of_functions_are_read);
	CU_add_test(s, "other names stay", other_names_stay);
}
