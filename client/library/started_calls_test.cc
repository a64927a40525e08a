// Calls that are begun and not waited for.
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "client/library/client_test_fixture.h"
#include "client/library/withholding_server.h"
#include "gmock/gmock.h"
#include "gridfold/client.h"
#include "gridfold/v1/error_details.pb.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::ElementsAre;

// Waits for what a call is told.
template <typename Result>
class Told {
 public:
  Done<Result> done() {
    return [this](absl::StatusOr<Result> result) {
      result_ = std::move(result);
      has_come_.Notify();
    };
  }
  const absl::StatusOr<Result>& Await() {
    has_come_.WaitForNotification();
    return result_;
  }
  const absl::Status& status() { return Await().status(); }
  bool has_come() const { return has_come_.HasBeenNotified(); }

 private:
  absl::Notification has_come_;
  absl::StatusOr<Result> result_;
};

using ToldReduction = Told<ReductionResult>;

std::unique_ptr<Client> ConnectOrDie(const ClientOptions& options) {
  auto client = Client::Connect(options);
  EXPECT_TRUE(client.ok()) << client.status();
  return *std::move(client);
}

// That `start` asks what `wait` asks, and is told the same.
template <typename Request, typename Wait, typename Start>
void ExpectSame(Request& seen, Wait wait, Start start) {
  seen = {};
  const auto waited = wait();
  const std::string asked = std::exchange(seen, {}).DebugString();
  Told<typename decltype(wait())::value_type> told;
  start(told.done());
  const auto& result = told.Await();
  EXPECT_EQ(seen.DebugString(), asked);
  ASSERT_EQ(result.status(), waited.status());
  if (!result.ok()) return;
  EXPECT_EQ(result->execution.strategy, waited->execution.strategy);
  EXPECT_EQ(result->execution.transport, waited->execution.transport);
  EXPECT_EQ(result->execution.streams, waited->execution.streams);
}

class StartedCallsTest : public ClientTest {
 protected:
  // Every operation on `array`, waited for and not.
  void ExpectSameOf(const ArrayInput& array) {
    ReductionOptions reduction{.statistics = {Statistic::kSum}};
    for (const bool is_masked : {false, true}) {
      if (is_masked) reduction.where = ArrayView(mask_);
      ExpectSame(
          reduce_request_, [&] { return client_->ReduceArray(array, reduction); },
          [&](auto done) { client_->StartReduceArray(array, reduction, {}, done); });
    }
    const ScanOptions scan{.operation = ScanOperation::kSum};
    ExpectSame(
        scan_request_, [&] { return client_->ScanArray(array, scan); },
        [&](auto done) { client_->StartScanArray(array, scan, {}, done); });
    const HistogramOptions bins{.bins = {EvenBins{2, 0.0, 1.0}}, .weights = ArrayView(elements_)};
    ExpectSame(
        histogram_request_, [&] { return client_->ComputeHistogram(array, bins); },
        [&](auto done) { client_->StartComputeHistogram(array, bins, {}, done); });
    KeyedReductionOptions keyed{.statistics = {Statistic::kSum}};
    for (const bool has_bins : {false, true}) {
      if (has_bins) keyed.groups = KeyBins{.bins = {EvenBins{.bin_count = 3}}, .y_keys = array};
      ExpectSame(
          keyed_request_, [&] { return client_->ReduceByKey(array, ArrayView(elements_), keyed); },
          [&](auto done) {
            client_->StartReduceByKey(array, ArrayView(elements_), keyed, {}, done);
          });
    }
    QuantileOptions quantiles{.quantiles = {0.5}};
    for (const bool is_weighted : {false, true}) {
      if (is_weighted) quantiles.weights = ArrayView(elements_);
      ExpectSame(
          quantiles_request_, [&] { return client_->ComputeQuantiles(array, quantiles); },
          [&](auto done) { client_->StartComputeQuantiles(array, quantiles, {}, done); });
    }
    for (const uint64_t count : {uint64_t{1}, uint64_t{0}}) {
      const TopOptions top{.count = count};
      ExpectSame(
          top_request_, [&] { return client_->SelectTop(array, top); },
          [&](auto done) { client_->StartSelectTop(array, top, {}, done); });
    }
    const RelateOptions relate{.statistics = {PairedStatistic::kDot}, .y = array};
    ExpectSame(
        relate_request_, [&] { return client_->RelateArrays(array, relate); },
        [&](auto done) { client_->StartRelateArrays(array, relate, {}, done); });
  }

  const std::vector<float> elements_ = {1, 2, 3};
  const std::vector<uint8_t> mask_ = {1, 0, 1};
};

TEST_F(StartedCallsTest, AskWhatIsAskedByThoseWhoWait) {
  Parse("group_count: 1 execution { strategy: 'r' }", reduce_response_);
  Parse("inline_array { element_type: ELEMENT_TYPE_FLOAT32 } execution { strategy: 's' }",
        scan_response_);
  Parse("execution { strategy: 'k' }", keyed_response_);
  Parse("execution { strategy: 't' }", top_response_);
  ExpectSameOf(ArrayView(elements_));
  ExpectSameOf(ResidentArray{"x", {{1, 3}}});
  ExpectSameOf(RegionSlice{.name = "r", .element_type = ElementType::kFloat32, .shape = {3}});
}

TEST_F(StartedCallsTest, AreToldTheServersErrors) {
  const auto refuse = [](grpc::ServerContext&, const auto&, auto&) {
    return grpc::Status(grpc::StatusCode::OUT_OF_RANGE, "the sum overflows");
  };
  server_.on_reduce = refuse;
  server_.on_scan = refuse;
  server_.on_histogram = refuse;
  server_.on_reduce_by_key = refuse;
  server_.on_quantiles = refuse;
  server_.on_top = refuse;
  server_.on_relate = refuse;
  ToldReduction told;
  client_->StartReduceArray(elements_, {}, {}, told.done());
  EXPECT_EQ(told.status(), absl::OutOfRangeError("the sum overflows"));
  ExpectSameOf(ArrayView(elements_));
}

TEST_F(StartedCallsTest, CopyTheirArraysAndTakeNoLargeOnes) {
  std::vector<uint8_t> elements(kStartedBytesMax, 'x');
  ToldReduction told;
  client_->StartReduceArray(elements, {}, {}, told.done());
  std::fill(elements.begin(), elements.end(), uint8_t{'y'});
  EXPECT_TRUE(told.status().ok());
  EXPECT_EQ(reduce_request_.array().inline_array().data(), std::string(kStartedBytesMax, 'x'));

  elements.pop_back();
  const std::vector<uint8_t> two = {1, 1};
  ToldReduction refused;
  client_->StartReduceArray(elements, {.where = ArrayView(two)}, {}, refused.done());
  ASSERT_TRUE(refused.has_come());
  EXPECT_TRUE(absl::IsInvalidArgument(refused.status())) << refused.status();
}

TEST_F(StartedCallsTest, MayBeStartedByThoseWhoAreTold) {
  int count = 0;
  absl::Notification is_last;
  Done<ReductionResult> again = [&](absl::StatusOr<ReductionResult> result) {
    EXPECT_TRUE(result.ok()) << result.status();
    if (++count == 100) {
      is_last.Notify();
    } else {
      client_->StartReduceArray(elements_, {}, {}, again);
    }
  };
  client_->StartReduceArray(elements_, {}, {}, again);
  is_last.WaitForNotification();
}

// grpc-status-details-bin with a delay after which to come again.
std::string ComeAgainAfter(absl::Duration delay) {
  v1::RetryInfo info;
  info.mutable_retry_delay()->set_nanos(static_cast<int>(absl::ToInt64Nanoseconds(delay)));
  v1::RpcStatus details;
  auto& detail = *details.add_details();
  detail.set_type_url("type.googleapis.com/google.rpc.RetryInfo");
  detail.set_value(info.SerializeAsString());
  return details.SerializeAsString();
}

TEST_F(StartedCallsTest, AreTriedAgainAsThePolicyAndTheServerSay) {
  std::atomic<int> calls = 0;
  server_.on_reduce = [&](grpc::ServerContext&, const auto&, auto&) {
    return ++calls == 4 ? grpc::Status::OK
                        : grpc::Status(grpc::StatusCode::UNAVAILABLE, "not yet",
                                       ComeAgainAfter(absl::Milliseconds(100)));
  };
  const absl::Time start = absl::Now();
  ToldReduction told;
  client_->StartReduceArray(elements_, {}, {}, told.done());
  EXPECT_TRUE(told.status().ok()) << told.status();
  EXPECT_EQ(calls, 4);
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(300));

  calls = 5;  // The server is never available again.
  ToldReduction last;
  client_->StartReduceArray(elements_, {}, {}, last.done());
  EXPECT_TRUE(absl::IsUnavailable(last.status())) << last.status();
  EXPECT_EQ(calls, 9);

  // Results that the server keeps would be kept twice.
  server_.on_scan = [&](grpc::ServerContext&, const auto&, auto&) {
    ++calls;
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "not yet");
  };
  Told<ScanResult> once;
  client_->StartScanArray(elements_, {.destination = ResidentDestination{"kept"}}, {}, once.done());
  EXPECT_TRUE(absl::IsUnavailable(once.status())) << once.status();
  EXPECT_EQ(calls, 10);
}

TEST_F(StartedCallsTest, WaitWhileRefusedWhereTheyAreToldTo) {
  std::atomic<int> calls = 0;
  server_.on_reduce = [&](grpc::ServerContext&, const auto&, auto&) {
    return ++calls % 10 == 0 ? grpc::Status::OK
                             : grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "full",
                                            ComeAgainAfter(absl::Milliseconds(1)));
  };
  ToldReduction refused;
  client_->StartReduceArray(elements_, {}, {}, refused.done());
  EXPECT_TRUE(absl::IsResourceExhausted(refused.status()));
  ToldReduction waited;
  client_->StartReduceArray(elements_, {}, {.waits_while_refused = true}, waited.done());
  EXPECT_TRUE(waited.status().ok()) << waited.status();
  EXPECT_EQ(calls, 10);
}

TEST_F(StartedCallsTest, AreGivenUpWhileTheyWaitForARetry) {
  absl::Notification has_failed;
  server_.on_reduce = [&](grpc::ServerContext&, const auto&, auto&) {
    if (!has_failed.HasBeenNotified()) has_failed.Notify();
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "not yet",
                        ComeAgainAfter(absl::Milliseconds(900)));
  };
  ToldReduction told;
  const absl::Time start = absl::Now();
  const PendingCall call = client_->StartReduceArray(elements_, {}, {}, told.done());
  has_failed.WaitForNotification();
  absl::SleepFor(absl::Milliseconds(50));
  call.Cancel();
  EXPECT_TRUE(absl::IsCancelled(told.status())) << told.status();
  EXPECT_LT(absl::Now() - start, absl::Milliseconds(800));
  call.Cancel();  // Of no effect.
}

size_t ThreadCount() {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                                           std::filesystem::directory_iterator()));
}

TEST(ManyStartedCallsTest, AreUnderWayAtOnceAndHaveOneThread) {
  constexpr int kCount = 2'000;
  WithholdingServer server(kCount);
  const auto client = ConnectOrDie({.target = server.target()});
  const std::vector<float> elements = {1, 2, 3};
  const size_t threads = ThreadCount();
  absl::BlockingCounter untold(kCount);
  std::set<std::thread::id> telling;  // One thread at most is in it at a time: the only one.
  std::atomic<int> succeeded = 0;
  for (int i = 0; i < kCount; ++i) {
    client->StartReduceArray(elements, {}, {}, [&](absl::StatusOr<ReductionResult> result) {
      telling.insert(std::this_thread::get_id());
      if (result.ok()) ++succeeded;
      untold.DecrementCount();
    });
  }
  server.AwaitCalls(kCount);
  // Some of them are the server's.
  EXPECT_LT(ThreadCount(), threads + 40);
  untold.Wait();
  EXPECT_EQ(succeeded, kCount);
  EXPECT_EQ(telling.size(), 1u);
}

TEST(StartedCallTest, ServerIsToldThatACallIsGivenUp) {
  WithholdingServer server(SIZE_MAX);
  const auto client = ConnectOrDie({.target = server.target()});
  const std::vector<float> elements = {1, 2, 3};
  ToldReduction told;
  const PendingCall call = client->StartReduceArray(elements, {}, {}, told.done());
  server.AwaitCalls(1);
  EXPECT_FALSE(told.has_come());
  const absl::Time start = absl::Now();
  call.Cancel();
  EXPECT_TRUE(absl::IsCancelled(told.status())) << told.status();
  server.AwaitCancelled(1);
  EXPECT_LT(absl::Now() - start, absl::Seconds(1));
}

TEST(StartedCallTest, EndsWithItsTimeout) {
  WithholdingServer server(SIZE_MAX);
  const auto client = ConnectOrDie({.target = server.target()});
  const std::vector<float> elements = {1, 2, 3};
  ToldReduction told;
  client->StartReduceArray(elements, {}, {.timeout = absl::Milliseconds(100)}, told.done());
  EXPECT_TRUE(absl::IsDeadlineExceeded(told.status())) << told.status();
}

TEST(StartedCallTest, EndsWithItsClient) {
  WithholdingServer server(SIZE_MAX);
  auto client = ConnectOrDie({.target = server.target()});
  const std::vector<float> elements = {1, 2, 3};
  std::vector<ToldReduction> told(100);
  PendingCall call;
  for (ToldReduction& one : told) {
    call = client->StartReduceArray(elements, {}, {}, one.done());
  }
  // One that is started by somebody who is told that the client goes.
  ToldReduction late;
  client->StartReduceArray(elements, {}, {},
                           [&, own = client.get()](absl::StatusOr<ReductionResult>) {
                             own->StartReduceArray(elements, {}, {}, late.done());
                           });
  server.AwaitCalls(101);
  client.reset();
  for (ToldReduction& one : told) {
    ASSERT_TRUE(one.has_come());
    EXPECT_TRUE(absl::IsCancelled(one.status())) << one.status();
  }
  EXPECT_TRUE(late.has_come());
  call.Cancel();  // The call has outlived its client.
}

TEST(StartedCallTest, OfAServerThatIsGone) {
  std::string target;
  {
    WithholdingServer server(1);
    target = server.target();
  }
  const auto client = ConnectOrDie({.target = target, .connect_timeout = absl::ZeroDuration()});
  const std::vector<float> elements = {1, 2, 3};
  ToldReduction told;
  client->StartReduceArray(elements, {}, {}, told.done());
  EXPECT_TRUE(absl::IsUnavailable(told.status())) << told.status();
}

}  // namespace
}  // namespace gridfold::client
