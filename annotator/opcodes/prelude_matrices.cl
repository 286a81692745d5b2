/* Products of matrices are native code. */
void gs_matrix_multiply(__private uint *product, __private void *a, __private void *b, __private void *c, __private void *d) __asm__(GS_NATIVE "matrix_multiply");
