// Several statistics of many rows of floating-point elements, which are summed in double precision
// or, where that does not tell their values, in words or pairs: against exact states.
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cuda/reduce/plan/row_moments.h"
#include "kernels/cuda/reduce/reduce_device_test.h"

namespace gridfold::kernels::cuda {
namespace {

const std::vector<Statistic> kStatistics = {Statistic::kSum,  Statistic::kMin,
                                            Statistic::kMax,  Statistic::kVariance,
                                            Statistic::kMean, Statistic::kStandardDeviation,
                                            Statistic::kCount};
// And those for which there is a kernel that has them too.
const std::vector<Statistic> kWithOthers = {
    Statistic::kSum,           Statistic::kMin,    Statistic::kMax,  Statistic::kVariance,
    Statistic::kStandardError, Statistic::kL2Norm, Statistic::kMean, Statistic::kRootMeanSquare,
    Statistic::kRange};

enum class Data {
  kNormal,
  kIntegers,  // Quotients that are numbers, or in the middle of two.
  kDrifting,  // Far from 0 beside how far they lie from each other.
  kSpread,    // Over so many binades that errors are lost, or sums.
  kZeros,     // Of both signs, with few other elements, of either sign alone in some rows.
  kLargest,   // Of which no float holds a square; some small ones.
  kSubnormal,
  kSomeNotFinite,
};
constexpr Data kAllData[] = {Data::kNormal,    Data::kIntegers,     Data::kDrifting,
                             Data::kSpread,    Data::kZeros,        Data::kLargest,
                             Data::kSubnormal, Data::kSomeNotFinite};

template <class T>
std::vector<T> Values(Data data, uint64_t rows, uint64_t columns) {
  std::mt19937_64 random(columns);
  std::normal_distribution<double> normal;
  constexpr bool kIsDouble = std::is_same_v<T, double>;
  const double largest = kIsDouble ? std::numeric_limits<double>::max()
                                   : static_cast<double>(std::numeric_limits<float>::max());
  std::vector<T> values(rows * columns);
  for (uint64_t i = 0; i < values.size(); ++i) {
    const uint64_t row = i / columns;
    const uint64_t bits = random();
    double x = normal(random);
    switch (data) {
      case Data::kNormal: break;
      case Data::kIntegers: x = static_cast<double>(bits % 9) - 4; break;
      case Data::kDrifting: x = x * 0.01 + static_cast<double>(row % 100); break;
      case Data::kSpread: x = std::ldexp(x, -static_cast<int>(bits % (1 + row % 110))); break;
      case Data::kZeros:
        if (row % 4 == 1) x = -std::abs(x);
        if (row % 4 == 2) x = std::abs(x);
        if (bits % 8 != 0 || row % 4 == 3) x = bits % 3 == 0 ? 0.0 : -0.0;
        if (row % 8 == 7) x = bits % 2 == row / 8 % 2 ? 0.0 : x;
        break;
      case Data::kLargest:
        x = sizeof(T) == 2 && std::is_same_v<T, Float16> ? 65504 : largest / 2;
        if (bits % 2 == 0) x = -x;
        if (bits % 16 == 5) x = std::ldexp(static_cast<double>(bits / 16 % 2048), -24);
        break;
      case Data::kSubnormal:
        x = std::ldexp(static_cast<double>(bits % 9), std::is_same_v<T, Float16> ? -24
                                                      : kIsDouble                ? -1074
                                                                                 : -149);
        break;
      case Data::kSomeNotFinite:
        if (bits % 900 == 0) x = std::numeric_limits<double>::quiet_NaN();
        if (bits % 700 == 1) x = std::numeric_limits<double>::infinity();
        if (bits % 700 == 2) x = -std::numeric_limits<double>::infinity();
        break;
    }
    values[i] = FromDouble<T>(x);
  }
  return values;
}

template <class T>
class ReduceFloatRowMomentsDeviceTest : public ReduceDeviceTest {
 protected:
  void ExpectRows(Data data, uint64_t rows, uint64_t columns, uint64_t misalignment,
                  const std::vector<Statistic>& statistics, int multiprocessors = 132) {
    SCOPED_TRACE(testing::Message() << "data " << static_cast<int>(data) << ", " << rows << " x "
                                    << columns << ", misaligned by " << misalignment);
    ASSERT_GT(LeftRowWords(rows, columns * sizeof(T)), 0u);
    const std::vector<T> values = Values<T>(data, rows, columns);
    ReductionSpec spec = {.statistics = statistics, .grouping = {GroupingKind::kAxis1, {}}};
    if (columns > 3) spec.delta_degrees_of_freedom = static_cast<uint32_t>(columns % 4);
    if (data == Data::kSomeNotFinite && misalignment != 0) spec.nan_policy = NanPolicy::kIgnore;
    if (spec.nan_policy == NanPolicy::kIgnore) spec.delta_degrees_of_freedom = 0;
    const auto plan =
        PlanReduction(ArrayDescription::Matrix(kElementTypeOf<T>, rows, columns), spec);
    ASSERT_TRUE(plan.ok()) << plan.status();
    const DeviceArray<T> elements{std::span(values), misalignment};
    this->ExpectGroupsAreExact(
        values, RowOffsets(values.size(), columns), spec,
        Launch(*plan, elements.data(), WithMultiprocessors(multiprocessors)));
  }
};

using Types = testing::Types<float, Float16, Bfloat16, double>;
TYPED_TEST_SUITE(ReduceFloatRowMomentsDeviceTest, Types);

// Around what a vector, a lane, a turn and its parts have.
TYPED_TEST(ReduceFloatRowMomentsDeviceTest, RowsAreExact) {
  constexpr uint64_t kRowsMin = RowMomentTuning::kFloatRowsMin;
  for (const Data data : kAllData) {
    for (const uint64_t columns : {4, 5, 7, 8, 9, 31, 32, 33, 64, 65, 129, 200, 513, 1000}) {
      const uint64_t rows = kRowsMin + columns % 3 + (columns < 40 ? 900 : 0);
      for (const uint64_t misalignment : {0, 1}) {
        this->ExpectRows(data, rows, columns, misalignment,
                         (columns + misalignment) % 2 == 0 ? kStatistics : kWithOthers);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

// Rows of several turns, by warps where multiprocessors are few.
TYPED_TEST(ReduceFloatRowMomentsDeviceTest, LongRowsAreExact) {
  for (const Data data :
       {Data::kNormal, Data::kDrifting, Data::kSpread, Data::kZeros, Data::kLargest}) {
    for (const uint64_t columns : {2049, 4100, 16'384, 29'999}) {
      this->ExpectRows(data, RowMomentTuning::kFloatRowsMin + 1, columns, columns % 2, kStatistics,
                       1);
      if (this->HasFatalFailure()) return;
    }
  }
}

// So many that of float64, of which all are left, most are not tried.
TYPED_TEST(ReduceFloatRowMomentsDeviceTest, ManyRowsAreExact) {
  for (const Data data : {Data::kNormal, Data::kLargest}) {
    for (const uint64_t columns : {8, 33}) {
      this->ExpectRows(data, 300'011, columns, 1, columns == 8 ? kStatistics : kWithOthers);
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(ReduceFloatRowMomentsDeviceTest, OfWhateverIsAskedFor) {
  const std::vector<Statistic> sets[] = {{Statistic::kVariance},
                                         {Statistic::kStandardDeviation, Statistic::kCount},
                                         {Statistic::kL2Norm},
                                         {Statistic::kRootMeanSquare, Statistic::kRange},
                                         {Statistic::kStandardError},
                                         {Statistic::kMax, Statistic::kMean},
                                         {Statistic::kSum, Statistic::kMin}};
  for (const auto& statistics : sets) {
    for (const uint64_t columns : {4, 77, 300}) {
      this->ExpectRows(Data::kNormal, 1000, columns, 1, statistics);
      this->ExpectRows(Data::kSomeNotFinite, 1000, columns, 0, statistics);
      if (this->HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace gridfold::kernels::cuda
