/* no - never uses OpenCL: nobody may notice that anything was preloaded. */
#include <stdio.h>

int main(void)
{
	puts("no OpenCL here");
	fputs("not a word about it\n", stderr);
	return 0;
}
