// Accumulators over real sockets: parts answered by two servers, merged by a third.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "server/base/error_reason.h"
#include "server/testing/fake_engine.h"
#include "server/testing/test_server.h"

namespace gridfold::server {
namespace {

using testing::ElementsAre;

std::unique_ptr<kernels::Engine> MakeEngine(int threads) {
  return *kernels::CreateEngine({.kind = kernels::EngineKind::kCpu, .cpu_threads = threads});
}

class MergeTest : public testing::Test {
 protected:
  static v1::ReduceArrayResponse Reduce(TestServer& server, const v1::ReduceArrayRequest& request) {
    grpc::ClientContext context;
    v1::ReduceArrayResponse response;
    const grpc::Status status = server.compute().ReduceArray(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  static v1::ComputeHistogramResponse Histogram(TestServer& server,
                                                const v1::ComputeHistogramRequest& request) {
    grpc::ClientContext context;
    v1::ComputeHistogramResponse response;
    const grpc::Status status = server.compute().ComputeHistogram(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  grpc::Status TryMerge(const std::vector<std::string>& accumulators, bool partial,
                        v1::MergeAccumulatorsResponse& response) {
    v1::MergeAccumulatorsRequest request;
    for (const std::string& accumulator : accumulators) request.add_accumulators(accumulator);
    request.set_partial(partial);
    grpc::ClientContext context;
    return third_.compute().MergeAccumulators(&context, request, &response);
  }

  v1::MergeAccumulatorsResponse Merge(const std::vector<std::string>& accumulators,
                                      bool partial = false) {
    v1::MergeAccumulatorsResponse response;
    const grpc::Status status = TryMerge(accumulators, partial, response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  void ExpectInvalid(const std::vector<std::string>& accumulators, const std::string& field) {
    v1::MergeAccumulatorsResponse response;
    const grpc::Status status = TryMerge(accumulators, false, response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_message();
    const ErrorDetails details = DecodeDetails(status);
    EXPECT_EQ(details.reason(), kReasonInvalidField);
    EXPECT_EQ(details.field(), field);
    EXPECT_THAT(status.error_message(), testing::StartsWith(field + ": "));
  }

  std::unique_ptr<kernels::Engine> engines_[3] = {MakeEngine(1), MakeEngine(2), MakeEngine(1)};
  TestServer first_{*engines_[0]};
  TestServer second_{*engines_[1]};
  TestServer third_{*engines_[2]};
};

// Large and small numbers, which a sum in float64 would not get right.
std::vector<float> Numbers(size_t count) {
  std::mt19937_64 random(1);
  std::vector<float> numbers(count);
  for (float& x : numbers) {
    x = std::ldexp(static_cast<float>(random() % 2001) - 1000.0F,
                   static_cast<int>(random() % 90) - 45);
  }
  return numbers;
}

v1::ReduceArrayRequest PartOf(const std::vector<float>& numbers, size_t begin, size_t end) {
  v1::ReduceArrayRequest request;
  *request.mutable_array() = ArrayOf(
      v1::ELEMENT_TYPE_FLOAT32, std::vector<float>(numbers.begin() + static_cast<ptrdiff_t>(begin),
                                                   numbers.begin() + static_cast<ptrdiff_t>(end)));
  for (int s = v1::STATISTIC_COUNT; s <= v1::STATISTIC_ANY; ++s) {
    if (s != v1::STATISTIC_PRODUCT) request.add_statistics(static_cast<v1::Statistic>(s));
  }
  request.set_first_index(begin);
  request.set_return_accumulator(true);
  return request;
}

TEST_F(MergeTest, PartsOfTwoServersAreMergedByAThird) {
  const std::vector<float> numbers = Numbers(100'000);
  const v1::ReduceArrayResponse whole = Reduce(first_, PartOf(numbers, 0, numbers.size()));
  ASSERT_FALSE(whole.accumulator().empty());
  v1::ReduceArrayRequest plain = PartOf(numbers, 0, numbers.size());
  plain.set_return_accumulator(false);
  v1::ReduceArrayResponse one_call = Reduce(second_, plain);
  EXPECT_TRUE(one_call.accumulator().empty());

  const std::string a = Reduce(first_, PartOf(numbers, 0, 33'333)).accumulator();
  const std::string b = Reduce(second_, PartOf(numbers, 33'333, 33'334)).accumulator();
  const std::string c = Reduce(second_, PartOf(numbers, 33'334, 100'000)).accumulator();
  for (const auto& order : {std::vector{a, b, c}, std::vector{c, a, b}, std::vector{b, c, a}}) {
    const v1::MergeAccumulatorsResponse merged = Merge(order);
    EXPECT_EQ(merged.element_type(), v1::ELEMENT_TYPE_FLOAT32);
    EXPECT_EQ(merged.element_count(), numbers.size());
    EXPECT_EQ(merged.reduction().accumulator(), whole.accumulator());
    EXPECT_EQ(merged.reduction().group_count(), 1u);
    EXPECT_EQ(merged.reduction().execution().engine(), "cpu");
    EXPECT_EQ(merged.reduction().execution().strategy(), "merge/reduction");
    ASSERT_EQ(merged.reduction().results_size(), one_call.results_size());
    for (int i = 0; i < one_call.results_size(); ++i) {
      EXPECT_EQ(merged.reduction().results(i).SerializeAsString(),
                one_call.results(i).SerializeAsString())
          << one_call.results(i).ShortDebugString();
      EXPECT_EQ(whole.results(i).SerializeAsString(), one_call.results(i).SerializeAsString());
    }
  }
  const std::string tree = Merge({c, a}, /*partial=*/true).reduction().accumulator();
  EXPECT_EQ(Merge({tree, b}).reduction().accumulator(), whole.accumulator());
}

TEST_F(MergeTest, FirstIndexIsAddedWithoutAnAccumulatorToo) {
  v1::ReduceArrayRequest request = SmallReduction();
  request.clear_statistics();
  request.add_statistics(v1::STATISTIC_ARGMAX);
  request.add_statistics(v1::STATISTIC_ARGMIN);
  request.set_first_index(1000);
  const v1::ReduceArrayResponse response = Reduce(first_, request);
  EXPECT_THAT(response.results(0).values().uint64_values().values(), ElementsAre(1002));
  EXPECT_THAT(response.results(1).values().uint64_values().values(), ElementsAre(1000));
}

TEST_F(MergeTest, GroupsAreMergedOneByOne) {
  v1::ReduceArrayRequest request = SmallReduction();
  request.add_statistics(v1::STATISTIC_ARGMIN);
  request.set_return_accumulator(true);
  for (const uint64_t offset : {0, 0, 3}) {
    request.mutable_grouping()->mutable_segments()->add_offsets(offset);
  }
  // The first group is empty: it has a sum, and nowhere a smallest element.
  const v1::ReduceArrayResponse part = Reduce(first_, request);
  EXPECT_THAT(part.results(0).values().int64_values().values(), ElementsAre(0, 6));
  EXPECT_EQ(part.results(1).statistic(), v1::STATISTIC_ARGMIN);
  EXPECT_FALSE(part.results(1).has_values());
  ExpectInvalid({part.accumulator()}, "accumulators");

  request.mutable_grouping()->mutable_segments()->set_offsets(1, 2);
  request.set_first_index(10);
  const std::string other = Reduce(second_, request).accumulator();
  const v1::MergeAccumulatorsResponse merged = Merge({other, part.accumulator()});
  EXPECT_THAT(merged.reduction().results(0).values().int64_values().values(), ElementsAre(3, 9));
  EXPECT_THAT(merged.reduction().results(1).values().uint64_values().values(), ElementsAre(10, 0));
}

TEST_F(MergeTest, APartWithoutElements) {
  v1::ReduceArrayRequest request = PartOf({}, 0, 0);
  const v1::ReduceArrayResponse nothing = Reduce(first_, request);
  for (const v1::StatisticValues& values : nothing.results()) {
    const bool needs_elements = values.statistic() == v1::STATISTIC_MEAN;
    const bool has_identity = values.statistic() == v1::STATISTIC_SUM;
    if (needs_elements || has_identity) {
      EXPECT_EQ(values.has_values(), has_identity);
    }
  }
  const std::string some = Reduce(second_, PartOf({1, 2, 3}, 0, 3)).accumulator();
  EXPECT_EQ(Merge({nothing.accumulator(), some}).reduction().accumulator(), some);
}

TEST_F(MergeTest, OverflowOfAPartAndOfTheWhole) {
  v1::ReduceArrayRequest request = SmallReduction();
  request.set_return_accumulator(true);
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const auto accumulator_of = [&](std::vector<int64_t> elements) {
    *request.mutable_array() = ArrayOf(v1::ELEMENT_TYPE_INT64, elements);
    return Reduce(first_, request).accumulator();
  };
  const std::string large = accumulator_of({kMax});
  const std::string small = accumulator_of({1});
  const std::string negative = accumulator_of({-2});
  v1::MergeAccumulatorsResponse response;
  const grpc::Status status = TryMerge({large, small}, false, response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::OUT_OF_RANGE);
  EXPECT_EQ(DecodeDetails(status).reason(), kReasonIntegerOverflow);
  const v1::MergeAccumulatorsResponse partial = Merge({large, small}, /*partial=*/true);
  EXPECT_FALSE(partial.reduction().results(0).has_values());
  EXPECT_THAT(Merge({partial.reduction().accumulator(), negative})
                  .reduction()
                  .results(0)
                  .values()
                  .int64_values()
                  .values(),
              ElementsAre(kMax - 1));
  *request.mutable_array() = ArrayOf(v1::ELEMENT_TYPE_INT64, std::vector<int64_t>{kMax, 1});
  grpc::ClientContext context;
  v1::ReduceArrayResponse part;
  EXPECT_EQ(first_.compute().ReduceArray(&context, request, &part).error_code(),
            grpc::StatusCode::OUT_OF_RANGE);
}

TEST_F(MergeTest, Histograms) {
  const std::vector<float> numbers = Numbers(30'000);
  v1::ComputeHistogramRequest request;
  v1::EvenBins& even = *request.add_bins()->mutable_even();
  even.set_bin_count(1000);
  even.set_lower_bound(-100);
  even.set_upper_bound(100);
  request.set_channel_count(3);
  request.set_format(v1::HISTOGRAM_FORMAT_SPARSE);
  request.add_quantiles(0.5);
  const auto part = [&](TestServer& server, size_t begin, size_t end, bool accumulator) {
    *request.mutable_array() = PartOf(numbers, begin, end).array();
    request.set_return_accumulator(accumulator);
    return Histogram(server, request);
  };
  v1::ComputeHistogramResponse one_call = part(first_, 0, 30'000, false);
  const v1::ComputeHistogramResponse whole = part(first_, 0, 30'000, true);
  const v1::MergeAccumulatorsResponse merged =
      Merge({part(second_, 9'000, 30'000, true).accumulator(),
             part(first_, 0, 0, true).accumulator(), part(first_, 0, 9'000, true).accumulator()});
  EXPECT_EQ(merged.histogram().accumulator(), whole.accumulator());
  EXPECT_EQ(merged.histogram().execution().strategy(), "merge/histogram");
  EXPECT_EQ(merged.element_count(), 30'000u);
  EXPECT_FALSE(merged.histogram_description().two_dimensional());
  EXPECT_FALSE(merged.histogram_description().weighted());
  EXPECT_EQ(merged.histogram_description().format(), v1::HISTOGRAM_FORMAT_SPARSE);
  EXPECT_THAT(merged.histogram_description().quantiles(), ElementsAre(0.5));
  for (const v1::ComputeHistogramResponse* answer : {&whole, &merged.histogram()}) {
    ASSERT_EQ(answer->channels_size(), 3);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(answer->channels(i).SerializeAsString(), one_call.channels(i).SerializeAsString());
      EXPECT_EQ(answer->bins(i).SerializeAsString(), one_call.bins(i).SerializeAsString());
    }
  }
}

TEST_F(MergeTest, SumsOfWeights) {
  const std::vector<float> weights = Numbers(20'000);
  std::vector<int8_t> samples(weights.size());
  for (size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<int8_t>(i % 50);
  v1::ComputeHistogramRequest request;
  request.add_bins()->mutable_integer()->set_bin_count(50);
  request.set_return_accumulator(true);
  const auto part = [&](TestServer& server, size_t begin, size_t end) {
    *request.mutable_array() = ArrayOf(
        v1::ELEMENT_TYPE_INT8, std::vector<int8_t>(samples.begin() + static_cast<ptrdiff_t>(begin),
                                                   samples.begin() + static_cast<ptrdiff_t>(end)));
    *request.mutable_weights() = PartOf(weights, begin, end).array();
    return Histogram(server, request);
  };
  const v1::ComputeHistogramResponse whole = part(first_, 0, 20'000);
  const v1::MergeAccumulatorsResponse merged =
      Merge({part(second_, 777, 20'000).accumulator(), part(first_, 0, 777).accumulator()});
  EXPECT_EQ(merged.histogram().accumulator(), whole.accumulator());
  EXPECT_TRUE(merged.histogram_description().weighted());
  request.set_return_accumulator(false);
  EXPECT_EQ(merged.histogram().channels(0).SerializeAsString(),
            part(second_, 0, 20'000).channels(0).SerializeAsString());
}

TEST_F(MergeTest, FirstValuesBeyondInt64) {
  const uint64_t first = (uint64_t{1} << 63) + 1;
  v1::ComputeHistogramRequest request;
  *request.mutable_array() =
      ArrayOf<uint64_t>(v1::ELEMENT_TYPE_UINT64, {first, first + 2, first + 2, first + 3, 7});
  request.add_bins()->mutable_integer()->set_first_unsigned_value(first);
  request.mutable_bins(0)->mutable_integer()->set_bin_count(3);
  request.set_return_accumulator(true);
  const v1::ComputeHistogramResponse part = Histogram(first_, request);
  EXPECT_THAT(part.channels(0).counts(), ElementsAre(1, 0, 2));
  EXPECT_EQ(part.channels(0).underflow_count(), 1u);
  EXPECT_EQ(part.channels(0).overflow_count(), 1u);
  const v1::MergeAccumulatorsResponse merged = Merge({part.accumulator(), part.accumulator()});
  EXPECT_THAT(merged.histogram().channels(0).counts(), ElementsAre(2, 0, 4));
  EXPECT_THAT(merged.histogram_description().first_unsigned_values(), ElementsAre(first));
  EXPECT_THAT(merged.histogram_description().first_values(), ElementsAre(0));
}

TEST_F(MergeTest, FirstValuesOfIntegerBins) {
  v1::ComputeHistogramRequest request;
  *request.mutable_array() = ArrayOf<int8_t>(v1::ELEMENT_TYPE_INT8, {-7, -5, -5});
  request.add_bins()->mutable_integer()->set_first_value(-7);
  request.mutable_bins(0)->mutable_integer()->set_bin_count(3);
  request.set_return_accumulator(true);
  const std::string accumulator = Histogram(first_, request).accumulator();
  const v1::MergeAccumulatorsResponse merged = Merge({accumulator, accumulator});
  EXPECT_THAT(merged.histogram().channels(0).counts(), ElementsAre(2, 0, 4));
  EXPECT_THAT(merged.histogram_description().first_values(), ElementsAre(-7));
}

TEST_F(MergeTest, WhatCannotBeMergedIsNamed) {
  const std::vector<float> numbers = Numbers(10);
  const std::string good = Reduce(first_, PartOf(numbers, 0, 10)).accumulator();
  ExpectInvalid({}, "accumulators");
  ExpectInvalid({good, good, good, "foreign"}, "accumulators[3]");
  std::string damaged = good;
  damaged[good.size() / 2] ^= 1;
  ExpectInvalid({good, damaged, good}, "accumulators[1]");
  v1::ReduceArrayRequest other = PartOf(numbers, 0, 10);
  other.set_nan_policy(v1::NAN_POLICY_IGNORE);
  ExpectInvalid({good, Reduce(first_, other).accumulator()}, "accumulators[1]");
}

class SubtractionTest : public MergeTest {
 protected:
  grpc::Status Subtract(const std::string& minuend, const std::vector<std::string>& subtrahends,
                        v1::SubtractAccumulatorsResponse& response, bool partial = false) {
    v1::SubtractAccumulatorsRequest request;
    request.set_minuend(minuend);
    for (const std::string& accumulator : subtrahends) request.add_subtrahends(accumulator);
    request.set_partial(partial);
    grpc::ClientContext context;
    return third_.compute().SubtractAccumulators(&context, request, &response);
  }

  void ExpectInvalidSubtraction(const std::string& minuend,
                                const std::vector<std::string>& subtrahends,
                                const std::string& field) {
    v1::SubtractAccumulatorsResponse response;
    const grpc::Status status = Subtract(minuend, subtrahends, response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_message();
    EXPECT_EQ(DecodeDetails(status).field(), field);
    EXPECT_THAT(status.error_message(), testing::StartsWith(field + ": "));
  }

  // The answer for a part of the numbers, of statistics that can be taken out.
  v1::ReduceArrayResponse Sums(TestServer& server, const std::vector<float>& numbers, size_t begin,
                               size_t end) {
    v1::ReduceArrayRequest request = PartOf(numbers, begin, end);
    request.clear_statistics();
    for (const v1::Statistic statistic : {v1::STATISTIC_SUM, v1::STATISTIC_VARIANCE}) {
      request.add_statistics(statistic);
    }
    return Reduce(server, request);
  }
};

TEST_F(SubtractionTest, WhatRemainsIsThePartByItself) {
  const std::vector<float> numbers = Numbers(1000);
  const v1::ReduceArrayResponse old = Sums(first_, numbers, 0, 300);
  const v1::ReduceArrayResponse rest = Sums(second_, numbers, 300, 1000);
  const v1::MergeAccumulatorsResponse whole = Merge({old.accumulator(), rest.accumulator()});
  v1::SubtractAccumulatorsResponse response;
  const grpc::Status status =
      Subtract(whole.reduction().accumulator(), {old.accumulator()}, response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  const v1::MergeAccumulatorsResponse& remainder = response.remainder();
  EXPECT_EQ(remainder.reduction().accumulator(), rest.accumulator());
  EXPECT_EQ(remainder.element_count(), 700u);
  EXPECT_EQ(remainder.element_type(), v1::ELEMENT_TYPE_FLOAT32);
  EXPECT_EQ(remainder.reduction().execution().strategy(), "subtract/reduction");
  EXPECT_EQ(remainder.reduction().execution().engine(), "cpu");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(remainder.reduction().results(i).SerializeAsString(),
              rest.results(i).SerializeAsString());
  }
}

TEST_F(SubtractionTest, WhatCannotBeSubtractedIsNamed) {
  const std::vector<float> numbers = Numbers(10);
  const std::string good = Sums(first_, numbers, 0, 10).accumulator();
  const std::string extremes = Reduce(first_, PartOf(numbers, 0, 10)).accumulator();
  ExpectInvalidSubtraction("", {good}, "minuend");
  ExpectInvalidSubtraction(good, {}, "subtrahends");
  ExpectInvalidSubtraction("foreign", {good}, "minuend");
  ExpectInvalidSubtraction(good, {good, "foreign"}, "subtrahends[1]");
  ExpectInvalidSubtraction(good, {extremes}, "subtrahends[0]");
  ExpectInvalidSubtraction(extremes, {extremes}, "minuend");
  ExpectInvalidSubtraction(good, {good, good}, "subtrahends");
  // Nothing is left, which has no variance; more may come.
  ExpectInvalidSubtraction(good, {good}, "minuend");
  v1::SubtractAccumulatorsResponse response;
  ASSERT_TRUE(Subtract(good, {good}, response, /*partial=*/true).ok());
  EXPECT_EQ(response.remainder().element_count(), 0u);
}

TEST(MergeLimitsTest, AnswersLargerThanAMessageAreRefused) {
  const std::unique_ptr<kernels::Engine> engine = MakeEngine(1);
  Limits small;
  small.message_bytes_max = kMessageBytesFloor;
  TestServer roomy(*engine);
  TestServer tight(*engine, small);
  v1::ReduceArrayRequest request = SmallReduction();
  v1::InlineArray& rows = *request.mutable_array()->mutable_inline_array();
  rows.set_element_type(v1::ELEMENT_TYPE_FLOAT64);
  rows.add_shape(100);
  rows.add_shape(1);
  rows.mutable_data()->assign(800, '\0');
  request.mutable_grouping()->set_axis(1);
  request.set_return_accumulator(true);
  v1::ReduceArrayResponse part;
  grpc::ClientContext context;
  ASSERT_TRUE(roomy.compute().ReduceArray(&context, request, &part).ok());
  v1::MergeAccumulatorsRequest merge;
  merge.add_accumulators(part.accumulator());
  v1::MergeAccumulatorsResponse merged;
  grpc::ClientContext merge_context;
  const grpc::Status status = tight.compute().MergeAccumulators(&merge_context, merge, &merged);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DecodeDetails(status).field(), "accumulators");
  v1::SubtractAccumulatorsRequest subtract;
  subtract.set_minuend(part.accumulator());
  subtract.add_subtrahends(part.accumulator());
  v1::SubtractAccumulatorsResponse rest;
  grpc::ClientContext subtract_context;
  EXPECT_EQ(DecodeDetails(tight.compute().SubtractAccumulators(&subtract_context, subtract, &rest))
                .field(),
            "minuend");
}

TEST(MergeLimitsTest, AnEngineWithoutStatesFailsCleanly) {
  FakeEngine engine;
  engine.makes_states = false;
  TestServer server(engine);
  v1::ReduceArrayRequest request = SmallReduction();
  request.set_return_accumulator(true);
  v1::ReduceArrayResponse response;
  grpc::ClientContext context;
  EXPECT_EQ(server.compute().ReduceArray(&context, request, &response).error_code(),
            grpc::StatusCode::INTERNAL);
}

}  // namespace
}  // namespace gridfold::server
