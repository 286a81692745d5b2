/*
 * run - lifts a PTX file, builds it with POCL, and runs one of its kernels.
 *
 *   run FILE.ptx                          lists the kernels, and why some cannot be lifted
 *   run FILE.ptx --text [--traced]        prints the OpenCL C, in the form that counts or that traces
 *   run FILE.ptx KERNEL --grid X[,Y,Z] --block X[,Y,Z] [--shared BYTES] [--repeat N] [--show N] [--counts] --args ARGUMENT...
 *
 * Arguments are those of kernels/cases.h: f:N:rand, i:N:fill:V, I:V, F:V and so on. L:B is an offset in dynamic shared memory. D:V is a
 * double, U:V a 64-bit integer. Buffers are printed after the run: a checksum, and with --show their first N elements.
 */
#include "tests/lift/runner.h"

#include "kernels/cases.h"

struct options {
	const char *file, *kernel;
	size_t grid[3], block[3];
	uint64_t shared;
	long repeat, show;
	bool counts, text, traced;
	char **arguments;
};

static void read_options(struct options *o, int argc, char **argv)
{
	*o = (struct options){.file = argc > 1 ? argv[1] : NULL, .repeat = 1};
	for (int i = 2; i < argc; i++) {
		bool more = i + 1 < argc;
		if (!strcmp(argv[i], "--text"))
			o->text = true;
		else if (!strcmp(argv[i], "--traced"))
			o->traced = true;
		else if (!strcmp(argv[i], "--counts"))
			o->counts = true;
		else if (!strcmp(argv[i], "--grid") && more)
			parse_range(argv[++i], o->grid);
		else if (!strcmp(argv[i], "--block") && more)
			parse_range(argv[++i], o->block);
		else if (!strcmp(argv[i], "--shared") && more)
			o->shared = strtoul(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--repeat") && more)
			o->repeat = strtol(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--show") && more)
			o->show = strtol(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--args")) {
			o->arguments = argv + i + 1;
			break;
		} else
			o->kernel = argv[i];
	}
	if (!o->file)
		fail("usage: run FILE.ptx [KERNEL --grid X --block X --args ...]", "run", 0);
}

struct value {
	char kind;
	uint64_t bits;
	size_t bytes;
	void *data;
};

static struct value read_value(const char *text, struct options *o)
{
	char *copy = strdup(text);
	struct value v = {.kind = *text};
	if (*text == 'L') {
		uint64_t bytes = strtoul(text + 2, NULL, 0);
		v.bits = o->shared;
		o->shared += (bytes + 15) / 16 * 16;
	} else if (*text == 'D') {
		double d = strtod(text + 2, NULL);
		memcpy(&v.bits, &d, 8);
	} else if (*text == 'U') {
		v.bits = strtoull(text + 2, NULL, 0);
	} else {
		struct arg a = {0};
		parse_arg(&a, copy);
		if (a.kind == 'F')
			memcpy(&v.bits, &a.f, 4);
		else
			v.bits = a.init ? (uint64_t)a.init : (uint32_t)a.i;
		v.data = a.init;
		v.bytes = a.size_bytes;
	}
	free(copy);
	return v;
}

static void show(const struct value *v, int number, long elements)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < v->bytes / 4; i++)
		sum = sum * 31 + ((uint32_t *)v->data)[i];
	printf("argument %d: %016llx", number, (unsigned long long)sum);
	for (long i = 0; i < elements && (size_t)i * (v->kind == 'd' ? 8 : 4) < v->bytes; i++)
		if (v->kind == 'f')
			printf(" %g", ((float *)v->data)[i]);
		else if (v->kind == 'd')
			printf(" %g", ((double *)v->data)[i]);
		else
			printf(" %d", ((int32_t *)v->data)[i]);
	printf("\n");
}

static void list_kernels(const struct lifted *l)
{
	for (uint32_t k = 0; k < l->kernel_count; k++) {
		const struct lift_kernel *own = &l->kernels[k];
		printf("%s: %s; parameters %u, shared %u, local %u, warp %u bytes, %u counters%s%s%s\n", own->name,
		       *own->refused.text ? own->refused.text : "lifted", own->sizes.parameter_bytes, own->sizes.shared_bytes,
		       own->sizes.local_bytes, own->sizes.warp_bytes, own->column_count, own->barriers ? ", barriers" : "",
		       own->waits ? ", waits" : "", own->prints ? ", prints" : "");
	}
}

static void print_counts(const struct lifted *l, const struct lift_run *run)
{
	for (uint32_t r = 0; r < l->row_count; r++)
		if (l->rows[r].block >= 0)
			printf("%s block %d: %llu\n", l->module->functions[l->rows[r].function].name, l->rows[r].block,
			       (unsigned long long)run->rows[r]);
}

static int run_kernel(struct lift_runner *runner, struct options *o)
{
	struct value values[MAX_ARGS] = {{0}};
	const void *arguments[MAX_ARGS];
	struct lift_run run = {.kernel = o->kernel, .arguments = arguments};
	struct gs_error err = {""};
	random_state = 0;
	for (char **a = o->arguments; a && *a && run.argument_count < MAX_ARGS; a++) {
		values[run.argument_count] = read_value(*a, o);
		arguments[run.argument_count] = &values[run.argument_count].bits;
		run.argument_count++;
	}
	for (int d = 0; d < 3; d++) {
		run.grid[d] = o->grid[d];
		run.block[d] = o->block[d];
	}
	run.dynamic_shared = o->shared;
	for (long i = 0; i < o->repeat; i++) {
		runner_run_free(&run);
		if (runner_run(runner, &run, &err))
			fail(err.text, o->kernel, 0);
		printf("%.3f ms\n", 1e3 * run.seconds);
	}
	if (run.fault.kind)
		printf("fault %u, line %u, group %llu\n", run.fault.kind, run.fault.line, (unsigned long long)run.fault.group);
	for (uint32_t i = 0; i < run.argument_count; i++)
		if (values[i].data)
			show(&values[i], (int)i, o->show);
	if (o->counts)
		print_counts(runner_lifted(runner), &run);
	runner_run_free(&run);
	return run.fault.kind != 0;
}

int main(int argc, char **argv)
{
	struct options o;
	struct lift_runner *runner = NULL;
	struct gs_error err = {""};
	struct gs_buf ptx = {0};
	read_options(&o, argc, argv);
	if (gs_read_file(o.file, &ptx, &err) || runner_create(ptx.data, ptx.len, o.traced ? LIFT_TRACING : LIFT_COUNTING, &runner, &err))
		fail(err.text, o.file, 0);
	if (o.text)
		puts(runner_text(runner));
	int result = 0;
	if (!o.kernel)
		list_kernels(runner_lifted(runner));
	else
		result = run_kernel(runner, &o);
	runner_free(runner);
	gs_buf_free(&ptx);
	return result;
}
