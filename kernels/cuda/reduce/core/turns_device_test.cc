// Several statistics of arrays of float32 and 16-bit floating-point elements, whose turns are
// taken in several ways: within a window, by vectors or one by one; far apart, by words; with
// elements that are not finite. Against exact sums of other making.
#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/exact_sum.h"
#include "kernels/cuda/reduce/reduce_device_test.h"

namespace gridfold::kernels::cuda {
namespace {

enum class Data {
  kUniform,
  kSomeTiny,  // So small that some vectors' squares have no exact sum, and some turns no window.
  kWide,
  kAnyBits,
  kDrifting,
  kWithZeros,
  kStretches,  // Of all of these.
  kWithInfinity,
  kWithNan,
  kManyNotFinite,  // In every turn.
  kNegativeZeros,
};
constexpr Data kAllData[] = {Data::kUniform,       Data::kSomeTiny,     Data::kWide,
                             Data::kAnyBits,       Data::kDrifting,     Data::kWithZeros,
                             Data::kStretches,     Data::kWithInfinity, Data::kWithNan,
                             Data::kManyNotFinite, Data::kNegativeZeros};
constexpr uint64_t kStretch = 5'000;

template <class T>
class Source {
 public:
  explicit Source(Data data) : data_(data), random_(static_cast<uint64_t>(data)) {}

  T Next() {
    const uint64_t i = index_++;
    const Data data = data_ == Data::kStretches ? kAllData[i / kStretch % kFiniteKinds] : data_;
    return Element(data, i);
  }

 private:
  static constexpr uint64_t kFiniteKinds = 6;
  using Bits = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;

  static T ElementOf(double x) {
    if constexpr (std::is_same_v<T, float>) {
      return static_cast<float>(x);
    } else {
      return T::FromFloat(static_cast<float>(x));
    }
  }
  T Element(Data data, uint64_t i) {
    const double x = unit_(random_);
    switch (data) {
      case Data::kSomeTiny: return ElementOf(random_() % 200 == 0 ? std::ldexp(x, -18) : x);
      case Data::kWide: return ElementOf(std::ldexp(x, static_cast<int>(random_() % 25) - 12));
      case Data::kAnyBits: return AnyFinite();
      case Data::kDrifting: return ElementOf(std::ldexp(x, static_cast<int>(i / 20'000 % 28) - 14));
      case Data::kWithZeros: return random_() % 3 == 0 ? ElementOf(x) : ElementOf(x > 0 ? 0 : -0.0);
      case Data::kWithInfinity:
        if (i == 777'777) return ElementOf(-std::numeric_limits<double>::infinity());
        break;
      case Data::kWithNan:
        if (i % 300'000 == 7) return ElementOf(std::numeric_limits<double>::quiet_NaN());
        break;
      case Data::kManyNotFinite: return MostlyFinite(x, random_() % 20);
      case Data::kNegativeZeros: return ElementOf(-0.0);
      default: break;
    }
    return ElementOf(x);
  }
  static T MostlyFinite(double x, uint64_t kind) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (kind == 0) return ElementOf(std::numeric_limits<double>::quiet_NaN());
    return ElementOf(kind == 1 ? kInfinity : x);
  }
  T AnyFinite() {
    for (;;) {
      const T x = std::bit_cast<T>(static_cast<Bits>(random_()));
      if (std::isfinite(static_cast<float>(x))) return x;
    }
  }

  Data data_;
  std::mt19937_64 random_;
  std::uniform_real_distribution<double> unit_{-1, 1};
  uint64_t index_ = 0;
};

// What a loop finds. Numbers are the elements that are not NaN.
struct Facts {
  conformance::ExactSum sum;
  conformance::ExactSum magnitudes;
  conformance::ExactSum squares;
  bool are_negative_zeros = true;
  uint64_t count = 0;
  uint64_t nonzero = 0;
  uint64_t infinite = 0;
  double infinities = 0;  // Their sum.
  uint64_t first_nan = ~uint64_t{0};
  uint64_t argmin = ~uint64_t{0};
  uint64_t argmax = ~uint64_t{0};

  template <class T>
  explicit Facts(const std::vector<T>& values) {
    for (uint64_t i = 0; i < values.size(); ++i) {
      const float x = static_cast<float>(values[i]);
      if (std::isnan(x)) {
        first_nan = std::min(first_nan, i);
        continue;
      }
      ++count;
      nonzero += x != 0 ? 1 : 0;
      are_negative_zeros = are_negative_zeros && x == 0 && std::signbit(x);
      if (argmin == ~uint64_t{0} || x < static_cast<float>(values[argmin])) argmin = i;
      if (argmax == ~uint64_t{0} || x > static_cast<float>(values[argmax])) argmax = i;
      if (std::isinf(x)) {
        infinite += 1;
        infinities += x;
      } else {
        sum.Add(x);
        magnitudes.Add(std::fabs(x));
        squares.AddSquare(x);
      }
    }
  }

  double Variance() const {
    const conformance::Dyadic total = sum.Value();
    const conformance::Dyadic deviations =
        squares.Value()
            .Times(conformance::Dyadic::FromInteger(static_cast<__int128>(count)))
            .Minus(total.Times(total));
    return deviations.DividedBy(count).DividedBy(count).ToDouble();
  }
};

// With magnitudes, and without: other kernels.
const std::vector<Statistic> kStatistics = {
    Statistic::kSum, Statistic::kVariance, Statistic::kMin,          Statistic::kArgmin,
    Statistic::kMax, Statistic::kArgmax,   Statistic::kNonzeroCount, Statistic::kL1Norm};
const std::vector<Statistic> kWithoutMagnitudes(kStatistics.begin(), kStatistics.end() - 1);

template <class T>
class ReduceTurnsDeviceTest : public ReduceDeviceTest {
 protected:
  static constexpr uint64_t kCount = 1'500'011;

  static void ExpectDouble(uint64_t slot, double expected, const char* what) {
    const double value = std::bit_cast<double>(slot);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(value)) << what << " is " << value;
    } else {
      EXPECT_EQ(slot, std::bit_cast<uint64_t>(expected)) << what << " is " << value;
    }
  }

  static void ExpectFacts(const std::vector<uint64_t>& slots, const std::vector<T>& values,
                          const Facts& facts, bool ignore_nan) {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    const bool has_nan = facts.first_nan != ~uint64_t{0} && !ignore_nan;
    const uint64_t argmin = has_nan ? facts.first_nan : facts.argmin;
    const uint64_t argmax = has_nan ? facts.first_nan : facts.argmax;
    const double sum = facts.infinite > 0         ? facts.infinities
                       : facts.are_negative_zeros ? -0.0
                                                  : facts.sum.Value().ToDouble();
    ExpectDouble(slots[0], has_nan ? kNan : sum, "sum");
    ExpectDouble(slots[1], has_nan || facts.infinite > 0 ? kNan : facts.Variance(), "variance");
    ExpectDouble(slots[2], static_cast<double>(static_cast<float>(values[argmin])), "min");
    EXPECT_EQ(slots[3], argmin);
    ExpectDouble(slots[4], static_cast<double>(static_cast<float>(values[argmax])), "max");
    EXPECT_EQ(slots[5], argmax);
    // NaNs are not 0.
    EXPECT_EQ(slots[6], facts.nonzero + (ignore_nan ? 0 : values.size() - facts.count));
    if (slots.size() == kWithoutMagnitudes.size()) return;
    const double magnitudes = facts.magnitudes.Value().ToDouble();
    ExpectDouble(slots[7],
                 has_nan              ? kNan
                 : facts.infinite > 0 ? std::numeric_limits<double>::infinity()
                                      : magnitudes,
                 "L1 norm");
  }
};
using Types = ::testing::Types<float, Float16, Bfloat16>;
TYPED_TEST_SUITE(ReduceTurnsDeviceTest, Types);

TYPED_TEST(ReduceTurnsDeviceTest, SeveralStatisticsAreExact) {
  for (const Data data : kAllData) {
    Source<TypeParam> source(data);
    std::vector<TypeParam> values(TestFixture::kCount);
    for (TypeParam& value : values) value = source.Next();
    const Facts facts(values);
    const DeviceArray<TypeParam> elements{std::span(values), 1};
    for (const NanPolicy policy : {NanPolicy::kPropagate, NanPolicy::kIgnore}) {
      for (const std::vector<Statistic>& statistics : {kStatistics, kWithoutMagnitudes}) {
        const auto plan =
            PlanReduction(ArrayDescription::Vector(kElementTypeOf<TypeParam>, values.size()),
                          {.statistics = statistics, .grouping = {}, .nan_policy = policy});
        ASSERT_TRUE(plan.ok()) << plan.status();
        // One block, few, and as many as there are: threads take many turns or one.
        for (const int multiprocessors : {1, 7, 132}) {
          SCOPED_TRACE(testing::Message()
                       << "data " << static_cast<int>(data) << ", " << multiprocessors
                       << " multiprocessors, NaN policy " << static_cast<int>(policy) << ", "
                       << statistics.size() << " statistics");
          const std::vector<uint64_t> slots =
              this->Slots(*plan, elements.data(), this->WithMultiprocessors(multiprocessors));
          this->ExpectFacts(slots, values, facts, policy == NanPolicy::kIgnore);
        }
      }
    }
  }
}

// Each by a warp, which is a block.
TYPED_TEST(ReduceTurnsDeviceTest, ManyArraysAreExact) {
  std::vector<uint64_t> offsets = {0};
  std::mt19937_64 random(7);
  while (offsets.size() <= 100) {
    // Around vectors and turns, and any.
    constexpr uint64_t kSizes[] = {1, 7, 8, 9, 31, 32, 33, 255, 256, 257, 511, 512, 513, 1025};
    const uint64_t i = offsets.size() - 1;
    offsets.push_back(offsets.back() + (i < std::size(kSizes) ? kSizes[i] : 1 + random() % 9'000));
  }
  for (const Data data : kAllData) {
    Source<TypeParam> source(data);
    std::vector<TypeParam> values(offsets.back());
    for (TypeParam& value : values) value = source.Next();
    const DeviceArray<TypeParam> elements{std::span(values), 1};
    for (const std::vector<Statistic>& statistics : {kStatistics, kWithoutMagnitudes}) {
      const auto plan =
          PlanReduction(ArrayDescription::Vector(kElementTypeOf<TypeParam>, values.size()),
                        {.statistics = statistics, .grouping = {GroupingKind::kSegments, offsets}});
      ASSERT_TRUE(plan.ok()) << plan.status();
      const std::vector<uint64_t> slots =
          this->Slots(*plan, elements.data(), this->WithMultiprocessors(3));
      for (size_t group = 0; group + 1 < offsets.size(); ++group) {
        SCOPED_TRACE(testing::Message() << "data " << static_cast<int>(data) << ", group " << group
                                        << ", " << statistics.size() << " statistics");
        const std::vector<TypeParam> of_group(
            values.begin() + static_cast<ptrdiff_t>(offsets[group]),
            values.begin() + static_cast<ptrdiff_t>(offsets[group + 1]));
        std::vector<uint64_t> slots_of_group;
        for (size_t row = 0; row < statistics.size(); ++row) {
          slots_of_group.push_back(slots[row * (offsets.size() - 1) + group]);
        }
        this->ExpectFacts(slots_of_group, of_group, Facts(of_group), false);
      }
    }
  }
}

}  // namespace
}  // namespace gridfold::kernels::cuda
