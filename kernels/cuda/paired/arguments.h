// What the kernel takes. Plain C++.
#ifndef GRIDFOLD_KERNELS_CUDA_PAIRED_ARGUMENTS_H_
#define GRIDFOLD_KERNELS_CUDA_PAIRED_ARGUMENTS_H_

#include <cstdint>

#include "kernels/contract/paired.h"

namespace gridfold::kernels::cuda {

// Where the columns lie, in device memory, as PairedPlan has them.
struct PairedPlaces {
  const void* x = nullptr;
  const void* y = nullptr;
  const void* weights = nullptr;
  uint32_t column_count = 0;
  bool has_y = false;
  bool has_weights = false;
};

struct PairedArguments {
  PairedPlaces places;
  uint64_t begin = 0;  // Observations [begin, end), no more than kProductsPerDigit.
  uint64_t end = 0;
  const PairedTerm* terms = nullptr;  // One for each row of blocks, all with as many factors.
  uint32_t digits = 0;                // Of each.
  bool ignores_nan = false;
  // Zero at first: `digits` sums for each term, its flags, and, where it is not null, how many
  // observations took part.
  unsigned long long* digit_sums = nullptr;
  unsigned long long* flags = nullptr;
  unsigned long long* observation_count = nullptr;
};

using PairedKernel = void (*)(PairedArguments);

// Blocks of any multiple of 32 threads, with `digits` values of 8 bytes of shared memory for each.
PairedKernel FindPairedKernel(ElementType type, int factor_count);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_PAIRED_ARGUMENTS_H_
