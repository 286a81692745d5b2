// run k 4 2
// The way out of a loop without an end is recorded, with the blocks of its last iteration.
__kernel void k(__global int *p)
{
	int g = get_global_id(0), l = get_local_id(0), n = 100 * (p[200] - 199), s = 0;
	for (int i = 0; ; i++) {
		int c = 0;
		for (int j = 0; j < n; j++)
			if (p[j] == i)
				c = 1;
		for (int j = 0; j < 4; j++)
			s += c;
		while (p[i & 3] > 300 || p[s & 7] < 3)
			s++;
		if (i == 100 + l) {
			p[100 + g] = s;
			return;
		}
	}
}
// gaps 1.1 9:32:68 9:32:68 9:32:68 9:32:68 9:32:68 9:32:68 9:32:68 9:32:68 9:32:68 9:32:68 9:32:68 9:32:68 9:32:68 9:32:68 9:32:68 \
//   9:32:68 6:16:48 9:32:68 9:32:68 9:32:68 9:32:68 9:32:68 9:32:68 9:32:68 9:32:68 6:8:29 9:4:96
// tail 1.1 14:next 6:body 9:body 9:body 9:body 9:body 10:next 12:body 12:body 12:body 12:body 12:next 13:right 14:next 15:then
