// run k 4 2
__kernel void k(__global int *p)
{
	__local int t[8], u[4][2];
	int g = get_group_id(0), i = get_local_id(0);
	event_t e = async_work_group_copy(t, p + 8 * g, 8, 0);
	wait_group_events(1, &e);
	u[i + 1][i] = t[7 - i];
	barrier(CLK_LOCAL_MEM_FENCE);
	e = async_work_group_strided_copy(p + 128 + g, (__local int *)t, 2, 4, 0);
	wait_group_events(1, &e);
	p[64 + get_global_id(0)] = u[i + 1][i];
}
// lane 0.1 2:entry 6:copy_in:a0+0:32 6:copy_in:s+0:32 8:load:s+24:4 8:store:s+52:4 10:copy_out:s+0:8 \
//   10:copy_out:a0+512:8 12:load:s+52:4 12:store:a0+260:4
// lane 1.0 2:entry 6:copy_in:a0+32:32 6:copy_in:s+0:32 8:load:s+28:4 8:store:s+40:4 10:copy_out:s+0:8 \
//   10:copy_out:a0+516:8 12:load:s+40:4 12:store:a0+264:4
