#include "kernels/cpu/histogram/weights.h"

#include <type_traits>

#include "kernels/numerics/arithmetic/element.h"

namespace gridfold::kernels::cpu {

namespace {

template <class Value>
void Load(const std::byte* array, ElementType type, uint64_t first, uint64_t count, Value* values) {
  VisitElementType(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (IntegerElement<T> != std::is_floating_point_v<Value>) {
      for (uint64_t i = 0; i < count; ++i) {
        values[i] = static_cast<Value>(ToCompute(LoadUnaligned<T>(array, first + i)));
      }
    }
  });
}

}  // namespace

void LoadWeights(const std::byte* array, ElementType type, uint64_t first, uint64_t count,
                 float* values) {
  Load(array, type, first, count, values);
}

void LoadWeights(const std::byte* array, ElementType type, uint64_t first, uint64_t count,
                 double* values) {
  Load(array, type, first, count, values);
}

void LoadWeights(const std::byte* array, ElementType type, uint64_t first, uint64_t count,
                 Int128* values) {
  Load(array, type, first, count, values);
}

}  // namespace gridfold::kernels::cpu
