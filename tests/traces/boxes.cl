// run k 12 2
// box 4 2 counted
// box 1 3 traced
// box 0 1 traced
// absent 4
// absent 5
size_t where(uint d) { return get_num_groups(d) * 100 + get_global_size(d) * 10 + get_global_offset(d) + get_group_id(d); }
__kernel void k(__global int *p)
{
	p[get_global_id(0)] = (int)where(0) + (int)get_num_groups(1) + (int)get_num_groups(7) + get_group_id(2);
}
// lane 0.0 8:entry 7:entry 10:store:a0+0:4
// lane 1.1 8:entry 7:entry 10:store:a0+12:4
// lane 3.0 8:entry 7:entry 10:store:a0+24:4
