// BatchCompute over a real socket: every answer and every error is that of the operation's own
// call, byte for byte; what concerns the whole is refused as a whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "server/base/error_reason.h"
#include "server/testing/array_caller.h"
#include "server/testing/fake_engine.h"
#include "server/testing/test_server.h"

namespace gridfold::server {
namespace {

using testing::HasSubstr;

Limits TestLimits() {
  Limits limits;
  limits.message_bytes_max = 4 * kMiB;
  limits.bin_count_max = 1 << 18;
  limits.group_count_max = 10'000;
  limits.resident_bytes_max = 8 * kMiB;
  limits.lane_count = 2;
  limits.batch_operations_max = 1000;
  return limits;
}

// What came of an operation, whichever way it was asked for: the answer or the error, as bytes.
template <class Answer>
std::string Outcome(const grpc::Status& status, const Answer& answer) {
  if (!status.ok()) return "error " + status.error_details();
  Answer without_times = answer;
  without_times.clear_execution();
  return without_times.SerializeAsString();
}

std::string Outcome(const v1::BatchResult& result) {
  switch (result.result_case()) {
    case v1::BatchResult::kReduction: return result.reduction().SerializeAsString();
    case v1::BatchResult::kScan: return result.scan().SerializeAsString();
    case v1::BatchResult::kHistogram: return result.histogram().SerializeAsString();
    case v1::BatchResult::kKeyedReduction: return result.keyed_reduction().SerializeAsString();
    case v1::BatchResult::kError: return "error " + result.error().SerializeAsString();
    case v1::BatchResult::RESULT_NOT_SET: break;
  }
  return "nothing";
}

struct BatchAnswer {
  grpc::Status status;
  v1::BatchComputeResponse response;
};

BatchAnswer Compute(TestServer& server, const v1::BatchComputeRequest& request) {
  grpc::ClientContext context;
  BatchAnswer answer;
  answer.status = server.compute().BatchCompute(&context, request, &answer.response);
  return answer;
}

v1::BatchComputeRequest Sums(int count) {
  v1::BatchComputeRequest request;
  for (int i = 0; i < count; ++i) *request.add_operations()->mutable_reduction() = SmallReduction();
  return request;
}

class BatchTest : public testing::Test {
 protected:
  std::string RandomData(size_t bytes) {
    std::string data(bytes, '\0');
    for (char& c : data) c = random_() % 3 == 0 ? static_cast<char>(random_()) : '\1';
    return data;
  }

  v1::ArraySource RandomArray() {
    if (random_() % 8 == 0)
      return Resident(random_() % 4 == 0 ? "missing" : "x", random_() % 60, 50);
    v1::ArraySource source;
    v1::InlineArray& array = *source.mutable_inline_array();
    // Beyond the last type: an error.
    array.set_element_type(
        static_cast<v1::ElementType>(random_() % 25 == 0 ? 0 : random_() % 12 + 1));
    array.set_data(RandomData(random_() % 10 == 0 ? random_() % 100 : random_() % 100 * 24));
    if (random_() % 3 == 0) {
      array.add_shape(2);
      array.add_shape(12);
    }
    return source;
  }

  v1::ReduceArrayRequest RandomReduction() {
    v1::ReduceArrayRequest request;
    *request.mutable_array() = RandomArray();
    for (int s = v1::STATISTIC_COUNT; s <= v1::STATISTIC_BITWISE_XOR; ++s) {
      if (random_() % 12 == 0) request.add_statistics(static_cast<v1::Statistic>(s));
    }
    if (request.statistics().empty()) request.add_statistics(v1::STATISTIC_SUM);
    if (random_() % 8 == 0) request.mutable_grouping()->set_axis(random_() % 2);
    request.set_nan_policy(static_cast<v1::NanPolicy>(random_() % 3));
    request.set_overflow_policy(static_cast<v1::OverflowPolicy>(random_() % 3));
    request.set_delta_degrees_of_freedom(random_() % 3);
    request.set_return_accumulator(random_() % 8 == 0);
    request.set_first_index(random_() % 4 == 0 ? 1000 : 0);
    return request;
  }

  v1::ScanArrayRequest RandomScan() {
    v1::ScanArrayRequest request;
    *request.mutable_array() = RandomArray();
    request.set_operation(static_cast<v1::ScanOperation>(random_() % 5));
    request.set_mode(static_cast<v1::ScanMode>(random_() % 3));
    return request;
  }

  v1::ComputeHistogramRequest RandomHistogram() {
    v1::ComputeHistogramRequest request;
    *request.mutable_array() = RandomArray();
    v1::EvenBins& bins = *request.add_bins()->mutable_even();
    bins.set_bin_count(random_() % 20);
    bins.set_lower_bound(-50);
    bins.set_upper_bound(50);
    request.set_return_accumulator(random_() % 4 == 0);
    return request;
  }

  // Adds an operation and returns what its own call came to.
  std::string AddRandom(v1::BatchComputeRequest& batch) {
    v1::BatchOperation& operation = *batch.add_operations();
    const uint32_t kind = random_() % 10;
    if (kind < 7) {
      *operation.mutable_reduction() = RandomReduction();
      return Outcome(caller_.Compute(operation.reduction()), caller_.reduced);
    }
    if (kind < 8) {
      *operation.mutable_scan() = RandomScan();
      return Outcome(caller_.Compute(operation.scan()), caller_.scanned);
    }
    *operation.mutable_histogram() = RandomHistogram();
    return Outcome(caller_.Compute(operation.histogram()), caller_.counted);
  }

  void ExpectRefused(const v1::BatchComputeRequest& request, const std::string& message) {
    const grpc::Status status = Compute(server_, request).status;
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_message();
    EXPECT_EQ(DecodeDetails(status).field(), "operations");
    EXPECT_THAT(status.error_message(), HasSubstr(message));
  }

  std::mt19937 random_{20261121};
  std::unique_ptr<kernels::Engine> engine_ =
      *kernels::CreateEngine({.kind = kernels::EngineKind::kCpu, .cpu_threads = 2});
  TestServer server_{*engine_, TestLimits()};
  ArrayCaller caller_{server_};
};

TEST_F(BatchTest, AnswersAndErrorsAreThoseOfSingleCalls) {
  caller_.Put("x", v1::ELEMENT_TYPE_INT16, {100}, std::vector<int16_t>(100, 7));
  int errors = 0;
  for (int round = 0; round < 10; ++round) {
    v1::BatchComputeRequest batch;
    std::vector<std::string> expected;
    for (int i = 0; i < 300; ++i) expected.push_back(AddRandom(batch));
    const BatchAnswer answer = Compute(server_, batch);
    ASSERT_TRUE(answer.status.ok()) << answer.status.error_message();
    ASSERT_EQ(answer.response.results_size(), 300);
    for (int i = 0; i < 300; ++i) {
      const v1::BatchResult& result = answer.response.results(i);
      if (result.has_error()) ++errors;
      ASSERT_TRUE(Outcome(result) == expected[static_cast<size_t>(i)])
          << batch.operations(i).DebugString() << result.DebugString();
    }
  }
  EXPECT_GT(errors, 300);
  EXPECT_LT(errors, 2000);
}

TEST_F(BatchTest, ErrorsHaveTheDetailsOfFailedCalls) {
  v1::BatchComputeRequest batch = Sums(3);
  v1::InlineArray& bad =
      *batch.mutable_operations(1)->mutable_reduction()->mutable_array()->mutable_inline_array();
  bad.set_data("abc");
  batch.add_operations();
  const BatchAnswer answer = Compute(server_, batch);
  ASSERT_TRUE(answer.status.ok()) << answer.status.error_message();
  EXPECT_EQ(answer.response.results(0).reduction().results(0).values().int64_values().values(0), 6);
  EXPECT_EQ(answer.response.results(2).reduction().results(0).values().int64_values().values(0), 6);
  const auto field = [&](int index) {
    const v1::RpcStatus& error = answer.response.results(index).error();
    return DecodeDetails(grpc::Status(static_cast<grpc::StatusCode>(error.code()), error.message(),
                                      error.SerializeAsString()))
        .field();
  };
  EXPECT_EQ(field(1), "array.inline_array.data");
  EXPECT_EQ(field(3), "operation");
}

TEST_F(BatchTest, ExecutionIsOfTheWhole) {
  const BatchAnswer answer = Compute(server_, Sums(10));
  ASSERT_TRUE(answer.status.ok());
  const v1::ExecutionStatistics& execution = answer.response.execution();
  EXPECT_EQ(execution.engine(), "cpu");
  EXPECT_EQ(execution.strategy(), "batch");
  EXPECT_EQ(execution.bytes_read(), 10u * 3 * sizeof(int32_t));
  EXPECT_TRUE(execution.has_total_time());
  for (const v1::BatchResult& result : answer.response.results()) {
    EXPECT_FALSE(result.reduction().has_execution());
  }
}

TEST_F(BatchTest, NoOperationsAreNoError) {
  const BatchAnswer answer = Compute(server_, {});
  EXPECT_TRUE(answer.status.ok()) << answer.status.error_message();
  EXPECT_EQ(answer.response.results_size(), 0);
}

TEST_F(BatchTest, ScansMayMakeAndChangeArrays) {
  caller_.Put("x", v1::ELEMENT_TYPE_INT32, {3}, std::vector<int32_t>{1, 2, 3});
  v1::BatchComputeRequest batch;
  v1::ScanArrayRequest& made = *batch.add_operations()->mutable_scan();
  *made.mutable_array() = ArrayOf<int32_t>(v1::ELEMENT_TYPE_INT32, {4, 5});
  made.set_operation(v1::SCAN_OPERATION_SUM);
  made.mutable_destination()->mutable_resident_array()->set_name("sums");
  v1::ScanArrayRequest& changed = *batch.add_operations()->mutable_scan();
  *changed.mutable_array() = Resident("x");
  changed.set_operation(v1::SCAN_OPERATION_SUM);
  changed.set_output_type(v1::ELEMENT_TYPE_INT32);
  changed.mutable_destination()->mutable_in_place();
  // Its input is not there when the batch comes.
  *batch.add_operations()->mutable_reduction() = SmallReduction();
  *batch.mutable_operations(2)->mutable_reduction()->mutable_array() = Resident("sums");
  const BatchAnswer answer = Compute(server_, batch);
  ASSERT_TRUE(answer.status.ok());
  EXPECT_EQ(answer.response.results(0).scan().resident_array().name(), "sums");
  EXPECT_EQ(answer.response.results(1).scan().resident_array().name(), "x");
  EXPECT_EQ(answer.response.results(2).error().code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(caller_.ReadBytes(Resident("sums")), BytesOf(std::vector<int64_t>{4, 9}));
  EXPECT_EQ(caller_.ReadBytes(Resident("x")), BytesOf(std::vector<int32_t>{1, 3, 6}));
}

TEST_F(BatchTest, ArraysOfAnotherTenantAreUnknown) {
  caller_.Put("x", v1::ELEMENT_TYPE_INT32, {3}, std::vector<int32_t>{1, 2, 3});
  v1::BatchComputeRequest batch = Sums(1);
  *batch.mutable_operations(0)->mutable_reduction()->mutable_array() = Resident("x");
  const auto context = ArrayCaller(server_, "another").MakeContext();
  v1::BatchComputeResponse response;
  ASSERT_TRUE(server_.compute().BatchCompute(context.get(), batch, &response).ok());
  EXPECT_EQ(response.results(0).error().code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(BatchTest, TooManyOperations) {
  EXPECT_TRUE(Compute(server_, Sums(1000)).status.ok());
  ExpectRefused(Sums(1001), "1001 operations are more than the 1000");
}

TEST_F(BatchTest, AnswersThatDoNotFitTogether) {
  // Each of 2 MiB of counts and 2 MiB of edges would not fit even alone, so half of that.
  v1::BatchComputeRequest batch;
  for (int i = 0; i < 2; ++i) {
    v1::ComputeHistogramRequest& request = *batch.add_operations()->mutable_histogram();
    *request.mutable_array() = ArrayOf<float>(v1::ELEMENT_TYPE_FLOAT32, {1, 2});
    v1::EvenBins& bins = *request.add_bins()->mutable_even();
    bins.set_bin_count(1 << 17);
    bins.set_lower_bound(0);
    bins.set_upper_bound(5);
  }
  ExpectRefused(batch, "more bytes than the largest message");
  batch.mutable_operations()->RemoveLast();
  EXPECT_TRUE(Compute(server_, batch).status.ok());
  // What is refused by itself takes no room.
  batch.mutable_operations(0)->mutable_histogram()->mutable_bins(0)->mutable_even()->set_bin_count(
      1 << 18);
  *batch.add_operations()->mutable_reduction() = SmallReduction();
  const BatchAnswer answer = Compute(server_, batch);
  ASSERT_TRUE(answer.status.ok()) << answer.status.error_message();
  EXPECT_EQ(answer.response.results(0).error().code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_TRUE(answer.response.results(1).has_reduction());
}

// A few bytes each ask for a plan of megabytes.
TEST_F(BatchTest, ChannelsAreCountedTogether) {
  v1::BatchComputeRequest batch;
  for (int i = 0; i < 1000; ++i) {
    v1::ComputeHistogramRequest& request = *batch.add_operations()->mutable_histogram();
    request.mutable_array()->mutable_inline_array()->set_element_type(v1::ELEMENT_TYPE_INT8);
    request.add_bins()->mutable_integer()->set_bin_count(1);
    request.set_channel_count(20'000);
  }
  ExpectRefused(batch, "together");
}

TEST_F(BatchTest, BytesThatAreNoMessage) {
  const RawAnswer answer =
      CallRaw(server_.channel(), "/gridfold.v1.ComputeService/BatchCompute", "\x0a\x7f");
  EXPECT_EQ(answer.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

class BatchOnFakeEngineTest : public testing::Test {
 protected:
  // Each is a run of its own.
  static v1::BatchComputeRequest Scans(int count) {
    v1::BatchComputeRequest request;
    for (int i = 0; i < count; ++i) {
      v1::ScanArrayRequest& scan = *request.add_operations()->mutable_scan();
      *scan.mutable_array() = ArrayOf<int32_t>(v1::ELEMENT_TYPE_INT32, {1, 2});
      scan.set_operation(v1::SCAN_OPERATION_SUM);
    }
    return request;
  }

  FakeEngine engine_;
};

TEST_F(BatchOnFakeEngineTest, OneRunForReductionsThatAreAlike) {
  std::atomic<int> runs = 0;
  engine_.on_run = [&](std::stop_token) {
    ++runs;
    return absl::OkStatus();
  };
  TestServer server(engine_, TestLimits());
  ASSERT_TRUE(Compute(server, Sums(256)).status.ok());
  EXPECT_EQ(runs, 1);
}

TEST_F(BatchOnFakeEngineTest, AFailedDeviceFailsAll) {
  engine_.on_run = [](std::stop_token) { return absl::InternalError("broken"); };
  TestServer server(engine_, TestLimits());
  for (const auto& request : {Scans(3), Sums(3)}) {
    const grpc::Status status = Compute(server, request).status;
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INTERNAL);
    EXPECT_EQ(status.error_message(), "broken");
  }
}

TEST_F(BatchOnFakeEngineTest, ACancelledBatchStopsBetweenOperations) {
  Gate gate;
  std::atomic<int> runs = 0;
  engine_.on_run = [&](const std::stop_token& stop) {
    ++runs;
    // As an operation that is complete when the stop comes.
    (void)gate.Pass(stop);
    return absl::OkStatus();
  };
  TestServer server(engine_, TestLimits());
  grpc::ClientContext context;
  std::thread caller([&] {
    v1::BatchComputeResponse response;
    EXPECT_EQ(server.compute().BatchCompute(&context, Scans(100), &response).error_code(),
              grpc::StatusCode::CANCELLED);
  });
  gate.WaitForArrivals(1);
  context.TryCancel();
  caller.join();
  while (server.GetStatistics().jobs_cancelled() == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(runs, 1);
}

TEST_F(BatchOnFakeEngineTest, TheDeadlineIsOfTheWhole) {
  Gate gate;
  engine_.on_run = [&](std::stop_token stop) { return gate.Pass(std::move(stop)); };
  TestServer server(engine_, TestLimits());
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(200));
  v1::BatchComputeResponse response;
  EXPECT_EQ(server.compute().BatchCompute(&context, Scans(3), &response).error_code(),
            grpc::StatusCode::DEADLINE_EXCEEDED);
}

}  // namespace
}  // namespace gridfold::server
