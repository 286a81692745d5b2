/*
 * shapes - programs in the shapes that are hard to model at a bounded cost: long loops, few or uneven work-items, hundreds of
 * launches whose size changes.
 *
 *   shapes [-k kernel directory] [-c] [-t] NAME [small|medium|long [LENGTH]]
 *   shapes -l [PATTERN]
 *
 * Prints one line: name, size, launches, checksum. The line is the same on every device: kernels use integers, or floating point
 * whose every operation is rounded correctly. LENGTH replaces the trips of the longest loop, or the number of steps.
 * -c: compare the result with that of C. -t: two more numbers, the device's time of all launches and the host's time from the
 * first launch to the last result, in ns. -l: list the shapes.
 */
#include "kernels/shapes/shapes.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* small: modelled in a moment, even in full. long: a CPU runs it for a second or more. */
static const struct shape {
	const char *name;
	void (*run)(struct shape_size size);
	struct shape_size sizes[3];
	const char *length; /* what LENGTH means; "": it is not used */
} shapes[] = {
	{"rows", run_rows, {{512, 256}, {2048, 4096}, {4096, 16384}}, "columns"},
	{"columns", run_columns, {{512, 256}, {2048, 4096}, {4096, 8192}}, "rows"},
	{"transposed", run_transposed, {{512, 256}, {2048, 4096}, {4096, 8192}}, "columns"},
	{"forward", run_forward, {{128, 1000}, {1024, 10000}, {6144, 10000}}, "launches"},
	{"triangle", run_triangle, {{512, 64}, {1024, 240}, {4096, 512}}, "rows"},
	{"lu", run_lu, {{64, 1000}, {384, 10000}, {1024, 10000}}, "columns"},
	{"gramschmidt", run_gramschmidt, {{32, 64}, {128, 512}, {256, 1024}}, "rows"},
	{"tiles", run_tiles, {{128, 64}, {512, 128}, {768, 256}}, "rows"},
	{"correlation", run_correlation, {{512, 8}, {512, 96}, {512, 512}}, "samples"},
	{"series", run_series, {{512, 1000}, {512, 100000}, {512, 1500000}}, "trips"},
	{"mixed", run_mixed, {{8192, 1024}, {65536, 16384}, {262144, 65536}}, "trips"},
	{"phases", run_phases, {{512, 1024}, {4096, 16384}, {16384, 65536}}, "trips"},
	{"histogram", run_histogram, {{4096, 8}, {16384, 64}, {65536, 768}}, "words"},
	{"histogram_local", run_histogram_local, {{4096, 8}, {16384, 64}, {65536, 768}}, "words"},
	{"reduce", run_reduce, {{16384, 2}, {262144, 10}, {4194304, 250}}, "rounds"},
	{"scan", run_scan, {{16384, 2}, {262144, 10}, {4194304, 20}}, "rounds"},
	{"bitonic", run_bitonic, {{4096, 1}, {65536, 1}, {1048576, 1}}, ""},
	{"heat2d", run_heat2d, {{128, 10}, {512, 100}, {2048, 250}}, "steps"},
	{"heat3d", run_heat3d, {{32, 10}, {64, 100}, {128, 300}}, "steps"},
	{"wavefront", run_wavefront, {{64, 1}, {512, 1}, {4096, 1}}, ""},
	{"paths", run_paths, {{64, 1000}, {256, 1000}, {768, 10000}}, "nodes"},
	{"mandelbrot", run_mandelbrot, {{128, 64}, {512, 1000}, {512, 4000}}, "iterations"},
	{"bfs", run_bfs, {{4096, 1000}, {65536, 1000}, {2097152, 1000}}, "levels"},
	{"sssp", run_sssp, {{2048, 1000}, {65536, 1000}, {524288, 1000}}, "rounds"},
	{"pagerank", run_pagerank, {{4096, 5}, {65536, 50}, {1048576, 50}}, "rounds"},
	{"spmv", run_spmv, {{4096, 1024}, {65536, 16384}, {262144, 131072}}, "values"},
	{"gather", run_gather, {{4096, 64}, {8192, 4096}, {16384, 16384}}, "loads"},
	{"chase", run_chase, {{512, 128}, {512, 4000}, {512, 20000}}, "loads"},
	{"nbody", run_nbody, {{512, 512}, {2048, 4096}, {8192, 16384}}, "bodies"},
	{"nbody_tiled", run_nbody_tiled, {{512, 512}, {2048, 4096}, {8192, 16384}}, "bodies"},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };
static const char *const size_names[3] = {"small", "medium", "long"};

bool checking;
static unsigned long checksum;
static int wrong;

cl_kernel shape_kernel(const char *file, const char *name)
{
	static cl_program program; /* all kernels of a shape are in one file */
	if (!program)
		program = build(file, "-cl-fp32-correctly-rounded-divide-sqrt");
	return kernel(program, name);
}

void conclude(cl_mem result, size_t bytes, const void *expected)
{
	void *got = allocate(bytes, 1);
	get(result, bytes, got);
	checksum = sum_of(got, bytes);
	for (size_t i = 0; expected && i < bytes / 4 && !wrong; i++)
		if (memcmp((char *)got + 4 * i, (const char *)expected + 4 * i, 4)) {
			fprintf(stderr, "shapes: word %zu is not what C gives\n", i);
			wrong = 1;
		}
	free(got);
}

static int usage(void)
{
	fprintf(stderr, "usage: shapes [-k kernel directory] [-c] [-t] NAME [small|medium|long [LENGTH]]\n       shapes -l [PATTERN]\n");
	return 2;
}

static int list(const char *pattern)
{
	for (int i = 0; i < SHAPES; i++)
		if (!fnmatch(pattern, shapes[i].name, 0))
			printf("%s %s\n", shapes[i].name, *shapes[i].length ? shapes[i].length : "-");
	return 0;
}

static int run(const struct shape *shape, int size, int length)
{
	struct shape_size s = shape->sizes[size];
	if (length > 0 && *shape->length)
		s.length = length;
	shape->run(s);
	printf("%s %s %lu %08lx", shape->name, size_names[size], launches, checksum);
	return wrong;
}

int main(int argc, char **argv)
{
	const char *kernel_dir = "kernels/shapes";
	bool timed = false, listing = false;
	int option, size = 0;
	while ((option = getopt(argc, argv, "k:ctl")) != -1) {
		if (option == 'k')
			kernel_dir = optarg;
		else if (option == 'c')
			checking = true;
		else if (option == 't')
			timed = true;
		else if (option == 'l')
			listing = true;
		else
			return usage();
	}
	if (listing)
		return list(optind < argc ? argv[optind] : "*");
	argv += optind, argc -= optind;
	while (argc > 1 && size < 3 && strcmp(argv[1], size_names[size]))
		size++;
	for (int i = 0; i < SHAPES && argc > 0 && size < 3; i++) {
		if (strcmp(argv[0], shapes[i].name))
			continue;
		open_device(kernel_dir, timed);
		int code = run(&shapes[i], size, argc > 2 ? atoi(argv[2]) : 0);
		if (timed)
			printf(" %llu %llu", kernels_ns, launched_ns);
		putchar('\n');
		return code;
	}
	return usage();
}
