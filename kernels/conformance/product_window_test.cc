// Scans of floating-point products whose running products come to the ends of the window in which
// plain float64 multiplication serves (numerics/arithmetic/scaled_product.h), or leave it and come
// back: where that is not seen, bits are lost, or numbers become 0, infinite or NaN.
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/groupings.h"
#include "kernels/conformance/scan_oracle.h"
#include "kernels/conformance/scan_specs.h"

namespace gridfold::kernels::conformance {
namespace {

constexpr uint64_t kUnit = kScanCarryElements;
constexpr long double kInfinity = HUGE_VALL;

// Elements of whose running product the exponent is given, one after the other. Fractions are such
// that every bit is in use.
class ProductPath {
 public:
  explicit ProductPath(uint64_t seed) : random_(seed) {}

  // The next element, after which the running product is 2^exponent times 1 to below 4.
  long double To(int exponent) {
    const long double fraction = 1 + std::ldexp(static_cast<long double>(random_() >> 12 | 1), -52);
    const long double element = std::ldexp(fraction, exponent - exponent_);
    running_ *= fraction;
    exponent_ = exponent;
    if (running_ >= 2) {
      running_ /= 2;
      ++exponent_;
    }
    return random_() % 2 == 0 ? element : -element;
  }

 private:
  std::mt19937_64 random_;
  long double running_ = 1;
  int exponent_ = 0;
};

class ProductWindowTest : public EngineTest {
 protected:
  void ScanAll(const TestArray& array, const GroupingSpec& grouping = {},
               NanPolicy policy = NanPolicy::kPropagate) {
    for (ScanSpec spec : ScansOf(array.type())) {
      if (spec.operation != ScanOperation::kProduct) continue;
      spec.grouping = grouping;
      spec.nan_policy = policy;
      CheckScan(array, spec, engine().Scan(array, spec));
    }
  }

  // float64 elements whose running product is near 1 but for the places in [begin, begin +
  // exponents.size()) of element positions.
  static TestArray PathWith(uint64_t size, uint64_t begin, const std::vector<int>& exponents,
                            uint64_t seed) {
    TestArray array(ArrayDescription::Vector(ElementType::kFloat64, size));
    ProductPath path(seed);
    for (uint64_t i = 0; i < size; ++i) {
      const bool is_there = i >= begin && i - begin < exponents.size();
      array.Set(i, path.To(is_there ? exponents[i - begin] : 0));
    }
    return array;
  }
};

// A part of the tree spans from one end to the other: from the window's largest number to its
// smallest, that part is just normal, and a little further out it is not.
TEST_P(ProductWindowTest, PartsFromOneEndToTheOther) {
  uint64_t seed = 801;
  for (const int end : {500, 508, 509, 510, 511, 512, 513, 516, 530}) {
    for (const uint64_t part : {16, 512, 4096}) {
      // The running product is at the upper end where a run, a warp or a tile begins, and at the
      // lower one a few elements later.
      const std::vector<int> down = {end / 2, end, end / 2, 0, -end / 2, -end, -end, -end / 2, 0};
      std::vector<int> up = down;
      for (int& exponent : up) exponent = -exponent;
      ScanAll(PathWith(2 * part + 40, part - 2, down, ++seed));
      ScanAll(PathWith(2 * part + 40, part - 2, up, ++seed));
    }
  }
}

// One running product alone is outside, in such a way that those after it have lost bits, or
// everything.
TEST_P(ProductWindowTest, OnePlaceOutside) {
  uint64_t seed = 821;
  const uint64_t size = kUnit + 20;
  for (const uint64_t place : {uint64_t{1}, uint64_t{14}, uint64_t{15}, uint64_t{16}, uint64_t{510},
                               uint64_t{511}, uint64_t{512}, uint64_t{4094}, uint64_t{4095},
                               uint64_t{4096}, kUnit - 2, kUnit - 1, kUnit, size - 3, size - 2}) {
    for (const int far : {-1060, 1100}) {
      const TestArray array = PathWith(size, place - 1, {far / 2, far, far / 2}, ++seed);
      for (const ScanMode mode : {ScanMode::kInclusive, ScanMode::kExclusive}) {
        for (const ScanDirection direction : {ScanDirection::kForward, ScanDirection::kReverse}) {
          ScanSpec spec;
          spec.operation = ScanOperation::kProduct;
          spec.mode = mode;
          spec.direction = direction;
          CheckScan(array, spec, engine().Scan(array, spec));
        }
      }
    }
  }
}

// Numbers after which a running product says nothing about parts of the tree any more.
TEST_P(ProductWindowTest, SpecialNumbersBeforePartsThatLeaveTheRange) {
  uint64_t seed = 841;
  for (const long double special : {0.0L, -0.0L, kInfinity, -kInfinity, NAN + 0.0L, 0x1p-1074L}) {
    for (const uint64_t place : {0, 15, 511, 4090, 4095, 4096}) {
      for (const int far : {-1400, 1400}) {
        TestArray array = PathWith(4200, 4105, {far / 2, far, far / 2}, ++seed);
        array.Set(place, special);
        ScanAll(array);
        ScanAll(array, {}, NanPolicy::kIgnore);
      }
    }
  }
}

// Only one of many groups leaves the window; the others have the same bits in either form.
TEST_P(ProductWindowTest, OneGroupOutside) {
  uint64_t seed = 861;
  const std::vector<int> away = {-400, -800, -1060, -700, -300, 0};
  const Shape shapes[] = {{2, 5000}, {70, 64}, {9000, 2}, {300, 33}, {40, 2000}};
  for (const Shape& shape : shapes) {
    for (const int axis : {0, 1}) {
      const bool is_down = axis == 0;
      TestArray array(ArrayDescription::Matrix(ElementType::kFloat64, shape.rows, shape.columns));
      const uint64_t groups = is_down ? shape.columns : shape.rows;
      const uint64_t size = is_down ? shape.rows : shape.columns;
      for (uint64_t g = 0; g < groups; ++g) {
        const TestArray group = PathWith(size, g == groups - 1 ? size / 2 : size, away, ++seed);
        for (uint64_t i = 0; i < size; ++i) {
          array.Set(is_down ? i * shape.columns + g : g * shape.columns + i, group[i]);
        }
      }
      ScanAll(array, Axis(axis));
    }
  }
  const std::vector<uint64_t> offsets = OffsetsOf({0, 5, 512, 1025, 1, 4090, 33, 700});
  for (const uint64_t begin : {6, 1541, 5640}) {
    TestArray array = PathWith(offsets.back(), begin, away, ++seed);
    ScanAll(array, Segments(offsets));
  }
}

// The other types' numbers, widened, take many elements to leave the window of float64.
TEST_P(ProductWindowTest, ShorterTypes) {
  for (const ElementType type :
       {ElementType::kFloat16, ElementType::kBfloat16, ElementType::kFloat32}) {
    for (const int elements_away : {40, 51, 52, 60, 120}) {
      TestArray array(ArrayDescription::Vector(type, 9000));
      std::mt19937_64 random(elements_away);
      for (uint64_t i = 0; i < array.size(); ++i) {
        const long double fraction = 1 + std::ldexp(static_cast<long double>(random() % 128), -7);
        array.Set(i, i % 2 == 0 ? fraction : 1 / array[i - 1]);
      }
      // Down by 2^-10 an element, across a tile's end, and back.
      for (int i = 0; i < elements_away; ++i) array.Set(4096 - elements_away + i, 0x1.01p-10L);
      for (int i = 0; i < elements_away; ++i) array.Set(4096 + i, 0x1.03p10L);
      ScanAll(array);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, ProductWindowTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, ProductWindowTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
