// Sums and squares of float64 elements, wherever windows and words take them, against exact numbers
// of other making. As on a device of one multiprocessor too, whose threads take so many elements
// that windows are full, and words settled, many times.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/exact_sum.h"
#include "kernels/cuda/reduce/reduce_device_test.h"

namespace gridfold::kernels::cuda {
namespace {

constexpr uint64_t kCount = 1'000'003;

enum class Data {
  kUniform,
  kSpread,       // Over 120 powers of two.
  kAnyBits,      // Finite.
  kDrifting,     // From a power of two to the next every few turns.
  kSomeSmall,    // Of every 300 elements one that fits no window of the others.
  kTwoLevels,    // All bits set, of two sizes that no window takes together: always the same words.
  kWindowEdges,  // As many powers of two as a window takes, and one more.
  kWithZeros,
};
constexpr Data kAllData[] = {Data::kUniform,     Data::kSpread,    Data::kAnyBits,
                             Data::kDrifting,    Data::kSomeSmall, Data::kTwoLevels,
                             Data::kWindowEdges, Data::kWithZeros};

std::vector<double> Values(Data data) {
  std::mt19937_64 random(static_cast<uint64_t>(data));
  const auto exponent = [&](int count) {
    return static_cast<int>(random() % static_cast<uint64_t>(count));
  };
  constexpr double kAllOnes = 2 - std::numeric_limits<double>::epsilon();
  std::vector<double> values(kCount);
  for (uint64_t i = 0; i < kCount; ++i) {
    const double x = static_cast<double>(static_cast<int64_t>(random()) >> 11) * 0x1p-52;
    switch (data) {
      case Data::kUniform: values[i] = x; break;
      case Data::kSpread: values[i] = std::ldexp(x, exponent(121) - 60); break;
      case Data::kAnyBits: {
        const double any = std::bit_cast<double>(random());
        values[i] = std::isfinite(any) ? any : x;
        break;
      }
      case Data::kDrifting: values[i] = std::ldexp(x, static_cast<int>(i / 5000) % 40); break;
      case Data::kSomeSmall: values[i] = std::ldexp(x, exponent(300) == 0 ? -200 : 0); break;
      case Data::kTwoLevels: values[i] = std::ldexp(kAllOnes, i % 2 == 0 ? -200 : 0); break;
      case Data::kWindowEdges:
        values[i] = std::ldexp(std::copysign(kAllOnes, x), exponent(17));
        break;
      case Data::kWithZeros: values[i] = exponent(3) == 0 ? x : std::copysign(0.0, x); break;
    }
  }
  return values;
}

class ReduceMomentsDeviceTest : public ReduceDeviceTest {
 protected:
  std::vector<uint64_t> SlotsOf(const std::vector<double>& values, const ReductionSpec& spec,
                                int multiprocessors) {
    const auto plan =
        PlanReduction(ArrayDescription::Vector(ElementType::kFloat64, values.size()), spec);
    EXPECT_TRUE(plan.ok()) << plan.status();
    const DeviceArray<double> elements{std::span(values)};
    return Slots(*plan, elements.data(), WithMultiprocessors(multiprocessors));
  }
};

uint64_t BitsOf(const conformance::Dyadic& number) {
  return std::bit_cast<uint64_t>(number.ToDouble());
}

TEST_F(ReduceMomentsDeviceTest, AreExactWhateverTheMagnitudes) {
  for (const Data data : kAllData) {
    const std::vector<double> values = Values(data);
    conformance::ExactSum sum;
    conformance::ExactSum magnitudes;
    conformance::ExactSum squares;
    for (const double x : values) {
      sum.Add(x);
      magnitudes.Add(std::fabs(x));
      squares.AddSquare(x);
    }
    const conformance::Dyadic count = conformance::Dyadic::FromInteger(kCount);
    const conformance::Dyadic variance = squares.Value()
                                             .Times(count)
                                             .Minus(sum.Value().Times(sum.Value()))
                                             .DividedBy(kCount)
                                             .DividedBy(kCount);
    const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
    for (const int multiprocessors : {1, 132}) {
      SCOPED_TRACE(testing::Message() << "data " << static_cast<int>(data) << ", "
                                      << multiprocessors << " multiprocessors");
      ReductionSpec spec = {
          .statistics = {Statistic::kSum, Statistic::kVariance, Statistic::kMin, Statistic::kMax},
          .grouping = {}};
      std::vector<uint64_t> slots = SlotsOf(values, spec, multiprocessors);
      EXPECT_EQ(slots[0], BitsOf(sum.Value()));
      EXPECT_EQ(slots[1], BitsOf(variance));
      EXPECT_EQ(std::bit_cast<double>(slots[2]), *least);
      EXPECT_EQ(std::bit_cast<double>(slots[3]), *greatest);
      spec.statistics = {Statistic::kL1Norm, Statistic::kVariance};
      slots = SlotsOf(values, spec, multiprocessors);
      EXPECT_EQ(slots[0], BitsOf(magnitudes.Value()));
      EXPECT_EQ(slots[1], BitsOf(variance));
    }
  }
}

// What is not a number is left out of turns that are taken as a whole, and counted.
TEST_F(ReduceMomentsDeviceTest, InfinitiesAndNansAmongWideMagnitudes) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> values = Values(Data::kSpread);
  const double least = *std::min_element(values.begin(), values.end());
  values[700'001] = kInfinity;
  ReductionSpec spec = {.statistics = {Statistic::kSum, Statistic::kMin, Statistic::kArgmax,
                                       Statistic::kVariance, Statistic::kInfinityCount},
                        .grouping = {}};
  std::vector<uint64_t> slots = SlotsOf(values, spec, 1);
  EXPECT_EQ(std::bit_cast<double>(slots[0]), kInfinity);
  EXPECT_EQ(std::bit_cast<double>(slots[1]), least);
  EXPECT_EQ(slots[2], 700'001);
  EXPECT_TRUE(std::isnan(std::bit_cast<double>(slots[3])));
  EXPECT_EQ(slots[4], 1);

  values[800'001] = std::nan("");
  values[300'000] = -std::nan("");
  spec.statistics = {Statistic::kSum,      Statistic::kArgmin,        Statistic::kArgmax,
                     Statistic::kNanCount, Statistic::kInfinityCount, Statistic::kVariance};
  slots = SlotsOf(values, spec, 1);
  EXPECT_TRUE(std::isnan(std::bit_cast<double>(slots[0])));
  EXPECT_EQ(slots[1], 300'000);
  EXPECT_EQ(slots[2], 300'000);
  EXPECT_EQ(slots[3], 2);
  EXPECT_EQ(slots[4], 1);
  spec.nan_policy = NanPolicy::kIgnore;
  slots = SlotsOf(values, spec, 1);
  EXPECT_EQ(std::bit_cast<double>(slots[0]), kInfinity);
  EXPECT_EQ(values[slots[1]], least);
  EXPECT_EQ(slots[2], 700'001);
  EXPECT_EQ(slots[3], 2);
}

// Turns in which an element, or two, are much smaller than the others: of float16 squares are
// summed by vector where these are below 2, and one by one where they are not. And zeros of both
// signs.
template <class T>
class ReduceOutliersDeviceTest : public ReduceDeviceTest {
 protected:
  static T ElementOf(double x) {
    if constexpr (HalfElement<T>) {
      return T::FromDouble(x);
    } else {
      return static_cast<T>(x);
    }
  }
  static std::vector<T> Values(uint64_t count, double scale, bool has_zeros) {
    constexpr int kSmall = std::is_same_v<T, Float16>  ? -20
                           : std::is_same_v<T, double> ? -200
                                                       : -40;
    std::mt19937_64 random(count);
    std::uniform_real_distribution<double> unit(-1, 1);
    std::vector<T> values(count);
    for (uint64_t i = 0; i < count; ++i) {
      double x = scale * (std::copysign(1, unit(random)) + unit(random) / 2);
      if (has_zeros && random() % 2 == 0) x = std::copysign(0.0, x);
      if (random() % 500 == 0) x = std::ldexp(x, kSmall);
      values[i] = ElementOf(x);
    }
    return values;
  }
};
using FloatingElements = testing::Types<Float16, Bfloat16, float, double>;
TYPED_TEST_SUITE(ReduceOutliersDeviceTest, FloatingElements);

TYPED_TEST(ReduceOutliersDeviceTest, AreExact) {
  const ReductionSpec spec = {
      .statistics = {Statistic::kSum, Statistic::kVariance, Statistic::kMin, Statistic::kArgmin,
                     Statistic::kMax, Statistic::kArgmax, Statistic::kNonzeroCount},
      .grouping = {}};
  // Of a turn, of one of all threads of a multiprocessor, and of many.
  for (const uint64_t count :
       {uint64_t{1}, uint64_t{2048}, uint64_t{32'769}, uint64_t{1'000'003}}) {
    const auto plan =
        PlanReduction(ArrayDescription::Vector(kElementTypeOf<TypeParam>, count), spec);
    ASSERT_TRUE(plan.ok()) << plan.status();
    for (const auto& [scale, has_zeros] : {std::pair{1.0, false}, {4.0, false}, {1.0, true}}) {
      const std::vector<TypeParam> values = this->Values(count, scale, has_zeros);
      std::vector<double> numbers(count);
      std::transform(values.begin(), values.end(), numbers.begin(),
                     [](TypeParam x) { return static_cast<double>(x); });
      conformance::ExactSum sum;
      conformance::ExactSum squares;
      for (const double x : numbers) {
        sum.Add(x);
        squares.AddSquare(x);
      }
      const conformance::Dyadic variance = squares.Value()
                                               .Times(conformance::Dyadic::FromInteger(count))
                                               .Minus(sum.Value().Times(sum.Value()))
                                               .DividedBy(count)
                                               .DividedBy(count);
      const auto least = std::min_element(numbers.begin(), numbers.end());
      const auto greatest = std::max_element(numbers.begin(), numbers.end());
      for (const int multiprocessors : {1, 132}) {
        for (const uint64_t misalignment : {uint64_t{0}, uint64_t{1}}) {
          SCOPED_TRACE(testing::Message()
                       << count << " elements, scale " << scale << ", zeros " << has_zeros << ", "
                       << multiprocessors << " multiprocessors, from " << misalignment);
          const DeviceArray<TypeParam> elements{std::span(values), misalignment};
          const std::vector<uint64_t> slots =
              this->Slots(*plan, elements.data(), this->WithMultiprocessors(multiprocessors));
          EXPECT_EQ(std::bit_cast<double>(slots[0]), sum.Value().ToDouble());
          EXPECT_EQ(slots[1], BitsOf(variance));
          EXPECT_EQ(std::bit_cast<double>(slots[2]), *least);
          EXPECT_EQ(slots[3], static_cast<uint64_t>(least - numbers.begin()));
          EXPECT_EQ(std::bit_cast<double>(slots[4]), *greatest);
          EXPECT_EQ(slots[5], static_cast<uint64_t>(greatest - numbers.begin()));
          EXPECT_EQ(slots[6],
                    count - static_cast<uint64_t>(std::count(numbers.begin(), numbers.end(), 0.0)));
        }
      }
    }
  }
}

}  // namespace
}  // namespace gridfold::kernels::cuda
