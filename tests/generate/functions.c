/* functions.c - helper functions, and kernels with their barriers. */
#include "generate.h"

static void start_function(void)
{
	g.indent = 0;
	g.name_count = g.temporaries = g.labels = 0;
	g.in_kernel = 0;
}

static void declare_values(const char *first, const char *second)
{
	line();
	put("uint x = %s, y = %s, z = 3u, fx = 0u;", first, second);
	line();
	put("uint local_array[4] = {1u, x, y, 5u};");
	line();
	put("struct pair pair = {x, 7u};");
	line();
	put("struct nest nest = {{{y, 1u}, pair}, .n = 2u};");
	line();
	put("float f0 = (float)(x & 127u), f1 = 2.5f;");
	declare("x", 1);
	declare("y", 1);
	declare("z", 1);
	declare("pair.a", 1);
	declare("pair.b", 1);
	declare("nest.n", 1);
}

void helper_head(int h)
{
	static const char *heads[] = {
		[HELPER_VALUE] = "uint h%d(uint a, uint b, __global const uint *in)",
		[HELPER_VECTOR] = "uint4 h%d(uint4 v0, uint a)",
		[HELPER_POINTER] = "void h%d(uint *result, uint a, __global const uint *in)",
		[HELPER_STRUCT] = "struct pair h%d(struct pair from, uint a, __global const uint *in)",
		[HELPER_LOCAL] = "uint h%d(uint a, uint n, __local uint *tile, uint lid, uint lsize)",
	};

	put("%s", g.helpers[h].is_static ? (h & 1 ? "static " : "static inline ") : "");
	put(heads[g.helpers[h].kind], h);
}

static void uniform_statements(struct place p, int count);

static void helper_end(enum helper_kind kind)
{
	static const char *ends[] = {
		[HELPER_VALUE] = "return x ^ fx ^ y;",
		[HELPER_VECTOR] = "return v0 ^ v1 ^ (x + fx);",
		[HELPER_POINTER] = "*result += x ^ fx;",
		[HELPER_STRUCT] = "return (struct pair){x ^ fx, pair.b + as_uint(f0)};",
		[HELPER_LOCAL] = "return x + y + fx + as_uint(f1);",
	};

	line();
	put("%s", ends[kind]);
}

void helper(int h)
{
	static const enum returns returns[] = {RETURNS_VALUE, RETURNS_VECTOR, RETURNS_VOID, RETURNS_STRUCT, RETURNS_NOT};
	enum helper_kind kind = g.helpers[h].kind;
	struct place p = {.returns = g.divided && kind == HELPER_LOCAL ? RETURNS_VALUE : returns[kind], .label = -1};
	int no_buffer = kind == HELPER_VECTOR || kind == HELPER_LOCAL;

	start_function();
	g.callable = no_buffer ? 0 : h; /* it has no buffer to pass on */
	g.budget = 4;
	put("\n");
	helper_head(h);
	open_block();
	declare_values("a", kind == HELPER_VALUE ? "b" : "9u");
	declare("a", 0);
	line();
	if (no_buffer) { /* it reads the constant table instead */
		put("__constant const uint *in = table_of_256;");
		line();
	}
	if (kind == HELPER_VECTOR) {
		put("uint4 v1 = v0 + 1u;");
	} else {
		put(ALT("uint4 v0 = (uint4)(a), v1 = (uint4)(x, y, z, 1u);",
		        "uint4 v0 = make4(a, a, a, a), v1 = make4(x, y, z, 1u);"));
	}
	if (kind == HELPER_STRUCT) {
		line();
		put("pair = from;");
	}
	if (kind == HELPER_LOCAL)
		uniform_statements(p, 1 + (int)chance(2));
	else
		statements(p, 2 + (int)chance(3));
	helper_end(kind);
	close_brace();
	put("\n");
}

static void barrier_here(void)
{
	line();
	put("barrier(CLK_LOCAL_MEM_FENCE);");
}

/* Every work-item writes a value to local memory and reads values of others. */
static void exchange(void)
{
	line();
	put("tile[lid] = ");
	expression(2);
	put(";");
	barrier_here();
	line();
	put("%s ^= tile[", target());
	expression(1);
	put(" %% lsize] + tile[(lid + %uu) %% lsize];", 1 + chance(9));
	barrier_here();
}

/* An effect in the header of a loop with barriers. Every work-item evaluates it, and it may count. */
static void header_effect(void)
{
	if (!percent(35))
		return;
	put("(%s += ", target());
	expression(2);
	put("), ");
}

static void uniform_loop(struct place p)
{
	int names = g.name_count;
	char i[16];

	int until = percent(25);

	snprintf(i, sizeof i, "u%d", g.temporaries++);
	line();
	if (until)
		put("{ uint %s = %uu; do", i, 1 + chance(3));
	else if (percent(50)) {
		put("for (uint %s = 0u; ", i);
		header_effect();
		put("%s < (n & 3u) + %uu; ", i, chance(3));
		header_effect();
		put("%s++)", i);
	} else {
		put("for (uint %s = %uu; ", i, 1u << chance(4));
		header_effect();
		put("%s > 0u; %s >>= 1)", i, i);
	}
	open_block();
	declare(i, 0);
	p.loops++;
	p.may_continue = g.divided && !until;
	uniform_statements(p, 1 + (int)chance(2));
	g.name_count = names;
	close_brace();
	if (until) {
		line();
		put("while (");
		header_effect();
		put("--%s); }", i);
	}
}

/* A condition that is the same for all work-items of a group. Compilers need not see this. */
static void uniform_condition(void)
{
	if (g.divided && percent(40))
		put("get_global_id(%u) - get_local_id(%u) < %uu", g.in_kernel ? 0u : 1u, g.in_kernel ? 0u : 1u, 4u << chance(4));
	else
		put("%s & %uu", percent(50) ? "n" : "(uint)get_group_id(0)", 1u << chance(3));
}

/* The whole group leaves the loop or the kernel, or starts the next trip. */
static void uniform_jump(struct place p)
{
	line();
	put("if (");
	uniform_condition();
	put(")");
	int k = g.blocks++;
	g.indent++;
	line();
	put(ALT("/*B%d*/", "{ count_[%d]++; "), k, k);
	if (p.may_continue)
		put(percent(60) ? "break;" : "continue;");
	else
		put(p.returns == RETURNS_VALUE ? "return x + fx;" : "return;");
	put(ALT("", " }"));
	g.indent--;
}

/* After the last barrier, any work-item may return. */
static void item_return(void)
{
	line();
	put("if (");
	condition(1);
	put(")");
	int k = g.blocks++;
	g.indent++;
	line();
	put(ALT("/*B%d*/return;", "{ count_[%d]++; return; }"), k, k);
	g.indent--;
}

/* A switch with as many cases as a group may choose from. Some cases have barriers. */
static void uniform_switch(struct place p)
{
	line();
	put("switch ((%s) %% 3u) {", percent(50) ? "n" : "(uint)get_group_id(0) + n");
	for (int c = 0; c < 3; c++) {
		int k = g.blocks++, names = g.name_count;
		line();
		put(ALT("/*B%d*/case %d: {", "case %d: { count_[%d]++;"), k, c, c, k);
		g.indent++;
		uniform_statements(p, 1);
		g.name_count = names;
		if (c == 2 || percent(70)) {
			line();
			put("break;");
		}
		close_brace();
	}
	line();
	put("}");
}

static void uniform_if(struct place p)
{
	line();
	put("if (");
	uniform_condition();
	put(")");
	open_block();
	uniform_statements(p, g.divided ? 1 + (int)chance(2) : 1);
	close_brace();
	if (!percent(50))
		return;
	line();
	put("else");
	open_block();
	uniform_statements(p, 1);
	close_brace();
}

/* Barriers under conditions, and ways around them. */
static void divided_statement(struct place p)
{
	struct place divided = p;
	uint32_t kind = chance(10);

	p.depth++;
	divided.returns = RETURNS_NOT;
	divided.may_break = divided.may_continue = 0;
	if (kind < 3 && p.depth < 3) {
		uniform_if(p);
	} else if (kind == 3 && p.loops < 2 && p.depth < 3) {
		uniform_loop(p);
	} else if (kind == 4 && p.depth < 2) {
		p.may_break = p.may_continue = 0; /* in a switch, continue belongs to the loop around it, but break does not */
		uniform_switch(p);
	} else if (kind == 5 && (p.may_continue || p.returns != RETURNS_NOT)) {
		uniform_jump(p);
	} else if (kind < 7) {
		exchange();
	} else {
		line();
		statement(divided);
	}
}

/* All work-items of a group take the same way here. An argument, a counter or the number of the group decides. */
static void uniform_statements(struct place p, int count)
{
	for (int s = 0; s < count; s++) {
		if (g.divided && percent(75)) {
			divided_statement(p);
			continue;
		}
		uint32_t kind = chance(7);
		int h = may_call(HELPER_LOCAL);
		g.budget--;
		if (kind == 6 && h >= 0 && p.loops < 2) {
			line();
			put("%s += h%d(", target(), h);
			expression(1);
			put(", n, tile, lid, lsize);");
		} else if (kind < 2 || p.loops > 1) {
			exchange();
		} else if (kind == 2) {
			uniform_loop(p);
		} else if (kind == 3) {
			uniform_if(p);
		} else {
			struct place divided = p;
			divided.returns = g.divided ? RETURNS_NOT : p.returns;
			divided.may_break = divided.may_continue = 0;
			line();
			statement(divided);
		}
	}
}

/* POCL 3.1 runs the first work-item twice if a group is one wide and a barrier follows an if. So no group is one wide. */
struct range choose_range(void)
{
	static const struct range ranges[] = {
		{{64, 1, 1}, {64, 1, 1}}, {{128, 1, 1}, {32, 1, 1}}, {{96, 1, 1}, {32, 1, 1}}, {{64, 1, 1}, {16, 1, 1}},
		{{16, 8, 1}, {8, 4, 1}}, {{12, 6, 1}, {4, 3, 1}}, {{32, 3, 1}, {32, 1, 1}}, {{70, 1, 1}, {7, 1, 1}},
		{{8, 4, 4}, {4, 4, 2}}, {{6, 4, 3}, {3, 2, 1}}, {{4, 2, 8}, {2, 1, 4}},
	};

	return ranges[chance(sizeof ranges / sizeof ranges[0])];
}

void kernel(int number, const struct kernel *k, int calls)
{
	struct place p = {.returns = k->barriers && !g.divided ? RETURNS_NOT : RETURNS_VOID, .label = -1};
	static const char *calls_of[] = {
		[HELPER_VALUE] = "y ^= h%d(gid, n, in);",
		[HELPER_VECTOR] = "v1 += h%d(v0, n);",
		[HELPER_POINTER] = "h%d(&fx, gid, in);",
		[HELPER_STRUCT] = "pair = h%d(pair, gid, in);",
		[HELPER_LOCAL] = "y += h%d(gid, n, tile, lid, lsize);",
	};
	unsigned int tile = k->range.local[0] * k->range.local[1] * k->range.local[2];

	start_function();
	g.in_kernel = 1;
	g.callable = g.helper_count;
	g.budget = g.divided ? 2 : 7; /* with more, drivers take minutes */
	put("\n__kernel ");
	if (k->required_size)
		put(ALT("__attribute__((reqd_work_group_size(%u, %u, %u)))\n", ""), k->range.local[0], k->range.local[1],
		    k->range.local[2]);
	put("void g%ld_%d(__global const uint *in, __global uint *out, uint n%s)", g.seed, number,
	    k->local_argument ? ", __local uint *tile" : "");
	open_block();
	if (k->barriers && !k->local_argument) {
		line();
		put(ALT("__local uint tile[%u];", "static uint tile[%u];"), tile, tile);
	}
	line();
	put("uint gid = (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);");
	line();
	put("uint lsize = get_local_size(0) * get_local_size(1) * get_local_size(2);");
	line();
	put("uint lid = (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);");
	line();
	put("uint own = gid * %du, shared = get_global_size(0) * get_global_size(1) * get_global_size(2) * %du;", PER_ITEM,
	    PER_ITEM);
	declare_values("gid", "n + lid");
	declare("gid", 0);
	declare("n", 0);
	line();
	put(ALT("uint4 v0 = (uint4)(gid)", "uint4 v0 = make4(gid, gid, gid, gid)"));
	put(", v1 = vload4(gid & 63u, in);");
	/* at least one call, because most helpers would never run otherwise */
	int h = (int)chance((uint32_t)g.helper_count);
	if (g.helpers[h].kind != HELPER_LOCAL || k->barriers) {
		line();
		put(calls_of[g.helpers[h].kind], h);
	}
	if (k->barriers)
		uniform_statements(p, (g.divided ? 2 : 3) + (int)chance(g.divided ? 2 : 3));
	else
		statements(p, 3 + (int)chance(4));
	if (g.divided && percent(30))
		item_return();
	if (calls >= 0) {
		line();
		put("g%ld_%d(in, out, x & 15u);", g.seed, calls);
	}
	line();
	put("out[own] += x ^ y ^ fx;");
	line();
	put("out[own + 1u] ^= z + pair.a + pair.b + lsize + as_uint(f0) + as_uint(f1) + nest.n + nest.in[0].a + nest.in[1].b;");
	line();
	put("vstore4(vload4(gid, out) + v0 * v1, gid, out);");
	close_brace();
	put("\n");
}
