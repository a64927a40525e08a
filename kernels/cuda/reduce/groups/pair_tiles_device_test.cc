// Several statistics of short groups of float64, which are summed in pairs, as deviations or in
// words: against exact states.
#include <bit>
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
                                            Statistic::kAll,      Statistic::kAny,
                                            Statistic::kCount};
const std::vector<Statistic> kFewStatistics = {Statistic::kSum, Statistic::kMin, Statistic::kMax,
                                               Statistic::kVariance};

enum class Data {
  kNormal,
  kIntegers,
  kZeros,
  kFar,
  kConstant,
  kSpread,
  kAnyBits,
  kHuge,
  kSubnormal,
  kTiny,
  kNotFinite,
};
constexpr Data kAllData[] = {Data::kNormal,    Data::kIntegers, Data::kZeros,    Data::kFar,
                             Data::kConstant,  Data::kSpread,   Data::kAnyBits,  Data::kHuge,
                             Data::kSubnormal, Data::kTiny,     Data::kNotFinite};

std::vector<double> Values(Data data, size_t count) {
  std::mt19937_64 random(static_cast<uint64_t>(data));
  std::normal_distribution<double> normal;
  std::vector<double> values(count);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t bits = random();
    double x = normal(random);
    switch (data) {
      case Data::kNormal: break;
      case Data::kIntegers: x = static_cast<double>(static_cast<int32_t>(bits)); break;
      case Data::kZeros: x = i / 50 % 3 == 0 || bits % 3 != 0 ? std::copysign(0.0, x) : x; break;
      case Data::kFar: x += 1e9; break;
      case Data::kConstant: x = 0.1 * static_cast<double>(i / 2000); break;
      case Data::kSpread: x = std::ldexp(x, static_cast<int>(bits % 120) - 60); break;
      case Data::kAnyBits:
        x = std::bit_cast<double>(bits);
        if (!std::isfinite(x)) x = 1;
        break;
      case Data::kHuge: x = std::ldexp(x, 1020); break;
      case Data::kSubnormal: x = std::ldexp(static_cast<double>(bits % 9), -1074); break;
      case Data::kTiny: x = bits % 4 == 0 ? std::ldexp(x, -600) : std::round(4 * x); break;
      case Data::kNotFinite:
        if (bits % 500 == 0) x = std::numeric_limits<double>::quiet_NaN();
        if (bits % 700 == 1) x = std::numeric_limits<double>::infinity();
        break;
    }
    values[i] = x;
  }
  return values;
}

class ReducePairTilesDeviceTest : public ReduceDeviceTest {};

TEST_F(ReducePairTilesDeviceTest, RowsAreExact) {
  for (const Data data : kAllData) {
    const std::vector<double> values = Values(data, 40'000);
    for (const uint64_t columns : {2, 3, 4, 7, 8, 31, 64, 65, 255, 1000, 1001, 4096, 20'000}) {
      for (const uint64_t misalignment : {0, 1}) {
        SCOPED_TRACE(testing::Message() << "data " << static_cast<int>(data) << ", " << columns
                                        << " columns, misaligned by " << misalignment);
        const std::vector<double> rows = WholeRows(values, columns);
        const std::vector<uint64_t> offsets = RowOffsets(rows.size(), columns);
        ReductionSpec spec = {.statistics = misalignment == 0 ? kStatistics : kFewStatistics,
                              .grouping = {GroupingKind::kAxis1, {}}};
        spec.delta_degrees_of_freedom = misalignment == 0 ? 0 : 1;
        if (data == Data::kNotFinite) {
          spec.nan_policy = misalignment == 0 ? NanPolicy::kPropagate : NanPolicy::kIgnore;
        }
        ExpectGroupsAreExact(rows, offsets, spec, Reduce(rows, spec, misalignment, columns));
      }
    }
  }
}

TEST_F(ReducePairTilesDeviceTest, ManyRowsAreExact) {
  for (const Data data : {Data::kNormal, Data::kFar, Data::kSpread, Data::kZeros}) {
    const std::vector<double> values = Values(data, 600'000);
    for (const uint64_t columns : {1, 4, 6, 64, 1000}) {
      SCOPED_TRACE(testing::Message()
                   << "data " << static_cast<int>(data) << ", " << columns << " columns");
      const std::vector<double> rows = WholeRows(values, columns);
      const std::vector<uint64_t> offsets = RowOffsets(rows.size(), columns);
      const ReductionSpec spec = {.statistics = kFewStatistics,
                                  .grouping = {GroupingKind::kAxis1, {}}};
      ExpectGroupsAreExact(rows, offsets, spec, Reduce(rows, spec, 0, columns));
    }
  }
}

TEST_F(ReducePairTilesDeviceTest, SegmentsAreExact) {
  std::mt19937 random(5);
  for (const Data data : kAllData) {
    for (const uint32_t mean : {3u, 60u, 700u}) {
      SCOPED_TRACE(testing::Message() << "data " << static_cast<int>(data) << ", about " << mean);
      const std::vector<uint64_t> offsets = SegmentOffsets(random, mean);
      const std::vector<double> values = Values(data, offsets.back());
      const ReductionSpec spec = {.statistics = kStatistics,
                                  .grouping = {GroupingKind::kSegments, offsets}};
      ExpectGroupsAreExact(values, offsets, spec, Reduce(values, spec, 1));
    }
  }
}

}  // namespace
}  // namespace gridfold::kernels::cuda
