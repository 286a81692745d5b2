/*
 * runtime/cuda.h on its own: memory, modules, streams and launches, without entry points and without a lifter. The program is its own
 * gpusim-cc: called with two files, it answers with text that was lifted by hand.
 *   direct          runs all checks on the OpenCL device; ends with "N passed, N failed"
 */
#include "runtime/cuda.h"
#include "runtime/format/lifted.h"
#include "runtime/format/protocol.h"
#include "runtime/guest/driver/simulation.h"
#include "runtime/model/stats.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int passed, failed;

static void check(bool good, const char *what)
{
	*(good ? &passed : &failed) += 1;
	printf("%s %s\n", good ? "ok  " : "FAIL", what);
}

/* ---- gpusim-cc ---- */

#define LIFTED_WORD(name, words) LIFTED_WORD_##words(name)
#define LIFTED_WORD_1(name) " ulong " #name ";"
#define LIFTED_WORD_3(name) " ulong " #name "[3];"
static const char head[] = "struct gs_launch {" LIFTED_LAUNCH(LIFTED_WORD) " };\n"
	"#define L ((__global struct gs_launch *)address)\n"
	"#define EACH for (ulong at = get_global_id(0) * L->each, end = min(at + L->each, L->count); at < end; at++)\n"
	"#define GROUP (L->order ? ((__global uint *)L->order)[at] : L->first + at)\n"
	"#define PARAMETER(type, at) (*(__global type *)(L->parameters + at))\n"
	/* counters.h: the size of the group, then the only column */
	"void count(ulong address, ulong group)\n"
	"{\n"
	"	__global ulong *words = (__global ulong *)L->counters;\n"
	"	if (!words) return;\n"
	"	words[8 + min(group, L->counter_slots)] = L->block[0] | L->block[1] << 21 | L->block[2] << 42;\n"
	"	__global uint *column = (__global uint *)(words + 8 + L->counter_slots + 1);\n"
	"	for (ulong t = 0; t < L->block[0]; t++)\n"
	"		if (group * L->block[0] + t < L->counter_places) column[group * L->block[0] + t] = 1;\n"
	"}\n"
	"ulong take_slot(ulong address)\n"
	"{\n"
	"	__global uint *flags = (__global uint *)L->slot_flags;\n"
	"	for (ulong s = 0;; s = (s + 1) % L->slots)\n"
	"		if (!atomic_cmpxchg((volatile __global uint *)flags + s, 0, 1)) return s;\n"
	"}\n"
	"void give_slot(ulong address, ulong s) { atomic_xchg((volatile __global uint *)L->slot_flags + s, 0); }\n";

/* add: c[i] = a[i] + b[i] + variable, by way of shared memory. once: adds 1 to the group's word, 1000 if it is traced. */
static const char kernels[] =
	"__kernel void kernel_add(ulong address)\n"
	"{ EACH {\n"
	"	ulong group = GROUP, slot = take_slot(address);\n"
	"	__global float *a = (__global float *)PARAMETER(ulong, 0), *b = (__global float *)PARAMETER(ulong, 8);\n"
	"	__global float *c = (__global float *)PARAMETER(ulong, 16), *shared = (__global float *)(L->scratch + slot * L->slot_bytes);\n"
	"	for (ulong t = 0; t < L->block[0]; t++) shared[t] = a[group * L->block[0] + t];\n"
	"	for (ulong t = 0; t < L->block[0]; t++)\n"
	"		c[group * L->block[0] + t] = shared[t] + b[group * L->block[0] + t] + *(__global float *)L->variables;\n"
	"	give_slot(address, slot);\n"
	"	count(address, group);\n"
	"} }\n"
	"__kernel void kernel_once(ulong address)\n"
	"{ EACH {\n"
	"	atomic_add((volatile __global uint *)PARAMETER(ulong, 0) + GROUP, L->traces ? 1000 : 1);\n"
	"	count(address, GROUP);\n"
	"} }\n"
	"__kernel void kernel_say(ulong address)\n"
	"{ EACH {\n"
	"	__global ulong *prints = (__global ulong *)L->prints;\n"
	"	if (GROUP) continue;\n"
	"	prints[3] = 24; prints[4] = PARAMETER(ulong, 0); prints[5] = 42; prints[1] = 24;\n"
	"	count(address, GROUP);\n"
	"} }\n"
	"__kernel void kernel_trap(ulong address)\n"
	"{\n"
	"	__global uint *fault = (__global uint *)L->fault;\n"
	"	fault[0] = 1; fault[1] = 17;\n"
	"}\n";

static int be_gpusim_cc(const char *out)
{
	struct gs_pack pack = {0};
	struct gs_buf text = {0}, bytes = {0};
	struct gs_error err;
	gs_pack_puts(&pack, "version", GPUSIM_CC_VERSION);
	gs_buf_printf(&text, "%s%s", head, kernels);
	gs_pack_puts(&pack, "host", text.data);
	text.len = 0;
	gs_buf_printf(&text, "%s%s", head, kernels);
	gs_pack_puts(&pack, "traced", text.data);
	gs_pack_puts(&pack, "host-options", "-w");
	gs_pack_puts(&pack, "layout", "item");
	gs_pack_puts(&pack, "kernels", "add 3\nonce 1\nsay 1\ntrap 0\n");
	gs_pack_puts(&pack, "safety", "add\nonce\nsay prints\ntrap\n");
	gs_pack_puts(&pack, "arguments", "add const const global\nonce global\nsay const\ntrap\n");
	gs_pack_puts(&pack, "blocks", "0 0 add entry 1 0 ptx\n1 0 add block 2 0 ptx\n2 0 once entry 3 0 ptx\n3 0 once block 4 0 ptx\n"
	                              "4 0 say entry 5 0 ptx\n5 0 say block 6 0 ptx\n6 0 trap entry 7 0 ptx\n7 0 trap block 8 0 ptx\n");
	gs_pack_puts(&pack, "block-details", "0 0 0 -1 -\n1 0 0 -1 -\n2 0 0 -1 -\n3 0 0 -1 -\n4 0 0 -1 -\n5 0 0 -1 -\n6 0 0 -1 -\n7 0 0 -1 -\n");
	gs_pack_puts(&pack, "columns", "add 0 1\nonce 0 3\nsay 0 5\ntrap 0 7\n");
	gs_pack_puts(&pack, "lifted", "ptx 8.0 sm_70\n"
	                              "kernel add 24 1024 0 0 0 0 0 0 0 0 - 0:8:8 8:8:8 16:8:8\n"
	                              "kernel once 8 0 0 0 0 0 0 0 0 0 - 0:8:8\n"
	                              "kernel say 8 0 0 0 0 0 0 0 0 0 p 0:8:8\n"
	                              "kernel trap 0 0 0 0 0 0 0 0 0 0 -\n"
	                              "refused strange line 3: tex: not there\n"
	                              "variable bias global 0 4 4\nvariable pointer global 8 8 8\nrelocation 8 0 data\n");
	gs_pack_add(&pack, "image", "\0\0\200?\0\0\0\0\0\0\0\0\0\0\0\0", 16); /* 1.0f */
	if (gs_pack_encode(&pack, &bytes, &err) || gs_write_file(out, bytes.data, bytes.len, &err))
		return 1;
	return 0;
}

/* ---- checks ---- */

static struct cuda_stream *stream;
static struct cuda_module *module;

static struct cuda_kernel *kernel(const char *name)
{
	struct cuda_kernel *k = NULL;
	struct gs_error err = {""};
	if (cuda_module_kernel(module, name, &k, &err))
		printf("%s\n", err.text);
	return k;
}

static int launch(const char *name, unsigned grid, unsigned block, const void *parameters, struct cuda_event **event)
{
	struct gs_error err = {""};
	struct cuda_launch l = {kernel(name), {grid, 1, 1}, {block, 1, 1}, 0, parameters, false, {0, 0, 0}};
	int result = l.kernel ? cuda_enqueue_launch(&(struct cuda_call){.stream = stream, .event = event}, &l, &err) : -ENOENT;
	if (result)
		printf("%s\n", err.text);
	return result;
}

static void copy(enum cuda_copy_kind kind, void *to, const void *from, size_t bytes, bool blocking)
{
	struct gs_error err = {""};
	const struct cuda_copy c = {kind, to, from, bytes, 1, 1, bytes, bytes, bytes, bytes, false, 0, 0, false};
	check(!cuda_enqueue_copy(&(struct cuda_call){.stream = stream, .blocking = blocking}, &c, &err), "a copy is enqueued");
}

static void check_module(void)
{
	struct cuda_kernel *k = NULL;
	struct gs_error err = {""};
	void *variable = NULL, *pointer = NULL;
	size_t bytes = 0;
	uint64_t word = 0;
	check(cuda_module_prepare(module, &err) == CUDA_MODULE_FINE, "a module is prepared");
	check(cuda_module_kernel(module, "nothing", &k, &err) == -ENOENT, "a kernel that is not there is not found");
	check(cuda_module_kernel(module, "strange", &k, &err) == -ENOTSUP && strstr(err.text, "tex"), "a kernel that is refused says why");
	check(!cuda_module_variable(module, "bias", &variable, &bytes, &err) && bytes == 4 && *(float *)variable == 1, "a variable has its value");
	check(!cuda_module_variable(module, "pointer", &pointer, &bytes, &err), "a variable is found");
	memcpy(&word, pointer, sizeof word);
	check(word == (uint64_t)(uintptr_t)variable, "an address in a variable is that of the image");
	check(cuda_kernel_facts(kernel("add"))->parameter_count == 3 && cuda_kernel_facts(kernel("add"))->shared_bytes == 1024, "facts of a kernel");
	check(cuda_occupancy(kernel("add"), 128, 0) > 0, "blocks fit an SM");
}

static void check_add(void)
{
	enum { GROUPS = 64, BLOCK = 128, COUNT = GROUPS * BLOCK };
	static float host[COUNT];
	void *a, *b, *c;
	cuda_allocate(sizeof host, CUDA_DEVICE_MEMORY, 0, &a, NULL);
	cuda_allocate(sizeof host, CUDA_DEVICE_MEMORY, 0, &b, NULL);
	cuda_allocate(sizeof host, CUDA_DEVICE_MEMORY, 0, &c, NULL);
	for (int i = 0; i < COUNT; i++)
		host[i] = (float)i;
	copy(CUDA_TO_DEVICE, a, host, sizeof host, true);
	for (int i = 0; i < COUNT; i++)
		host[i] = (float)(2 * i);
	copy(CUDA_TO_DEVICE, b, host, sizeof host, false);
	memset(host, 0, sizeof host); /* it was read before */
	struct cuda_event *event = NULL;
	check(!launch("add", GROUPS, BLOCK, (const void *[]){a, b, c}, &event), "a launch is enqueued");
	copy(CUDA_TO_HOST, host, c, sizeof host, false); /* pageable: it waits */
	int bad = 0;
	for (int i = 0; i < COUNT; i++)
		bad += host[i] != (float)(3 * i + 1);
	check(!bad, "a launch adds");
	check(event && cuda_event_done(event) && cuda_event_ns(event), "its event has happened");
	cuda_event_release(event);
	check(!cuda_release(a, NULL) && !cuda_release(b, NULL) && !cuda_release(c, NULL), "memory is released");
}

/* The first launch of a size is traced. Of 1,000 groups of 64 threads, some are. */
static void check_groups(void)
{
	enum { GROUPS = 1000 };
	uint32_t *words;
	cuda_allocate(GROUPS * 4, CUDA_MANAGED_MEMORY, 0, (void **)&words, NULL);
	memset(words, 0, GROUPS * 4);
	check(!launch("once", GROUPS, 64, &words, NULL) && !cuda_stream_wait(stream, NULL), "a launch ends");
	int traced = 0, counted = 0;
	for (int i = 0; i < GROUPS; i++) {
		traced += words[i] == 1000;
		counted += words[i] == 1;
	}
	check(traced > 0 && traced <= 128 && traced + counted == GROUPS, "each group runs once, and some are traced");
	for (int i = 0; i < 5; i++)
		launch("once", GROUPS, 64, &words, NULL);
	cuda_wait_all(NULL);
	int more = 0;
	for (int i = 0; i < GROUPS; i++)
		more += words[i] == 1005 || words[i] == 6;
	check(more == GROUPS, "launches after it count only");
	check(launch("once", GROUPS, 2000, &words, NULL) == -EINVAL, "blocks of 2,000 threads are refused");
	cuda_release(words, NULL);
}

static void check_prints(void)
{
	static const char format[] = "from a kernel: %d\n";
	const char *address = format;
	fflush(stdout);
	check(!launch("say", 4, 32, &address, NULL) && !cuda_wait_all(NULL), "a kernel prints");
}

static void check_fault(void)
{
	struct gs_error err = {""};
	check(!launch("trap", 4, 32, NULL, NULL), "a kernel with a trap is launched");
	check(cuda_wait_all(&err) == -CUDA_FAULT_TRAP && strstr(err.text, "line 17"), "its fault is known after waiting");
	check(launch("trap", 4, 32, NULL, NULL) == -CUDA_FAULT_TRAP, "it stays");
}

int main(int argc, char **argv)
{
	struct gs_error err = {""};
	char self[PATH_MAX] = "";
	if (argc == 3)
		return be_gpusim_cc(argv[2]);
	if (readlink("/proc/self/exe", self, sizeof self - 1) > 0)
		setenv("GPUSIM_CC", self, 1);
	check(!cuda_start(&err) && cuda_active(), "the runtime starts");
	if (failed) {
		printf("%s\n", err.text);
		return 1;
	}
	check(!cuda_stream_new("test", &stream, &err), "a stream is made");
	module = cuda_module_new("// by hand\n", 0);
	check_module();
	check_add();
	check_groups();
	check_prints();
	check_fault();
	printf("%d passed, %d failed\n", passed, failed);
	return failed != 0;
}
