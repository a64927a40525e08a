// Several statistics along axis 0 of floating-point elements of up to 32 bits against states that
// take the elements one by one, of every shape that is laid out in its own way, on data that
// ReduceMomentColumns takes, on data of which it lists some elements, and on data that it leaves.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/cuda/reduce/reduce_device_test.h"
#include "kernels/numerics/arithmetic/element.h"

namespace gridfold::kernels::cuda {
namespace {

const std::vector<Statistic> kStatistics = {
    Statistic::kSum, Statistic::kMean,         Statistic::kVariance, Statistic::kL2Norm,
    Statistic::kMin, Statistic::kMax,          Statistic::kArgmin,   Statistic::kArgmax,
    Statistic::kAny, Statistic::kNonzeroCount, Statistic::kNanCount, Statistic::kInfinityCount};

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
  kSteps,
  kWithZeros,
  kSomeTiny,
  kSomeLarge,
  kWide,
  kSigned,
  kNotFinite,
  kAnyBits,  // Of finite numbers.
  kTiny,
  kHuge
};
constexpr int kDataCount = 11;

template <class T>
T FiniteOfBits(uint64_t bits) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>;
  const T x = std::bit_cast<T>(static_cast<Bits>(bits));
  return IsFinite(ToCompute(x)) ? x : FiniteOfBits<T>(bits >> 16);
}

template <class T>
std::vector<T> Values(Data data, uint64_t rows, uint64_t columns) {
  std::mt19937_64 random(rows);
  std::normal_distribution<float> normal;
  std::vector<T> values(rows * columns);
  for (uint64_t i = 0; i < values.size(); ++i) {
    const uint64_t column = i % columns;
    float x = data == Data::kSteps ? static_cast<float>(random() % 5) : normal(random);
    if (data == Data::kWithZeros && random() % 3 != 0) x = random() % 2 == 0 ? 0.0f : -0.0f;
    if (data == Data::kSomeTiny && random() % 50'000 == 0) x = std::ldexp(x, -30);
    if (data == Data::kSomeLarge && random() % 50'000 == 0) x = std::ldexp(x, 12);
    // In some columns, so that others of their tiles are as usual.
    if (data == Data::kWide && column % 50 == 2) x = std::ldexp(x, static_cast<int>(i % 20) - 10);
    if (data == Data::kSigned) x = column % 3 == 0 ? -0.0f : column % 3 == 1 ? -std::fabs(x) : x;
    if (data == Data::kTiny) x = std::ldexp(x, -100);
    if (data == Data::kHuge) x = std::ldexp(x, 120);
    if (data == Data::kNotFinite && column % 50 == 2 && random() % 1000 == 0) {
      constexpr float kInfinity = std::numeric_limits<float>::infinity();
      x = random() % 3 == 0 ? std::nanf("") : random() % 2 == 0 ? kInfinity : -kInfinity;
    }
    if constexpr (std::is_same_v<T, float>) {
      values[i] = x;
    } else {
      values[i] = T::FromFloat(x);
    }
    if (data == Data::kAnyBits) values[i] = FiniteOfBits<T>(random());
  }
  return values;
}

template <class T>
class ReduceMomentColumnsDeviceTest : public ReduceDeviceTest {};
using Types = ::testing::Types<float, Float16, Bfloat16>;
TYPED_TEST_SUITE(ReduceMomentColumnsDeviceTest, Types);

struct Extents {
  uint64_t rows;
  uint64_t columns;
};

// All of MomentTuning::kBytesMin and more, but for the last; the third from the end has so many
// columns that a warp takes all rows of a tile, where there is one multiprocessor.
constexpr Extents kExtents[] = {{2'200'001, 1}, {700'003, 3}, {530'000, 4}, {33'001, 64},
                                {2100, 1001},   {270, 8001},  {64, 33'000}, {63, 34'000}};

TYPED_TEST(ReduceMomentColumnsDeviceTest, StatisticsAreExact) {
  int kind = 0;
  for (const auto& [rows, columns] : kExtents) {
    SCOPED_TRACE(testing::Message() << rows << " rows of " << columns);
    for (int i = 0; i < 3; ++i, ++kind) {
      const Data data = static_cast<Data>(kind % kDataCount);
      const NanPolicy policy = i == 2 ? NanPolicy::kIgnore : NanPolicy::kPropagate;
      SCOPED_TRACE(testing::Message() << "data " << static_cast<int>(data));
      const auto values = Values<TypeParam>(data, rows, columns);
      for (const auto& statistics : {kStatistics, kBounded}) {
        this->ExpectColumnsAreExact(values, columns,
                                    {.statistics = statistics,
                                     .grouping = {GroupingKind::kAxis0, {}},
                                     .nan_policy = policy});
      }
      if (this->HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace gridfold::kernels::cuda
