// A small run of every kernel: each type, grouping, part of a reduction's state, scan and strategy
// of a histogram, on arrays of a few tiles. Small enough to run under a checker of memory accesses
// and races that slows it down a hundredfold; the answers must be those of the CPU engine.
#include <cmath>
#include <cstdint>
#include <stop_token>
#include <utility>
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

struct Job {
  TestArray array;
  GroupingSpec grouping;
};

std::vector<Job> SmallJobs(ElementType type) {
  std::vector<Job> jobs;
  // Three tiles of a scan, and not at an aligned address once it is staged.
  jobs.push_back({MakeVector(type, 9001, DataKind::kSmall, 301), {}});
  jobs.push_back(
      {MakeData(ArrayDescription::Matrix(type, 300, 17), DataKind::kSmall, 302), Axis(0)});
  jobs.push_back(
      {MakeData(ArrayDescription::Matrix(type, 17, 300), DataKind::kSmall, 303), Axis(1)});
  std::vector<uint64_t> offsets = OffsetsOf({1, 5, 3000, 2, 40, 700});
  TestArray ragged = MakeVector(type, offsets.back(), DataKind::kSmall, 304);
  jobs.push_back({std::move(ragged), Segments(std::move(offsets))});
  return jobs;
}

// Specs that need each of the sets of parts that kernels are built for.
std::vector<ReductionSpec> SpecsOfEveryPartSet(const ArrayDescription& array) {
  return {SpecOf({Statistic::kSum}), SpecOf({Statistic::kArgmax}),
          SpecOf({Statistic::kVariance, Statistic::kMin}), SpecOfAll(array)};
}

class SmallJobsTest : public EngineTest {
 protected:
  EngineUnderTest& cpu() { return cpu_; }

 private:
  EngineUnderTest cpu_{kCpuCase};
};

TEST_P(SmallJobsTest, Reductions) {
  for (const ElementType type : kAllTypes) {
    for (const Job& job : SmallJobs(type)) {
      for (ReductionSpec spec : SpecsOfEveryPartSet(job.array.description())) {
        spec.grouping = job.grouping;
        spec.overflow_policy = OverflowPolicy::kWrap;
        const auto result = engine().Reduce(job.array, spec);
        const auto expected = cpu().Reduce(job.array, spec);
        ASSERT_TRUE(result.ok() && expected.ok()) << result.status() << expected.status();
        for (size_t s = 0; s < spec.statistics.size(); ++s) {
          EXPECT_EQ(result->columns[s].slots, expected->columns[s].slots)
              << StatisticName(spec.statistics[s]) << " of " << Describe(job.array.description());
        }
      }
    }
  }
}

TEST_P(SmallJobsTest, Scans) {
  for (const ElementType type : kAllTypes) {
    for (const Job& job : SmallJobs(type)) {
      for (const ScanOperation operation :
           {ScanOperation::kSum, ScanOperation::kProduct, ScanOperation::kMin}) {
        ScanSpec spec;
        spec.operation = operation;
        spec.mode = type == ElementType::kFloat32 ? ScanMode::kExclusive : ScanMode::kInclusive;
        spec.direction =
            type == ElementType::kInt16 ? ScanDirection::kReverse : ScanDirection::kForward;
        spec.grouping = job.grouping;
        spec.overflow_policy = OverflowPolicy::kWrap;
        const auto result = engine().Scan(job.array, spec);
        const auto expected = cpu().Scan(job.array, spec);
        ASSERT_TRUE(result.ok() && expected.ok()) << result.status() << expected.status();
        EXPECT_EQ(FirstDifference(*result, *expected), job.array.size())
            << ScanOperationName(operation) << " of " << Describe(job.array.description());
      }
    }
  }
}

TEST_P(SmallJobsTest, ExactScans) {
  for (const ElementType type : kAllTypes) {
    if (!IsFloatingPoint(type)) continue;
    for (Job& job : SmallJobs(type)) {
      // Numbers that lie too far apart for the fast path, in a few tiles.
      if (type != ElementType::kFloat16) {
        job.array.Set(7, std::ldexp(1.0L, 100));
        job.array.Set(8, std::ldexp(1.0L, -100));
      }
      ScanSpec spec;
      spec.mode = type == ElementType::kFloat32 ? ScanMode::kExclusive : ScanMode::kInclusive;
      spec.grouping = job.grouping;
      spec.exact = true;
      const auto result = engine().Scan(job.array, spec);
      const auto expected = cpu().Scan(job.array, spec);
      ASSERT_TRUE(result.ok() && expected.ok()) << result.status() << expected.status();
      EXPECT_EQ(FirstDifference(*result, *expected), job.array.size())
          << Describe(job.array.description());
    }
  }
}

// A scan of two parts, the first as short as can be.
TEST_P(SmallJobsTest, ContinuedScans) {
  const TestArray array =
      MakeVector(ElementType::kFloat32, kScanCarryElements + 5000, DataKind::kSmall, 306);
  for (const bool exact : {false, true}) {
    ScanSpec spec;
    spec.mode = ScanMode::kExclusive;
    spec.exact = exact;
    const auto expected = cpu().Scan(array, spec);
    ASSERT_TRUE(expected.ok()) << expected.status();
    TestArray results(expected->description());
    ScanCarry carry;
    for (const auto& [first, count] :
         {std::pair<uint64_t, uint64_t>{0, kScanCarryElements}, {kScanCarryElements, 5000}}) {
      const auto plan = PlanScan(ArrayDescription::Vector(ElementType::kFloat32, count), spec);
      RunStatistics statistics;
      const uint64_t offset = first * sizeof(float);
      const uint64_t size_bytes = count * sizeof(float);
      const absl::Status status = engine().lane().ContinueScan(
          *plan, HostSpan{array.span().data + offset, size_bytes},
          MutableHostSpan{results.mutable_span().data + offset, size_bytes}, carry,
          std::stop_token(), statistics);
      ASSERT_TRUE(status.ok()) << status;
    }
    EXPECT_EQ(FirstDifference(results, *expected), array.size());
  }
}

TEST_P(SmallJobsTest, Histograms) {
  for (const ElementType type : kAllTypes) {
    const TestArray samples = MakeVector(type, 9000, DataKind::kSmall, 305);
    // From private counters for each lane to counters in device memory.
    for (const BinSpec& bins :
         {Even(7, 0, 20), Even(50'000, -50, 70), Even(100'000, 0, 1e6), Even(4'000'000, 0, 1e6),
          UnevenEdges(40, 0, 90), AutomaticEven(9)}) {
      for (const bool sparse : {false, true}) {
        HistogramSpec spec = SpecOfBins(bins);
        spec.sparse = sparse;
        const auto result = engine().Histogram(samples, spec);
        const auto expected = cpu().Histogram(samples, spec);
        ASSERT_TRUE(result.ok() && expected.ok()) << result.status() << expected.status();
        EXPECT_EQ(result->channels[0].counts, expected->channels[0].counts);
        EXPECT_EQ(result->channels[0].bin_indices, expected->channels[0].bin_indices);
      }
    }
  }
}

TEST_P(SmallJobsTest, HistogramsOfManyInputs) {
  const TestArray samples = MakeVector(ElementType::kFloat32, 9000, DataKind::kSmall, 306);
  const TestArray other = MakeVector(ElementType::kFloat32, 9000, DataKind::kSmall, 307);
  const TestArray weights = MakeVector(ElementType::kInt16, 9000, DataKind::kSmall, 308);
  HistogramSpec channels = SpecOfBins(Even(20, 0, 20));
  channels.channel_count = 3;
  HistogramSpec plane = SpecOfBins(Even(20, 0, 20));
  plane.two_dimensional = true;
  HistogramSpec weighted = SpecOfBins(Even(20, 0, 20));
  weighted.weight_type = weights.type();
  const auto check = [&](const HistogramSpec& spec, const TestArray* y, const TestArray* w) {
    const auto result = engine().Histogram(samples, spec, y, w);
    const auto expected = cpu().Histogram(samples, spec, y, w);
    ASSERT_TRUE(result.ok() && expected.ok()) << result.status() << expected.status();
    for (size_t c = 0; c < expected->channels.size(); ++c) {
      EXPECT_EQ(result->channels[c].counts, expected->channels[c].counts);
      EXPECT_EQ(result->channels[c].weight_sums, expected->channels[c].weight_sums);
    }
  };
  check(channels, nullptr, nullptr);
  check(plane, &other, nullptr);
  check(weighted, nullptr, &weights);
}

TEST_P(SmallJobsTest, SumsOfWeights) {
  const TestArray samples = MakeVector(ElementType::kFloat32, 9000, DataKind::kSmall, 309);
  for (const ElementType type : kAllTypes) {
    const TestArray weights = MakeVector(type, samples.size(), DataKind::kSpecial, 310);
    // From private sums in several copies to sums in device memory, and more of those than are
    // kept at once.
    for (const uint64_t bin_count : {7, 50, 3000, 10'000, 400'000}) {
      if (bin_count == 400'000 && type != ElementType::kFloat64) continue;
      HistogramSpec spec = SpecOfBins(Even(bin_count, -2, 2));
      spec.weight_type = type;
      spec.return_states = true;
      const auto result = engine().Histogram(samples, spec, nullptr, &weights);
      const auto expected = cpu().Histogram(samples, spec, nullptr, &weights);
      ASSERT_TRUE(result.ok() && expected.ok()) << result.status() << expected.status();
      EXPECT_TRUE(result->weight_states == expected->weight_states)
          << bin_count << " bins, " << ElementTypeName(type);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cuda, SmallJobsTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
