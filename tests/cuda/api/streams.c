/* The order of commands in streams. Functions on the host are the commands whose order is looked at. */
#include "tests/cuda/api/api.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int clock_hand;

struct step {
	int wait_ms, at; /* at: its place in the order, from 1 */
	atomic_bool *gate; /* it waits until this is open */
};

static void run_step(void *data)
{
	struct step *s = data;
	usleep((useconds_t)s->wait_ms * 1000);
	for (int i = 0; s->gate && !*s->gate && i < 5000; i++)
		usleep(1000);
	s->at = ++clock_hand;
}

#define LEGACY ((cudaStream_t)1)
#define THREADS_OWN ((cudaStream_t)2)

/* The legacy stream waits for blocking streams, and they for it. */
static void test_legacy(cudaStream_t legacy)
{
	cudaStream_t a, b;
	struct step first = {.wait_ms = 40}, second = {.wait_ms = 20}, third = {0};
	clock_hand = 0;
	EXPECT(cudaStreamCreate(&a), 0);
	EXPECT(cudaStreamCreate(&b), 0);
	EXPECT(cudaLaunchHostFunc(a, run_step, &first), 0);
	EXPECT(cudaLaunchHostFunc(legacy, run_step, &second), 0);
	EXPECT(cudaLaunchHostFunc(b, run_step, &third), 0);
	EXPECT(cudaStreamSynchronize(b), 0);
	EXPECT(first.at, 1);
	EXPECT(second.at, 2);
	EXPECT(third.at, 3);
	EXPECT(cudaStreamDestroy(a), 0);
	EXPECT(cudaStreamDestroy(b), 0);
}

/* Non-blocking streams do neither. */
static void test_non_blocking(void)
{
	cudaStream_t n, b;
	atomic_bool gate = false;
	struct step held = {.gate = &gate}, free_step = {0}, after = {0};
	clock_hand = 0;
	EXPECT(cudaStreamCreateWithFlags(&n, cudaStreamNonBlocking), 0);
	EXPECT(cudaStreamCreate(&b), 0);
	EXPECT(cudaLaunchHostFunc(NULL, run_step, &held), 0);
	EXPECT(cudaLaunchHostFunc(n, run_step, &free_step), 0);
	EXPECT(cudaLaunchHostFunc(b, run_step, &after), 0);
	EXPECT(cudaStreamSynchronize(n), 0);
	EXPECT(free_step.at, 1);
	EXPECT(cudaStreamQuery(n), 0);
	EXPECT(cudaStreamQuery(NULL), not_ready);
	EXPECT(cudaStreamQuery(b), not_ready);
	gate = true;
	EXPECT(cudaDeviceSynchronize(), 0);
	EXPECT(held.at, 2);
	EXPECT(after.at, 3);
	EXPECT(cudaStreamQuery(NULL), 0);
	EXPECT(cudaStreamDestroy(n), 0);
	EXPECT(cudaStreamDestroy(b), 0);
}

/* What a destroyed stream still has to do is done, and the legacy stream waits for it. */
static void test_destroyed(void)
{
	cudaStream_t s;
	struct step before = {.wait_ms = 40}, after = {0};
	clock_hand = 0;
	EXPECT(cudaStreamCreate(&s), 0);
	EXPECT(cudaLaunchHostFunc(s, run_step, &before), 0);
	EXPECT(cudaStreamDestroy(s), 0);
	EXPECT(cudaLaunchHostFunc(NULL, run_step, &after), 0);
	EXPECT(cudaStreamSynchronize(NULL), 0);
	EXPECT(before.at, 1);
	EXPECT(after.at, 2);
	EXPECT(cudaStreamDestroy(s), invalid_handle);
	EXPECT(cudaStreamSynchronize(s), invalid_handle);
}

/* Two threads' own streams do not wait for one another, but for the legacy stream. */
static atomic_bool other_done;

static void *other_thread(void *data)
{
	struct step *s = data;
	EXPECT(cudaLaunchHostFunc_ptsz(NULL, run_step, s), 0);
	EXPECT(cudaStreamSynchronize(THREADS_OWN), 0);
	other_done = true;
	return NULL;
}

static void test_per_thread(void)
{
	pthread_t thread;
	atomic_bool gate = false;
	struct step held = {.gate = &gate}, other = {0}, legacy = {0};
	clock_hand = 0;
	EXPECT(cudaLaunchHostFunc(THREADS_OWN, run_step, &held), 0);
	EXPECT(pthread_create(&thread, NULL, other_thread, &other), 0);
	pthread_join(thread, NULL);
	EXPECT(other.at, 1);
	EXPECT(cudaLaunchHostFunc(NULL, run_step, &legacy), 0);
	EXPECT(cudaStreamQuery(LEGACY), not_ready);
	gate = true;
	EXPECT(cudaStreamSynchronize(LEGACY), 0);
	EXPECT(held.at, 2);
	EXPECT(legacy.at, 3);
}

/* A stream waits for an event of another, as it was recorded when the wait was enqueued. */
static void test_events(void)
{
	cudaStream_t a, b;
	cudaEvent_t e;
	struct step first = {.wait_ms = 40}, second = {0};
	clock_hand = 0;
	EXPECT(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking), 0);
	EXPECT(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking), 0);
	EXPECT(cudaEventCreate(&e), 0);
	EXPECT(cudaStreamWaitEvent(b, e, 0), 0); /* nothing recorded: nothing to wait for */
	EXPECT(cudaLaunchHostFunc(a, run_step, &first), 0);
	EXPECT(cudaEventRecord(e, a), 0);
	EXPECT(cudaEventQuery(e), not_ready);
	EXPECT(cudaStreamWaitEvent(b, e, 0), 0);
	EXPECT(cudaEventDestroy(e), 0);
	EXPECT(cudaLaunchHostFunc(b, run_step, &second), 0);
	EXPECT(cudaStreamSynchronize(b), 0);
	EXPECT(first.at, 1);
	EXPECT(second.at, 2);
	EXPECT(cudaStreamDestroy(a), 0);
	EXPECT(cudaStreamDestroy(b), 0);
}

static cudaStream_t called_stream;
static int called_error = -1;

static void callback(cudaStream_t stream, int error, void *data)
{
	called_stream = stream;
	called_error = error;
	*(int *)data += 1;
}

/* Copies take their turn as well. Pageable memory is read before the call returns. */
static void test_copies(void)
{
	cudaStream_t s;
	char *d, from[64], *pinned, to[64];
	int calls = 0;
	struct step slow = {.wait_ms = 30};
	EXPECT(cudaStreamCreate(&s), 0);
	EXPECT(cudaMalloc((void **)&d, 64), 0);
	EXPECT(cudaMallocHost((void **)&pinned, 64), 0);
	memset(from, 1, sizeof from);
	memset(pinned, 0, 64);
	EXPECT(cudaLaunchHostFunc(s, run_step, &slow), 0);
	EXPECT(cudaMemcpyAsync(d, from, 64, cudaMemcpyHostToDevice, s), 0);
	memset(from, 2, sizeof from);
	EXPECT(cudaMemcpyAsync(pinned, d, 64, cudaMemcpyDeviceToHost, s), 0);
	EXPECT(cudaStreamAddCallback(s, callback, &calls, 0), 0);
	EXPECT(cudaStreamSynchronize(s), 0);
	EXPECT(pinned[63], 1);
	EXPECT(calls, 1);
	EXPECT(called_stream == s, true);
	EXPECT(called_error, 0);
	/* the default stream of the legacy kind waits for s, so that this copy sees the fill */
	slow = (struct step){.wait_ms = 30};
	EXPECT(cudaLaunchHostFunc(s, run_step, &slow), 0);
	EXPECT(cudaMemsetAsync(d, 9, 64, s), 0);
	EXPECT(cudaMemcpy(to, d, 64, cudaMemcpyDeviceToHost), 0);
	EXPECT(to[0], 9);
	EXPECT(cudaMemcpyAsync_ptsz(to, d, 64, cudaMemcpyDeviceToHost, NULL), 0);
	EXPECT(cudaStreamDestroy(s), 0);
	EXPECT(cudaFree(d), 0);
	EXPECT(cudaFreeHost(pinned), 0);
}

static void test_questions(void)
{
	cudaStream_t s, t;
	unsigned flags;
	int priority, status = 9, none;
	unsigned long long id, other_id;
	EXPECT(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, -100), 0);
	EXPECT(cudaStreamCreate(&t), 0);
	EXPECT(cudaStreamGetFlags(s, &flags), 0);
	EXPECT(flags, cudaStreamNonBlocking);
	EXPECT(cudaStreamGetPriority(s, &priority), 0);
	EXPECT(priority < 0 && priority > -100, true);
	EXPECT(cudaStreamGetId(s, &id), 0);
	EXPECT(cudaStreamGetId(t, &other_id), 0);
	EXPECT(id == other_id, false);
	EXPECT(cudaStreamIsCapturing(s, &status), 0);
	EXPECT(status, 0);
	cudaGraph_t graph = NULL;
	EXPECT(cudaStreamEndCapture(s, &graph), 401);
	EXPECT(cudaStreamBeginCapture(NULL, 0), 900); /* the legacy stream cannot */
	EXPECT(cudaStreamBeginCapture(s, 3), invalid_value);
	EXPECT(cudaStreamBeginCapture(s, 0), 0);
	EXPECT(cudaStreamBeginCapture(s, 0), 401);
	EXPECT(cudaStreamIsCapturing(s, &status), 0);
	EXPECT(status, 1);
	EXPECT(cudaStreamEndCapture(s, &graph), 0);
	EXPECT(graph == NULL, false);
	cudaGraph_t lost = graph;
	EXPECT(cudaStreamBeginCapture(s, 0), 0);
	EXPECT(cudaStreamQuery(s), 900); /* and the capture is invalid */
	EXPECT(cudaStreamSynchronize(s), 900);
	EXPECT(cudaStreamIsCapturing(s, &status), 0);
	EXPECT(status, 2);
	EXPECT(cudaStreamEndCapture(s, &lost), 901);
	EXPECT(lost == NULL, true);
	EXPECT(cudaStreamIsCapturing(s, &status), 0);
	EXPECT(status, 0);
	EXPECT(cudaGraphDestroy(graph), 0);
	EXPECT(cudaGraphDestroy(graph), invalid_value);
	EXPECT(cudaStreamCreateWithFlags(&t, 8), invalid_value);
	EXPECT(cudaStreamQuery((cudaStream_t)&none), invalid_handle);
	EXPECT(cudaStreamDestroy(NULL), invalid_handle);
	EXPECT(cudaStreamDestroy(s), 0);
}

/* As an H200 answers: calls that may wait for the device, and the legacy stream, end captures, unless these or the thread are relaxed (2). */
static void test_captures(void)
{
	cudaStream_t s;
	cudaGraph_t graph = NULL;
	void *p, *q;
	int word = 0, status = 9, mode = 2;
	EXPECT(cudaMalloc(&p, 4), 0);
	EXPECT(cudaStreamCreate(&s), 0);
	EXPECT(cudaStreamBeginCapture(s, 0), 0);
	EXPECT(cudaMalloc(&q, 16), 900);
	EXPECT(cudaStreamIsCapturing(s, &status), 0);
	EXPECT(status, 2);
	EXPECT(cudaStreamEndCapture(s, &graph), 901);
	EXPECT(cudaStreamBeginCapture(s, 0), 0);
	EXPECT(cudaDeviceSynchronize(), 900);
	EXPECT(cudaStreamEndCapture(s, &graph), 901);
	EXPECT(cudaStreamBeginCapture(s, 0), 0);
	EXPECT(cudaMemcpy(&word, p, 4, cudaMemcpyDeviceToHost), 906);
	EXPECT(cudaStreamEndCapture(s, &graph), 901);
	EXPECT(cudaStreamBeginCapture(s, 2), 0);
	EXPECT(cudaMalloc(&q, 16), 0);
	EXPECT(cudaStreamEndCapture(s, &graph), 0);
	EXPECT(cudaGraphDestroy(graph), 0);
	EXPECT(cudaStreamBeginCapture(s, 0), 0);
	EXPECT(cudaThreadExchangeStreamCaptureMode(&mode), 0);
	EXPECT(mode, 0);
	EXPECT(cudaFree(q), 0);
	EXPECT(cudaThreadExchangeStreamCaptureMode(&mode), 0);
	EXPECT(mode, 2);
	EXPECT(cudaStreamEndCapture(s, &graph), 0);
	EXPECT(cudaGraphDestroy(graph), 0);
	EXPECT(cudaStreamDestroy(s), 0);
	EXPECT(cudaFree(p), 0);
}

/* Many threads at once, each with its own stream and the legacy one. */
static void *busy_thread(void *data)
{
	char *d, host[256];
	cudaStream_t s;
	cudaEvent_t e;
	int number = *(int *)data;
	EXPECT(cudaStreamCreate(&s), 0);
	EXPECT(cudaEventCreate(&e), 0);
	EXPECT(cudaMalloc((void **)&d, sizeof host), 0);
	for (int i = 0; i < 50; i++) {
		memset(host, number + i, sizeof host);
		EXPECT(cudaMemcpyAsync(d, host, sizeof host, cudaMemcpyHostToDevice, s), 0);
		EXPECT(cudaMemsetAsync(d, 100, 1, i % 2 ? NULL : s), 0);
		EXPECT(cudaEventRecord(e, s), 0);
		EXPECT(cudaStreamWaitEvent(NULL, e, 0), 0);
		EXPECT(cudaMemcpy(host, d, sizeof host, cudaMemcpyDeviceToHost), 0);
		EXPECT(host[0], 100);
		EXPECT(host[255], number + i);
	}
	EXPECT(cudaFree(d), 0);
	EXPECT(cudaEventDestroy(e), 0);
	EXPECT(cudaStreamDestroy(s), 0);
	return NULL;
}

static void test_threads(void)
{
	enum { THREADS = 8 };
	pthread_t threads[THREADS];
	int numbers[THREADS];
	for (int i = 0; i < THREADS; i++) {
		numbers[i] = i;
		pthread_create(&threads[i], NULL, busy_thread, &numbers[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

int main(void)
{
	test_legacy(NULL);
	test_legacy(LEGACY);
	test_non_blocking();
	test_destroyed();
	test_per_thread();
	test_events();
	test_copies();
	test_questions();
	test_captures();
	test_threads();
	EXPECT(cudaDeviceSynchronize(), 0);
	return verdict();
}
