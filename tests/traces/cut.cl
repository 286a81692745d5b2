// run k 1 1
// chunks 2
// whole
__kernel void k(__global int *p)
{
	for (int i = 0; i < 300; i++)
		p[i * 37 % 11]++;
}
// cut 0.0 901
