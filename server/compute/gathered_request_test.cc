// What no device can do with its own shard, over sockets: one of them has a copy of all shards, and
// the answer has the bits of an array on one device.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/testing/devices_fixture.h"

namespace gridfold::server {
namespace {

class GatheredRequestTest : public DevicesTest {
 protected:
  static constexpr uint64_t kTableRows = 3000;
  static constexpr uint64_t kSteps = 4;

  // Near 1: a product of others would be 0 or infinite.
  std::vector<double> Factors(uint64_t count) {
    std::vector<double> values(count);
    std::uniform_real_distribution<double> near(0.9999, 1.0001);
    for (double& value : values) value = near(random_);
    return values;
  }

  // Answers on arrays of kCount elements, "x" of one dimension, "m" of two and "cube" of three.
  template <class Request>
  void OnArrays(const Request& request) {
    const std::vector<double> vector = Factors(kCount);
    const std::vector<double> table = Factors(kTableRows * kSteps * kColumns);
    ExpectSameBits([&](Devices& devices) {
      Put(devices, vector, table);
      return Answer(devices, request);
    });
  }

  static void Put(Devices& devices, const std::vector<double>& vector,
                  const std::vector<double>& table) {
    PutSharded(devices, "x", v1::ELEMENT_TYPE_FLOAT64, {kCount}, vector);
    PutSharded(devices, "m", v1::ELEMENT_TYPE_FLOAT64, {kTableRows, kSteps * kColumns}, table);
    PutSharded(devices, "cube", v1::ELEMENT_TYPE_FLOAT64, {kTableRows, kSteps, kColumns}, table);
  }

  static v1::ReduceArrayRequest Product(const v1::ArraySource& source) {
    v1::ReduceArrayRequest request;
    *request.mutable_array() = source;
    request.add_statistics(v1::STATISTIC_PRODUCT);
    request.add_statistics(v1::STATISTIC_SUM);
    return request;
  }
  static v1::ScanArrayRequest ScanAlong(const std::string& name, uint32_t axis) {
    v1::ScanArrayRequest request;
    *request.mutable_array() = Resident(name);
    request.set_operation(v1::SCAN_OPERATION_SUM);
    request.mutable_grouping()->set_axis(axis);
    return request;
  }
  // Results in the answer, in a new array, and in place.
  static std::string Results(Devices& devices, const v1::ScanArrayRequest& request) {
    const std::string results = ResultsOf(devices, request);
    EXPECT_EQ(ScannedInPlace(devices, request, request.array().resident_array().name()), results);
    return results;
  }

  using DevicesTest::Answer;
  static std::string Answer(Devices& devices, const v1::ComputeQuantilesRequest& request) {
    v1::ComputeQuantilesResponse response;
    const grpc::Status status = devices.server().compute().ComputeQuantiles(
        devices.caller().MakeContext().get(), request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return WithoutTimes(response);
  }
  static std::string Answer(Devices& devices, const v1::SelectTopRequest& request) {
    v1::SelectTopResponse response;
    const grpc::Status status = devices.server().compute().SelectTop(
        devices.caller().MakeContext().get(), request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return WithoutTimes(response);
  }
};

TEST_F(GatheredRequestTest, ProductsOverSeveralShards) {
  OnArrays(Product(Resident("x")));
  OnArrays(Product(Resident("x", 5, kCount - 7)));
  v1::ReduceArrayRequest columns = Product(Resident("m"));
  columns.mutable_grouping()->set_axis(0);
  OnArrays(columns);
}

// The strategy is that of the device that answers, the one with the most room: the other one only
// brings its shard.
TEST_F(GatheredRequestTest, TheStrategyIsThatOfWhoAnswers) {
  for (const uint32_t with_less_room : {0, 1}) {
    Devices devices(2);
    PutSharded(devices, "x", v1::ELEMENT_TYPE_FLOAT64, {kCount}, Factors(kCount));
    v1::CreateArrayRequest other;
    other.set_name("other");
    other.set_element_type(v1::ELEMENT_TYPE_FLOAT64);
    other.add_shape(2 * kCount);
    other.set_device(with_less_room);
    ASSERT_TRUE(devices.caller().Create(other).ok());
    ASSERT_TRUE(devices.caller().Compute(Product(Resident("x"))).ok());
    const v1::ExecutionStatistics& execution = devices.caller().reduced.execution();
    EXPECT_TRUE(execution.strategy().starts_with("reduce/")) << execution.strategy();
    EXPECT_EQ(execution.device_count(), 2u);
  }
}

TEST_F(GatheredRequestTest, AxesThatArraysAreRearrangedFor) {
  v1::ReduceArrayRequest request = Reduction(Resident("cube"), -1);
  request.mutable_grouping()->mutable_axes()->add_axes(0);
  request.mutable_grouping()->mutable_axes()->add_axes(2);
  OnArrays(request);
}

// Views whose elements lie on all devices: with gaps, which are copied together where one has a
// copy of all; and transposed, whose groups the devices reduce where they are.
TEST_F(GatheredRequestTest, ViewsOfShards) {
  v1::ArraySource stepped = Resident("cube");
  v1::StridedView& view = *stepped.mutable_resident_array()->mutable_view();
  for (const uint64_t first : {kTableRows - 1, uint64_t{0}, uint64_t{2}}) view.add_first(first);
  v1::ViewDimension& columns = *view.add_dimensions();
  columns.set_axis(2);
  columns.set_count(kColumns - 2);
  v1::ViewDimension& rows = *view.add_dimensions();
  rows.set_count(kTableRows / 2);
  rows.set_step(-2);
  OnArrays(Reduction(stepped, 1));
  OnArrays(Histogram(stepped, 0));
  v1::ComputeQuantilesRequest quantiles;
  *quantiles.mutable_array() = stepped;
  quantiles.add_quantiles(0.25);
  OnArrays(quantiles);
  v1::ScanArrayRequest scan = ScanAlong("cube", 0);
  *scan.mutable_array() = stepped;
  const std::vector<double> vector = Factors(kCount);
  const std::vector<double> table = Factors(kTableRows * kSteps * kColumns);
  ExpectSameBits([&](Devices& devices) {
    Put(devices, vector, table);
    return ResultsOf(devices, scan);
  });

  v1::ArraySource transposed = Resident("m");
  v1::StridedView& whole = *transposed.mutable_resident_array()->mutable_view();
  whole.add_first(0);
  whole.add_first(0);
  for (const auto& [axis, count] : {std::pair(1u, kSteps * kColumns), std::pair(0u, kTableRows)}) {
    v1::ViewDimension& dimension = *whole.add_dimensions();
    dimension.set_axis(axis);
    dimension.set_count(count);
  }
  OnArrays(Reduction(transposed, 0));
  OnArrays(Reduction(transposed, 1));
}

TEST_F(GatheredRequestTest, GroupsThatMayLackValues) {
  v1::ReduceArrayRequest request = Reduction(Resident("x"), -1);
  request.set_fractional_degrees_of_freedom(1.5);
  OnArrays(request);
}

TEST_F(GatheredRequestTest, OrderStatistics) {
  v1::ComputeQuantilesRequest quantiles;
  *quantiles.mutable_array() = Resident("x", 3, kCount - 3);
  quantiles.add_quantiles(0.25);
  OnArrays(quantiles);
  v1::SelectTopRequest top;
  *top.mutable_array() = Resident("m");
  top.set_count(5);
  top.mutable_grouping()->set_axis(0);
  OnArrays(top);
}

TEST_F(GatheredRequestTest, ScansAlongAxes) {
  const std::vector<double> vector = Factors(kCount);
  const std::vector<double> table = Factors(kTableRows * kSteps * kColumns);
  for (const bool is_reverse : {false, true}) {
    for (const auto& [name, axis] :
         std::vector<std::pair<std::string, uint32_t>>{{"m", 0}, {"cube", 0}, {"cube", 1}}) {
      v1::ScanArrayRequest request = ScanAlong(name, axis);
      if (is_reverse) request.set_direction(v1::SCAN_DIRECTION_REVERSE);
      ExpectSameBits([&](Devices& devices) {
        Put(devices, vector, table);
        return Results(devices, request);
      });
    }
  }
}

TEST_F(GatheredRequestTest, TheCopyIsBoundedAndDoesNotStay) {
  Limits limits;
  limits.resident_bytes_max = 2 * kMiB;
  Devices devices(2, limits);
  const std::vector<double> small = Factors(kShardUnitElements + 8);
  PutSharded(devices, "small", v1::ELEMENT_TYPE_FLOAT64, {small.size()}, small);
  const uint64_t before = devices.server().GetStatistics().resident_bytes();
  Answer(devices, Product(Resident("small")));
  EXPECT_EQ(devices.server().GetStatistics().resident_bytes(), before);
  ASSERT_TRUE(devices.caller().Delete("small").ok());
  const std::vector<double> large = Factors(2 * kShardUnitElements + 8);
  PutSharded(devices, "large", v1::ELEMENT_TYPE_FLOAT64, {large.size()}, large);
  ExpectError(devices.caller().Compute(Product(Resident("large"))),
              grpc::StatusCode::RESOURCE_EXHAUSTED, kReasonJobTooLarge);
}

}  // namespace
}  // namespace gridfold::server
