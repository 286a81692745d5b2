/* expressions.c - values, conditions and vectors. They do not depend on an order of evaluation. */
#include "generate.h"

/* ---- values: they have no effects; only fx, which they never read, may change beside one ---- */

static void constant(void)
{
	static const char *special[] = {"0u", "1u", "2u", "3u", "7u", "0xffu", "0x80000000u", "0xffffffffu", "0x9e3779b9u"};

	if (percent(50))
		put("%s", special[chance(sizeof special / sizeof special[0])]);
	else
		put("%uu", chance(1000));
}

static void leaf(void)
{
	const char letters[] = "xyzw";
	uint32_t c = chance(4), v = chance(2);

	switch (chance(12)) {
	case 0: constant(); break;
	case 1: put(ALT("v%u.%c", "v%u[%u]"), v, letters[c], v, c); break;
	case 2: put(ALT("v%u.s%u", "v%u[%u]"), v, c, v, c); break;
	case 3: put("table[%u]", chance(16)); break;
	case 4: put("local_array[%u]", chance(4)); break;
	case 5: put("nest.in[%u].%c", chance(2), "ab"[chance(2)]); break;
	case 6: put(percent(50) ? "(uint)f%u" : "(uint)(f%u * 16.0f)", chance(2)); break;
	default: put("%s", g.names[chance((uint32_t)g.name_count)].text);
	}
}

int may_call(enum helper_kind kind)
{
	int found[MAX_HELPERS], count = 0;

	for (int h = 0; h < g.callable; h++)
		if (g.helpers[h].kind == kind)
			found[count++] = h;
	return count ? found[chance((uint32_t)count)] : -1;
}

static void binary(const char *op, int depth)
{
	put("(");
	expression(depth - 1);
	put(" %s ", op);
	expression(depth - 1);
	put(")");
}

void masked(const char *before, int depth, const char *after)
{
	put("%s(", before);
	expression(depth - 1);
	put("%s", after);
}

void expression(int depth)
{
	static const char *plain[] = {"+", "-", "*", "&", "|", "^"};
	static const char *two[] = {"min", "max", "rotate", "mul_hi", "abs_diff"};
	int h;

	if (depth <= 0) {
		leaf();
		return;
	}
	switch (chance(17)) {
	case 0: case 1: case 2: case 3: binary(plain[chance(6)], depth); break;
	case 4:
		masked("(", depth, percent(50) ? ") << (" : ") >> (");
		expression(depth - 2);
		put(" & 31u))");
		break;
	case 5:
		masked("(", depth, percent(50) ? ") / (" : ") % (");
		expression(depth - 2);
		put(" | 1u))");
		break;
	case 6: masked("in[", depth, ") & 255u]"); break;
	case 7: masked("table[", depth, ") & 15u]"); break;
	case 8:
		put("(");
		condition(depth - 1);
		put(" ? ");
		expression(depth - 1);
		put(" : ");
		expression(depth - 1);
		put(")");
		break;
	case 9:
		put("(uint)(");
		condition(depth - 1);
		put(")");
		break;
	case 10:
		put("%s(", two[chance(5)]);
		expression(depth - 1);
		put(", ");
		expression(depth - 1);
		put(")");
		break;
	case 11: masked(percent(50) ? "popcount" : "clz", depth, ")"); break;
	case 12: masked(percent(50) ? "(uint)(uchar)" : "(uint)(ushort)~", depth, ")"); break;
	case 13:
		masked("(uint)(((ulong)", depth, ") * ");
		expression(depth - 1);
		put(") >> %u)", chance(33));
		break;
	case 14:
		h = percent(50) ? may_call(HELPER_VALUE) : -1; /* every call is inlined somewhere, so few calls keep programs small */
		if (h >= 0) {
			put("h%d(", h);
			expression(depth - 2);
			put(", ");
			expression(depth - 2);
			put(", in)");
			break;
		} /* fall through */
	case 15:
		h = percent(30) ? may_call(HELPER_STRUCT) : -1;
		if (h >= 0) {
			put("h%d(%s, ", h, percent(50) ? "pair" : "nest.in[1]");
			expression(depth - 2);
			put(", in).%c", "ab"[chance(2)]);
			break;
		} /* fall through */
	default: leaf();
	}
}

/* A few bits of a value that differs between work-items, so that both ways of a branch are taken. */
void own_value(int depth, unsigned int mask)
{
	if (percent(60))
		put("((%s >> %u) ^ ", g.in_kernel ? "gid" : "a", chance(4));
	else
		put("(");
	expression(depth);
	put(") & %uu", mask);
}

/* Multiples of 1/16 below 128. Sums and products of two are exact, so every compiler computes the same result. */
static void float_operand(int depth)
{
	static const char *constants[] = {"0.5f", "3.0f", "1.0625f", "127.9375f"};

	switch (chance(6)) {
	case 0: put("%s", constants[chance(4)]); break;
	case 1: put("fabs(-f%u)", chance(2)); break;
	case 2: put("%s(f0, f1)", percent(50) ? "fmin" : "fmax"); break;
	case 3:
		masked("(float)(", depth, ") & 127u)");
		break;
	default: put("f%u", chance(2));
	}
}

void float_statement(void)
{
	static const char *op[] = {" + ", " - ", " * "};

	put("f%u = ", chance(2));
	if (percent(25)) {
		condition(1);
		put(" ? ");
		float_operand(1);
		put(" : ");
		float_operand(1);
		put(";");
		return;
	}
	put("(float)((int)((");
	if (percent(25)) {
		put("mad(f0, f1, ");
		float_operand(1);
		put(")");
	} else {
		float_operand(2);
		put("%s", op[chance(3)]);
		float_operand(2);
	}
	put(") * 16.0f) & 2047) * 0.0625f;");
}

static void comparison(int depth)
{
	static const char *op[] = {"<", ">", "<=", ">=", "==", "!="};

	switch (chance(9)) {
	case 0:
		masked("(", depth, ") & ");
		put("%uu) != 0u", 1u << chance(3));
		break;
	case 1:
		masked("(int)", depth, ") ");
		put("%s (int)", op[chance(6)]);
		leaf();
		break;
	case 2:
		put("!");
		leaf();
		break;
	case 3:
		float_operand(depth);
		put(" %s ", op[chance(6)]);
		float_operand(depth);
		break;
	default:
		put("(");
		own_value(depth, 7);
		put(") %s %uu", op[chance(6)], 1 + chance(6));
	}
}

void condition(int depth)
{
	if (depth > 0 && percent(35)) {
		put("(");
		condition(depth - 1);
		put(percent(50) ? " && " : " || ");
		condition(depth - 1);
		put(")");
		return;
	}
	put("(");
	comparison(depth);
	put(")");
}

const char *compound_op(void)
{
	static const char *op[] = {"=", "+=", "-=", "*=", "^=", "|=", "&="};

	return op[chance(5)];
}

/* (fx op= e): an effect. It is used where only one effect can stand on each path of a full expression. */
void effect(void)
{
	put("(fx %s ", compound_op());
	expression(1);
	put(")");
}

/* The condition of a statement. It may change fx. */
void decision(void)
{
	switch (chance(8)) {
	case 0:
		condition(1);
		put(percent(50) ? " && " : " || ");
		effect();
		break;
	case 1:
		condition(0);
		put(" && ");
		effect();
		put(" > 9u || ");
		condition(0);
		break;
	case 2:
		condition(0);
		put(" ? ");
		effect();
		put(" & 1u : !");
		effect();
		break;
	default: condition(2);
	}
}

/* ---- vectors ---- */

static void swizzle(void)
{
	const char letters[] = "xyzw";
	uint32_t v = chance(2), a = chance(4), b = chance(4), c = chance(4), d = chance(4);

	put(ALT("v%u.%c%c%c%c", "shuffle4(v%u, %u, %u, %u, %u)"), v, letters[a], letters[b], letters[c], letters[d], v, a,
	    b, c, d);
}

void vector_operand(void)
{
	switch (chance(5)) {
	case 0: put("v%u", chance(2)); break;
	case 1: case 2: swizzle(); break;
	case 3:
		masked("vload4(", 1, ") & 63u, in)");
		break;
	default:
		put(ALT("(uint4)(", "make4("));
		for (int i = 0; i < 4; i++) {
			put(i ? ", " : "");
			expression(1);
		}
		put(")");
	}
}

void vector_statement(void)
{
	static const char *op[] = {"+", "-", "*", "^", "&", "|"};
	static const char letters[] = "xyzw";
	uint32_t v = chance(2), a = chance(4), b = (a + 1 + chance(3)) % 4;
	int h = may_call(HELPER_VECTOR);

	switch (chance(6)) {
	case 0:
		put(ALT("v%u.%c = ", "v%u[%u] = "), v, letters[a], v, a);
		expression(2);
		break;
	case 1:
		put(ALT("v%u.%c%c = (uint2)(", "set2(&v%u, %u, %u, "), v, letters[a], letters[b], v, a, b);
		expression(1);
		put(", ");
		expression(1);
		put(")");
		break;
	case 2:
		put(ALT("v%u.%s = v%u.%s", "set2(&v%u, %u, %u, v%u[%u], v%u[%u])"), v, a & 1 ? "hi" : "lo", 1 - v,
		    b & 1 ? "odd" : "even", v, a & 1 ? 2u : 0u, a & 1 ? 3u : 1u, 1 - v, b & 1, 1 - v, (b & 1) + 2);
		break;
	case 3:
		if (h >= 0) {
			put("v%u = h%d(", v, h);
			vector_operand();
			put(", ");
			expression(1);
			put(")");
			break;
		} /* fall through */
	default:
		put("v%u %s= ", v, percent(50) ? op[chance(4)] : "");
		vector_operand();
		put(" %s ", op[chance(6)]);
		vector_operand();
	}
	put(";");
}
