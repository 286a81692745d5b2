// run k 2 2
// Loops that text for GPUs contains twice. Alone, a loop has windows of 64 iterations, then 32 from 256 on. Around another, 16, then 8 from 64 and
// from 256 on; the inner one 32, then 16 from 128 and from 512 on. With a further loop of 40 inside, 8, then 4 from 32, 128 and 512 on.
int add(__global int *p, int n)
{
	int s = 0;
	for (int i = 0; i < n; i++)
		s += p[i & 31];
	return s;
}
__kernel void k(__global int *p)
{
	int g = get_global_id(0), n = 1000 * (p[200] - 199), s = 0, i, j;
	for (i = 0, j = n; i < j; i++, j--) {
		if (i & 1)
			continue;
		s += p[i & 63];
	}
	while (j-- > 0 && p[j & 7] < 100)
		switch (j & 3) {
		case 0: s++; break;
		case 1: s += p[1];
		default: s ^= j;
		}
	do {
		int k = i++;
		if (k % 3 == 0)
			continue;
		s += k;
	} while (i < n);
	for (i = 0; i < n; i++)
		for (j = 0; j < 3; j++)
			s += p[j] + i;
	for (i = 0; i < 300; i++)
		s += add(p, i == 2 ? n : 2);
	for (i = 0; i < n; )
		if (i++ % 2) for (int k = 0; k < 40; k++) s ^= k; else for (int k = 0; k < 200; k++) s += k;
	p[100 + g] = s;
}
// gaps 0.1 14:64:192 14:32:212 20:64:192 20:32:212 25:64:192 25:32:212 32:64:192 32:32:712 8:32:96 8:16:368 8:16:472 \
//   35:16:48 35:8:184 35:8:36 37:32:96 37:16:56 37:32:96 37:16:56 37:32:96 37:16:56 37:32:96 37:16:56 37:8:24 \
//   37:32:96 37:16:56 37:32:96 37:16:56 37:4:92 37:32:96 37:16:56 37:32:96 37:16:56 37:4:380 \
//   37:32:96 37:16:56 37:32:96 37:16:56 37:4:484
// tail 0.1 37:body 37:body 37:next 38:store:a0+404:4
