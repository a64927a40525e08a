// Requests that name the strategy which is to run them, over a real socket: what can take a request
// gives the same answer, and anything else is refused with the list of what can.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "server/testing/array_caller.h"
#include "server/testing/array_service_fixture.h"
#include "server/testing/test_server.h"

namespace gridfold::server {
namespace {

using testing::Contains;
using testing::HasSubstr;

class StrategyCallTest : public ArrayServiceTest {
 protected:
  static v1::ArraySource Matrix() {
    std::vector<float> elements(4000);
    for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<float>(i % 97) - 40;
    v1::ArraySource source = ArrayOf(v1::ELEMENT_TYPE_FLOAT32, elements);
    source.mutable_inline_array()->add_shape(1000);
    source.mutable_inline_array()->add_shape(4);
    return source;
  }

  grpc::Status Call(const v1::ReduceArrayRequest& request, v1::ReduceArrayResponse& response) {
    grpc::ClientContext context;
    return server_.compute().ReduceArray(&context, request, &response);
  }
  grpc::Status Call(const v1::ScanArrayRequest& request, v1::ScanArrayResponse& response) {
    grpc::ClientContext context;
    return server_.compute().ScanArray(&context, request, &response);
  }
  grpc::Status Call(const v1::ComputeHistogramRequest& request,
                    v1::ComputeHistogramResponse& response) {
    grpc::ClientContext context;
    return server_.compute().ComputeHistogram(&context, request, &response);
  }

  // Asks once as it is, and once by each strategy that the refusal of a bad name lists.
  template <class Response, class Request>
  void Check(Request request) {
    Response expected;
    ASSERT_TRUE(Call(request, expected).ok());
    const std::string chosen = expected.execution().strategy();
    request.mutable_execution_options()->set_strategy("fastest");
    Response response;
    const grpc::Status refused = Call(request, response);
    EXPECT_EQ(refused.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_THAT(refused.error_message(),
                HasSubstr("execution_options.strategy: fastest cannot take this request"));
    const std::vector<std::string> parts = absl::StrSplit(refused.error_message(), "what can: ");
    ASSERT_EQ(parts.size(), 2u) << refused.error_message();
    const std::vector<std::string> takers = absl::StrSplit(parts[1], ", ");
    EXPECT_THAT(takers, Contains(chosen));
    expected.clear_execution();
    for (const std::string& taker : takers) {
      request.mutable_execution_options()->set_strategy(taker);
      const grpc::Status status = Call(request, response);
      ASSERT_TRUE(status.ok()) << status.error_message();
      EXPECT_EQ(response.execution().strategy(), taker);
      response.clear_execution();
      EXPECT_EQ(response.SerializeAsString(), expected.SerializeAsString()) << taker;
    }
  }
};

TEST_F(StrategyCallTest, Reductions) {
  for (const int axis : {0, 1}) {
    v1::ReduceArrayRequest request;
    *request.mutable_array() = Matrix();
    request.add_statistics(v1::STATISTIC_SUM);
    request.add_statistics(v1::STATISTIC_ARGMAX);
    request.mutable_grouping()->mutable_axes()->add_axes(axis);
    Check<v1::ReduceArrayResponse>(request);
  }
}

TEST_F(StrategyCallTest, Scans) {
  v1::ScanArrayRequest request;
  *request.mutable_array() = Matrix();
  request.set_operation(v1::SCAN_OPERATION_SUM);
  Check<v1::ScanArrayResponse>(request);
}

TEST_F(StrategyCallTest, Histograms) {
  v1::ComputeHistogramRequest request;
  *request.mutable_array() = Matrix();
  request.add_bins()->mutable_even()->set_bin_count(10);
  Check<v1::ComputeHistogramResponse>(request);
}

// A reduction that shares a launch with others is not run by the strategy that it names.
TEST_F(StrategyCallTest, InABatchEachRunsByItsOwn) {
  v1::BatchComputeRequest batch;
  for (const char* strategy : {"reduce/groups/contiguous", "reduce/columns/side-by-side"}) {
    v1::ReduceArrayRequest& request = *batch.add_operations()->mutable_reduction();
    *request.mutable_array() = Matrix();
    request.add_statistics(v1::STATISTIC_SUM);
    request.mutable_execution_options()->set_strategy(strategy);
  }
  grpc::ClientContext context;
  v1::BatchComputeResponse response;
  ASSERT_TRUE(server_.compute().BatchCompute(&context, batch, &response).ok());
  ASSERT_EQ(response.results_size(), 2);
  EXPECT_TRUE(response.results(0).has_reduction());
  EXPECT_THAT(response.results(1).error().message(), HasSubstr("execution_options.strategy"));
}

}  // namespace
}  // namespace gridfold::server
