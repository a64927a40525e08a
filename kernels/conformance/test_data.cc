#include "kernels/conformance/test_data.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "kernels/conformance/element_codec.h"

namespace gridfold::kernels::conformance {

namespace {

using Random = std::mt19937_64;

// Magnitudes that wide data reaches up and down from 1, in powers of two: as far as products of two
// and sums of millions stay finite and normal in float64.
int ExponentRange(ElementType type) {
  return type == ElementType::kFloat16 ? 14 : type == ElementType::kFloat64 ? 60 : 40;
}

long double SmallNumber(ElementType type, Random& random) {
  const int step = static_cast<int>(random() % 17);
  if (IsUnsigned(type)) return step;
  return IsFloatingPoint(type) ? (step - 8) * 0.25L : step - 8;
}

long double WideNumber(ElementType type, Random& random) {
  const uint64_t bits = random();
  if (!IsFloatingPoint(type)) {
    std::byte bytes[sizeof(bits)];
    std::memcpy(bytes, &bits, sizeof(bits));
    return ReadElement(type, bytes);
  }
  const int range = ExponentRange(type);
  const long double fraction = 1 + std::ldexp(static_cast<long double>(bits >> 12), -52);
  const int exponent = static_cast<int>(random() % (2 * range)) - range;
  const long double magnitude = std::ldexp(fraction, exponent);
  return (bits & 1) != 0 ? -magnitude : magnitude;
}

long double SpecialNumber(ElementType type, Random& random) {
  if (!IsFloatingPoint(type)) {
    const long double numbers[] = {SmallestElement(type), LargestElement(type), 0, 1};
    return numbers[random() % 4];
  }
  const FloatFormat format = FloatFormatOf(type);
  const long double smallest = std::ldexp(1.0L, format.min_exponent() - format.significand_bits);
  const long double numbers[] = {std::numeric_limits<long double>::quiet_NaN(),
                                 HUGE_VALL,
                                 -HUGE_VALL,
                                 0.0L,
                                 -0.0L,
                                 smallest,
                                 -3 * smallest,
                                 std::ldexp(1.0L, format.min_exponent())};
  return numbers[random() % 8];
}

}  // namespace

TestArray MakeData(const ArrayDescription& description, DataKind kind, uint64_t seed,
                   size_t misalignment) {
  TestArray array(description, misalignment);
  Random random(seed * 1000 + static_cast<uint64_t>(description.element_type));
  for (uint64_t i = 0; i < array.size(); ++i) {
    if (kind == DataKind::kSmall) {
      array.Set(i, SmallNumber(array.type(), random));
    } else if (kind == DataKind::kSpecial && random() % 4 == 0) {
      array.Set(i, SpecialNumber(array.type(), random));
    } else {
      array.Set(i, WideNumber(array.type(), random));
    }
  }
  return array;
}

TestArray MakeVector(ElementType type, uint64_t size, DataKind kind, uint64_t seed,
                     size_t misalignment) {
  return MakeData(ArrayDescription::Vector(type, size), kind, seed, misalignment);
}

TestArray MakeUniform(ElementType type, uint64_t size, long double lower, long double upper,
                      uint64_t seed, size_t misalignment) {
  TestArray array(ArrayDescription::Vector(type, size), misalignment);
  Random random(seed);
  for (uint64_t i = 0; i < size; ++i) {
    const long double fraction = std::ldexp(static_cast<long double>(random() >> 11), -53);
    const long double value = lower + (upper - lower) * fraction;
    array.Set(i, IsFloatingPoint(type) ? value : std::floor(value));
  }
  return array;
}

std::vector<uint64_t> SizesAtEdges() {
  std::vector<uint64_t> sizes = {0, 1, 2};
  for (const uint64_t edge : {32, 256, 512, 4096, 8192, 131'072}) {
    sizes.insert(sizes.end(), {edge - 1, edge, edge + 1});
  }
  return sizes;
}

}  // namespace gridfold::kernels::conformance
