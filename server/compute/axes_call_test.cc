// Arrays of 0 to 8 dimensions over a real socket: reductions over sets of axes and scans along an
// axis, of inline and resident arrays, in batches and as parts of a whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "server/base/error_reason.h"
#include "server/testing/array_caller.h"
#include "server/testing/array_service_fixture.h"
#include "server/testing/test_server.h"

namespace gridfold::server {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

using Extents = std::vector<uint64_t>;

v1::ArraySource Shaped(v1::ArraySource source, const Extents& shape) {
  source.mutable_inline_array()->mutable_shape()->Add(shape.begin(), shape.end());
  return source;
}

class AxesCallTest : public ArrayServiceTest {
 protected:
  // 120 numbers in no order.
  static std::vector<int32_t> Numbers() {
    std::vector<int32_t> numbers(120);
    for (size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = static_cast<int32_t>(i * 7919 % 101) - 50;
    }
    return numbers;
  }

  static v1::ArraySource Inline(const Extents& shape) {
    return Shaped(ArrayOf(v1::ELEMENT_TYPE_INT32, Numbers()), shape);
  }

  static v1::ReduceArrayRequest Reduction(const v1::ArraySource& source, uint32_t axes) {
    v1::ReduceArrayRequest request;
    *request.mutable_array() = source;
    request.mutable_grouping()->mutable_axes();
    for (int axis = 0; axis < 8; ++axis) {
      if ((axes >> axis & 1) != 0) request.mutable_grouping()->mutable_axes()->add_axes(axis);
    }
    request.add_statistics(v1::STATISTIC_SUM);
    request.add_statistics(v1::STATISTIC_ARGMAX);
    return request;
  }

  // Adds up, and finds the first largest, by walking through the array.
  static void Expect(const v1::ReduceArrayResponse& response, const Extents& shape, uint32_t axes) {
    const std::vector<int32_t> numbers = Numbers();
    Extents result_shape;
    uint64_t group_count = 1;
    for (size_t d = 0; d < shape.size(); ++d) {
      if ((axes >> d & 1) != 0) continue;
      result_shape.push_back(shape[d]);
      group_count *= shape[d];
    }
    std::vector<int64_t> sums(group_count);
    std::vector<int64_t> largest(group_count, std::numeric_limits<int64_t>::min());
    std::vector<uint64_t> argmax(group_count);
    for (uint64_t i = 0; i < numbers.size(); ++i) {
      uint64_t inner = numbers.size();
      uint64_t group = 0;
      uint64_t position = 0;
      for (size_t d = 0; d < shape.size(); ++d) {
        inner /= shape[d];
        uint64_t& number = (axes >> d & 1) != 0 ? position : group;
        number = number * shape[d] + i / inner % shape[d];
      }
      sums[group] += numbers[i];
      // Groups are walked in row-major order of the axes that are reduced.
      if (numbers[i] > largest[group]) {
        largest[group] = numbers[i];
        argmax[group] = position;
      }
    }
    EXPECT_THAT(response.result_shape(), ElementsAreArray(result_shape));
    EXPECT_EQ(response.group_count(), group_count);
    ASSERT_EQ(response.results_size(), 2);
    EXPECT_THAT(response.results(0).values().int64_values().values(), ElementsAreArray(sums));
    EXPECT_THAT(response.results(1).values().uint64_values().values(), ElementsAreArray(argmax));
  }
};

TEST_F(AxesCallTest, EverySetOfAxesOfInlineAndResidentArrays) {
  const Extents shape = {4, 2, 3, 5};
  caller_.Put("x", v1::ELEMENT_TYPE_INT32, shape, Numbers());
  EXPECT_THAT(caller_.created.array().shape(), ElementsAre(4, 2, 3, 5));
  for (uint32_t axes = 0; axes < 16; ++axes) {
    SCOPED_TRACE(axes);
    for (const v1::ArraySource& source : {Inline(shape), Resident("x")}) {
      const grpc::Status status = caller_.Compute(Reduction(source, axes));
      ASSERT_TRUE(status.ok()) << status.error_message();
      Expect(caller_.reduced, shape, axes);
    }
  }
  ASSERT_TRUE(caller_.Compute(Reduction(Inline({2, 1, 3, 1, 5, 2, 1, 2}), 0b01000101)).ok());
  Expect(caller_.reduced, {2, 1, 3, 1, 5, 2, 1, 2}, 0b01000101);
}

TEST_F(AxesCallTest, DimensionsAreKeptOnRequest) {
  v1::ReduceArrayRequest request = Reduction(Inline({4, 6, 5}), 0b010);
  request.set_keep_dimensions(true);
  ASSERT_TRUE(caller_.Compute(request).ok());
  EXPECT_THAT(caller_.reduced.result_shape(), ElementsAre(4, 1, 5));
  request.clear_grouping();
  ASSERT_TRUE(caller_.Compute(request).ok());
  EXPECT_THAT(caller_.reduced.result_shape(), ElementsAre(1, 1, 1));
}

TEST_F(AxesCallTest, ArraysWithoutDimensionsHaveOneElement) {
  v1::ArraySource source = ArrayOf(v1::ELEMENT_TYPE_INT32, std::vector<int32_t>{41});
  source.mutable_inline_array()->set_zero_dimensional(true);
  v1::CreateArrayRequest creation;
  creation.set_name("scalar");
  creation.set_element_type(v1::ELEMENT_TYPE_INT32);
  creation.set_zero_dimensional(true);
  ASSERT_TRUE(caller_.Create(creation).ok());
  EXPECT_EQ(caller_.created.array().shape_size(), 0);
  EXPECT_EQ(caller_.created.array().size_bytes(), 4u);
  ASSERT_TRUE(caller_.Write("scalar", {Chunk(0, BytesOf(std::vector<int32_t>{41}))}).ok());
  for (const v1::ArraySource& array : {source, Resident("scalar")}) {
    ASSERT_TRUE(caller_.Compute(Reduction(array, 0)).ok());
    EXPECT_EQ(caller_.reduced.result_shape_size(), 0);
    EXPECT_THAT(caller_.reduced.results(0).values().int64_values().values(), ElementsAre(41));
    v1::ScanArrayRequest scan;
    *scan.mutable_array() = array;
    scan.set_operation(v1::SCAN_OPERATION_SUM);
    ASSERT_TRUE(caller_.Compute(scan).ok());
    EXPECT_TRUE(caller_.scanned.inline_array().zero_dimensional());
    EXPECT_EQ(caller_.scanned.inline_array().data(), BytesOf(std::vector<int64_t>{41}));
  }
  ExpectInvalidField(caller_.Compute(Reduction(Resident("scalar", 0, 1), 0)),
                     "array.resident_array.slice");
}

TEST_F(AxesCallTest, SlicesAreCutAlongTheFirstDimension) {
  caller_.Put("x", v1::ELEMENT_TYPE_INT32, {4, 5, 6}, Numbers());
  const std::vector<int32_t> all = Numbers();
  const std::vector<int32_t> part(all.begin() + 30, all.begin() + 90);
  const v1::ReduceArrayRequest expected =
      Reduction(Shaped(ArrayOf(v1::ELEMENT_TYPE_INT32, part), {2, 5, 6}), 0b101);
  ASSERT_TRUE(caller_.Compute(expected).ok());
  const std::string sums = caller_.reduced.results(0).SerializeAsString();
  ASSERT_TRUE(caller_.Compute(Reduction(Resident("x", 1, 2), 0b101)).ok());
  EXPECT_EQ(caller_.reduced.results(0).SerializeAsString(), sums);
  EXPECT_EQ(caller_.ReadBytes(Resident("x", 1, 2)), BytesOf(part));
}

// Into the answer, a new array, and in place of the input.
TEST_F(AxesCallTest, ScansAlongEveryAxis) {
  const Extents shape = {4, 6, 5};
  const std::vector<int32_t> numbers = Numbers();
  for (const uint32_t axis : {0u, 1u, 2u}) {
    const size_t stride = axis == 0 ? 30 : axis == 1 ? 5 : 1;
    std::vector<int32_t> expected = numbers;
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (i / stride % shape[axis] != 0) expected[i] += expected[i - stride];
    }
    v1::ScanArrayRequest scan;
    *scan.mutable_array() = Inline(shape);
    scan.set_operation(v1::SCAN_OPERATION_SUM);
    scan.set_output_type(v1::ELEMENT_TYPE_INT32);
    scan.mutable_grouping()->set_axis(axis);
    ASSERT_TRUE(caller_.Compute(scan).ok());
    EXPECT_EQ(caller_.scanned.inline_array().data(), BytesOf(expected));
    EXPECT_THAT(caller_.scanned.inline_array().shape(), ElementsAreArray(shape));

    const std::string name = "x" + std::to_string(axis);
    caller_.Put(name, v1::ELEMENT_TYPE_INT32, shape, numbers);
    *scan.mutable_array() = Resident(name);
    scan.mutable_grouping()->mutable_axes()->add_axes(static_cast<int>(axis) - 3);
    scan.mutable_destination()->mutable_resident_array()->set_name("result" + name);
    ASSERT_TRUE(caller_.Compute(scan).ok());
    EXPECT_THAT(caller_.scanned.resident_array().shape(), ElementsAreArray(shape));
    EXPECT_EQ(caller_.ReadBytes(Resident("result" + name)), BytesOf(expected));

    scan.mutable_destination()->mutable_in_place();
    ASSERT_TRUE(caller_.Compute(scan).ok());
    EXPECT_EQ(caller_.ReadBytes(Resident(name)), BytesOf(expected));
  }
}

TEST_F(AxesCallTest, Batches) {
  v1::BatchComputeRequest request;
  *request.add_operations()->mutable_reduction() = Reduction(Inline({4, 6, 5}), 0b101);
  *request.add_operations()->mutable_reduction() = Reduction(Inline({4, 6, 5}), 0b111);
  *request.add_operations()->mutable_reduction() = Reduction(Inline({4, 6, 5}), 0b1000);
  v1::ScanArrayRequest& scan = *request.add_operations()->mutable_scan();
  *scan.mutable_array() = Inline({4, 6, 5});
  scan.set_operation(v1::SCAN_OPERATION_MAX);
  scan.mutable_grouping()->set_axis(1);
  v1::BatchComputeResponse response;
  ASSERT_TRUE(server_.compute().BatchCompute(caller_.MakeContext().get(), request, &response).ok());
  Expect(response.results(0).reduction(), {4, 6, 5}, 0b101);
  Expect(response.results(1).reduction(), {4, 6, 5}, 0b111);
  EXPECT_TRUE(response.results(2).has_error());
  EXPECT_THAT(response.results(3).scan().inline_array().shape(), ElementsAre(4, 6, 5));
}

// Parts along the first axis have the same groups, and elements of each that follow one another.
TEST_F(AxesCallTest, PartsOfAWholeAreMerged) {
  const std::vector<int32_t> all = Numbers();
  v1::MergeAccumulatorsRequest merge;
  for (const size_t first : {0, 60}) {
    const std::vector<int32_t> half(all.begin() + static_cast<ptrdiff_t>(first),
                                    all.begin() + static_cast<ptrdiff_t>(first) + 60);
    v1::ReduceArrayRequest part =
        Reduction(Shaped(ArrayOf(v1::ELEMENT_TYPE_INT32, half), {2, 6, 5}), 0b101);
    part.set_return_accumulator(true);
    part.set_first_index(first / 6);
    ASSERT_TRUE(caller_.Compute(part).ok());
    EXPECT_THAT(caller_.reduced.result_shape(), ElementsAre(6));
    merge.add_accumulators(caller_.reduced.accumulator());
  }
  v1::MergeAccumulatorsResponse merged;
  ASSERT_TRUE(
      server_.compute().MergeAccumulators(caller_.MakeContext().get(), merge, &merged).ok());
  merged.mutable_reduction()->add_result_shape(6);
  Expect(merged.reduction(), {4, 6, 5}, 0b101);
}

TEST_F(AxesCallTest, WithoutRoomForTheCopyTheJobFails) {
  caller_.Put("x", v1::ELEMENT_TYPE_INT32, {4, 6, 5}, Numbers());
  caller_.Put("stack", v1::ELEMENT_TYPE_INT32, {2, 3, 20}, Numbers());
  ASSERT_TRUE(caller_.Create("rest", v1::ELEMENT_TYPE_INT8, {3 * kMiB - 1024}).ok());
  ASSERT_TRUE(caller_.Compute(Reduction(Resident("x"), 0b011)).ok()) << "needs no copy";
  ExpectError(caller_.Compute(Reduction(Resident("x"), 0b101)),
              grpc::StatusCode::RESOURCE_EXHAUSTED, kReasonArrayQuota);
  ASSERT_TRUE(caller_.Compute(Reduction(Resident("stack"), 0b010)).ok()) << "nor does a stack";
  Expect(caller_.reduced, {2, 3, 20}, 0b010);
  ASSERT_TRUE(caller_.Delete("rest").ok());
  ASSERT_TRUE(caller_.Compute(Reduction(Resident("x"), 0b101)).ok());
  Expect(caller_.reduced, {4, 6, 5}, 0b101);
}

TEST_F(AxesCallTest, ErrorsNameTheirField) {
  ExpectInvalidField(caller_.Compute(Reduction(Inline({4, 6, 5}), 0b1000)),
                     "grouping.axes.axes[0]");
  ExpectInvalidField(caller_.Compute(Reduction(Inline({1, 1, 1, 1, 1, 1, 1, 1, 120}), 0)),
                     "array.inline_array.shape");
}

}  // namespace
}  // namespace gridfold::server
