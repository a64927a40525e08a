// Several statistics along axis 0 of float64 elements against states that take the elements one by
// one, of every shape that is laid out in its own way, on data that DoubleMomentColumns takes, on
// data of which it lists some elements, and on data that it leaves.
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/cuda/reduce/reduce_device_test.h"

namespace gridfold::kernels::cuda {
namespace {

const std::vector<Statistic> kStatistics = {
    Statistic::kSum,    Statistic::kMean,  Statistic::kVariance,     Statistic::kStandardDeviation,
    Statistic::kL2Norm, Statistic::kMin,   Statistic::kMax,          Statistic::kArgmin,
    Statistic::kArgmax, Statistic::kAny,   Statistic::kNonzeroCount, Statistic::kNanCount,
    Statistic::kAll,    Statistic::kCount, Statistic::kInfinityCount};

// Those that bounds can tell.
const std::vector<Statistic> kBounded = {Statistic::kSum,
                                         Statistic::kMean,
                                         Statistic::kVariance,
                                         Statistic::kStandardDeviation,
                                         Statistic::kStandardError,
                                         Statistic::kL2Norm,
                                         Statistic::kRootMeanSquare,
                                         Statistic::kMin,
                                         Statistic::kMax,
                                         Statistic::kRange,
                                         Statistic::kArgmin,
                                         Statistic::kArgmax,
                                         Statistic::kCount,
                                         Statistic::kNonzeroCount};

enum class Data {
  kNormal,
  kScales,    // Columns of other units.
  kSteps,     // Many of the same.
  kConstant,  // A variance of 0, and of the last bits.
  kWithZeros,
  kSigned,
  kSomeTiny,
  kSomeLarge,
  kTiniest,  // Too small for a list, in some columns.
  kUniform,
  kWide,
  kFar,  // Where units are no normal numbers.
  kNotFinite,
};
constexpr int kDataCount = 13;

double Element(Data data, uint64_t column, double x, std::mt19937_64& random) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const bool is_in_some = column % 50 == 2;  // Others of their tiles are as usual.
  switch (data) {
    case Data::kNormal: return x;
    case Data::kScales: return std::ldexp(x, static_cast<int>(column % 7) * 30 - 90);
    case Data::kSteps: return static_cast<double>(random() % 5);
    case Data::kConstant: return 1e6 + (column % 3 == 0 ? 0 : 0x1p-33 * (random() % 2));
    case Data::kWithZeros: return random() % 3 == 0 ? x : random() % 2 == 0 ? 0.0 : -0.0;
    case Data::kSigned: return column % 3 == 0 ? -0.0 : column % 3 == 1 ? -std::fabs(x) : x;
    case Data::kSomeTiny: return random() % 20'000 == 0 ? std::ldexp(x, -40) : x;
    case Data::kSomeLarge: return random() % 20'000 == 0 ? std::ldexp(x, 12) : x;
    case Data::kTiniest: return is_in_some && random() % 1000 == 0 ? std::ldexp(x, -200) : x;
    case Data::kUniform: return static_cast<double>(random() >> 11) * 0x1p-53;
    case Data::kWide: return is_in_some ? std::ldexp(x, static_cast<int>(random() % 80) - 40) : x;
    case Data::kFar: return std::ldexp(x, is_in_some ? -600 : column % 50 == 3 ? 700 : 0);
    case Data::kNotFinite:
      if (!is_in_some || random() % 1000 != 0) return x;
      return random() % 3 == 0 ? std::nan("") : random() % 2 == 0 ? kInfinity : -kInfinity;
  }
  return x;
}

struct Extents {
  uint64_t rows;
  uint64_t columns;
};

// All of MomentTuning::kBytesMin and more, but for the last; those of 64 and 70 rows have so many
// columns that a warp takes all rows of a tile, where there is one multiprocessor.
constexpr Extents kExtents[] = {{530'001, 2}, {200'003, 3}, {132'000, 4}, {9001, 64},
                                {521, 1001},  {70, 8001},   {64, 9000},   {63, 9000}};

class ReduceDoubleMomentColumnsDeviceTest
    : public ReduceDeviceTest,
      public ::testing::WithParamInterface<std::tuple<Extents, int>> {};

TEST_P(ReduceDoubleMomentColumnsDeviceTest, StatisticsAreExact) {
  const auto& [extents, data] = GetParam();
  const NanPolicy policy = data % 5 == 2 ? NanPolicy::kIgnore : NanPolicy::kPropagate;
  std::mt19937_64 random(extents.rows);
  std::normal_distribution<double> normal;
  std::vector<double> values(extents.rows * extents.columns);
  for (uint64_t i = 0; i < values.size(); ++i) {
    values[i] = Element(static_cast<Data>(data), i % extents.columns, normal(random), random);
  }
  for (const auto& statistics : {kStatistics, kBounded}) {
    ExpectColumnsAreExact(values, extents.columns,
                          {.statistics = statistics,
                           .grouping = {GroupingKind::kAxis0, {}},
                           .nan_policy = policy,
                           .delta_degrees_of_freedom = 1});
  }
}
INSTANTIATE_TEST_SUITE_P(Shapes, ReduceDoubleMomentColumnsDeviceTest,
                         ::testing::Combine(::testing::ValuesIn(kExtents),
                                            ::testing::Range(0, kDataCount)));

}  // namespace
}  // namespace gridfold::kernels::cuda
