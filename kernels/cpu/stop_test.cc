// What is not done after a stop: every kind of operation, on one thread and on several, ends soon
// after it is told to, and does not begin where it has been told before. Work is measured by the
// processor's time of the process, which no other program on the machine disturbs.
#include <gtest/gtest.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/cpu/cpu_engine.h"

namespace gridfold::kernels {
namespace {

constexpr uint64_t kRows = 1 << 13;
constexpr uint64_t kColumns = 1 << 11;
constexpr uint64_t kCount = kRows * kColumns;
constexpr uint64_t kMany = uint64_t{1} << 30;

// Processor time of all threads.
std::chrono::nanoseconds TimeUsed() {
  timespec time = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

const std::vector<float>& Values() {
  static const auto* const values = [] {
    auto* const made = new std::vector<float>(kCount);
    for (uint64_t i = 0; i < kCount; ++i) {
      (*made)[i] = 1 + static_cast<float>(i * 2654435761u % 1000) / 4096;
    }
    return made;
  }();
  return *values;
}
HostSpan Input() { return {reinterpret_cast<const std::byte*>(Values().data()), kCount * 4}; }

ArrayDescription Vector() { return ArrayDescription::Vector(ElementType::kFloat32, kCount); }
ArrayDescription Matrix() {
  return ArrayDescription::Matrix(ElementType::kFloat32, kRows, kColumns);
}

GroupingSpec Segments() {
  GroupingSpec grouping{GroupingKind::kSegments, {0}};
  for (uint64_t g = 1; g <= 16; ++g) grouping.offsets.push_back(kCount / 16 * g);
  return grouping;
}

struct Operation {
  std::string name;
  // CANCELLED, or OK where it came to its end.
  std::function<absl::Status(Lane&, std::stop_token)> run;
};

Operation Reduction(const std::string& name, std::vector<Statistic> statistics,
                    GroupingSpec grouping = {}, bool return_states = false) {
  const auto array =
      grouping.kind == GroupingKind::kWhole || grouping.kind == GroupingKind::kSegments ? Vector()
                                                                                        : Matrix();
  ReductionSpec spec;
  spec.statistics = std::move(statistics);
  spec.grouping = std::move(grouping);
  spec.return_states = return_states;
  return {name, [plan = PlanReduction(array, spec).value()](Lane& lane, std::stop_token stop) {
            RunStatistics run;
            return lane.RunReduction(plan, Input(), std::move(stop), run).status();
          }};
}

// Fields of a specification that differ from its defaults, set by a function.
template <class Spec>
using Change = std::function<void(Spec&)>;

Operation Scan(const std::string& name, const Change<ScanSpec>& change) {
  ScanSpec spec;
  change(spec);
  const bool is_matrix =
      spec.grouping.kind == GroupingKind::kAxis0 || spec.grouping.kind == GroupingKind::kAxis1;
  return {name, [plan = PlanScan(is_matrix ? Matrix() : Vector(), spec).value()](
                    Lane& lane, std::stop_token stop) {
            std::vector<std::byte> output(plan.output_size_bytes());
            RunStatistics run;
            return lane.RunScan(plan, Input(), MutableHostSpan{output.data(), output.size()},
                                std::move(stop), run);
          }};
}

Operation Histogram(
    const std::string& name, BinSpec bins,
    const Change<HistogramSpec>& change = [](HistogramSpec&) {}) {
  HistogramSpec spec;
  spec.bins = {std::move(bins)};
  change(spec);
  return {name,
          [plan = PlanHistogram(Vector(), spec, kMany).value()](Lane& lane, std::stop_token stop) {
            HistogramInput input;
            input.array = Input();
            if (plan.two_dimensional) input.y_array = Input();
            if (plan.weight_type) input.weights = Input();
            RunStatistics run;
            return lane.RunHistogram(plan, input, std::move(stop), run).status();
          }};
}

// The CPU engine copies and clears a few MiB between two looks.
Operation Copy() {
  return {"copy", [](Lane& lane, std::stop_token stop) {
            static auto* const output = new std::vector<std::byte>(kCount * 4);
            absl::Status status;
            for (int i = 0; status.ok() && i < 4; ++i) {
              status = lane.Copy(Input(), MutableHostSpan{output->data(), output->size()}, stop);
            }
            return status;
          }};
}
Operation Clear() {
  return {"clear", [](Lane& lane, std::stop_token stop) {
            static auto* const memory = new std::vector<std::byte>(kCount * 16, std::byte{1});
            return lane.Clear({memory->data(), memory->size()}, std::move(stop));
          }};
}

std::vector<Operation> AllOperations() {
  const GroupingSpec columns{GroupingKind::kAxis0, {}};
  const GroupingSpec rows{GroupingKind::kAxis1, {}};
  const EvenBinsSpec even{100, 1.0, 1.3};
  std::vector<double> edges;
  for (int i = 0; i <= 100; ++i) edges.push_back(1 + 0.3 * std::sqrt(i / 100.0));
  return {
      Reduction("sum", {Statistic::kSum}),
      Reduction("moments", {Statistic::kVariance, Statistic::kMax}),
      Reduction("product", {Statistic::kProduct}),
      Reduction("sum_of_columns", {Statistic::kSum}, columns),
      Reduction("product_of_columns", {Statistic::kProduct}, columns),
      Reduction("sum_of_rows", {Statistic::kSum}, rows),
      Reduction("sum_of_segments", {Statistic::kSum}, Segments()),
      Reduction("states_of_rows", {Statistic::kSum}, rows, true),
      Scan("scan", [](ScanSpec&) {}),
      Scan("scan_backwards", [](ScanSpec& s) { s.direction = ScanDirection::kReverse; }),
      Scan("scan_exact", [](ScanSpec& s) { s.exact = true; }),
      Scan("scan_product", [](ScanSpec& s) { s.operation = ScanOperation::kProduct; }),
      Scan("scan_maximum", [](ScanSpec& s) { s.operation = ScanOperation::kMax; }),
      Scan("scan_of_columns", [&](ScanSpec& s) { s.grouping = columns; }),
      Scan("scan_exact_of_columns",
           [&](ScanSpec& s) {
             s.grouping = columns;
             s.exact = true;
           }),
      Scan("scan_of_rows", [&](ScanSpec& s) { s.grouping = rows; }),
      Scan("scan_of_segments", [&](ScanSpec& s) { s.grouping = Segments(); }),
      Histogram("histogram", even),
      Histogram("histogram_of_its_range", EvenBinsSpec{100, {}, {}}),
      Histogram("histogram_of_edges", EdgeBinsSpec{edges}),
      Histogram("histogram_of_channels", even, [](HistogramSpec& s) { s.channel_count = 4; }),
      Histogram("histogram_of_many_bins", EvenBinsSpec{1 << 22, 1.0, 1.3}),
      Histogram("histogram_of_two", even, [](HistogramSpec& s) { s.two_dimensional = true; }),
      Histogram("histogram_of_weights", even,
                [](HistogramSpec& s) { s.weight_type = ElementType::kFloat32; }),
      Copy(),
      Clear(),
  };
}

class StopTest : public testing::TestWithParam<int> {
 protected:
  // Runs the operation, and has it stopped when the process has used so much processor time more.
  absl::Status RunUntil(const Operation& operation, std::chrono::nanoseconds used) {
    std::stop_source source;
    std::atomic<bool> ended = false;
    const auto end = TimeUsed() + used;
    std::thread stopper([&] {
      while (!ended && TimeUsed() < end) std::this_thread::sleep_for(std::chrono::microseconds(50));
      source.request_stop();
    });
    const absl::Status status = operation.run(*lane_, source.get_token());
    ended = true;
    stopper.join();
    return status;
  }

  const std::unique_ptr<Engine> engine_ = CreateCpuEngine(GetParam()).value();
  const std::unique_ptr<Lane> lane_ = engine_->CreateLane({kMany, kMany, kMany, kMany}).value();
};

TEST_P(StopTest, WhatIsToldBeforeDoesNotBegin) {
  std::stop_source source;
  source.request_stop();
  for (const Operation& operation : AllOperations()) {
    EXPECT_TRUE(absl::IsCancelled(operation.run(*lane_, source.get_token()))) << operation.name;
  }
}

TEST_P(StopTest, WhatIsToldMeanwhileEndsSoon) {
  Values();
  for (const Operation& operation : AllOperations()) {
    ASSERT_TRUE(operation.run(*lane_, {}).ok()) << operation.name;
    const auto before = TimeUsed();
    ASSERT_TRUE(operation.run(*lane_, {}).ok()) << operation.name;
    const auto whole = TimeUsed() - before;
    // One that was at its end before it could be told is tried again.
    std::chrono::nanoseconds used = whole;
    absl::Status status;
    for (int attempt = 0; attempt < 10 && !(absl::IsCancelled(status) && used < whole * 2 / 3);
         ++attempt) {
      const auto begin = TimeUsed();
      status = RunUntil(operation, whole / 8);
      used = TimeUsed() - begin;
    }
    EXPECT_TRUE(absl::IsCancelled(status)) << operation.name << ": " << status;
    EXPECT_LT(used, whole * 2 / 3) << operation.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, StopTest, testing::Values(1, 3));

}  // namespace
}  // namespace gridfold::kernels
