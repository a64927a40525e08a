// What every call returns where the server refuses it, and what is refused here.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/library/fake_server.h"
#include "gmock/gmock.h"
#include "gridfold/client.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

// Counts the calls, and refuses each.
class CallErrorTest : public testing::Test {
 protected:
  CallErrorTest() {
    const auto refuse = [this](grpc::ServerContext&, const auto&, auto&) {
      ++refused_;
      return grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, "not now");
    };
    server_.on_reduce = refuse;
    server_.on_scan = refuse;
    server_.on_histogram = refuse;
    server_.on_reduce_by_key = refuse;
    server_.on_merge = refuse;
    server_.on_subtract = refuse;
    server_.on_batch = refuse;
    server_.on_quantiles = refuse;
    server_.on_top = refuse;
    server_.on_relate = refuse;
    server_.on_create_array = refuse;
    server_.on_get_array = refuse;
    server_.on_list_arrays = refuse;
    server_.on_delete_array = refuse;
    server_.on_write_array = refuse;
    server_.on_read_array = refuse;
    server_.on_register_region = refuse;
    server_.on_unregister_region = refuse;
    server_.on_list_regions = refuse;
    server_.on_reduce_stream = refuse;
    server_.on_histogram_stream = refuse;
    server_.on_keyed_stream = refuse;
    server_.on_scan_stream = refuse;
    server_.on_info = refuse;
    server_.on_statistics = refuse;
    auto client = Client::Connect({.target = server_.target()});
    EXPECT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
  }

  void TakeMessages() {
    server_.on_info = [](grpc::ServerContext&, const auto&, v1::GetServerInfoResponse& response) {
      response.mutable_limits()->set_message_bytes_max(uint64_t{64} << 20);
      response.mutable_limits()->set_array_chunk_bytes_max(uint64_t{1} << 20);
      return grpc::Status::OK;
    };
  }

  const absl::Status refusal_ = absl::FailedPreconditionError("not now");
  std::atomic<int> refused_ = 0;
  FakeServer server_;
  std::unique_ptr<Client> client_;
};

TEST_F(CallErrorTest, TheServersRefusalIsThatOfTheCall) {
  const std::vector<int8_t> elements = {1, 2};
  const std::vector<std::string> accumulators = {"a"};
  Batch batch;
  batch.ReduceArray(elements, {.statistics = {Statistic::kSum}});
  EXPECT_EQ(client_->ReduceArray(elements, {}).status(), refusal_);
  EXPECT_EQ(client_->ScanArray(elements, {}).status(), refusal_);
  EXPECT_EQ(client_->ComputeHistogram(elements, {}).status(), refusal_);
  EXPECT_EQ(client_->ReduceByKey(elements, elements, {}).status(), refusal_);
  EXPECT_EQ(client_->ComputeQuantiles(elements, {}).status(), refusal_);
  EXPECT_EQ(client_->SelectTop(elements, {}).status(), refusal_);
  EXPECT_EQ(client_->RelateArrays(elements, {}).status(), refusal_);
  EXPECT_EQ(client_->MergeAccumulators(accumulators).status(), refusal_);
  EXPECT_EQ(client_->SubtractAccumulators("a", accumulators).status(), refusal_);
  EXPECT_EQ(client_->BatchCompute(batch).status(), refusal_);
  EXPECT_EQ(client_->CreateArray({}).status(), refusal_);
  EXPECT_EQ(client_->GetArray("x").status(), refusal_);
  EXPECT_EQ(client_->ReadArray({"x"}).status(), refusal_);
  EXPECT_EQ(client_->ListArrays().status(), refusal_);
  EXPECT_EQ(client_->DeleteArray("x"), refusal_);
  EXPECT_EQ(client_->RegisterRegion({}).status(), refusal_);
  EXPECT_EQ(client_->UnregisterRegion("x"), refusal_);
  EXPECT_EQ(client_->ListRegions().status(), refusal_);
  EXPECT_EQ(client_->GetServerInfo().status(), refusal_);
  EXPECT_EQ(client_->GetStatistics().status(), refusal_);
  EXPECT_EQ(refused_, 20) << "none is asked again";
}

// What asks for the server's limits first has the error of that.
TEST_F(CallErrorTest, LimitsThatAreRefusedAreTheCallsError) {
  const std::vector<int8_t> elements = {1, 2};
  for (const ArrayTransport way : {ArrayTransport::kStream, ArrayTransport::kStreams,
                                   ArrayTransport::kRegion, ArrayTransport::kResident}) {
    refused_ = 0;
    EXPECT_EQ(client_->ReduceArray(elements, {}, {.transport = way}).status(), refusal_);
    EXPECT_EQ(client_->ReduceByKey(elements, elements, {}, {.transport = way}).status(), refusal_);
    EXPECT_EQ(client_->ScanArray(elements, {}, {.transport = way}).status(), refusal_);
    EXPECT_EQ(client_->SelectTop(elements, {}, {.transport = way}).status(), refusal_);
    EXPECT_EQ(refused_, 4);
  }
  EXPECT_EQ(client_->WriteArray("x", 0, elements), refusal_);
  EXPECT_EQ(client_->OpenReductionStream({}, {}).status(), refusal_);
  EXPECT_EQ(client_->OpenScanStream({}, {}).status(), refusal_);
  EXPECT_EQ(client_->OpenHistogramStream(ElementType::kInt8, {}).status(), refusal_);
  EXPECT_EQ(client_->OpenKeyedReductionStream(ElementType::kInt8, ElementType::kInt8, {}).status(),
            refusal_);
}

// Only what went in parts may be another answer as a whole.
TEST_F(CallErrorTest, WhatIsRefusedAsAWholeIsAskedOnce) {
  TakeMessages();
  const std::vector<int8_t> elements(100, 1);
  const HistogramOptions bins{.bins = {IntegerBins{.bin_count = 4}}};
  for (const ArrayTransport way :
       {ArrayTransport::kInline, ArrayTransport::kStream, ArrayTransport::kResident}) {
    SCOPED_TRACE(static_cast<int>(way));
    refused_ = 0;
    EXPECT_EQ(client_->ReduceArray(elements, {}, {.transport = way}).status(), refusal_);
    EXPECT_EQ(client_->ComputeHistogram(elements, bins, {.transport = way}).status(), refusal_);
    EXPECT_EQ(client_->ReduceByKey(elements, elements, {}, {.transport = way}).status(), refusal_);
    EXPECT_EQ(refused_, 3);
  }
  refused_ = 0;
  EXPECT_EQ(client_->WriteArray("x", 0, elements), refusal_);
  EXPECT_EQ(refused_, 1);
}

TEST_F(CallErrorTest, WhatMakesNoSenseIsNotSent) {
  EXPECT_EQ(client_->CreateArray({.idle_expiry = absl::InfiniteDuration()}).status(),
            absl::InvalidArgumentError("idle_expiry: must be finite"));
  NewRegion region;
  region.idle_expiry = absl::InfiniteDuration();
  EXPECT_EQ(client_->RegisterRegion(region).status(),
            absl::InvalidArgumentError("idle_expiry: must be finite"));
  EXPECT_EQ(client_->WriteArray("x", 0, ArrayView(ElementType{}, nullptr, 0)),
            absl::InvalidArgumentError("elements: of no element type"));
  EXPECT_EQ(refused_, 0);
}

}  // namespace
}  // namespace gridfold::client
