/* Links between GPUs: files, paths and times. Times are computed by hand, in ns. */
#include "tests/tests.h"

#include "runtime/timeline/topology.h"

#include <string.h>

static const struct gpu gpu = {.link_gbps = 25, .link_latency_ns = 8000, .peer_gbps = 200, .peer_latency_ns = 2000};

static double time_of(const struct topology *t, uint32_t from, uint32_t to, uint64_t bytes)
{
	return topology_time_ns(t, &gpu, (struct peer_ends){from, to}, 1, bytes);
}

static void a_copy_takes_the_shortest_path(void)
{
	struct topology t;
	struct gs_error err;
	/* A ring of four. From 0 to 2 there are two paths of two links; that over 3 has the faster slowest link. */
	CU_ASSERT_EQUAL_FATAL(topology_parse(&t, "0 1 50 700\n1 2 10 100\n2 3 20 300\n3 0 40 500", 4, &err), 0);
	CU_ASSERT_DOUBLE_EQUAL(time_of(&t, 0, 1, 1000), 1000 / 50.0 + 700, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(time_of(&t, 1, 0, 1000), 1000 / 50.0 + 700, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(time_of(&t, 0, 2, 1000), 1000 / 20.0 + 800, 1e-9);
	/* One slow link is shorter than three fast ones. */
	CU_ASSERT_DOUBLE_EQUAL(time_of(&t, 1, 2, 1000), 1000 / 10.0 + 100, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(time_of(&t, 0, 2, 0), 0, 1e-9);
	/* Without a file all pairs are alike. */
	CU_ASSERT_DOUBLE_EQUAL(time_of(NULL, 0, 2, 1000), 1000 / 200.0 + 2000, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(topology_time_ns(&t, &gpu, (struct peer_ends){0, 2}, 3, 3000), 3000 / 20.0 + 3 * 800, 1e-9);
}

static void groups_have_the_links_of_the_description(void)
{
	struct topology t;
	struct gs_error err;
	struct gpu without = gpu;
	/* Two pairs with NVLink in one tree of PCIe, where each pair has a link. */
	CU_ASSERT_EQUAL_FATAL(topology_parse(&t, "pcie 0 1 2 3\nnvlink 0 1\n  nvlink 2 3 # the other pair\n", 4, &err), 0);
	CU_ASSERT_DOUBLE_EQUAL(time_of(&t, 0, 1, 1000), 1000 / 200.0 + 2000, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(time_of(&t, 1, 2, 1000), 1000 / 25.0 + 8000, 1e-9);
	without.peer_gbps = 0;
	CU_ASSERT_DOUBLE_EQUAL(topology_time_ns(&t, &without, (struct peer_ends){0, 1}, 1, 1000), 1000 / 25.0 + 8000, 1e-9);
}

static void bad_files_are_told(void)
{
	static const struct {
		const char *text, *line;
	} cases[] = {
		{"0 1 50 700\n0 4 50 700", "2: there is no GPU 4: the program has 3, from 0 on"},
		{"0 1 50 700\n1 0 50 700", "2: GPUs 1 and 0 have that link already"},
		{"nvlink 0 1 2\nnvlink 1 2", "2: GPUs 1 and 2 have that link already"},
		{"nvlink 1 1", "1: a link from GPU 1 to itself"},
		{"1 1 50 700", "1: a link from GPU 1 to itself"},
		{"pcie 1", "1: a group has at least two GPUs"},
		{"pcie 0 one", "1: 'one' is not the number of a GPU"},
		{"-1 1 50 700", "1: '-1' is not the number of a GPU"},
		{"0 1 50", "1: expected 'GPU GPU GBPS LATENCY_NS', 'nvlink GPU GPU ...' or 'pcie GPU GPU ...'"},
		{"0 1 0 700", "1: '0' is no bandwidth in GB/s above 0"},
		{"0 1 nan 700", "1: 'nan' is no bandwidth in GB/s above 0"},
		{"0 1 50 -7", "1: '-7' is no latency in ns"},
		{"0 1 50 700\n", "2: the file ends, and no links lead from GPU 0 to GPU 2"},
		{"", "1: the file ends, and no links lead from GPU 0 to GPU 1"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct topology t;
		struct gs_error err = {""};
		CU_ASSERT_NOT_EQUAL(topology_parse(&t, cases[i].text, 3, &err), 0);
		CU_ASSERT_STRING_EQUAL(err.text, cases[i].line);
		CU_ASSERT_EQUAL(t.count, 0);
	}
}

void add_topology_tests(void)
{
	CU_pSuite s = CU_add_suite("topology", NULL, NULL);
	CU_ADD_TEST(s, a_copy_takes_the_shortest_path);
	CU_ADD_TEST(s, groups_have_the_links_of_the_description);
	CU_ADD_TEST(s, bad_files_are_told);
}
