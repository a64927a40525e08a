// Exact sums of weights stand in device memory as said here, and these kernels turn them into
// answers. Plain C++; for histogram/ only.
//
// A sum is a row of words of 64 bits: digits 32 bits apart, without carries
// (numerics/sums/exact_sum.h), and for floating-point weights a word of flags behind them.
// Additions of integers are associative, so that atomic additions in any order give the same bits.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_WEIGHT_KERNELS_H_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_WEIGHT_KERNELS_H_

#include <cstdint>

#include "kernels/cuda/histogram/plan/arguments.h"
#include "kernels/types/element_type.h"

namespace gridfold::kernels::cuda {

// The top digit is one that no weight reaches: it takes the carries of 2^63 of them. The number of
// words is odd, so that the same digits of neighbouring sums lie in different banks.
constexpr WeightLayout WeightLayoutOf(ElementType type) {
  if (!IsFloatingPoint(type)) return {.digits = 3, .words = 3};
  if (type == ElementType::kFloat64) return {.digits = 68, .words = 69};
  return {.digits = 10, .words = 11};
}

// What kernels over finished sums are given.
struct WeightTable {
  WeightLayout layout;
  uint64_t* words = nullptr;
  uint64_t bin_count = 0;
  double* rounded = nullptr;
  void* states = nullptr;         // WeightSum of the type; null where they are not asked for.
  bool keeps_zero_signs = false;  // Whether flags tell that all weights were negative zeros.
};
using WeightTableKernel = void (*)(WeightTable);

// Carries, so that every digit but the top one has 32 bits and room for as many additions again.
WeightTableKernel FindCarryWeightsKernel();
// Writes the sums of weights of `type`, rounded, and their states.
WeightTableKernel FindFinishWeightsKernel(ElementType type);
inline constexpr int kWeightTableThreads = 256;

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_WEIGHT_KERNELS_H_
