// Short rows of one size, laid side by side as columns.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_UNIFORM_ROWS_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_UNIFORM_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/cpu/base/independent_iterations.h"
#include "kernels/numerics/arithmetic/element.h"

namespace gridfold::kernels::cpu {

// Element c of row r of `rows`, consecutive at any byte address, becomes columns[c * count + r].
template <class Word>
struct UniformRowsKernel {
  static void Run(const std::byte* rows, uint32_t size, uint32_t count, Word* columns) {
    // Steps that the compiler knows make loops of vectors.
    switch (size) {
      case 2: return Lay<2>(rows, count, columns);
      case 3: return Lay<3>(rows, count, columns);
      case 4: return Lay<4>(rows, count, columns);
      case 5: return Lay<5>(rows, count, columns);
      case 6: return Lay<6>(rows, count, columns);
      case 7: return Lay<7>(rows, count, columns);
      case 8: return Lay<8>(rows, count, columns);
      default: break;
    }
    for (uint32_t r = 0; r < count; ++r) {
      for (uint32_t c = 0; c < size; ++c) {
        columns[c * count + r] = LoadUnaligned<Word>(rows, uint64_t{r} * size + c);
      }
    }
  }

 private:
  template <uint32_t kSize>
  static void Lay(const std::byte* rows, uint32_t count, Word* columns) {
    GRIDFOLD_INDEPENDENT_ITERATIONS
    for (uint32_t r = 0; r < count; ++r) {
      for (uint32_t c = 0; c < kSize; ++c) {
        columns[c * count + r] = LoadUnaligned<Word>(rows, uint64_t{r} * kSize + c);
      }
    }
  }
};

// What is as wide as an element.
template <class T>
using RowWord =
    std::conditional_t<sizeof(T) == 1, uint8_t,
                       std::conditional_t<sizeof(T) == 2, uint16_t,
                                          std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_UNIFORM_ROWS_H_
