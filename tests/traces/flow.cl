// run k 4 2
__kernel void k(__global int *p)
{
	int i = get_global_id(0);
	for (int j = 0; j < 5; j++) {
		if (j == i)
			continue;
		if (j > 2 && p[j] == 3)
			break;
		switch (i + j) {
		case 1:
			p[64 + i]++;
		case 3:
			p[80 + i] = j;
			break;
		default:
			break;
		}
	}
	if (i == 3)
		return;
	p[128 + i] = i || p[i + 1] ? p[i] : p[i + 2];
	int n = sizeof(p[i]) + sizeof p[1];
	p[140] = n;
}
// lane 0.0 2:entry 5:body 7:then 5:body 8:after 10:after 11:case 12:load:a0+256:4 12:store:a0+256:4 13:case \
//   14:store:a0+320:4 5:body 8:after 10:after 16:default 5:body 8:after 8:right 8:load:a0+12:4 9:then 22:after \
//   22:right 22:load:a0+4:4 22:arm 22:load:a0+0:4 22:store:a0+512:4 24:store:a0+560:4
// lane 1.1 2:entry 5:body 8:after 10:after 13:case 14:store:a0+332:4 5:body 8:after 10:after 16:default 5:body \
//   8:after 10:after 16:default 5:body 7:then 5:body 8:after 8:right 8:load:a0+16:4 10:after 16:default 21:then
