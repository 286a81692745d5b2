/* The parts of the guest that need no driver: the handle table, child programs, reading results. */
#include "tests/tests.h"

#include "runtime/format/counters.h"
#include "runtime/guest/support/table.h"
#include "runtime/model/profile.h"
#include "runtime/model/simulation.h"
#include "runtime/process/spawn.h"
#include "runtime/process/thread.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct simulation simulation = SIMULATION_INIT;

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

/* ---- threads ---- */

static atomic_bool working;

static void *work_then_sleep(void *unused)
{
	while (working)
		;
	pause();
	return unused;
}

/* On a busy machine, the thread may be runnable without running. This counts as work, too. */
static void thread_that_runs_is_at_work(void)
{
	pthread_t thread;
	bool rested = false;
	CU_ASSERT_FALSE(others_at_work());
	working = true;
	CU_ASSERT_EQUAL_FATAL(start_thread(&thread, work_then_sleep, NULL), 0);
	CU_ASSERT_TRUE(others_at_work());
	working = false;
	for (int i = 0; i < 10000 && !rested; i++) {
		usleep(1000);
		rested = !others_at_work();
	}
	CU_ASSERT_TRUE(rested);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
}

static void *wait_for_child(void *child)
{
	waitpid(*(pid_t *)child, NULL, 0);
	return NULL;
}

/* A driver that has started a linker waits for it. We wait, too. */
static void thread_that_waits_for_a_child_is_at_work(void)
{
	pthread_t thread;
	bool at_work = false;
	pid_t child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	CU_ASSERT_EQUAL_FATAL(start_thread(&thread, wait_for_child, &child), 0);
	for (int i = 0; i < 100; i++) {
		usleep(1000);
		at_work = others_at_work();
	}
	CU_ASSERT_TRUE(at_work);
	kill(child, SIGKILL);
	pthread_join(thread, NULL);
}

/* ---- spawn ---- */

/* Under ThreadSanitizer, programs are ordinary children without a session of their own (runtime/process/spawn.c). */
#ifdef __SANITIZE_THREAD__
enum { STARTS_PROGRAMS_APART = false };
#else
enum { STARTS_PROGRAMS_APART = true };
#endif

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

static pid_t start_spinning(void)
{
	pid_t child = fork();
	while (child == 0)
		;
	return child;
}

/* The program works for a fifth of a second, beside eight others on the same processor. It takes more than a second of the
 * clock, and less of its own processor time. */
static void program_that_may_not_run_has_longer(void)
{
	enum { OTHERS = 8 };
	pid_t others[OTHERS];
	cpu_set_t before, one;
	struct gs_buf said = {0};
	struct gs_error err = {""};
	sched_getaffinity(0, sizeof before, &before);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof one, &one);
	for (int i = 0; i < OTHERS; i++)
		others[i] = start_spinning();
	CU_ASSERT_EQUAL(run_shell("i=0; while [ $i -lt 120000 ]; do i=$((i+1)); done", 1, &said, &err), 0);
	sched_setaffinity(0, sizeof before, &before);
	for (int i = 0; i < OTHERS; i++) {
		kill(others[i], SIGKILL);
		waitpid(others[i], NULL, 0);
	}
	gs_buf_free(&said);
}

static void program_that_runs_for_ever_is_stopped(void)
{
	struct gs_buf said = {0};
	struct gs_error err;
	CU_ASSERT_EQUAL(run_shell("while :; do :; done", 1, &said, &err), -ETIMEDOUT);
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
	strcpy(simulation.archs[0], "sm_20");
	strcpy(simulation.archs[1], "sm_90");
	simulation.arch_count = 2;
}

/* The section of a kernel with one instruction. */
static void add_code(struct gs_pack *p, const char *head, uint32_t counters)
{
	struct code_instruction instruction = {.class = CODE_branch, .flags = CODE_EXIT, .address = -1, .site = -1};
	struct code_block block = {.count = 1, .edge_count = 1, .call = -1, .join = -1, .loop = -1};
	struct code_edge edge = {.to = -1, .taken = 1, .denominator = 1};
	uint32_t function = 0;
	char nothing[1] = "";
	struct kernel_code code = {
		.registers = 17, .shared_bytes = 64, .counter_count = counters, .code = &instruction, .code_count = 1,
		.blocks = &block, .block_count = 1, .edges = &edge, .edge_count = 1, .functions = &function,
		.function_count = 1, .strings = nothing, .string_bytes = 1,
	};
	struct gs_buf text = {0};
	gs_buf_puts(&text, head);
	code_write(&code, &text);
	gs_pack_add(p, "code", text.data, text.len);
	gs_buf_free(&text);
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
	gs_pack_puts(&p, "arguments", "f value global\ng\n");
	gs_pack_puts(&p, "safety", "f\ng\n");
	gs_pack_puts(&p, "blocks", "0 0 helper entry 1 1 a b.cl\n1 0 g entry 5 1 a b.cl\n2 0 f entry 9 1 a b.cl\n");
	gs_pack_puts(&p, "target", "sm_90\nkernel f instructions=1\nkernel g failure too odd\n"
	                           "library f sin (f32)\nlibrary f ?other\nlibrary none exp (f32)\n");
	gs_pack_puts(&p, "target", "sm_20\nfailure no such thing\n");
	add_code(&p, "sm_90 f\n", 3);
	add_code(&p, "sm_20 g\n", 2); /* from another source */
	CU_ASSERT_EQUAL_FATAL(artifact_read(&simulation, &a, &p, &err), 0);
	CU_ASSERT_EQUAL(a->block_count, 3);
	CU_ASSERT_STRING_EQUAL(a->blocks[2].file, "a b.cl");
	struct artifact_kernel *f = artifact_kernel(a, "f"), *g = artifact_kernel(a, "g");
	CU_ASSERT_EQUAL(f->arguments, 2);
	CU_ASSERT_EQUAL(f->entry_block, 2);
	CU_ASSERT_EQUAL(g->entry_block, 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(f->code[1]);
	CU_ASSERT_EQUAL(f->code[1]->registers, 17);
	CU_ASSERT_EQUAL(f->code[1]->shared_bytes, 64);
	CU_ASSERT_PTR_NULL(f->failure[1]);
	CU_ASSERT_STRING_EQUAL(f->library[1], "sin (f32)\n?other\n");
	CU_ASSERT_PTR_NULL(f->library[0]);
	CU_ASSERT_STRING_EQUAL(f->failure[0], "no such thing");
	CU_ASSERT_STRING_EQUAL(g->failure[1], "too odd");
	CU_ASSERT_PTR_NULL(g->code[0]);
	CU_ASSERT_STRING_EQUAL(g->failure[0], "the code and the source do not belong together");
	CU_ASSERT_PTR_NULL(artifact_kernel(a, "helper"));
	artifact_release(a);
	gs_pack_free(&p);
}

/* The counting text, then macros, then the tracing text. */
static void texts_can_be_one_program(void)
{
	struct gs_pack p = {0};
	struct gs_buf text = {0};
	struct artifact *a = NULL;
	gs_pack_puts(&p, "host", "void f() {}");
	gs_pack_puts(&p, "host-options", "-w");
	gs_pack_puts(&p, "kernels", "f 0\n");
	gs_pack_puts(&p, "arguments", "f\n");
	gs_pack_puts(&p, "safety", "f\n");
	gs_pack_puts(&p, "blocks", "0 0 f entry 1 1 a\n");
	gs_pack_puts(&p, "traced", "void f() { g(); }\n");
	gs_pack_puts(&p, "renames", "f\ng\n");
	gs_pack_puts(&p, "sites", "");
	CU_ASSERT_EQUAL_FATAL(artifact_read(&simulation, &a, &p, NULL), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(a->renames);
	artifact_text_together(a, &text);
	CU_ASSERT_STRING_EQUAL(text.data, "void f() {}\n"
	                                  "#define f __gpusim_traced_f\n"
	                                  "#define g __gpusim_traced_g\n"
	                                  "void f() { g(); }\n");
	gs_buf_free(&text);
	artifact_release(a);
	gs_pack_free(&p);
}

/* Reads a result that is valid except for one section, which has `text` instead. */
static int read_with(const char *name, const char *text)
{
	static const char *const sections[][2] = {
		{"host", "text"}, {"host-options", "-w"}, {"kernels", "f 2\ng 0\n"}, {"layout", "item"}, {"columns", "f 1 1 2\n"},
		{"blocks", "0 0 f entry 1 1 a\n1 0 f then 5 1 a\n2 0 f else 9 1 a\n"}, {"block-details", "2 1 1 -1 - 1*0 -1*1\n"},
		{"safety", "f\ng\n"}, {"arguments", "f global value\ng\n"},
	};
	struct gs_pack p = {0};
	struct artifact *a = NULL;
	for (size_t i = 0; i < GS_ARRAY_LEN(sections); i++)
		gs_pack_puts(&p, sections[i][0], strcmp(sections[i][0], name) ? sections[i][1] : text);
	if (!strcmp(name, "more options"))
		gs_pack_puts(&p, "host-options", text);
	int result = artifact_read(&simulation, &a, &p, NULL);
	if (!result)
		artifact_release(a);
	gs_pack_free(&p);
	return result;
}

/* Each of these once made the reader free memory twice, leak, or keep an index that other code trusts. */
static void crafted_results_are_refused(void)
{
	CU_ASSERT_EQUAL(read_with("", ""), 0);
	CU_ASSERT_EQUAL(read_with("kernels", "f 2\ng\n"), -EBADMSG);
	CU_ASSERT_EQUAL(read_with("arguments", "f global\ng\n"), -EBADMSG);
	CU_ASSERT_EQUAL(read_with("arguments", "f global value\nf global value\n"), -EBADMSG);
	CU_ASSERT_EQUAL(read_with("safety", "f\n"), -EBADMSG);
	CU_ASSERT_EQUAL(read_with("kernels", "f 2\ng 0\nh 0\ni 0\nj 0\nk 0\nl 0\nm 0\nn\n"), -EBADMSG);
	CU_ASSERT_EQUAL(read_with("more options", "-w"), -EBADMSG);
	CU_ASSERT_EQUAL(read_with("blocks", "0 0 f entry 1 1 a\n1 1 f then 5 1 a\n2 0 f else 9 1 a\n"), -EBADMSG); /* no unit 1 */
	CU_ASSERT_EQUAL(read_with("columns", "f 0 1 2 0 1\n"), -EBADMSG); /* more columns than blocks */
	CU_ASSERT_EQUAL(read_with("block-details", "2 1 1 -1 - 1*2\n"), -EBADMSG);
}

static int read_counting(const char *columns, const char *details, struct artifact **a)
{
	struct gs_pack p = {0};
	gs_pack_puts(&p, "host", "text");
	gs_pack_puts(&p, "host-options", "-w");
	gs_pack_puts(&p, "kernels", "f 2\ng 0\n");
	gs_pack_puts(&p, "arguments", "f value global\ng\n");
	gs_pack_puts(&p, "safety", "f\ng\n");
	gs_pack_puts(&p, "layout", "item");
	gs_pack_puts(&p, "columns", columns);
	gs_pack_puts(&p, "blocks", "0 0 f entry 1 1 a\n1 0 f then 5 1 a\n2 0 f else 9 1 a\n");
	gs_pack_puts(&p, "block-details", details);
	int result = artifact_read(&simulation, a, &p, NULL);
	gs_pack_free(&p);
	return result;
}

static void layout_columns_and_formulas_are_read(void)
{
	struct artifact *a = NULL;
	CU_ASSERT_EQUAL_FATAL(read_counting("f 0 1\ng 0\n", "0 1 1 -1 -\n1 1 1 -1 -\n2 1 1 3 - +1*0 -2*1\n", &a), 0);
	CU_ASSERT(a->counts_by_item);
	CU_ASSERT_EQUAL_FATAL(artifact_kernel(a, "f")->column_count, 1);
	CU_ASSERT_EQUAL(artifact_kernel(a, "f")->columns[0], 1);
	CU_ASSERT_EQUAL(artifact_kernel(a, "g")->column_count, 0);
	CU_ASSERT_EQUAL_FATAL(a->term_count, 2);
	CU_ASSERT(a->terms[1].block == 2 && a->terms[1].of == 1 && a->terms[1].factor == -2);
	artifact_release(a);
	/* Of 11 trips, 1, 5 and 9 are 1 modulo 4, 4 and 8 are 0 modulo 4, and the fourth trip was reached. */
	CU_ASSERT_EQUAL_FATAL(read_counting("f 0 1 2=every:4:1:1\n", "", &a), 0);
	CU_ASSERT_EQUAL_FATAL(artifact_kernel(a, "f")->computed_count, 1);
	const struct computed_trips *t = artifact_kernel(a, "f")->computed;
	CU_ASSERT(t->block == 2 && t->every && t->word == 0 && artifact_kernel(a, "f")->words == 1);
	CU_ASSERT_EQUAL(counter_trips(t->every, t->factor, t->residue, 11), 3);
	CU_ASSERT_EQUAL(counter_trips(true, 4, 0, 11), 2);
	CU_ASSERT(counter_trips(false, 4, 0, 11) == 1 && counter_trips(false, 4, 0, 3) == 0);
	artifact_release(a);
	CU_ASSERT_NOT_EQUAL(read_counting("f 1 1 2=every:4:1:1\n", "", &a), 0);
	CU_ASSERT_NOT_EQUAL(read_counting("f 0 1 2=every:0:0:1\n", "", &a), 0);
	CU_ASSERT_NOT_EQUAL(read_counting("f 0 1 2=every:4:1:2\n", "", &a), 0);
	CU_ASSERT_EQUAL_FATAL(read_counting("f sums 1 2\n", "", &a), 0);
	CU_ASSERT(artifact_kernel(a, "f")->summed);
	CU_ASSERT_EQUAL(artifact_kernel(a, "f")->column_count, 2);
	CU_ASSERT_EQUAL(artifact_kernel(a, "f")->words, 0);
	artifact_release(a);
	/* A column of a block that does not exist. A formula that refers to itself. */
	CU_ASSERT(read_counting("f 0 1 3\n", "", &a) < 0);
	CU_ASSERT(read_counting("f 0 1\n", "1 1 1 -1 - +1*1\n", &a) < 0);
}

static int read_facts(const char *arguments, const char *safety, struct artifact **a)
{
	struct gs_pack p = {0};
	gs_pack_puts(&p, "host", "text");
	gs_pack_puts(&p, "host-options", "-w");
	gs_pack_puts(&p, "kernels", "f 3\ng 0\n");
	if (arguments)
		gs_pack_puts(&p, "arguments", arguments);
	if (safety)
		gs_pack_puts(&p, "safety", safety);
	gs_pack_puts(&p, "blocks", "0 0 f entry 1 1 a\n");
	int result = artifact_read(&simulation, a, &p, NULL);
	gs_pack_free(&p);
	return result;
}

static void hazards_and_kinds_of_arguments_are_read(void)
{
	static const char good[] = "f const local sampler\ng\n", *const bad_arguments[] = {
		"f const local\ng\n", "f const local sampler value\ng\n", "f const local thing\ng\n", "f const local sampler\n",
		"f const local sampler\ng\ng\n", "f const local sampler\ng\nh\n", "", NULL};
	static const char *const bad_safety[] = {"f barriers\n", "f\nf\ng\n", "f bad\ng\n", "f\ng\nh\n", "", NULL};
	struct artifact *a = NULL;
	CU_ASSERT_EQUAL_FATAL(read_facts(good, "f barriers rounds\ng\n", &a), 0);
	CU_ASSERT_EQUAL(artifact_kernel(a, "f")->hazards, HAZARD_BARRIERS | HAZARD_ROUNDING);
	CU_ASSERT_EQUAL(artifact_kernel(a, "g")->hazards, 0);
	const unsigned char *kinds = artifact_kernel(a, "f")->argument_kinds;
	CU_ASSERT(kinds[0] == ARGUMENT_CONST && kinds[1] == ARGUMENT_LOCAL && kinds[2] == ARGUMENT_SAMPLER);
	artifact_release(a);
	for (size_t i = 0; i < GS_ARRAY_LEN(bad_arguments); i++)
		CU_ASSERT(read_facts(bad_arguments[i], "f\ng\n", &a) < 0);
	for (size_t i = 0; i < GS_ARRAY_LEN(bad_safety); i++)
		CU_ASSERT(read_facts(good, bad_safety[i], &a) < 0);
}

/*
 * 5 work-items in groups of 3 and 2. The groups sum up block 1: it ran once in the first group, 5 times in the second. Block 2
 * ran twice per work-item, less the runs of block 1: 10 - 6. For a work-item, only the rounded average is known: 1/3 and 5/2, so
 * 0 and 3. 2 - 3 would be negative, which cannot be. The third work-item of the second group does not exist.
 */
static void a_work_item_of_a_group_that_sums_up_is_its_average(void)
{
	enum { SIZES = COUNTER_HEADER_WORDS, SUMS = SIZES + 2 + 1 };
	uint64_t words[SUMS + 2] = {[SUMS] = 1, [SUMS + 1] = 5};
	static const uint64_t expected[][3] = {{1, 0, 2}, {1, 3, 0}, {0, 0, 0}};
	static const uint32_t items[][2] = {{0, 2}, {1, 1}, {1, 2}};
	unsigned column = 1;
	uint64_t counts[3] = {0}, one[3];
	struct count_term terms[] = {{2, 0, 2}, {2, 1, -1}};
	struct artifact_kernel k = {.columns = &column, .column_count = 1, .summed = true};
	struct artifact a = {.block_count = 3, .counts_by_item = true, .terms = terms, .term_count = 2};
	struct launch_record l = {.artifact = &a, .facts = &k, .counters = words, .slots = 2, .global = {5, 1, 1}, .local = {3, 1, 1}};
	struct launch_result r = {.launch = &l, .counts = counts};
	words[SIZES] = 3 | 1 << COUNTER_SIZE_BITS | 1ull << 2 * COUNTER_SIZE_BITS;
	words[SIZES + 1] = words[SIZES] - 1;
	profile_fill(&r);
	CU_ASSERT(counts[0] == 5 && counts[1] == 6 && counts[2] == 4);
	CU_ASSERT_EQUAL(r.flags, 0);
	CU_ASSERT_EQUAL_FATAL(r.profile.lanes.columns, 2);
	for (size_t i = 0; i < GS_ARRAY_LEN(items); i++) {
		uint32_t row[2];
		r.profile.lanes.gather(r.profile.lanes.ctx, items[i][0], items[i][1], row);
		r.profile.lanes.expand(r.profile.lanes.ctx, row, one);
		CU_ASSERT_EQUAL(memcmp(one, expected[i], sizeof one), 0);
	}
	/* A counter that overflowed. */
	words[SUMS] |= COUNTER_FULL_SUM;
	memset(counts, 0, sizeof counts);
	profile_fill(&r);
	CU_ASSERT_EQUAL(r.flags, 1u << FLAG_counters_full);
}

/* 1,037 work-items, an odd number, and more than twice 255 pairs, after which the counters of flags are emptied. Flag 0 is that of
 * all, flag 1 of every third (346), flag 31 of the last, and flag 32, in the second word, of every second (519). */
static void flags_of_work_items_are_counted(void)
{
	enum { PLACES = 1037, SIZES = COUNTER_HEADER_WORDS, ITEMS = SIZES + 1 + 1, FLAGS = 33 };
	static uint64_t words[ITEMS + PLACES];
	static unsigned columns[FLAGS];
	uint64_t counts[FLAGS + 1] = {0};
	struct artifact_kernel k = {.columns = columns, .column_count = FLAGS, .flag_count = FLAGS, .words = 2, .entry_block = 0};
	struct artifact a = {.block_count = FLAGS + 1, .counts_by_item = true};
	struct launch_record l = {.artifact = &a, .facts = &k, .counters = words, .slots = 1, .places = PLACES, .global = {PLACES, 1, 1}, .local = {PLACES, 1, 1}};
	struct launch_result r = {.launch = &l, .counts = counts};
	uint32_t *items = (uint32_t *)(words + ITEMS);
	for (unsigned i = 0; i < FLAGS; i++)
		columns[i] = i + 1;
	for (uint32_t i = 0; i < PLACES; i++) {
		items[i] = 1u | (i % 3 == 0) << 1 | (uint32_t)(i == PLACES - 1) << 31;
		items[PLACES + i] = i % 2 == 0;
	}
	words[SIZES] = PLACES | 1 << COUNTER_SIZE_BITS | 1ull << 2 * COUNTER_SIZE_BITS;
	profile_fill(&r);
	CU_ASSERT_EQUAL(counts[1], 1037);
	CU_ASSERT_EQUAL(counts[2], 346);
	CU_ASSERT_EQUAL(counts[3], 0);
	CU_ASSERT_EQUAL(counts[32], 1);
	CU_ASSERT_EQUAL(counts[33], 519);
	/* 33 runs of up to 32 work-items: all have flags 0, 1 and 32 somewhere, the last has flag 31 as well. */
	CU_ASSERT_EQUAL(r.profile.together, 33 * 3 + 1);
	CU_ASSERT_EQUAL(r.profile.longest, 4);
}

/* 4 work-items with 11, 3, 4 and 0 trips. Trips 1 modulo 4: 3 + 1 + 1 + 0. 0 modulo 4: 2 + 0 + 1 + 0. 0 modulo 3: 3 + 1 + 1 + 0. Two come to the fourth. */
static void trips_follow_from_words_of_work_items(void)
{
	enum { PLACES = 4, SIZES = COUNTER_HEADER_WORDS, ITEMS = SIZES + 1 + 1 };
	static uint64_t words[ITEMS + PLACES];
	unsigned column = 1;
	uint64_t counts[6] = {0};
	struct computed_trips computed[] = {{.block = 2, .factor = 4, .residue = 1, .every = true}, {.block = 3, .factor = 4, .every = true},
	                                    {.block = 4, .factor = 3, .every = true}, {.block = 5, .factor = 4}};
	struct artifact_kernel k = {.columns = &column, .column_count = 1, .words = 1, .entry_block = 0, .computed = computed, .computed_count = 4};
	struct artifact a = {.block_count = 6, .counts_by_item = true};
	struct launch_record l = {.artifact = &a, .facts = &k, .counters = words, .slots = 1, .places = PLACES, .global = {PLACES, 1, 1}, .local = {PLACES, 1, 1}};
	struct launch_result r = {.launch = &l, .counts = counts};
	uint32_t *items = (uint32_t *)(words + ITEMS);
	items[0] = 11;
	items[1] = 3;
	items[2] = 4;
	words[SIZES] = PLACES | 1 << COUNTER_SIZE_BITS | 1ull << 2 * COUNTER_SIZE_BITS;
	profile_fill(&r);
	CU_ASSERT(counts[1] == 18 && counts[2] == 5 && counts[3] == 3 && counts[4] == 5 && counts[5] == 2);
}

/* 100 work-items, so runs of 32, 32, 32 and 4. One of the second run does 7, one of the third 5, all others 1; nobody does the
 * second counter but the last, 2 times. */
static void neighbours_are_measured_by_the_one_that_does_most(void)
{
	enum { PLACES = 100, SIZES = COUNTER_HEADER_WORDS, ITEMS = SIZES + 1 + 1 };
	static uint64_t words[ITEMS + PLACES];
	unsigned columns[2] = {1, 2};
	uint64_t counts[3] = {0};
	struct artifact_kernel k = {.columns = columns, .column_count = 2, .words = 2, .entry_block = 0};
	struct artifact a = {.block_count = 3, .counts_by_item = true};
	struct launch_record l = {.artifact = &a, .facts = &k, .counters = words, .slots = 1, .places = PLACES, .global = {PLACES, 1, 1}, .local = {PLACES, 1, 1}};
	struct launch_result r = {.launch = &l, .counts = counts};
	uint32_t *items = (uint32_t *)(words + ITEMS);
	for (uint32_t i = 0; i < PLACES; i++)
		items[i] = i == 40 ? 7 : i == 70 ? 5 : 1;
	items[PLACES + PLACES - 1] = 2;
	words[SIZES] = PLACES | 1 << COUNTER_SIZE_BITS | 1ull << 2 * COUNTER_SIZE_BITS;
	profile_fill(&r);
	CU_ASSERT_EQUAL(r.profile.together, 1 + 7 + 5 + 1 + 2);
	CU_ASSERT_EQUAL(r.profile.longest, 7);
}

/* 5 work-items, each of which is a group. There are slots for two of them and places for all. Block 1 ran 0 to 4 times. */
static void groups_without_a_slot_are_counted(void)
{
	enum { SIZES = COUNTER_HEADER_WORDS, ITEMS = SIZES + 2 + 1 };
	uint64_t words[ITEMS + 3] = {0}, counts[2] = {0};
	unsigned column = 1;
	struct artifact_kernel k = {.columns = &column, .column_count = 1, .words = 1};
	struct artifact a = {.block_count = 2, .counts_by_item = true};
	struct launch_record l = {.artifact = &a, .facts = &k, .counters = words, .slots = 2, .places = 5, .global = {5, 1, 1}, .local = {1, 1, 1}};
	struct launch_result r = {.launch = &l, .counts = counts};
	for (uint32_t i = 0; i < 5; i++)
		((uint32_t *)(words + ITEMS))[i] = i;
	words[SIZES] = words[SIZES + 1] = 1 | 1 << COUNTER_SIZE_BITS | 1ull << 2 * COUNTER_SIZE_BITS;
	profile_fill(&r);
	CU_ASSERT(counts[0] == 5 && counts[1] == 10);
	CU_ASSERT_EQUAL(r.flags, 0);
	/* A work-item with a slot did not run. */
	words[SIZES + 1] = 0;
	memset(counts, 0, sizeof counts);
	profile_fill(&r);
	CU_ASSERT_EQUAL(r.flags, 1u << FLAG_counts_disagree);
}

/* 3 words of 10 work-items are 15 words of 64 bits. If only 8 have a place: 12 words, and room for a group without places. */
static void groups_without_places_have_room_to_store(void)
{
	struct artifact_kernel k = {.words = 3};
	struct artifact a = {.counts_by_item = true};
	struct launch_record l = {.artifact = &a, .facts = &k, .slots = 2, .places = 10, .global = {5, 2, 1}};
	CU_ASSERT_EQUAL(launch_words(&l), COUNTER_HEADER_WORDS + 2 + 1 + 15);
	l.places = 8;
	CU_ASSERT_EQUAL(launch_words(&l), COUNTER_HEADER_WORDS + 2 + 1 + 12 + COUNTER_SPARE / 2);
	k.words = 0;
	CU_ASSERT_EQUAL(launch_words(&l), COUNTER_HEADER_WORDS + 2 + 1);
}

/* 2 groups of 20 work-items with 3 words of 32 bits each. In 100 words of 64 bits, 98 are left for places: 65 of them, and all 40 have one. In 20
 * words, 18 are left: 12 places. 50 groups have slots in half of 20 words, and 10 are left: 6 places. */
static void places_have_what_slots_leave(void)
{
	struct artifact_kernel k = {.words = 3};
	struct artifact a = {.counts_by_item = true};
	struct launch_record l = {.artifact = &a, .facts = &k};
	launch_share_room(&l, 2, 40, 100);
	CU_ASSERT(l.slots == 2 && l.places == 40);
	launch_share_room(&l, 2, 40, 20);
	CU_ASSERT(l.slots == 2 && l.places == 12);
	launch_share_room(&l, 50, 40, 20);
	CU_ASSERT(l.slots == 10 && l.places == 6);
	launch_share_room(&l, 50, 40, 1);
	CU_ASSERT(l.slots == 1 && l.places == 1);
}

/*
 * 2 x 3 x 5 groups of one work-item, of which `places` have counters: their number. With 14 or 18 places, 2 or 3 planes of 6 have some. Group 23 is
 * the last of plane 3, and so is group 11 of plane 1; planes 1 and 2 take turns, and plane 3 is like 1. Group 29 is the last of the last plane, a
 * border, as is group 5 of the first one. With 7 places, 3 rows of 2 have some: group 23 is in column 1 of row 11, and rows 1 and 2 take turns, so
 * that 11 is like 1; group 29 is in the last row, and like group 1.
 */
static void groups_without_places_are_like_those_at_the_same_place(void)
{
	enum { ITEMS = COUNTER_HEADER_WORDS + 1 + 1, MOST = 18 };
	static const uint32_t places[] = {14, 18, 7}, expected[][2] = {{11, 5}, {11, 5}, {3, 1}};
	for (size_t n = 0; n < GS_ARRAY_LEN(places); n++) {
		uint64_t words[ITEMS + MOST / 2 + COUNTER_SPARE / 2] = {0}, counts[2] = {0};
		unsigned column = 1;
		struct artifact_kernel k = {.columns = &column, .column_count = 1, .words = 1, .entry_block = -1};
		struct artifact a = {.block_count = 2, .counts_by_item = true};
		struct launch_record l = {.artifact = &a, .facts = &k, .counters = words, .slots = 1, .places = places[n], .global = {2, 3, 5}, .local = {1, 1, 1}};
		struct launch_result r = {.launch = &l, .counts = counts};
		uint32_t row[2];
		for (uint32_t i = 0; i < places[n]; i++)
			((uint32_t *)(words + ITEMS))[i] = i;
		profile_fill(&r);
		CU_ASSERT(r.flags >> FLAG_items_not_counted & 1);
		r.profile.lanes.gather(r.profile.lanes.ctx, 23, 0, row);
		CU_ASSERT_EQUAL(row[0], expected[n][0]);
		r.profile.lanes.gather(r.profile.lanes.ctx, 29, 0, row);
		CU_ASSERT_EQUAL(row[0], expected[n][1]);
	}
}

/*
 * 10 groups of one work-item in a row, and places for 4 that are spread: of the stretches 0-2, 3-4, 5-7 and 8-9, groups 0, 4, 7 and 9 have them. Group 5
 * is like 7 of its stretch. Group 1 is at no border, so that it is like 4 and not like 0; group 8 is like 7 and not like 9.
 */
static void groups_without_places_are_like_near_ones(void)
{
	enum { GROUPS = 10, PLACES = 4, ITEMS = COUNTER_HEADER_WORDS + GROUPS + 1 };
	static const uint32_t expected[GROUPS] = {0, 1, 1, 1, 1, 2, 2, 2, 2, 3};
	uint64_t words[ITEMS + PLACES / 2 + COUNTER_SPARE / 2] = {0}, counts[2] = {0};
	unsigned column = 1;
	struct artifact_kernel k = {.columns = &column, .column_count = 1, .words = 1, .entry_block = -1};
	struct artifact a = {.block_count = 2, .counts_by_item = true};
	struct launch_record l = {.artifact = &a, .facts = &k, .counters = words, .slots = GROUPS, .places = PLACES, .spread = true,
	                          .global = {GROUPS, 1, 1}, .local = {1, 1, 1}};
	struct launch_result r = {.launch = &l, .counts = counts};
	uint32_t row[2];
	for (uint32_t i = 0; i < PLACES; i++)
		((uint32_t *)(words + ITEMS))[i] = i;
	profile_fill(&r);
	CU_ASSERT(r.flags >> FLAG_items_not_counted & 1);
	for (uint64_t g = 0; g < GROUPS; g++) {
		r.profile.lanes.gather(r.profile.lanes.ctx, g, 0, row);
		CU_ASSERT_EQUAL(row[0], expected[g]);
		CU_ASSERT_EQUAL(r.profile.lanes.counted(r.profile.lanes.ctx, g), g == 0 || g == 4 || g == 7 || g == 9);
	}
}

/* Each place is one group's, and as many groups have one as there are places. */
static void places_are_spread(void)
{
	static const uint64_t shapes[][2] = {{1, 1}, {7, 7}, {7, 6}, {7, 1}, {1000, 999}, {1000, 500}, {1000, 3}, {5, 9}, {5, 0}};
	for (size_t i = 0; i < GS_ARRAY_LEN(shapes); i++) {
		uint64_t groups = shapes[i][0], room = shapes[i][1], counted = 0;
		for (uint64_t g = 0; g < groups; g++) {
			uint64_t place = counter_place(g, groups, room);
			CU_ASSERT(place == room || place == counted);
			counted += place < room;
		}
		CU_ASSERT_EQUAL(counted, room < groups ? room : groups);
	}
}

static void failure_becomes_the_reason(void)
{
	struct gs_pack p = {0};
	struct artifact *a = NULL;
	struct gs_error err;
	gs_pack_puts(&p, "failure", "annotate: program.cl:3:1: a construct");
	CU_ASSERT(artifact_read(&simulation, &a, &p, &err) < 0);
	CU_ASSERT_STRING_EQUAL(err.text, "annotate: program.cl:3:1: a construct");
	gs_pack_free(&p);
}

static void nonsense_is_refused(void)
{
	static const char *const blocks[] = {"1 0 f entry 1 1 x\n", "x\n", "0 0 f\n", "0 0 f entry 1 1\n"};
	for (size_t i = 0; i < GS_ARRAY_LEN(blocks); i++) {
		struct gs_pack p = {0};
		struct artifact *a = NULL;
		struct gs_error err;
		gs_pack_puts(&p, "host", "");
		gs_pack_puts(&p, "host-options", "");
		gs_pack_puts(&p, "kernels", "f 1\n");
		gs_pack_puts(&p, "blocks", blocks[i]);
		CU_ASSERT(artifact_read(&simulation, &a, &p, &err) < 0);
		gs_pack_free(&p);
	}
}

void add_guest_tests(void)
{
	CU_pSuite s = CU_add_suite("guest", NULL, NULL);
	CU_add_test(s, "the table keeps what a plain array keeps", table_keeps_what_a_plain_array_keeps);
	CU_add_test(s, "a thread that runs is at work, one that sleeps is not", thread_that_runs_is_at_work);
	CU_add_test(s, "a thread that waits for a child is at work", thread_that_waits_for_a_child_is_at_work);
	if (STARTS_PROGRAMS_APART) {
		CU_add_test(s, "a program runs apart: no SIGCHLD, no child, no descriptors", program_runs_apart_from_us);
		CU_add_test(s, "a slow program is stopped with its children", slow_program_is_stopped_with_its_children);
		CU_add_test(s, "a program that may not run has longer", program_that_may_not_run_has_longer);
		CU_add_test(s, "a program that runs for ever is stopped", program_that_runs_for_ever_is_stopped);
	}
	CU_add_test(s, "a missing program is told", missing_program_is_told);
	CU_add_test(s, "groups without places have room to store", groups_without_places_have_room_to_store);
	CU_add_test(s, "places have what slots leave", places_have_what_slots_leave);
	CU_add_test(s, "groups without places are like those at the same place", groups_without_places_are_like_those_at_the_same_place);
	CU_add_test(s, "groups without places are like near ones", groups_without_places_are_like_near_ones);
	CU_add_test(s, "places are spread", places_are_spread);
	CU_add_test(s, "a result of gpusim-cc is read", result_is_read);
	CU_add_test(s, "a result of gpusim-cc is read", layout_columns_and_formulas_are_read);
	CU_add_test(s, "a result has to say what each kernel and its arguments are", hazards_and_kinds_of_arguments_are_read);
	CU_add_test(s, "crafted results are refused", crafted_results_are_refused);
	CU_add_test(s, "texts that count and that trace can be one program", texts_can_be_one_program);
	CU_add_test(s, "a work-item of a group that sums up is its average", a_work_item_of_a_group_that_sums_up_is_its_average);
	CU_add_test(s, "work-items of groups without a slot are counted", groups_without_a_slot_are_counted);
	CU_add_test(s, "flags of work-items are counted", flags_of_work_items_are_counted);
	CU_add_test(s, "trips follow from words of work-items", trips_follow_from_words_of_work_items);
	CU_add_test(s, "neighbours are measured by the one that does most", neighbours_are_measured_by_the_one_that_does_most);
	CU_add_test(s, "a failure of gpusim-cc becomes the reason", failure_becomes_the_reason);
	CU_add_test(s, "a result that makes no sense is refused", nonsense_is_refused);
}
