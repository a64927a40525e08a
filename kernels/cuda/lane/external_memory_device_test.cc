// Memory of others on the device: host memory that is registered, also shared memory, and device
// memory of another process. Answers are those of the CPU engine on the same bytes.
#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kernels/contract/engine.h"
#include "kernels/cuda/lane/device_test.h"
#include "kernels/cuda/lane/external_memory.h"

namespace gridfold::kernels::cuda {
namespace {

constexpr uint64_t kElements = 3'000'001;
constexpr uint64_t kBytes = kElements * sizeof(float);

// Element i of what tests compute on: any thread or process makes the same.
std::vector<float> Samples() {
  std::vector<float> samples(kElements);
  std::mt19937 random(20261121);
  std::normal_distribution<float> normal(0, 1000);
  for (float& x : samples) x = normal(random);
  return samples;
}

// A page of which begins where the elements do, as a mapped object does.
class SharedPages {
 public:
  explicit SharedPages(uint64_t size_bytes)
      : size_bytes_(size_bytes),
        data_(
            mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    EXPECT_NE(data_, MAP_FAILED);
  }
  ~SharedPages() { munmap(data_, size_bytes_); }
  SharedPages(const SharedPages&) = delete;
  SharedPages& operator=(const SharedPages&) = delete;

  MutableHostSpan span() const { return {static_cast<std::byte*>(data_), size_bytes_}; }

 private:
  const uint64_t size_bytes_;
  void* const data_;
};

class ExternalMemoryTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped()) return;
    const LaneOptions options{.input_bytes_max = uint64_t{64} << 20,
                              .output_bytes_max = uint64_t{64} << 20,
                              .bin_count_max = 4096,
                              .group_count_max = 4096,
                              .resident_input_bytes_max = uint64_t{64} << 20};
    cuda_engine_ = CreateEngine({.kind = EngineKind::kCuda}).value();
    cpu_engine_ = CreateEngine({.kind = EngineKind::kCpu}).value();
    cuda_ = cuda_engine_->CreateLane(options).value();
    cpu_ = cpu_engine_->CreateLane(options).value();
  }

  static HostSpan SpanOf(const std::vector<float>& values) {
    return {reinterpret_cast<const std::byte*>(values.data()), values.size() * sizeof(float)};
  }

  // All operations on `count` elements at `input`, which are those at `expected_input`; results of
  // scans go to `output` or, where there is none, to the host.
  void ExpectSameAnswers(ResidentSpan input, HostSpan expected_input, uint64_t count,
                         const MutableResidentSpan* output) {
    const ArrayDescription array = ArrayDescription::Vector(ElementType::kFloat32, count);
    RunStatistics statistics;
    ReductionSpec statistics_wanted;
    statistics_wanted.statistics = {Statistic::kSum, Statistic::kMin, Statistic::kArgmax,
                                    Statistic::kVariance};
    const ReductionPlan reduction = PlanReduction(array, statistics_wanted).value();
    const auto sums = cuda_->RunReduction(reduction, input, {}, statistics);
    const auto expected_sums = cpu_->RunReduction(reduction, expected_input, {}, statistics);
    ASSERT_TRUE(sums.ok() && expected_sums.ok()) << sums.status() << expected_sums.status();
    for (size_t i = 0; i < sums->columns.size(); ++i) {
      EXPECT_EQ(sums->columns[i].slots, expected_sums->columns[i].slots) << i;
    }

    HistogramSpec bins;
    EvenBinsSpec even;
    even.bin_count = 100;
    bins.bins.push_back(even);
    const HistogramPlan histogram = PlanHistogram(array, bins, 4096).value();
    HistogramInput samples;
    samples.array = input;
    const auto counts = cuda_->RunHistogram(histogram, samples, {}, statistics);
    samples.array = expected_input;
    const auto expected_counts = cpu_->RunHistogram(histogram, samples, {}, statistics);
    ASSERT_TRUE(counts.ok() && expected_counts.ok()) << counts.status() << expected_counts.status();
    EXPECT_EQ(counts->channels[0].counts, expected_counts->channels[0].counts);

    for (const bool exact : {false, true}) {
      ScanSpec spec;
      spec.exact = exact;
      const ScanPlan scan = PlanScan(array, spec).value();
      std::vector<float> expected(count);
      const MutableHostSpan expected_place{reinterpret_cast<std::byte*>(expected.data()),
                                           count * sizeof(float)};
      ASSERT_TRUE(cpu_->RunScan(scan, expected_input, expected_place, {}, statistics).ok());
      std::vector<float> results(count);
      const MutableHostSpan place{reinterpret_cast<std::byte*>(results.data()),
                                  count * sizeof(float)};
      if (output == nullptr) {
        ASSERT_TRUE(cuda_->RunScan(scan, input, place, {}, statistics).ok());
      } else {
        ASSERT_TRUE(cuda_->RunScan(scan, input, *output, {}, statistics).ok());
        ASSERT_TRUE(cuda_->Copy(ResidentSpan(*output), place, {}).ok());
      }
      EXPECT_EQ(memcmp(results.data(), expected.data(), count * sizeof(float)), 0) << exact;
    }
  }

  std::unique_ptr<Engine> cuda_engine_;
  std::unique_ptr<Engine> cpu_engine_;
  std::unique_ptr<Lane> cuda_;
  std::unique_ptr<Lane> cpu_;
};

TEST_F(ExternalMemoryTest, RegisteredHostMemoryIsReadAndWrittenWhereItLies) {
  const std::vector<float> samples = Samples();
  SharedPages pages(2 * kBytes);
  memcpy(pages.span().data, samples.data(), kBytes);
  const EngineResources before = cuda_engine_->resources();
  {
    const auto memory = cuda_engine_->RegisterHostMemory(pages.span());
    ASSERT_TRUE(memory.ok()) << memory.status();
    EXPECT_EQ(cuda_engine_->resources().registered_bytes, before.registered_bytes + 2 * kBytes);
    const std::byte* const data = (*memory)->span().data;
    // At elements that no vector begins with, too.
    for (const uint64_t first : {0, 1, 3, 1000}) {
      const uint64_t count = kElements - first;
      const MutableResidentSpan output{(*memory)->span().data + kBytes, count * sizeof(float)};
      const ResidentSpan input{data + first * sizeof(float), count * sizeof(float)};
      const HostSpan expected{SpanOf(samples).data + first * sizeof(float), count * sizeof(float)};
      ExpectSameAnswers(input, expected, count, &output);
      ExpectSameAnswers(input, expected, count, nullptr);
    }
    // The last scan's first result, seen by the host without a copy.
    float result = 0;
    memcpy(&result, pages.span().data + kBytes, sizeof(result));
    EXPECT_EQ(result, samples[1000]);
    // Nothing was registered or allocated by jobs.
    EngineResources during = cuda_engine_->resources();
    EXPECT_EQ(during.registrations, before.registrations + 1);
    EXPECT_EQ(during.device_allocations, before.device_allocations);
    EXPECT_EQ(during.pinned_allocations, before.pinned_allocations);
  }
  EXPECT_EQ(cuda_engine_->resources().registered_bytes, before.registered_bytes);
  EXPECT_TRUE(cuda_engine_->Healthy());
  // It can be registered again, and unregistered memory is just memory.
  EXPECT_TRUE(cuda_engine_->RegisterHostMemory(pages.span()).ok());
  pages.span().data[0] = std::byte{1};
}

TEST_F(ExternalMemoryTest, WhatCannotBeRegisteredIsRefused) {
  SharedPages pages(1 << 20);
  const auto memory = cuda_engine_->RegisterHostMemory(pages.span());
  ASSERT_TRUE(memory.ok());
  EXPECT_TRUE(absl::IsResourceExhausted(cuda_engine_->RegisterHostMemory(pages.span()).status()));
  EXPECT_TRUE(cuda_engine_->Healthy());
  const ResidentSpan span{(*memory)->span().data, 4000};
  const std::vector<float> zeros(1000);
  ExpectSameAnswers(span, SpanOf(zeros), 1000, nullptr);
}

// The bytes of a caller are no handle: the driver says so, and the engine lives on.
TEST_F(ExternalMemoryTest, HandlesThatAreNone) {
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    IpcHandle handle = {};
    for (std::byte& b : handle) b = round == 0 ? std::byte{0} : static_cast<std::byte>(random());
    const auto memory = cuda_engine_->OpenIpcMemory(handle, 4);
    ASSERT_FALSE(memory.ok());
    EXPECT_TRUE(absl::IsInvalidArgument(memory.status())) << memory.status();
  }
  EXPECT_TRUE(cuda_engine_->Healthy());
  const std::vector<float> samples = Samples();
  SharedPages pages(kBytes);
  memcpy(pages.span().data, samples.data(), kBytes);
  const auto memory = cuda_engine_->RegisterHostMemory(pages.span());
  ASSERT_TRUE(memory.ok());
  ExpectSameAnswers((*memory)->span(), SpanOf(samples), kElements, nullptr);
}

// Handles cannot be opened by the process that made them, and a process that has used CUDA cannot
// go on in a fork of itself: so the test's program starts itself anew, with this variable set to
// the numbers of a pipe to write the handle to and one whose end to wait for.
constexpr char kExporterVariable[] = "GRIDFOLD_TEST_IPC_EXPORTER";

TEST(IpcExporterTest, ExportsMemoryForAnotherTest) {
  const char* const pipes = getenv(kExporterVariable);
  if (pipes == nullptr) return;
  int out = 0;
  int in = 0;
  ASSERT_EQ(sscanf(pipes, "%d,%d", &out, &in), 2);
  const DeviceArray<float> array{std::span<const float>(Samples())};
  cudaIpcMemHandle_t handle;
  ASSERT_EQ(cudaIpcGetMemHandle(&handle, array.data()), cudaSuccess);
  ASSERT_EQ(write(out, &handle, sizeof(handle)), static_cast<ssize_t>(sizeof(handle)));
  char end = 0;
  EXPECT_EQ(read(in, &end, 1), 0);
}

class Exporter {
 public:
  Exporter() {
    int to_test[2];
    int to_exporter[2];
    EXPECT_EQ(pipe(to_test), 0);
    EXPECT_EQ(pipe(to_exporter), 0);
    const std::string variable =
        absl::StrCat(kExporterVariable, "=", to_test[1], ",", to_exporter[0]);
    process_ = fork();
    if (process_ == 0) {
      // The exporter's own copy would keep the pipe that it waits for open.
      close(to_exporter[1]);
      putenv(const_cast<char*>(variable.c_str()));
      unsetenv("GTEST_TOTAL_SHARDS");  // The exporter's test may belong to another shard.
      unsetenv("GTEST_SHARD_INDEX");
      execl("/proc/self/exe", "exporter", "--gtest_filter=IpcExporterTest.*", nullptr);
      _exit(127);
    }
    close(to_test[1]);
    close(to_exporter[0]);
    ends_exporter_ = to_exporter[1];
    EXPECT_EQ(read(to_test[0], handle_.data(), handle_.size()),
              static_cast<ssize_t>(handle_.size()));
    close(to_test[0]);
  }
  ~Exporter() {
    close(ends_exporter_);
    int status = 0;
    waitpid(process_, &status, 0);
    EXPECT_EQ(status, 0);
  }
  Exporter(const Exporter&) = delete;
  Exporter& operator=(const Exporter&) = delete;

  const IpcHandle& handle() const { return handle_; }

 private:
  pid_t process_ = 0;
  int ends_exporter_ = 0;
  IpcHandle handle_ = {};
};

TEST_F(ExternalMemoryTest, DeviceMemoryOfAnotherProcess) {
  const Exporter exporter;
  const EngineResources before = cuda_engine_->resources();
  const std::vector<float> samples = Samples();
  {
    const auto memory = cuda_engine_->OpenIpcMemory(exporter.handle(), kBytes);
    ASSERT_TRUE(memory.ok()) << memory.status();
    EXPECT_EQ(cuda_engine_->resources().registered_bytes, before.registered_bytes + kBytes);
    ExpectSameAnswers((*memory)->span(), SpanOf(samples), kElements, nullptr);
  }
  EXPECT_EQ(cuda_engine_->resources().registered_bytes, before.registered_bytes);
  // More than there is, by far: allocations are rounded up.
  EXPECT_TRUE(absl::IsInvalidArgument(
      cuda_engine_->OpenIpcMemory(exporter.handle(), kBytes + (uint64_t{1} << 30)).status()));
  // Once more, and twice at a time.
  const auto first = cuda_engine_->OpenIpcMemory(exporter.handle(), kBytes);
  auto second = cuda_engine_->OpenIpcMemory(exporter.handle(), kBytes);
  ASSERT_TRUE(first.ok() && second.ok()) << first.status() << second.status();
  second = absl::CancelledError();
  ExpectSameAnswers((*first)->span(), SpanOf(samples), kElements, nullptr);
  EXPECT_TRUE(cuda_engine_->Healthy());
}

}  // namespace
}  // namespace gridfold::kernels::cuda
