/* The parts of the guest's side that need no driver: the handle table, programs run apart, results read in. */
#include "tests.h"

#include "runtime/guest/state.h"
#include "runtime/guest/table.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct runtime_state runtime; /* in the library it is start.c's */

/* ---- table ---- */

static void table_keeps_what_a_plain_array_keeps(void)
{
	enum { KEYS = 300, STEPS = 20000 };
	struct table t = {0};
	void *model[KEYS] = {0};
	static char keys[KEYS * 16], values[KEYS];
	unsigned random = 1;
	for (int i = 0; i < STEPS; i++) {
		random = random * 1664525u + 1013904223u;
		unsigned k = (random >> 8) % KEYS;
		void *before = model[k];
		model[k] = random >> 31 ? &values[k] : NULL;
		CU_ASSERT_PTR_EQUAL(model[k] ? table_put(&t, &keys[k * 16], model[k]) : table_remove(&t, &keys[k * 16]), before);
	}
	size_t count = 0;
	for (int k = 0; k < KEYS; k++) {
		CU_ASSERT_PTR_EQUAL(table_get(&t, &keys[k * 16]), model[k]);
		count += model[k] != NULL;
	}
	CU_ASSERT_EQUAL(t.count, count);
	free(t.slots);
}

/* ---- spawn ---- */

static volatile sig_atomic_t children_heard_of;

static void on_child(int sig)
{
	(void)sig;
	children_heard_of++;
}

static int run_shell(const char *script, unsigned timeout_s, struct gs_buf *said, struct gs_error *err)
{
	char *const argv[] = {"/bin/sh", "-c", (char *)(uintptr_t)script, NULL};
	char *const environment[] = {"GREETING=hello", NULL};
	return run_apart("/bin/sh", argv, environment, timeout_s, said, err);
}

static void program_runs_apart_from_us(void)
{
	struct gs_buf said = {0};
	struct sigaction before, counting = {.sa_handler = on_child};
	sigaction(SIGCHLD, &counting, &before);
	CU_ASSERT_EQUAL(run_shell("echo $GREETING >&2; echo unseen; ls /proc/self/fd | wc -l >&2", 10, &said, NULL), 0);
	/* 0, 1, 2 and the folder that ls reads */
	CU_ASSERT_STRING_EQUAL(said.data, "hello\n4\n");
	CU_ASSERT_EQUAL(waitpid(-1, NULL, WNOHANG), -1);
	CU_ASSERT_EQUAL(errno, ECHILD);
	CU_ASSERT_EQUAL(children_heard_of, 0);
	sigaction(SIGCHLD, &before, NULL);
	gs_buf_free(&said);
}

static void slow_program_is_stopped_with_its_children(void)
{
	struct gs_buf said = {0};
	struct gs_error err;
	uint64_t begin = clock_ns();
	CU_ASSERT_EQUAL(run_shell("sleep 30 & echo $! >&2; wait", 1, &said, &err), -ETIMEDOUT);
	CU_ASSERT(clock_ns() - begin < UINT64_C(5000000000));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "longer than 1 s"));
	pid_t child = (pid_t)atoi(said.data ? said.data : "0");
	CU_ASSERT(child > 1);
	for (int i = 0; i < 100 && !kill(child, 0); i++)
		usleep(20000);
	CU_ASSERT_NOT_EQUAL(kill(child, 0), 0);
	gs_buf_free(&said);
}

static void missing_program_is_told(void)
{
	struct gs_buf said = {0};
	struct gs_error err;
	char *const argv[] = {"/no/such/program", NULL};
	CU_ASSERT_EQUAL(run_apart(argv[0], argv, argv + 1, 1, &said, &err), -ENOENT);
	CU_ASSERT_STRING_EQUAL(err.text, "cannot start /no/such/program: No such file or directory");
	gs_buf_free(&said);
}

/* ---- artifact ---- */

static void read_targets(void)
{
	strcpy(runtime.archs[0], "sm_20");
	strcpy(runtime.archs[1], "sm_90");
	runtime.arch_count = 2;
}

static void result_is_read(void)
{
	struct gs_pack p = {0};
	struct artifact *a = NULL;
	struct gs_error err = {""};
	read_targets();
	gs_pack_puts(&p, "host", "text");
	gs_pack_puts(&p, "host-options", "-w");
	gs_pack_puts(&p, "kernels", "f 2\ng 0\n");
	gs_pack_puts(&p, "blocks", "0 0 helper entry 1 1 a b.cl\n1 0 g entry 5 1 a b.cl\n2 0 f entry 9 1 a b.cl\n");
	gs_pack_puts(&p, "target", "sm_90\nkernel f instructions=17 shared_bytes=64 registers=0\n");
	gs_pack_puts(&p, "target", "sm_20\nfailure no such thing\n");
	CU_ASSERT_EQUAL_FATAL(artifact_read(&a, &p, &err), 0);
	CU_ASSERT_EQUAL(a->block_count, 3);
	struct artifact_kernel *f = artifact_kernel(a, "f"), *g = artifact_kernel(a, "g");
	CU_ASSERT_EQUAL(f->arguments, 2);
	CU_ASSERT_EQUAL(f->entry_block, 2);
	CU_ASSERT_EQUAL(g->entry_block, 1);
	CU_ASSERT_EQUAL(f->code[1].instructions, 17);
	CU_ASSERT_EQUAL(f->code[1].shared_bytes, 64);
	CU_ASSERT_PTR_NULL(f->failure[1]);
	CU_ASSERT_STRING_EQUAL(f->failure[0], "no such thing");
	CU_ASSERT_STRING_EQUAL(g->failure[1], "no code for the target");
	CU_ASSERT_PTR_NULL(artifact_kernel(a, "helper"));
	artifact_release(a);
	gs_pack_free(&p);
}

static int read_counting(const char *columns, const char *details, struct artifact **a)
{
	struct gs_pack p = {0};
	gs_pack_puts(&p, "host", "text");
	gs_pack_puts(&p, "host-options", "-w");
	gs_pack_puts(&p, "kernels", "f 2\ng 0\n");
	gs_pack_puts(&p, "layout", "item");
	gs_pack_puts(&p, "columns", columns);
	gs_pack_puts(&p, "blocks", "0 0 f entry 1 1 a\n1 0 f then 5 1 a\n2 0 f else 9 1 a\n");
	gs_pack_puts(&p, "block-details", details);
	int result = artifact_read(a, &p, NULL);
	gs_pack_free(&p);
	return result;
}

static void layout_columns_and_formulas_are_read(void)
{
	struct artifact *a = NULL;
	CU_ASSERT_EQUAL_FATAL(read_counting("f 1 1 2\ng 0\n", "0 1 1 -1 0\n1 1 1 -1 0\n2 1 1 3 0 +1*0 -2*1\n", &a), 0);
	CU_ASSERT(a->counts_by_item);
	/* Two columns, the first of which is a flag. */
	CU_ASSERT_EQUAL_FATAL(artifact_kernel(a, "f")->column_count, 2);
	CU_ASSERT_EQUAL(artifact_kernel(a, "f")->columns[0], 1);
	CU_ASSERT_EQUAL(artifact_kernel(a, "f")->flag_count, 1);
	CU_ASSERT_EQUAL(artifact_kernel(a, "f")->words, 2);
	CU_ASSERT_EQUAL(artifact_kernel(a, "g")->column_count, 0);
	CU_ASSERT_EQUAL_FATAL(a->term_count, 2);
	CU_ASSERT(a->terms[1].block == 2 && a->terms[1].of == 1 && a->terms[1].factor == -2);
	artifact_release(a);
	CU_ASSERT_EQUAL_FATAL(read_counting("f sums 1 2\n", "", &a), 0);
	CU_ASSERT(artifact_kernel(a, "f")->summed);
	CU_ASSERT_EQUAL(artifact_kernel(a, "f")->column_count, 2);
	CU_ASSERT_EQUAL(artifact_kernel(a, "f")->words, 0);
	artifact_release(a);
	/* A column of a block that there is not; more flags than columns; a formula that refers to itself. */
	CU_ASSERT(read_counting("f 0 1 3\n", "", &a) < 0);
	CU_ASSERT(read_counting("f 2 1\n", "", &a) < 0);
	CU_ASSERT(read_counting("f 0 1\n", "1 1 1 -1 0 +1*1\n", &a) < 0);
}

static void failure_becomes_the_reason(void)
{
	struct gs_pack p = {0};
	struct artifact *a = NULL;
	struct gs_error err;
	gs_pack_puts(&p, "failure", "annotate: program.cl:3:1: a construct");
	CU_ASSERT(artifact_read(&a, &p, &err) < 0);
	CU_ASSERT_STRING_EQUAL(err.text, "annotate: program.cl:3:1: a construct");
	gs_pack_free(&p);
}

static void nonsense_is_refused(void)
{
	static const char *const blocks[] = {"1 0 f entry 1 1 x\n", "x\n", "0 0 f\n"};
	for (size_t i = 0; i < GS_ARRAY_LEN(blocks); i++) {
		struct gs_pack p = {0};
		struct artifact *a = NULL;
		struct gs_error err;
		gs_pack_puts(&p, "host", "");
		gs_pack_puts(&p, "host-options", "");
		gs_pack_puts(&p, "kernels", "f 1\n");
		gs_pack_puts(&p, "blocks", blocks[i]);
		CU_ASSERT(artifact_read(&a, &p, &err) < 0);
		gs_pack_free(&p);
	}
}

void add_guest_tests(void)
{
	CU_pSuite s = CU_add_suite("guest", NULL, NULL);
	CU_add_test(s, "the table keeps what a plain array keeps", table_keeps_what_a_plain_array_keeps);
	CU_add_test(s, "a program runs apart: no SIGCHLD, no child, no descriptors", program_runs_apart_from_us);
	CU_add_test(s, "a slow program is stopped with its children", slow_program_is_stopped_with_its_children);
	CU_add_test(s, "a missing program is told", missing_program_is_told);
	CU_add_test(s, "a result of gpusim-cc is read", result_is_read);
	CU_add_test(s, "a result of gpusim-cc is read", layout_columns_and_formulas_are_read);
	CU_add_test(s, "a failure of gpusim-cc becomes the reason", failure_becomes_the_reason);
	CU_add_test(s, "a result that makes no sense is refused", nonsense_is_refused);
}
