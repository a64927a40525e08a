// A server at work, over sockets: it takes no device memory, pinned memory or stream beyond what it
// took at the start, and when the work is done everything is as it was.
#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <vector>

#include "server/testing/array_caller.h"
#include "server/testing/test_server.h"

namespace gridfold::server {
namespace {

constexpr int kClientCount = 6;
constexpr int kRoundsPerClient = 25;

// One client: everything that the services offer, in sizes around those at which engines change
// their ways.
class Worker {
 public:
  Worker(TestServer& server, int seed)
      : caller_(server, "tenant" + std::to_string(seed % 3)), random_(seed), seed_(seed) {}

  void Work() {
    for (int round = 0; round < kRoundsPerClient; ++round) {
      values_.assign(RandomSize(), static_cast<float>(round));
      UseInline();
      UseResident("array-" + std::to_string(seed_));
      if (testing::Test::HasFailure()) return;
    }
  }

 private:
  size_t RandomSize() {
    const size_t sizes[] = {0, 1, 33, 1024, 4099, 100'000, 1'000'003};
    return sizes[random_() % std::size(sizes)];
  }

  v1::ReduceArrayRequest Reduction(v1::ArraySource array) {
    v1::ReduceArrayRequest request;
    *request.mutable_array() = std::move(array);
    request.add_statistics(v1::STATISTIC_SUM);
    request.add_statistics(v1::STATISTIC_COUNT);
    // Products of floating-point numbers have no accumulator.
    request.set_return_accumulator(random_() % 2 == 0);
    if (!request.return_accumulator()) request.add_statistics(v1::STATISTIC_PRODUCT);
    return request;
  }
  v1::ScanArrayRequest Scan(v1::ArraySource array) {
    v1::ScanArrayRequest request;
    *request.mutable_array() = std::move(array);
    request.set_operation(v1::SCAN_OPERATION_SUM);
    request.set_exact(random_() % 2 == 0);
    return request;
  }
  v1::ComputeHistogramRequest Histogram(v1::ArraySource array) {
    v1::ComputeHistogramRequest request;
    *request.mutable_array() = std::move(array);
    v1::EvenBins& bins = *request.add_bins()->mutable_even();
    const uint64_t counts[] = {10, 300, 100'000};
    bins.set_bin_count(counts[random_() % std::size(counts)]);
    bins.set_lower_bound(-1);
    bins.set_upper_bound(100);
    return request;
  }

  void ExpectOk(const grpc::Status& status) { EXPECT_TRUE(status.ok()) << status.error_message(); }

  void UseInline() {
    const v1::ArraySource array = ArrayOf(v1::ELEMENT_TYPE_FLOAT32, values_);
    ExpectOk(caller_.Compute(Reduction(array)));
    ExpectOk(caller_.Compute(Scan(array)));
    ExpectOk(caller_.Compute(Histogram(array)));
  }

  void UseResident(const std::string& name) {
    caller_.Put(name, v1::ELEMENT_TYPE_FLOAT32, {values_.size()}, values_);
    ExpectOk(caller_.Compute(Reduction(Resident(name))));
    ExpectOk(caller_.Compute(Histogram(Resident(name))));
    v1::ScanArrayRequest scan = Scan(Resident(name));
    scan.mutable_destination()->mutable_in_place();
    ExpectOk(caller_.Compute(scan));
    scan.mutable_destination()->mutable_resident_array()->set_name(name + "-scanned");
    ExpectOk(caller_.Compute(scan));
    EXPECT_EQ(caller_.ReadBytes(Resident(name + "-scanned")).size(),
              values_.size() * sizeof(float));
    ExpectOk(caller_.Delete(name));
    ExpectOk(caller_.Delete(name + "-scanned"));
  }

  ArrayCaller caller_;
  std::minstd_rand random_;
  const int seed_;
  std::vector<float> values_;
};

class SteadyStateTest : public testing::TestWithParam<kernels::EngineKind> {
 protected:
  void SetUp() override {
    if (GetParam() == kernels::EngineKind::kCuda && !kernels::CudaDeviceAvailable()) {
      GTEST_SKIP() << "there is no CUDA device";
    }
    auto engines = kernels::CreateEngines({.kind = GetParam()});
    ASSERT_TRUE(engines.ok()) << engines.status();
    engines_ = *std::move(engines);
  }

  std::vector<std::unique_ptr<kernels::Engine>> engines_;
};

TEST_P(SteadyStateTest, WorkTakesNothingThatStays) {
  std::vector<kernels::Engine*> engines;
  for (const auto& engine : engines_) engines.push_back(engine.get());
  Limits limits;
  limits.message_bytes_max = 16 * kMiB;
  limits.resident_bytes_max = 256 * kMiB;
  TestServer server(engines, limits);
  const kernels::EngineResources at_start = engines.front()->resources();
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < kClientCount; ++i) {
      clients.emplace_back([&server, i] { Worker(server, i).Work(); });
    }
  }
  EXPECT_EQ(engines.front()->resources(), at_start);
  // An answer is on its way before the last lease ends.
  while (server.GetStatistics().resident_bytes() > 0) std::this_thread::yield();
  const v1::GetStatisticsResponse statistics = server.GetStatistics();
  EXPECT_GE(statistics.jobs_accepted(), uint64_t{kClientCount} * kRoundsPerClient * 8);
  EXPECT_EQ(statistics.jobs_succeeded(), statistics.jobs_accepted());
  EXPECT_EQ(statistics.jobs_refused(), 0u);
  EXPECT_EQ(statistics.jobs_queued(), 0u);
  EXPECT_EQ(statistics.bytes_queued(), 0u);
  EXPECT_EQ(statistics.lanes_busy(), 0u);
  EXPECT_EQ(statistics.resident_array_count(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Cpu, SteadyStateTest, testing::Values(kernels::EngineKind::kCpu));
INSTANTIATE_TEST_SUITE_P(Cuda, SteadyStateTest, testing::Values(kernels::EngineKind::kCuda));

}  // namespace
}  // namespace gridfold::server
