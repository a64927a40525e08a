// A promise to the compiler, for loops over lanes that touch different memory.
#ifndef GRIDFOLD_KERNELS_CPU_BASE_INDEPENDENT_ITERATIONS_H_
#define GRIDFOLD_KERNELS_CPU_BASE_INDEPENDENT_ITERATIONS_H_

// Before a loop: no iteration reads what another one writes, and so the loop may become vectors.
#if defined(__clang__)
#define GRIDFOLD_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#else
#define GRIDFOLD_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#endif

#endif  // GRIDFOLD_KERNELS_CPU_BASE_INDEPENDENT_ITERATIONS_H_
