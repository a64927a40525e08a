// What follows when a call of CUDA fails, for every call that jobs, lanes and pools make: the job
// fails with a status that says so, nothing is leaked, and the next job is answered as if nothing
// had been.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <numeric>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/contract/engine.h"
#include "kernels/cuda/device/fault_injection.h"
#include "kernels/cuda/lane/engine.h"

namespace gridfold::kernels::cuda {
namespace {

constexpr uint64_t kNoFault = ~uint64_t{0};
constexpr LaneOptions kLane{.input_bytes_max = 8 << 20,
                            .output_bytes_max = 8 << 20,
                            .bin_count_max = 1 << 18,
                            .group_count_max = 1 << 12,
                            .resident_input_bytes_max = 4 << 20};
// More than two pieces of staging would need larger lanes; jobs of both sizes have every call.
constexpr uint64_t kElements = 300'000;
// In mapped memory, from where the lane copies them in three parts.
constexpr uint64_t kMappedElements = 2'500'000;
constexpr uint64_t kPageBytes = 4096;

class CudaFaultTest : public testing::Test {
 protected:
  using Answer = std::vector<uint64_t>;
  struct NamedJob {
    std::string name;
    std::function<absl::StatusOr<Answer>(Lane&)> run;
  };

  void SetUp() override {
    if (CudaDeviceCount() == 0) GTEST_SKIP() << "there is no CUDA device";
    ArmFault(kNoFault, cudaSuccess);
    values_.resize(kElements);
    std::iota(values_.begin(), values_.end(), 1.0f);
    StartEngine();
  }
  void TearDown() override { ArmFault(kNoFault, cudaSuccess); }

  void StartEngine() {
    lane_.reset();
    engine_ = CreateCudaEngine(0).value();
    lane_ = engine_->CreateLane(kLane).value();
  }

  HostSpan input() const {
    const auto bytes = std::as_bytes(std::span(values_));
    return {bytes.data(), bytes.size()};
  }
  ArrayDescription array() const {
    return ArrayDescription::Vector(ElementType::kFloat32, kElements);
  }

  absl::StatusOr<Answer> Reduce(Lane& lane, std::vector<Statistic> statistics,
                                std::vector<uint64_t> offsets) {
    ReductionSpec spec;
    spec.statistics = std::move(statistics);
    if (!offsets.empty()) spec.grouping = {GroupingKind::kSegments, std::move(offsets)};
    const auto plan = PlanReduction(array(), spec);
    const auto result = lane.RunReduction(*plan, input(), std::stop_token(), statistics_);
    if (!result.ok()) return result.status();
    Answer answer;
    for (const StatisticColumn& column : result->columns) {
      answer.insert(answer.end(), column.slots.begin(), column.slots.end());
    }
    return answer;
  }

  absl::StatusOr<Answer> Scan(Lane& lane, bool exact, bool continues) {
    ScanSpec spec;
    spec.exact = exact;
    const auto plan = PlanScan(array(), spec);
    Answer answer(kElements / 2);
    const auto bytes = std::as_writable_bytes(std::span(answer));
    const MutableHostSpan output{bytes.data(), bytes.size()};
    ScanCarry carry;
    const absl::Status status =
        continues ? lane.ContinueScan(*plan, input(), output, carry, std::stop_token(), statistics_)
                  : lane.RunScan(*plan, input(), output, std::stop_token(), statistics_);
    if (!status.ok()) return status;
    return answer;
  }

  absl::StatusOr<Answer> Histogram(Lane& lane, uint64_t bin_count, bool has_range) {
    HistogramSpec spec;
    EvenBinsSpec even;
    even.bin_count = bin_count;
    if (has_range) {
      even.lower_bound = 0;
      even.upper_bound = kElements;
    }
    spec.bins = {even};
    const auto plan = PlanHistogram(array(), spec, kLane.bin_count_max);
    if (!plan.ok()) return plan.status();
    const auto result = lane.RunHistogram(*plan, {input(), {}, {}}, std::stop_token(), statistics_);
    if (!result.ok()) return result.status();
    return result->channels[0].counts;
  }

  absl::StatusOr<Answer> ReduceMapped(Lane& lane) {
    const auto array = ArrayDescription::Vector(ElementType::kFloat32, kMappedElements);
    ReductionSpec spec;
    spec.statistics = {Statistic::kSum, Statistic::kArgmax};
    const auto plan = PlanReduction(array, spec);
    const auto result = lane.RunReduction(*plan, mapped_->span(), std::stop_token(), statistics_);
    if (!result.ok()) return result.status();
    return Answer{result->columns[0].slots[0], result->columns[1].slots[0]};
  }

  absl::StatusOr<Answer> CountMapped(Lane& lane) {
    HistogramSpec spec;
    spec.bins = {EvenBinsSpec{100, 0, kMappedElements}};
    const auto plan =
        PlanHistogram(ArrayDescription::Vector(ElementType::kFloat32, kMappedElements), spec,
                      kLane.bin_count_max);
    const auto result =
        lane.RunHistogram(*plan, {mapped_->span(), {}, {}}, std::stop_token(), statistics_);
    if (!result.ok()) return result.status();
    return result->channels[0].counts;
  }

  absl::StatusOr<Answer> CopyThere(Lane& lane) {
    const auto memory = pool_->Allocate(input().size_bytes);
    if (!memory.ok()) return memory.status();
    Answer answer(kElements / 2);
    const auto bytes = std::as_writable_bytes(std::span(answer));
    absl::Status status = lane.Clear((*memory)->span(), std::stop_token());
    if (status.ok()) status = lane.Copy(input(), (*memory)->span(), std::stop_token());
    if (status.ok()) {
      status = lane.Copy((*memory)->span(), MutableHostSpan{bytes.data(), bytes.size()},
                         std::stop_token());
    }
    if (!status.ok()) return status;
    return answer;
  }

  // Sums of 60 rows, whose states stay and are merged: to four groups' and to 30.
  absl::StatusOr<Answer> MergeRows(Lane& lane, const ResidentMemory& elements,
                                   MutableResidentSpan room) {
    constexpr uint64_t kRows = 60;
    const auto plan_rows = [](uint64_t rows, bool return_states) {
      ReductionSpec spec;
      spec.statistics = {Statistic::kSum};
      spec.grouping.kind = GroupingKind::kAxis1;
      spec.return_states = return_states;
      return *PlanReduction(ArrayDescription::Matrix(ElementType::kFloat32, rows, kElements / rows),
                            spec);
    };
    const ReductionPlan rows = plan_rows(kRows, true);
    Answer answer;
    const auto add = [&](const absl::StatusOr<ReductionResult>& result) {
      if (!result.ok()) return result.status();
      const std::vector<uint64_t>& slots = result->columns[0].slots;
      answer.insert(answer.end(), slots.begin(), slots.end());
      return absl::OkStatus();
    };
    const auto reduce = [&] {
      return lane.ReduceInto(rows, ResidentSpan(elements.span()), room, {}, statistics_);
    };
    absl::Status status = reduce();
    if (status.ok()) {
      const StateGrid grid{.outer = 2, .parts = 15, .inner = 2, .part_size = kElements / kRows};
      status = add(lane.MergeStateGrid(plan_rows(4, false), grid, room, {}, statistics_));
    }
    if (status.ok()) status = reduce();
    if (status.ok()) {
      const uint64_t half = kRows / 2 * lane.ResidentStateBytes(rows);
      const ResidentStates parts[] = {{room, 0}, {{room.data + half, half}, 1}};
      status = add(lane.MergeStates(plan_rows(kRows / 2, false), 0, parts, {}));
    }
    if (!status.ok()) return status;
    return answer;
  }

  std::vector<NamedJob> Jobs() {
    const std::vector<Statistic> all = {Statistic::kSum, Statistic::kArgmin, Statistic::kVariance,
                                        Statistic::kProduct};
    return {
        {"sum", [this](Lane& lane) { return Reduce(lane, {Statistic::kSum}, {}); }},
        {"several", [this, all](Lane& lane) { return Reduce(lane, all, {}); }},
        {"segments",
         [this, all](Lane& lane) {
           return Reduce(lane, all, {0, 5, 100'000, kElements});
         }},
        {"scan", [this](Lane& lane) { return Scan(lane, false, false); }},
        {"exact scan", [this](Lane& lane) { return Scan(lane, true, false); }},
        {"continued scan", [this](Lane& lane) { return Scan(lane, false, true); }},
        {"histogram", [this](Lane& lane) { return Histogram(lane, 100, true); }},
        {"histogram of its own range", [this](Lane& lane) { return Histogram(lane, 100, false); }},
        {"histogram of many bins", [this](Lane& lane) { return Histogram(lane, 200'000, true); }},
    };
  }

  // Every call of `job` fails once with `error`; in between it is answered.
  void FailEveryCall(const NamedJob& job, cudaError_t error, absl::StatusCode code) {
    const absl::StatusOr<Answer> expected = job.run(*lane_);
    ASSERT_TRUE(expected.ok()) << job.name << expected.status();
    ArmFault(kNoFault, cudaSuccess);
    ASSERT_TRUE(job.run(*lane_).ok());
    const uint64_t calls = CountedCalls();
    ASSERT_GT(calls, 5u) << job.name;
    for (uint64_t call = 0; call < calls; ++call) {
      ArmFault(call, error);
      const absl::StatusOr<Answer> failed = job.run(*lane_);
      EXPECT_EQ(failed.status().code(), code) << job.name << ", call " << call;
      // A thread may come from another device, on which calls before this one would make a context.
      if (call == 0) {
        EXPECT_THAT(failed.status().message(), testing::HasSubstr("cudaSetDevice")) << job.name;
      }
      ArmFault(kNoFault, cudaSuccess);
      if (!engine_->Healthy()) StartEngine();
      const absl::StatusOr<Answer> answer = job.run(*lane_);
      ASSERT_TRUE(answer.ok()) << job.name << ", after call " << call << answer.status();
      EXPECT_EQ(*answer, *expected) << job.name << ", after call " << call;
    }
  }

  // Instead of every call of `job` an exception is thrown once; nothing it has begun goes on then.
  void ThrowAtEveryCall(const NamedJob& job) {
    const absl::StatusOr<Answer> expected = job.run(*lane_);
    ASSERT_TRUE(expected.ok()) << job.name << expected.status();
    ArmFault(kNoFault, cudaSuccess);
    ASSERT_TRUE(job.run(*lane_).ok());
    const uint64_t calls = CountedCalls();
    for (uint64_t call = 0; call < calls; ++call) {
      ArmFault(call, cudaErrorInvalidValue);
      const std::string name(job.run(*lane_).status().message());
      ArmFault(kNoFault, cudaSuccess);
      if (!engine_->Healthy()) StartEngine();
      const std::set<std::string> with_nothing_begun = {"cudaSetDevice", "cudaStreamSynchronize",
                                                        "cudaEventElapsedTime"};
      if (with_nothing_begun.contains(name.substr(0, name.find('(')))) continue;
      // Memory is zeroed again when the job has been waited for.
      if (name.find("zeroed_memory.h") != std::string::npos) continue;
      ArmException(call);
      EXPECT_THROW(job.run(*lane_).IgnoreError(), std::bad_alloc) << job.name << ", call " << call;
      EXPECT_GT(CountedCalls(), call + 1) << job.name << " has not waited after " << name;
      ArmFault(kNoFault, cudaSuccess);
      const absl::StatusOr<Answer> answer = job.run(*lane_);
      ASSERT_TRUE(answer.ok()) << job.name << ", after call " << call << answer.status();
      EXPECT_EQ(*answer, *expected) << job.name << ", after call " << call;
    }
  }

  std::vector<float> values_;
  RunStatistics statistics_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<ResidentPool> pool_;
  std::unique_ptr<ExternalMemory> mapped_;
  std::unique_ptr<Lane> lane_;
};

TEST_F(CudaFaultTest, EveryCallOfEveryJob) {
  for (const NamedJob& job : Jobs()) {
    FailEveryCall(job, cudaErrorInvalidValue, absl::StatusCode::kInternal);
    FailEveryCall(job, cudaErrorMemoryAllocation, absl::StatusCode::kResourceExhausted);
  }
}

TEST_F(CudaFaultTest, JobsThatEndByAnExceptionLeaveNothingUnderWay) {
  for (const NamedJob& job : Jobs()) ThrowAtEveryCall(job);
}

TEST_F(CudaFaultTest, EveryCallOfCopies) {
  pool_ = engine_->CreateResidentPool(8 << 20).value();
  const auto copy = [this](Lane& lane) { return CopyThere(lane); };
  FailEveryCall({"copy", copy}, cudaErrorInvalidValue, absl::StatusCode::kInternal);
  pool_.reset();
}

TEST_F(CudaFaultTest, EveryCallOfStatesThatStay) {
  pool_ = engine_->CreateResidentPool(8 << 20).value();
  const auto elements = pool_->Allocate(input().size_bytes).value();
  const auto states = pool_->Allocate(1 << 20).value();
  ASSERT_TRUE(lane_->Copy(input(), elements->span(), {}).ok());
  const NamedJob job = {"states",
                        [&](Lane& lane) { return MergeRows(lane, *elements, states->span()); }};
  FailEveryCall(job, cudaErrorInvalidValue, absl::StatusCode::kInternal);
  ThrowAtEveryCall(job);
}

TEST_F(CudaFaultTest, EveryCallOfJobsInParts) {
  std::vector<float> memory(kMappedElements + kPageBytes / sizeof(float));
  void* page = memory.data();
  size_t room_bytes = memory.size() * sizeof(float);
  std::align(kPageBytes, kMappedElements * sizeof(float), page, room_bytes);
  auto* const elements = static_cast<float*>(page);
  std::iota(elements, elements + kMappedElements, 1.0f);
  mapped_ =
      engine_->RegisterHostMemory({static_cast<std::byte*>(page), kMappedElements * sizeof(float)})
          .value();
  const NamedJob jobs[] = {
      {"sum in parts", [this](Lane& lane) { return ReduceMapped(lane); }},
      {"histogram in parts", [this](Lane& lane) { return CountMapped(lane); }}};
  for (const NamedJob& job : jobs) {
    FailEveryCall(job, cudaErrorInvalidValue, absl::StatusCode::kInternal);
    ThrowAtEveryCall(job);
  }
  mapped_.reset();
}

TEST_F(CudaFaultTest, LanesAndPoolsThatCannotBeMadeLeaveNothing) {
  const std::function<bool()> makers[] = {
      [this] { return engine_->CreateLane(kLane).ok(); },
      [this] { return engine_->CreateResidentPool(1 << 20).ok(); },
  };
  for (const auto& make : makers) {
    const EngineResources before = engine_->resources();
    ArmFault(kNoFault, cudaSuccess);
    ASSERT_TRUE(make());
    const uint64_t calls = CountedCalls();
    ASSERT_GT(calls, 0u);
    for (uint64_t call = 0; call < calls; ++call) {
      ArmFault(call, cudaErrorMemoryAllocation);
      EXPECT_FALSE(make()) << "call " << call;
      EXPECT_EQ(engine_->resources().device_bytes, before.device_bytes) << "call " << call;
      EXPECT_EQ(engine_->resources().pinned_bytes, before.pinned_bytes) << "call " << call;
    }
    ArmFault(kNoFault, cudaSuccess);
    EXPECT_TRUE(make());
  }
}

TEST_F(CudaFaultTest, AnErrorThatLosesTheDeviceIsSeen) {
  const NamedJob job = Jobs()[0];
  ASSERT_TRUE(job.run(*lane_).ok());
  ASSERT_TRUE(engine_->Healthy());
  ArmFault(3, cudaErrorIllegalAddress);
  EXPECT_EQ(job.run(*lane_).status().code(), absl::StatusCode::kInternal);
  EXPECT_FALSE(engine_->Healthy());
}

}  // namespace
}  // namespace gridfold::kernels::cuda
