/* Integer operations of the target, by their widths. */
#include "models/accesses/operation.h"

#include <stdbool.h>

uint64_t operation_cut(uint64_t value, unsigned bits)
{
	return bits >= 64 ? value : value & ((1ull << bits) - 1);
}

static uint64_t widen(uint64_t value, const struct code_node *n)
{
	value = operation_cut(value, n->from_bits);
	if (n->signed_ && n->from_bits < 64 && value >> (n->from_bits - 1))
		value |= ~0ull << n->from_bits;
	return value;
}

static bool is_less(uint64_t a, uint64_t b, const struct code_node *n)
{
	return n->signed_ ? (int64_t)a < (int64_t)b : a < b;
}

static uint64_t divide(uint64_t a, uint64_t b, const struct code_node *n)
{
	if (!b || (n->signed_ && b == ~0ull))
		return b ? 0 - a : 0;
	return n->signed_ ? (uint64_t)((int64_t)a / (int64_t)b) : a / b;
}

static uint64_t shift_right(uint64_t a, uint64_t by, const struct code_node *n)
{
	if (by >= n->from_bits)
		by = 63;
	return n->signed_ ? (uint64_t)((int64_t)a >> by) : a >> by;
}

static uint64_t upper_product(uint64_t a, uint64_t b, const struct code_node *n)
{
	unsigned __int128 product = n->signed_ ? (unsigned __int128)((__int128)(int64_t)a * (int64_t)b) : (unsigned __int128)a * b;
	return (uint64_t)(product >> n->from_bits);
}

static uint64_t compute(const struct code_node *n, uint64_t a, uint64_t b, uint64_t c, uint64_t raw_b)
{
	switch (n->op) {
	case NODE_add:
		return a + b;
	case NODE_sub:
		return a - b;
	case NODE_mul:
		return a * b;
	case NODE_mad:
		return a * b + c;
	case NODE_shl:
		return raw_b < 64 ? a << raw_b : 0;
	case NODE_shr:
		return shift_right(a, raw_b, n);
	case NODE_and:
		return a & b;
	case NODE_or:
		return a | b;
	case NODE_xor:
		return a ^ b;
	case NODE_not:
		return ~a;
	case NODE_neg:
		return 0 - a;
	case NODE_min:
		return is_less(a, b, n) ? a : b;
	case NODE_max:
		return is_less(a, b, n) ? b : a;
	case NODE_div:
		return divide(a, b, n);
	case NODE_rem:
		return b ? a - divide(a, b, n) * b : 0;
	case NODE_lt:
		return is_less(a, b, n);
	case NODE_le:
		return !is_less(b, a, n);
	case NODE_eq:
		return a == b;
	case NODE_ne:
		return a != b;
	case NODE_select:
		return c ? a : b;
	case NODE_mulhi:
		return upper_product(a, b, n);
	default:
		return a;
	}
}

uint64_t operation_value(const struct code_node *n, uint64_t a, uint64_t b, uint64_t c)
{
	/* A sum of a wide product is as wide as the product. */
	c = operation_cut(c, n->op == NODE_select ? 1 : n->to_bits);
	return operation_cut(compute(n, widen(a, n), widen(b, n), c, b), n->to_bits);
}
