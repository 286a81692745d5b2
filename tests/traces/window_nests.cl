// run k 4 2
// Of two nested loops the outer has windows of 16 and 8, the inner of 32 and 16. Of three, 8, 8 and 32.
void inner(__local int *t, int n)
{
	for (int i = 0; i < n; i++)
		t[i & 1] += i;
}
__kernel void k(__global int *p)
{
	__local int tile[2], mine[4];
	int g = get_global_id(0), l = get_local_id(0), n = 20 * (p[200] - 199), s = 0;
	tile[l] = l;
	mine[l * 2] = mine[l * 2 + 1] = 0;
	for (int i = 0; i < n; i++) {
		barrier(CLK_LOCAL_MEM_FENCE);
		s += tile[i & 1];
		barrier(CLK_LOCAL_MEM_FENCE);
		for (int j = 0; j < 32 + i * 4; j++)
			s += j;
	}
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n / 2; j++)
			inner(mine + l * 2, i == 3 && j == 5 ? n * 2 : 1);
	p[100 + g] = s + mine[l * 2];
}
// gaps 1.1 19:32:4 19:32:8 19:32:12 19:32:16 19:32:20 19:32:24 19:32:28 19:32:32 19:32:36 19:32:40 19:32:44 19:32:48 19:32:52 \
//   19:32:56 19:32:60 14:16:4 23:8:2 23:8:2 23:8:2 6:32:8 23:8:2 23:8:2 23:8:2 23:8:2 23:8:2 22:8:12
// tail 1.1 23:body 3:entry 6:body 6:load:s+24:4 6:store:s+24:4 6:next 23:next 24:load:s+24:4 24:store:a0+412:4
