/*
 * micro_priorities: which blocks run when launches of several streams share the GPU, with priorities and without, and programs of two streams as
 * users write them.
 *
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I. -o micro_priorities tests/accuracy/truth/micro_priorities.cu
 *   micro_priorities           prints two tables: `launch` of what blocks noted, and `user`
 *   micro_priorities user      prints the second one alone (which also runs here, on the GPU that gpusim stands in for)
 *
 * launch,case,priorities,n,kind,us,blocks,delay,event_begin,arrival,first,first_10,last,first_end,last_end,event_end,sms,between
 *   A block of 128 threads takes an eighth of an SM's room (by shared memory). All streams wait until everything is enqueued; times are in us from
 *   there, medians of 7. A row is one launch of the case: `priorities` has those of all of its launches. kind: held blocks spin for `us`, varied
 *   ones for a half to one and a half of it; dense fills the units of an SM, chain those of half of one (a wave of 8 blocks an SM takes `us`);
 *   reads brings from DRAM what a full GPU reads in `us`; to, from, on are copies of so many MB (blocks), set fills. Before the launch, its stream
 *   waits for `delay`; arrival is the end of that. first, first_10, last: when the first block began, a tenth of them, and the last one.
 *   sms: that had blocks of it. between: how many blocks of launches with lower priority (a higher number) began between arrival and last.
 * graph,nodes,us,at_once,first_last: a graph of so many nodes of one held block of 100 us beside each other: time between events, how many ran at
 *   once, and how long after the first one the last one began
 * call,name,ns: of the calling thread in one call, median; in turns with launches of a block that does little
 * user,case,n,what,value: times of events, in us, medians of 15, from the first event of the program; host: until everything was waited for.
 */
#include "tests/accuracy/truth/micro.h"

#include <chrono>
#include <map>
#include <string>

static constexpr int THREADS = 128, SHARED = 27 * 1024, WAVE = SMS * 8, ROUNDS = 7, USER_ROUNDS = 15, MB = 1 << 20, MOST_STAMPS = 1 << 17;
static const unsigned long long AREA = 8ull << 30;

struct stamp {
	unsigned long long begin, end;
	unsigned sm, used;
};

static stamp *stamps;
static char *area, *pinned;
static unsigned *out;
static volatile unsigned *go;

/* ---- kernels ---- */

static __device__ __forceinline__ void leave(stamp *found, unsigned long long begin)
{
	__syncthreads();
	if (threadIdx.x == 0)
		found[blockIdx.x] = {begin, nanoseconds(), sm_number(), 1};
}

/* Until the host says so; it gives up after a while. */
__global__ void hold(volatile unsigned *go, stamp *found)
{
	unsigned long long begin = nanoseconds();
	while (!*go && nanoseconds() - begin < 100000000)
		;
	leave(found, begin);
}

__global__ void held(stamp *found, unsigned wanted, unsigned varied)
{
	unsigned long long begin = nanoseconds();
	long long from = cycles();
	unsigned mine = varied ? wanted / 2 + blockIdx.x * 2654435761u % wanted : wanted;
	while (cycles() - from < mine)
		;
	leave(found, begin);
}

template <int CHAINS> __global__ void computes(stamp *found, unsigned trips, unsigned *out)
{
	unsigned long long begin = nanoseconds();
	float v[CHAINS];
	for (int c = 0; c < CHAINS; c++)
		v[c] = threadIdx.x + c;
	for (unsigned i = 0; i < trips; i++)
#pragma unroll
		for (int k = 0; k < 32; k++)
			asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(v[k % CHAINS]));
	for (int c = 0; c < CHAINS; c++)
		if (v[c] == 3.25f)
			*out = 1;
	leave(found, begin);
}

__global__ void reads(stamp *found, const float4 *from, unsigned trips, unsigned *out)
{
	unsigned long long begin = nanoseconds();
	const float4 *mine = from + (size_t)blockIdx.x * trips * 8 * THREADS + threadIdx.x;
	float sum = 0;
	for (unsigned i = 0; i < trips; i++) {
		float4 v[8];
#pragma unroll
		for (int k = 0; k < 8; k++)
			v[k] = __ldcs(mine + (i * 8 + k) * THREADS);
#pragma unroll
		for (int k = 0; k < 8; k++)
			sum += v[k].x + v[k].y + v[k].z + v[k].w;
	}
	if (sum == 1.2345e30f)
		*out = 1;
	leave(found, begin);
}

/* An SM changes how it divides L1 and shared memory only while it has no blocks: all kernels want the same. */
template <typename KERNEL> static void same_division(KERNEL kernel)
{
	CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared));
}

/* ---- launches of a case ---- */

struct job {
	const char *kind;
	double us;
	int blocks, stream, priority;
	double delay;
};

enum field { EVENT_BEGIN, ARRIVAL, FIRST, FIRST_10, LAST, FIRST_END, LAST_END, EVENT_END, USED_SMS, BETWEEN, FIELDS };

struct ran {
	stamp *delay, *blocks; /* where they note */
	int noted;
	cudaEvent_t begin, end;
	double found[FIELDS];
	std::vector<stamp> read;
};

static std::map<int, cudaStream_t> streams;

static cudaStream_t stream_of(int number, int priority)
{
	cudaStream_t &s = streams[number * 100 - priority];
	if (!s)
		CHECK(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, priority));
	return s;
}

static bool is(const job &j, const char *kind)
{
	return !strcmp(j.kind, kind);
}

static bool is_copy(const job &j)
{
	return is(j, "to") || is(j, "from") || is(j, "on") || is(j, "set");
}

static void copy(const job &j, int which, cudaStream_t s)
{
	size_t bytes = (size_t)j.blocks * MB;
	char *device = area + (size_t)which * 512 * MB, *host = pinned + (size_t)(which % 3) * 64 * MB;
	if (is(j, "to"))
		CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, s));
	else if (is(j, "from"))
		CHECK(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, s));
	else if (is(j, "on"))
		CHECK(cudaMemcpyAsync(device, device + 256 * MB, bytes, cudaMemcpyDeviceToDevice, s));
	else
		CHECK(cudaMemsetAsync(device, which, bytes, s));
}

static void launch(const job &j, int which, int round, stamp *found, cudaStream_t s)
{
	double clocks = j.us * 1980;
	if (is(j, "held") || is(j, "varied"))
		held<<<j.blocks, THREADS, SHARED, s>>>(found, (unsigned)clocks, is(j, "varied"));
	else if (is(j, "chain"))
		computes<1><<<j.blocks, THREADS, SHARED, s>>>(found, (unsigned)(clocks / 256), out);
	else if (is(j, "dense"))
		computes<4><<<j.blocks, THREADS, SHARED, s>>>(found, (unsigned)(clocks / 256), out);
	else if (is(j, "reads")) {
		unsigned trips = std::max(1u, (unsigned)(j.us * 4680e3 / WAVE / (8 * THREADS * 16)));
		unsigned long long bytes = (unsigned long long)trips * 8 * THREADS * 16 * j.blocks, at = ((which * 9 + round) % 14) * (512ull * MB);
		reads<<<j.blocks, THREADS, SHARED, s>>>(found, (float4 *)(area + (at + bytes <= AREA ? at : 0)), trips, out);
	} else
		copy(j, which, s);
	CHECK(cudaGetLastError());
}

static double us_of(cudaEvent_t from, cudaEvent_t to)
{
	float ms;
	CHECK(cudaEventElapsedTime(&ms, from, to));
	return 1e3 * ms;
}

static cudaEvent_t new_event()
{
	cudaEvent_t e;
	CHECK(cudaEventCreate(&e));
	return e;
}

static void enqueue(const std::vector<job> &jobs, std::vector<ran> &all, cudaEvent_t held_until, int round)
{
	stamp *next = stamps + 1;
	for (size_t i = 0; i < jobs.size(); i++) {
		const job &j = jobs[i];
		ran &r = all[i];
		cudaStream_t s = stream_of(j.stream, j.priority);
		CHECK(cudaStreamWaitEvent(s, held_until, 0));
		r.delay = next++;
		r.blocks = next;
		r.noted = is_copy(j) ? 0 : j.blocks;
		next += r.noted;
		if (j.delay > 0)
			held<<<1, 32, 0, s>>>(r.delay, (unsigned)(j.delay * 1980), 0);
		CHECK(cudaEventRecord(r.begin, s));
		launch(j, (int)i, round, r.blocks, s);
		CHECK(cudaEventRecord(r.end, s));
	}
}

static void times_of(ran &r, const stamp *read, double zero)
{
	std::vector<double> begins, ends;
	std::map<unsigned, int> sms;
	r.read.assign(read + (r.blocks - stamps), read + (r.blocks - stamps) + r.noted);
	for (const stamp &s : r.read) {
		begins.push_back(((double)s.begin - zero) / 1e3);
		ends.push_back(((double)s.end - zero) / 1e3);
		sms[s.sm]++;
	}
	std::sort(begins.begin(), begins.end());
	std::sort(ends.begin(), ends.end());
	const stamp &delay = read[r.delay - stamps];
	r.found[ARRIVAL] = delay.used ? ((double)delay.end - zero) / 1e3 : 0;
	r.found[USED_SMS] = (double)sms.size();
	if (!r.noted)
		return;
	r.found[FIRST] = begins[0];
	r.found[FIRST_10] = begins[begins.size() / 10];
	r.found[LAST] = begins.back();
	r.found[FIRST_END] = ends[0];
	r.found[LAST_END] = ends.back();
}

static double begun_between(const std::vector<job> &jobs, const std::vector<ran> &all, size_t of, double zero)
{
	double count = 0;
	for (size_t i = 0; i < jobs.size(); i++)
		for (const stamp &s : all[i].read) {
			double at = ((double)s.begin - zero) / 1e3;
			count += jobs[i].priority > jobs[of].priority && at > all[of].found[ARRIVAL] && at < all[of].found[LAST];
		}
	return count;
}

static void run_once(const std::vector<job> &jobs, std::vector<ran> &all, int round)
{
	static cudaStream_t first = stream_of(99, 0);
	static cudaEvent_t held_until = new_event();
	static std::vector<stamp> read(MOST_STAMPS);
	size_t used = 1;
	CHECK(cudaMemset(stamps, 0, MOST_STAMPS * sizeof *stamps));
	*go = 0;
	hold<<<1, 32, 0, first>>>(go, stamps);
	CHECK(cudaEventRecord(held_until, first));
	enqueue(jobs, all, held_until, round);
	auto from = std::chrono::steady_clock::now();
	while (std::chrono::steady_clock::now() - from < std::chrono::microseconds(100))
		;
	*go = 1;
	CHECK(cudaDeviceSynchronize());
	for (auto &r : all)
		used += 1 + (size_t)r.noted;
	CHECK(cudaMemcpy(read.data(), stamps, used * sizeof *stamps, cudaMemcpyDeviceToHost));
	double zero = (double)read[0].end;
	for (auto &r : all) {
		r.found[EVENT_BEGIN] = us_of(held_until, r.begin);
		r.found[EVENT_END] = us_of(held_until, r.end);
		times_of(r, read.data(), zero);
	}
	for (size_t i = 0; i < jobs.size(); i++)
		all[i].found[BETWEEN] = begun_between(jobs, all, i, zero);
}

static double median(std::vector<double> v)
{
	std::sort(v.begin(), v.end());
	return v[v.size() / 2];
}

static void run(const char *name, const std::vector<job> &jobs)
{
	std::vector<ran> all(jobs.size());
	std::vector<std::vector<std::vector<double>>> found(jobs.size(), std::vector<std::vector<double>>(FIELDS));
	std::string priorities;
	for (auto &r : all)
		r = {nullptr, nullptr, 0, new_event(), new_event(), {0}, {}};
	for (auto &j : jobs)
		priorities += (priorities.empty() ? "" : "/") + std::to_string(j.priority);
	for (int round = 0; round <= ROUNDS; round++) {
		run_once(jobs, all, round);
		for (size_t i = 0; i < jobs.size() && round; i++)
			for (int f = 0; f < FIELDS; f++)
				found[i][f].push_back(all[i].found[f]);
	}
	for (size_t i = 0; i < jobs.size(); i++) {
		const job &j = jobs[i];
		printf("launch,%s,%s,%zu,%s,%g,%d,%g", name, priorities.c_str(), i, j.kind, j.us, j.blocks, j.delay);
		for (int f = 0; f < FIELDS; f++)
			printf(",%.2f", median(found[i][f]));
		printf("\n");
	}
	for (auto &r : all) {
		CHECK(cudaEventDestroy(r.begin));
		CHECK(cudaEventDestroy(r.end));
	}
	fflush(stdout);
}

/* ---- cases ---- */

static void two(const char *name, const char *kind, double us, int blocks, const char *other, double other_us, int other_blocks, double delay)
{
	job first = {kind, us, blocks, 0, 0, 0}, second = {other, other_us, other_blocks, 1, 0, delay};
	run(name, {second});
	run(name, {first, second});
	second.priority = -5;
	run(name, {first, second});
}

/* What comes first has the higher priority. */
static void reverse(const char *name, const char *kind, double us, int blocks, double other_us, int other_blocks, double delay)
{
	run(name, {{kind, us, blocks, 0, -5, 0}, {kind, other_us, other_blocks, 1, 0, delay}});
}

static void waves(const char *kind)
{
	for (double us : {5., 20., 100.})
		for (int n : {1, 2, 8}) {
			run("first", {{kind, us, n * WAVE, 0, 0, 0}});
			for (int blocks : {16, 132, WAVE, 2 * WAVE})
				two("waves", kind, us, n * WAVE, kind, 10, blocks, (n == 1 ? 0.3 : n == 2 ? 0.6 : 2.3) * us);
			reverse("reverse", kind, us, n * WAVE, 10, WAVE, 0.3 * us);
		}
}

static void kinds()
{
	for (const char *low : {"dense", "chain", "reads"}) {
		run("kinds_alone", {{low, 20, 4 * WAVE, 0, 0, 0}});
		for (const char *high : {"dense", "chain", "reads"})
			for (int blocks : {16, 132, WAVE, 4 * WAVE})
				two("kinds", low, 20, 4 * WAVE, high, 20, blocks, 10);
	}
}

/* Launches in a row in each of two streams, or all of them in one. */
static void rows_of(const char *name, job low, int lows, job high, int highs)
{
	for (int priority : {0, -5}) {
		std::vector<job> jobs;
		for (int i = 0; i < lows; i++)
			jobs.push_back({low.kind, low.us, low.blocks, 0, 0, 0});
		for (int i = 0; i < highs; i++)
			jobs.push_back({high.kind, high.us, high.blocks, 1, priority, i ? 0 : high.delay});
		run(name, jobs);
	}
}

static void levels()
{
	for (int n : {1, 2}) {
		run("levels", {{"held", 20, n * WAVE, 0, 0, 0}, {"held", 20, n * WAVE, 1, -2, 5}, {"held", 20, n * WAVE, 2, -5, 10}});
		run("levels", {{"held", 20, n * WAVE, 0, 0, 0}, {"held", 20, n * WAVE, 1, -5, 5}, {"held", 20, n * WAVE, 2, -2, 10}});
		run("levels", {{"held", 20, n * WAVE, 0, 0, 0}, {"held", 20, n * WAVE, 1, 0, 5}, {"held", 20, n * WAVE, 2, -5, 10}});
		run("levels", {{"varied", 20, n * WAVE, 0, 0, 0}, {"varied", 20, n * WAVE, 1, -2, 5}, {"varied", 20, n * WAVE, 2, -5, 10}});
	}
	run("levels_near", {{"held", 20, 4 * WAVE, 0, 0, 0}, {"held", 20, WAVE, 1, -1, 10}});
}

static void together()
{
	for (const char *kind : {"held", "varied", "dense", "chain", "reads"})
		for (int blocks : {132, WAVE / 2, WAVE, 4 * WAVE})
			for (int priority : {0, -5}) {
				run("together", {{kind, 20, blocks, 0, 0, 0}, {kind, 20, blocks, 1, priority, 0}});
				run("together", {{kind, 20, 4 * WAVE, 0, 0, 0}, {kind, 20, blocks, 1, priority, 0}});
			}
	for (double us : {2., 5., 20., 50.})
		for (int blocks : {1, 16})
			rows_of("many", {"held", us, blocks, 0, 0, 0}, 6, {"held", us, blocks, 1, 0, 0}, 6);
}

static void in_rows()
{
	rows_of("rows", {"held", 20, 4 * WAVE, 0, 0, 0}, 1, {"held", 5, 16, 1, 0, 10}, 6);
	rows_of("rows", {"held", 20, 4 * WAVE, 0, 0, 0}, 1, {"held", 5, 132, 1, 0, 10}, 6);
	rows_of("rows", {"held", 20, WAVE, 0, 0, 0}, 4, {"held", 5, 132, 1, 0, 10}, 6);
	rows_of("rows", {"held", 20, 2 * WAVE, 0, 0, 0}, 4, {"held", 20, WAVE, 1, 0, 0}, 4);
	rows_of("rows", {"varied", 20, 4 * WAVE, 0, 0, 0}, 1, {"varied", 5, 132, 1, 0, 10}, 6);
	rows_of("rows", {"varied", 20, 2 * WAVE, 0, 0, 0}, 4, {"varied", 20, WAVE, 1, 0, 0}, 4);
	rows_of("rows", {"dense", 20, 2 * WAVE, 0, 0, 0}, 4, {"dense", 20, WAVE, 1, 0, 0}, 4);
	rows_of("rows", {"reads", 20, 2 * WAVE, 0, 0, 0}, 4, {"dense", 20, WAVE, 1, 0, 0}, 4);
}

static void copies()
{
	for (const char *kind : {"to", "from", "on", "set"})
		for (const char *other : {"to", "from", "on", "set"}) {
			bool same = !strcmp(kind, other);
			two(same ? "copies" : "copies_beside", kind, 0, 32, other, 0, 8, 10);
		}
	for (const char *kind : {"to", "from"}) {
		rows_of("copies_rows", {kind, 0, 8, 0, 0, 0}, 4, {kind, 0, 8, 1, 0, 10}, 2);
		two("copies_launch", "held", 20, 4 * WAVE, kind, 0, 8, 10);
		two("copies_launch", "reads", 20, 4 * WAVE, kind, 0, 8, 10);
	}
	for (const char *kind : {"on", "set"}) {
		two("copies_launch", "held", 20, 4 * WAVE, kind, 0, 8, 10);
		two("copies_launch", "held", 20, WAVE / 2, kind, 0, 8, 5);
		two("copies_launch", "dense", 20, 4 * WAVE, kind, 0, 8, 10);
		two("copies_launch", "reads", 20, 4 * WAVE, kind, 0, 8, 10);
		run("copies_alone", {{kind, 0, 8, 0, 0, 0}});
		run("copies_alone", {{kind, 0, 32, 0, 0, 0}});
	}
}

/* ---- graphs ---- */

static cudaGraphExec_t graph_of(int nodes)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	CHECK(cudaGraphCreate(&graph, 0));
	for (int i = 0; i < nodes; i++) {
		stamp *found = stamps + i;
		unsigned wanted = 198000, varied = 0;
		void *arguments[] = {&found, &wanted, &varied};
		cudaKernelNodeParams node = {};
		cudaGraphNode_t made;
		node.func = (void *)held;
		node.gridDim = dim3(1);
		node.blockDim = dim3(THREADS);
		node.kernelParams = arguments;
		CHECK(cudaGraphAddKernelNode(&made, graph, nullptr, 0, &node));
	}
	CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
	CHECK(cudaGraphDestroy(graph));
	return exec;
}

static int most_at_once(const std::vector<stamp> &read)
{
	int most = 0;
	for (const stamp &s : read) {
		int others = 0;
		for (const stamp &o : read)
			others += o.begin <= s.begin && s.begin < o.end;
		most = std::max(most, others);
	}
	return most;
}

static void graphs()
{
	cudaStream_t s = stream_of(0, 0);
	for (int nodes : {1, 2, 8, 16, 31, 32, 33, 48, 64, 96, 128, 129, 200}) {
		cudaGraphExec_t exec = graph_of(nodes);
		std::vector<stamp> read((size_t)nodes);
		cudaEvent_t from = new_event(), to = new_event();
		std::vector<double> us;
		for (int r = 0; r <= ROUNDS; r++) {
			CHECK(cudaEventRecord(from, s));
			CHECK(cudaGraphLaunch(exec, s));
			CHECK(cudaEventRecord(to, s));
			CHECK(cudaDeviceSynchronize());
			us.push_back(us_of(from, to));
		}
		CHECK(cudaMemcpy(read.data(), stamps, read.size() * sizeof(stamp), cudaMemcpyDeviceToHost));
		unsigned long long first = read[0].begin, last = read[0].begin;
		for (const stamp &x : read) {
			first = std::min(first, x.begin);
			last = std::max(last, x.begin);
		}
		std::sort(us.begin(), us.end());
		printf("graph,%d,%.2f,%d,%.2f\n", nodes, us[us.size() / 2], most_at_once(read), (double)(last - first) / 1e3);
		CHECK(cudaGraphExecDestroy(exec));
	}
}

/* ---- calls ---- */

template <typename CALL> static void call_ns(const char *name, CALL call)
{
	std::vector<double> ns;
	for (int r = 0; r < 200; r++) {
		held<<<1, 32, 0, stream_of(0, 0)>>>(stamps, 100, 0);
		auto from = std::chrono::steady_clock::now();
		call(r);
		ns.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - from).count());
		if (r % 20 == 19)
			CHECK(cudaDeviceSynchronize());
	}
	std::sort(ns.begin(), ns.end());
	printf("call,%s,%.0f\n", name, ns[ns.size() / 2]);
}

static void calls()
{
	cudaStream_t s = stream_of(0, 0), other = stream_of(1, 0);
	cudaEvent_t e = new_event();
	cudaGraphExec_t exec = graph_of(1);
	CHECK(cudaEventRecord(e, s));
	call_ns("launch", [&](int) { held<<<1, 32, 0, s>>>(stamps, 100, 0); });
	call_ns("launch_other", [&](int r) { held<<<1, 32, 0, r % 2 ? s : other>>>(stamps, 100, 0); });
	call_ns("record", [&](int) { CHECK(cudaEventRecord(e, s)); });
	call_ns("wait_event", [&](int) { CHECK(cudaStreamWaitEvent(other, e, 0)); });
	call_ns("copy_to", [&](int) { CHECK(cudaMemcpyAsync(area, pinned, 4096, cudaMemcpyHostToDevice, s)); });
	call_ns("copy_from", [&](int) { CHECK(cudaMemcpyAsync(pinned, area, 4096, cudaMemcpyDeviceToHost, s)); });
	call_ns("copy_on", [&](int) { CHECK(cudaMemcpyAsync(area, area + MB, 4096, cudaMemcpyDeviceToDevice, s)); });
	call_ns("set", [&](int) { CHECK(cudaMemsetAsync(area, 0, 4096, s)); });
	call_ns("query", [&](int) { (void)cudaEventQuery(e); });
	call_ns("graph", [&](int) { CHECK(cudaGraphLaunch(exec, s)); });
	call_ns("synchronize", [&](int) { CHECK(cudaStreamSynchronize(s)); });
	CHECK(cudaGraphExecDestroy(exec));
}

/* ---- programs as users write them ---- */

__global__ void saxpy(float *y, const float *x, float a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		y[i] = a * x[i] + y[i];
}

__global__ void iterate(float *y, int n, int trips)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	float v = y[i];
	for (int k = 0; k < trips; k++)
		v = v * 0.999f + 0.5f;
	y[i] = v;
}

__global__ void smooth(float *to, const float *from, int width, int height)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
		return;
	const float *at = from + y * width + x;
	to[y * width + x] = 0.25f * (at[-1] + at[1] + at[-width] + at[width]);
}

__global__ void sums(float *to, const float *from, int n)
{
	__shared__ float part[256];
	float sum = 0;
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		sum += from[i];
	part[threadIdx.x] = sum;
	for (int half = 128; half; half /= 2) {
		__syncthreads();
		if ((int)threadIdx.x < half)
			part[threadIdx.x] += part[threadIdx.x + half];
	}
	if (!threadIdx.x)
		to[blockIdx.x] = part[0];
}

struct buffers {
	float *x, *y, *z;
};

enum { ELEMENTS = 1 << 20, SIDE = 1024 };

/* Of each letter a launch: s saxpy, i iterate 200 times, I 2000 times, j 2000 times in 64 blocks, t 500 times, m smooth, r sums. */
static void launch_letter(char c, const buffers &b, cudaStream_t s)
{
	if (c == 's')
		saxpy<<<ELEMENTS / 256, 256, 0, s>>>(b.y, b.x, 2.0f, ELEMENTS);
	else if (c == 'i')
		iterate<<<ELEMENTS / 256, 256, 0, s>>>(b.y, ELEMENTS, 200);
	else if (c == 'I')
		iterate<<<ELEMENTS / 256, 256, 0, s>>>(b.y, ELEMENTS, 2000);
	else if (c == 't')
		iterate<<<ELEMENTS / 1024, 256, 0, s>>>(b.y, ELEMENTS / 4, 500);
	else if (c == 'j')
		iterate<<<64, 256, 0, s>>>(b.y, 64 * 256, 2000);
	else if (c == 'm')
		smooth<<<dim3(SIDE / 32, SIDE / 8), dim3(32, 8), 0, s>>>(b.z, b.y, SIDE, SIDE);
	else
		sums<<<132, 256, 0, s>>>(b.z, b.x, ELEMENTS);
	CHECK(cudaGetLastError());
}

static void put(std::map<std::string, std::vector<double>> &found, const char *what, double value)
{
	found[what].push_back(value);
}

/* Letters of each stream, one stream after the other or in turns. */
static void user_round(const std::string letters[2], bool turns, bool one, const int priorities[2], const buffers b[2],
                       std::map<std::string, std::vector<double>> &found)
{
	static cudaEvent_t events[4] = {new_event(), new_event(), new_event(), new_event()};
	cudaStream_t s[2] = {stream_of(50, priorities[0]), one ? stream_of(50, priorities[0]) : stream_of(51, priorities[1])};
	CHECK(cudaDeviceSynchronize());
	auto from = std::chrono::steady_clock::now();
	CHECK(cudaEventRecord(events[0], s[0]));
	if (turns)
		CHECK(cudaEventRecord(events[2], s[1]));
	for (size_t k = 0; turns && k < std::max(letters[0].size(), letters[1].size()); k++)
		for (int i = 0; i < 2; i++)
			if (k < letters[i].size())
				launch_letter(letters[i][k], b[i], s[i]);
	for (int i = 0; i < 2 && !turns; i++) {
		if (i)
			CHECK(cudaEventRecord(events[2], s[1]));
		for (char c : letters[i])
			launch_letter(c, b[i], s[i]);
		CHECK(cudaEventRecord(events[2 * i + 1], s[i]));
	}
	for (int i = 0; i < 2 && turns; i++)
		CHECK(cudaEventRecord(events[2 * i + 1], s[i]));
	CHECK(cudaDeviceSynchronize());
	put(found, "host", std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - from).count());
	put(found, "a_end", us_of(events[0], events[1]));
	put(found, "b_begin", us_of(events[0], events[2]));
	put(found, "b_end", us_of(events[0], events[3]));
	put(found, "b", us_of(events[2], events[3]));
}

static void user_program(const char *name, const std::string &a, const std::string &b, bool turns, bool one, int high)
{
	static buffers areas[2] = {};
	std::map<std::string, std::vector<double>> found;
	const std::string letters[2] = {a, b};
	const int priorities[2] = {0, high};
	for (int i = 0; i < 2 && !areas[i].x; i++)
		for (float **p : {&areas[i].x, &areas[i].y, &areas[i].z}) {
			CHECK(cudaMalloc((void **)p, ELEMENTS * sizeof(float)));
			CHECK(cudaMemset(*p, 0, ELEMENTS * sizeof(float)));
		}
	for (int r = 0; r <= USER_ROUNDS; r++) {
		user_round(letters, turns, one, priorities, areas, found);
		if (!r)
			found.clear();
	}
	for (auto &of : found)
		printf("user,%s,%s|%s,%s,%d,%s,%.2f\n", name, a.c_str(), b.c_str(), one ? "one" : turns ? "turns" : "after", high, of.first.c_str(), median(of.second));
	fflush(stdout);
}

static void users()
{
	static const char *const programs[][3] = {
		{"compute", "I", "I"},      {"compute_rows", "iiii", "iiii"}, {"small", "jjjj", "jjjj"}, {"small_large", "jjjj", "I"}, {"memory", "ssss", "ssss"},
		{"mixed", "IsIs", "sIsI"},  {"compute_memory", "II", "ssssssss"}, {"phases", "mtsr", "rstm"}, {"parts", "tttt", "tttt"},
		{"large_small", "II", "jj"}, {"large_parts", "I", "tt"}, {"large_rows", "I", "ssssss"}, {"rows_large", "ssssss", "I"},
	};
	for (auto &p : programs)
		for (int high : {0, -5}) {
			user_program(p[0], p[1], p[2], false, false, high);
			user_program(p[0], p[1], p[2], true, false, high);
			if (!high)
				user_program(p[0], p[1], p[2], false, true, high);
		}
	for (const char *c : {"s", "i", "I", "j", "t", "m", "r"})
		user_program("alone", c, "", false, true, 0);
}

int main(int argc, char **argv)
{
	bool only_user = argc > 1 && !strcmp(argv[1], "user");
	setenv("CUDA_MODULE_LOADING", "EAGER", 1); /* loading waits for what holds the streams */
	setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1); /* else some streams share a queue */
	if (!only_user) {
		int least, greatest;
		CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
		printf("range,%d,%d\n", least, greatest);
		CHECK(cudaMalloc((void **)&stamps, MOST_STAMPS * sizeof *stamps));
		CHECK(cudaMalloc((void **)&area, AREA));
		CHECK(cudaMemset(area, 0, AREA));
		CHECK(cudaMalloc((void **)&out, sizeof *out));
		CHECK(cudaHostAlloc((void **)&pinned, 3 * 64 * MB, cudaHostAllocDefault));
		CHECK(cudaHostAlloc((void **)&go, sizeof *go, cudaHostAllocDefault));
		same_division(hold);
		same_division(held);
		same_division(reads);
		same_division(computes<1>);
		same_division(computes<4>);
		clocks_up(out, 200);
		for (const char *kind : {"to", "from", "on", "set"})
			copy({kind, 0, 8, 0, 0, 0}, 0, stream_of(0, 0));
		printf("launch,case,priorities,n,kind,us,blocks,delay,event_begin,arrival,first,first_10,last,first_end,last_end,event_end,sms,between\n");
		together();
		kinds();
		levels();
		in_rows();
		copies();
		waves("held");
		waves("varied");
		graphs();
		calls();
		clocks_up(out, 50);
	}
	users();
	return 0;
}
