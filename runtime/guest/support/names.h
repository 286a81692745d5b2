/* names: names of C++ functions as people read them. */
#ifndef GPUSIM_RUNTIME_GUEST_SUPPORT_NAMES_H
#define GPUSIM_RUNTIME_GUEST_SUPPORT_NAMES_H

/* "_Z4spanIiLi4EEvPKT_PS0_" is "span<int, 4>": without what it returns and takes. The name itself where it is none of C++, or where no
 * library of the process knows. The caller frees it. NULL: out of memory. */
char *readable_name(const char *name);

#endif
