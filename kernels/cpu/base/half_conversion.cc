#include "kernels/cpu/base/half_conversion.h"

#include <type_traits>

#include "kernels/cpu/base/instruction_set.h"
#include "kernels/numerics/arithmetic/element.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gridfold::kernels::cpu {

namespace {

template <class Half>
struct Conversion {
  static void Run(const std::byte* elements, uint64_t count, float* converted) {
    for (uint64_t i = 0; i < count; ++i) {
      converted[i] = static_cast<float>(LoadUnaligned<Half>(elements, i));
    }
  }
};

#if defined(__x86_64__)

// The compiler does not find the instruction by itself. Converts a multiple of 8 elements; returns
// how many.
[[gnu::target("avx,f16c")]] uint64_t ConvertByEights(const std::byte* elements, uint64_t count,
                                                     float* converted) {
  uint64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    __m128i halves;
    std::memcpy(&halves, elements + i * sizeof(Float16), sizeof(halves));
    _mm256_storeu_ps(converted + i, _mm256_cvtph_ps(halves));
  }
  return i;
}

#endif

}  // namespace

template <class Half>
void ConvertToFloats(const std::byte* elements, uint64_t count, float* converted) {
#if defined(__x86_64__)
  if (std::is_same_v<Half, Float16> && ActiveInstructionSet() >= InstructionSet::kAvx2) {
    const uint64_t done = ConvertByEights(elements, count, converted);
    Conversion<Half>::Run(elements + done * sizeof(Half), count - done, converted + done);
    return;
  }
#endif
  RunForProcessor<Conversion<Half>>(elements, count, converted);
}

template void ConvertToFloats<Float16>(const std::byte*, uint64_t, float*);
template void ConvertToFloats<Bfloat16>(const std::byte*, uint64_t, float*);

}  // namespace gridfold::kernels::cpu
