// run k 2 2
struct inner { int a; int4 v; int row[3]; };
__kernel void k(__global int *p)
{
	int i = get_global_id(0);
	__global struct inner *s = (__global struct inner *)p;
	s[1].row[i] = s->row[i + 1] + s[i].v.y;
	s[i].v.x += 3;
	s->v.zw = (int2)(i, 7);
	__global int *q = &s->a;
	*q = (*(q + 20))++;
	if (i)
		s[0] = s[1];
}
// lane 0.0 3:entry 7:load:a0+36:4 7:load:a0+16:16 7:store:a0+80:4 8:load:a0+16:16 8:store:a0+16:16 \
//   9:store:a0+16:16 11:load:a0+80:4 11:store:a0+80:4 11:store:a0+0:4
// lane 0.1 3:entry 7:load:a0+40:4 7:load:a0+64:16 7:store:a0+84:4 8:load:a0+64:16 8:store:a0+64:16 \
//   9:store:a0+16:16 11:load:a0+80:4 11:store:a0+80:4 11:store:a0+0:4 13:then 13:store:a0+0:48 13:load:a0+48:48
