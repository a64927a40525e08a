// Jobs on host memory in pieces: the same bits as from one, wherever the array is cut.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <stop_token>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/groupings.h"
#include "kernels/conformance/histogram_specs.h"
#include "kernels/conformance/reduction_specs.h"
#include "kernels/conformance/scan_oracle.h"
#include "kernels/conformance/test_data.h"

namespace gridfold::kernels::conformance {
namespace {

// Copies of the bytes in pieces of random sizes, none of which follows the one before it in memory.
class CutBytes {
 public:
  CutBytes(HostSpan bytes, uint64_t piece_bytes_max, uint32_t seed)
      : size_bytes_(bytes.size_bytes) {
    std::mt19937 random(seed);
    for (uint64_t begin = 0; begin < bytes.size_bytes;) {
      const uint64_t size = std::min(bytes.size_bytes - begin, random() % (piece_bytes_max + 1));
      pieces_.emplace_back(bytes.data + begin, bytes.data + begin + size);
      begin += size;
    }
    for (const std::vector<std::byte>& piece : pieces_) {
      spans_.push_back({piece.data(), piece.size()});
    }
  }

  HostSlices slices() const { return {spans_, size_bytes_}; }

 private:
  const uint64_t size_bytes_;
  std::vector<std::vector<std::byte>> pieces_;
  std::vector<HostSpan> spans_;
};

class InputSlicesTest : public EngineTest {
 protected:
  void ExpectSameReduction(const TestArray& array, ReductionSpec spec, const CutBytes& cut) {
    spec.overflow_policy = OverflowPolicy::kWrap;
    const auto expected = engine().Reduce(array, spec);
    const auto plan = PlanReduction(array.description(), spec);
    ASSERT_TRUE(expected.ok() && plan.ok()) << expected.status() << plan.status();
    const auto result =
        engine().lane().RunReduction(*plan, cut.slices(), std::stop_token(), statistics_);
    ASSERT_TRUE(result.ok()) << result.status();
    for (size_t s = 0; s < result->columns.size(); ++s) {
      EXPECT_TRUE(SameSlots(result->columns[s], expected->columns[s]))
          << StatisticName(spec.statistics[s]) << " of " << Describe(array.description());
    }
  }

  RunStatistics statistics_;
};

// From pieces of less than an element to some that are longer than a chunk of staging.
TEST_P(InputSlicesTest, ReductionsWithCutsAnywhere) {
  uint32_t seed = 401;
  for (const ElementType type : kAllTypes) {
    for (const uint64_t piece_bytes_max : {1, 7, 100, 40'000}) {
      const TestArray array = MakeVector(type, 3'011, DataKind::kSpecial, ++seed);
      ExpectSameReduction(array, SpecOfAll(array.description()),
                          CutBytes(array.span(), piece_bytes_max, seed));
    }
  }
  const TestArray large = MakeVector(ElementType::kFloat32, 6'000'011, DataKind::kWide, 402);
  ExpectSameReduction(large, SpecOf({Statistic::kSum, Statistic::kMin}),
                      CutBytes(large.span(), uint64_t{20} << 20, 403));
}

TEST_P(InputSlicesTest, SegmentsAndScans) {
  const std::vector<uint64_t> offsets = OffsetsOf({5, 0, 4000, 3, 17, 400});
  const TestArray array = MakeVector(ElementType::kInt16, offsets.back(), DataKind::kWide, 404);
  const CutBytes cut(array.span(), 333, 405);
  ReductionSpec segments = SpecOfAll(array.description(), true);
  segments.grouping = Segments(offsets);
  ExpectSameReduction(array, segments, cut);

  const ScanSpec spec;
  const auto expected = engine().Scan(array, spec);
  const auto plan = PlanScan(array.description(), spec);
  ASSERT_TRUE(expected.ok() && plan.ok());
  TestArray result(expected->description());
  ASSERT_TRUE(
      engine()
          .lane()
          .RunScan(*plan, cut.slices(), result.mutable_span(), std::stop_token(), statistics_)
          .ok());
  EXPECT_EQ(FirstDifference(result, *expected), array.size());
}

TEST_P(InputSlicesTest, HistogramsOfWhichSomeArraysAreCut) {
  const TestArray samples = MakeVector(ElementType::kFloat32, 10'007, DataKind::kSmall, 406);
  const TestArray weights = MakeVector(ElementType::kFloat16, 10'007, DataKind::kWide, 407);
  HistogramSpec spec = SpecOfBins(Even(50, -9, 9));
  spec.weight_type = ElementType::kFloat16;
  const auto plan = PlanHistogram(samples.description(), spec, 1 << 20);
  const auto expected = engine().Histogram(samples, spec, nullptr, &weights);
  ASSERT_TRUE(expected.ok() && plan.ok());
  const CutBytes cut_samples(samples.span(), 500, 408);
  const CutBytes cut_weights(weights.span(), 77, 409);
  const HistogramInput inputs[] = {{cut_samples.slices(), {}, cut_weights.slices()},
                                   {samples.span(), {}, cut_weights.slices()},
                                   {cut_samples.slices(), {}, weights.span()}};
  for (const HistogramInput& input : inputs) {
    const auto result = engine().lane().RunHistogram(*plan, input, std::stop_token(), statistics_);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->channels[0].weight_sums, expected->channels[0].weight_sums);
  }
}

TEST_P(InputSlicesTest, CopiesToResidentMemory) {
  const TestArray array = MakeVector(ElementType::kInt64, 3'000'001, DataKind::kWide, 410);
  const CutBytes cut(array.span(), 9'000'000, 411);
  const auto pool = engine().engine().CreateResidentPool(uint64_t{32} << 20).value();
  const auto memory = pool->Allocate(array.span().size_bytes).value();
  Lane& lane = engine().lane();
  ASSERT_TRUE(lane.Copy(cut.slices(), memory->span(), std::stop_token()).ok());
  TestArray back(array.description());
  ASSERT_TRUE(lane.Copy(memory->span(), back.mutable_span(), std::stop_token()).ok());
  EXPECT_EQ(FirstDifference(back, array), array.size());
}

TEST_P(InputSlicesTest, NothingInNoPieces) {
  const ArrayDescription nothing = ArrayDescription::Vector(ElementType::kFloat32, 0);
  const auto plan = PlanReduction(nothing, SpecOf({Statistic::kSum, Statistic::kCount}));
  ASSERT_TRUE(plan.ok());
  const auto result =
      engine().lane().RunReduction(*plan, HostSlices{}, std::stop_token(), statistics_);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->columns[0].slots[0], 0u);
}

INSTANTIATE_TEST_SUITE_P(Cpu, InputSlicesTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, InputSlicesTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
