// Statistics in the output type that a request names, over a real socket. What is expected is known
// in the float64 that the same request answers by default, rounded by the processor, or by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "server/testing/region_service_fixture.h"
#include "server/testing/stream_caller.h"

namespace gridfold::server {
namespace {

using testing::ElementsAre;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

class OutputTypeCallTest : public RegionServiceTest {
 protected:
  static v1::ReduceArrayRequest Request(const v1::ArraySource& array,
                                        const std::vector<v1::Statistic>& statistics,
                                        v1::ElementType output_type) {
    v1::ReduceArrayRequest request;
    *request.mutable_array() = array;
    for (const v1::Statistic statistic : statistics) request.add_statistics(statistic);
    request.set_output_type(output_type);
    return request;
  }
  static v1::ReduceArrayRequest SumOf(const std::vector<float>& values,
                                      v1::ElementType output_type) {
    return Request(ArrayOf(v1::ELEMENT_TYPE_FLOAT32, values), {v1::STATISTIC_SUM}, output_type);
  }

  template <class T>
  static std::vector<T> Typed(const v1::StatisticValues& values, v1::ElementType type) {
    const v1::InlineArray& typed = values.values().typed_values();
    EXPECT_EQ(typed.element_type(), type);
    EXPECT_EQ(typed.shape_size(), 0);
    std::vector<T> elements(typed.data().size() / sizeof(T));
    std::memcpy(elements.data(), typed.data().data(), typed.data().size());
    return elements;
  }
  static std::vector<float> Floats(const v1::StatisticValues& values) {
    return Typed<float>(values, v1::ELEMENT_TYPE_FLOAT32);
  }
  static std::vector<uint16_t> Halves(const v1::StatisticValues& values) {
    return Typed<uint16_t>(values, v1::ELEMENT_TYPE_FLOAT16);
  }

  float SumAsFloat(const std::vector<float>& values) {
    const grpc::Status status = caller_.Compute(SumOf(values, v1::ELEMENT_TYPE_FLOAT32));
    EXPECT_TRUE(status.ok()) << status.error_message();
    return Floats(caller_.reduced.results(0)).front();
  }

  // That each floating-point statistic is the default answer's, rounded to float32.
  template <class Answer>
  static void ExpectRounded(const Answer& doubles, const Answer& floats) {
    ASSERT_EQ(doubles.results_size(), floats.results_size());
    for (int i = 0; i < doubles.results_size(); ++i) {
      const v1::ValueList& expected = doubles.results(i).values();
      if (!expected.has_double_values()) {
        EXPECT_EQ(expected.SerializeAsString(), floats.results(i).values().SerializeAsString());
        continue;
      }
      const std::vector<float> actual = Floats(floats.results(i));
      ASSERT_EQ(actual.size(), static_cast<size_t>(expected.double_values().values_size()));
      for (size_t g = 0; g < actual.size(); ++g) {
        const double value = expected.double_values().values(static_cast<int>(g));
        EXPECT_EQ(std::bit_cast<uint32_t>(actual[g]),
                  std::bit_cast<uint32_t>(static_cast<float>(value)));
      }
      EXPECT_EQ(doubles.results(i).validity(), floats.results(i).validity());
    }
  }

  void ExpectRounded(v1::ReduceArrayRequest request) {
    request.clear_output_type();
    grpc::Status status = caller_.Compute(request);
    ASSERT_TRUE(status.ok()) << status.error_message();
    const v1::ReduceArrayResponse doubles = caller_.reduced;
    request.set_output_type(v1::ELEMENT_TYPE_FLOAT32);
    status = caller_.Compute(request);
    ASSERT_TRUE(status.ok()) << status.error_message();
    ExpectRounded(doubles, caller_.reduced);
    EXPECT_EQ(doubles.accumulator(), caller_.reduced.accumulator());
  }

  std::vector<float> RandomFloats(size_t count) {
    std::mt19937_64 random(7);
    std::vector<float> values(count);
    for (float& x : values) {
      x = std::ldexp(static_cast<float>(static_cast<int32_t>(random())),
                     static_cast<int>(random() % 60) - 60);
    }
    return values;
  }
};

const std::vector<v1::Statistic> kStatistics = {
    v1::STATISTIC_SUM,    v1::STATISTIC_MEAN,     v1::STATISTIC_MIN, v1::STATISTIC_COUNT,
    v1::STATISTIC_ARGMAX, v1::STATISTIC_VARIANCE, v1::STATISTIC_ALL, v1::STATISTIC_RANGE};

TEST_F(OutputTypeCallTest, ValuesComeInTheTypeAndOthersAsEver) {
  auto request = Request(ArrayOf(v1::ELEMENT_TYPE_FLOAT32, std::vector<float>{1, 2, -4}),
                         {v1::STATISTIC_SUM, v1::STATISTIC_COUNT, v1::STATISTIC_MIN},
                         v1::ELEMENT_TYPE_FLOAT16);
  ASSERT_TRUE(caller_.Compute(request).ok());
  EXPECT_THAT(Halves(caller_.reduced.results(0)), ElementsAre(0xBC00));  // -1.
  EXPECT_THAT(caller_.reduced.results(1).values().uint64_values().values(), ElementsAre(3));
  EXPECT_THAT(Halves(caller_.reduced.results(2)), ElementsAre(0xC400));  // -4.
  request.set_output_type(v1::ELEMENT_TYPE_BFLOAT16);
  ASSERT_TRUE(caller_.Compute(request).ok());
  EXPECT_THAT(Typed<uint16_t>(caller_.reduced.results(0), v1::ELEMENT_TYPE_BFLOAT16),
              ElementsAre(0xBF80));
  request.set_output_type(v1::ELEMENT_TYPE_FLOAT64);
  ASSERT_TRUE(caller_.Compute(request).ok());
  EXPECT_THAT(caller_.reduced.results(0).values().double_values().values(), ElementsAre(-1.0));
}

// 1 + 2^-24 is halfway between two values of float32.
TEST_F(OutputTypeCallTest, ValuesAreTheFloat64OnesRoundedToTheNearestEven) {
  const float up = std::nextafter(1.0F, 2.0F);
  EXPECT_EQ(SumAsFloat({1, 0x1p-24F}), 1.0F);
  EXPECT_EQ(SumAsFloat({up, 0x1p-24F}), std::nextafter(up, 2.0F));
  EXPECT_EQ(SumAsFloat({1, 0x1p-24F, 0x1p-52F}), up);
  EXPECT_EQ(SumAsFloat({1, 0x1p-24F, -0x1p-53F}), 1.0F);
  // The float64 sum is halfway where the exact one is not: the second rounding goes to the even.
  EXPECT_EQ(SumAsFloat({1, 0x1p-24F, 0x1p-60F}), 1.0F);
  EXPECT_EQ(SumAsFloat({up, 0x1p-24F, -0x1p-60F}), std::nextafter(up, 2.0F));
}

TEST_F(OutputTypeCallTest, OverflowBecomesInfiniteAndOthersStay) {
  const float largest = std::numeric_limits<float>::max();
  EXPECT_EQ(SumAsFloat({largest, 0x1p102F}), largest);
  EXPECT_EQ(SumAsFloat({largest, 0x1p103F}), kInfinity);
  EXPECT_EQ(SumAsFloat({-largest, -largest}), -kInfinity);
  EXPECT_EQ(SumAsFloat({largest, largest, -largest}), largest);
  EXPECT_EQ(SumAsFloat({kInfinity, 1}), kInfinity);
  EXPECT_TRUE(std::isnan(SumAsFloat({kInfinity, -kInfinity})));
  EXPECT_EQ(std::bit_cast<uint32_t>(SumAsFloat({-0.0F, -0.0F})), 0x8000'0000u);
  EXPECT_EQ(SumAsFloat({0x1p-149F, 0x1p-149F}), 0x1p-148F);
}

TEST_F(OutputTypeCallTest, SubnormalsAndOverflowOfFloat16) {
  const auto sum = [&](const std::vector<float>& values) {
    EXPECT_TRUE(caller_.Compute(SumOf(values, v1::ELEMENT_TYPE_FLOAT16)).ok());
    return Halves(caller_.reduced.results(0)).front();
  };
  EXPECT_EQ(sum({0x1p-24F}), 1);
  EXPECT_EQ(sum({0x1p-25F}), 0);
  EXPECT_EQ(sum({0x1p-25F, 0x1p-40F}), 1);
  EXPECT_EQ(sum({-0x1p-26F}), 0x8000);
  EXPECT_EQ(sum({65504, 15}), 0x7BFF);
  EXPECT_EQ(sum({65504, 16}), 0x7C00);
}

TEST_F(OutputTypeCallTest, EveryGroupingAndType) {
  std::vector<float> values = RandomFloats(600);
  values[100] = kInfinity;
  values[200] = std::numeric_limits<float>::quiet_NaN();
  v1::ArraySource array = ArrayOf(v1::ELEMENT_TYPE_FLOAT32, values);
  for (const uint64_t extent : {20, 6, 5}) array.mutable_inline_array()->add_shape(extent);
  auto request = Request(array, kStatistics, {});
  ExpectRounded(request);
  for (const int32_t axis : {0, 1, 2}) {
    request.mutable_grouping()->mutable_axes()->clear_axes();
    request.mutable_grouping()->mutable_axes()->add_axes(axis);
    ExpectRounded(request);
  }
  std::vector<int8_t> integers(100);
  for (size_t i = 0; i < integers.size(); ++i) integers[i] = static_cast<int8_t>(i * 37);
  ExpectRounded(Request(ArrayOf(v1::ELEMENT_TYPE_INT8, integers), kStatistics, {}));
  ExpectRounded(Request(ArrayOf(v1::ELEMENT_TYPE_BOOL, std::vector<uint8_t>{1, 0, 1}),
                        {v1::STATISTIC_MEAN, v1::STATISTIC_MAX}, {}));
}

// Whatever else a request asks for that takes a way of its own.
TEST_F(OutputTypeCallTest, EveryOption) {
  const auto request =
      Request(ArrayOf(v1::ELEMENT_TYPE_FLOAT32, RandomFloats(50)), kStatistics, {});
  auto with_accumulator = request;
  with_accumulator.set_return_accumulator(true);
  ExpectRounded(with_accumulator);
  auto selected = request;
  *selected.mutable_where() = ArrayOf(v1::ELEMENT_TYPE_BOOL, std::vector<uint8_t>(50, 1));
  ExpectRounded(selected);
  auto scaled = request;
  scaled.set_fractional_degrees_of_freedom(1.5);
  ExpectRounded(scaled);
  auto lacking = request;
  for (const uint64_t offset : {0, 0, 20, 50}) {
    lacking.mutable_grouping()->mutable_segments()->add_offsets(offset);
  }
  lacking.mutable_empty_group()->set_policy(v1::EMPTY_GROUP_POLICY_NULL);
  ExpectRounded(lacking);
  lacking.clear_statistics();
  lacking.add_statistics(v1::STATISTIC_MEAN);
  lacking.mutable_empty_group()->set_policy(v1::EMPTY_GROUP_POLICY_VALUE);
  lacking.mutable_empty_group()->mutable_value()->set_double_value(0.1);
  ExpectRounded(lacking);
}

TEST_F(OutputTypeCallTest, Keys) {
  v1::ReduceByKeyRequest request;
  *request.mutable_keys() = ArrayOf(v1::ELEMENT_TYPE_INT32, std::vector<int32_t>{3, 1, 3, 9, 1});
  *request.mutable_values() = ArrayOf(v1::ELEMENT_TYPE_FLOAT32, RandomFloats(5));
  for (const v1::Statistic statistic : kStatistics) request.add_statistics(statistic);
  request.add_quantiles(0.5);
  const auto ask = [&](v1::ReduceByKeyResponse& response) {
    return server_.compute().ReduceByKey(caller_.MakeContext().get(), request, &response);
  };
  for (const bool is_range : {false, true}) {
    if (is_range) {
      request.mutable_range()->set_key_count(10);
    } else {
      request.mutable_found();
    }
    request.clear_output_type();
    v1::ReduceByKeyResponse doubles;
    ASSERT_TRUE(ask(doubles).ok());
    request.set_output_type(v1::ELEMENT_TYPE_FLOAT32);
    v1::ReduceByKeyResponse floats;
    ASSERT_TRUE(ask(floats).ok());
    ExpectRounded(doubles, floats);
    EXPECT_EQ(doubles.quantile_values(0).SerializeAsString(),
              floats.quantile_values(0).SerializeAsString());
    v1::ReduceByKeyStreamResponse streamed;
    std::vector<v1::ReduceByKeyStreamRequest> messages(1);
    v1::ReduceByKeyRequest& header = *messages[0].mutable_request();
    header = request;
    header.clear_quantiles();
    *header.mutable_keys() = Streamed(v1::ELEMENT_TYPE_INT32);
    *header.mutable_values() = Streamed(v1::ELEMENT_TYPE_FLOAT32);
    messages[0].set_keys(request.keys().inline_array().data());
    messages[0].set_values(request.values().inline_array().data());
    ASSERT_TRUE(Send(server_, messages, streamed).ok());
    ExpectRounded(doubles, streamed.result());
  }
  request.clear_statistics();
  request.add_statistics(v1::STATISTIC_COUNT);
  v1::ReduceByKeyResponse response;
  ExpectInvalidField(ask(response), "output_type");
  request.set_output_type(v1::ELEMENT_TYPE_INT32);
  ExpectInvalidField(ask(response), "output_type");
}

TEST_F(OutputTypeCallTest, MergesAndSubtractions) {
  const std::vector<float> values = {1, 0x1p-24F, 5, 7};
  auto part = Request({}, {v1::STATISTIC_SUM, v1::STATISTIC_MEAN}, v1::ELEMENT_TYPE_FLOAT16);
  part.set_return_accumulator(true);
  std::vector<std::string> accumulators;
  for (size_t i = 0; i < values.size(); i += 2) {
    *part.mutable_array() =
        ArrayOf(v1::ELEMENT_TYPE_FLOAT32, std::vector<float>{values[i], values[i + 1]});
    ASSERT_TRUE(caller_.Compute(part).ok());
    accumulators.push_back(caller_.reduced.accumulator());
  }
  v1::MergeAccumulatorsRequest request;
  for (const std::string& accumulator : accumulators) request.add_accumulators(accumulator);
  v1::MergeAccumulatorsResponse merged;
  const auto merge = [&] {
    return server_.compute().MergeAccumulators(caller_.MakeContext().get(), request, &merged);
  };
  ASSERT_TRUE(merge().ok());
  EXPECT_THAT(merged.reduction().results(0).values().double_values().values(),
              ElementsAre(13 + 0x1p-24));
  request.set_output_type(v1::ELEMENT_TYPE_FLOAT32);
  ASSERT_TRUE(merge().ok());
  EXPECT_THAT(Floats(merged.reduction().results(0)), ElementsAre(13.0F));

  v1::SubtractAccumulatorsRequest subtraction;
  subtraction.set_minuend(merged.reduction().accumulator());
  subtraction.add_subtrahends(accumulators[1]);
  subtraction.set_output_type(v1::ELEMENT_TYPE_FLOAT32);
  v1::SubtractAccumulatorsResponse remainder;
  const auto subtract = [&] {
    return server_.compute().SubtractAccumulators(caller_.MakeContext().get(), subtraction,
                                                  &remainder);
  };
  ASSERT_TRUE(subtract().ok());
  EXPECT_THAT(Floats(remainder.remainder().reduction().results(0)), ElementsAre(1.0F));

  request.set_output_type(v1::ELEMENT_TYPE_INT8);
  ExpectInvalidField(merge(), "output_type");
  subtraction.set_output_type(v1::ELEMENT_TYPE_BOOL);
  ExpectInvalidField(subtract(), "output_type");
}

TEST_F(OutputTypeCallTest, MergesOfFoundKeys) {
  v1::ReduceByKeyRequest request;
  *request.mutable_keys() = ArrayOf(v1::ELEMENT_TYPE_INT32, std::vector<int32_t>{3, 1, 3, 9, 1});
  *request.mutable_values() = ArrayOf(v1::ELEMENT_TYPE_FLOAT32, RandomFloats(5));
  request.mutable_found();
  for (const v1::Statistic statistic : kStatistics) request.add_statistics(statistic);
  request.set_return_accumulator(true);
  v1::ReduceByKeyResponse doubles;
  ASSERT_TRUE(server_.compute().ReduceByKey(caller_.MakeContext().get(), request, &doubles).ok());
  v1::MergeAccumulatorsRequest merge;
  merge.add_accumulators(doubles.accumulator());
  merge.set_output_type(v1::ELEMENT_TYPE_FLOAT32);
  v1::MergeAccumulatorsResponse merged;
  ASSERT_TRUE(
      server_.compute().MergeAccumulators(caller_.MakeContext().get(), merge, &merged).ok());
  ExpectRounded(doubles, merged.keyed_reduction());
  EXPECT_EQ(merged.keyed_reduction().accumulator(), doubles.accumulator());
}

// Of a server whose answers may have the least bytes that there is an option for.
class OutputTypeRoomTest : public OutputTypeCallTest {
 protected:
  static Limits SmallLimits() {
    Limits limits;
    limits.message_bytes_max = kMessageBytesFloor;
    return limits;
  }

  grpc::Status Ask(size_t row_count, v1::ElementType output_type) {
    auto request = Request(ArrayOf(v1::ELEMENT_TYPE_UINT8, std::vector<uint8_t>(row_count, 7)),
                           {v1::STATISTIC_MEAN, v1::STATISTIC_ROOT_MEAN_SQUARE,
                            v1::STATISTIC_STANDARD_DEVIATION, v1::STATISTIC_VARIANCE},
                           output_type);
    v1::InlineArray& rows = *request.mutable_array()->mutable_inline_array();
    rows.add_shape(row_count);
    rows.add_shape(1);
    request.mutable_grouping()->set_axis(1);
    request.set_return_accumulator(true);
    return small_.compute().ReduceArray(caller_.MakeContext().get(), request, &response_);
  }

  // The most rows whose values and accumulator an answer has room for.
  size_t RowsMax(v1::ElementType output_type) {
    size_t row_count = 1;
    grpc::Status status;
    for (; (status = Ask(row_count, output_type)).ok(); ++row_count) {
      EXPECT_LE(response_.ByteSizeLong(), kMessageBytesFloor);
    }
    ExpectAboveLimit(status, "return_accumulator");
    return row_count - 1;
  }

  TestServer small_{*engine_, SmallLimits()};
  v1::ReduceArrayResponse response_;
};

TEST_F(OutputTypeRoomTest, NarrowerValuesLeaveRoomForMore) {
  const size_t doubles = RowsMax(v1::ELEMENT_TYPE_FLOAT64);
  const size_t floats = RowsMax(v1::ELEMENT_TYPE_FLOAT32);
  EXPECT_GT(doubles, 100u);
  EXPECT_GT(floats, doubles);
  EXPECT_GT(RowsMax(v1::ELEMENT_TYPE_FLOAT16), floats);
}

TEST_F(OutputTypeCallTest, HistogramsHaveNone) {
  v1::ComputeHistogramRequest part;
  *part.mutable_array() = ArrayOf(v1::ELEMENT_TYPE_INT32, std::vector<int32_t>{1, 2});
  part.add_bins()->mutable_integer()->set_bin_count(3);
  part.set_return_accumulator(true);
  ASSERT_TRUE(caller_.Compute(part).ok());
  v1::MergeAccumulatorsRequest request;
  request.add_accumulators(caller_.counted.accumulator());
  request.set_output_type(v1::ELEMENT_TYPE_FLOAT32);
  v1::MergeAccumulatorsResponse merged;
  ExpectInvalidField(
      server_.compute().MergeAccumulators(caller_.MakeContext().get(), request, &merged),
      "output_type");
}

TEST_F(OutputTypeCallTest, RefusesWhatHasNoSuchValues) {
  auto request = SumOf({1}, v1::ELEMENT_TYPE_INT64);
  ExpectInvalidField(caller_.Compute(request), "output_type");
  request.set_output_type(v1::ELEMENT_TYPE_BOOL);
  ExpectInvalidField(caller_.Compute(request), "output_type");
  request.set_output_type(static_cast<v1::ElementType>(99));
  ExpectInvalidField(caller_.Compute(request), "output_type");
  ExpectInvalidField(
      caller_.Compute(Request(ArrayOf(v1::ELEMENT_TYPE_INT32, std::vector<int32_t>{1}),
                              {v1::STATISTIC_SUM, v1::STATISTIC_MAX}, v1::ELEMENT_TYPE_FLOAT32)),
      "output_type");
  v1::ReduceStreamResponse streamed;
  auto header = SumOf({}, v1::ELEMENT_TYPE_INT64);
  *header.mutable_array() = Streamed(v1::ELEMENT_TYPE_FLOAT32);
  ExpectInvalidField(Send(server_, Messages(header, {}), streamed), "request.output_type");
}

}  // namespace
}  // namespace gridfold::server
