/* no - never uses OpenCL. The preloaded library must have no effect that can be seen. */
#include <stdio.h>

int main(void)
{
	puts("no OpenCL here");
	fputs("not a word about it\n", stderr);
	return 0;
}
