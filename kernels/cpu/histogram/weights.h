// Weights of samples as the CPU engine adds them, whatever their type.
#ifndef GRIDFOLD_KERNELS_CPU_HISTOGRAM_WEIGHTS_H_
#define GRIDFOLD_KERNELS_CPU_HISTOGRAM_WEIGHTS_H_

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/histogram/windowed_sum.h"
#include "kernels/numerics/arithmetic/wide_integer.h"
#include "kernels/types/element_type.h"

namespace gridfold::kernels::cpu {

// How weights are added up: `Value` holds those of a class of types exactly; `State` is their exact
// sum in a result. WindowedSum is the same for floating-point weights.
struct IntegerWeightSum {
  using Value = Int128;
  using State = Int128;

  void Add(Value x) { sum += x; }
  void Merge(const IntegerWeightSum& other) { sum += other.sum; }
  State Total() const { return sum; }

  Int128 sum = 0;
};

// Calls f(TypeTag<S>{}) with the sum for weights of `type`.
template <class F>
decltype(auto) VisitWeightSum(ElementType type, F&& f) {
  if (!IsFloatingPoint(type)) return f(TypeTag<IntegerWeightSum>{});
  if (type == ElementType::kFloat64) return f(TypeTag<WindowedSum<double>>{});
  return f(TypeTag<WindowedSum<float>>{});
}

// Converts elements [first, first + count) of an array of `type`, at any byte address. The values'
// type is that of the type's sum.
void LoadWeights(const std::byte* array, ElementType type, uint64_t first, uint64_t count,
                 float* values);
void LoadWeights(const std::byte* array, ElementType type, uint64_t first, uint64_t count,
                 double* values);
void LoadWeights(const std::byte* array, ElementType type, uint64_t first, uint64_t count,
                 Int128* values);

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_HISTOGRAM_WEIGHTS_H_
