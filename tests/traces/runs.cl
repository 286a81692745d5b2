// run k 16 2
// box 0 1 traced
// box 1 2 counted
// box 3 2 traced
// box 5 2 counted
// box 7 1 traced
// absent 1
// absent 6
size_t place(uint d) { return get_global_id(d) - get_global_offset(d); }
__kernel void k(__global int *p)
{
	p[place(0)] = p[get_group_id(0) * get_local_size(0) + get_local_id(0) + 16] + (int)(get_global_id(1) + get_global_id(2));
}
// lane 0.1 10:entry 12:load:a0+68:4 9:entry 12:store:a0+4:4
// lane 3.0 10:entry 12:load:a0+88:4 9:entry 12:store:a0+24:4
// lane 4.1 10:entry 12:load:a0+100:4 9:entry 12:store:a0+36:4
// lane 7.1 10:entry 12:load:a0+124:4 9:entry 12:store:a0+60:4
