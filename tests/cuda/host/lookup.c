/* What dlsym finds: in the program, after it, in a library, and nowhere. Addresses themselves differ from run to run. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

__attribute__((visibility("default"))) size_t strlen(const char *text)
{
	size_t n = 0;
	while (text[n])
		n++;
	return n;
}

int main(void)
{
	void *here = (void *)strlen, *library = dlopen("libm.so.6", RTLD_NOW);
	void *first = dlsym(RTLD_DEFAULT, "strlen"), *next = dlsym(RTLD_NEXT, "strlen");
	printf("default: %s\n", first == here ? "its own" : "another");
	printf("next: %s\n", !next ? "none" : next == here ? "its own" : "another");
	printf("library: %s\n", dlsym(library, "cos") ? "found" : "none");
	printf("nowhere: %s\n", dlsym(library, "cuLaunchKernel") ? "found" : strstr(dlerror(), "cuLaunchKernel") ? "an error that names it" : "an error");
	return 0;
}
