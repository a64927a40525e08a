// That a lane's scratch, sized before any plan is known, suffices for every plan; without a device.
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cuda/histogram/histogram.h"
#include "kernels/cuda/scan/scan.h"

namespace gridfold::kernels::cuda {
namespace {

constexpr ElementType kTypes[] = {ElementType::kInt8, ElementType::kUint64, ElementType::kFloat16,
                                  ElementType::kFloat64};

struct Extents {
  uint64_t rows;
  uint64_t columns;
};
constexpr Extents kExtents[] = {{0, 0},      {1, 1},        {1, 100'000}, {256, 999},
                                {257, 999},  {512, 7},      {513, 1000},  {1'000'000, 1},
                                {4097, 511}, {100'003, 31}, {8193, 40},   {16'641, 17}};

// A scan of a matrix, or of as many elements in one segment.
absl::StatusOr<ScanPlan> PlanScanOf(ElementType type, const Extents& extents, ScanSpec spec) {
  const uint64_t count = extents.rows * extents.columns;
  if (spec.grouping.kind != GroupingKind::kSegments) {
    return PlanScan(ArrayDescription::Matrix(type, extents.rows, extents.columns), std::move(spec));
  }
  spec.grouping.offsets = {0, count};
  return PlanScan(ArrayDescription::Vector(type, count), std::move(spec));
}

TEST(ScanScratchTest, TheMaximumCoversEveryPlan) {
  for (const ElementType type : kTypes) {
    for (const auto& [rows, columns] : kExtents) {
      for (const ScanOperation operation : {ScanOperation::kSum, ScanOperation::kProduct}) {
        for (const GroupingKind kind : {GroupingKind::kWhole, GroupingKind::kAxis0,
                                        GroupingKind::kAxis1, GroupingKind::kSegments}) {
          ScanSpec spec;
          spec.operation = operation;
          spec.grouping.kind = kind;
          const auto plan = PlanScanOf(type, {rows, columns}, spec);
          ASSERT_TRUE(plan.ok()) << plan.status();
          EXPECT_LE(ScanScratchBytes(*plan), ScanScratchBytesMax(plan->array.size_bytes()));
        }
      }
    }
  }
}

TEST(ScanScratchTest, TheMaximumCoversExactScans) {
  const Extents extents[] = {{0, 0},       {1, 1},       {1, 100'000},  {512, 999},
                             {513, 999},   {1024, 7},    {1025, 1000},  {1'000'000, 1},
                             {131'072, 9}, {131'073, 9}, {200'000, 13}, {1, 3'000'000}};
  for (const ElementType type : {ElementType::kFloat16, ElementType::kBfloat16,
                                 ElementType::kFloat32, ElementType::kFloat64}) {
    for (const auto& [rows, columns] : extents) {
      for (const GroupingKind kind : {GroupingKind::kWhole, GroupingKind::kAxis0,
                                      GroupingKind::kAxis1, GroupingKind::kSegments}) {
        ScanSpec spec;
        spec.exact = true;
        spec.grouping.kind = kind;
        const auto plan = PlanScanOf(type, {rows, columns}, spec);
        ASSERT_TRUE(plan.ok()) << plan.status();
        EXPECT_LE(ScanScratchBytes(*plan), ScanScratchBytesMax(plan->array.size_bytes()))
            << rows << " x " << columns;
        // The memory of a lane: the sums between the steps stay a small part of the array.
        const uint64_t few_bytes = 16 * 1024;
        EXPECT_LE(ScanScratchBytes(*plan), plan->array.size_bytes() * 5 / 16 + few_bytes);
      }
    }
  }
}

uint64_t ScratchOf(const HistogramSpec& spec, uint64_t* bin_count) {
  const auto plan =
      PlanHistogram(ArrayDescription::Vector(ElementType::kFloat32, 0), spec, uint64_t{1} << 40);
  EXPECT_TRUE(plan.ok()) << plan.status();
  *bin_count = plan->total_bin_count();
  return HistogramScratchBytes(*plan);
}

TEST(HistogramScratchTest, TheMaximumCoversEveryPlan) {
  std::vector<double> edges(51);
  for (size_t i = 0; i < edges.size(); ++i) edges[i] = static_cast<double>(i);
  std::vector<double> other_edges = {1, 2, 4};
  const std::vector<std::vector<BinSpec>> bins = {
      {EvenBinsSpec{1, {}, {}}}, {EvenBinsSpec{100'000, {}, {}}},
      {EdgeBinsSpec{edges}},     {EdgeBinsSpec{edges}, EdgeBinsSpec{other_edges}},
      {EdgeBinsSpec{{0, 1}}},    {EdgeBinsSpec{{0, 1}}, EdgeBinsSpec{{0, 2}}}};
  for (const std::vector<BinSpec>& layouts : bins) {
    for (const uint32_t channels : {1, 2, 3, 65'536}) {
      if (layouts.size() > 1 && channels != layouts.size()) continue;
      HistogramSpec spec;
      spec.bins = layouts;
      spec.channel_count = channels;
      spec.sparse = true;
      uint64_t bin_count = 0;
      const uint64_t scratch = ScratchOf(spec, &bin_count);
      EXPECT_LE(scratch, HistogramScratchBytesMax(bin_count)) << bin_count << " bins";
    }
  }
}

TEST(HistogramScratchTest, TheMaximumCoversSumsOfWeights) {
  for (const ElementType type : kTypes) {
    for (const uint64_t bins : {1, 2, 1000, 57'000, 400'000, 2'000'000, 1 << 24}) {
      for (const bool return_states : {false, true}) {
        HistogramSpec spec;
        spec.bins = {EvenBinsSpec{bins, {}, {}}};
        spec.sparse = true;
        spec.weight_type = type;
        spec.return_states = return_states;
        uint64_t bin_count = 0;
        const uint64_t scratch = ScratchOf(spec, &bin_count);
        EXPECT_LE(scratch, HistogramScratchBytesMax(bin_count)) << bin_count << " bins";
        // A lane for more bins than these has no less.
        EXPECT_LE(scratch, HistogramScratchBytesMax(bin_count + 1)) << bin_count << " bins";
      }
    }
  }
}

TEST(HistogramScratchTest, TheMaximumCoversTwoDimensions) {
  for (const uint64_t side : {1, 2, 3, 1000}) {
    HistogramSpec spec;
    spec.bins = {LogarithmicBinsSpec{side, 1, 2}, EvenBinsSpec{side + 1, {}, {}}};
    spec.two_dimensional = true;
    spec.sparse = true;
    for (const bool both_tables : {false, true}) {
      if (both_tables) spec.bins[1] = LogarithmicBinsSpec{side + 1, 1, 2};
      uint64_t bin_count = 0;
      const uint64_t scratch = ScratchOf(spec, &bin_count);
      EXPECT_LE(scratch, HistogramScratchBytesMax(bin_count)) << bin_count << " bins";
    }
  }
}

}  // namespace
}  // namespace gridfold::kernels::cuda
