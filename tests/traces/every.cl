// run k 12 2
// every 3 1
// absent 1
// absent 2
__kernel void k(__global int *p)
{
	p[get_global_id(0)] = 1;
}
// lane 0.1 5:entry 7:store:a0+4:4
// lane 3.0 5:entry 7:store:a0+24:4
