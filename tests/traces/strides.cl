// run k 8 4
__kernel void k(__global int *p)
{
	int i = get_global_id(0);
	p[i + 16] = p[i] + p[2 * i + 1];
	for (int j = 0; j < 3; j++)
		p[i + 64] += p[j * 8 + i];
}
// lane 0.0 2:entry 5:load:a0+0:4 5:load:a0+4:4 5:store:a0+64:4 7:body 7:load:a0+0:4 7:load:a0+256:4 \
//   7:store:a0+256:4 7:body 7:load:a0+32:4 7:load:a0+256:4 7:store:a0+256:4 7:body 7:load:a0+64:4 7:load:a0+256:4 \
//   7:store:a0+256:4
// lane 1.1 2:entry 5:load:a0+20:4 5:load:a0+44:4 5:store:a0+84:4 7:body 7:load:a0+20:4 7:load:a0+276:4 \
//   7:store:a0+276:4 7:body 7:load:a0+52:4 7:load:a0+276:4 7:store:a0+276:4 7:body 7:load:a0+84:4 7:load:a0+276:4 \
//   7:store:a0+276:4
