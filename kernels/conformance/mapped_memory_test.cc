// Jobs on large arrays in registered host memory, which lanes may bring to the device whole or in
// parts: the same bits as from other host memory in one run, wherever parts end.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/accumulators/reduction_accumulator.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/histogram_specs.h"
#include "kernels/conformance/reduction_specs.h"
#include "kernels/conformance/scan_oracle.h"
#include "kernels/conformance/test_data.h"

namespace gridfold::kernels::conformance {
namespace {

// A lane's room for input, of which the CUDA engine makes two places for parts, and the bytes of a
// part of one array that follow from it.
constexpr uint64_t kInputBytes = uint64_t{8} << 20;
constexpr uint64_t kPartBytes = kInputBytes / 2;
constexpr LaneOptions kSmallLane{.input_bytes_max = kInputBytes,
                                 .output_bytes_max = uint64_t{32} << 20,
                                 .bin_count_max = uint64_t{1} << 16,
                                 .group_count_max = uint64_t{1} << 20,
                                 .resident_input_bytes_max = uint64_t{32} << 20};

class MappedMemoryTest : public EngineTest {
 protected:
  // The bytes of arrays, in memory that begins with a page and is registered with the lane's
  // engine.
  class Mapping {
   public:
    Mapping(Engine& engine, HostSpan bytes)
        : size_bytes_(bytes.size_bytes),
          pages_(static_cast<std::byte*>(
              std::aligned_alloc(4096, (bytes.size_bytes / 4096 + 1) * 4096))) {
      std::memcpy(pages_, bytes.data, size_bytes_);
      memory_ = engine.RegisterHostMemory({pages_, size_bytes_}).value();
    }
    ~Mapping() {
      memory_.reset();
      std::free(pages_);
    }
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;

    ResidentSpan Slice(uint64_t first_byte, uint64_t size_bytes) const {
      return {memory_->span().data + first_byte, size_bytes};
    }
    MutableResidentSpan span() const { return memory_->span(); }

   private:
    const uint64_t size_bytes_;
    std::byte* const pages_;
    std::unique_ptr<ExternalMemory> memory_;
  };

  EngineUnderTest& small() {
    if (small_ == nullptr) small_ = std::make_unique<EngineUnderTest>(GetParam(), kSmallLane);
    return *small_;
  }

  std::unique_ptr<Mapping> Map(const TestArray& array) {
    return std::make_unique<Mapping>(small().engine(), array.span());
  }

  // What the small lane makes of mapped memory is what the roomy one makes of the same bytes of
  // other memory.
  void ExpectSameReduction(const ReductionPlan& plan, HostSpan host, ResidentSpan mapped) {
    RunStatistics expected_run;
    RunStatistics run;
    const auto expected = engine().lane().RunReduction(plan, host, {}, expected_run);
    const auto result = small().lane().RunReduction(plan, mapped, {}, run);
    ASSERT_EQ(result.status(), expected.status());
    if (!expected.ok()) return;
    EXPECT_EQ(run.bytes_read, expected_run.bytes_read);
    // Columns of a part may be few enough to be reduced as rows.
    if (run.strategy.rfind("reduce/transposed", 0) != 0) {
      EXPECT_EQ(run.strategy, expected_run.strategy);
    }
    for (size_t i = 0; i < expected->columns.size(); ++i) {
      EXPECT_TRUE(SameSlots(result->columns[i], expected->columns[i]))
          << StatisticName(plan.statistics[i]) << " of " << Describe(plan.array);
    }
    if (!plan.return_states) return;
    EXPECT_EQ(MakeReductionAccumulator(plan, result->states).value(),
              MakeReductionAccumulator(plan, expected->states).value());
  }

  void ExpectSameReductions(const TestArray& array, const Mapping& mapping, ReductionSpec spec) {
    spec.overflow_policy = OverflowPolicy::kWrap;
    for (const NanPolicy policy : NanPoliciesFor(array.type())) {
      spec.nan_policy = policy;
      ExpectSameReduction(PlanReduction(array.description(), spec).value(), array.span(),
                          mapping.span());
    }
  }

  struct Samples {
    const TestArray& array;
    const Mapping& mapping;
  };
  // `is_mapped` says of which arrays: samples, second samples, weights.
  void ExpectSameHistogram(const HistogramSpec& spec, const Samples& x, const Samples* y,
                           const Samples* weights,
                           std::vector<bool> is_mapped = {true, true, true}) {
    const auto expected = engine().Histogram(x.array, spec, y == nullptr ? nullptr : &y->array,
                                             weights == nullptr ? nullptr : &weights->array);
    const auto input_of = [](const Samples* samples, bool mapped) -> InputSpan {
      if (samples == nullptr) return HostSpan();
      if (mapped) return ResidentSpan(samples->mapping.span());
      return samples->array.span();
    };
    const auto plan = PlanHistogram(x.array.description(), spec, kSmallLane.bin_count_max);
    ASSERT_TRUE(plan.ok() && expected.ok()) << plan.status() << expected.status();
    RunStatistics run;
    const auto result = small().lane().RunHistogram(
        *plan,
        {input_of(&x, is_mapped[0]), input_of(y, is_mapped[1]), input_of(weights, is_mapped[2])},
        {}, run);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(run.bytes_read, engine().last_run().bytes_read);
    ASSERT_EQ(result->channels.size(), expected->channels.size());
    for (size_t c = 0; c < expected->channels.size(); ++c) {
      const HistogramCounts& a = result->channels[c];
      const HistogramCounts& b = expected->channels[c];
      EXPECT_EQ(a.counts, b.counts);
      EXPECT_EQ(a.weight_sums, b.weight_sums);
      EXPECT_EQ(a.bin_indices, b.bin_indices);
      EXPECT_EQ(a.quantile_values, b.quantile_values);
      EXPECT_EQ(a.underflow_count, b.underflow_count);
      EXPECT_EQ(a.overflow_count, b.overflow_count);
      EXPECT_EQ(a.nan_count, b.nan_count);
    }
    EXPECT_EQ(result->weight_states.index(), expected->weight_states.index());
  }

 private:
  std::unique_ptr<EngineUnderTest> small_;
};

ReductionSpec WithoutProduct(ReductionSpec spec) {
  std::erase(spec.statistics, Statistic::kProduct);
  return spec;
}

TEST_P(MappedMemoryTest, ReductionsAroundTheEndsOfParts) {
  for (const ElementType type : kAllTypes) {
    const uint64_t part = kPartBytes / ElementSize(type);
    const TestArray all = MakeVector(type, 2 * part + 4, DataKind::kSpecial, 401);
    const auto mapping = Map(all);
    // Where the slice begins, and its size.
    const std::pair<uint64_t, uint64_t> slices[] = {
        {0, part - 1},     {1, part},     {0, part + 1},    {3, 2 * part - 1},
        {1, 2 * part - 1}, {0, 2 * part}, {3, 2 * part + 1}};
    for (const auto& [first, count] : slices) {
      const uint64_t begin = first * ElementSize(type);
      const uint64_t size_bytes = count * ElementSize(type);
      const ArrayDescription array = ArrayDescription::Vector(type, count);
      ReductionSpec spec = WithoutProduct(SpecOfAll(array));
      spec.overflow_policy = OverflowPolicy::kWrap;
      ExpectSameReduction(PlanReduction(array, spec).value(), {all.data() + begin, size_bytes},
                          mapping->Slice(begin, size_bytes));
    }
  }
}

TEST_P(MappedMemoryTest, PoliciesProductsAndStates) {
  for (const ElementType type :
       {ElementType::kUint8, ElementType::kInt64, ElementType::kBfloat16, ElementType::kFloat64}) {
    // A little more than two parts, and what fits the lane's memory whole.
    for (const uint64_t size_bytes : {2 * kPartBytes + 4096, 2 * kPartBytes - 8}) {
      const TestArray array =
          MakeVector(type, size_bytes / ElementSize(type), DataKind::kSpecial, 402);
      const auto mapping = Map(array);
      ExpectSameReductions(array, *mapping, WithoutProduct(SpecOfAll(array.description())));
      // Of floating-point elements: in one run.
      ExpectSameReductions(array, *mapping, SpecOf({Statistic::kProduct, Statistic::kSum}));
      ReductionSpec part = WithoutProduct(SpecOfAll(array.description()));
      part.return_states = true;
      part.overflow_policy = OverflowPolicy::kWrap;
      ExpectSameReduction(PlanStates(PlanReduction(array.description(), part).value()),
                          array.span(), mapping->span());
    }
  }
}

TEST_P(MappedMemoryTest, GroupedReductions) {
  // Rows that are short, long, and longer than what is never cut.
  for (const uint64_t columns : {uint64_t{7}, uint64_t{1000}, uint64_t{300'001}}) {
    const uint64_t rows = (2 * kPartBytes + kPartBytes / 3) / sizeof(float) / columns;
    const TestArray matrix = MakeData(
        ArrayDescription::Matrix(ElementType::kFloat32, rows, columns), DataKind::kSpecial, 403);
    const auto mapping = Map(matrix);
    for (const GroupingKind kind : {GroupingKind::kAxis0, GroupingKind::kAxis1}) {
      ReductionSpec spec = SpecOf({Statistic::kSum, Statistic::kArgmax, Statistic::kMin});
      spec.grouping.kind = kind;
      ExpectSameReductions(matrix, *mapping, spec);
    }
  }
  const uint64_t count = (2 * kPartBytes + 4) / sizeof(int32_t);
  const TestArray ragged = MakeVector(ElementType::kInt32, count, DataKind::kWide, 404);
  const auto mapping = Map(ragged);
  ReductionSpec segments = SpecOf({Statistic::kSum, Statistic::kMax});
  segments.grouping = {GroupingKind::kSegments, {0, 5, 1'200'000, 1'200'001, count}};
  ExpectSameReductions(ragged, *mapping, segments);
}

TEST_P(MappedMemoryTest, TheFirstOfEqualExtremesAndTheFirstNan) {
  constexpr uint64_t kPart = kPartBytes / sizeof(double);
  TestArray array(ArrayDescription::Vector(ElementType::kFloat64, 3 * kPart + 1));
  const ReductionPlan plan =
      PlanReduction(array.description(), SpecOf({Statistic::kArgmin, Statistic::kArgmax})).value();
  array.Set(kPart - 1, 5);
  array.Set(kPart, 5);
  array.Set(2 * kPart, -5);
  array.Set(3 * kPart, -5);
  ExpectSameReduction(plan, array.span(), Map(array)->span());
  RunStatistics run;
  const auto result = small().lane().RunReduction(plan, Map(array)->span(), {}, run);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->columns[0].slots[0], 2 * kPart);
  EXPECT_EQ(result->columns[1].slots[0], kPart - 1);
  array.Set(2 * kPart - 1, std::numeric_limits<long double>::quiet_NaN());
  array.Set(2 * kPart, std::numeric_limits<long double>::quiet_NaN());
  ExpectSameReduction(plan, array.span(), Map(array)->span());
}

TEST_P(MappedMemoryTest, OnlyTheWholeMayOverflow) {
  constexpr uint64_t kPart = kPartBytes / sizeof(int64_t);
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  TestArray array(ArrayDescription::Matrix(ElementType::kInt64, 3 * kPart / 512, 512));
  const auto expect_same = [&] {
    const auto mapping = Map(array);
    for (const GroupingKind kind : {GroupingKind::kWhole, GroupingKind::kAxis1}) {
      ReductionSpec spec = SpecOf({Statistic::kSum});
      spec.grouping.kind = kind;
      ExpectSameReduction(PlanReduction(array.description(), spec).value(), array.span(),
                          mapping->span());
    }
  };
  // The first part alone overflows, the whole does not; then it does.
  array.Set(0, kMax);
  array.Set(512, 1);
  array.Set(2 * kPart, -1);
  expect_same();
  array.Set(2 * kPart, 0);
  expect_same();
  // A row of the last part.
  array.Set(3 * kPart - 1, kMax);
  array.Set(3 * kPart - 2, kMax);
  expect_same();
}

TEST_P(MappedMemoryTest, NothingButIgnoredNansIsTheSameError) {
  TestArray array(ArrayDescription::Vector(ElementType::kFloat32, 3 * kPartBytes / 4));
  std::memset(array.mutable_data(), 0xFF, array.span().size_bytes);
  ReductionSpec spec = SpecOf({Statistic::kSum, Statistic::kArgmax});
  spec.nan_policy = NanPolicy::kIgnore;
  ExpectSameReduction(PlanReduction(array.description(), spec).value(), array.span(),
                      Map(array)->span());
}

TEST_P(MappedMemoryTest, Histograms) {
  constexpr uint64_t kCount = 3 * (kPartBytes / sizeof(float)) + 6;
  const TestArray x = MakeUniform(ElementType::kFloat32, kCount, -100, 100, 405);
  const TestArray y = MakeUniform(ElementType::kFloat32, kCount, -100, 100, 406);
  const TestArray weights = MakeVector(ElementType::kFloat64, kCount, DataKind::kWide, 407);
  const auto x_mapping = Map(x);
  const auto y_mapping = Map(y);
  const auto weight_mapping = Map(weights);
  const Samples samples{x, *x_mapping};
  const Samples second{y, *y_mapping};
  const Samples weighting{weights, *weight_mapping};
  HistogramSpec spec = SpecOfBins(Even(100, -90, 90));
  spec.quantiles = {0.1, 0.5};
  ExpectSameHistogram(spec, samples, nullptr, nullptr);
  spec = SpecOfBins(UnevenEdges(1000, -90, 90));
  spec.sparse = true;
  spec.channel_count = 2;
  ExpectSameHistogram(spec, samples, nullptr, nullptr);
  ExpectSameHistogram(SpecOfBins(AutomaticEven(50)), samples, nullptr, nullptr);
  // Too many to merge part by part.
  ExpectSameHistogram(SpecOfBins(Even(60'000, -90, 90)), samples, nullptr, nullptr);

  HistogramSpec plane = SpecOfBins(Even(12, -90, 90));
  plane.two_dimensional = true;
  ExpectSameHistogram(plane, samples, &second, nullptr);
  HistogramSpec sums = SpecOfBins(Even(20, -90, 90));
  sums.weight_type = ElementType::kFloat64;
  ExpectSameHistogram(sums, samples, nullptr, &weighting);
  sums.return_states = true;
  ExpectSameHistogram(sums, samples, nullptr, &weighting);
  plane.weight_type = ElementType::kFloat64;
  ExpectSameHistogram(plane, samples, &second, &weighting);
}

// What is mapped is brought to the device where there is room beside what has to be.
TEST_P(MappedMemoryTest, HistogramsOfArraysOfWhichSomeAreMapped) {
  for (const uint64_t count : {kInputBytes / 16, kInputBytes / 12, kInputBytes / 8}) {
    const TestArray x = MakeUniform(ElementType::kFloat64, count, -100, 100, 408);
    const TestArray y = MakeUniform(ElementType::kFloat64, count, -100, 100, 409);
    const auto x_mapping = Map(x);
    const auto y_mapping = Map(y);
    const Samples samples{x, *x_mapping};
    const Samples second{y, *y_mapping};
    HistogramSpec plane = SpecOfBins(Even(12, -90, 90));
    plane.two_dimensional = true;
    ExpectSameHistogram(plane, samples, &second, nullptr, {true, false, false});
    ExpectSameHistogram(plane, samples, &second, nullptr, {false, true, false});
    ExpectSameHistogram(plane, samples, &second, nullptr, {true, true, false});
  }
}

TEST_P(MappedMemoryTest, Scans) {
  for (const uint64_t size_bytes : {kPartBytes + 4, kInputBytes, 2 * kInputBytes + 4}) {
    const TestArray array =
        MakeVector(ElementType::kFloat32, size_bytes / sizeof(float), DataKind::kWide, 410);
    const auto mapping = Map(array);
    const auto to = Map(array);
    for (const bool exact : {false, true}) {
      ScanSpec spec;
      spec.exact = exact;
      const auto expected = engine().Scan(array, spec);
      ASSERT_TRUE(expected.ok()) << expected.status();
      const auto plan = PlanScan(array.description(), spec).value();
      RunStatistics run;
      TestArray output(expected->description(), 1);
      ASSERT_TRUE(
          small().lane().RunScan(plan, mapping->span(), output.mutable_span(), {}, run).ok());
      EXPECT_EQ(FirstDifference(output, *expected), array.size());
      ASSERT_TRUE(small().lane().RunScan(plan, mapping->span(), to->span(), {}, run).ok());
      ASSERT_TRUE(small().lane().Copy(ResidentSpan(to->span()), output.mutable_span(), {}).ok());
      EXPECT_EQ(FirstDifference(output, *expected), array.size());
    }
  }
}

TEST_P(MappedMemoryTest, CancelledJobsLeaveTheMemoryAndTheLaneAlone) {
  const TestArray array =
      MakeVector(ElementType::kFloat32, 8 * kPartBytes / sizeof(float), DataKind::kSmall, 411);
  const ReductionPlan plan = PlanReduction(array.description(), SpecOf({Statistic::kSum})).value();
  const auto expected = engine().Reduce(array, SpecOf({Statistic::kSum}));
  ASSERT_TRUE(expected.ok()) << expected.status();
  std::stop_source before;
  before.request_stop();
  RunStatistics run;
  EXPECT_EQ(small()
                .lane()
                .RunReduction(plan, Map(array)->span(), before.get_token(), run)
                .status()
                .code(),
            absl::StatusCode::kCancelled);
  for (int delay_us = 0; delay_us < 2000; delay_us += 200) {
    std::stop_source source;
    const auto mapping = Map(array);
    absl::StatusOr<ReductionResult> result;
    {
      std::jthread stopper([&] {
        std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
        source.request_stop();
      });
      result = small().lane().RunReduction(plan, mapping->span(), source.get_token(), run);
    }
    if (!result.ok()) {
      EXPECT_EQ(result.status().code(), absl::StatusCode::kCancelled);
      result = small().lane().RunReduction(plan, mapping->span(), {}, run);
    }
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->columns[0].slots, expected->columns[0].slots);
  }
}

// Of a last part that is as small as jobs that are timed in another way, too.
TEST_P(MappedMemoryTest, StagesTakeNoLongerThanTheJob) {
  const TestArray array =
      MakeVector(ElementType::kFloat32, kPartBytes / sizeof(float) + 100, DataKind::kSmall, 413);
  const auto mapping = Map(array);
  const ReductionPlan plan = PlanReduction(array.description(), SpecOf({Statistic::kSum})).value();
  RunStatistics run;
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(small().lane().RunReduction(plan, mapping->span(), {}, run).ok());
  const auto elapsed = std::chrono::steady_clock::now() - begin;
  EXPECT_LE(run.stage_in_time + run.kernel_time + run.stage_out_time, elapsed);
}

TEST_P(MappedMemoryTest, NothingIsAllocatedAndTimesAreTold) {
  const TestArray array =
      MakeVector(ElementType::kFloat32, 3 * kPartBytes / sizeof(float), DataKind::kSmall, 412);
  const auto mapping = Map(array);
  const ReductionPlan plan = PlanReduction(array.description(), SpecOf({Statistic::kSum})).value();
  const EngineResources before = small().engine().resources();
  RunStatistics run;
  ASSERT_TRUE(small().lane().RunReduction(plan, mapping->span(), {}, run).ok());
  EXPECT_EQ(small().engine().resources(), before);
  EXPECT_EQ(run.bytes_read, array.span().size_bytes);
  EXPECT_GT(run.kernel_time.count(), 0);
  EXPECT_EQ(run.stage_in_time.count() > 0, GetParam().kind == EngineKind::kCuda);
}

INSTANTIATE_TEST_SUITE_P(Cpu, MappedMemoryTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, MappedMemoryTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
