// Statistics of rows of one element, finite or not, against exact states.
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cuda/reduce/reduce_device_test.h"

namespace gridfold::kernels::cuda {
namespace {

template <class T>
class ReduceSinglesDeviceTest : public ReduceDeviceTest {
 protected:
  // Any bits at all, and every so often a zero.
  static std::vector<T> Values(uint64_t count) {
    std::mt19937_64 random(count);
    std::vector<T> values(count);
    for (T& x : values) {
      const uint64_t bits = random();
      if (bits % 16 != 0) std::memcpy(&x, &bits, sizeof(T));
    }
    return values;
  }
};

using Types = testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t,
                             uint64_t, Float16, Bfloat16, float, double>;
TYPED_TEST_SUITE(ReduceSinglesDeviceTest, Types);

TYPED_TEST(ReduceSinglesDeviceTest, RowsAreExact) {
  const std::vector<Statistic> sets[] = {
      {Statistic::kSum, Statistic::kMin, Statistic::kMax, Statistic::kMean, Statistic::kVariance,
       Statistic::kStandardDeviation, Statistic::kStandardError, Statistic::kL2Norm,
       Statistic::kRootMeanSquare, Statistic::kRange, Statistic::kCount, Statistic::kNonzeroCount,
       Statistic::kNanCount, Statistic::kInfinityCount, Statistic::kAll, Statistic::kAny},
      {Statistic::kArgmax, Statistic::kArgmin},
      {Statistic::kL2Norm}};
  for (const uint64_t count : {1, 31, 256, 257, 100'003}) {
    const auto values = this->Values(count);
    for (const auto& statistics : sets) {
      for (const NanPolicy policy : {NanPolicy::kPropagate, NanPolicy::kIgnore}) {
        SCOPED_TRACE(testing::Message() << count << " rows, " << StatisticName(statistics[0]));
        const ReductionSpec spec = {
            .statistics = statistics, .grouping = {GroupingKind::kAxis1, {}}, .nan_policy = policy};
        this->ExpectGroupsAreExact(values, RowOffsets(count, 1), spec,
                                   this->Reduce(values, spec, count % 2, 1));
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace gridfold::kernels::cuda
