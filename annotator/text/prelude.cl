/*
 * What stands before the text of a unit: builtins by other names, and box functions (boxes.c). write.c and boxes.c choose the
 * sections. The functions are not static, because that came with OpenCL C 1.2: the unit is in their name.
 */

/* A silent twin evaluates the arguments of printf and prints nothing. */
//@ prelude_print
#ifdef ${SILENT_MACRO}
#define __gpusim_printf(...) ((void)(__VA_ARGS__), 0)
#else
#define __gpusim_printf printf
#endif

//@ prelude_probe
void __gpusim_probe(ulong, ulong, uint, ulong) __asm__("llvm.pseudoprobe");

/* Markers ask the device for these. The second form is for units in which a variable hides the builtin. */
//@ prelude_ids
#define __gpusim_local_id(d) get_local_id(d)
#define __gpusim_local_size(d) get_local_size(d)
#define __gpusim_global_id(d) get_global_id(d)

//@ prelude_hidden_ids
static inline size_t __gpusim_local_id_${UNIT}(uint d) { return get_local_id(d); }
#define __gpusim_local_id(d) __gpusim_local_id_${UNIT}(d)
static inline size_t __gpusim_local_size_${UNIT}(uint d) { return get_local_size(d); }
#define __gpusim_local_size(d) __gpusim_local_size_${UNIT}(d)
static inline size_t __gpusim_global_id_${UNIT}(uint d) { return get_global_id(d); }
#define __gpusim_global_id(d) __gpusim_global_id_${UNIT}(d)

/*
 * Box functions. They add and never choose: a choice between the box's answer and the device's own was not taken out of
 * work-item loops, and made short kernels up to twice as slow. runtime/format/box.def has the slots.
 */
//@ box_group_id
size_t __gpusim_group_id_${UNIT}(unsigned int d, ulong16 b)
{
	return get_group_id(d) + (d == 0 ? b.${BOX_FIRST_X} : d == 1 ? b.${BOX_FIRST_Y} : d == 2 ? b.${BOX_FIRST_Z} : 0);
}

//@ box_num_groups
size_t __gpusim_num_groups_${UNIT}(unsigned int d, ulong16 b)
{
	return get_num_groups(d) + (d == 0 ? b.${BOX_OTHERS_X} : d == 1 ? b.${BOX_OTHERS_Y} : d == 2 ? b.${BOX_OTHERS_Z} : 0);
}

//@ box_global_size
size_t __gpusim_global_size_${UNIT}(unsigned int d, ulong16 b)
{
	return get_global_size(d) + (d == 0 ? b.${BOX_OTHERS_X} : d == 1 ? b.${BOX_OTHERS_Y} : d == 2 ? b.${BOX_OTHERS_Z} : 0) * get_local_size(d);
}

//@ box_global_offset
size_t __gpusim_global_offset_${UNIT}(unsigned int d, ulong16 b)
{
	return get_global_offset(d) - (d == 0 ? b.${BOX_FIRST_X} : d == 1 ? b.${BOX_FIRST_Y} : d == 2 ? b.${BOX_FIRST_Z} : 0) * get_local_size(d);
}

//@ box_global_linear_id
size_t __gpusim_global_linear_id_${UNIT}(ulong16 b)
{
	return ((get_global_id(2) - __gpusim_global_offset_${UNIT}(2, b)) * __gpusim_global_size_${UNIT}(1, b) +
	get_global_id(1) - __gpusim_global_offset_${UNIT}(1, b)) * __gpusim_global_size_${UNIT}(0, b) +
	get_global_id(0) - __gpusim_global_offset_${UNIT}(0, b);
}

/* Markers call box functions by a macro. */
//@ box_macro
#define __gpusim_${NAME}(d) __gpusim_${NAME}_${UNIT}(d, __gpusim_box)
