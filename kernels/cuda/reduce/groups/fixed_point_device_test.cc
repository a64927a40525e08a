// Several statistics of short groups of floats and halves, which are summed in fixed point or,
// where their elements are too far apart or not finite, in words: against exact states.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cuda/reduce/reduce_device_test.h"

namespace gridfold::kernels::cuda {
namespace {

const std::vector<Statistic> kStatistics = {Statistic::kSum,      Statistic::kMin,
                                            Statistic::kMax,      Statistic::kArgmin,
                                            Statistic::kArgmax,   Statistic::kVariance,
                                            Statistic::kMean,     Statistic::kStandardDeviation,
                                            Statistic::kL2Norm,   Statistic::kNonzeroCount,
                                            Statistic::kNanCount, Statistic::kInfinityCount,
                                            Statistic::kCount};

enum class Data { kNormal, kIntegers, kZeros, kSpread, kDrifting, kSubnormal, kNotFinite };
constexpr Data kAllData[] = {Data::kNormal,   Data::kIntegers,  Data::kZeros,    Data::kSpread,
                             Data::kDrifting, Data::kSubnormal, Data::kNotFinite};

template <class T>
std::vector<T> Values(Data data, size_t count) {
  std::mt19937_64 random(static_cast<uint64_t>(data));
  std::normal_distribution<double> normal;
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t bits = random();
    double x = normal(random);
    switch (data) {
      case Data::kNormal: break;
      case Data::kIntegers: x = static_cast<double>(bits % 7) - 3; break;
      case Data::kZeros: x = i / 50 % 3 == 0 || bits % 3 != 0 ? std::copysign(0.0, x) : x; break;
      case Data::kSpread: x = std::ldexp(x, static_cast<int>(bits % 60) - 30); break;
      case Data::kDrifting: x = std::ldexp(x, static_cast<int>(i / 700 % 40) - 20); break;
      case Data::kSubnormal: x = std::ldexp(static_cast<double>(bits % 9), -149); break;
      case Data::kNotFinite:
        if (bits % 500 == 0) x = std::numeric_limits<double>::quiet_NaN();
        if (bits % 700 == 1) x = std::numeric_limits<double>::infinity();
        break;
    }
    values[i] = FromDouble<T>(x);
  }
  return values;
}

template <class T>
class ReduceFixedPointDeviceTest : public ReduceDeviceTest {};

using Types = testing::Types<float, Float16, Bfloat16>;
TYPED_TEST_SUITE(ReduceFixedPointDeviceTest, Types);

TYPED_TEST(ReduceFixedPointDeviceTest, RowsAreExact) {
  for (const Data data : kAllData) {
    const std::vector<TypeParam> values = Values<TypeParam>(data, 40'000);
    for (const uint64_t columns : {1, 3, 4, 7, 8, 31, 64, 65, 255, 1000, 1001, 4096, 20'000}) {
      for (const uint64_t misalignment : {0, 1, 3}) {
        SCOPED_TRACE(testing::Message() << "data " << static_cast<int>(data) << ", " << columns
                                        << " columns, misaligned by " << misalignment);
        const std::vector<TypeParam> rows = WholeRows(values, columns);
        const std::vector<uint64_t> offsets = RowOffsets(rows.size(), columns);
        ReductionSpec spec = {.statistics = kStatistics, .grouping = {GroupingKind::kAxis1, {}}};
        if (data == Data::kNotFinite) {
          spec.nan_policy = misalignment == 0 ? NanPolicy::kPropagate : NanPolicy::kIgnore;
        }
        this->ExpectGroupsAreExact(rows, offsets, spec,
                                   this->Reduce(rows, spec, misalignment, columns));
      }
    }
  }
}

TYPED_TEST(ReduceFixedPointDeviceTest, SegmentsAreExact) {
  std::mt19937 random(5);
  for (const Data data : kAllData) {
    for (const uint32_t mean : {3u, 60u, 700u}) {
      SCOPED_TRACE(testing::Message() << "data " << static_cast<int>(data) << ", about " << mean);
      const std::vector<uint64_t> offsets = SegmentOffsets(random, mean);
      const std::vector<TypeParam> values = Values<TypeParam>(data, offsets.back());
      const ReductionSpec spec = {.statistics = kStatistics,
                                  .grouping = {GroupingKind::kSegments, offsets}};
      this->ExpectGroupsAreExact(values, offsets, spec, this->Reduce(values, spec, 1));
    }
  }
}

}  // namespace
}  // namespace gridfold::kernels::cuda
