// ReduceByKeyStream over a real socket, on one device and on several: however keys and values are
// cut, answers and accumulators have the bits of one call of ReduceByKey, and the sums that are
// found by adding; errors name their field.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "server/testing/array_service_fixture.h"
#include "server/testing/compute_stream_fixture.h"
#include "server/testing/device_streams_fixture.h"

namespace gridfold::server {
namespace {

using SetGroups = std::function<void(v1::ReduceByKeyRequest&)>;

void FindKeys(v1::ReduceByKeyRequest& request) { request.mutable_found()->set_key_count_max(200); }
void TakeRange(v1::ReduceByKeyRequest& request) {
  request.mutable_range()->set_first_key(-50);
  request.mutable_range()->set_key_count(120);
}
void TakeBins(v1::ReduceByKeyRequest& request) {
  v1::EvenBins& even = *request.mutable_bins()->add_bins()->mutable_even();
  even.set_bin_count(7);
  even.set_lower_bound(-40);
  even.set_upper_bound(30);
}

class KeyedStreamTest : public DeviceStreamsTest {
 protected:
  KeyedStreamTest() : DeviceStreamsTest(20261127) {}

  static constexpr size_t kCount = 3000;

  struct Arrays {
    std::string keys;
    std::string values;
    std::string y_keys;
  };

  // Keys of -50 to 49, most of them few.
  std::vector<int32_t> RandomKeys() {
    std::vector<int32_t> keys(kCount);
    for (int32_t& key : keys) key = static_cast<int32_t>(random_() % (1 + random_() % 100)) - 50;
    return keys;
  }
  std::vector<float> RandomValues() {
    std::vector<float> values(kCount);
    for (float& x : values) {
      x = std::ldexp(static_cast<float>(static_cast<int32_t>(random_())),
                     static_cast<int>(random_() % 60) - 60);
      if (random_() % 200 == 0) x = std::nanf("");
      if (random_() % 10 == 0) x = random_() % 2 == 0 ? 0.0F : -0.0F;
    }
    return values;
  }

  static v1::ReduceByKeyRequest Header(const SetGroups& set_groups, bool two_dimensional = false) {
    v1::ReduceByKeyRequest request;
    *request.mutable_keys() = Streamed(v1::ELEMENT_TYPE_INT32);
    *request.mutable_values() = Streamed(v1::ELEMENT_TYPE_FLOAT32);
    for (const v1::Statistic statistic :
         {v1::STATISTIC_SUM, v1::STATISTIC_MIN, v1::STATISTIC_ARGMAX, v1::STATISTIC_VARIANCE,
          v1::STATISTIC_NAN_COUNT}) {
      request.add_statistics(statistic);
    }
    set_groups(request);
    if (two_dimensional) {
      *request.mutable_bins()->mutable_y_keys() = Streamed(v1::ELEMENT_TYPE_INT32);
    }
    return request;
  }

  // The arrays in random pieces, each of its own cuts.
  std::vector<v1::ReduceByKeyStreamRequest> Messages(const v1::ReduceByKeyRequest& header,
                                                     const Arrays& arrays) {
    std::vector<v1::ReduceByKeyStreamRequest> messages(1);
    *messages[0].mutable_request() = header;
    const auto put = [&](const std::string& bytes, auto set) {
      const std::vector<std::string> pieces = RandomPieces(bytes, random_);
      for (size_t i = 0; i < pieces.size(); ++i) {
        if (messages.size() <= i) messages.emplace_back();
        set(messages[i], pieces[i]);
      }
    };
    put(arrays.keys, [](auto& message, const std::string& piece) { message.set_keys(piece); });
    put(arrays.values, [](auto& message, const std::string& piece) { message.set_values(piece); });
    if (!arrays.y_keys.empty()) {
      put(arrays.y_keys, [](auto& message, const std::string& p) { message.set_y_keys(p); });
    }
    if (random_() % 2 == 0) messages.back().set_element_count(kCount);
    return messages;
  }

  static v1::ArraySource Inline(const v1::ArraySource& streamed, const std::string& bytes) {
    v1::ArraySource source;
    source.mutable_inline_array()->set_element_type(streamed.streamed_array().element_type());
    source.mutable_inline_array()->set_data(bytes);
    return source;
  }

  v1::ReduceByKeyResponse OneCall(v1::ReduceByKeyRequest request, const Arrays& arrays) {
    *request.mutable_keys() = Inline(request.keys(), arrays.keys);
    *request.mutable_values() = Inline(request.values(), arrays.values);
    if (request.bins().has_y_keys()) {
      *request.mutable_bins()->mutable_y_keys() = Inline(request.bins().y_keys(), arrays.y_keys);
    }
    grpc::ClientContext context;
    v1::ReduceByKeyResponse response;
    const grpc::Status status = server_.compute().ReduceByKey(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  v1::ReduceByKeyResponse Stream(const v1::ReduceByKeyRequest& header, const Arrays& arrays) {
    v1::ReduceByKeyStreamResponse response;
    const grpc::Status status = Send(server_, Messages(header, arrays), response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response.result();
  }

  void ExpectStreamsAsOneCall(const v1::ReduceByKeyRequest& header, const Arrays& arrays) {
    const std::string expected = WithoutTimes(OneCall(header, arrays));
    for (int round = 0; round < 5; ++round) {
      EXPECT_EQ(WithoutTimes(Stream(header, arrays)), expected) << header.DebugString();
    }
  }

  void ExpectError(const std::vector<v1::ReduceByKeyStreamRequest>& messages,
                   const std::string& field, const std::string& text = "") {
    ExpectStreamError<v1::ReduceByKeyStreamResponse>(messages, field, text);
  }
  void ExpectTooMany(const std::vector<v1::ReduceByKeyStreamRequest>& messages) {
    v1::ReduceByKeyStreamResponse response;
    ExpectAboveLimit(Send(server_, messages, response), "request.found.key_count_max");
  }
  static std::vector<v1::ReduceByKeyStreamRequest> One(const v1::ReduceByKeyRequest& header,
                                                       const std::string& keys,
                                                       const std::string& values) {
    std::vector<v1::ReduceByKeyStreamRequest> messages(1);
    *messages[0].mutable_request() = header;
    messages[0].set_keys(keys);
    messages[0].set_values(values);
    return messages;
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, KeyedStreamTest, testing::Values(1, 3));

TEST_P(KeyedStreamTest, HasTheBitsOfOneCall) {
  const Arrays arrays{BytesOf(RandomKeys()), BytesOf(RandomValues()), ""};
  for (const SetGroups& set_groups : std::vector<SetGroups>{FindKeys, TakeRange, TakeBins}) {
    for (const bool part : {false, true}) {
      for (const v1::NanPolicy policy : {v1::NAN_POLICY_PROPAGATE, v1::NAN_POLICY_IGNORE}) {
        v1::ReduceByKeyRequest header = Header(set_groups);
        header.set_return_accumulator(part);
        header.set_nan_policy(policy);
        header.set_first_index(7'000'000'000);
        // More than some groups have.
        header.set_delta_degrees_of_freedom(3);
        if (policy == v1::NAN_POLICY_IGNORE) {
          // A group of nothing but NaN has no argmax.
          header.mutable_statistics()->Set(2, v1::STATISTIC_MAX);
        }
        ExpectStreamsAsOneCall(header, arrays);
      }
    }
  }
}

TEST_P(KeyedStreamTest, BinsInTwoDimensions) {
  const Arrays arrays{BytesOf(RandomKeys()), BytesOf(RandomValues()), BytesOf(RandomKeys())};
  v1::ReduceByKeyRequest header = Header(TakeBins, /*two_dimensional=*/true);
  header.mutable_bins()->set_out_of_range_policy(v1::OUT_OF_RANGE_POLICY_CLAMP);
  ExpectStreamsAsOneCall(header, arrays);
  header.mutable_bins()->set_out_of_range_policy(v1::OUT_OF_RANGE_POLICY_DROP);
  ExpectStreamsAsOneCall(header, arrays);
}

TEST_P(KeyedStreamTest, HasTheSumsOfTheValues) {
  const std::vector<int32_t> keys = RandomKeys();
  std::vector<int64_t> values(kCount);
  std::map<int64_t, std::pair<int64_t, uint64_t>> expected;
  for (size_t i = 0; i < kCount; ++i) {
    values[i] = static_cast<int64_t>(random_() % 2'000'001) - 1'000'000;
    expected[keys[i]].first += values[i];
    ++expected[keys[i]].second;
  }
  v1::ReduceByKeyRequest header = Header(FindKeys);
  *header.mutable_values() = Streamed(v1::ELEMENT_TYPE_INT64);
  const v1::ReduceByKeyResponse found = Stream(header, {BytesOf(keys), BytesOf(values), ""});
  ASSERT_EQ(found.counts_size(), static_cast<int>(expected.size()));
  int i = 0;
  for (const auto& [key, sum_and_count] : expected) {
    EXPECT_EQ(found.keys().int64_values().values(i), key);
    EXPECT_EQ(found.results(0).values().int64_values().values(i), sum_and_count.first);
    EXPECT_EQ(found.counts(i), sum_and_count.second);
    ++i;
  }
}

// Parts that come in streams and in calls, of found keys and of a range, together.
TEST_P(KeyedStreamTest, AccumulatorsOfPartsAreMerged) {
  const std::vector<int32_t> keys = RandomKeys();
  const std::vector<float> values = RandomValues();
  for (const SetGroups& set_groups : std::vector<SetGroups>{FindKeys, TakeRange}) {
    v1::MergeAccumulatorsRequest merge;
    v1::ReduceByKeyRequest header = Header(set_groups);
    header.mutable_statistics()->Set(1, v1::STATISTIC_COUNT);
    header.mutable_statistics()->Set(2, v1::STATISTIC_SUM);
    header.mutable_statistics()->Set(0, v1::STATISTIC_NONZERO_COUNT);
    header.mutable_statistics()->Set(3, v1::STATISTIC_L2_NORM);
    header.set_return_accumulator(true);
    v1::ReduceByKeyResponse whole = OneCall(header, {BytesOf(keys), BytesOf(values), ""});
    for (const size_t begin : {size_t{0}, kCount / 3, kCount / 2}) {
      const size_t end = begin == 0 ? kCount / 3 : begin < kCount / 2 ? kCount / 2 : kCount;
      const auto part = [&](const auto& all) {
        return BytesOf(std::vector(all.begin() + static_cast<ptrdiff_t>(begin),
                                   all.begin() + static_cast<ptrdiff_t>(end)));
      };
      header.set_first_index(begin);
      const Arrays arrays{part(keys), part(values), ""};
      v1::ReduceByKeyStreamResponse streamed;
      ASSERT_TRUE(Send(server_, One(header, arrays.keys, arrays.values), streamed).ok());
      merge.add_accumulators(begin == 0 ? OneCall(header, arrays).accumulator()
                                        : streamed.result().accumulator());
    }
    v1::MergeAccumulatorsResponse merged;
    grpc::ClientContext context;
    const grpc::Status status = server_.compute().MergeAccumulators(&context, merge, &merged);
    ASSERT_TRUE(status.ok()) << status.error_message();
    if (merged.has_reduction()) {
      EXPECT_EQ(merged.reduction().accumulator(), whole.accumulator());
      continue;
    }
    EXPECT_EQ(merged.element_count(), kCount);
    EXPECT_EQ(merged.element_type(), v1::ELEMENT_TYPE_FLOAT32);
    merged.mutable_keyed_reduction()->clear_execution();
    EXPECT_EQ(WithoutTimes(merged.keyed_reduction()), WithoutTimes(whole));
  }
}

TEST_P(KeyedStreamTest, MergesRespectTheLimitOfKeys) {
  v1::MergeAccumulatorsRequest merge;
  for (const int32_t key : {1, 2, 3}) {
    v1::ReduceByKeyRequest header = Header(FindKeys);
    header.mutable_found()->set_key_count_max(2);
    header.set_return_accumulator(true);
    merge.add_accumulators(
        OneCall(header, {BytesOf(std::vector<int32_t>{key}), BytesOf(std::vector<float>{1}), ""})
            .accumulator());
  }
  v1::MergeAccumulatorsResponse merged;
  {
    grpc::ClientContext context;
    const grpc::Status status = server_.compute().MergeAccumulators(&context, merge, &merged);
    ExpectAboveLimit(status, "accumulators");
    EXPECT_NE(status.error_message().find("more than 2 different keys"), std::string::npos);
  }
  merge.mutable_accumulators()->RemoveLast();
  {
    grpc::ClientContext context;
    EXPECT_TRUE(server_.compute().MergeAccumulators(&context, merge, &merged).ok());
  }
}

TEST_P(KeyedStreamTest, ErrorsNameTheirField) {
  const std::string two_keys = BytesOf(std::vector<int32_t>{1, 2});
  const std::string two_values = BytesOf(std::vector<float>{1, 2});
  const v1::ReduceByKeyRequest found = Header(FindKeys);
  ExpectError(One(found, two_keys, two_values.substr(0, 4)), "values", "1 elements");
  ExpectError(One(found, two_keys.substr(0, 7), two_values), "keys", "7 bytes");
  {
    auto messages = One(found, two_keys, two_values);
    messages[0].set_y_keys(two_keys);
    ExpectError(messages, "y_keys");
    messages[0].clear_y_keys();
    messages[0].set_element_count(3);
    ExpectError(messages, "element_count");
  }
  {
    v1::ReduceByKeyRequest few = found;
    few.mutable_found()->set_key_count_max(1);
    ExpectTooMany(One(few, two_keys, two_values));
    // In another batch than the first key.
    auto messages = One(few, BytesOf(std::vector<int32_t>(100'000, 1)),
                        BytesOf(std::vector<float>(100'000, 1)));
    messages.emplace_back().set_keys(BytesOf(std::vector<int32_t>{2}));
    messages.back().set_values(BytesOf(std::vector<float>{2}));
    ExpectTooMany(messages);
  }
  {
    v1::ReduceByKeyRequest medians = found;
    medians.add_quantiles(0.5);
    ExpectError(One(medians, two_keys, two_values), "request.quantiles", "in streams");
  }
  {
    // The key that is outside is named by its place in the whole.
    v1::ReduceByKeyRequest range = Header(TakeRange);
    std::vector<v1::ReduceByKeyStreamRequest> messages;
    for (int i = 0; i < 3; ++i) {
      messages.emplace_back().set_keys(BytesOf(std::vector<int32_t>(100'000, 1)));
      messages.back().set_values(BytesOf(std::vector<float>(100'000, 1)));
    }
    *messages[0].mutable_request() = range;
    messages.emplace_back().set_keys(BytesOf(std::vector<int32_t>{1, -51}));
    messages.back().set_values(BytesOf(std::vector<float>{2, 2}));
    ExpectError(messages, "keys", "key -51 of element 300001 ");
  }
  v1::ReduceByKeyRequest bins = Header(TakeBins);
  bins.mutable_bins()->mutable_bins(0)->mutable_even()->clear_lower_bound();
  bins.mutable_bins()->mutable_bins(0)->mutable_even()->clear_upper_bound();
  ExpectError(One(bins, two_keys, two_values), "request.bins.bins[0]");
  v1::ReduceByKeyRequest three = Header(TakeBins, /*two_dimensional=*/true);
  *three.mutable_bins()->add_further_keys() = three.keys();
  ExpectError(One(three, two_keys, two_values), "request.bins.further_keys");
  v1::ReduceByKeyRequest product = found;
  product.add_statistics(v1::STATISTIC_PRODUCT);
  ExpectError(One(product, two_keys, two_values), "request.statistics[5]");
  v1::ReduceByKeyRequest inline_keys = found;
  *inline_keys.mutable_keys() = ArrayOf(v1::ELEMENT_TYPE_INT32, std::vector<int32_t>{1});
  ExpectError(One(inline_keys, "", two_values), "request.keys");
  v1::ReduceByKeyRequest rows = found;
  *rows.mutable_values() = Streamed(v1::ELEMENT_TYPE_FLOAT32, 2);
  ExpectError(One(rows, two_keys, two_values), "request.values.streamed_array.column_count");
  v1::ReduceByKeyRequest floats = found;
  *floats.mutable_keys() = Streamed(v1::ELEMENT_TYPE_FLOAT32);
  ExpectError(One(floats, two_keys, two_values), "request.keys");
  ExpectError({}, "request");
}

TEST_P(KeyedStreamTest, GroupsTakeNoMoreThanTheRoomOfStreams) {
  Limits limits = StreamLimits();
  limits.message_bytes_max = 4 * kMiB;
  limits.queued_bytes_max = 4 * kMiB;
  Devices devices(GetParam(), limits);
  TestServer& server = devices.server();
  v1::ReduceByKeyRequest header = Header(FindKeys);
  header.mutable_found()->clear_key_count_max();
  std::vector<int32_t> keys(60'000);
  std::iota(keys.begin(), keys.end(), 0);
  const std::vector<float> values(keys.size(), 1);
  v1::ReduceByKeyStreamResponse response;
  EXPECT_EQ(Send(server, One(header, BytesOf(keys), BytesOf(values)), response).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  // What it held is free again.
  keys.assign(keys.size(), 7);
  const grpc::Status status = Send(server, One(header, BytesOf(keys), BytesOf(values)), response);
  EXPECT_TRUE(status.ok()) << status.error_message();
}

// Of one array there is more than a message, and of the other nothing, which may never come.
TEST_P(KeyedStreamTest, KeysDoNotWaitForValuesForGood) {
  auto messages = One(Header(FindKeys), BytesOf(std::vector<int32_t>(200'000)), "");
  messages.emplace_back().set_keys(messages[0].keys());
  ExpectError(messages, "keys", "wait for those of other arrays");
}

}  // namespace
}  // namespace gridfold::server
