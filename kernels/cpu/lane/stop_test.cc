// What is not done after a stop: every kind of operation, on one thread and on several, goes no
// further than what it was at, and does not begin where it was stopped before. Some pages of the
// input tell when they are first touched: the first one stops the job, and the others count.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cpu/lane/engine.h"

namespace gridfold::kernels::cpu {
namespace {

// Rows are so long that strips of columns are far apart.
constexpr uint64_t kRows = 1 << 6;
constexpr uint64_t kColumns = 1 << 18;
constexpr uint64_t kCount = kRows * kColumns;
constexpr uint64_t kBytes = kCount * sizeof(float);
constexpr uint64_t kMany = uint64_t{1} << 30;
constexpr uint64_t kPageBytes = 4096;
constexpr int kWatchedCount = 16;

// Memory of the size of the input, some pages of which are watched.
class WatchedMemory {
 public:
  WatchedMemory()
      : data_(static_cast<std::byte*>(
            mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    for (uint64_t i = 0; i < kCount; ++i) {
      const float value = 1 + static_cast<float>(i * 2654435761u % 1000) / 4096;
      std::memcpy(data_ + i * sizeof(value), &value, sizeof(value));
    }
  }
  ~WatchedMemory() { munmap(data_, kBytes); }

  std::byte* data() const { return data_; }

  // From now on pages at equal distances in the first `bytes` are watched: the first that is
  // touched stops the job.
  void Watch(uint64_t bytes, std::stop_source& source) {
    source_ = &source;
    touched_count_ = 0;
    watched_ = this;
    struct sigaction action = {};
    action.sa_sigaction = OnFault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &action, nullptr);
    for (int i = 0; i < kWatchedCount; ++i) {
      // Not the very first: whoever looks at the beginning has not begun.
      pages_[i] =
          data_ + (bytes / kWatchedCount * i + bytes / kWatchedCount / 2) / kPageBytes * kPageBytes;
      is_closed_[i] = true;
      mprotect(pages_[i], kPageBytes, PROT_NONE);
    }
  }

  // How many were touched.
  int Unwatch() {
    for (std::byte* const page : pages_) mprotect(page, kPageBytes, PROT_READ | PROT_WRITE);
    signal(SIGSEGV, SIG_DFL);
    return touched_count_;
  }

 private:
  static void OnFault(int, siginfo_t* info, void*) {
    const auto* const address = static_cast<std::byte*>(info->si_addr);
    WatchedMemory& memory = *watched_;
    for (int i = 0; i < kWatchedCount; ++i) {
      if (address < memory.pages_[i] || address >= memory.pages_[i] + kPageBytes) continue;
      // Several threads may be here at once.
      if (memory.is_closed_[i].exchange(false)) {
        ++memory.touched_count_;
        memory.source_->request_stop();
      }
      mprotect(memory.pages_[i], kPageBytes, PROT_READ | PROT_WRITE);
      return;
    }
    // Somebody else's.
    signal(SIGSEGV, SIG_DFL);
  }

  static WatchedMemory* watched_;

  std::byte* const data_;
  std::stop_source* source_ = nullptr;
  std::array<std::byte*, kWatchedCount> pages_{};
  std::array<std::atomic<bool>, kWatchedCount> is_closed_{};
  std::atomic<int> touched_count_ = 0;
};

WatchedMemory* WatchedMemory::watched_ = nullptr;

WatchedMemory& Memory() {
  static auto* const memory = new WatchedMemory;
  return *memory;
}
HostSpan Input() { return {Memory().data(), kBytes}; }
MutableHostSpan Output() {
  static auto* const output = new std::vector<std::byte>(2 * kBytes);
  return {output->data(), output->size()};
}

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
  // Columns are worked on in strips, each of which has all rows.
  bool in_strips = false;
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
  const bool in_strips = spec.grouping.kind == GroupingKind::kAxis0;
  return {name, in_strips,
          [plan = PlanReduction(array, spec).value()](Lane& lane, std::stop_token stop) {
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
  const bool in_strips = spec.grouping.kind == GroupingKind::kAxis0;
  return {name, in_strips,
          [plan = PlanScan(is_matrix ? Matrix() : Vector(), spec).value()](Lane& lane,
                                                                           std::stop_token stop) {
            RunStatistics run;
            return lane.RunScan(plan, Input(),
                                MutableHostSpan{Output().data, plan.output_size_bytes()},
                                std::move(stop), run);
          }};
}

Operation Histogram(
    const std::string& name, BinSpec bins,
    const Change<HistogramSpec>& change = [](HistogramSpec&) {}) {
  HistogramSpec spec;
  spec.bins = {std::move(bins)};
  change(spec);
  return {name, false,
          [plan = PlanHistogram(Vector(), spec, kMany).value()](Lane& lane, std::stop_token stop) {
            HistogramInput input;
            input.array = Input();
            if (plan.two_dimensional) input.y_array = Input();
            if (plan.weight_type) input.weights = Input();
            RunStatistics run;
            return lane.RunHistogram(plan, input, std::move(stop), run).status();
          }};
}

Operation Copy() {
  return {"copy", false, [](Lane& lane, std::stop_token stop) {
            return lane.Copy(Input(), MutableHostSpan{Output().data, kBytes}, std::move(stop));
          }};
}
Operation Clear() {
  return {"clear", false, [](Lane& lane, std::stop_token stop) {
            return lane.Clear({Memory().data(), kBytes}, std::move(stop));
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
  // How many of the watched pages the operation touches; what it ends with is left in `status_`.
  int Run(const Operation& operation, std::stop_source& source) {
    Memory().Watch(operation.in_strips ? kColumns * sizeof(float) : kBytes, source);
    status_ = operation.run(*lane_, source.get_token());
    return Memory().Unwatch();
  }

  const std::unique_ptr<Engine> engine_ = CreateCpuEngine(GetParam()).value();
  const std::unique_ptr<Lane> lane_ = engine_->CreateLane({kMany, kMany, kMany, kMany}).value();
  absl::Status status_;
};

TEST_P(StopTest, WhatIsStoppedBeforeDoesNotBegin) {
  for (const Operation& operation : AllOperations()) {
    std::stop_source source;
    source.request_stop();
    EXPECT_EQ(Run(operation, source), 0) << operation.name;
    EXPECT_TRUE(absl::IsCancelled(status_)) << operation.name << ": " << status_;
  }
}

TEST_P(StopTest, WhatIsStoppedMeanwhileEndsWhereItIs) {
  for (const Operation& operation : AllOperations()) {
    std::stop_source source;
    const int touched = Run(operation, source);
    EXPECT_GE(touched, 1) << operation.name;
    // Each thread goes on to the end of a piece.
    EXPECT_LE(touched, kWatchedCount / 2) << operation.name;
    EXPECT_TRUE(absl::IsCancelled(status_)) << operation.name << ": " << status_;
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, StopTest, testing::Values(1, 3));

}  // namespace
}  // namespace gridfold::kernels::cpu
