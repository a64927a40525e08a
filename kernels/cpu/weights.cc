#include "kernels/cpu/weights.h"

#include "kernels/numerics/element.h"

namespace gridfold::kernels {

void LoadAsDoubles(const std::byte* array, ElementType type, uint64_t first, uint64_t count,
                   double* values) {
  VisitElementType(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (uint64_t i = 0; i < count; ++i) {
      values[i] = static_cast<double>(LoadUnaligned<T>(array, first + i));
    }
  });
}

}  // namespace gridfold::kernels
