// Ten thousand bad requests against a live server: each is answered, with an error that blames the
// request, and memory stays where it was. To be run under AddressSanitizer as well.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <semaphore>

#include "server/testing/array_caller.h"
#include "server/testing/request_mutator.h"
#include "server/testing/shared_object.h"
#include "server/testing/test_server.h"

// Freed memory that AddressSanitizer keeps back would look like growth. Not used without it.
extern "C" const char* __asan_default_options() { return "quarantine_size_mb=16"; }

namespace gridfold::server {
namespace {

constexpr int kRequestCount = 10'000;
constexpr int kWarmUpCount = 3'000;
constexpr int kOutstandingMax = 32;
constexpr int64_t kGrowthBytesMax = 32 << 20;

int64_t ResidentBytes() {
  int64_t total_pages = 0;
  int64_t resident_pages = 0;
  std::ifstream("/proc/self/statm") >> total_pages >> resident_pages;
  return resident_pages * sysconf(_SC_PAGESIZE);
}

// Small, so that what passes validation by chance costs little.
Limits SmallLimits() {
  Limits limits;
  limits.message_bytes_max = 1 * kMiB;
  limits.bin_count_max = 1 << 16;
  limits.group_count_max = 1 << 16;
  limits.lane_count = 2;
  limits.resident_bytes_max = 4 * kMiB;
  limits.array_count_max = 100;
  limits.regions_allowed = true;
  return limits;
}

class MalformedRequestTest : public testing::Test {
 protected:
  struct Call {
    grpc::ClientContext context;
    RequestBytes request;
    grpc::ByteBuffer request_buffer;
    grpc::ByteBuffer response;
  };

  void Send(RequestBytes request) {
    slots_.acquire();
    auto call = std::make_shared<Call>();
    call->context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    call->request_buffer = ToByteBuffer(request.bytes);
    call->request = std::move(request);
    stub_.UnaryCall(&call->context, call->request.method, grpc::StubOptions(),
                    &call->request_buffer, &call->response, [this, call](grpc::Status status) {
                      Check(*call, status);
                      slots_.release();
                    });
  }

  void WaitForAll() {
    for (int i = 0; i < kOutstandingMax; ++i) slots_.acquire();
    slots_.release(kOutstandingMax);
  }

  void Check(const Call& call, const grpc::Status& status) {
    ++answers_[status.error_code()];
    switch (status.error_code()) {
      case grpc::StatusCode::OK: return;
      case grpc::StatusCode::INVALID_ARGUMENT:
      case grpc::StatusCode::OUT_OF_RANGE:
      case grpc::StatusCode::RESOURCE_EXHAUSTED:
      case grpc::StatusCode::NOT_FOUND:
      case grpc::StatusCode::ALREADY_EXISTS:
      case grpc::StatusCode::FAILED_PRECONDITION:  // Device memory, without a device.
        EXPECT_FALSE(status.error_message().empty());
        EXPECT_FALSE(status.error_details().empty());
        return;
      default:
        ADD_FAILURE() << call.request.method << " " << testing::PrintToString(call.request.bytes)
                      << ": " << status.error_code() << " " << status.error_message();
    }
  }

  std::unique_ptr<kernels::Engine> engine_ =
      *kernels::CreateEngine({.kind = kernels::EngineKind::kCpu, .cpu_threads = 2});
  TestServer server_{*engine_, SmallLimits()};
  grpc::GenericStub stub_{server_.channel()};
  std::counting_semaphore<kOutstandingMax> slots_{kOutstandingMax};
  std::array<std::atomic<int>, 17> answers_{};
};

TEST_F(MalformedRequestTest, EachIsAnsweredAndNoMemoryIsLost) {
  ArrayCaller(server_).Put(kMutatorArray, v1::ELEMENT_TYPE_INT64, {1}, std::vector<int64_t>{7});
  ArrayCaller(server_).Put(kMutatorMatrix, v1::ELEMENT_TYPE_INT64, {3, 3},
                           std::vector<int64_t>{3, 1, 4, 1, 5, 9, 2, 6, 5});
  const SharedObject object(uint64_t{16});
  v1::RegisterRegionRequest registration;
  registration.set_name(kMutatorRegion);
  registration.set_size_bytes(object.size_bytes());
  registration.mutable_posix_shared_memory()->set_object_name(object.name());
  grpc::ClientContext registration_context;
  v1::RegisterRegionResponse registered;
  ASSERT_TRUE(
      server_.regions().RegisterRegion(&registration_context, registration, &registered).ok());
  RequestMutator mutator(20261120);
  int64_t resident_after_warm_up = 0;
  for (int i = 0; i < kRequestCount; ++i) {
    if (i == kWarmUpCount) {
      WaitForAll();
      resident_after_warm_up = ResidentBytes();
    }
    Send(mutator.Next());
  }
  WaitForAll();
  const int64_t growth = ResidentBytes() - resident_after_warm_up;
  RecordProperty("growth_bytes", std::to_string(growth));
  EXPECT_LT(growth, kGrowthBytesMax);
  // The requests are neither all hopeless nor all harmless.
  EXPECT_GT(answers_[grpc::StatusCode::OK], kRequestCount / 50);
  EXPECT_GT(answers_[grpc::StatusCode::INVALID_ARGUMENT], kRequestCount / 2);
  printf(
      "ok %d, invalid argument %d, out of range %d, resource exhausted %d, not found %d, already "
      "exists %d, growth %ld KiB\n",
      answers_[grpc::StatusCode::OK].load(), answers_[grpc::StatusCode::INVALID_ARGUMENT].load(),
      answers_[grpc::StatusCode::OUT_OF_RANGE].load(),
      answers_[grpc::StatusCode::RESOURCE_EXHAUSTED].load(),
      answers_[grpc::StatusCode::NOT_FOUND].load(),
      answers_[grpc::StatusCode::ALREADY_EXISTS].load(), static_cast<long>(growth / 1024));
  // The server is as good as new.
  grpc::ClientContext context;
  v1::ReduceArrayResponse response;
  EXPECT_TRUE(server_.compute().ReduceArray(&context, SmallReduction(), &response).ok());
  EXPECT_EQ(response.results(0).values().int64_values().values(0), 6);
}

// A request that would be decoded into far more memory than it has bytes.
TEST_F(MalformedRequestTest, FieldsThatGrowWhenTheyAreDecodedAreCounted) {
  std::string bytes;
  for (int i = 0; i < 400'000; ++i) bytes += std::string("\x12\x00", 2);
  const RawAnswer answer =
      CallRaw(server_.channel(), "/gridfold.v1.ComputeService/ComputeHistogram", bytes);
  EXPECT_EQ(answer.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_NE(answer.status.error_message().find("memory"), std::string::npos)
      << answer.status.error_message();
}

}  // namespace
}  // namespace gridfold::server
