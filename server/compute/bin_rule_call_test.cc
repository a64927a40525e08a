// Histograms whose number of bins a rule says, over a real socket: of inline and resident arrays,
// whole and with a mask, between bounds and without; and where there is no such rule.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "server/testing/array_caller.h"
#include "server/testing/array_service_fixture.h"
#include "server/testing/stream_caller.h"
#include "server/testing/test_server.h"

namespace gridfold::server {
namespace {

using testing::HasSubstr;

constexpr v1::HistogramBinRule kRules[] = {
    v1::HISTOGRAM_BIN_RULE_AUTO, v1::HISTOGRAM_BIN_RULE_FD,      v1::HISTOGRAM_BIN_RULE_SCOTT,
    v1::HISTOGRAM_BIN_RULE_RICE, v1::HISTOGRAM_BIN_RULE_STURGES, v1::HISTOGRAM_BIN_RULE_SQRT};
constexpr char kField[] = "bins[0].even.rule";

class BinRuleCallTest : public ArrayServiceTest {
 protected:
  // As bin_rule_test.cc has them, with what NumPy makes of them.
  static std::vector<int32_t> Squares() {
    std::vector<int32_t> numbers(200);
    for (int32_t i = 0; i < 200; ++i) numbers[i] = i * i % 101;
    return numbers;
  }

  static v1::ComputeHistogramRequest Request(v1::ArraySource source, v1::HistogramBinRule rule) {
    v1::ComputeHistogramRequest request;
    *request.mutable_array() = std::move(source);
    request.add_bins()->mutable_even()->set_rule(rule);
    return request;
  }
  static v1::ComputeHistogramRequest OfSquares(v1::HistogramBinRule rule) {
    return Request(ArrayOf(v1::ELEMENT_TYPE_INT32, Squares()), rule);
  }
  static void Bound(double lower, double upper, v1::ComputeHistogramRequest& request) {
    request.mutable_bins(0)->mutable_even()->set_lower_bound(lower);
    request.mutable_bins(0)->mutable_even()->set_upper_bound(upper);
  }

  grpc::Status Ask(const v1::ComputeHistogramRequest& request) {
    return server_.compute().ComputeHistogram(caller_.MakeContext().get(), request, &answer_);
  }

  // That of an answer where the request has the number itself.
  void ExpectSameWithNumber(v1::ComputeHistogramRequest request) {
    v1::EvenBins& bins = *request.mutable_bins(0)->mutable_even();
    bins.clear_rule();
    bins.set_bin_count(answer_.bins(0).bin_count());
    v1::ComputeHistogramResponse plain;
    ASSERT_TRUE(
        server_.compute().ComputeHistogram(caller_.MakeContext().get(), request, &plain).ok());
    EXPECT_EQ(plain.channels(0).SerializeAsString(), answer_.channels(0).SerializeAsString());
    EXPECT_EQ(plain.bins(0).SerializeAsString(), answer_.bins(0).SerializeAsString());
  }

  void ExpectCount(const v1::ComputeHistogramRequest& request, uint64_t expected) {
    SCOPED_TRACE(request.bins(0).ShortDebugString());
    const grpc::Status status = Ask(request);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(answer_.bins(0).bin_count(), expected);
    ExpectSameWithNumber(request);
  }

  v1::ComputeHistogramResponse answer_;
};

TEST_F(BinRuleCallTest, EachRuleMakesTheBinsOfNumpy) {
  constexpr uint64_t kCounts[] = {9, 6, 6, 12, 9, 15};
  constexpr uint64_t kCountsOfRange[] = {39, 24, 25, 53, 39, 64};
  caller_.Put("x", v1::ELEMENT_TYPE_INT32, {10, 20}, Squares());
  for (size_t i = 0; i < std::size(kRules); ++i) {
    ExpectCount(OfSquares(kRules[i]), kCounts[i]);
    ExpectCount(Request(Resident("x"), kRules[i]), kCounts[i]);
    v1::ComputeHistogramRequest bounded = Request(Resident("x"), kRules[i]);
    Bound(-50, 400, bounded);
    ExpectCount(bounded, kCountsOfRange[i]);
  }
}

TEST_F(BinRuleCallTest, SamplesOutsideTheBoundsDoNotCount) {
  std::vector<double> numbers{-std::numeric_limits<double>::infinity(), -51, 401, std::nan("")};
  for (const int32_t number : Squares()) numbers.push_back(number);
  constexpr uint64_t kCounts[] = {39, 24, 25, 53, 39, 64};
  for (size_t i = 0; i < std::size(kRules); ++i) {
    v1::ComputeHistogramRequest request =
        Request(ArrayOf(v1::ELEMENT_TYPE_FLOAT64, numbers), kRules[i]);
    Bound(-50, 400, request);
    ExpectCount(request, kCounts[i]);
    Bound(-50, -49, request);
    ExpectCount(request, 1);
  }
}

// Bounds that leave out some of the samples at either end.
TEST_F(BinRuleCallTest, SamplesBetweenTheBoundsAreThoseOfNumpy) {
  constexpr uint64_t kCounts[] = {9, 5, 5, 11, 9, 11};
  for (size_t i = 0; i < std::size(kRules); ++i) {
    v1::ComputeHistogramRequest request = OfSquares(kRules[i]);
    Bound(10.5, 60, request);
    ExpectCount(request, kCounts[i]);
  }
}

TEST_F(BinRuleCallTest, OfSamplesThatAMaskSelects) {
  std::vector<int32_t> numbers = Squares();
  numbers.push_back(1000000);
  std::vector<uint8_t> truths(numbers.size(), 1);
  truths.back() = 0;
  v1::ComputeHistogramRequest request =
      Request(ArrayOf(v1::ELEMENT_TYPE_INT32, numbers), v1::HISTOGRAM_BIN_RULE_AUTO);
  *request.mutable_where() = ArrayOf(v1::ELEMENT_TYPE_BOOL, truths);
  ExpectCount(request, 9);
  request.mutable_bins(0)->mutable_even()->set_rule(v1::HISTOGRAM_BIN_RULE_SCOTT);
  Bound(-50, 400, request);
  ExpectCount(request, 25);
}

TEST_F(BinRuleCallTest, NoSamplesHaveOneBin) {
  for (const v1::HistogramBinRule rule : kRules) {
    ExpectCount(Request(ArrayOf(v1::ELEMENT_TYPE_FLOAT32, std::vector<float>()), rule), 1);
  }
}

TEST_F(BinRuleCallTest, WhatHasNoRuleNamesIt) {
  const v1::ArraySource array = ArrayOf(v1::ELEMENT_TYPE_INT32, Squares());
  const auto expect = [&](auto change, const std::string& field = kField) {
    v1::ComputeHistogramRequest request = OfSquares(v1::HISTOGRAM_BIN_RULE_SQRT);
    change(request);
    ExpectInvalidField(Ask(request), field);
  };
  expect([&](auto& request) { *request.mutable_weights() = array; });
  expect([&](auto& request) { *request.mutable_y_array() = array; });
  expect([](auto& request) { request.set_channel_count(2); });
  expect([](auto& request) { request.set_return_accumulator(true); });
  expect([](auto& request) {
    request.mutable_bins(0)->mutable_even()->set_rule(static_cast<v1::HistogramBinRule>(7));
  });
  expect([](auto& request) { request.mutable_bins(0)->mutable_even()->set_bin_count(3); },
         "bins[0].even.bin_count");
  expect([](auto& request) { request.mutable_bins(0)->mutable_even()->set_lower_bound(3); },
         "bins[0].even.upper_bound");
}

TEST_F(BinRuleCallTest, OtherCallsRefuseIt) {
  v1::ReduceByKeyRequest keyed;
  *keyed.mutable_keys() = ArrayOf(v1::ELEMENT_TYPE_INT32, Squares());
  *keyed.mutable_values() = keyed.keys();
  keyed.add_statistics(v1::STATISTIC_SUM);
  keyed.mutable_bins()->add_bins()->mutable_even()->set_rule(v1::HISTOGRAM_BIN_RULE_AUTO);
  v1::ReduceByKeyResponse groups;
  ExpectInvalidField(server_.compute().ReduceByKey(caller_.MakeContext().get(), keyed, &groups),
                     "bins.bins[0].even.rule");

  v1::BatchComputeRequest batch;
  *batch.add_operations()->mutable_histogram() = OfSquares(v1::HISTOGRAM_BIN_RULE_AUTO);
  v1::BatchComputeResponse results;
  ASSERT_TRUE(server_.compute().BatchCompute(caller_.MakeContext().get(), batch, &results).ok());
  EXPECT_THAT(results.results(0).error().message(), HasSubstr(kField));

  v1::HistogramStreamRequest header;
  v1::ComputeHistogramRequest& request = *header.mutable_request();
  request.mutable_array()->mutable_streamed_array()->set_element_type(v1::ELEMENT_TYPE_INT32);
  request.add_bins()->mutable_even()->set_rule(v1::HISTOGRAM_BIN_RULE_AUTO);
  const auto context = caller_.MakeContext();
  v1::HistogramStreamResponse streamed;
  const auto writer = server_.compute().HistogramStream(context.get(), &streamed);
  writer->Write(header);
  writer->WritesDone();
  ExpectInvalidField(writer->Finish(), "request.bins[0].even.rule");
}

TEST_F(BinRuleCallTest, SamplesThatAreNotFiniteNeedBounds) {
  for (const double number : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    const v1::ArraySource array =
        ArrayOf(v1::ELEMENT_TYPE_FLOAT64, std::vector<double>{1, 2, number});
    ExpectInvalidField(Ask(Request(array, v1::HISTOGRAM_BIN_RULE_AUTO)), kField);
  }
}

// Near quartiles, and a sample far from them.
TEST_F(BinRuleCallTest, TooManyBinsAreRefused) {
  std::vector<double> numbers(100);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i % 10);
  numbers.back() = 1e6;
  const grpc::Status status =
      Ask(Request(ArrayOf(v1::ELEMENT_TYPE_FLOAT64, numbers), v1::HISTOGRAM_BIN_RULE_FD));
  ExpectAboveLimit(status, kField);
  EXPECT_THAT(status.error_message(), HasSubstr("464159 bins"));
}

}  // namespace
}  // namespace gridfold::server
