/* statements.c - the parts of bodies: assignments, ifs, loops, switches, jumps. */
#include "generate.h"

const char *target(void)
{
	int at, tries = 0;

	do
		at = (int)chance((uint32_t)g.name_count);
	while (!g.names[at].assignable && ++tries < 20);
	return g.names[at].assignable ? g.names[at].text : "x";
}

static void assignment(void)
{
	put("%s %s ", target(), compound_op());
	expression(percent(25) ? 3 : 2);
	put(";");
}

/* A statement that needs no braces anywhere and leaves no if open. */
static void simple_statement(void)
{
	int h = may_call(HELPER_POINTER), s = may_call(HELPER_STRUCT);

	switch (chance(17)) {
	case 0: vector_statement(); break;
	case 1:
		masked("local_array[", 1, ") & 3u] ^= ");
		expression(2);
		put(";");
		break;
	case 2:
		condition(1);
		put(percent(50) ? " && " : " || ");
		effect();
		put(";");
		break;
	case 3:
		put("%s = ", target());
		condition(1);
		put(" ? ");
		effect();
		put(" : ");
		effect();
		put(";");
		break;
	case 4:
		put("fx++, %s += ", target());
		expression(1);
		put(";");
		break;
	case 5:
		put("%s ^= fx;", target());
		break;
	case 6:
		put("STEP(%s, ", target());
		expression(1);
		put(");");
		break;
	case 7:
		if (h >= 0) {
			put("h%d(&fx, ", h);
			expression(1);
			put(", in);");
			break;
		} /* fall through */
	case 8: case 9:
		if (g.in_kernel) {
			masked("out[own + (", 1, ") & 3u)] ");
			put("%s ", compound_op());
			expression(2);
			put(";");
			break;
		} /* fall through */
	case 10:
		if (g.in_kernel && percent(40)) {
			masked("atomic_add(&out[shared + (", 1, ") & 7u)], ");
			expression(1);
			put(");");
			break;
		} /* fall through */
	case 11: float_statement(); break;
	case 12:
		if (s >= 0) {
			put("%s = h%d(pair, ", percent(50) ? "pair" : "nest.in[0]", s);
			expression(1);
			put(", in);");
			break;
		} /* fall through */
	case 13:
		put("nest.in[%u] = pair, nest.n += ", chance(2));
		expression(1);
		put(";");
		break;
	default: assignment();
	}
}

/*
 * The body of an if or a loop, with its marker, in braces or without. If an else follows a body without braces, the body must
 * not end with an if that could take the else.
 */
static void body(struct place p, int else_follows)
{
	p.depth++;
	if (percent(60)) {
		open_block();
		int names = g.name_count;
		statements(p, 1 + (int)chance(3));
		g.name_count = names;
		close_brace();
		return;
	}
	int k = g.blocks++;
	g.indent++;
	line();
	put(ALT("/*B%d*/", "{ count_[%d]++; "), k, k);
	if (else_follows || p.depth > 3 || percent(60)) {
		if (percent(5))
			put(";");
		else
			simple_statement();
	} else {
		statement(p);
	}
	put(ALT("", " }"));
	g.indent--;
}

static void if_statement(struct place p)
{
	int more = percent(50);

	put("if (");
	decision();
	put(")");
	body(p, more);
	if (!more)
		return;
	line();
	put("else");
	if (p.depth > 3 || percent(65)) {
		body(p, 0);
		return;
	}
	/* "else if": the block of the else is the second if */
	int k = g.blocks++;
	line();
	put(ALT("/*B%d*/", "{ count_[%d]++; "), k, k);
	p.depth++;
	if_statement(p);
	put(ALT("", " }"));
}

static unsigned int trips(struct place p)
{
	static const unsigned int most[] = {7, 3, 3, 1};

	if (!g.in_kernel)
		return p.loops ? 1 : 3;
	return most[p.loops < 3 ? p.loops : 3];
}

/* The upper bound of a loop: a constant, or a value of the work-item. */
static void bound(unsigned int mask)
{
	if (percent(30)) {
		put("%uu", 1 + chance(mask));
	} else {
		put("(");
		own_value(1, mask);
		put(")");
	}
}

static void loop_body(struct place p)
{
	int callable = g.callable;

	p.loops++;
	p.may_break = p.may_continue = 1;
	if (!g.in_kernel || p.loops > 2)
		g.callable = 0;
	body(p, 0);
	g.callable = callable;
}

/* for (;;) with a break. */
static void endless_for(struct place p, const char *counter, unsigned int mask)
{
	put("{ uint %s = ", counter);
	bound(mask);
	put(";");
	line();
	put("for (;;)");
	declare(counter, 0);
	g.indent++;
	open_block();
	line();
	put("if (!%s)", counter);
	int k = g.blocks++;
	g.indent++;
	line();
	put(ALT("/*B%d*/break;", "{ count_[%d]++; break; }"), k, k);
	g.indent--;
	line();
	put("%s--;", counter);
	p.loops++;
	p.depth++;
	p.may_break = p.may_continue = 1;
	statements(p, 1 + (int)chance(3));
	close_brace();
	g.indent--;
	put(" }");
}

static void for_statement(struct place p)
{
	unsigned int mask = trips(p);
	int names = g.name_count;
	uint32_t kind;
	char i[16];

	snprintf(i, sizeof i, "i%d", g.temporaries++);
	kind = chance(4);
	if (kind == 0) {
		endless_for(p, i, mask);
		g.name_count = names;
		return;
	}
	if (kind == 1) { /* two counters; the bound is computed once */
		put("for (uint %s = 0u, e%s = ", i, i);
		bound(mask);
		put("; %s < e%s; %s++, fx += %s)", i, i, i, i);
	} else if (kind == 2) { /* counts down, without the third part */
		put("for (uint %s = ", i);
		bound(mask);
		put("; %s--;)", i);
	} else {
		if (percent(15)) {
			put(ALT("\n#pragma unroll %u", ""), 1u << chance(3));
			line();
		}
		put("for (uint %s = 0u; %s < %uu; %s++)", i, i, 1 + chance(mask), i);
	}
	declare(i, 0);
	loop_body(p);
	g.name_count = names;
}

static void while_statement(struct place p)
{
	unsigned int mask = trips(p);
	char i[16];

	snprintf(i, sizeof i, "w%d", g.temporaries++);
	put("{ uint %s = ", i);
	bound(mask);
	put(";");
	line();
	if (percent(50)) {
		put("while (%s--", i);
		if (percent(40)) {
			put(" && ");
			condition(1);
		}
		put(")");
		loop_body(p);
	} else {
		put("do");
		loop_body(p);
		line();
		put("while (%s--", i);
		if (percent(40)) {
			put(" && ");
			condition(1);
		}
		put(");");
	}
	put(" }");
}

static void switch_statement(struct place p)
{
	int cases = 2 + (int)chance(4), has_default = percent(70), names = g.name_count;
	int default_at = has_default ? (int)chance((uint32_t)cases) : -1;

	put("switch (");
	own_value(2, 7);
	put(") {");
	p.depth++;
	p.may_break = 1;
	for (int c = 0; c < cases; c++) {
		int k = g.blocks++, last = c == cases - 1, braces = percent(25);
		line();
		if (c == default_at)
			put(ALT("/*B%d*/default:", "default: count_[%d]++;"), k, k);
		else
			put(ALT("/*B%d*/case %d:", "case %d: count_[%d]++;"), k, c + c / 3, c + c / 3, k);
		if (!last && percent(15))
			continue;
		g.indent++;
		if (braces) {
			put(" {");
		} else { /* a declaration must not follow a label */
			line();
			simple_statement();
		}
		statements(p, 1 + (int)chance(2));
		g.name_count = names;
		if (last || percent(65)) {
			line();
			put("break;");
		}
		if (braces)
			put(" }");
		g.indent--;
	}
	line();
	put("}");
}

/* A jump that is taken sometimes. */
static void jump(struct place p)
{
	char what[32] = "";
	uint32_t choice = chance(100);

	if (p.may_continue && choice < 30)
		snprintf(what, sizeof what, "continue;");
	else if (p.may_break && choice < 60)
		snprintf(what, sizeof what, "break;");
	else if (p.label >= 0 && choice < 90)
		snprintf(what, sizeof what, "goto l%d;", p.label);
	if (!what[0] && p.returns == RETURNS_NOT) {
		simple_statement();
		return;
	}
	put("if (");
	condition(2);
	put(")");
	int k = g.blocks++, braces = percent(40);
	g.indent++;
	line();
	put(braces ? ALT("/*B%d*/{ ", "{ count_[%d]++; ") : ALT("/*B%d*/", "{ count_[%d]++; "), k, k);
	if (braces)
		simple_statement();
	if (braces)
		put(" ");
	if (what[0]) {
		put("%s", what);
	} else if (p.returns == RETURNS_VOID) {
		put("return;");
	} else if (p.returns == RETURNS_VALUE) {
		put("return ");
		expression(2);
		put(";");
	} else if (p.returns == RETURNS_STRUCT) {
		put("return (struct pair){");
		expression(1);
		put(", pair.a};");
	} else {
		put("return ");
		vector_operand();
		put(";");
	}
	put(braces ? " }" : ALT("", " }"));
	g.indent--;
}

/* A goto back to an earlier place, a few times at most. */
static void again(struct place p)
{
	int label = g.labels++, names = g.name_count, k = g.blocks++, counter = g.temporaries++;

	put("{ uint r%d = %uu;", counter, 1 + chance(3));
	line();
	put(ALT("/*B%d*/l%d:", "l%d: count_[%d]++;"), k, label, label, k);
	line();
	simple_statement();
	p.depth++;
	p.loops++;
	statements(p, 1 + (int)chance(2));
	g.name_count = names;
	line();
	put("if (r%d--", counter);
	if (percent(60)) {
		put(" && ");
		condition(1);
	}
	put(")");
	k = g.blocks++;
	g.indent++;
	line();
	put(ALT("/*B%d*/goto l%d;", "{ count_[%d]++; goto l%d; }"), k, label, k, label);
	g.indent--;
	line();
	put("}");
}

static void bare_block(struct place p)
{
	int names = g.name_count;

	put("{");
	g.indent++;
	p.depth++;
	statements(p, 1 + (int)chance(2));
	g.name_count = names;
	close_brace();
}

void statement(struct place p)
{
	g.budget--;
	if (p.depth > 4 || g.budget < 0) {
		simple_statement();
		return;
	}
	switch (chance(17)) {
	case 0: case 1: case 2: if_statement(p); break;
	case 3: case 4: for_statement(p); break;
	case 5: case 6: while_statement(p); break;
	case 7: case 8: switch_statement(p); break;
	case 9: case 10: case 11: jump(p); break;
	case 12: bare_block(p); break;
	case 13:
		if (p.loops < 2) {
			again(p);
			break;
		} /* fall through */
	default: simple_statement();
	}
}

/* A list: declarations first, so that no goto skips one; then statements, and sometimes a label to jump to. */
void statements(struct place p, int count)
{
	int label_at = percent(20) && count > 1 ? 1 + (int)chance((uint32_t)count - 1) : -1, label = -1;
	struct place before = p;

	if (percent(30)) {
		char name[16];
		snprintf(name, sizeof name, "t%d", g.temporaries++);
		line();
		put("uint %s = ", name);
		expression(2);
		put(";");
		declare(name, 1);
	}
	if (label_at >= 0)
		before.label = label = g.labels++;
	for (int s = 0; s < count; s++) {
		if (s == label_at) {
			int k = g.blocks++;
			/* always jumped to, so that no compiler reports it as unused */
			line();
			put("if (");
			condition(1);
			put(")");
			g.indent++;
			line();
			put(ALT("/*B%d*/goto l%d;", "{ count_[%d]++; goto l%d; }"), k, label, k, label);
			g.indent--;
			line();
			simple_statement();
			line();
			k = g.blocks++;
			put(ALT("/*B%d*/l%d:", "l%d: count_[%d]++;"), k, label, label, k);
			line();
			simple_statement();
		}
		line();
		statement(s < label_at ? before : p);
	}
}
