// run k 2 2
int sum(int *q, int n)
{
	int s = 0;
	for (int j = 0; j < n; j++)
		s += q[j];
	return s;
}
__kernel void k(__global int *p)
{
	int i = get_global_id(0), a[4], b[3][2];
	for (int j = 0; j < 2; j++) {
		a[j + i] = j;
		b[j][i] = a[j + i];
	}
	a[0] = 1;
	b[2][1] = 4;
	p[i] = sum(a, 2) + a[0];
}
// lane 0.0 9:entry 12:body 13:store:p+32:4 14:load:p+32:4 14:store:p+48:4 12:body 13:store:p+36:4 14:load:p+36:4 \
//   14:store:p+56:4 2:entry 6:body 6:load:p+16777216:4 6:body 6:load:p+16777220:4 6:next 18:store:a0+0:4
// lane 0.1 9:entry 12:body 13:store:p+36:4 14:load:p+36:4 14:store:p+52:4 12:body 13:store:p+40:4 14:load:p+40:4 \
//   14:store:p+60:4 2:entry 6:body 6:load:p+16777216:4 6:body 6:load:p+16777220:4 6:next 18:store:a0+4:4
