#include "kernels/conformance/hard_numbers.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "kernels/conformance/element_codec.h"

namespace gridfold::kernels::conformance {

long double SmallestNumber(ElementType type) {
  const FloatFormat format = FloatFormatOf(type);
  return std::ldexp(1.0L, format.min_exponent() - format.significand_bits);
}

namespace {

// Any finite number of the type, by its bits.
long double AnyNumber(ElementType type, std::mt19937_64& random) {
  for (;;) {
    const uint64_t bits = random();
    const long double x = ReadElement(type, reinterpret_cast<const std::byte*>(&bits));
    if (std::isfinite(x)) return x;
  }
}

long double HardNumber(Hard kind, ElementType type, const TestArray& before, uint64_t i,
                       std::mt19937_64& random) {
  const uint64_t turn = random();
  const bool negative = turn % 2 == 0;
  switch (kind) {
    case Hard::kAnyNumbers: return AnyNumber(type, random);
    case Hard::kCancelling:
      // Takes back an earlier number, often the last one, so that little is left of the sum.
      if (i > 0 && turn % 4 != 0) return -before[turn % 3 == 0 ? i - 1 : random() % i];
      return AnyNumber(type, random);
    case Hard::kSubnormal:
      return SmallestNumber(type) * static_cast<long double>(random() % 100) * (negative ? -1 : 1);
    case Hard::kNearOverflow: {
      // Up past the largest number, down past its negative, and back.
      constexpr int kSigns[] = {1, 1, 1, -1, -1, -1, -1, 1};
      const long double largest = LargestElement(type) * kSigns[i % 8];
      return turn % 16 == 0 ? SmallestNumber(type) : largest;
    }
    case Hard::kTies: {
      // One, halves of the last bits of the sums, and what decides the ties.
      const int bits = FloatFormatOf(type).significand_bits;
      const long double half = std::ldexp(1.0L, -bits - 1);
      const long double least = std::max(half * half / 8, SmallestNumber(type));
      const long double numbers[] = {half, -half, least, -least};
      return i % 50 == 0 ? 1.0L : numbers[turn % 4];
    }
    case Hard::kZeros: return turn % 5000 == 0 ? 0.0L : -0.0L;
    case Hard::kSpecial: break;
  }
  // An infinity or a NaN now and then, so that what comes before and after is seen.
  if (turn % 300 == 0) return negative ? -HUGE_VALL : HUGE_VALL;
  if (turn % 300 == 1) return NAN;
  return turn % 3 == 0 ? -0.0L : AnyNumber(type, random);
}

}  // namespace

TestArray MakeHard(const ArrayDescription& description, Hard kind, uint64_t seed) {
  TestArray array(description, seed % 3);
  std::mt19937_64 random(seed);
  for (uint64_t i = 0; i < array.size(); ++i) {
    array.Set(i, HardNumber(kind, description.element_type, array, i, random));
  }
  return array;
}

}  // namespace gridfold::kernels::conformance
