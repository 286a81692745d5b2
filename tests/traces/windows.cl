// run k 2 2
// Loops of each kind. A loop alone has windows of 64 iterations, then 32 from 256 and from 1024 on.
int helper(__global int *p, int n)
{
	int s = 0;
	for (int i = 0; i < n; i++) {
		if (i == 2000)
			return s + p[7];
		s += p[i & 63];
	}
	return s;
}
__kernel void k(__global int *p)
{
	int g = get_global_id(0), n = 1000 * (p[200] - 199), s = 0, i;
	for (i = 0; i < n; i++)
		s += p[i & 127];
	while (i > 50)
		i -= 1;
	do
		s ^= p[i++ & 15];
	while (i < n);
	for (i = 0; i < n * 100; i++) {
		if (i == 5000 + g)
			break;
		s++;
	}
	for (i = 0; i < n; i++) {
		if (i & 1)
			continue;
		s += i;
	}
	s += helper(p, n);
	s += helper(p, n * 4);
	for (i = 0; p[i & 7] > 100 || i < n; i++)
		s += i;
	for (i = 0; i < 100 && p[i & 7] < 100; i++)
		s += i;
	for (i = 0; ; i++) {
		if (i > 300)
			goto out;
		s--;
	}
out:
	p[g] = s;
}
// gaps 0.0 17:64:192 17:32:712 19:64:192 19:32:662 21:64:192 21:32:662 \
//   23:64:192 23:32:736 23:32:3040 23:32:872 28:64:192 28:32:712 6:64:192 6:32:711 6:64:192 6:32:736 6:32:944 \
//   36:64:192 36:32:712 38:64:36 39:64:192 39:32:13
// tail 0.1 39:body 42:after 39:body 41:then 44:label 45:store:a0+4:4
// most 0.1 2400
