/*
 * What surrounds the text of lifted kernels: groups and their scratch, warps and their stacks, barriers, counters. structure.c writes the
 * launch's struct before it, and values that are the same for all kernels (GS_...).
 *
 * A warp has a list of entries beside the lanes m that run. A SIDE is lanes that go on at pc when it is their turn. A JOIN is a place where
 * lanes wait for others: `arrived` are there, `mask` are expected. `join` of an entry is the JOIN that its lanes lead to, and `jpc` the
 * place of that; a call is a JOIN too, whose jpc is no place, because only a return leads there.
 *
 * Lanes that wait at a barrier are a SIDE with wait = barrier + 1, unless they are all that is left of the warp. Where nothing can run,
 * lanes that have come to a JOIN go on without the others, as they may on hardware since Volta. HELD lanes wait for other lanes of the warp
 * at an instruction that names them (meetings.c); `arrived` are those that need not wait any more.
 */

/*
 * POCL does not inline its own functions into those that are kept apart (GS_APART). So the simple ones are the compiler's.
 */
//@ lift_frame_builtins
#define GS_OVER static inline __attribute__((overloadable, always_inline))
GS_OVER float gs_fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
GS_OVER double gs_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
GS_OVER float gs_fabs(float a) { return __builtin_fabsf(a); }
GS_OVER double gs_fabs(double a) { return __builtin_fabs(a); }
GS_OVER float gs_sqrt(float a) { return __builtin_sqrtf(a); }
GS_OVER double gs_sqrt(double a) { return __builtin_sqrt(a); }
GS_OVER float gs_copysign(float a, float b) { return __builtin_copysignf(a, b); }
GS_OVER double gs_copysign(double a, double b) { return __builtin_copysign(a, b); }
GS_OVER int gs_isfinite(float a) { return (as_uint(a) & 0x7f800000u) != 0x7f800000u; }
GS_OVER int gs_isfinite(double a) { return (as_ulong(a) & 0x7ff0000000000000ul) != 0x7ff0000000000000ul; }
GS_OVER int gs_isinf(float a) { return (as_uint(a) & 0x7fffffffu) == 0x7f800000u; }
GS_OVER int gs_isinf(double a) { return (as_ulong(a) & 0x7ffffffffffffffful) == 0x7ff0000000000000ul; }
GS_OVER uint gs_clz(uint a) { return a ? (uint)__builtin_clz(a) : 32u; }
GS_OVER int gs_clz(int a) { return a ? __builtin_clz((uint)a) : 32; }
GS_OVER ulong gs_clz(ulong a) { return a ? (ulong)__builtin_clzl(a) : 64ul; }
GS_OVER long gs_clz(long a) { return a ? (long)__builtin_clzl((ulong)a) : 64l; }
GS_OVER uint gs_popcount(uint a) { return (uint)__builtin_popcount(a); }
GS_OVER ulong gs_popcount(ulong a) { return (ulong)__builtin_popcountl(a); }
#define GS_ORDER(T) GS_OVER T gs_min(T a, T b) { return b < a ? b : a; } GS_OVER T gs_max(T a, T b) { return a < b ? b : a; } \
	GS_OVER T gs_clamp(T a, T low, T high) { return a < low ? low : high < a ? high : a; }
GS_ORDER(uchar)
GS_ORDER(char)
GS_ORDER(ushort)
GS_ORDER(short)
GS_ORDER(uint)
GS_ORDER(int)
GS_ORDER(ulong)
GS_ORDER(long)
#define fma gs_fma
#define fabs gs_fabs
#define sqrt gs_sqrt
#define copysign gs_copysign
#define isfinite gs_isfinite
#define isinf gs_isinf
#define clz gs_clz
#define popcount gs_popcount
#define min gs_min
#define max gs_max
#define clamp gs_clamp

/* What surrounds kernels. */
//@ lift_frame
struct gs_entry { uint pc, join, jpc, mask, arrived, kind, wait, generation, depth; };
struct gs_warp { uint status, pc, m, alive, join, jpc, sp, wait, generation, all, start, turn, depth, spins, parted, straight, looks;
	uint phase, came, counted, cluster_warps, cluster_came, cluster_phase; /* of cluster barriers; the last three: of the cluster, in its first warp */
	ulong clock; /* how far it has come, in instructions; where somebody fetches from a queue */ };
struct gs_barrier { uint arrived, only, expected, generation, count, all, any, was_count, was_all, was_any;
	ulong latest, opened; /* clocks: of the last that came; when it opened */ };
struct gs_group {
	ulong number, shared, shared_bytes, states, locals;
	uint ctaid_x, ctaid_y, ctaid_z, ntid_x, ntid_y, ntid_z, nctaid_x, nctaid_y, nctaid_z;
	uint warps, threads, slot, live_warps, cluster_groups;
	ulong trace, clock, counts, count_step;
	/* As `clock` of warps: of the last that ended; of the first that can run; those that are further have to wait. */
	ulong ended, next, horizon;
	struct gs_barrier barriers[16];
};
#define GS_KEPT_GROUP(at) ((__global struct gs_group *)(launch->groups + (ulong)(at) * GS_GROUP_BYTES))
#define GS_SIDE 1u
#define GS_JOIN 2u
#define GS_HELD 3u
#define GS_NEW 0u
#define GS_ENDED 1u
#define GS_WAITING 2u
#define GS_PARKED 3u
#define GS_YIELDED 4u
#define GS_FAULTED 5u
#define GS_HOLDS 6u
#define GS_NO_PC 0x7fffffffu
#define GS_ALL _Pragma("clang loop unroll(disable) vectorize(assume_safety) interleave_count(1)")
#define GS_SOME _Pragma("clang loop unroll(disable) vectorize(assume_safety) interleave_count(1)")
/*
 * No compiler inlines a function that lists its arguments, and none from LLVM 19 on takes it; nor one with jumps to addresses. `never` is 0. There
 * each function compares it with another number, or what one of them knows after its test would be known to those that it calls.
 */
#if __clang_major__ >= 19
#define GS_APART(never) if (never == __LINE__) { goto *(&&gs_one + ((ulong)&&gs_other & never)); \
	gs_one: return 1; gs_other: return 2; }
#else
void gs_list(__private void *) __asm__("llvm.va_start");
#define GS_APART(never) if (never) { ulong gs_l[8]; gs_list(gs_l); return (uint)gs_l[0]; }
#endif
/*
 * What a warp counts in one place: how often all lanes came that began, and how often those of `mask`, the last that were others. In loops
 * these are the same lanes many times. What other lanes came before is in `parts` for each lane, if `kept`.
 */
struct gs_count { ulong all, some, mask, kept; };
static uint gs_count_word(ulong n) { return n > 0xffffffffu ? 0xffffffffu : (uint)n; }
static uint gs_count_sum(uint a, uint b) { return a + b < a ? 0xffffffffu : a + b; }
static uint gs_count_some(__global struct gs_warp *S, __global struct gs_count *c, __global uint *part, uint mask, uint never)
{
	GS_APART(never)
	uint last = (uint)c->mask, times = gs_count_word(c->some);
	if (last && !c->kept)
		GS_ALL for (uint l = 0; l < 32; l++) part[l] = last >> l & 1u ? times : 0u;
	else if (last)
		GS_ALL for (uint l = 0; l < 32; l++) part[l] = gs_count_sum(part[l], last >> l & 1u ? times : 0u);
	c->kept |= last;
	c->mask = mask;
	c->some = 1;
	S->parted = 1;
	return 0;
}
#define GS_COUNT(k, lanes) if ((lanes) == start) counts[k].all++; else if (counts[k].mask == (lanes)) counts[k].some++; \
	else gs_count_some(S, counts + k, parts + 32 * k, lanes, never);
#define GS_NO_COUNTS for (uint c = 0; c < GS_COLUMNS; c++) counts[c].all = counts[c].mask = counts[c].kept = 0;
static uint gs_fault(__global struct gs_launch *launch, ulong group, uint kind, uint line, ulong a, ulong b, ulong c, ulong d, uint never)
{
	GS_APART(never)
	__global struct gs_fault_words *f = (__global struct gs_fault_words *)launch->fault;
	if (!f || atomic_cmpxchg((volatile __global uint *)&f->kind, 0u, kind))
		return 0;
	f->line = line;
	f->group = group;
	f->words[0] = a;
	f->words[1] = b;
	f->words[2] = c;
	f->words[3] = d;
	return 0;
}
/* The guard returns twice where an access fails: its caller then ends, and so do all that it called. It has nothing else to do, so that the compiler
 * need not know. */
#ifdef __GPUSIM_NATIVE
uint gs_guard(__global struct gs_launch *launch) __asm__(GS_NATIVE "guard");
void gs_guard_end(void) __asm__(GS_NATIVE "guard_end");
#define GS_GUARD(launch) gs_guard(launch)
#define GS_GUARD_END gs_guard_end();
#else
#define GS_GUARD(launch) 0
#define GS_GUARD_END
#endif
static uint gs_failed(__global struct gs_launch *launch)
{
	return launch->fault && *(volatile __global uint *)launch->fault;
}
#define GS_FAULT(kind, line, a, b, c, d) { gs_fault(launch, g->number, kind, line, a, b, c, d, never); goto FAULTED; }

static uint gs_take_slot(__global struct gs_launch *launch, ulong first)
{
	volatile __global uint *flags = (volatile __global uint *)launch->slot_flags;
	uint slots = (uint)launch->slots, slot = (uint)first % slots;
	while (atomic_cmpxchg(flags + slot, 0u, 1u))
		slot = slot + 1 == slots ? 0 : slot + 1;
	return slot;
}
static uint gs_cluster_size(__global struct gs_launch *launch, uint d)
{
	return launch->cluster[d] ? (uint)launch->cluster[d] : 1u;
}
/* A group's number and sizes, and where it is in its slot. 0: another group has found a fault. */
static uint gs_begin(__global struct gs_launch *launch, __private struct gs_group *g, ulong at, ulong warp_bytes, ulong local_bytes, ulong shared_bytes)
{
	__global uint *order = (__global uint *)launch->order;
	if (gs_failed(launch))
		return 0;
	g->number = order ? order[at] & GS_ORDER_NUMBER : launch->first + at;
	g->nctaid_x = (uint)launch->grid[0];
	g->nctaid_y = (uint)launch->grid[1];
	g->nctaid_z = (uint)launch->grid[2];
	g->ctaid_x = (uint)g->number;
	g->ctaid_y = g->ctaid_z = 0;
	if (g->number >= launch->grid[0]) {
		ulong row = g->number / launch->grid[0];
		g->ctaid_x = (uint)(g->number - row * launch->grid[0]);
		g->ctaid_z = (uint)(row / launch->grid[1]);
		g->ctaid_y = (uint)(row - g->ctaid_z * launch->grid[1]);
	}
	g->ntid_x = (uint)launch->block[0];
	g->ntid_y = (uint)launch->block[1];
	g->ntid_z = (uint)launch->block[2];
	g->threads = g->ntid_x * g->ntid_y * g->ntid_z;
	g->warps = g->live_warps = (g->threads + 31) / 32;
	g->shared = launch->scratch + g->slot * launch->slot_bytes;
	g->shared_bytes = (shared_bytes + 15) / 16 * 16 + launch->dynamic_shared;
	g->states = g->shared + (g->shared_bytes + 255) / 256 * 256;
	g->locals = g->states + g->warps * warp_bytes;
	g->trace = g->clock = 0;
	g->cluster_groups = gs_cluster_size(launch, 0) * gs_cluster_size(launch, 1) * gs_cluster_size(launch, 2);
	return 1;
}
static void gs_begin_barriers(__private struct gs_group *g)
{
	for (uint b = 0; b < 16; b++) {
		g->barriers[b].arrived = g->barriers[b].only = g->barriers[b].expected = g->barriers[b].generation = 0;
		g->barriers[b].count = g->barriers[b].any = 0;
		g->barriers[b].latest = g->barriers[b].opened = 0;
		g->barriers[b].all = 1;
	}
}
static void gs_release(__global struct gs_launch *launch, __private struct gs_group *g)
{
	atomic_xchg((volatile __global uint *)launch->slot_flags + g->slot, 0u);
}
static void gs_begin_warp(__private struct gs_group *g, __global struct gs_warp *s, uint warp)
{
	uint left = g->threads - warp * 32;
	s->status = GS_NEW;
	s->phase = s->came = s->counted = s->cluster_came = s->cluster_phase = 0;
	s->cluster_warps = g->warps * g->cluster_groups;
	s->pc = s->sp = s->all = s->turn = s->depth = s->spins = s->parted = s->looks = 0;
	s->straight = 32;
	s->clock = g->ended;
	s->join = 0;
	s->jpc = GS_NO_PC;
	s->m = s->alive = s->start = left >= 32 ? 0xffffffffu : (1u << left) - 1u;
}
/* As counter_place of runtime/format/counters.h. */
static ulong gs_counted_place(ulong group, ulong groups, ulong room)
{
	if (room >= groups || !room)
		return room ? group : 0ul;
	ulong stretch = group * room / groups, begin = (stretch * groups + room - 1) / room, end = ((stretch + 1) * groups + room - 1) / room;
	ulong mixed = stretch * 0x9e3779b97f4a7c15ul;
	return begin + ((mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9ul >> 32) % (end - begin) == group ? stretch : room;
}
/* Where the counters of a group's threads are: the first thread's first word, and how many words apart those of a thread are. */
static void gs_place_counts(__global struct gs_launch *launch, __private struct gs_group *g, uint columns)
{
	__global ulong *words = (__global ulong *)launch->counters;
	ulong slots = launch->counter_slots, places = launch->counter_places, room = places / g->threads;
	ulong place = gs_counted_place(g->number, launch->grid[0] * launch->grid[1] * launch->grid[2], room);
	uint fits = place < room;
	g->counts = 0;
	if (!words)
		return;
	words[GS_COUNTER_HEADER + (g->number < slots ? g->number : slots)] =
		g->ntid_x | (ulong)g->ntid_y << GS_COUNTER_BITS | (ulong)g->ntid_z << 2 * GS_COUNTER_BITS;
	g->count_step = fits ? places : 0;
	g->counts = (ulong)((__global uint *)(words + GS_COUNTER_HEADER + 1 + slots) + (fits ? place * g->threads : columns * places));
}
/* The counters of a warp that has ended, for each of its threads. */
static uint gs_store_some(__private struct gs_group *g, uint warp, __global struct gs_count *counts, __global uint *parts, uint columns, uint start, uint never)
{
	GS_APART(never)
	for (uint c = 0; c < columns && g->counts; c++) {
		__global uint *out = (__global uint *)g->counts + warp * 32 + c * g->count_step, *part = parts + 32 * c;
		uint all = gs_count_word(counts[c].all), times = gs_count_word(counts[c].some), last = (uint)counts[c].mask, sums[32];
		GS_ALL for (uint l = 0; l < 32; l++) sums[l] = gs_count_sum(all, last >> l & 1u ? times : 0u);
		if (counts[c].kept)
			GS_ALL for (uint l = 0; l < 32; l++) sums[l] = gs_count_sum(sums[l], part[l]);
		if (start == 0xffffffffu)
			GS_ALL for (uint l = 0; l < 32; l++) out[l] = sums[l];
		else
			for (uint l = 0; l < 32 && start >> l; l++)
				if (start >> l & 1u)
					out[l] = sums[l];
	}
	return 0;
}
#define GS_STORE_ALL for (uint c = 0; c < GS_COLUMNS; c++) { uint n = gs_count_word(counts[c].all); \
	__global uint *out = (__global uint *)g->counts + warp * 32 + c * g->count_step; \
	GS_ALL for (uint l = 0; l < 32; l++) out[l] = n; }

/* Barriers. Threads arrive by warps: a warp whose living lanes are all there counts as 32. */
static void gs_open(__private struct gs_barrier *b)
{
	b->was_count = b->count;
	b->was_all = b->all;
	b->was_any = b->any;
	b->opened = b->latest;
	b->count = b->any = b->arrived = b->only = b->expected = 0;
	b->all = 1;
	b->generation++;
}
static uint gs_waiting(__global struct gs_warp *s, __global struct gs_entry *e, uint id, uint generation)
{
	uint mask = 0;
	for (uint k = 0; k < s->sp; k++)
		if (e[k].kind == GS_SIDE && e[k].wait == id + 1 && e[k].generation == generation)
			mask |= e[k].mask;
	return mask;
}
/* Lanes m of a warp arrive. 1: the barrier opens. */
static uint gs_arrive(__private struct gs_group *g, __global struct gs_warp *s, __global struct gs_entry *e, uint id, uint expected, uint m,
	uint alive, uint stays, uint never)
{
	GS_APART(never)
	__private struct gs_barrier *b = &g->barriers[id];
	uint count = 32;
	if (m != alive) {
		uint there = gs_waiting(s, e, id, b->generation) & alive;
		count = (there | m) == alive ? 32 - popcount(there) : popcount(m);
	}
	b->arrived += count;
	b->only += stays ? 0 : count;
	b->expected = expected;
	if (b->arrived < (expected ? expected : 32 * g->live_warps))
		return 0;
	gs_open(b);
	return 1;
}
/* Nobody can run. Warps and lanes that have ended count as arrived. 1: some barrier opens. */
static uint gs_open_late(__private struct gs_group *g, ulong warp_bytes, uint entries_at)
{
	uint opened = 0;
	for (uint id = 0; id < 16; id++) {
		__private struct gs_barrier *b = &g->barriers[id];
		uint arrived = b->only;
		if (!b->arrived)
			continue;
		for (uint w = 0; w < g->warps; w++) {
			__global struct gs_warp *s = (__global struct gs_warp *)(g->states + w * warp_bytes);
			if (s->status == GS_ENDED)
				continue;
			uint there = gs_waiting(s, (__global struct gs_entry *)((ulong)s + entries_at), id, b->generation);
			if (s->status == GS_WAITING && s->wait == id && s->generation == b->generation)
				there |= s->m;
			there &= s->alive;
			arrived += there == s->alive ? 32 : popcount(there);
		}
		if (arrived < (b->expected ? b->expected : 32 * g->live_warps))
			continue;
		gs_open(b);
		opened = 1;
	}
	return opened;
}
static uint gs_can_run(__private struct gs_group *g, __global struct gs_warp *s, uint entries_at)
{
	if (s->status == GS_ENDED)
		return 0;
	if (s->status == GS_WAITING)
		return g->barriers[s->wait].generation != s->generation;
	if (s->status != GS_PARKED)
		return 1;
	__global struct gs_entry *e = (__global struct gs_entry *)((ulong)s + entries_at);
	for (uint k = 0; k < s->sp; k++)
		if (e[k].kind == GS_SIDE && e[k].wait && g->barriers[e[k].wait - 1].generation != e[k].generation)
			return 1;
	return 0;
}
/* Where warps that have done less go first: how far one has come that can run. It may have waited for the last at a barrier. */
#define GS_STEP 256ul
static ulong gs_now(__private struct gs_group *g, __global struct gs_warp *s)
{
	if (s->status == GS_WAITING)
		s->clock = max(s->clock, g->barriers[s->wait].opened);
	for (uint b = 0; b < 16 && s->status == GS_PARKED; b++) /* at which of them its lanes were does not matter: the others opened before */
		s->clock = max(s->clock, g->barriers[b].opened);
	return s->clock;
}
/* The first of its warps. Where none can run, it is the group's turn at once: barriers may open late. */
static ulong gs_next(__private struct gs_group *g, ulong warp_bytes, uint entries_at, uint never)
{
	GS_APART(never)
	ulong next = ~0ul;
	for (uint w = 0; w < g->warps; w++) {
		__global struct gs_warp *s = (__global struct gs_warp *)(g->states + w * warp_bytes);
		if (gs_can_run(g, s, entries_at))
			next = min(next, gs_now(g, s));
	}
	return next == ~0ul ? 0ul : next;
}
static ulong gs_first(__global struct gs_launch *launch, uint held)
{
	ulong first = ~0ul - GS_STEP;
	for (uint k = 0; k < held; k++)
		if (GS_KEPT_GROUP(k)->live_warps)
			first = min(first, GS_KEPT_GROUP(k)->next);
	return first;
}

/*
 * Clusters: groups that run together. Slots have the numbers of groups then, so that memory of another group of the cluster is some slots away.
 */
static ulong gs_to_peer(__global struct gs_launch *launch, __private struct gs_group *g, uint rank)
{
	uint sx = gs_cluster_size(launch, 0), sy = gs_cluster_size(launch, 1), sz = gs_cluster_size(launch, 2);
	long x = (long)(rank % sx) - g->ctaid_x % sx, y = (long)(rank / sx % sy) - g->ctaid_y % sy, z = (long)(rank / sx / sy % sz) - g->ctaid_z % sz;
	return (ulong)((x + g->nctaid_x * (y + g->nctaid_y * z)) * (long)launch->slot_bytes);
}
/* The rank in its cluster of the group whose shared memory the address is in. */
static uint gs_rank_of(__global struct gs_launch *launch, ulong address)
{
	uint sx = gs_cluster_size(launch, 0), sy = gs_cluster_size(launch, 1), sz = gs_cluster_size(launch, 2);
	ulong group = (address - launch->scratch) / launch->slot_bytes, row = group / launch->grid[0];
	return sx * sy * sz == 1 ? 0u : (uint)(group % launch->grid[0] % sx + sx * (row % launch->grid[1] % sy + sy * (row / launch->grid[1] % sz)));
}
/* Whether it is in the shared memory of a group of the cluster, as far as one can tell groups of other clusters from them: programs have no such addresses. */
static uint gs_in_cluster(__global struct gs_launch *launch, __private struct gs_group *g, ulong address)
{
	ulong at = address - launch->scratch;
	if (g->cluster_groups == 1)
		return address - g->shared < g->shared_bytes;
	return at < launch->slots * launch->slot_bytes && at % launch->slot_bytes < g->shared_bytes;
}
/* What the warps of a cluster meet with: a part of the state of the first of them. */
static __global struct gs_warp *gs_cluster(__global struct gs_launch *launch, __private struct gs_group *g)
{
	return (__global struct gs_warp *)(g->states + gs_to_peer(launch, g, 0));
}
/* A warp counts when all its living lanes have come. */
static void gs_cluster_look(__global struct gs_warp *c, __global struct gs_warp *s, uint alive)
{
	if (s->phase == c->cluster_phase && s->came && !s->counted && !(alive & ~s->came)) {
		s->counted = 1;
		c->cluster_came++;
	}
	if (c->cluster_came && c->cluster_came == c->cluster_warps) {
		c->cluster_came = 0;
		c->cluster_phase++;
	}
}
static uint gs_cluster_arrive(__global struct gs_launch *launch, __private struct gs_group *g, __global struct gs_warp *s, uint m, uint alive, uint never)
{
	GS_APART(never)
	__global struct gs_warp *c = gs_cluster(launch, g);
	if (s->phase != c->cluster_phase)
		s->came = s->counted = 0;
	s->phase = c->cluster_phase;
	s->came |= m;
	gs_cluster_look(c, s, alive);
	return 0;
}
/* Whether lanes m have to wait for others of the cluster. */
static uint gs_cluster_waits(__global struct gs_launch *launch, __private struct gs_group *g, __global struct gs_warp *s, uint m, uint alive, uint never)
{
	GS_APART(never)
	__global struct gs_warp *c = gs_cluster(launch, g);
	gs_cluster_look(c, s, alive);
	return s->phase == c->cluster_phase && (s->came & m);
}
/* A warp has ended: nobody waits for it any more. */
static void gs_cluster_leave(__global struct gs_launch *launch, __private struct gs_group *g, __global struct gs_warp *s)
{
	__global struct gs_warp *c = gs_cluster(launch, g);
	c->cluster_warps--;
	c->cluster_came -= s->counted && s->phase == c->cluster_phase;
	s->came = s->counted = 0;
	gs_cluster_look(c, s, 0);
}

/* Entries: one that can run. 0: there is none. */
static uint gs_runnable(__private struct gs_group *g, __global struct gs_entry *e, uint k, uint alive)
{
	uint mask = e[k].mask & alive;
	if (!mask)
		return 0;
	if (e[k].kind == GS_JOIN)
		return (e[k].arrived & alive) == mask;
	if (e[k].kind == GS_HELD)
		return (e[k].arrived & mask) != 0;
	return !e[k].wait || g->barriers[e[k].wait - 1].generation != e[k].generation;
}
/* The entry that runs next, from `from` on and around; JOINs only as a whole, or (some) with those that have come. -1: none. */
static uint gs_find(__private struct gs_group *g, __global struct gs_entry *e, uint sp, uint alive, uint some, uint never)
{
	GS_APART(never)
	for (uint k = sp; k-- > 0;)
		if (gs_runnable(g, e, k, alive))
			return k;
	for (uint k = sp; some && k-- > 0;)
		if (e[k].kind == GS_JOIN && (e[k].arrived & e[k].mask & alive))
			return k;
	return GS_NO_PC;
}
/*
 * The same for lanes that wait for others in a loop: their turn goes around. Where groups run in turn, it is mostly these that lanes wait
 * for. So lanes that have come to a JOIN go on without the others now and then only: they would stay apart.
 */
static uint gs_find_other(__private struct gs_group *g, __global struct gs_warp *s, __global struct gs_entry *e, uint sp, uint alive, uint together,
	uint never)
{
	GS_APART(never)
	uint some = !together || ++s->looks % GS_MOST_LOOKS == 0;
	for (uint i = 1; i <= sp; i++) {
		uint k = (s->turn + i) % sp;
		if (gs_runnable(g, e, k, alive) || (some && e[k].kind == GS_JOIN && (e[k].arrived & e[k].mask & alive))) {
			s->turn = k;
			return k;
		}
	}
	return GS_NO_PC;
}
/* The lanes of an entry that go on, if it is chosen. */
static uint gs_going(__global struct gs_entry *e, uint k, uint alive)
{
	return (e[k].kind == GS_SIDE ? e[k].mask : e[k].arrived & e[k].mask) & alive;
}

/*
 * What lanes that are held have brought. The values of a set that is complete are needed until all its lanes have gone on (`pending`).
 * Until then nobody else is held: lanes that would be come again later.
 */
struct gs_meeting {
	uint pending, there, held, loose, met, force, r0, r1; /* there: lanes whose values are known to those of the set */
	uint kinds[32], masks[32];
	ulong values[32];
};
#define GS_MET(k) met = 0; first = k; if (E[k].kind == GS_HELD) { met = H->there; H->pending &= ~some; }
#define GS_KEPT_MASK(l) H->masks[l]
#define GS_MEETING(named, what, mask, keep, take) if (met | ((named) & alive & ~x)) { \
	if (!met) { \
		if (!H->pending) GS_LANES if (m >> l & 1u) { \
			H->kinds[l] = what; H->masks[l] = x >> l & 1u ? mask : 1u << l; H->values[l] = keep; } \
		pc = GS_HERE; goto HOLD; } \
	GS_LANES if ((met & ~x) >> l & 1u) { ulong gs_k = H->values[l]; take; } }
/* Lanes that all they name are held with. */
static uint gs_complete(__global struct gs_meeting *h, uint held, uint alive)
{
	uint met = 0;
	for (uint l = 0; l < 32; l++) {
		uint named = h->masks[l] & alive, same = 0;
		if (!(held >> l & 1u) || (named & ~held))
			continue;
		for (uint j = 0; j < 32; j++)
			same |= (uint)(h->masks[j] == h->masks[l] && h->kinds[j] == h->kinds[l]) << j;
		met |= (uint)(!(named & ~same)) << l;
	}
	return met;
}
/* Entries of lanes that go on at the same place, in the same state, become one. */
static void gs_unite(__global struct gs_warp *s, __global struct gs_entry *e, uint sp, ulong snapshots, uint bytes)
{
	for (uint a = 0; a < sp; a++)
		for (uint b = a + 1; b < sp && e[a].kind == GS_HELD && e[a].arrived && e[a].arrived == e[a].mask; b++) {
			uint same = e[b].kind == GS_HELD && e[b].arrived && e[b].arrived == e[b].mask && e[a].pc == e[b].pc && e[a].join == e[b].join &&
				e[a].jpc == e[b].jpc && e[a].depth == e[b].depth;
			for (uint i = 0; same && i < bytes; i += 4)
				same = *(__global uint *)((ulong)s + snapshots + a * bytes + i) == *(__global uint *)((ulong)s + snapshots + b * bytes + i);
			if (!same)
				continue;
			e[a].mask |= e[b].mask;
			e[a].arrived |= e[b].arrived;
			e[b].mask = e[b].arrived = e[b].kind = 0;
		}
}
/* Looks which lanes need not wait any more. */
static uint gs_resolve(__global struct gs_warp *s, __global struct gs_entry *e, __global struct gs_meeting *h, uint sp, uint alive, ulong snapshots,
	uint bytes, uint never)
{
	GS_APART(never)
	uint held = 0;
	for (uint k = 0; k < sp; k++)
		held |= e[k].kind == GS_HELD ? e[k].mask : 0u;
	h->held = held;
	if (h->pending || !held)
		return 0;
	h->pending = gs_complete(h, held, alive);
	h->there = held;
	for (uint k = 0; h->pending && k < sp; k++)
		if (e[k].kind == GS_HELD)
			e[k].arrived = e[k].mask & h->pending;
	if (h->pending)
		gs_unite(s, e, sp, snapshots, bytes);
	return 0;
}
/* Nobody can run: lanes that are held go on with those that are there. */
static uint gs_force(__global struct gs_entry *e, __global struct gs_meeting *h, uint sp, uint alive)
{
	h->force = 0;
	for (uint k = sp; k-- > 0;)
		if (e[k].kind == GS_HELD && (e[k].mask & alive)) {
			h->there = h->pending = e[k].arrived = e[k].mask;
			return k;
		}
	return GS_NO_PC;
}
/* The entry that runs next, where lanes are held: first those whose values are still kept. */
static uint gs_choose(__private struct gs_group *g, __global struct gs_warp *s, __global struct gs_entry *e, __global struct gs_meeting *h, uint sp,
	uint alive, uint alone, ulong snapshots, uint bytes, uint never)
{
	GS_APART(never)
	gs_resolve(s, e, h, sp, alive, snapshots, bytes, never);
	for (uint k = 0; h->pending && k < sp; k++)
		if (e[k].kind == GS_HELD && (e[k].arrived & e[k].mask))
			return k;
	uint k = gs_find(g, e, sp, alive, 1, never);
	return k == GS_NO_PC && (alone || h->force) ? gs_force(e, h, sp, alive) : k;
}
/* Removes entries without lanes, which are not only at the end where lanes are held, or wait for barriers or for others in loops. Returns how many are left, and where the JOIN is. */
static uint gs_compact(__global struct gs_warp *s, __global struct gs_entry *e, uint sp, uint alive, uint join, ulong snapshots, uint bytes, uint never)
{
	GS_APART(never)
	uint used = 0, to = join;
	for (uint k = 0; k < sp; k++) {
		if (!(e[k].mask & alive))
			continue;
		e[used] = e[k];
		for (uint i = 0; i < bytes && used < k; i += 4)
			*(__global uint *)((ulong)s + snapshots + used * bytes + i) = *(__global uint *)((ulong)s + snapshots + k * bytes + i);
		for (uint j = used < k ? 0 : sp; j < sp; j++)
			if ((j <= used || j > k) && e[j].join == k)
				e[j].join = used;
		to = join == k ? used : to;
		used++;
	}
	return used | to << 16;
}
#define GS_COMPACT(snapshots, bytes) if (sp + 4 > GS_DEPTH) { \
	uint packed = gs_compact(S, E, sp, alive, join, snapshots, bytes, never); sp = packed & 0xffffu; join = packed >> 16; }
/* No warp of the group can run. 1: some have lanes that are held, and these go on. */
static uint gs_give_up(__private struct gs_group *g, ulong warp_bytes, uint entries_at, uint meeting_at)
{
	uint found = 0;
	for (uint w = 0; w < g->warps; w++) {
		__global struct gs_warp *s = (__global struct gs_warp *)(g->states + w * warp_bytes);
		__global struct gs_meeting *h = (__global struct gs_meeting *)((ulong)s + meeting_at);
		if (s->status != GS_PARKED || !h->held)
			continue;
		h->force = 1;
		s->status = GS_YIELDED;
		found = 1;
	}
	return found;
}
#define GS_FIRST(mask) ((uint)__builtin_ctz(mask)) /* the mask is not 0 */
#define GS_KEEP(type, at, r) GS_ALL for (uint l = 0; l < 32; l++) ((__global type *)((ulong)S + at))[l] = r[l];
#define GS_TAKE(type, at, r) GS_ALL for (uint l = 0; l < 32; l++) r[l] = ((__global type *)((ulong)S + at))[l];
#define GS_SAVE(type, at, r) GS_LANES if (m >> l & 1u) ((__global type *)(GS_FRAMES + at))[l] = r[l];
#define GS_RESTORE(type, at, r) GS_LANES if (m >> l & 1u) r[l] = ((__global type *)(GS_FRAMES + at))[l];
#define GS_GROUP_VALUES const uint ntid_x = g->ntid_x, ntid_y = g->ntid_y, ntid_z = g->ntid_z, ctaid_x = g->ctaid_x, \
	ctaid_y = g->ctaid_y, ctaid_z = g->ctaid_z, nctaid_x = g->nctaid_x, nctaid_y = g->nctaid_y, nctaid_z = g->nctaid_z; \
	const uint cluster_x = gs_cluster_size(launch, 0), cluster_y = gs_cluster_size(launch, 1), cluster_z = gs_cluster_size(launch, 2); \
	const ulong shared = g->shared, parameters = launch->parameters, variables = launch->variables;
#define GS_THREAD_IDS uint tid_x[32] __attribute__((aligned(64))), tid_y[32] __attribute__((aligned(64))), tid_z[32] __attribute__((aligned(64)));
#define GS_NEXT_THREAD(by) x += by; if (x == ntid_x && ntid_y * ntid_z > 1) { x = 0; if (++y == ntid_y) { y = 0; z++; } }
/* Threads of lanes that are a row follow each other in x. `straight`: how many lanes of the warp are a row; 0: less than 16 */
#define GS_FIND_THREADS { uint x = warp * 32, y = 0, z = 0; \
	if (ntid_y * ntid_z > 1) { y = x / ntid_x; x -= y * ntid_x; z = y / ntid_y; y -= z * ntid_y; } \
	const uint row = ntid_y * ntid_z == 1 || ntid_x - x >= 32 ? 32 : ntid_x % 16 ? 0 : 16; \
	straight = min(straight, row); \
	if (row) for (uint k = 0; k < 2; k++) { \
		((GS_IDS uint16 *)tid_x)[k] = x + (uint16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15); \
		((GS_IDS uint16 *)tid_y)[k] = y; \
		((GS_IDS uint16 *)tid_z)[k] = z; \
		GS_NEXT_THREAD(16) } \
	else for (uint l = 0; l < 32; l++) { tid_x[l] = x; tid_y[l] = y; tid_z[l] = z; GS_NEXT_THREAD(1) } }
#define GS_TID_X tid_x[l]
#define GS_TID_Y tid_y[l]
#define GS_TID_Z tid_z[l]
#define GS_NTID_X ntid_x
#define GS_NTID_Y ntid_y
#define GS_NTID_Z ntid_z
#define GS_CTAID_X ctaid_x
#define GS_CTAID_Y ctaid_y
#define GS_CTAID_Z ctaid_z
#define GS_NCTAID_X nctaid_x
#define GS_NCTAID_Y nctaid_y
#define GS_NCTAID_Z nctaid_z
#define GS_CLUSTERED (launch->cluster[0] != 0)
#define GS_CLUSTER_X cluster_x
#define GS_CLUSTER_Y cluster_y
#define GS_CLUSTER_Z cluster_z
#define GS_TO_PEER(rank) gs_to_peer(launch, g, rank)
#define GS_RANK_OF(address) gs_rank_of(launch, address)
#define GS_IN_CLUSTER(address) gs_in_cluster(launch, g, address)
#define GS_WARP warp
#define GS_WARPS (g->warps)
#define GS_GROUP (g->number)
#define GS_SHARED shared
#define GS_SHARED_BYTES (g->shared_bytes)
#define GS_DYNAMIC_SHARED (launch->dynamic_shared)
#define GS_PARAMETERS parameters
#define GS_VARIABLES variables
#define GS_CC cc[l]
#define GS_ELSEWHERE(lanes, line) if ((lanes) & alive) GS_FAULT(GS_LIFTED_ELSEWHERE, line, 0, 0, 0, 0)
#define GS_CLOCK gs_clock(launch, g)
#define GS_LAUNCH launch
#define GS_WORKSPACE (launch->workspace)
static ulong gs_clock(__global struct gs_launch *launch, __private struct gs_group *g)
{
	g->clock += 64;
	return launch->clock + g->clock;
}
#define GS_PUSH(to, lanes, type) { if (sp >= GS_DEPTH) GS_FAULT(GS_LIFTED_STACK, 0, 0, 0, 0, 0) \
	E[sp].pc = to; E[sp].join = join; E[sp].jpc = jpc; E[sp].mask = lanes; E[sp].arrived = 0; E[sp].kind = type; E[sp].wait = 0; E[sp].depth = GS_NOW; sp++; }
#define GS_MEET(at) if (jpc != at) { GS_PUSH(at, m, GS_JOIN) join = sp - 1; jpc = at; }
/* malloc and free of kernels (lifted.h). Other groups run on other threads of the host. */
static ulong gs_heap_size(uint list) { return list & 1u ? 3ul << (list / 2 - 1) : 1ul << list / 2; }
static __global struct gs_heap *gs_lock_heap(__global struct gs_launch *launch)
{
	__global struct gs_heap *h = (__global struct gs_heap *)launch->heap;
	while (h && atomic_cmpxchg((volatile __global uint *)&h->lock, 0u, 1u))
		;
	return h;
}
static ulong gs_cut(__global struct gs_heap *h, uint list)
{
	for (uint k = list; k < 128; k++)
		if (h->lists[k]) {
			ulong block = h->lists[k];
			h->lists[k] = ((__global ulong *)block)[1];
			return block;
		}
		else if (k == list && gs_heap_size(list) <= h->bytes - h->used) {
			ulong block = (ulong)h + h->used;
			h->used += gs_heap_size(list);
			*(__global ulong *)block = list;
			return block;
		}
	return 0;
}
static uint gs_malloc(__global struct gs_launch *launch, ulong bytes, __global ulong *out, uint never)
{
	GS_APART(never)
	*out = 0;
	if (!launch->heap || !bytes || bytes >= 1ul << 60)
		return 0;
	uint list = 10;
	while (gs_heap_size(list) < bytes + 16)
		list++;
	__global struct gs_heap *h = gs_lock_heap(launch);
	ulong block = gs_cut(h, list);
	h->live += block != 0;
	*out = block ? block + 16 : 0;
	atomic_xchg((volatile __global uint *)&h->lock, 0u);
	return 0;
}
static uint gs_free(__global struct gs_launch *launch, ulong address, uint never)
{
	GS_APART(never)
	if (!address || !launch->heap)
		return 0;
	__global struct gs_heap *h = gs_lock_heap(launch);
	__global ulong *block = (__global ulong *)(address - 16);
	if (address - 16 - launch->heap < h->used && block[0] < 128) {
		block[1] = h->lists[block[0]];
		h->lists[block[0]] = (ulong)block;
		h->live--;
	}
	for (uint k = 0; !h->live && k < 128; k++)
		h->lists[k] = 0;
	h->used = h->live ? h->used : sizeof(struct gs_heap);
	atomic_xchg((volatile __global uint *)&h->lock, 0u);
	return 0;
}
/* One line for each conversion of a format: 4 or 8 bytes of arguments, in a record of 8 each. */
static uint gs_print(__global struct gs_launch *launch, ulong format, ulong arguments, uint never)
{
	GS_APART(never)
	__global struct gs_prints_words *prints = (__global struct gs_prints_words *)launch->prints;
	ulong values[GS_MOST_PRINTED], at = arguments;
	uint count = 0;
	if (!prints)
		return 0;
	for (__global const char *p = (__global const char *)format; *p; p++) {
		uint wide = 0;
		if (*p != '%')
			continue;
		for (p++; *p && (*p == '-' || *p == '+' || *p == ' ' || *p == '#' || *p == '.' || *p == '*' || (*p >= '0' && *p <= '9') ||
			*p == 'h' || *p == 'l' || *p == 'L' || *p == 'q' || *p == 'j' || *p == 'z' || *p == 't'); p++) {
			if (*p == '*' && count < GS_MOST_PRINTED) {
				at = (at + 3) & ~3ul;
				values[count++] = (ulong)(long)*(__global int *)at;
				at += 4;
			}
			wide |= *p == 'l' || *p == 'q' || *p == 'j' || *p == 'z' || *p == 't';
		}
		if (!*p)
			break;
		if (*p == '%' || count >= GS_MOST_PRINTED)
			continue;
		wide |= *p == 's' || *p == 'p' || *p == 'f' || *p == 'F' || *p == 'e' || *p == 'E' || *p == 'g' || *p == 'G' || *p == 'a' || *p == 'A';
		at = wide ? (at + 7) & ~7ul : (at + 3) & ~3ul;
		values[count++] = wide ? *(__global ulong *)at : *p == 'd' || *p == 'i' || *p == 'c' ? (ulong)(long)*(__global int *)at
			: *(__global uint *)at;
		at += wide ? 8 : 4;
	}
	ulong bytes = 16 + 8ul * count, first = atom_add((volatile __global ulong *)&prints->used, bytes);
	if (first + bytes > prints->room) {
		atom_add((volatile __global ulong *)&prints->lost, 1ul);
		return count;
	}
	__global ulong *record = (__global ulong *)((ulong)(prints + 1) + first);
	record[0] = bytes;
	record[1] = format;
	for (uint i = 0; i < count; i++)
		record[2 + i] = values[i];
	return count;
}

/* Lanes t stop: at `meet`, if they are there already, or at `kept`. Others go on at pc. */
//@ lift_frame_split
SPLIT:
GS_BEFORE_SPLIT
if (meet != GS_NO_PC) { GS_MEET(meet) }
if (kept == GS_NO_PC) E[join].arrived |= t;
else GS_PUSH(kept, t, GS_SIDE)
m &= ~t;
GS_AFTER_SPLIT

/* Lanes m wait at the barrier `which`, and go on at pc. */
//@ lift_frame_wait
WAIT:
if (m == alive) {
	S->status = GS_WAITING;
	S->pc = pc;
	S->wait = (uint)which;
	S->generation = g->barriers[which].generation;
	if (sp) goto STOP_ALL;
	S->all = 0;
	goto STOP;
}
GS_ROOM
GS_PUSH(pc, m, GS_SIDE)
E[sp - 1].wait = (uint)which + 1;
E[sp - 1].generation = g->barriers[which].generation;
m = 0;
GS_AFTER_WAIT

/* The end of a function that runs a warp: which lanes run next. */
//@ lift_frame_next
ARRIVE:
E[join].arrived |= m;
NEXT:
for (;;) {
	while (sp && !(E[sp - 1].mask & alive)) sp--;
	if (!sp) goto ENDED;
	uint k = sp - 1;
	GS_CHOOSE(k)
	else if (!gs_runnable(g, E, k, alive)) k = gs_find(g, E, sp, alive, 1, never);
	if (k == GS_NO_PC) { m = 0; S->status = GS_PARKED; goto STOP_ALL; }
	uint some = gs_going(E, k, alive);
	GS_TAKEN(k)
	pc = E[k].pc;
	join = E[k].join;
	jpc = E[k].jpc;
	m = some;
	which = E[k].wait;
	GS_AT_DEPTH(E[k].depth)
	E[k].mask &= ~some;
	E[k].arrived = 0;
	if (!E[k].mask) E[k].kind = 0;
	while (sp && !(E[sp - 1].mask & alive)) sp--; /* or the stack of a loop whose lanes part in every iteration would grow */
	break;
}
GS_RESUME
/* Lanes m wait for others at pc. Those whose values are still needed go on first. */
//@ lift_frame_meetings
HOLD:
GS_BEFORE_SPLIT
first = H->loose ? sp : 0;
GS_PUSH(pc, m, (H->pending ? GS_SIDE : GS_HELD))
H->held |= m;
H->loose = 1;
m = 0;
goto KEEP;
//@ lift_frame_spin
SPIN:
if (sp) {
	GS_ROOM
	GS_LOOK
	uint k = gs_find_other(g, S, E, sp, alive, (uint)launch->together, never);
	if (k != GS_NO_PC) {
		uint some = gs_going(E, k, alive);
		GS_TAKEN(k)
		uint p = E[k].pc, j = E[k].join, q = E[k].jpc, type = E[k].kind, d = E[k].depth;
		E[k].mask &= ~some;
		E[k].arrived = 0;
		if (type == GS_JOIN || E[k].mask) { GS_PUSH(pc, m, GS_SIDE) }
		else { E[k].pc = pc; E[k].join = join; E[k].jpc = jpc; E[k].mask = m; E[k].kind = GS_SIDE; E[k].wait = 0; E[k].depth = GS_NOW; }
		pc = p;
		join = j;
		jpc = q;
		GS_AT_DEPTH(d)
		m = some;
	}
}
S->status = GS_YIELDED;
S->pc = pc;
goto STOP_ALL;

/* What traced text has beside that. */
//@ lift_frame_tracing
struct gs_traced {
	ulong buffer, chunks, group, first_row, first_site, ctaid[3], ntid[3], grid[3], whole, rows, sites, loops, bases, base_count, images, image_count;
};
ulong gs_trace_begin(__private struct gs_traced *t) __asm__(GS_NATIVE "warps_begin");
void gs_trace_end(ulong trace) __asm__(GS_NATIVE "warps_end");
void gs_trace_block(ulong trace, uint warp, uint row, uint mask) __asm__(GS_NATIVE "warp_block");
void gs_trace_loop(ulong trace, uint warp, uint loop, uint size, uint last, uint mask) __asm__(GS_NATIVE "warp_loop");
void gs_trace_body(ulong trace, uint warp, uint loop, uint row, uint mask) __asm__(GS_NATIVE "warp_body");
void gs_trace_loop_end(ulong trace, uint warp, uint loop, uint row, uint mask) __asm__(GS_NATIVE "warp_loop_end");
void gs_trace_access(ulong trace, uint warp, uint site, uint class, ulong bytes, uint mask, __private ulong *addresses)
	__asm__(GS_NATIVE "warp_access");
ulong gs_trace_texel(ulong trace, ulong object, ulong address) __asm__(GS_NATIVE "warp_texel");
void gs_trace_bulk(ulong trace, uint warp, uint site, uint mask, __private ulong *addresses) __asm__(GS_NATIVE "warp_bulk");
static ulong gs_trace_group(__global struct gs_launch *launch, __private struct gs_group *g, ulong at, uint row, uint site)
{
	struct gs_traced t;
	if (!launch->traces || (launch->together && launch->order && !(((__global uint *)launch->order)[at] & ~GS_ORDER_NUMBER)))
		return 0;
	t.buffer = launch->traces;
	t.chunks = launch->chunks;
	t.group = g->number;
	t.first_row = row;
	t.first_site = site;
	t.ctaid[0] = g->ctaid_x;
	t.ctaid[1] = g->ctaid_y;
	t.ctaid[2] = g->ctaid_z;
	t.ntid[0] = g->ntid_x;
	t.ntid[1] = g->ntid_y;
	t.ntid[2] = g->ntid_z;
	t.grid[0] = g->nctaid_x;
	t.grid[1] = g->nctaid_y;
	t.grid[2] = g->nctaid_z;
	t.whole = launch->traced_whole;
	t.rows = GS_ROWS;
	t.sites = GS_SITES;
	t.loops = GS_LOOPS;
	t.bases = launch->bases;
	t.base_count = launch->base_count;
	t.images = launch->images;
	t.image_count = launch->image_count;
	return gs_trace_begin(&t);
}
#define GS_TRACE_BEGIN(row, site) g->trace = gs_trace_group(launch, g, at, row, site);
#define GS_TRACE_END if (g->trace) gs_trace_end(g->trace);
