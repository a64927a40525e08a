// Requests on several arrays that no device has all of, over sockets: on different devices, or in
// shards beside whole ones. The answers have the bits of the same arrays on one device.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/testing/devices_fixture.h"

namespace gridfold::server {
namespace {

class ScatteredRequestTest : public DevicesTest {
 protected:
  static constexpr int kSharded = -1;

  // On the device of this number, as far as there are so many, or on all. Truth values are on one.
  struct Placed {
    int x = 0;
    int y = 0;
    int weights = 0;
    int mask = 0;
  };
  static std::vector<Placed> Placements() {
    return {{0, 1, 2, 1},
            {0, 0, 0, 2},
            {2, 0, 0, 0},
            {kSharded, 0, 0, 0},
            {0, kSharded, 1, 2},
            {1, 1, kSharded, 0},
            {kSharded, kSharded, kSharded, 1}};
  }

  template <class T>
  static void Put(Devices& devices, int count, int place, const std::string& name,
                  v1::ElementType type, const std::vector<T>& values) {
    v1::CreateArrayRequest request;
    request.set_name(name);
    request.set_element_type(type);
    request.add_shape(kRows);
    request.add_shape(kColumns);
    if (place == kSharded) {
      request.set_placement(v1::ARRAY_PLACEMENT_SHARDED);
    } else {
      request.set_device(static_cast<uint32_t>(place % count));
    }
    const grpc::Status status = devices.caller().Create(request);
    ASSERT_TRUE(status.ok()) << status.error_message();
    ASSERT_TRUE(devices.caller().Write(name, {Chunk(0, BytesOf(values))}).ok());
  }

  void PutArrays(Devices& devices, int count, const Placed& placed) const {
    Put(devices, count, placed.x, "x", v1::ELEMENT_TYPE_FLOAT32, x_);
    Put(devices, count, placed.y, "y", v1::ELEMENT_TYPE_FLOAT32, y_);
    Put(devices, count, placed.weights, "weights", v1::ELEMENT_TYPE_FLOAT32, weights_);
    Put(devices, count, placed.mask, "mask", v1::ELEMENT_TYPE_BOOL, mask_);
    Put(devices, count, placed.y, "keys", v1::ELEMENT_TYPE_INT32, keys_);
  }

  // What `ask` gets wherever the arrays are, on two devices and three, is what it gets on one.
  void ExpectSameBitsEverywhere(const std::function<std::string(Devices&)>& ask) const {
    Devices one(1);
    PutArrays(one, 1, {});
    const std::string expected = ask(one);
    EXPECT_FALSE(expected.empty());
    for (const int count : {2, 3}) {
      if (MakeDevices(count).empty()) continue;
      for (const Placed& placed : Placements()) {
        SCOPED_TRACE(testing::Message() << count << " devices: " << placed.x << " " << placed.y
                                        << " " << placed.weights << " " << placed.mask);
        Devices several(count);
        PutArrays(several, count, placed);
        const uint64_t before = several.server().GetStatistics().resident_bytes();
        EXPECT_TRUE(ask(several) == expected);  // Not EXPECT_EQ: they are long.
        EXPECT_EQ(several.server().GetStatistics().resident_bytes(), before) << "copies stay";
      }
    }
  }

  using DevicesTest::Answer;
  template <class Response, class Call>
  static std::string AnswerOf(const Call& call) {
    Response response;
    const grpc::Status status = call(response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return WithoutTimes(response);
  }
  static std::string Answer(Devices& devices, const v1::ReduceByKeyRequest& request) {
    return AnswerOf<v1::ReduceByKeyResponse>([&](v1::ReduceByKeyResponse& response) {
      return devices.server().compute().ReduceByKey(devices.caller().MakeContext().get(), request,
                                                    &response);
    });
  }
  static std::string Answer(Devices& devices, const v1::RelateArraysRequest& request) {
    return AnswerOf<v1::RelateArraysResponse>([&](v1::RelateArraysResponse& response) {
      return devices.server().compute().RelateArrays(devices.caller().MakeContext().get(), request,
                                                     &response);
    });
  }
  static std::string Answer(Devices& devices, const v1::ComputeQuantilesRequest& request) {
    return AnswerOf<v1::ComputeQuantilesResponse>([&](v1::ComputeQuantilesResponse& response) {
      return devices.server().compute().ComputeQuantiles(devices.caller().MakeContext().get(),
                                                         request, &response);
    });
  }

  static v1::ScanArrayRequest Scan() {
    v1::ScanArrayRequest request;
    *request.mutable_array() = Resident("x");
    *request.mutable_where() = Resident("mask");
    request.set_operation(v1::SCAN_OPERATION_SUM);
    return request;
  }
  static v1::ReduceByKeyRequest ByKey() {
    v1::ReduceByKeyRequest request;
    *request.mutable_keys() = Resident("keys");
    *request.mutable_values() = Resident("x");
    request.mutable_found();
    for (const v1::Statistic statistic :
         {v1::STATISTIC_COUNT, v1::STATISTIC_SUM, v1::STATISTIC_ARGMAX, v1::STATISTIC_VARIANCE}) {
      request.add_statistics(statistic);
    }
    return request;
  }
  static v1::RelateArraysRequest Relate() {
    v1::RelateArraysRequest request;
    *request.mutable_x() = Resident("x");
    *request.mutable_y() = Resident("y");
    *request.mutable_weights() = Resident("weights");
    request.add_statistics(v1::PAIRED_STATISTIC_COVARIANCE);
    return request;
  }

  std::vector<float> Normal() {
    std::vector<float> values(kRows * kColumns);
    std::normal_distribution<float> normal(0, 1000);
    for (float& value : values) value = normal(random_);
    return values;
  }
  std::vector<float> Weights() {
    std::vector<float> values = Normal();
    for (float& value : values) value = std::fabs(value);
    return values;
  }
  template <class T>
  std::vector<T> Below(uint64_t bound) {
    std::vector<T> values(kRows * kColumns);
    for (T& value : values) value = static_cast<T>(random_() % bound);
    return values;
  }

  const std::vector<float> x_ = Normal();
  const std::vector<float> y_ = Normal();
  const std::vector<float> weights_ = Weights();
  const std::vector<uint8_t> mask_ = Below<uint8_t>(2);
  const std::vector<int32_t> keys_ = Below<int32_t>(100);
};

TEST_F(ScatteredRequestTest, HistogramsOfTwoDimensionsWithWeights) {
  v1::ComputeHistogramRequest request = Histogram(Resident("x"), 2);
  *request.mutable_y_array() = Resident("y");
  *request.add_bins() = request.bins(0);
  *request.mutable_weights() = Resident("weights");
  ExpectSameBitsEverywhere([&](Devices& devices) { return Answer(devices, request); });
  *request.mutable_where() = Resident("mask");
  ExpectSameBitsEverywhere([&](Devices& devices) { return Answer(devices, request); });
}

TEST_F(ScatteredRequestTest, HistogramsWhoseBinsFollowARule) {
  v1::ComputeHistogramRequest request;
  *request.mutable_array() = Resident("x");
  request.add_bins()->mutable_even()->set_rule(v1::HISTOGRAM_BIN_RULE_AUTO);
  ExpectSameBitsEverywhere([&](Devices& devices) { return Answer(devices, request); });
}

TEST_F(ScatteredRequestTest, HistogramsOfTruthValues) {
  v1::ComputeHistogramRequest request;
  *request.mutable_array() = Resident("mask");
  request.add_bins()->mutable_integer()->set_bin_count(2);
  *request.mutable_weights() = Resident("weights");
  ExpectSameBitsEverywhere([&](Devices& devices) { return Answer(devices, request); });
}

// Shards of arrays of one shape are alike; those of parts of them are not.
TEST_F(ScatteredRequestTest, SlicesThatAreCutInDifferentPlaces) {
  v1::ComputeHistogramRequest request = Histogram(Resident("x", 0, kRows - 100), 2);
  *request.mutable_weights() = Resident("weights", 100, kRows - 100);
  ExpectSameBitsEverywhere([&](Devices& devices) { return Answer(devices, request); });
}

TEST_F(ScatteredRequestTest, GroupsByKey) {
  const v1::ReduceByKeyRequest request = ByKey();
  ExpectSameBitsEverywhere([&](Devices& devices) { return Answer(devices, request); });
}

TEST_F(ScatteredRequestTest, GroupsByBinsOfTwoDimensions) {
  v1::ReduceByKeyRequest request = ByKey();
  *request.mutable_keys() = Resident("y");
  v1::KeyBins& bins = *request.mutable_bins();
  *bins.add_bins() = Histogram(Resident("x"), 0).bins(0);
  *bins.add_bins() = bins.bins(0);
  *bins.mutable_y_keys() = Resident("weights");
  ExpectSameBitsEverywhere([&](Devices& devices) { return Answer(devices, request); });
}

TEST_F(ScatteredRequestTest, Relations) {
  const v1::RelateArraysRequest request = Relate();
  ExpectSameBitsEverywhere([&](Devices& devices) { return Answer(devices, request); });
}

TEST_F(ScatteredRequestTest, QuantilesWithWeights) {
  v1::ComputeQuantilesRequest request;
  *request.mutable_array() = Resident("x");
  *request.mutable_weights() = Resident("weights");
  request.add_quantiles(0.25);
  ExpectSameBitsEverywhere([&](Devices& devices) { return Answer(devices, request); });
  request.mutable_grouping()->set_axis(0);  // Both are brought into another order.
  ExpectSameBitsEverywhere([&](Devices& devices) { return Answer(devices, request); });
}

TEST_F(ScatteredRequestTest, ReductionsOfWhatAMaskSelects) {
  for (const int grouping : {-1, 0, 1}) {
    v1::ReduceArrayRequest request = Reduction(Resident("x"), grouping);
    *request.mutable_where() = Resident("mask");
    ExpectSameBitsEverywhere([&](Devices& devices) { return Answer(devices, request); });
  }
}

TEST_F(ScatteredRequestTest, ReductionsThatBeginWithAnElement) {
  v1::ReduceArrayRequest request;
  *request.mutable_array() = Resident("x");
  request.add_statistics(v1::STATISTIC_SUM);
  request.mutable_initial()->set_double_value(12.5);
  ExpectSameBitsEverywhere([&](Devices& devices) { return Answer(devices, request); });
}

TEST_F(ScatteredRequestTest, ScansOfWhatAMaskSelects) {
  ExpectSameBitsEverywhere([&](Devices& devices) {
    v1::ScanArrayRequest scan = Scan();
    const std::string results = ResultsOf(devices, scan);
    EXPECT_TRUE(ScannedInPlace(devices, scan, "x") == results);
    return results;
  });
}

// Operations whose arrays are on one device run there; the others as by themselves.
TEST_F(ScatteredRequestTest, Batches) {
  v1::BatchComputeRequest batch;
  *batch.add_operations()->mutable_reduction() = Reduction(Resident("x"), 0);
  *batch.add_operations()->mutable_reduction() = Reduction(Resident("y"), 1);
  *batch.add_operations()->mutable_histogram() = Histogram(Resident("weights"), 0);
  *batch.add_operations()->mutable_keyed_reduction() = ByKey();
  *batch.add_operations()->mutable_scan() = Scan();
  *batch.add_operations()->mutable_reduction() =
      Reduction(ArrayOf(v1::ELEMENT_TYPE_FLOAT32, x_), -1);
  ExpectSameBitsEverywhere([&](Devices& devices) {
    v1::BatchComputeResponse response;
    const grpc::Status status = devices.server().compute().BatchCompute(
        devices.caller().MakeContext().get(), batch, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    for (const v1::BatchResult& result : response.results()) EXPECT_FALSE(result.has_error());
    return WithoutTimes(response);
  });
}

TEST_F(ScatteredRequestTest, ItIsToldWhichDevicesTookPart) {
  Devices devices(2);
  PutArrays(devices, 2, {0, 1, 0, 0});
  v1::RelateArraysResponse response;
  ASSERT_TRUE(devices.server()
                  .compute()
                  .RelateArrays(devices.caller().MakeContext().get(), Relate(), &response)
                  .ok());
  EXPECT_EQ(response.execution().device_count(), 2u);
}

TEST_F(ScatteredRequestTest, CopiesAreBounded) {
  Limits limits;
  limits.resident_bytes_max = 1 * kMiB;
  Devices devices(2, limits);
  const std::vector<float> large(200'000, 1.0f);  // 800 kB: one has room on a device.
  for (const auto& [name, device] : {std::pair("a", 0u), std::pair("b", 1u)}) {
    v1::CreateArrayRequest create;
    create.set_name(name);
    create.set_element_type(v1::ELEMENT_TYPE_FLOAT32);
    create.add_shape(large.size());
    create.set_device(device);
    ASSERT_TRUE(devices.caller().Create(create).ok());
    ASSERT_TRUE(devices.caller().Write(name, {Chunk(0, BytesOf(large))}).ok());
  }
  v1::ComputeHistogramRequest request = Histogram(Resident("a"), 2);
  *request.mutable_weights() = Resident("b");
  ExpectError(devices.caller().Compute(request), grpc::StatusCode::RESOURCE_EXHAUSTED,
              kReasonArrayQuota);
}

}  // namespace
}  // namespace gridfold::server
