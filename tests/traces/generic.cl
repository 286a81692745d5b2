// options -cl-std=CL2.0
// run k 2 2
// In OpenCL C 2.0 a pointer without an address space is generic, but not on a device that has none.
struct node {
	int value, *next;
};
int sum(int *q, int n)
{
	int s = 0;
	for (int j = 0; j < n; j++)
		s += q[j];
	return s;
}
__kernel void k(__global int *p)
{
	int i = get_global_id(0), a[2], *b[2];
	struct node n = {3, a};
	b[i] = a;
	b[i][i] = 1;
	n.next[1 - i] = 2;
	p[i] = sum(a, 2);
}
// lane 0.0 14:entry 18:store:p+48:8 19:load:p+48:8 19:store:?:4 20:store:?:4 7:entry 11:body 11:load:?:4 11:body 11:load:?:4 \
//   11:next 21:store:a0+0:4
// lane 0.1 14:entry 18:store:p+56:8 19:load:p+56:8 19:store:?:4 20:store:?:4 7:entry 11:body 11:load:?:4 11:body 11:load:?:4 \
//   11:next 21:store:a0+4:4
