/* Which twins may run in place of their kernels. */
#include "tests/tests.h"

#include "runtime/config/cache.h"
#include "runtime/model/proof.h"

#include <string.h>

static struct artifact artifact; /* without a key: nothing goes into a cache */
static struct gs_options options;
static bool relaxed;

/* The way of the next launch of `k` with this local size. If it is verified, `verdict` is the outcome. */
static enum twin_way launch(struct artifact_kernel *k, size_t local, size_t offset, enum verdict verdict)
{
	const struct launch_record l = {.artifact = &artifact, .facts = k, .global = {1024, 1, 1}, .local = {local, 1, 1}};
	struct proof *p = proof_of(&l, offset != 0, false);
	CU_ASSERT_PTR_NOT_NULL_FATAL(p);
	enum twin_way way = proof_way(&options, p, relaxed, k);
	if (way == WAY_VERIFY)
		proof_end(p, verdict, 0);
	return way;
}

static void use(unsigned long option)
{
	options.twin.number = option;
	relaxed = false;
}

static void the_first_launch_is_verified(void)
{
	struct artifact_kernel k = {.name = "k"};
	use(TWINS_AUTO);
	CU_ASSERT_EQUAL(launch(&k, 64, 0, VERDICT_SAME), WAY_VERIFY);
	CU_ASSERT_EQUAL(launch(&k, 64, 0, VERDICT_SAME), WAY_DIRECT);
	CU_ASSERT_EQUAL(launch(&k, 32, 0, VERDICT_PENDING), WAY_VERIFY); /* another compile */
	CU_ASSERT_EQUAL(launch(&k, 32, 0, VERDICT_SAME), WAY_SHADOW);    /* no verdict yet */
	CU_ASSERT_EQUAL(launch(&k, 64, 8, VERDICT_SAME), WAY_VERIFY);    /* an offset makes another compile, too */
	CU_ASSERT_EQUAL(launch(&k, 64, 0, VERDICT_SAME), WAY_DIRECT);
	proofs_free(&k);
}

static void a_twin_that_differs_stays_in_the_shadow(void)
{
	struct artifact_kernel k = {.name = "k"};
	use(TWINS_AUTO);
	CU_ASSERT_EQUAL(launch(&k, 64, 0, VERDICT_DIFFERS), WAY_VERIFY);
	CU_ASSERT_EQUAL(launch(&k, 64, 0, VERDICT_SAME), WAY_SHADOW);
	CU_ASSERT_EQUAL(launch(&k, 32, 0, VERDICT_RACY), WAY_VERIFY);
	CU_ASSERT_EQUAL(launch(&k, 32, 0, VERDICT_SAME), WAY_SHADOW);
	CU_ASSERT_EQUAL(launch(&k, 16, 0, VERDICT_NONE), WAY_VERIFY); /* the results could not be compared */
	CU_ASSERT_EQUAL(launch(&k, 16, 0, VERDICT_SAME), WAY_VERIFY);
	proofs_free(&k);
}

static void kernels_at_risk_stay_in_the_shadow(void)
{
	static const unsigned hazards[] = {HAZARD_BARRIERS, HAZARD_PRINTS, HAZARD_VARIABLES};
	use(TWINS_AUTO);
	for (size_t i = 0; i < GS_ARRAY_LEN(hazards); i++) {
		struct artifact_kernel k = {.name = "k", .hazards = hazards[i]};
		CU_ASSERT_EQUAL(launch(&k, 64, 0, VERDICT_SAME), WAY_VERIFY); /* the report must say whether its counts are right */
		CU_ASSERT_EQUAL(launch(&k, 64, 0, VERDICT_SAME), WAY_SHADOW);
		proofs_free(&k);
	}
	struct artifact_kernel rounds = {.name = "k", .hazards = HAZARD_ROUNDING}, plain = {.name = "k"};
	CU_ASSERT_EQUAL(launch(&rounds, 64, 0, VERDICT_SAME), WAY_SHADOW); /* different bits prove nothing */
	relaxed = true;
	CU_ASSERT_EQUAL(launch(&plain, 64, 0, VERDICT_SAME), WAY_SHADOW);
	proofs_free(&rounds);
	proofs_free(&plain);
}

static void options_choose_the_way(void)
{
	struct artifact_kernel k = {.name = "k", .hazards = HAZARD_BARRIERS};
	use(TWINS_DIRECT);
	CU_ASSERT_EQUAL(launch(&k, 64, 0, VERDICT_SAME), WAY_DIRECT);
	use(TWINS_SHADOW);
	CU_ASSERT_EQUAL(launch(&k, 64, 0, VERDICT_SAME), WAY_SHADOW);
	use(TWINS_VERIFY);
	CU_ASSERT_EQUAL(launch(&k, 64, 0, VERDICT_DIFFERS), WAY_VERIFY);
	CU_ASSERT_EQUAL(launch(&k, 64, 0, VERDICT_SAME), WAY_VERIFY);
	use(TWINS_AUTO); /* one equal launch does not outweigh one that differed */
	CU_ASSERT_EQUAL(launch(&k, 64, 0, VERDICT_SAME), WAY_SHADOW);
	proofs_free(&k);
}

/* The way of the first launch in a process, and of the twin that traces. If it is verified, `verdict` is the outcome. */
static enum twin_way first_launch(struct artifact *a, bool traced, enum verdict verdict, uint64_t took_ns)
{
	struct artifact_kernel k = {.name = "k"};
	const struct launch_record l = {.artifact = a, .facts = &k, .global = {1024, 1, 1}, .local = {64, 1, 1}};
	struct proof *p = proof_of(&l, false, traced);
	enum twin_way way = proof_way(&options, p, false, &k);
	CU_ASSERT_EQUAL(proof_is_long(p), way == WAY_DIRECT);
	if (way == WAY_VERIFY)
		proof_end(p, verdict, took_ns);
	CU_ASSERT_EQUAL(proof_is_long(p), way == WAY_DIRECT || (way == WAY_VERIFY && verdict == VERDICT_SAME && took_ns > 1000000000));
	proofs_free(&k);
	return way;
}

static void later_processes_know_what_took_long(void)
{
	struct artifact a = {.key = "0123456789abcdef0123456789abcdef"};
	const uint64_t ms = 1000000;
	use(TWINS_AUTO);
	cache_setup(test_folder(), 1 << 20);
	CU_ASSERT_EQUAL(first_launch(&a, false, VERDICT_SAME, 300 * ms), WAY_VERIFY);
	CU_ASSERT_EQUAL(first_launch(&a, false, VERDICT_RACY, 1500 * ms), WAY_VERIFY); /* a short one is verified again */
	CU_ASSERT_EQUAL(first_launch(&a, false, VERDICT_SAME, 1500 * ms), WAY_VERIFY);
	CU_ASSERT_EQUAL(first_launch(&a, false, VERDICT_SAME, 0), WAY_DIRECT);
	CU_ASSERT_EQUAL(first_launch(&a, true, VERDICT_DIFFERS, 300 * ms), WAY_VERIFY); /* the other text */
	CU_ASSERT_EQUAL(first_launch(&a, true, VERDICT_SAME, 0), WAY_SHADOW);
	a.key[0] = '9'; /* another driver, or another source */
	CU_ASSERT_EQUAL(first_launch(&a, false, VERDICT_NONE, 1500 * ms), WAY_VERIFY);
	CU_ASSERT_EQUAL(first_launch(&a, false, VERDICT_NONE, 0), WAY_VERIFY);
	cache_setup("", 0);
}

/* 0.1 s and 100 million instructions: either alone may be a compile, or a launch that is over soon. */
static void what_took_rather_long_is_remembered_with_its_work(void)
{
	static const struct { uint64_t took_ms; double instructions; enum verdict verdict; enum twin_way next; } cases[] = {
		{99, 1e9, VERDICT_SAME, WAY_VERIFY}, {900, 9e7, VERDICT_SAME, WAY_VERIFY}, {200, 2e8, VERDICT_RACY, WAY_VERIFY},
		{200, 2e8, VERDICT_DIFFERS, WAY_SHADOW}, {100, 1e8, VERDICT_SAME, WAY_DIRECT},
	};
	use(TWINS_AUTO);
	cache_setup(test_folder(), 1 << 20);
	for (size_t i = 0; i < GS_ARRAY_LEN(cases); i++) {
		struct artifact a = {.key = "0123456789abcdef0123456789abcdee"};
		a.key[0] = (char)('a' + i);
		struct artifact_kernel k = {.name = "k"};
		const struct launch_record l = {.artifact = &a, .facts = &k, .global = {1024, 1, 1}, .local = {64, 1, 1}};
		struct proof *p = proof_of(&l, false, false);
		CU_ASSERT_EQUAL(proof_way(&options, p, false, &k), WAY_VERIFY);
		proof_end(p, cases[i].verdict, cases[i].took_ms * 1000000);
		proof_worked(p, cases[i].instructions);
		CU_ASSERT(!proof_is_long(p)); /* in this process, nothing changes */
		proofs_free(&k);
		k.proofs = NULL;
		CU_ASSERT_EQUAL(proof_way(&options, proof_of(&l, false, false), false, &k), cases[i].next);
		proofs_free(&k);
	}
	cache_setup("", 0);
}

void add_proof_tests(void)
{
	CU_pSuite s = CU_add_suite("proofs of twins", NULL, NULL);
	CU_add_test(s, "the first launch of each compile is verified", the_first_launch_is_verified);
	CU_add_test(s, "a twin that differs stays in the shadow", a_twin_that_differs_stays_in_the_shadow);
	CU_add_test(s, "kernels at risk stay in the shadow", kernels_at_risk_stay_in_the_shadow);
	CU_add_test(s, "options choose the way", options_choose_the_way);
	CU_add_test(s, "later processes know what took long", later_processes_know_what_took_long);
	CU_add_test(s, "what took rather long is remembered with its work", what_took_rather_long_is_remembered_with_its_work);
}
