// What clients and the world do to a server: connections that break in mid-call, cancellations that
// race with completion, deadlines at every stage, arrays that are deleted in use. Whatever comes,
// other callers get their answers, nothing is leaked, and the server says that it is well.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/testing/cutting_proxy.h"
#include "server/testing/test_server.h"

// For ThreadSanitizer. Callers here write and read the same elements of arrays at once, on purpose:
// what is read then is unspecified, and nothing else. All that writes them is CpuLane::Copy, which
// goes by its short name where it stands in an unnamed namespace; where its stack is forgotten by
// then, they are known by the kernel that reads them.
extern "C" const char* __tsan_default_suppressions() {
  return "race:^Copy$\n"
         "race:^void gridfold::kernels::cpu::RunForProcessor<\n"
         "race:^gridfold::kernels::cpu::BriefReduction<*>::ReduceBlock(\n"
         "race:^gridfold::kernels::cpu::ContiguousScan<*>::Total(\n"
         "race:^gridfold::kernels::cpu::ContiguousScan<*>::Write(\n";
}

namespace gridfold::server {
namespace {

using grpc::StatusCode;
using std::chrono::microseconds;
using testing::AnyOf;
using testing::Eq;

constexpr uint64_t kArrayElements = 50'000;

// A sanitizer makes calls ten times as slow: with one, each test makes so many times fewer.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kFewer = 10;
#else
constexpr int kFewer = 1;
#endif

// A sum over so many ones.
v1::ReduceArrayRequest SumOfOnes(uint64_t count) {
  v1::ReduceArrayRequest request;
  *request.mutable_array() =
      ArrayOf<float>(v1::ELEMENT_TYPE_FLOAT32, std::vector<float>(count, 1.0f));
  request.add_statistics(v1::STATISTIC_SUM);
  return request;
}

double SumOf(const v1::ReduceArrayResponse& response) {
  return response.results(0).values().double_values().values(0);
}

class FaultTest : public testing::TestWithParam<kernels::EngineKind> {
 protected:
  void SetUp() override {
    if (GetParam() == kernels::EngineKind::kCuda && !kernels::CudaDeviceAvailable()) {
      GTEST_SKIP() << "there is no CUDA device";
    }
    engine_ =
        kernels::CreateEngine({.kind = GetParam(), .cpu_threads = 0, .cuda_device = 0}).value();
    server_ = std::make_unique<TestServer>(*engine_);
    witness_ = std::thread([this] { Witness(); });
  }

  void TearDown() override {
    if (server_ == nullptr) return;
    stop_witness_ = true;
    witness_.join();
    EXPECT_GT(witnessed_, 0);
    ExpectIdle();
    ExpectServing();
  }

  // Somebody whom nothing of this may concern.
  void Witness() {
    const auto stub = v1::ComputeService::NewStub(server_->channel());
    const v1::ReduceArrayRequest request = SmallReduction();
    while (!stop_witness_) {
      grpc::ClientContext context;
      v1::ReduceArrayResponse response;
      const grpc::Status status = stub->ReduceArray(&context, request, &response);
      ASSERT_TRUE(status.ok()) << status.error_message();
      ASSERT_EQ(response.results(0).values().int64_values().values(0), 6);
      ++witnessed_;
    }
  }

  // Every job has ended and nothing is kept.
  void ExpectIdle() {
    v1::GetStatisticsResponse now;
    for (int i = 0; i < 500; ++i) {
      now = server_->GetStatistics();
      if (now.jobs_accepted() == now.jobs_succeeded() + now.jobs_failed() + now.jobs_cancelled() &&
          now.resident_bytes() == 0) {
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(now.jobs_accepted(), now.jobs_succeeded() + now.jobs_failed() + now.jobs_cancelled());
    EXPECT_EQ(now.jobs_queued(), 0u);
    EXPECT_EQ(now.resident_array_count(), 0u);
    EXPECT_EQ(now.resident_bytes(), 0u);
  }

  void ExpectServing() {
    const RawAnswer health =
        CallRaw(server_->channel(), "/grpc.health.v1.Health/Check", std::string());
    EXPECT_TRUE(health.status.ok());
    EXPECT_EQ(health.message, std::string("\x08\x01", 2));  // SERVING
  }

  void CreateArray(const std::string& name) {
    v1::CreateArrayRequest request;
    request.set_name(name);
    request.set_element_type(v1::ELEMENT_TYPE_FLOAT32);
    request.add_shape(kArrayElements);
    grpc::ClientContext context;
    v1::CreateArrayResponse response;
    ASSERT_TRUE(server_->arrays().CreateArray(&context, request, &response).ok());
  }
  void DeleteArray(const std::string& name) {
    v1::DeleteArrayRequest request;
    request.set_name(name);
    grpc::ClientContext context;
    v1::DeleteArrayResponse response;
    ASSERT_TRUE(server_->arrays().DeleteArray(&context, request, &response).ok());
  }

  std::unique_ptr<kernels::Engine> engine_;
  std::unique_ptr<TestServer> server_;
  std::thread witness_;
  std::atomic<bool> stop_witness_ = false;
  std::atomic<int> witnessed_ = 0;
};

// Calls by a channel of its own that end when its connection does.
class DoomedClient {
 public:
  explicit DoomedClient(int port) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    channel_ = grpc::CreateCustomChannel(absl::StrCat("127.0.0.1:", port),
                                         grpc::InsecureChannelCredentials(), arguments);
  }

  grpc::Status Reduce() {
    grpc::ClientContext context;
    v1::ReduceArrayResponse response;
    return v1::ComputeService::NewStub(channel_)->ReduceArray(&context, SumOfOnes(kArrayElements),
                                                              &response);
  }

  grpc::Status Write(const std::string& array) {
    grpc::ClientContext context;
    v1::WriteArrayResponse response;
    const auto stub = v1::ArrayService::NewStub(channel_);
    const auto writer = stub->WriteArray(&context, &response);
    v1::WriteArrayRequest message;
    message.mutable_header()->set_name(array);
    message.set_data(std::string(20'000, 'x'));
    for (int i = 0; i < 10 && writer->Write(message); ++i) message.clear_header();
    writer->WritesDone();
    return writer->Finish();
  }

  grpc::Status Read(const std::string& array) {
    grpc::ClientContext context;
    v1::ReadArrayRequest request;
    request.mutable_array()->set_name(array);
    request.set_chunk_bytes_max(4000);
    const auto stub = v1::ArrayService::NewStub(channel_);
    const auto reader = stub->ReadArray(&context, request);
    v1::ReadArrayResponse message;
    while (reader->Read(&message)) {
    }
    return reader->Finish();
  }

  grpc::Status StreamReduction() {
    grpc::ClientContext context;
    v1::ReduceStreamResponse response;
    const auto stub = v1::ComputeService::NewStub(channel_);
    const auto writer = stub->ReduceStream(&context, &response);
    v1::ReduceStreamRequest message;
    SetStreamedArray(*message.mutable_request()->mutable_array());
    message.mutable_request()->add_statistics(v1::STATISTIC_SUM);
    message.set_data(std::string(20'000, 'x'));
    for (int i = 0; i < 10 && writer->Write(message); ++i) message.clear_request();
    writer->WritesDone();
    return writer->Finish();
  }

  grpc::Status StreamScan() {
    grpc::ClientContext context;
    const auto stub = v1::ComputeService::NewStub(channel_);
    const auto stream = stub->ScanStream(&context);
    v1::ScanStreamRequest message;
    SetStreamedArray(*message.mutable_request()->mutable_array());
    message.mutable_request()->set_operation(v1::SCAN_OPERATION_MAX);
    message.set_data(std::string(40'000, 'x'));
    for (int i = 0; i < 5 && stream->Write(message); ++i) message.clear_request();
    stream->WritesDone();
    v1::ScanStreamResponse results;
    while (stream->Read(&results)) {
    }
    return stream->Finish();
  }

 private:
  static void SetStreamedArray(v1::ArraySource& array) {
    array.mutable_streamed_array()->set_element_type(v1::ELEMENT_TYPE_FLOAT32);
  }

  std::shared_ptr<grpc::Channel> channel_;
};

TEST_P(FaultTest, ConnectionsBreakInMidCall) {
  constexpr int kClients = 1000 / kFewer;
  constexpr int kThreads = 4;
  CreateArray("shared");
  std::atomic<int> broken = 0;
  std::atomic<int> complete = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < kClients / kThreads; ++i) {
        // Anywhere from the handshake to after the last byte.
        CuttingProxy proxy(server_->server().port(), 1 + random() % 250'000);
        DoomedClient client(proxy.port());
        const std::function<grpc::Status()> calls[] = {
            [&] { return client.Reduce(); }, [&] { return client.Write("shared"); },
            [&] { return client.Read("shared"); }, [&] { return client.StreamReduction(); },
            [&] { return client.StreamScan(); }};
        const grpc::Status status = calls[random() % std::size(calls)]();
        ++(status.ok() ? complete : broken);
        if (!status.ok()) {
          EXPECT_EQ(status.error_code(), StatusCode::UNAVAILABLE) << status.error_message();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(broken, kClients / 4);
  EXPECT_GT(complete, 0);
  DeleteArray("shared");
}

TEST_P(FaultTest, CancellationsRaceWithCompletion) {
  constexpr int kCalls = 10'000 / kFewer;
  constexpr int kThreads = 8;
  std::atomic<int> answered = 0;
  std::atomic<int> cancelled = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      const v1::ReduceArrayRequest request = SumOfOnes(3000);
      // Follows the time that a call takes, so that about half of them are answered on any machine.
      microseconds patience(1500);
      for (int i = 0; i < kCalls / kThreads; ++i) {
        grpc::ClientContext context;
        v1::ReduceArrayResponse response;
        std::mutex mutex;
        std::condition_variable ended;
        std::optional<grpc::Status> result;
        server_->compute().async()->ReduceArray(&context, &request, &response,
                                                [&](grpc::Status status) {
                                                  const std::lock_guard lock(mutex);
                                                  result = std::move(status);
                                                  ended.notify_one();
                                                });
        std::unique_lock lock(mutex);
        ended.wait_for(lock, microseconds(random() % patience.count()),
                       [&] { return result.has_value(); });
        lock.unlock();
        context.TryCancel();
        lock.lock();
        ended.wait(lock, [&] { return result.has_value(); });
        if (result->ok()) {
          ++answered;
          patience -= patience / 16;
          EXPECT_EQ(SumOf(response), 3000);
        } else {
          ++cancelled;
          patience += patience / 16;
          EXPECT_EQ(result->error_code(), StatusCode::CANCELLED) << result->error_message();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(answered, 0);
  EXPECT_GT(cancelled, 0);
}

TEST_P(FaultTest, DeadlinesAtEveryStage) {
  constexpr int kThreads = 8;
  std::atomic<int> answered = 0;
  std::atomic<int> late = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 250 / kFewer; ++i) {
        const uint64_t count = 1 + random() % 200'000;
        const v1::ReduceArrayRequest request = SumOfOnes(count);
        // The first are in time on a machine of any speed.
        const uint32_t patience_us = answered == 0 ? 500'000 : 8000;
        grpc::ClientContext context;
        context.set_deadline(std::chrono::system_clock::now() +
                             microseconds(random() % patience_us));
        v1::ReduceArrayResponse response;
        const grpc::Status status = server_->compute().ReduceArray(&context, request, &response);
        if (status.ok()) {
          ++answered;
          EXPECT_EQ(SumOf(response), static_cast<double>(count));
        } else {
          ++late;
          EXPECT_EQ(status.error_code(), StatusCode::DEADLINE_EXCEEDED) << status.error_message();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(answered, 0);
  EXPECT_GT(late, 0);
}

// Threads create, fill, use and delete arrays of the same few names.
TEST_P(FaultTest, ArraysAreDeletedInUse) {
  constexpr int kThreads = 8;
  std::atomic<int> sums = 0;
  const auto code_of = [](StatusCode code) { return static_cast<int>(code); };
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 300 / kFewer; ++i) {
        const std::string name = absl::StrCat("array", random() % 3);
        grpc::ClientContext context;
        grpc::Status status;
        switch (random() % 5) {
          case 0: {
            v1::CreateArrayRequest request;
            request.set_name(name);
            request.set_element_type(v1::ELEMENT_TYPE_FLOAT32);
            request.add_shape(kArrayElements);
            v1::CreateArrayResponse response;
            status = server_->arrays().CreateArray(&context, request, &response);
            break;
          }
          case 1: status = DoomedClient(server_->server().port()).Write(name); break;
          case 2: {
            v1::ReduceArrayRequest request;
            request.mutable_array()->mutable_resident_array()->set_name(name);
            request.add_statistics(v1::STATISTIC_NAN_COUNT);
            v1::ReduceArrayResponse response;
            status = server_->compute().ReduceArray(&context, request, &response);
            if (status.ok()) ++sums;
            break;
          }
          case 3: {
            v1::ScanArrayRequest request;
            request.mutable_array()->mutable_resident_array()->set_name(name);
            request.set_operation(v1::SCAN_OPERATION_MAX);
            request.mutable_destination()->mutable_in_place();
            v1::ScanArrayResponse response;
            status = server_->compute().ScanArray(&context, request, &response);
            break;
          }
          default: {
            v1::DeleteArrayRequest request;
            request.set_name(name);
            v1::DeleteArrayResponse response;
            status = server_->arrays().DeleteArray(&context, request, &response);
          }
        }
        EXPECT_THAT(code_of(status.error_code()),
                    AnyOf(Eq(code_of(StatusCode::OK)), Eq(code_of(StatusCode::NOT_FOUND)),
                          Eq(code_of(StatusCode::ALREADY_EXISTS)),
                          Eq(code_of(StatusCode::RESOURCE_EXHAUSTED))))
            << status.error_message();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(sums, 0);
  for (int i = 0; i < 3; ++i) {
    v1::DeleteArrayRequest request;
    request.set_name(absl::StrCat("array", i));
    grpc::ClientContext context;
    v1::DeleteArrayResponse response;
    (void)server_->arrays().DeleteArray(&context, request, &response);
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, FaultTest, testing::Values(kernels::EngineKind::kCpu));
INSTANTIATE_TEST_SUITE_P(Cuda, FaultTest, testing::Values(kernels::EngineKind::kCuda));

}  // namespace
}  // namespace gridfold::server
