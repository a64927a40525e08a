// Jobs on resident memory: the same bits as from host memory, at whatever element a slice begins.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <stop_token>
#include <string>
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

constexpr uint64_t kPoolBytes = uint64_t{64} << 20;

class ResidentMemoryTest : public EngineTest {
 protected:
  ResidentPool& pool() {
    if (pool_ == nullptr) pool_ = engine().engine().CreateResidentPool(kPoolBytes).value();
    return *pool_;
  }

  // The bytes of `array` after `before_bytes` others, and then some more: a slice.
  struct Slice {
    std::unique_ptr<ResidentMemory> memory;
    MutableResidentSpan span;
  };
  Slice MakeSlice(const TestArray& array, uint64_t before_bytes) {
    constexpr uint64_t kBehindBytes = 64;
    const uint64_t size_bytes = array.span().size_bytes;
    Slice slice;
    slice.memory = pool().Allocate(before_bytes + size_bytes + kBehindBytes).value();
    slice.span = {slice.memory->span().data + before_bytes, size_bytes};
    // What stands around a slice is of the kind that would show in any sum or extreme.
    const std::vector<std::byte> noise(slice.memory->span().size_bytes, std::byte{0x7F});
    EXPECT_TRUE(Copy(HostSpan{noise.data(), noise.size()}, slice.memory->span()).ok());
    EXPECT_TRUE(Copy(array.span(), slice.span).ok());
    return slice;
  }

  absl::Status Copy(InputSpan from, OutputSpan to) {
    return engine().lane().Copy(from, to, std::stop_token());
  }

  TestArray Read(const ArrayDescription& description, ResidentSpan span) {
    TestArray array(description, 3);
    EXPECT_TRUE(Copy(span, array.mutable_span()).ok());
    EXPECT_TRUE(array.SurroundingsAreIntact());
    return array;
  }

  void ExpectSameReduction(const TestArray& array, ResidentSpan slice, ReductionSpec spec) {
    spec.overflow_policy = OverflowPolicy::kWrap;
    const auto expected = engine().Reduce(array, spec);
    const auto plan = PlanReduction(array.description(), spec);
    ASSERT_TRUE(expected.ok() && plan.ok()) << expected.status() << plan.status();
    RunStatistics statistics;
    const auto result = engine().lane().RunReduction(*plan, slice, std::stop_token(), statistics);
    ASSERT_TRUE(result.ok()) << result.status();
    for (size_t s = 0; s < result->columns.size(); ++s) {
      EXPECT_TRUE(SameSlots(result->columns[s], expected->columns[s]))
          << StatisticName(spec.statistics[s]) << " of " << Describe(array.description());
    }
  }

  // From host and resident memory to resident memory, and from resident to host memory.
  void ExpectSameScans(const TestArray& array, ResidentSpan slice, ScanSpec spec) {
    spec.overflow_policy = OverflowPolicy::kWrap;
    const auto expected = engine().Scan(array, spec);
    const auto plan = PlanScan(array.description(), spec);
    ASSERT_TRUE(expected.ok() && plan.ok()) << expected.status() << plan.status();
    RunStatistics statistics;
    TestArray to_host(expected->description(), 1);
    ASSERT_TRUE(engine()
                    .lane()
                    .RunScan(*plan, slice, to_host.mutable_span(), std::stop_token(), statistics)
                    .ok());
    EXPECT_EQ(FirstDifference(to_host, *expected), array.size()) << Describe(array.description());
    for (const InputSpan& input : {InputSpan(slice), InputSpan(array.span())}) {
      const Slice output = MakeSlice(TestArray(expected->description()),
                                     ElementSize(expected->description().element_type) * 3);
      ASSERT_TRUE(
          engine().lane().RunScan(*plan, input, output.span, std::stop_token(), statistics).ok());
      EXPECT_EQ(FirstDifference(Read(expected->description(), output.span), *expected),
                array.size())
          << Describe(array.description());
      ExpectSurroundingsAreIntact(output);
    }
  }

  void ExpectSurroundingsAreIntact(const Slice& slice) {
    std::vector<std::byte> all(slice.memory->span().size_bytes);
    ASSERT_TRUE(Copy(slice.memory->span(), MutableHostSpan{all.data(), all.size()}).ok());
    const auto begin = all.begin() + (slice.span.data - slice.memory->span().data);
    const auto is_noise = [](std::byte b) { return b == std::byte{0x7F}; };
    EXPECT_TRUE(std::all_of(all.begin(), begin, is_noise));
    EXPECT_TRUE(
        std::all_of(begin + static_cast<ptrdiff_t>(slice.span.size_bytes), all.end(), is_noise));
  }

 private:
  std::unique_ptr<ResidentPool> pool_;
};

// Where a slice begins, in elements: on and off every boundary of vectorised loads.
constexpr uint64_t kFirstElements[] = {0, 1, 2, 3, 5, 7, 8, 13, 31, 33, 127};

TEST_P(ResidentMemoryTest, ReductionsOfSlices) {
  uint64_t seed = 301;
  for (const ElementType type : kAllTypes) {
    for (const uint64_t first : kFirstElements) {
      for (const uint64_t size : {uint64_t{1}, uint64_t{37}, 9'000 + first}) {
        const TestArray array = MakeVector(type, size, DataKind::kSpecial, ++seed);
        const Slice slice = MakeSlice(array, first * ElementSize(type));
        ExpectSameReduction(array, slice.span, SpecOfAll(array.description()));
      }
    }
  }
}

TEST_P(ResidentMemoryTest, GroupedReductionsOfSlices) {
  for (const ElementType type : {ElementType::kInt8, ElementType::kUint16, ElementType::kFloat16,
                                 ElementType::kFloat32, ElementType::kInt64}) {
    for (const uint64_t first : {1, 3, 35}) {
      const TestArray matrix =
          MakeData(ArrayDescription::Matrix(type, 131, 35), DataKind::kWide, 302 + first);
      const Slice rows = MakeSlice(matrix, first * ElementSize(type));
      for (const GroupingSpec& grouping : {Axis(0), Axis(1)}) {
        ReductionSpec spec = SpecOfAll(matrix.description());
        spec.grouping = grouping;
        ExpectSameReduction(matrix, rows.span, spec);
      }
      const std::vector<uint64_t> offsets = OffsetsOf({5, 0, 4000, 3, 17, 400});
      const TestArray ragged = MakeVector(type, offsets.back(), DataKind::kWide, 303 + first);
      const Slice segments = MakeSlice(ragged, first * ElementSize(type));
      ReductionSpec spec = SpecOfAll(ragged.description(), true);
      spec.grouping = Segments(offsets);
      ExpectSameReduction(ragged, segments.span, spec);
    }
  }
}

TEST_P(ResidentMemoryTest, ScansOfSlices) {
  uint64_t seed = 304;
  for (const ElementType type : kAllTypes) {
    for (const uint64_t first : {0, 1, 3, 33}) {
      for (const uint64_t size : {1, 4097, 20'011}) {
        const TestArray array = MakeVector(type, size, DataKind::kWide, ++seed);
        const Slice slice = MakeSlice(array, first * ElementSize(type));
        for (const ScanOperation operation : {ScanOperation::kSum, ScanOperation::kMax}) {
          ScanSpec spec;
          spec.operation = operation;
          ExpectSameScans(array, slice.span, spec);
        }
        ScanSpec reverse;
        reverse.direction = ScanDirection::kReverse;
        reverse.mode = ScanMode::kExclusive;
        reverse.exact = true;
        ExpectSameScans(array, slice.span, reverse);
      }
      const TestArray matrix =
          MakeData(ArrayDescription::Matrix(type, 97, 41), DataKind::kWide, ++seed);
      const Slice rows = MakeSlice(matrix, first * ElementSize(type));
      for (const GroupingSpec& grouping : {Axis(0), Axis(1)}) {
        ScanSpec spec;
        spec.grouping = grouping;
        ExpectSameScans(matrix, rows.span, spec);
      }
    }
  }
}

TEST_P(ResidentMemoryTest, HistogramsOfSlices) {
  for (const ElementType type : kAllTypes) {
    for (const uint64_t first : kFirstElements) {
      const TestArray samples = MakeVector(type, 10'007, DataKind::kSmall, 305 + first);
      const TestArray y = MakeVector(type, 10'007, DataKind::kSmall, 306 + first);
      const TestArray weights = MakeVector(ElementType::kFloat32, 10'007, DataKind::kWide, 307);
      const Slice x_slice = MakeSlice(samples, first * ElementSize(type));
      const Slice y_slice = MakeSlice(y, (first + 1) * ElementSize(type));
      const Slice weight_slice = MakeSlice(weights, (first + 2) * sizeof(float));
      HistogramSpec counts = SpecOfBins(AutomaticEven(100));
      HistogramSpec pairs = SpecOfBins(Even(20, -9, 9));
      pairs.two_dimensional = true;
      HistogramSpec sums = SpecOfBins(Even(50, -9, 9));
      sums.weight_type = ElementType::kFloat32;
      const auto run = [&](const HistogramSpec& spec, const HistogramInput& input) {
        const auto plan = PlanHistogram(samples.description(), spec, 1 << 20);
        RunStatistics statistics;
        return engine().lane().RunHistogram(*plan, input, std::stop_token(), statistics);
      };
      const struct {
        absl::StatusOr<HistogramResult> expected;
        absl::StatusOr<HistogramResult> result;
      } cases[] = {
          {engine().Histogram(samples, counts), run(counts, {x_slice.span, {}, {}})},
          {engine().Histogram(samples, pairs, &y), run(pairs, {x_slice.span, y_slice.span, {}})},
          // Some resident and some not.
          {engine().Histogram(samples, pairs, &y), run(pairs, {samples.span(), y_slice.span, {}})},
          {engine().Histogram(samples, sums, nullptr, &weights),
           run(sums, {x_slice.span, {}, weight_slice.span})},
          {engine().Histogram(samples, sums, nullptr, &weights),
           run(sums, {x_slice.span, {}, weights.span()})},
      };
      for (const auto& [expected, result] : cases) {
        ASSERT_TRUE(expected.ok() && result.ok()) << expected.status() << result.status();
        EXPECT_EQ(result->channels[0].counts, expected->channels[0].counts);
        EXPECT_EQ(result->channels[0].weight_sums, expected->channels[0].weight_sums);
        EXPECT_EQ(EdgesOf(result->bins[0]), EdgesOf(expected->bins[0]));
      }
    }
  }
}

// Resident memory is not staged, so the lane's limits on what is do not hold for it.
TEST_P(ResidentMemoryTest, JobsLargerThanWhatALaneStages) {
  EngineUnderTest small(GetParam(), {.input_bytes_max = 4000,
                                     .output_bytes_max = 800,
                                     .bin_count_max = 100,
                                     .group_count_max = 10,
                                     .resident_input_bytes_max = 1 << 20});
  const auto pool = small.engine().CreateResidentPool(4 << 20).value();
  const TestArray array = MakeVector(ElementType::kInt32, 100'000, DataKind::kSmall, 308);
  const auto input = pool->Allocate(array.span().size_bytes).value();
  Lane& lane = small.lane();
  ASSERT_TRUE(lane.Copy(array.span(), input->span(), std::stop_token()).ok());
  RunStatistics statistics;
  const auto reduction = PlanReduction(array.description(), SpecOf({Statistic::kSum}));
  const auto scan = PlanScan(array.description(), {});
  const auto output = pool->Allocate(scan->output_size_bytes()).value();
  const auto sum = lane.RunReduction(*reduction, input->span(), std::stop_token(), statistics);
  const auto expected = engine().Reduce(array, SpecOf({Statistic::kSum}));
  ASSERT_TRUE(sum.ok() && expected.ok()) << sum.status() << expected.status();
  EXPECT_EQ(sum->columns[0].slots, expected->columns[0].slots);
  EXPECT_TRUE(
      lane.RunScan(*scan, input->span(), output->span(), std::stop_token(), statistics).ok());
  std::vector<std::byte> host(scan->output_size_bytes());
  EXPECT_EQ(lane.RunScan(*scan, input->span(), MutableHostSpan{host.data(), host.size()},
                         std::stop_token(), statistics)
                .code(),
            absl::StatusCode::kResourceExhausted);
}

TEST_P(ResidentMemoryTest, CopiesOfAllSizesAndTheClearingOfAPart) {
  std::mt19937 random(309);
  // Around the chunks of staging as well.
  for (const uint64_t size :
       {uint64_t{0}, uint64_t{1}, uint64_t{1000}, (uint64_t{8} << 20) - 1, uint64_t{8} << 20,
        (uint64_t{8} << 20) + 1, (uint64_t{20} << 20) + 5}) {
    std::vector<std::byte> bytes(size);
    for (std::byte& b : bytes) b = static_cast<std::byte>(random());
    const HostSpan source{bytes.data(), bytes.size()};
    const auto a = pool().Allocate(size).value();
    const auto b = pool().Allocate(size).value();
    ASSERT_TRUE(Copy(source, a->span()).ok());
    ASSERT_TRUE(Copy(a->span(), b->span()).ok());
    const uint64_t cleared = size / 3;
    ASSERT_TRUE(engine()
                    .lane()
                    .Clear({b->span().data + cleared, size - 2 * cleared}, std::stop_token())
                    .ok());
    std::vector<std::byte> back(size);
    ASSERT_TRUE(Copy(b->span(), MutableHostSpan{back.data(), back.size()}).ok());
    std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(cleared), size - 2 * cleared, std::byte{0});
    EXPECT_TRUE(back == bytes) << size;
  }
}

TEST_P(ResidentMemoryTest, CopiesThatDoNotFitAndThoseThatAreStopped) {
  const auto memory = pool().Allocate(1000).value();
  std::vector<std::byte> bytes(1001);
  EXPECT_EQ(Copy(HostSpan{bytes.data(), bytes.size()}, memory->span()).code(),
            absl::StatusCode::kInternal);
  std::stop_source stop;
  stop.request_stop();
  Lane& lane = engine().lane();
  EXPECT_EQ(lane.Copy(HostSpan{bytes.data(), 1000}, memory->span(), stop.get_token()).code(),
            absl::StatusCode::kCancelled);
  EXPECT_EQ(lane.Copy(memory->span(), MutableHostSpan{bytes.data(), 1000}, stop.get_token()).code(),
            absl::StatusCode::kCancelled);
  EXPECT_EQ(lane.Clear(memory->span(), stop.get_token()).code(), absl::StatusCode::kCancelled);
}

TEST_P(ResidentMemoryTest, APoolServesItsSizeAndNoMore) {
  const auto small = engine().engine().CreateResidentPool(10 * kResidentUnitBytes).value();
  auto all = small->Allocate(10 * kResidentUnitBytes);
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(small->Allocate(1).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(small->Allocate(0).ok());
  all->reset();
  EXPECT_TRUE(small->Allocate(1).ok());
}

INSTANTIATE_TEST_SUITE_P(Cpu, ResidentMemoryTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, ResidentMemoryTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
