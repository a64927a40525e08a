// The same bits from run to run, with any number of threads, and on either engine.
#include <cstdint>
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

// Two ways to run the same job.
struct Pair {
  EngineUnderTest& a;
  EngineUnderTest& b;
};

struct Job {
  TestArray array;
  GroupingSpec grouping;
};

std::vector<Job> JobsOf(ElementType type) {
  std::vector<Job> jobs;
  jobs.push_back({MakeVector(type, 300'007, DataKind::kWide, 161), {}});
  jobs.push_back({MakeVector(type, 5001, DataKind::kSpecial, 162), {}});
  jobs.push_back(
      {MakeData(ArrayDescription::Matrix(type, 900, 70), DataKind::kWide, 163), Axis(0)});
  jobs.push_back(
      {MakeData(ArrayDescription::Matrix(type, 70, 900), DataKind::kWide, 164), Axis(1)});
  std::vector<uint64_t> offsets = OffsetsOf({5, 0, 100'000, 3, 17, 40'000});
  TestArray ragged = MakeVector(type, offsets.back(), DataKind::kWide, 165);
  jobs.push_back({std::move(ragged), Segments(std::move(offsets))});
  return jobs;
}

void ExpectSameReductions(Pair pair, const Job& job) {
  ReductionSpec spec =
      SpecOfAll(job.array.description(), job.grouping.kind == GroupingKind::kSegments);
  spec.grouping = job.grouping;
  spec.overflow_policy = OverflowPolicy::kWrap;
  const auto a = pair.a.Reduce(job.array, spec);
  const auto b = pair.b.Reduce(job.array, spec);
  ASSERT_TRUE(a.ok() && b.ok()) << a.status() << b.status();
  for (size_t s = 0; s < a->columns.size(); ++s) {
    EXPECT_TRUE(SameSlots(a->columns[s], b->columns[s]))
        << StatisticName(spec.statistics[s]) << " of " << Describe(job.array.description());
  }
}

void ExpectSameScan(Pair pair, const Job& job, ScanOperation operation, bool exact) {
  ScanSpec spec;
  spec.operation = operation;
  spec.grouping = job.grouping;
  spec.overflow_policy = OverflowPolicy::kWrap;
  spec.exact = exact;
  const auto a = pair.a.Scan(job.array, spec);
  const auto b = pair.b.Scan(job.array, spec);
  ASSERT_TRUE(a.ok() && b.ok()) << a.status() << b.status();
  EXPECT_EQ(FirstDifference(*a, *b), job.array.size())
      << (exact ? "exact " : "") << ScanOperationName(operation) << " of "
      << Describe(job.array.description());
}

void ExpectSameScans(Pair pair, const Job& job) {
  for (const ScanOperation operation :
       {ScanOperation::kSum, ScanOperation::kProduct, ScanOperation::kMin, ScanOperation::kMax}) {
    ExpectSameScan(pair, job, operation, false);
  }
  if (IsFloatingPoint(job.array.type())) ExpectSameScan(pair, job, ScanOperation::kSum, true);
}

void ExpectSameHistograms(Pair pair, const TestArray& samples) {
  for (const BinSpec& bins : {Even(100, -10, 10), Even(40'000, -50, 70), AutomaticEven(1000)}) {
    HistogramSpec spec = SpecOfBins(bins);
    spec.quantiles = {0.5};
    const auto a = pair.a.Histogram(samples, spec);
    const auto b = pair.b.Histogram(samples, spec);
    ASSERT_TRUE(a.ok() && b.ok()) << a.status() << b.status();
    EXPECT_EQ(a->channels[0].counts, b->channels[0].counts);
    EXPECT_EQ(EdgesOf(a->bins[0]), EdgesOf(b->bins[0]));
    EXPECT_EQ(a->channels[0].quantile_values, b->channels[0].quantile_values);
  }
}

void ExpectSameWeightSums(Pair pair, ElementType type) {
  const TestArray samples = MakeUniform(ElementType::kFloat32, 200'003, -10, 10, 167);
  const TestArray weights = MakeVector(type, samples.size(), DataKind::kWide, 168);
  for (const uint64_t bin_count : {3, 50, 20'000}) {
    HistogramSpec spec = SpecOfBins(Even(bin_count, -9, 9));
    spec.weight_type = type;
    spec.return_states = true;
    const auto a = pair.a.Histogram(samples, spec, nullptr, &weights);
    const auto b = pair.b.Histogram(samples, spec, nullptr, &weights);
    ASSERT_TRUE(a.ok() && b.ok()) << a.status() << b.status();
    EXPECT_EQ(a->channels[0].weight_sums, b->channels[0].weight_sums);
    EXPECT_TRUE(a->weight_states == b->weight_states) << ElementTypeName(type);
  }
}

void ExpectSameAnswers(Pair pair) {
  for (const ElementType type : kAllTypes) {
    for (const Job& job : JobsOf(type)) {
      ExpectSameReductions(pair, job);
      ExpectSameScans(pair, job);
    }
    ExpectSameHistograms(pair, MakeVector(type, 100'003, DataKind::kSmall, 166));
    ExpectSameWeightSums(pair, type);
  }
}

TEST(DeterminismTest, CpuWithAnyNumberOfThreads) {
  EngineUnderTest two(kCpuCase);
  for (const int threads : {1, 7}) {
    EngineUnderTest other({"Cpu", EngineKind::kCpu, threads});
    ExpectSameAnswers({two, other});
  }
}

class EngineDeterminismTest : public EngineTest {};

TEST_P(EngineDeterminismTest, FromRunToRun) {
  EngineUnderTest other(GetParam());
  for (int round = 0; round < 3; ++round) {
    for (const ElementType type :
         {ElementType::kInt16, ElementType::kFloat16, ElementType::kFloat64}) {
      for (const Job& job : JobsOf(type)) {
        ExpectSameReductions({engine(), other}, job);
        ExpectSameScans({engine(), other}, job);
      }
      ExpectSameWeightSums({engine(), other}, type);
    }
  }
}

class OtherEngineTest : public EngineTest {};

TEST_P(OtherEngineTest, AnswersAsTheCpuEngineDoes) {
  EngineUnderTest cpu(kCpuCase);
  ExpectSameAnswers({engine(), cpu});
}

INSTANTIATE_TEST_SUITE_P(Cpu, EngineDeterminismTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, EngineDeterminismTest, testing::Values(kCudaCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, OtherEngineTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
