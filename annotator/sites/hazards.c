/*
 * Finds what may make a twin behave unlike its kernel (runtime/format/facts.h). A wrong "yes" costs time. A wrong "no" may give the
 * application wrong results. So whatever is not certain is a yes.
 */
#include "annotator/sites/hazards.h"

#include "annotator/edits/functions.h"
#include "annotator/sites/grouping.h"
#include "annotator/sites/one_way.h"
#include "annotator/source/cursors.h"
#include "annotator/source/scan.h"
#include "annotator/source/types.h"
#include "runtime/format/facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- barriers ---- */

/* What POCL does at a barrier depends on the shape of the code, unless all work-items reach it on one straight way: through the
 * kernel's statements, or through loops that only their own conditions end. */
struct barrier_walk {
	const struct annotation *a;
	unsigned conditions; /* how many are around what is visited */
	bool left;           /* a return came before */
	bool irregular;      /* the function has labels */
	bool found;
	unsigned barriers, divisions; /* barriers up to here; conditions that have some inside of them */
};

static bool is_loop(enum CXCursorKind kind)
{
	return kind == CXCursor_ForStmt || kind == CXCursor_WhileStmt || kind == CXCursor_DoStmt;
}

/* How many loops and switches are between the visited statement and the loop that may be left. */
struct loop_exit_search {
	unsigned loops, switches;
	bool found;
};

static enum CXChildVisitResult find_jump(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct loop_exit_search *s = data;
	enum CXCursorKind kind = clang_getCursorKind(cursor);
	bool loop = is_loop(kind), choice = kind == CXCursor_SwitchStmt;
	(void)parent;
	s->found |= kind == CXCursor_ReturnStmt || kind == CXCursor_GotoStmt || kind == CXCursor_IndirectGotoStmt;
	s->found |= kind == CXCursor_ContinueStmt && !s->loops;
	s->found |= kind == CXCursor_BreakStmt && !s->loops && !s->switches;
	if (s->found)
		return CXChildVisit_Break;
	s->loops += loop;
	s->switches += choice;
	clang_visitChildren(cursor, find_jump, data);
	s->loops -= loop;
	s->switches -= choice;
	return s->found ? CXChildVisit_Break : CXChildVisit_Continue;
}

static bool is_left_by_jumps(CXCursor loop)
{
	struct loop_exit_search s = {0};
	clang_visitChildren(loop, find_jump, &s);
	return s.found;
}

static enum CXChildVisitResult find_label(CXCursor cursor, CXCursor parent, CXClientData data)
{
	enum CXCursorKind kind = clang_getCursorKind(cursor);
	(void)parent;
	if (kind != CXCursor_LabelStmt && kind != CXCursor_GotoStmt && kind != CXCursor_IndirectGotoStmt && kind != CXCursor_GCCAsmStmt)
		return CXChildVisit_Recurse;
	*(bool *)data = true;
	return CXChildVisit_Break;
}

/* An unexposed cursor that is no implicit conversion, such as a ?: b. */
static bool has_parts(CXCursor cursor)
{
	struct children c = children_of(cursor);
	free(c.items);
	return c.count != 1;
}

static bool is_conditional(CXCursor cursor)
{
	switch (clang_getCursorKind(cursor)) {
	case CXCursor_IfStmt:
	case CXCursor_SwitchStmt:
	case CXCursor_ConditionalOperator:
	case CXCursor_StmtExpr:
	case CXCursor_BlockExpr:
		return true;
	case CXCursor_BinaryOperator:
		return clang_getCursorBinaryOperatorKind(cursor) == CXBinaryOperator_LAnd ||
		       clang_getCursorBinaryOperatorKind(cursor) == CXBinaryOperator_LOr;
	case CXCursor_UnexposedExpr:
		return has_parts(cursor);
	default:
		return is_loop(clang_getCursorKind(cursor)) && is_left_by_jumps(cursor);
	}
}

static bool has_barrier(const struct annotation *a, CXCursor call)
{
	const struct function *f = called_function(a, call);
	return f ? f->has_barrier : is_barrier(call);
}

static enum CXChildVisitResult visit_for_barriers(CXCursor cursor, CXCursor parent, CXClientData data);

/* The header of a loop is conditional. Its body need not be. */
static void visit_loop(struct barrier_walk *w, CXCursor loop)
{
	struct children c = children_of(loop);
	size_t body = clang_getCursorKind(loop) == CXCursor_DoStmt ? 0 : c.count - 1;
	for (size_t i = 0; i < c.count; i++) {
		w->conditions += i != body;
		visit_for_barriers(c.items[i], loop, w);
		w->conditions -= i != body;
	}
	w->found |= c.failed;
	free(c.items);
}

static enum CXChildVisitResult visit_for_barriers(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct barrier_walk *w = data;
	enum CXCursorKind kind = clang_getCursorKind(cursor);
	bool conditional = is_conditional(cursor);
	(void)parent;
	unsigned before = w->barriers;
	if (kind == CXCursor_CallExpr && has_barrier(w->a, cursor)) {
		w->found |= w->conditions || w->left || w->irregular;
		w->barriers++;
	}
	w->conditions += conditional;
	if (is_loop(kind))
		visit_loop(w, cursor);
	else
		clang_visitChildren(cursor, visit_for_barriers, data);
	w->conditions -= conditional;
	w->divisions += conditional && w->barriers > before;
	w->left |= kind == CXCursor_ReturnStmt;
	return CXChildVisit_Continue;
}

static bool has_divided_barriers(const struct annotation *a, CXCursor function, unsigned *divisions)
{
	struct barrier_walk w = {.a = a};
	clang_visitChildren(function, find_label, &w.irregular);
	clang_visitChildren(function, visit_for_barriers, &w);
	*divisions = w.divisions;
	return w.found;
}

/* ---- types ---- */

static bool is_array(CXType type)
{
	type = clang_getCanonicalType(type);
	return type.kind == CXType_ConstantArray || type.kind == CXType_IncompleteArray || type.kind == CXType_VariableArray;
}

static CXType without_arrays(CXType type)
{
	type = clang_getCanonicalType(type);
	while (is_array(type))
		type = clang_getCanonicalType(clang_getArrayElementType(type));
	return type;
}

/* What a type contains: pointers, and pointers that share their place with something else. */
enum { HOLDS_POINTER = 1, HOLDS_PUNNED = 2 };

static unsigned contents_of(CXType type);

static enum CXVisitorResult add_field(CXCursor field, CXClientData data)
{
	*(unsigned *)data |= contents_of(clang_getCursorType(field));
	return CXVisit_Continue;
}

static unsigned contents_of(CXType type)
{
	unsigned contents = 0;
	type = without_arrays(type);
	if (type.kind == CXType_Atomic)
		return contents_of(clang_Type_getValueType(type));
	if (type.kind == CXType_Record)
		clang_Type_visitFields(type, add_field, &contents);
	if (type.kind == CXType_Pointer || type.kind == CXType_BlockPointer)
		contents = HOLDS_POINTER;
	if (contents && clang_getCursorKind(clang_getTypeDeclaration(type)) == CXCursor_UnionDecl)
		contents |= HOLDS_PUNNED;
	return contents;
}

static bool is_pointer(CXType type)
{
	return clang_getCanonicalType(type).kind == CXType_Pointer;
}

/* What a pointer points to. For an array, the array itself: libclang gives parameters the types that they are written with. */
static CXType pointee_of(CXType type)
{
	return is_array(type) ? clang_getCanonicalType(type) : clang_getPointeeType(clang_getCanonicalType(type));
}

/* The space of a type. In an array, it is a qualifier of the element. */
static enum code_space space_of_memory(CXType type)
{
	enum code_space space = space_of(type);
	return space == SPACE_local ? space_of(without_arrays(type)) : space;
}

static bool is_const(CXType type)
{
	return clang_isConstQualifiedType(clang_getCanonicalType(type)) || clang_isConstQualifiedType(without_arrays(type));
}

static bool is_integer(CXType type)
{
	enum CXTypeKind kind = clang_getCanonicalType(type).kind;
	return kind == CXType_Enum || (kind >= CXType_Bool && kind <= CXType_Int128);
}

/* ---- expressions ---- */

struct fact_walk {
	const struct annotation *a;
	unsigned facts; /* about the declaration that is visited */
};

static bool is_zero(CXCursor expression)
{
	CXEvalResult value = clang_Cursor_Evaluate(expression);
	bool zero = value && clang_EvalResult_getKind(value) == CXEval_Int && !clang_EvalResult_getAsUnsigned(value);
	if (value)
		clang_EvalResult_dispose(value);
	return zero;
}

/* Memory that one pointer declares const may be written through another. */
static bool drops_const(CXType from, CXType to)
{
	enum code_space space = space_of_memory(pointee_of(from));
	return (space == SPACE_global || space == SPACE_generic) && is_const(pointee_of(from)) && !is_const(pointee_of(to));
}

/* Facts about an explicit or implicit conversion from `child`. */
static unsigned facts_of_cast(CXCursor cast, CXCursor child)
{
	CXType to = clang_getCursorType(cast), from = clang_getCursorType(child);
	if (!is_pointer(to))
		return 0;
	if (is_integer(from))
		return is_zero(child) ? 0 : HAZARD_ADDRESSES | HAZARD_UNCONST;
	if (!is_pointer(from) && !is_array(from))
		return 0;
	unsigned facts = drops_const(from, to) ? HAZARD_UNCONST : 0;
	/* Bits of some other type become a pointer. */
	if (contents_of(pointee_of(to)) && !contents_of(pointee_of(from)))
		facts |= HAZARD_ADDRESSES;
	return facts;
}

/* Facts about memory that others see, too, and that contains pointers. The type is that of an lvalue, or of a pointer to it. */
static unsigned facts_of_type(CXType type)
{
	if (type.kind == CXType_Invalid)
		return 0;
	unsigned contents = contents_of(type);
	if (contents & HOLDS_PUNNED)
		return HAZARD_ADDRESSES | HAZARD_UNCONST;
	if (contents && space_of_memory(type) != SPACE_local)
		return HAZARD_ADDRESSES;
	if (is_pointer(type) && space_of_memory(pointee_of(type)) != SPACE_local && contents_of(pointee_of(type)))
		return HAZARD_ADDRESSES;
	return 0;
}

/* A variable that outlives the launch and may change. */
static bool is_state(CXCursor variable)
{
	CXType type = clang_getCursorType(variable);
	if (clang_getCursorKind(variable) != CXCursor_VarDecl || space_of_memory(type) == SPACE_const || is_const(type) ||
	    clang_getCanonicalType(type).kind == CXType_OCLSampler)
		return false;
	enum CX_StorageClass storage = clang_Cursor_getStorageClass(variable);
	if (clang_getCursorKind(clang_getCursorSemanticParent(variable)) == CXCursor_TranslationUnit)
		return true;
	return storage == CX_SC_Static && space_of_memory(type) != SPACE_shared;
}

static unsigned facts_of_call(const struct annotation *a, CXCursor call)
{
	CXString name = clang_getCursorSpelling(call);
	const char *s = clang_getCString(name);
	unsigned facts = 0;
	if (s && !called_function(a, call)) {
		if (!strcmp(s, "printf"))
			facts |= HAZARD_PRINTS;
		if (!strncmp(s, "__builtin_mem", 13))
			facts |= HAZARD_ADDRESSES | HAZARD_UNCONST;
	}
	clang_disposeString(name);
	return facts;
}

static enum CXChildVisitResult visit_for_facts(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct fact_walk *w = data;
	enum CXCursorKind kind = clang_getCursorKind(cursor);
	(void)parent;
	if (kind == CXCursor_CallExpr)
		w->facts |= facts_of_call(w->a, cursor);
	else if (kind == CXCursor_DeclRefExpr)
		w->facts |= is_state(clang_getCursorReferenced(cursor)) ? HAZARD_VARIABLES : 0;
	else if (kind == CXCursor_GCCAsmStmt || kind == CXCursor_MSAsmStmt || kind == CXCursor_BlockExpr)
		w->facts |= HAZARD_ADDRESSES | HAZARD_UNCONST;
	if (clang_isExpression(kind) || kind == CXCursor_VarDecl || kind == CXCursor_ParmDecl)
		w->facts |= facts_of_type(clang_getCursorType(cursor));
	if (clang_isExpression(kind)) {
		/* The operand of a cast is its last child. The type comes before it, if it has a name. */
		struct children c = children_of(cursor);
		if (c.count && (kind == CXCursor_UnexposedExpr || kind == CXCursor_CStyleCastExpr))
			w->facts |= facts_of_cast(cursor, c.items[c.count - 1]);
		w->facts |= c.failed ? HAZARD_ADDRESSES | HAZARD_UNCONST : 0;
		free(c.items);
	}
	return CXChildVisit_Recurse;
}

/* ---- waiting ---- */

/* An atomic operation on memory that other work-groups may change. */
static bool is_atomic_on_global(const struct annotation *a, CXCursor call)
{
	CXString name = clang_getCursorSpelling(call);
	const char *s = clang_getCString(name);
	bool atomic = s && (!strncmp(s, "atom_", 5) || !strncmp(s, "atomic_", 7)) && !called_function(a, call);
	clang_disposeString(name);
	return atomic && clang_Cursor_getNumArguments(call) > 0 &&
	       space_of_memory(pointee_of(clang_getCursorType(clang_Cursor_getArgument(call, 0)))) != SPACE_shared;
}

/* Whether a call is a statement of its own, or all that an if or a loop does: nothing uses its result. */
static bool is_statement(CXCursor call, CXCursor parent)
{
	enum CXCursorKind kind = clang_getCursorKind(parent);
	if (kind == CXCursor_CompoundStmt)
		return true;
	if (kind != CXCursor_IfStmt && !is_loop(kind))
		return false;
	struct children c = children_of(parent);
	size_t body = kind == CXCursor_DoStmt ? 0 : c.count - 1; /* or an else, which is no condition either */
	bool statement = c.count && (clang_equalCursors(c.items[body], call) ||
	                             (kind == CXCursor_IfStmt && !clang_equalCursors(c.items[0], call)));
	free(c.items);
	return statement;
}

static bool is_volatile_access(CXCursor cursor)
{
	enum CXCursorKind kind = clang_getCursorKind(cursor);
	CXType type = clang_getCursorType(cursor);
	if (kind != CXCursor_ArraySubscriptExpr && kind != CXCursor_UnaryOperator && kind != CXCursor_MemberRefExpr)
		return false;
	enum code_space space = space_of_memory(type);
	return clang_isVolatileQualifiedType(type) && (space == SPACE_global || space == SPACE_generic);
}

struct wait_walk {
	const struct annotation *a;
	bool helper;    /* the function may be called in a loop */
	unsigned loops; /* how many are around what is visited */
	bool found;
};

static enum CXChildVisitResult visit_for_waits(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct wait_walk *w = data;
	enum CXCursorKind kind = clang_getCursorKind(cursor);
	bool loop = is_loop(kind);
	bool looks = is_volatile_access(cursor) ||
	             (kind == CXCursor_CallExpr && is_atomic_on_global(w->a, cursor) && !is_statement(cursor, parent));
	w->found |= looks && (w->loops || w->helper);
	w->loops += loop;
	clang_visitChildren(cursor, visit_for_waits, data);
	w->loops -= loop;
	return w->found ? CXChildVisit_Break : CXChildVisit_Continue;
}

static bool may_wait(const struct annotation *a, const struct function *f, CXCursor function)
{
	struct wait_walk w = {.a = a, .helper = !f->kernel || f->called};
	clang_visitChildren(function, find_label, &w.helper); /* a label is a way back, too */
	clang_visitChildren(function, visit_for_waits, &w);
	return w.found;
}

/* ---- arguments ---- */

static enum argument_kind kind_of_pointer(CXType pointee)
{
	switch (space_of_memory(pointee)) {
	case SPACE_shared:
		return ARGUMENT_LOCAL;
	case SPACE_const:
		return ARGUMENT_CONSTANT;
	case SPACE_global:
		return is_const(pointee) ? ARGUMENT_CONST : ARGUMENT_GLOBAL;
	default:
		return ARGUMENT_OTHER;
	}
}

static enum argument_kind kind_of_argument(CXType type)
{
	type = clang_getCanonicalType(type);
	switch (type.kind) {
	case CXType_Pointer:
		return kind_of_pointer(clang_getPointeeType(type));
	case CXType_ConstantArray: /* written as an array, but a pointer */
	case CXType_IncompleteArray:
	case CXType_VariableArray:
		return kind_of_pointer(type);
	case CXType_OCLSampler:
		return ARGUMENT_SAMPLER;
	case CXType_Record:
	case CXType_Enum:
	case CXType_Vector:
	case CXType_ExtVector:
	case CXType_Half:
	case CXType_Float16:
		return ARGUMENT_VALUE;
	default:
		if (type.kind >= CXType_OCLImage1dRO && type.kind <= CXType_OCLImage3dRO)
			return ARGUMENT_READ;
		if (type.kind >= CXType_OCLImage1dWO && type.kind <= CXType_OCLImage3dRW)
			return ARGUMENT_WRITE;
		return type.kind >= CXType_Bool && type.kind <= CXType_LongDouble ? ARGUMENT_VALUE : ARGUMENT_OTHER;
	}
}

int find_argument_kinds(struct kernel_entry *k, CXCursor kernel)
{
	k->kinds = calloc(k->arguments + 1, 1);
	for (unsigned i = 0; k->kinds && i < k->arguments; i++)
		k->kinds[i] = (unsigned char)kind_of_argument(clang_getCursorType(clang_Cursor_getArgument(kernel, i)));
	return k->kinds ? 0 : -ENOMEM;
}

/* A structure that is passed by value may contain addresses. */
static unsigned facts_of_arguments(CXCursor kernel)
{
	unsigned facts = 0;
	for (int i = 0; i < clang_Cursor_getNumArguments(kernel); i++) {
		CXType type = clang_getCursorType(clang_Cursor_getArgument(kernel, (unsigned)i));
		if (!is_pointer(type) && contents_of(type))
			facts |= HAZARD_ADDRESSES;
	}
	return facts;
}

/* ---- the program ---- */

struct hazard_pass {
	struct annotation *a;
	unsigned everywhere;
};

static enum CXChildVisitResult visit_declaration(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct hazard_pass *pass = data;
	(void)parent;
	if (!clang_Location_isFromMainFile(clang_getCursorLocation(cursor)))
		return CXChildVisit_Continue;
	struct fact_walk w = {.a = pass->a};
	struct function *f = clang_getCursorKind(cursor) == CXCursor_FunctionDecl && clang_isCursorDefinition(cursor)
	                         ? find_function(pass->a, cursor)
	                         : NULL;
	clang_visitChildren(cursor, visit_for_facts, &w);
	pass->everywhere |= w.facts & HAZARD_UNCONST;
	if (!f)
		return CXChildVisit_Continue;
	f->hazards |= w.facts | facts_of_grouping(pass->a, cursor);
	if (f->kernel)
		f->hazards |= facts_of_arguments(cursor);
	if (f->has_barrier && has_divided_barriers(pass->a, cursor, &f->divisions))
		f->hazards |= HAZARD_BARRIERS;
	f->one_way = f->kernel && f->has_barrier && !f->callee_count && goes_one_way(pass->a, cursor);
	if (may_wait(pass->a, f, cursor))
		f->hazards |= HAZARD_WAITS;
	return CXChildVisit_Continue;
}

/*
 * POCL copies what follows a condition with a barrier inside of it: n of them in a row make 2^n copies. It inlines all calls. Of 2,636
 * random kernels, 23 and their twins took a minute and longer to compile, 20 of which have 7 such conditions or more; of 25 that took up to
 * 11 s, none has more than 4.
 */
enum { MOST_DIVISIONS = 6, MOST_CALLS_DEEP = 32 };

static unsigned divisions_of(const struct function *f, unsigned depth)
{
	unsigned sum = f->divisions;
	for (size_t i = 0; i < f->callee_count && depth < MOST_CALLS_DEEP && sum <= MOST_DIVISIONS; i++)
		sum += divisions_of(f->callees[i], depth + 1);
	return sum;
}

static unsigned hazards_of(const struct annotation *a, struct function *f)
{
	unsigned hazards = 0;
	unmark_reached(a);
	mark_reached(f);
	for (size_t i = 0; i < a->function_count; i++)
		hazards |= a->functions[i]->reached ? a->functions[i]->hazards : 0;
	if (divisions_of(f, 0) > MOST_DIVISIONS)
		hazards |= HAZARD_EXPLODES;
	return hazards;
}

void find_hazards(struct annotation *a)
{
	struct hazard_pass pass = {.a = a};
	for (size_t i = 0; i < a->unit_count; i++) {
		clang_visitChildren(clang_getTranslationUnitCursor(a->units[i].tu), visit_declaration, &pass);
		if (scan_asks_for_rounding(a->units[i].text, a->units[i].length))
			pass.everywhere |= HAZARD_ROUNDING;
	}
	for (size_t i = 0; i < a->kernel_count; i++)
		for (size_t j = 0; j < a->function_count; j++)
			if (a->functions[j]->name == a->kernels[i].name) {
				a->kernels[i].hazards = pass.everywhere | hazards_of(a, a->functions[j]);
				a->kernels[i].one_way = a->functions[j]->one_way;
			}
}
