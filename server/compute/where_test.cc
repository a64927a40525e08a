// Reductions, scans and histograms of the elements that a mask selects, over a real socket.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "server/testing/array_caller.h"
#include "server/testing/array_service_fixture.h"
#include "server/testing/test_server.h"

namespace gridfold::server {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsNan;

using Extents = std::vector<uint64_t>;

v1::ArraySource WithExtents(v1::ArraySource source, const Extents& shape) {
  source.mutable_inline_array()->mutable_shape()->Add(shape.begin(), shape.end());
  return source;
}

v1::ArraySource Mask(const std::vector<uint8_t>& truths, const Extents& shape) {
  return WithExtents(ArrayOf(v1::ELEMENT_TYPE_BOOL, truths), shape);
}

class WhereTest : public ArrayServiceTest {
 protected:
  static std::vector<int32_t> Numbers(size_t count) {
    std::vector<int32_t> numbers(count);
    for (size_t i = 0; i < count; ++i) numbers[i] = static_cast<int32_t>(i * 7919 % 101) - 50;
    return numbers;
  }
  static std::vector<uint8_t> Truths(size_t count) {
    std::vector<uint8_t> truths(count);
    for (size_t i = 0; i < count; ++i) truths[i] = i * 31 % 7 < 4 ? 1 : 0;
    return truths;
  }

  // What a loop over the array finds of each group.
  struct Found {
    std::vector<int64_t> sums;
    std::vector<int64_t> largest;
    std::vector<uint64_t> argmax;
    std::vector<uint64_t> counts;
  };
  static Found Find(const std::vector<int32_t>& numbers, const std::vector<uint8_t>& truths,
                    const Extents& shape, uint32_t axes) {
    Found found;
    for (uint64_t i = 0; i < numbers.size(); ++i) {
      uint64_t inner = numbers.size();
      uint64_t group = 0;
      uint64_t position = 0;
      for (size_t d = 0; d < shape.size(); ++d) {
        inner /= shape[d];
        uint64_t& number = (axes >> d & 1) != 0 ? position : group;
        number = number * shape[d] + i / inner % shape[d];
      }
      if (group >= found.sums.size()) {
        found.sums.resize(group + 1);
        found.largest.resize(group + 1);
        found.argmax.resize(group + 1);
        found.counts.resize(group + 1);
      }
      if (truths[i % truths.size()] == 0) continue;
      const bool is_first = found.counts[group]++ == 0;
      found.sums[group] += numbers[i];
      if (is_first || numbers[i] > found.largest[group]) {
        found.largest[group] = numbers[i];
        found.argmax[group] = position;
      }
    }
    return found;
  }

  static v1::ReduceArrayRequest Request(const v1::ArraySource& array, const v1::ArraySource& where,
                                        uint32_t axes) {
    v1::ReduceArrayRequest request;
    *request.mutable_array() = array;
    *request.mutable_where() = where;
    request.mutable_grouping()->mutable_axes();
    for (int axis = 0; axis < 8; ++axis) {
      if ((axes >> axis & 1) != 0) request.mutable_grouping()->mutable_axes()->add_axes(axis);
    }
    for (const auto statistic : {v1::STATISTIC_SUM, v1::STATISTIC_ARGMAX, v1::STATISTIC_COUNT}) {
      request.add_statistics(statistic);
    }
    request.mutable_empty_group()->set_policy(v1::EMPTY_GROUP_POLICY_NULL);
    return request;
  }

  void Expect(const Found& found) {
    const auto& results = caller_.reduced.results();
    EXPECT_THAT(results[0].values().int64_values().values(), ElementsAreArray(found.sums));
    EXPECT_THAT(results[1].values().uint64_values().values(), ElementsAreArray(found.argmax));
    EXPECT_THAT(results[2].values().uint64_values().values(), ElementsAreArray(found.counts));
  }
};

TEST_F(WhereTest, EverySetOfAxes) {
  const Extents shape = {3, 4, 2, 5};
  const auto numbers = Numbers(120);
  const auto array = WithExtents(ArrayOf(v1::ELEMENT_TYPE_INT32, numbers), shape);
  for (uint32_t axes = 0; axes < 16; ++axes) {
    for (const Extents& of_mask : {shape, Extents{4, 2, 5}, Extents{5}}) {
      SCOPED_TRACE(std::to_string(axes) + ", mask of " + std::to_string(of_mask.size()));
      uint64_t count = 1;
      for (const uint64_t extent : of_mask) count *= extent;
      const auto truths = Truths(count);
      const grpc::Status status = caller_.Compute(Request(array, Mask(truths, of_mask), axes));
      ASSERT_TRUE(status.ok()) << status.error_message();
      Expect(Find(numbers, truths, shape, axes));
    }
  }
}

TEST_F(WhereTest, ResidentArraysAndMasks) {
  const auto numbers = Numbers(30'000);
  const auto truths = Truths(30'000);
  caller_.Put("numbers", v1::ELEMENT_TYPE_INT32, {300, 100}, numbers);
  caller_.Put("mask", v1::ELEMENT_TYPE_BOOL, {300, 100}, truths);
  ASSERT_TRUE(caller_.Get("mask").ok());
  EXPECT_EQ(caller_.got.array().element_type(), v1::ELEMENT_TYPE_BOOL);
  for (uint32_t axes = 1; axes < 4; ++axes) {
    const auto status = caller_.Compute(Request(Resident("numbers"), Resident("mask"), axes));
    ASSERT_TRUE(status.ok()) << status.error_message();
    Expect(Find(numbers, truths, {300, 100}, axes));
  }
  // A slice of either.
  ASSERT_TRUE(
      caller_.Compute(Request(Resident("numbers", 100, 7), Resident("mask", 100, 7), 2)).ok());
  Expect(Find({numbers.begin() + 10'000, numbers.begin() + 10'700},
              {truths.begin() + 10'000, truths.begin() + 10'700}, {7, 100}, 2));
}

TEST_F(WhereTest, Segments) {
  const std::vector<float> numbers = {1, 2, NAN, 4, 5, 6, 7, NAN};
  v1::ReduceArrayRequest request;
  *request.mutable_array() = ArrayOf(v1::ELEMENT_TYPE_FLOAT32, numbers);
  *request.mutable_where() = Mask({0, 1, 1, 0, 0, 1, 1, 1}, {});
  for (const uint64_t offset : {0, 2, 3, 5, 8}) {
    request.mutable_grouping()->mutable_segments()->add_offsets(offset);
  }
  request.add_statistics(v1::STATISTIC_MEAN);
  ExpectInvalidField(caller_.Compute(request), "statistics[0]");
  request.mutable_empty_group()->set_policy(v1::EMPTY_GROUP_POLICY_VALUE);
  request.mutable_empty_group()->mutable_value()->set_int64_value(9);
  request.set_nan_policy(v1::NAN_POLICY_IGNORE);
  request.add_statistics(v1::STATISTIC_ARGMAX);
  request.set_first_index(1000);
  ASSERT_TRUE(caller_.Compute(request).ok());
  EXPECT_THAT(caller_.reduced.results(0).values().double_values().values(),
              ElementsAre(2, 9, 9, 6.5));
  EXPECT_THAT(caller_.reduced.results(1).values().uint64_values().values(),
              ElementsAre(1001, 9, 9, 1001));
}

TEST_F(WhereTest, AnInitialElement) {
  v1::ReduceArrayRequest request;
  *request.mutable_array() =
      WithExtents(ArrayOf(v1::ELEMENT_TYPE_INT16, std::vector<int16_t>{1, 2, 3, 4, 5, 6}), {2, 3});
  request.mutable_grouping()->set_axis(0);
  request.add_statistics(v1::STATISTIC_SUM);
  request.add_statistics(v1::STATISTIC_MAX);
  request.mutable_initial()->set_int64_value(4);
  ASSERT_TRUE(caller_.Compute(request).ok());
  EXPECT_THAT(caller_.reduced.results(0).values().int64_values().values(), ElementsAre(9, 11, 13));
  EXPECT_THAT(caller_.reduced.results(1).values().int64_values().values(), ElementsAre(4, 5, 6));
  *request.mutable_where() = Mask({0, 0, 1}, {3});
  ASSERT_TRUE(caller_.Compute(request).ok());
  EXPECT_THAT(caller_.reduced.results(0).values().int64_values().values(), ElementsAre(4, 4, 13));
  EXPECT_THAT(caller_.reduced.results(1).values().int64_values().values(), ElementsAre(4, 4, 6));
  request.mutable_initial()->set_int64_value(40'000);
  ExpectInvalidField(caller_.Compute(request), "initial");
  request.mutable_initial()->set_int64_value(4);
  request.add_statistics(v1::STATISTIC_MEAN);
  ExpectInvalidField(caller_.Compute(request), "initial");
}

TEST_F(WhereTest, Scans) {
  v1::ScanArrayRequest request;
  *request.mutable_array() =
      WithExtents(ArrayOf(v1::ELEMENT_TYPE_FLOAT64, std::vector<double>{5, 1, 7, 2, 8, 3}), {2, 3});
  *request.mutable_where() = Mask({1, 0, 1, 0, 1, 1}, {2, 3});
  const auto scan = [&](v1::ScanOperation operation, uint32_t axis) {
    request.set_operation(operation);
    request.mutable_grouping()->set_axis(axis);
    const grpc::Status status = caller_.Compute(request);
    EXPECT_TRUE(status.ok()) << status.error_message();
    std::vector<double> values(6);
    const std::string& data = caller_.scanned.inline_array().data();
    std::copy_n(data.data(), std::min(data.size(), size_t{48}),
                reinterpret_cast<char*>(values.data()));
    return values;
  };
  EXPECT_THAT(scan(v1::SCAN_OPERATION_SUM, 1), ElementsAre(5, 5, 12, 0, 8, 11));
  EXPECT_THAT(scan(v1::SCAN_OPERATION_SUM, 0), ElementsAre(5, 0, 7, 5, 8, 10));
  EXPECT_THAT(scan(v1::SCAN_OPERATION_MIN, 1), ElementsAre(5, 5, 5, INFINITY, 8, 3));
  EXPECT_THAT(scan(v1::SCAN_OPERATION_PRODUCT, 1), ElementsAre(5, 5, 35, 1, 8, 24));
  request.set_nan_policy(v1::NAN_POLICY_IGNORE);
  EXPECT_THAT(scan(v1::SCAN_OPERATION_MAX, 1), ElementsAre(5, 5, 7, IsNan(), 8, 8));
}

TEST_F(WhereTest, MovingScans) {
  v1::ScanArrayRequest request;
  *request.mutable_array() =
      ArrayOf(v1::ELEMENT_TYPE_FLOAT64, std::vector<double>{5, 1, 7, NAN, 8, 3});
  *request.mutable_where() = Mask({1, 0, 1, 1, 1, 0}, {});
  request.set_window(2);
  const auto scan = [&](v1::ScanOperation operation, uint64_t min_count) {
    request.set_operation(operation);
    request.set_min_count(min_count);
    const grpc::Status status = caller_.Compute(request);
    EXPECT_TRUE(status.ok()) << status.error_message();
    std::vector<double> values(6);
    const std::string& data = caller_.scanned.inline_array().data();
    std::copy_n(data.data(), std::min(data.size(), size_t{48}),
                reinterpret_cast<char*>(values.data()));
    return values;
  };
  EXPECT_THAT(scan(v1::SCAN_OPERATION_SUM, 0), ElementsAre(5, 5, 7, IsNan(), IsNan(), 8));
  request.set_nan_policy(v1::NAN_POLICY_IGNORE);
  EXPECT_THAT(scan(v1::SCAN_OPERATION_SUM, 0), ElementsAre(5, 5, 7, 7, 8, 8));
  EXPECT_THAT(scan(v1::SCAN_OPERATION_MEAN, 0), ElementsAre(5, 5, 7, 7, 8, 8));
  EXPECT_THAT(scan(v1::SCAN_OPERATION_SUM, 2), Each(IsNan()));
}

TEST_F(WhereTest, Histograms) {
  v1::ComputeHistogramRequest request;
  *request.mutable_array() =
      ArrayOf(v1::ELEMENT_TYPE_INT32, std::vector<int32_t>{0, 1, 1, 2, 2, 2, 9});
  *request.mutable_where() = Mask({1, 0, 1, 1, 1, 0, 1}, {});
  request.add_bins()->mutable_integer()->set_bin_count(3);
  ASSERT_TRUE(caller_.Compute(request).ok());
  EXPECT_THAT(caller_.counted.channels(0).counts(), ElementsAre(1, 1, 2));
  EXPECT_EQ(caller_.counted.channels(0).overflow_count(), 1u);
  *request.mutable_weights() =
      ArrayOf(v1::ELEMENT_TYPE_FLOAT32, std::vector<float>{1, 2, 3, 4, 5, 6, 7});
  ASSERT_TRUE(caller_.Compute(request).ok());
  EXPECT_THAT(caller_.counted.channels(0).weight_sums(), ElementsAre(1, 3, 9));
  // The range is that of the samples that count.
  request.clear_bins();
  request.clear_weights();
  request.add_bins()->mutable_even()->set_bin_count(1);
  *request.mutable_where() = Mask({0, 1, 1, 1, 1, 1, 0}, {});
  ASSERT_TRUE(caller_.Compute(request).ok());
  EXPECT_THAT(caller_.counted.bins(0).edges(), ElementsAre(1, 2));
  *request.mutable_array() = ArrayOf(v1::ELEMENT_TYPE_INT32, std::vector<int32_t>{1, 2, 3, 4});
  request.set_channel_count(2);
  *request.mutable_where() = Mask({1, 1, 1, 1}, {});
  ExpectInvalidField(caller_.Compute(request), "where");
}

TEST_F(WhereTest, WhatIsNoMaskIsNamed) {
  const auto array = WithExtents(ArrayOf(v1::ELEMENT_TYPE_INT32, Numbers(6)), {2, 3});
  const auto status_of = [&](const v1::ArraySource& mask) {
    return caller_.Compute(Request(array, mask, 1));
  };
  ExpectInvalidField(status_of(ArrayOf(v1::ELEMENT_TYPE_UINT8, Truths(6))),
                     "where.inline_array.element_type");
  ExpectInvalidField(status_of(Mask(Truths(6), {3, 2})), "where.inline_array.data");
  ExpectInvalidField(status_of(Mask(Truths(2), {2})), "where.inline_array.data");
  ExpectInvalidField(status_of(Mask({1, 0, 2}, {3})), "where.inline_array");
  ExpectInvalidField(status_of({}), "where");
  caller_.Put("mask", v1::ELEMENT_TYPE_BOOL, {3}, std::vector<uint8_t>{1, 0, 255});
  ExpectInvalidField(status_of(Resident("mask")), "where.resident_array");
  auto part = Request(array, Mask(Truths(6), {2, 3}), 1);
  part.clear_empty_group();
  part.set_return_accumulator(true);
  ExpectInvalidField(caller_.Compute(part), "where");
}

TEST_F(WhereTest, ArraysWithoutElementsOrDimensions) {
  ASSERT_TRUE(caller_
                  .Compute(Request(WithExtents(ArrayOf(v1::ELEMENT_TYPE_INT32, Numbers(0)), {0, 3}),
                                   Mask({1, 0, 1}, {3}), 1))
                  .ok());
  EXPECT_THAT(caller_.reduced.results(0).values().int64_values().values(), ElementsAre(0, 0, 0));
  v1::ArraySource scalar = ArrayOf(v1::ELEMENT_TYPE_INT32, std::vector<int32_t>{7});
  scalar.mutable_inline_array()->set_zero_dimensional(true);
  v1::ArraySource truth = ArrayOf(v1::ELEMENT_TYPE_BOOL, std::vector<uint8_t>{1});
  truth.mutable_inline_array()->set_zero_dimensional(true);
  ASSERT_TRUE(caller_.Compute(Request(scalar, truth, 0)).ok());
  EXPECT_THAT(caller_.reduced.results(0).values().int64_values().values(), ElementsAre(7));
}

TEST_F(WhereTest, TakesNoRoomForLong) {
  const auto numbers = Numbers(100'000);
  caller_.Put("numbers", v1::ELEMENT_TYPE_INT32, {100'000}, numbers);
  // The copies take more than is left the second time, if the first ones stay.
  for (int i = 0; i < 3; ++i) {
    const auto status =
        caller_.Compute(Request(Resident("numbers"), Mask(Truths(100'000), {100'000}), 1));
    ASSERT_TRUE(status.ok()) << status.error_message();
  }
  Expect(Find(numbers, Truths(100'000), {100'000}, 1));
}

TEST_F(WhereTest, InABatch) {
  v1::BatchComputeRequest batch;
  const auto array =
      WithExtents(ArrayOf(v1::ELEMENT_TYPE_INT32, std::vector<int32_t>{1, 2, 3}), {3});
  *batch.add_operations()->mutable_reduction() = Request(array, Mask({1, 0, 1}, {3}), 1);
  *batch.add_operations()->mutable_reduction() = Request(array, Mask({1, 0, 3}, {3}), 1);
  v1::BatchComputeResponse response;
  const auto context = caller_.MakeContext();
  ASSERT_TRUE(server_.compute().BatchCompute(context.get(), batch, &response).ok());
  EXPECT_EQ(response.results(0).reduction().results(0).values().int64_values().values(0), 4);
  EXPECT_TRUE(response.results(1).has_error());
}

class BoolTest : public ArrayServiceTest {};

TEST_F(BoolTest, StatisticsHaveNumPysTypes) {
  v1::ReduceArrayRequest request;
  *request.mutable_array() = ArrayOf(v1::ELEMENT_TYPE_BOOL, std::vector<uint8_t>{1, 0, 1, 1});
  for (const auto statistic : {v1::STATISTIC_SUM, v1::STATISTIC_MEAN, v1::STATISTIC_MIN,
                               v1::STATISTIC_ANY, v1::STATISTIC_BITWISE_XOR}) {
    request.add_statistics(statistic);
  }
  const auto expect = [&] {
    ASSERT_TRUE(caller_.Compute(request).ok());
    const auto& results = caller_.reduced.results();
    EXPECT_THAT(results[0].values().uint64_values().values(), ElementsAre(3));
    EXPECT_THAT(results[1].values().double_values().values(), ElementsAre(0.75));
    EXPECT_THAT(results[2].values().bool_values().values(), ElementsAre(false));
    EXPECT_THAT(results[3].values().bool_values().values(), ElementsAre(true));
    EXPECT_THAT(results[4].values().bool_values().values(), ElementsAre(true));
  };
  expect();
  caller_.Put("truths", v1::ELEMENT_TYPE_BOOL, {4}, std::vector<uint8_t>{1, 0, 1, 1});
  *request.mutable_array() = Resident("truths");
  expect();
}

TEST_F(BoolTest, OtherBytesAreRefused) {
  v1::ReduceArrayRequest request;
  *request.mutable_array() = ArrayOf(v1::ELEMENT_TYPE_BOOL, std::vector<uint8_t>{1, 0, 2});
  request.add_statistics(v1::STATISTIC_SUM);
  ExpectInvalidField(caller_.Compute(request), "array.inline_array");
  v1::ScanArrayRequest scan;
  *scan.mutable_array() = request.array();
  scan.set_operation(v1::SCAN_OPERATION_SUM);
  ExpectInvalidField(caller_.Compute(scan), "array.inline_array");
  v1::ComputeHistogramRequest histogram;
  *histogram.mutable_array() = ArrayOf(v1::ELEMENT_TYPE_INT32, std::vector<int32_t>{1, 0, 2});
  *histogram.mutable_weights() = request.array();
  histogram.add_bins()->mutable_integer()->set_bin_count(2);
  ExpectInvalidField(caller_.Compute(histogram), "weights.inline_array");
  caller_.Put("truths", v1::ELEMENT_TYPE_BOOL, {3}, std::vector<uint8_t>{1, 0, 255});
  *request.mutable_array() = Resident("truths");
  ExpectInvalidField(caller_.Compute(request), "array.resident_array");
  *request.mutable_array() = Resident("truths", 0, 2);
  EXPECT_TRUE(caller_.Compute(request).ok());
}

TEST_F(BoolTest, Scans) {
  v1::ScanArrayRequest request;
  *request.mutable_array() = ArrayOf(v1::ELEMENT_TYPE_BOOL, std::vector<uint8_t>{0, 1, 0});
  request.set_operation(v1::SCAN_OPERATION_MAX);
  ASSERT_TRUE(caller_.Compute(request).ok());
  EXPECT_EQ(caller_.scanned.inline_array().element_type(), v1::ELEMENT_TYPE_BOOL);
  EXPECT_EQ(caller_.scanned.inline_array().data(), std::string("\0\1\1", 3));
  request.mutable_destination()->mutable_resident_array()->set_name("seen");
  ASSERT_TRUE(caller_.Compute(request).ok());
  EXPECT_EQ(caller_.scanned.resident_array().element_type(), v1::ELEMENT_TYPE_BOOL);
  request.clear_destination();
  request.set_operation(v1::SCAN_OPERATION_SUM);
  ASSERT_TRUE(caller_.Compute(request).ok());
  EXPECT_EQ(caller_.scanned.inline_array().element_type(), v1::ELEMENT_TYPE_UINT64);
  request.set_output_type(v1::ELEMENT_TYPE_BOOL);
  ExpectInvalidField(caller_.Compute(request), "output_type");
  // Elements that do not count are not false where the smallest is asked for.
  request.clear_output_type();
  request.set_operation(v1::SCAN_OPERATION_MIN);
  *request.mutable_where() = Mask({0, 1, 1}, {3});
  ASSERT_TRUE(caller_.Compute(request).ok());
  EXPECT_EQ(caller_.scanned.inline_array().data(), std::string("\1\1\0", 3));
}

}  // namespace
}  // namespace gridfold::server
