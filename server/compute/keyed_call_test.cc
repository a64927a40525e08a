// Groups by key over a real socket: of inline and resident arrays and of regions, by ranges, keys
// that are found and bins, in parts that are merged; and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "server/testing/region_service_fixture.h"

namespace gridfold::server {
namespace {

using testing::ElementsAre;
using testing::IsNan;

const std::vector<int32_t> kKeys = {4, -1, 4, 2, -1, 4};
const std::vector<float> kValues = {1, 2, 0.5F, 8, 16, 32};

class KeyedCallTest : public RegionServiceTest {
 protected:
  static v1::ReduceByKeyRequest Request(const v1::ArraySource& keys, const v1::ArraySource& values,
                                        std::vector<v1::Statistic> statistics) {
    v1::ReduceByKeyRequest request;
    *request.mutable_keys() = keys;
    *request.mutable_values() = values;
    for (const v1::Statistic statistic : statistics) request.add_statistics(statistic);
    request.mutable_found();
    return request;
  }
  static v1::ReduceByKeyRequest SumsAndPlaces() {
    return Request(ArrayOf(v1::ELEMENT_TYPE_INT32, kKeys),
                   ArrayOf(v1::ELEMENT_TYPE_FLOAT32, kValues),
                   {v1::STATISTIC_SUM, v1::STATISTIC_ARGMAX});
  }

  grpc::Status Call(const v1::ReduceByKeyRequest& request) {
    response_.Clear();
    return server_.compute().ReduceByKey(caller_.MakeContext().get(), request, &response_);
  }
  const auto& Doubles(int i) { return response_.results(i).values().double_values().values(); }
  const auto& Indices(int i) { return response_.results(i).values().uint64_values().values(); }

  v1::ReduceByKeyResponse response_;
};

TEST_F(KeyedCallTest, KeysThatAreFound) {
  const grpc::Status status = Call(SumsAndPlaces());
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response_.group_count(), 3u);
  EXPECT_THAT(response_.keys().int64_values().values(), ElementsAre(-1, 2, 4));
  EXPECT_THAT(response_.counts(), ElementsAre(2, 1, 3));
  EXPECT_THAT(Doubles(0), ElementsAre(18, 8, 33.5));
  EXPECT_THAT(Indices(1), ElementsAre(4, 3, 5));
  EXPECT_EQ(response_.execution().strategy(), "by-key/sort");
  EXPECT_EQ(response_.bins_size(), 0);
}

TEST_F(KeyedCallTest, ARangeAnswersForKeysThatDoNotOccurToo) {
  v1::ReduceByKeyRequest request = SumsAndPlaces();
  request.add_statistics(v1::STATISTIC_MEAN);
  request.mutable_range()->set_first_key(-1);
  request.mutable_range()->set_key_count(6);
  request.set_first_index(100);
  ASSERT_TRUE(Call(request).ok());
  EXPECT_FALSE(response_.has_keys());
  EXPECT_THAT(response_.counts(), ElementsAre(2, 0, 0, 1, 0, 3));
  EXPECT_THAT(Doubles(0), ElementsAre(18, 0, 0, 8, 0, 33.5));
  const uint64_t none = std::numeric_limits<uint64_t>::max();
  EXPECT_THAT(Indices(1), ElementsAre(104, none, none, 103, none, 105));
  EXPECT_THAT(Doubles(2), ElementsAre(9, IsNan(), IsNan(), 8, IsNan(), 33.5 / 3));
}

TEST_F(KeyedCallTest, QuantilesOfEachKey) {
  v1::ReduceByKeyRequest request = SumsAndPlaces();
  request.add_quantiles(1);
  request.add_quantiles(0.5);
  ASSERT_TRUE(Call(request).ok());
  const v1::ReduceByKeyResponse beside = response_;
  ASSERT_EQ(beside.quantile_values_size(), 2);
  EXPECT_EQ(beside.results_size(), 2);
  request.clear_statistics();
  request.set_quantile_method(v1::QUANTILE_METHOD_LOWER);
  request.mutable_range()->set_first_key(-1);
  request.mutable_range()->set_key_count(6);
  ASSERT_TRUE(Call(request).ok());
  EXPECT_EQ(response_.results_size(), 0);
  ASSERT_EQ(response_.quantile_values_size(), 2);
  const auto& largest = response_.quantile_values(0).double_values().values();
  EXPECT_THAT(beside.quantile_values(0).double_values().values(),
              ElementsAre(largest[0], largest[3], largest[5]));
  request.mutable_values()->CopyFrom(request.keys());
  ASSERT_TRUE(Call(request).ok());
  EXPECT_THAT(response_.quantile_values(1).int64_values().values(), ElementsAre(-1, 0, 0, 2, 0, 4));

  request.add_quantiles(-0.5);
  ExpectInvalidField(Call(request), "quantiles[2]");
  request.mutable_quantiles()->Resize(257, 0.5);
  ExpectAboveLimit(Call(request), "quantiles");
  request.mutable_quantiles()->Resize(1, 0.5);
  request.set_quantile_method(static_cast<v1::QuantileMethod>(99));
  ExpectInvalidField(Call(request), "quantile_method");
  request.clear_quantile_method();
  request.add_statistics(v1::STATISTIC_SUM);
  request.set_return_accumulator(true);
  ExpectInvalidField(Call(request), "quantiles");
}

TEST_F(KeyedCallTest, BinsInOneAndTwoDimensions) {
  v1::ReduceByKeyRequest request = SumsAndPlaces();
  *request.mutable_keys() =
      ArrayOf(v1::ELEMENT_TYPE_FLOAT64, std::vector<double>{0, 5, 10, 12, -3, std::nan("")});
  v1::EvenBins& even = *request.mutable_bins()->add_bins()->mutable_even();
  even.set_bin_count(2);
  even.set_lower_bound(0);
  even.set_upper_bound(10);
  ASSERT_TRUE(Call(request).ok());
  EXPECT_THAT(response_.counts(), ElementsAre(1, 2));
  EXPECT_THAT(Doubles(0), ElementsAre(1, 2.5));
  EXPECT_THAT(response_.bins(0).edges(), ElementsAre(0, 5, 10));
  EXPECT_EQ(response_.underflow_count(), 1u);
  EXPECT_EQ(response_.overflow_count(), 1u);
  EXPECT_EQ(response_.nan_count(), 1u);
  request.mutable_bins()->set_out_of_range_policy(v1::OUT_OF_RANGE_POLICY_CLAMP);
  ASSERT_TRUE(Call(request).ok());
  EXPECT_THAT(Doubles(0), ElementsAre(17, 10.5));

  *request.mutable_bins()->mutable_y_keys() =
      ArrayOf(v1::ELEMENT_TYPE_FLOAT64, std::vector<double>{9, 1, 1, 1, 1, 1});
  ASSERT_TRUE(Call(request).ok());
  EXPECT_THAT(response_.counts(), ElementsAre(1, 1, 3, 0));
  EXPECT_THAT(Doubles(0), ElementsAre(16, 1, 10.5, 0));
  EXPECT_EQ(response_.bins_size(), 2);
}

TEST_F(KeyedCallTest, BinsInEightDimensionsOfAnyTypes) {
  v1::ReduceByKeyRequest request = SumsAndPlaces();
  v1::KeyBins& bins = *request.mutable_bins();
  v1::IntegerBins& integers = *bins.add_bins()->mutable_integer();
  integers.set_first_value(-1);
  integers.set_bin_count(6);
  const std::vector<double> halves = {0, 1, 2, 1, 1, -1};
  for (int axis = 1; axis < 8; ++axis) {
    v1::EvenBins& even = *bins.add_bins()->mutable_even();
    even.set_bin_count(axis == 7 ? 2 : 1);
    even.set_lower_bound(0);
    even.set_upper_bound(2);
    *(axis == 1 ? bins.mutable_y_keys() : bins.add_further_keys()) =
        ArrayOf(v1::ELEMENT_TYPE_FLOAT64, halves);
  }
  const grpc::Status status = Call(request);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response_.group_count(), 12u);
  EXPECT_THAT(response_.counts(), ElementsAre(0, 2, 0, 0, 0, 0, 0, 1, 0, 0, 1, 1));
  EXPECT_THAT(Doubles(0), ElementsAre(0, 18, 0, 0, 0, 0, 0, 8, 0, 0, 1, 0.5));
  EXPECT_EQ(response_.underflow_count(), 1u);
  ASSERT_EQ(response_.bins_size(), 8);
  EXPECT_THAT(response_.bins(7).edges(), ElementsAre(0, 1, 2));

  caller_.Put("halves", v1::ELEMENT_TYPE_FLOAT64, {halves.size()}, halves);
  *bins.mutable_further_keys(3) = Resident("halves");
  ASSERT_TRUE(Call(request).ok());
  EXPECT_THAT(Doubles(0), ElementsAre(0, 18, 0, 0, 0, 0, 0, 8, 0, 0, 1, 0.5));

  *bins.mutable_further_keys(5) = ArrayOf(v1::ELEMENT_TYPE_FLOAT64, std::vector<double>{1});
  ExpectInvalidField(Call(request), "bins.further_keys[5].inline_array.data");
  *bins.mutable_further_keys(5) = bins.y_keys();
  bins.mutable_bins(4)->mutable_even()->set_bin_count(0);
  ExpectInvalidField(Call(request), "bins.bins[4].even.bin_count");
  bins.mutable_bins(4)->mutable_even()->set_bin_count(200);
  ExpectAboveLimit(Call(request), "bins.bins[4].even.bin_count");
  bins.mutable_bins()->RemoveLast();
  ExpectInvalidField(Call(request), "bins.bins");
  *bins.add_further_keys() = bins.y_keys();
  ExpectAboveLimit(Call(request), "bins.further_keys");
}

TEST_F(KeyedCallTest, ResidentArraysAndRegionsHaveTheAnswersOfInlineOnes) {
  ASSERT_TRUE(Call(SumsAndPlaces()).ok());
  response_.clear_execution();
  const std::string expected = response_.DebugString();
  caller_.Put("keys", v1::ELEMENT_TYPE_INT32, {kKeys.size()}, kKeys);
  const SharedObject object(kValues);
  ASSERT_TRUE(Register("values", object).ok());
  v1::ReduceByKeyRequest request = SumsAndPlaces();
  *request.mutable_keys() = Resident("keys");
  *request.mutable_values() = InRegion("values", v1::ELEMENT_TYPE_FLOAT32, 0, {kValues.size()});
  ASSERT_TRUE(Call(request).ok());
  response_.clear_execution();
  EXPECT_EQ(response_.DebugString(), expected);
}

TEST_F(KeyedCallTest, PartsOfARangeAreMerged) {
  v1::MergeAccumulatorsRequest merge;
  for (const uint64_t first : {0, 3}) {
    const auto part = [first](const auto& all) {
      return std::vector(all.begin() + static_cast<ptrdiff_t>(first),
                         all.begin() + static_cast<ptrdiff_t>(first) + 3);
    };
    v1::ReduceByKeyRequest request = Request(ArrayOf(v1::ELEMENT_TYPE_INT32, part(kKeys)),
                                             ArrayOf(v1::ELEMENT_TYPE_FLOAT32, part(kValues)),
                                             {v1::STATISTIC_SUM, v1::STATISTIC_COUNT});
    request.mutable_range()->set_first_key(-1);
    request.mutable_range()->set_key_count(6);
    request.set_return_accumulator(true);
    request.set_first_index(first);
    ASSERT_TRUE(Call(request).ok());
    EXPECT_EQ(response_.counts_size(), 6);
    merge.add_accumulators(response_.accumulator());
  }
  v1::MergeAccumulatorsResponse merged;
  const grpc::Status status =
      server_.compute().MergeAccumulators(caller_.MakeContext().get(), merge, &merged);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_THAT(merged.reduction().results(0).values().double_values().values(),
              ElementsAre(18, 0, 0, 8, 0, 33.5));
  EXPECT_THAT(merged.reduction().results(1).values().uint64_values().values(),
              ElementsAre(2, 0, 0, 1, 0, 3));
}

TEST_F(KeyedCallTest, InABatchEachHasItsAnswer) {
  v1::BatchComputeRequest batch;
  *batch.add_operations()->mutable_keyed_reduction() = SumsAndPlaces();
  *batch.add_operations()->mutable_keyed_reduction() = SumsAndPlaces();
  batch.mutable_operations(1)->mutable_keyed_reduction()->mutable_found()->set_key_count_max(1);
  *batch.add_operations()->mutable_reduction() = SmallReduction();
  v1::BatchComputeResponse answers;
  const grpc::Status status =
      server_.compute().BatchCompute(caller_.MakeContext().get(), batch, &answers);
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_TRUE(Call(SumsAndPlaces()).ok());
  response_.clear_execution();
  EXPECT_EQ(answers.results(0).keyed_reduction().DebugString(), response_.DebugString());
  EXPECT_THAT(answers.results(1).error().message(), testing::HasSubstr("more than 1 different"));
  EXPECT_TRUE(answers.results(2).has_reduction());
}

TEST_F(KeyedCallTest, BadRequestsAreRefusedByField) {
  v1::ReduceByKeyRequest request = SumsAndPlaces();
  request.clear_groups();
  ExpectInvalidField(Call(request), "groups");
  request = SumsAndPlaces();
  request.clear_keys();
  ExpectInvalidField(Call(request), "keys");
  request = SumsAndPlaces();
  *request.mutable_values() = ArrayOf(v1::ELEMENT_TYPE_INT8, std::vector<int8_t>{1});
  ExpectInvalidField(Call(request), "values.inline_array.data");
  request = SumsAndPlaces();
  *request.mutable_keys() = ArrayOf(v1::ELEMENT_TYPE_FLOAT32, kValues);
  ExpectInvalidField(Call(request), "keys");
  request = SumsAndPlaces();
  request.mutable_range()->set_key_count(4);
  ExpectInvalidField(Call(request), "keys");
  request.mutable_range()->set_key_count(1001);
  ExpectAboveLimit(Call(request), "range.key_count");
  request = SumsAndPlaces();
  request.mutable_found()->set_key_count_max(2);
  ExpectAboveLimit(Call(request), "found.key_count_max");
  request = SumsAndPlaces();
  request.mutable_bins();
  ExpectInvalidField(Call(request), "bins.bins");
  request.mutable_bins()->add_bins();
  ExpectInvalidField(Call(request), "bins.bins[0]");
  request.mutable_bins()->mutable_bins(0)->mutable_even()->set_bin_count(5);
  *request.mutable_bins()->mutable_y_keys() =
      ArrayOf(v1::ELEMENT_TYPE_FLOAT32, std::vector<float>{1});
  ExpectInvalidField(Call(request), "bins.y_keys.inline_array.data");
  request = SumsAndPlaces();
  request.clear_statistics();
  ExpectInvalidField(Call(request), "statistics");
  request = SumsAndPlaces();
  *request.mutable_values() = Resident("nothing");
  ExpectNotFound(Call(request));
}

}  // namespace
}  // namespace gridfold::server
