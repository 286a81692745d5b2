/*
 * An alias library: libcudart.so.NUMBER or libcuda.so.1 without functions, which needs libgpusim.so. A program that was linked with the shared CUDA
 * runtime starts with it where CUDA is not installed. Its symbol version is there for the loader to find (the Makefile makes it);
 * the functions themselves are found in libgpusim.so, which has no versions and serves all of them.
 */
typedef int nothing_here;
