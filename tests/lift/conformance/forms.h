/*
 * forms: which instructions are tested, and with which kinds of operands.
 *
 * A form is a line "OPCODE | RESULT OPERAND...". {a,b} in the opcode stands for a and for b, each in a form of its own. RESULT and OPERAND are
 * kinds: i16 i32 i64 f16 x2 (two halves) f32 f64 p (a predicate), T for the kind of the opcode's last type, U for that of the type before it.
 * An operand #TEXT is that text. A result i32+p is a pair d|p. A line "= NAME | RESULT | TEXT" has instructions of its own: $a $b $c $e stand
 * for the operands, as $a.i32, and $d for the result; $s is the address of 128 bytes of scratch that the thread has for this form, $t a register
 * of 32 bits that is free. A line "@ NAME" begins a group: its forms share kernels.
 */
#ifndef GPUSIM_TESTS_LIFT_CONFORMANCE_FORMS_H
#define GPUSIM_TESTS_LIFT_CONFORMANCE_FORMS_H

extern const char *const conformance_forms[]; /* ended by NULL */

#endif
