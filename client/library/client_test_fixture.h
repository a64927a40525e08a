// A client of a fake server that keeps what it is asked, and answers as a test says. For tests.
#ifndef GRIDFOLD_CLIENT_LIBRARY_CLIENT_TEST_FIXTURE_H_
#define GRIDFOLD_CLIENT_LIBRARY_CLIENT_TEST_FIXTURE_H_

#include <memory>
#include <utility>

#include "client/library/expect_message.h"
#include "client/library/fake_server.h"
#include "google/protobuf/text_format.h"
#include "gridfold/client.h"
#include "gtest/gtest.h"

namespace gridfold::client {

class ClientTest : public testing::Test {
 protected:
  ClientTest() {
    server_.on_reduce = Answer(reduce_request_, reduce_response_);
    server_.on_scan = Answer(scan_request_, scan_response_);
    server_.on_histogram = Answer(histogram_request_, histogram_response_);
    server_.on_reduce_by_key = Answer(keyed_request_, keyed_response_);
    server_.on_merge = Answer(merge_request_, merge_response_);
    server_.on_subtract = Answer(subtract_request_, subtract_response_);
    server_.on_batch = Answer(batch_request_, batch_response_);
    server_.on_quantiles = Answer(quantiles_request_, quantiles_response_);
    server_.on_top = Answer(top_request_, top_response_);
    server_.on_relate = Answer(relate_request_, relate_response_);
    auto client = Client::Connect({.target = server_.target()});
    EXPECT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
  }

  template <typename Request, typename Response>
  static FakeServer::Handler<Request, Response> Answer(Request& seen, const Response& answer) {
    return [&](grpc::ServerContext&, const Request& request, Response& response) {
      seen = request;
      response = answer;
      return grpc::Status::OK;
    };
  }

  template <typename Message>
  static void Parse(const char* text, Message& message) {
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  }

  v1::ReduceArrayRequest reduce_request_;
  v1::ReduceArrayResponse reduce_response_;
  v1::ScanArrayRequest scan_request_;
  v1::ScanArrayResponse scan_response_;
  v1::ComputeHistogramRequest histogram_request_;
  v1::ComputeHistogramResponse histogram_response_;
  v1::ReduceByKeyRequest keyed_request_;
  v1::ReduceByKeyResponse keyed_response_;
  v1::MergeAccumulatorsRequest merge_request_;
  v1::MergeAccumulatorsResponse merge_response_;
  v1::SubtractAccumulatorsRequest subtract_request_;
  v1::SubtractAccumulatorsResponse subtract_response_;
  v1::BatchComputeRequest batch_request_;
  v1::BatchComputeResponse batch_response_;
  v1::ComputeQuantilesRequest quantiles_request_;
  v1::ComputeQuantilesResponse quantiles_response_;
  v1::SelectTopRequest top_request_;
  v1::SelectTopResponse top_response_;
  v1::RelateArraysRequest relate_request_;
  v1::RelateArraysResponse relate_response_;
  FakeServer server_;
  std::unique_ptr<Client> client_;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_CLIENT_TEST_FIXTURE_H_
