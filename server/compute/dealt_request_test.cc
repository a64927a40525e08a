// Requests on several devices, over sockets: whatever the number of devices and the way that an
// array took, the answer has the bits of one device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "server/testing/devices_fixture.h"
#include "server/testing/region_service_fixture.h"

namespace gridfold::server {
namespace {

class DealtRequestTest : public DevicesTest {};

TEST_F(DealtRequestTest, InlineArraysAreDealtToAllDevices) {
  const std::vector<float> values = Floats(kCount);
  v1::ArraySource source = ArrayOf(v1::ELEMENT_TYPE_FLOAT32, values);
  if (MakeDevices(3).empty()) GTEST_SKIP() << "there are no three GPUs";
  Devices devices(3);
  const uint64_t before = devices.server().GetStatistics().jobs_accepted();
  Answer(devices, Reduction(source, -1));
  EXPECT_EQ(devices.server().GetStatistics().jobs_accepted() - before, 3u);
  Devices apart(3, 0);
  Answer(apart, Reduction(source, -1));
  EXPECT_EQ(apart.server().GetStatistics().jobs_accepted(), 1u) << "nothing is dealt";
}

TEST_F(DealtRequestTest, ReductionsOfInlineArrays) {
  std::vector<float> values = Floats(kRows * kColumns);
  v1::ArraySource vector = ArrayOf(v1::ELEMENT_TYPE_FLOAT32, values);
  v1::ArraySource matrix = vector;
  matrix.mutable_inline_array()->add_shape(kRows);
  matrix.mutable_inline_array()->add_shape(kColumns);
  ExpectSameBits([&](Devices& devices) { return Answer(devices, Reduction(vector, -1)); });
  for (const int axis : {0, 1}) {
    ExpectSameBits([&](Devices& devices) { return Answer(devices, Reduction(matrix, axis)); });
  }
  v1::ReduceArrayRequest part = Reduction(vector, -1);
  part.set_return_accumulator(true);
  part.set_first_index(77);
  ExpectSameBits([&](Devices& devices) { return Answer(devices, part); });
  v1::ReduceArrayRequest segments = Reduction(vector, -1);
  for (uint64_t offset = 0; offset < values.size(); offset += 9'999) {
    segments.mutable_grouping()->mutable_segments()->add_offsets(offset);
  }
  segments.mutable_grouping()->mutable_segments()->add_offsets(values.size());
  ExpectSameBits([&](Devices& devices) { return Answer(devices, segments); });
  segments.set_return_accumulator(true);
  ExpectSameBits([&](Devices& devices) { return Answer(devices, segments); });
}

TEST_F(DealtRequestTest, HistogramsOfInlineArrays) {
  const v1::ArraySource source = ArrayOf(v1::ELEMENT_TYPE_FLOAT32, Floats(60'060));
  const v1::ArraySource weights = ArrayOf(v1::ELEMENT_TYPE_FLOAT32, Floats(60'060));
  for (const int kind : {0, 1, 2}) {
    v1::ComputeHistogramRequest request = Histogram(source, kind);
    ExpectSameBits([&](Devices& devices) { return Answer(devices, request); });
    request.set_channel_count(7);
    ExpectSameBits([&](Devices& devices) { return Answer(devices, request); });
  }
  v1::ComputeHistogramRequest weighted = Histogram(source, 3);
  *weighted.mutable_weights() = weights;
  ExpectSameBits([&](Devices& devices) { return Answer(devices, weighted); });
  weighted.set_return_accumulator(true);
  ExpectSameBits([&](Devices& devices) { return Answer(devices, weighted); });
  v1::ComputeHistogramRequest of_pairs = Histogram(source, 3);
  *of_pairs.mutable_y_array() = weights;
  ExpectSameBits([&](Devices& devices) { return Answer(devices, of_pairs); });
}

TEST_F(DealtRequestTest, Regions) {
  const std::vector<float> values = Floats(kCount);
  const SharedObject object(values);
  v1::RegisterRegionRequest registration;
  registration.set_name("x");
  registration.set_size_bytes(object.size_bytes());
  registration.mutable_posix_shared_memory()->set_object_name(object.name());
  const v1::ArraySource source = InRegion("x", v1::ELEMENT_TYPE_FLOAT32, 4, {kCount - 1});
  const auto with_region = [&](const auto& request) {
    ExpectSameBits([&](Devices& devices) {
      v1::RegisterRegionResponse registered;
      const grpc::Status status = devices.server().regions().RegisterRegion(
          devices.caller().MakeContext().get(), registration, &registered);
      EXPECT_TRUE(status.ok()) << status.error_message();
      return Answer(devices, request);
    });
  };
  with_region(Reduction(source, -1));
  with_region(Histogram(source, 1));
}

TEST_F(DealtRequestTest, ErrorsOfTheDataAreThoseOfOneDevice) {
  std::vector<int64_t> values(kRows * kColumns, 1);
  values[kColumns * 4000] = values[kColumns * 4000 + 1] = std::numeric_limits<int64_t>::max();
  values[kColumns * 4900] = values[kColumns * 4900 + 1] = std::numeric_limits<int64_t>::max();
  v1::ReduceArrayRequest request;
  *request.mutable_array() = ArrayOf(v1::ELEMENT_TYPE_INT64, values);
  request.mutable_array()->mutable_inline_array()->add_shape(kRows);
  request.mutable_array()->mutable_inline_array()->add_shape(kColumns);
  request.add_statistics(v1::STATISTIC_SUM);
  for (const int axis : {-1, 0, 1}) {
    if (axis >= 0) request.mutable_grouping()->set_axis(static_cast<uint32_t>(axis));
    ExpectSameBits([&](Devices& devices) {
      const grpc::Status status = devices.caller().Compute(request);
      EXPECT_EQ(status.error_code(), grpc::StatusCode::OUT_OF_RANGE);
      return status.error_message();
    });
  }
}

TEST_F(DealtRequestTest, ShardedArraysAreCutEvenly) {
  if (MakeDevices(3).empty()) GTEST_SKIP() << "there are no three GPUs";
  Devices devices(3);
  ASSERT_TRUE(devices.caller().Create(NewSharded("x", v1::ELEMENT_TYPE_FLOAT32, {kCount})).ok());
  const v1::ArrayDescription array = devices.caller().created.array();
  ASSERT_EQ(array.shards_size(), 2) << "four units of elements: two each";
  ASSERT_TRUE(devices.caller().Create(NewSharded("m", v1::ELEMENT_TYPE_INT8, {100, 7})).ok());
  const v1::ArrayDescription matrix = devices.caller().created.array();
  ASSERT_EQ(matrix.shards_size(), 3);
  uint64_t end = 0;
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(matrix.shards(static_cast<int>(i)).device(), i);
    EXPECT_EQ(matrix.shards(static_cast<int>(i)).first_element(), end);
    end += matrix.shards(static_cast<int>(i)).element_count();
    EXPECT_EQ(end % 7, 0u);
  }
  EXPECT_EQ(end, 700u);
  EXPECT_EQ(devices.caller().ReadBytes(Resident("m")), std::string(700, '\0'));
  ASSERT_TRUE(devices.caller().Create(NewSharded("small", v1::ELEMENT_TYPE_INT8, {10})).ok());
  EXPECT_EQ(devices.caller().created.array().shards_size(), 0);
  ASSERT_TRUE(devices.caller().Delete("x").ok());
  EXPECT_EQ(devices.server().GetStatistics().resident_array_count(), 2u);
}

TEST_F(DealtRequestTest, AnArrayThatNoDeviceHasRoomForIsSharded) {
  Devices devices(2);
  constexpr uint64_t kMany = 20 * kMiB / 4;
  ASSERT_TRUE(devices.caller().Create("large", v1::ELEMENT_TYPE_FLOAT32, {kMany}).ok());
  EXPECT_EQ(devices.caller().created.array().shards_size(), 2);
  v1::CreateArrayRequest on_one = NewSharded("one", v1::ELEMENT_TYPE_FLOAT32, {kMany});
  on_one.set_placement(v1::ARRAY_PLACEMENT_ONE_DEVICE);
  ExpectError(devices.caller().Create(on_one), grpc::StatusCode::RESOURCE_EXHAUSTED,
              kReasonArrayQuota);
  on_one.set_placement(v1::ARRAY_PLACEMENT_SHARDED);
  on_one.set_device(0);
  ExpectInvalidField(devices.caller().Create(on_one), "device");
  on_one.clear_device();
  ExpectError(devices.caller().Create(on_one), grpc::StatusCode::RESOURCE_EXHAUSTED,
              kReasonArrayQuota);
  EXPECT_EQ(devices.server().GetStatistics().resident_bytes(), 20 * kMiB)
      << "what was refused has taken nothing";
}

TEST_F(DealtRequestTest, SlicesOfShardedArraysAreWrittenAndRead) {
  Devices devices(2);
  std::vector<int32_t> values(kCount);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int32_t>(i);
  PutSharded(devices, "x", v1::ELEMENT_TYPE_INT32, {kCount}, values);
  const uint64_t cut = 2 * kShardUnitElements;
  ASSERT_TRUE(devices.caller()
                  .Write("x", {Chunk(cut - 2, BytesOf<int32_t>({-1, -2, -3})),
                               Chunk(0, BytesOf<int32_t>({-4}))})
                  .ok());
  values[cut - 2] = -1, values[cut - 1] = -2, values[cut] = -3, values[0] = -4;
  EXPECT_EQ(devices.caller().ReadBytes(Resident("x")), BytesOf(values));
  for (const auto& [first, count] : std::vector<std::pair<uint64_t, uint64_t>>{
           {0, 0}, {cut, 0}, {cut - 1, 1}, {cut, 1}, {cut - 1, 2}, {1, cut}, {kCount - 1, 1}}) {
    const auto from = values.begin() + static_cast<ptrdiff_t>(first);
    EXPECT_EQ(devices.caller().ReadBytes(Resident("x", first, count)),
              BytesOf(std::vector<int32_t>(from, from + static_cast<ptrdiff_t>(count))));
  }
}

TEST_F(DealtRequestTest, OperationsOnShardedArrays) {
  const std::vector<float> values = Floats(kCount);
  const std::vector<float> weights = Floats(kCount);
  const std::vector<float> table = Floats(kRows * kColumns);
  // Rows of one element: an ignored NaN would leave nothing to take the argmax of.
  std::vector<float> column = table;
  for (float& value : column) value = std::isnan(value) ? 1 : value;
  const auto on_arrays = [&](const auto& request) {
    ExpectSameBits([&](Devices& devices) {
      PutSharded(devices, "x", v1::ELEMENT_TYPE_FLOAT32, {kCount}, values);
      PutSharded(devices, "w", v1::ELEMENT_TYPE_FLOAT32, {kCount}, weights);
      PutSharded(devices, "m", v1::ELEMENT_TYPE_FLOAT32, {kRows, kColumns}, table);
      PutSharded(devices, "column", v1::ELEMENT_TYPE_FLOAT32, {kRows * kColumns, 1}, column);
      return Answer(devices, request);
    });
  };
  on_arrays(Reduction(Resident("x"), -1));
  on_arrays(Reduction(Resident("x", 5, kCount - 7), -1));
  on_arrays(Reduction(Resident("x", kCount - 7, 7), -1));
  for (const int axis : {0, 1}) on_arrays(Reduction(Resident("m"), axis));
  on_arrays(Reduction(Resident("m", 3, kRows - 10), 1));
  for (const int axis : {0, 1}) on_arrays(Reduction(Resident("column"), axis));
  v1::ReduceArrayRequest segments = Reduction(Resident("x"), -1);
  for (const uint64_t offset :
       {uint64_t{0}, uint64_t{10}, kShardUnitElements, kCount - 5, kCount}) {
    segments.mutable_grouping()->mutable_segments()->add_offsets(offset);
  }
  on_arrays(segments);
  for (const int kind : {0, 1, 2}) on_arrays(Histogram(Resident("x"), kind));
  v1::ComputeHistogramRequest channels = Histogram(Resident("x", 1, kCount / 7 * 7 - 7), 1);
  channels.set_channel_count(7);
  on_arrays(channels);
  v1::ComputeHistogramRequest weighted = Histogram(Resident("x"), 3);
  *weighted.mutable_weights() = Resident("w");
  on_arrays(weighted);
  *weighted.mutable_weights() = ArrayOf(v1::ELEMENT_TYPE_FLOAT32, weights);
  on_arrays(weighted);
}

// So many columns that devices keep their states, and each merges a slice of them; where there is
// no room for that, lanes merge slices on the host.
TEST_F(DealtRequestTest, ManyColumns) {
  constexpr uint64_t kWide = 5000;
  constexpr uint64_t kFew = 40;
  std::vector<float> table = Floats(kFew * kWide);
  for (uint64_t i = 0; i < kWide; ++i) table[i] = 1;  // Each column has an element that counts.
  const auto ask = [&](Devices& devices, uint64_t jobs_of_device) {
    PutSharded(devices, "m", v1::ELEMENT_TYPE_FLOAT32, {kFew, kWide}, table);
    const auto before = devices.server().GetStatistics();
    std::string answer = Answer(devices, Reduction(Resident("m"), 0));
    const v1::ExecutionStatistics& execution = devices.caller().reduced.execution();
    const auto after = devices.server().GetStatistics();
    const uint64_t device_count = execution.device_count();
    EXPECT_EQ(after.jobs_accepted() - before.jobs_accepted(),
              device_count == 1 ? 1 : jobs_of_device * device_count);
    EXPECT_EQ(after.resident_bytes(), before.resident_bytes());
    EXPECT_EQ(execution.bytes_read(), table.size() * sizeof(float)) << "once, whoever merges";
    v1::ReduceArrayRequest part = Reduction(Resident("m"), 0);
    part.set_return_accumulator(true);
    return answer + Answer(devices, part);
  };
  // A part for each device, then a slice for each.
  ExpectSameBits([&](Devices& devices) { return ask(devices, 2); });
  Limits limits;
  limits.lane_count = 2;
  limits.resident_bytes_max = table.size() * sizeof(float) + 64 * kKiB;
  Devices one(1, limits);
  Devices two(2, limits);
  // A slice for each of its two lanes.
  EXPECT_EQ(ask(two, 3), ask(one, 1));
  v1::ArraySource matrix = ArrayOf(v1::ELEMENT_TYPE_FLOAT32, table);
  matrix.mutable_inline_array()->add_shape(kFew);
  matrix.mutable_inline_array()->add_shape(kWide);
  ExpectSameBits([&](Devices& devices) { return Answer(devices, Reduction(matrix, 0)); });
}

// More states than lanes hold, which devices keep; where these have no room either, the request is
// refused, and can be made again.
TEST_F(DealtRequestTest, ColumnsWhoseStatesOnlyDevicesHold) {
  constexpr uint64_t kWide = 1000;
  constexpr uint64_t kFew = 1200;
  const std::vector<float> rows = Floats(kFew / 100 * kWide);
  const auto put = [&](Devices& devices) {
    const auto created =
        devices.caller().Create(NewSharded("m", v1::ELEMENT_TYPE_FLOAT32, {kFew, kWide}));
    ASSERT_TRUE(created.ok()) << created.error_message();
    for (uint64_t i = 0; i < 100; ++i) {
      ASSERT_TRUE(devices.caller().Write("m", {Chunk(i * rows.size(), BytesOf(rows))}).ok());
    }
  };
  const auto limits_of = [](uint64_t resident_bytes) {
    Limits limits;
    limits.lane_count = 2;
    limits.message_bytes_max = 128 * kKiB;
    limits.resident_bytes_max = resident_bytes;
    return limits;
  };
  Devices one(1, limits_of(16 * kMiB));
  put(one);
  const std::string expected = Answer(one, Reduction(Resident("m"), 0));
  for (const int count : {2, 3}) {
    if (MakeDevices(count).empty()) continue;
    Devices several(count, limits_of(16 * kMiB));
    put(several);
    const uint64_t before = several.server().GetStatistics().jobs_accepted();
    EXPECT_EQ(Answer(several, Reduction(Resident("m"), 0)), expected);
    const auto jobs = several.server().GetStatistics().jobs_accepted() - before;
    EXPECT_EQ(jobs, 2 * static_cast<uint64_t>(count));
  }
  Devices full(2, limits_of(kFew * kWide * sizeof(float) / 2 + 16 * kKiB));
  put(full);
  ExpectError(full.caller().Compute(Reduction(Resident("m"), 0)),
              grpc::StatusCode::RESOURCE_EXHAUSTED, kReasonArrayQuota);
}

// More states than lanes hold, which take more room than the elements do: one device has the whole
// array.
TEST_F(DealtRequestTest, ColumnsWhoseStatesDoNotFit) {
  constexpr uint64_t kWide = 40'000;
  constexpr uint64_t kFew = 20;
  std::vector<float> table = Floats(kFew * kWide);
  for (uint64_t i = 0; i < kWide; ++i) table[i] = 1;
  ExpectSameBits([&](Devices& devices) {
    PutSharded(devices, "m", v1::ELEMENT_TYPE_FLOAT32, {kFew, kWide}, table);
    return Answer(devices, Reduction(Resident("m"), 0));
  });
}

// Counters so many that one device adds up those of all.
TEST_F(DealtRequestTest, WideHistograms) {
  const std::vector<float> values = Floats(kCount);
  std::vector<v1::ComputeHistogramRequest> requests;
  for (const int kind : {0, 1, 2, 3}) {
    v1::ComputeHistogramRequest& request = requests.emplace_back(Histogram(Resident("x"), kind));
    request.mutable_bins(0)->mutable_even()->set_bin_count(kCombinedBytesMin / sizeof(uint64_t));
    request.set_return_accumulator(kind == 3);
  }
  v1::ComputeHistogramRequest& pairs = requests.emplace_back(Histogram(Resident("x"), 3));
  *pairs.mutable_y_array() = Resident("y");
  pairs.mutable_bins(0)->mutable_even()->set_bin_count(400);
  *pairs.add_bins() = pairs.bins(0);
  // Where there is no room for the counters the host adds them.
  for (const uint64_t resident_bytes : {16 * kMiB, 2 * kMiB}) {
    std::vector<std::string> expected;
    for (const int count : {1, 2, 3}) {
      if (MakeDevices(count).empty()) continue;
      Limits limits;
      limits.resident_bytes_max = count == 1 ? 16 * kMiB : resident_bytes;
      Devices devices(count, limits);
      PutSharded(devices, "x", v1::ELEMENT_TYPE_FLOAT32, {kCount}, values);
      PutSharded(devices, "y", v1::ELEMENT_TYPE_FLOAT32, {kCount}, values);
      const uint64_t before = devices.server().GetStatistics().resident_bytes();
      std::vector<std::string> answers;
      for (const auto& request : requests) answers.push_back(Answer(devices, request));
      if (count == 1) expected = answers;
      for (size_t i = 0; i < answers.size(); ++i) {
        // Not EXPECT_EQ: they are long.
        EXPECT_TRUE(answers[i] == expected[i]) << "request " << i << ", " << count << " devices";
      }
      EXPECT_EQ(devices.server().GetStatistics().resident_bytes(), before);
    }
  }
}

TEST_F(DealtRequestTest, StatisticsInAnOutputType) {
  Devices one(1);
  Devices two(2);
  const std::vector<float> values = Floats(kRows * kColumns);
  PutSharded(two, "x", v1::ELEMENT_TYPE_FLOAT32, {kRows, kColumns}, values);
  one.caller().Put("x", v1::ELEMENT_TYPE_FLOAT32, {kRows, kColumns}, values);
  for (const int grouping : {-1, 0, 1}) {
    auto request = Reduction(Resident("x"), grouping);
    request.set_output_type(v1::ELEMENT_TYPE_FLOAT32);
    ASSERT_TRUE(one.caller().Compute(request).ok());
    ASSERT_TRUE(two.caller().Compute(request).ok());
    EXPECT_TRUE(two.caller().reduced.results(0).values().has_typed_values());
    EXPECT_EQ(WithoutTimes(one.caller().reduced), WithoutTimes(two.caller().reduced));
  }
}

}  // namespace
}  // namespace gridfold::server
