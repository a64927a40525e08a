// Every reduction of a batch against the same reduction by itself, on the CPU engine.
#include "kernels/folds/reduction_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernels/numerics/arithmetic/element.h"

namespace gridfold::kernels {
namespace {

// Counts the launches of another lane, and fails them where a test says so.
class WatchedLane final : public Lane {
 public:
  explicit WatchedLane(Lane& lane) : lane_(lane) {}

  absl::StatusOr<ReductionResult> RunReduction(const ReductionPlan& plan, InputSpan input,
                                               std::stop_token stop,
                                               RunStatistics& statistics) override {
    ++launches;
    groups_max = std::max(groups_max, plan.grouping.group_count);
    if (plan.grouping.group_count > group_limit) return absl::ResourceExhaustedError("too many");
    if (!failure.ok()) return failure;
    return lane_.RunReduction(plan, input, std::move(stop), statistics);
  }
  absl::Status RunScan(const ScanPlan&, InputSpan, OutputSpan, std::stop_token,
                       RunStatistics&) override {
    return absl::UnimplementedError("");
  }
  absl::Status ContinueScan(const ScanPlan&, InputSpan, OutputSpan, ScanCarry&, std::stop_token,
                            RunStatistics&) override {
    return absl::UnimplementedError("");
  }
  absl::StatusOr<HistogramResult> RunHistogram(const HistogramPlan&, const HistogramInput&,
                                               std::stop_token, RunStatistics&) override {
    return absl::UnimplementedError("");
  }
  absl::Status Rearrange(const Rearrangement&, uint64_t, InputSpan, OutputSpan, std::stop_token,
                         RunStatistics&) override {
    return absl::UnimplementedError("");
  }
  absl::Status Copy(InputSpan, OutputSpan, std::stop_token) override {
    return absl::UnimplementedError("");
  }
  absl::Status Clear(MutableResidentSpan, std::stop_token) override {
    return absl::UnimplementedError("");
  }

  int launches = 0;
  uint64_t groups_max = 0;
  uint64_t group_limit = std::numeric_limits<uint64_t>::max();
  absl::Status failure;

 private:
  Lane& lane_;
};

struct Reduction {
  ReductionPlan plan;
  std::vector<std::byte> data;
};

template <class T>
T RandomElement(std::mt19937_64& random) {
  if constexpr (IntegerElement<T>) {
    // Sums and products of few of the large ones overflow.
    return random() % 50 == 0 ? static_cast<T>(random()) : static_cast<T>(random() % 3);
  } else {
    constexpr double kSpecial[] = {0.0, -0.0, INFINITY, -INFINITY, NAN};
    const double value = random() % 20 == 0
                             ? kSpecial[random() % std::size(kSpecial)]
                             : std::ldexp(static_cast<double>(static_cast<int64_t>(random())), -63);
    if constexpr (HalfElement<T>) {
      return T::FromDouble(value);
    } else {
      return static_cast<T>(value);
    }
  }
}

std::vector<std::byte> RandomData(ElementType type, size_t count, std::mt19937_64& random) {
  return VisitElementType(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    // All NaN now and then: then there is no smallest element.
    const bool only_nan = IsFloatingPoint(type) && random() % 10 == 0;
    std::vector<std::byte> data(count * sizeof(T));
    for (size_t i = 0; i < count; ++i) {
      T x = RandomElement<T>(random);
      if constexpr (FloatingElement<T>) {
        if (only_nan) {
          if constexpr (HalfElement<T>) {
            x = T::FromDouble(NAN);
          } else {
            x = static_cast<T>(NAN);
          }
        }
      }
      std::memcpy(data.data() + i * sizeof(T), &x, sizeof(T));
    }
    return data;
  });
}

ReductionSpec RandomSpec(std::mt19937_64& random) {
  ReductionSpec spec;
  for (int i = 0; i < kStatisticCount; ++i) {
    if (random() % 5 == 0) spec.statistics.push_back(static_cast<Statistic>(i));
  }
  std::shuffle(spec.statistics.begin(), spec.statistics.end(), random);
  spec.nan_policy = random() % 2 == 0 ? NanPolicy::kIgnore : NanPolicy::kPropagate;
  spec.overflow_policy = random() % 2 == 0 ? OverflowPolicy::kWrap : OverflowPolicy::kError;
  spec.delta_degrees_of_freedom = random() % 3;
  return spec;
}

void ExpectSame(const absl::StatusOr<ReductionResult>& actual,
                const absl::StatusOr<ReductionResult>& expected) {
  ASSERT_EQ(actual.status(), expected.status());
  if (!actual.ok()) return;
  ASSERT_EQ(actual->columns.size(), expected->columns.size());
  for (size_t i = 0; i < actual->columns.size(); ++i) {
    const StatisticColumn& column = expected->columns[i];
    EXPECT_EQ(actual->columns[i].statistic, column.statistic);
    EXPECT_EQ(actual->columns[i].kind, column.kind);
    EXPECT_EQ(actual->columns[i].slots, column.slots) << StatisticName(column.statistic);
  }
}

class ReductionBatchTest : public testing::Test {
 protected:
  Reduction Make(ElementType type, std::vector<std::byte> data, ReductionSpec spec) {
    const auto array = ArrayDescription::Vector(type, data.size() / ElementSize(type));
    absl::StatusOr<ReductionPlan> plan = PlanReduction(array, std::move(spec));
    EXPECT_TRUE(plan.ok()) << plan.status();
    return {*std::move(plan), std::move(data)};
  }

  template <class T>
  Reduction Make(ElementType type, const std::vector<T>& values, ReductionSpec spec) {
    const auto bytes = std::as_bytes(std::span(values));
    return Make(type, std::vector<std::byte>(bytes.begin(), bytes.end()), std::move(spec));
  }

  absl::StatusOr<std::vector<absl::StatusOr<ReductionResult>>> RunBatch(
      const std::vector<Reduction>& reductions) {
    std::vector<BatchedReduction> batch;
    for (const Reduction& reduction : reductions) {
      batch.push_back({&reduction.plan, HostSpan{reduction.data.data(), reduction.data.size()}});
    }
    return RunReductionBatch(batch, lane_, {}, statistics_);
  }

  absl::StatusOr<ReductionResult> RunAlone(const Reduction& reduction) {
    RunStatistics statistics;
    return engine_lane_->RunReduction(
        reduction.plan, HostSpan{reduction.data.data(), reduction.data.size()}, {}, statistics);
  }

  void ExpectAnswersOfSingleRuns(const std::vector<Reduction>& reductions) {
    const auto results = RunBatch(reductions);
    ASSERT_TRUE(results.ok()) << results.status();
    ASSERT_EQ(results->size(), reductions.size());
    for (size_t i = 0; i < reductions.size(); ++i) {
      SCOPED_TRACE(i);
      ExpectSame((*results)[i], RunAlone(reductions[i]));
    }
  }

  std::unique_ptr<Engine> engine_ = *CreateEngine({.kind = EngineKind::kCpu, .cpu_threads = 2});
  std::unique_ptr<Lane> engine_lane_ = *engine_->CreateLane({.input_bytes_max = 64 << 20,
                                                             .output_bytes_max = 64 << 20,
                                                             .bin_count_max = 100,
                                                             .group_count_max = 100'000});
  WatchedLane lane_{*engine_lane_};
  RunStatistics statistics_;
  std::mt19937_64 random_{20261121};
};

TEST_F(ReductionBatchTest, AnswersAndErrorsAreThoseOfSingleRuns) {
  std::map<ReductionBatchKey, std::vector<Reduction>> batches;
  int failed = 0;
  for (int i = 0; i < 6000; ++i) {
    const auto type = static_cast<ElementType>(random_() % kElementTypeCount);
    const size_t count = random_() % 4 == 0 ? 0 : random_() % 1500;
    const std::vector<std::byte> data = RandomData(type, count, random_);
    const auto plan = PlanReduction(ArrayDescription::Vector(type, count), RandomSpec(random_));
    if (!plan.ok()) continue;
    const Reduction reduction{*plan, data};
    if (!RunAlone(reduction).ok()) ++failed;
    batches[*BatchKeyOf(*plan)].push_back(reduction);
  }
  for (const auto& [key, reductions] : batches) ExpectAnswersOfSingleRuns(reductions);
  // Not all of it was harmless, nor every batch of one.
  EXPECT_GT(failed, 50);
  EXPECT_GT(lane_.groups_max, 20u);
}

// Long groups are cut into pieces, and float products follow a tree.
TEST_F(ReductionBatchTest, LongArraysAmongShortOnes) {
  for (const ElementType type : {ElementType::kFloat64, ElementType::kInt8}) {
    std::vector<Reduction> reductions;
    for (const size_t count : {3u, 300'000u, 511u, 512u, 513u, 1u, 1'100'000u}) {
      reductions.push_back(Make(type, RandomData(type, count, random_),
                                {.statistics = {Statistic::kProduct, Statistic::kArgmax,
                                                Statistic::kMean, Statistic::kL2Norm},
                                 .grouping = {},
                                 .overflow_policy = OverflowPolicy::kWrap}));
    }
    ExpectAnswersOfSingleRuns(reductions);
  }
}

TEST_F(ReductionBatchTest, OneLaunchWhereNothingFails) {
  std::vector<Reduction> reductions;
  for (float i = 0; i < 256; ++i) {
    const auto statistic = static_cast<int>(i) % 2 == 0 ? Statistic::kSum : Statistic::kMax;
    reductions.push_back(
        Make<float>(ElementType::kFloat32, {i, 0.5f}, {.statistics = {statistic}, .grouping = {}}));
  }
  ExpectAnswersOfSingleRuns(reductions);
  EXPECT_EQ(lane_.launches, 1);
  EXPECT_EQ(statistics_.bytes_read, 256u * 8);
}

TEST_F(ReductionBatchTest, OneOverflowCostsTheOthersLittle) {
  const ReductionSpec sum{.statistics = {Statistic::kSum}, .grouping = {}};
  std::vector<Reduction> reductions;
  for (int64_t i = 0; i < 256; ++i) {
    reductions.push_back(Make<int64_t>(ElementType::kInt64, {i, 1}, sum));
  }
  reductions[77] =
      Make<int64_t>(ElementType::kInt64, {std::numeric_limits<int64_t>::max(), 1}, sum);
  const auto results = RunBatch(reductions);
  ASSERT_TRUE(results.ok());
  for (size_t i = 0; i < reductions.size(); ++i) EXPECT_EQ((*results)[i].ok(), i != 77) << i;
  EXPECT_EQ((*results)[77].status(),
            absl::OutOfRangeError("sum does not fit in " +
                                  std::string(ElementTypeName(ElementType::kInt64))));
  EXPECT_LE(lane_.launches, 1 + 2 * 8);
}

TEST_F(ReductionBatchTest, ABatchThatDoesNotFitIsRunInParts) {
  std::vector<Reduction> reductions;
  for (float i = 0; i < 100; ++i) {
    reductions.push_back(Make<float>(ElementType::kFloat32, {i, 0.5f},
                                     {.statistics = {Statistic::kSum}, .grouping = {}}));
  }
  lane_.group_limit = 7;
  ExpectAnswersOfSingleRuns(reductions);
}

TEST_F(ReductionBatchTest, AFailedDeviceAndAStopAreTheWholeBatchs) {
  const std::vector<Reduction> reductions(
      10,
      Make<float>(ElementType::kFloat32, {1}, {.statistics = {Statistic::kSum}, .grouping = {}}));
  for (const absl::Status& failure :
       {absl::InternalError("broken"), absl::CancelledError("stopped")}) {
    lane_.failure = failure;
    lane_.launches = 0;
    EXPECT_EQ(RunBatch(reductions).status(), failure);
    EXPECT_EQ(lane_.launches, 1);
  }
}

TEST_F(ReductionBatchTest, NothingIsNoLaunch) {
  const auto results = RunBatch({});
  ASSERT_TRUE(results.ok());
  EXPECT_TRUE(results->empty());
  EXPECT_EQ(lane_.launches, 0);
}

TEST_F(ReductionBatchTest, WhatSharesNoLaunch) {
  const auto key = [](const ArrayDescription& array, ReductionSpec spec) {
    return BatchKeyOf(*PlanReduction(array, std::move(spec)));
  };
  const auto matrix = ArrayDescription::Matrix(ElementType::kInt32, 2, 3);
  const ReductionSpec sum{.statistics = {Statistic::kSum}, .grouping = {}};
  EXPECT_TRUE(key(matrix, sum).has_value()) << "the whole of it is one group";
  EXPECT_EQ(key(matrix, {.statistics = {Statistic::kSum}, .grouping = {GroupingKind::kAxis0, {}}}),
            std::nullopt);
  EXPECT_EQ(key(matrix, {.statistics = {Statistic::kSum}, .grouping = {}, .return_states = true}),
            std::nullopt);
  // A maximum must not fail for the overflow of a sum that another reduction asked for.
  const ReductionSpec max{.statistics = {Statistic::kMax}, .grouping = {}};
  EXPECT_NE(key(matrix, sum), key(matrix, max));
  const auto floats = ArrayDescription::Vector(ElementType::kFloat32, 9);
  EXPECT_EQ(key(floats, sum), key(floats, max));
  EXPECT_NE(key(floats, sum), key(ArrayDescription::Vector(ElementType::kFloat32, 0), sum));
}

}  // namespace
}  // namespace gridfold::kernels
