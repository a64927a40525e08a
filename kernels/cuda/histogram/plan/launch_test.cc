// That blocks which count samples find room on a device; without one.
#include "kernels/cuda/histogram/plan/launch.h"

#include "gtest/gtest.h"
#include "kernels/cuda/histogram/plan/block.h"

namespace gridfold::kernels::cuda {
namespace {

TEST(HistogramLaunchTest, TablesLeaveBlocksWhatTheyHaveForThemselves) {
  for (const int shared_bytes_max : {227 * 1024, 163 * 1024, 99 * 1024}) {
    DeviceProperties properties;
    properties.multiprocessor_count = 132;
    properties.shared_bytes_per_block_max = shared_bytes_max;
    for (const ElementType type : {ElementType::kFloat32, ElementType::kFloat64}) {
      HistogramPlan plan;
      plan.array = ArrayDescription::Vector(type, uint64_t{1} << 28);
      for (uint64_t bins = 1; bins <= 40'000; ++bins) {
        plan.bins = {{.kind = BinKind::kTable, .bin_count = bins}};
        const auto launch =
            PlanCountingLaunch(plan, bins + 1, GuessKind::kNone, properties, std::nullopt);
        ASSERT_TRUE(launch.ok()) << launch.status();
        const uint64_t sums_bytes =
            launch->strategy.cell_count > 0 ? kHistogramWarps * sizeof(uint32_t) : 0;
        ASSERT_LE(launch->shape.shared_bytes + kHistogramOwnBytes + sums_bytes,
                  static_cast<uint64_t>(shared_bytes_max))
            << bins << " bins";
      }
    }
  }
}

}  // namespace
}  // namespace gridfold::kernels::cuda
