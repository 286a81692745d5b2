// run k 4 2
__constant int table[4] = {3, 1, 2, 0};
struct pair { __global int *at; int n; };
int get(__global const int *q, int i) { return q[i]; }
int pick(__global int *q, int i) { return get(q + table[i], i) + (i > 1 ? q[i + 8] : get(q, i + 9)); }
void put(struct pair *s, int v) { s->at[s->n] = v; }
__kernel void other(__global int *p, int n) { p[n] = p[n + 1]; }
__kernel void k(__global int *p)
{
	int i = get_global_id(0);
	struct pair s = {p + 32, i};
	put(&s, pick(p, i));
	other(p, 100 + 2 * i); /* no work-item reads what another writes */
}
// lane 0.1 8:entry 5:entry 5:load:c+4:4 4:entry 4:load:a0+8:4 5:arm 4:entry 4:load:a0+40:4 6:entry \
//   6:store:a0+132:4 7:entry 7:load:a0+412:4 7:store:a0+408:4
// lane 1.0 8:entry 5:entry 5:load:c+8:4 4:entry 4:load:a0+16:4 5:arm 5:load:a0+40:4 6:entry 6:store:a0+136:4 \
//   7:entry 7:load:a0+420:4 7:store:a0+416:4
