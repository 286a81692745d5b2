#include "runtime/guest/support/names.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* Programs in C++ have the library that can do it, and so do drivers with LLVM. It is not loaded for this. */
static char *demangle(const char *name)
{
	char *(*convert)(const char *name, char *out, size_t *length, int *status) = NULL;
	void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
	char *text = NULL;
	if (library)
		*(void **)&convert = dlsym(library, "__cxa_demangle");
	if (convert)
		text = convert(name, NULL, NULL, NULL);
	if (library)
		dlclose(library);
	return text;
}

/* The end of the name: the parenthesis of its parameters, which is not within < >. "(anonymous namespace)::" is part of the name. */
static size_t name_end(const char *text)
{
	static const char anonymous[] = "(anonymous namespace)";
	size_t depth = 0, i = 0;
	while (text[i] && (depth || text[i] != '(' || !strncmp(text + i, anonymous, sizeof anonymous - 1))) {
		if (!strncmp(text + i, anonymous, sizeof anonymous - 1)) {
			i += sizeof anonymous - 1;
			continue;
		}
		depth += text[i] == '<' || text[i] == '(';
		depth -= depth && (text[i] == '>' || text[i] == ')');
		i++;
	}
	return i;
}

/* The begin of the name: after the type that a template returns. */
static size_t name_begin(const char *text, size_t end)
{
	size_t depth = 0, begin = 0;
	for (size_t i = 0; i < end; i++) {
		depth += text[i] == '<' || text[i] == '(';
		depth -= depth && (text[i] == '>' || text[i] == ')');
		if (!depth && text[i] == ' ')
			begin = i + 1;
	}
	return begin;
}

/* Without tags of the binary interface, which are longer than the name where Numba makes it: "f[abi:v1][abi:cw51...]". */
static void drop_tags(char *name)
{
	static const char tag[] = "[abi:";
	char *from, *end;
	while ((from = strstr(name, tag)) && (end = strchr(from, ']')))
		memmove(from, end + 1, strlen(end + 1) + 1);
}

char *readable_name(const char *name)
{
	char *text = strncmp(name, "_Z", 2) ? NULL : demangle(name);
	if (!text)
		return strdup(name);
	size_t end = name_end(text), begin = name_begin(text, end);
	char *readable = end > begin ? strndup(text + begin, end - begin) : strdup(name);
	free(text);
	if (readable)
		drop_tags(readable);
	return readable;
}
