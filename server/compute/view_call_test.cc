// Operations on views of resident arrays over a real socket: the answers, bit for bit, of inline
// arrays of the elements that the view chooses, which the test picks one by one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "server/base/error_reason.h"
#include "server/testing/array_caller.h"
#include "server/testing/test_server.h"

namespace gridfold::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Shape = std::vector<uint64_t>;

void AddDimension(v1::StridedView& view, uint32_t axis, uint64_t count, int64_t step) {
  v1::ViewDimension& dimension = *view.add_dimensions();
  dimension.set_axis(axis);
  dimension.set_count(count);
  dimension.set_step(step);
}

// Of an array of this shape: along some axes slices with steps in either direction, one index of
// the others, and the dimensions in any order.
v1::StridedView RandomView(const Shape& shape, std::mt19937& random) {
  v1::StridedView view;
  std::vector<v1::ViewDimension> dimensions;
  for (uint32_t axis = 0; axis < shape.size(); ++axis) {
    const uint64_t first = random() % shape[axis];
    const bool is_whole = random() % 3 == 0;
    view.add_first(is_whole ? 0 : first);
    if (!is_whole && random() % 6 == 0) continue;
    v1::ViewDimension& dimension = dimensions.emplace_back();
    dimension.set_axis(axis);
    const auto step = static_cast<int64_t>(1 + random() % 3);
    const bool goes_back = !is_whole && random() % 3 == 0;
    const uint64_t room = goes_back ? first : shape[axis] - 1 - view.first(static_cast<int>(axis));
    dimension.set_step(is_whole ? 0 : goes_back ? -step : step);
    dimension.set_count(is_whole ? shape[axis] : 1 + room / static_cast<uint64_t>(step));
  }
  if (random() % 2 == 0) std::shuffle(dimensions.begin(), dimensions.end(), random);
  for (const v1::ViewDimension& dimension : dimensions) *view.add_dimensions() = dimension;
  return view;
}

Shape ShapeOf(const v1::StridedView& view) {
  Shape shape;
  for (const v1::ViewDimension& dimension : view.dimensions()) shape.push_back(dimension.count());
  return shape;
}

// The view's elements, one after the other.
template <class T>
std::vector<T> Chosen(const std::vector<T>& values, const Shape& shape,
                      const v1::StridedView& view) {
  std::vector<T> chosen;
  std::vector<int64_t> indices(view.first().begin(), view.first().end());
  const std::function<void(int)> choose = [&](int d) {
    if (d == view.dimensions_size()) {
      uint64_t place = 0;
      for (size_t axis = 0; axis < shape.size(); ++axis) {
        place = place * shape[axis] + static_cast<uint64_t>(indices[axis]);
      }
      chosen.push_back(values.at(place));
      return;
    }
    const v1::ViewDimension& dimension = view.dimensions(d);
    const int64_t begin = indices[dimension.axis()];
    for (uint64_t i = 0; i < dimension.count(); ++i) {
      choose(d + 1);
      indices[dimension.axis()] += dimension.step() == 0 ? 1 : dimension.step();
    }
    indices[dimension.axis()] = begin;
  };
  choose(0);
  return chosen;
}

v1::ArraySource ViewOf(const std::string& name, const v1::StridedView& view) {
  v1::ArraySource source = Resident(name);
  *source.mutable_resident_array()->mutable_view() = view;
  return source;
}

template <class T>
v1::ArraySource Inline(v1::ElementType type, const Shape& shape, const std::vector<T>& values) {
  v1::ArraySource source;
  v1::InlineArray& array = *source.mutable_inline_array();
  array.set_element_type(type);
  array.mutable_shape()->Add(shape.begin(), shape.end());
  array.set_zero_dimensional(shape.empty());
  array.set_data(BytesOf(values));
  return source;
}

class ViewCallTest : public testing::Test {
 protected:
  static Limits TestLimits() {
    Limits limits;
    limits.message_bytes_max = 1 * kMiB;
    limits.resident_bytes_max = 8 * kMiB;
    limits.lane_count = 2;
    return limits;
  }

  std::vector<float> Floats(size_t count) {
    std::vector<float> values(count);
    std::normal_distribution<float> normal(0, 1000);
    for (float& value : values) value = normal(random_);
    return values;
  }

  Shape RandomShape() {
    Shape shape(1 + random_() % 5);
    for (uint64_t& extent : shape) extent = 1 + random_() % (shape.size() < 3 ? 90 : 9);
    return shape;
  }

  // The answer that a call left in `response`, but for how it came about; or its error.
  template <class Response>
  static std::string Told(const grpc::Status& status, const Response& response) {
    if (!status.ok()) return status.error_message();
    Response told = response;
    told.clear_execution();
    return told.DebugString();
  }

  std::string Answer(const v1::ReduceArrayRequest& request) {
    return Told(caller_.Compute(request), caller_.reduced);
  }
  std::string Answer(const v1::ScanArrayRequest& request) {
    return Told(caller_.Compute(request), caller_.scanned);
  }
  std::string Answer(const v1::ComputeHistogramRequest& request) {
    return Told(caller_.Compute(request), caller_.counted);
  }
  template <class Request, class Response>
  std::string AnswerOf(grpc::Status (v1::ComputeService::StubInterface::*call)(grpc::ClientContext*,
                                                                               const Request&,
                                                                               Response*),
                       const Request& request) {
    Response response;
    const grpc::Status status =
        (server_.compute().*call)(caller_.MakeContext().get(), request, &response);
    return Told(status, response);
  }
  std::string Answer(const v1::ComputeQuantilesRequest& request) {
    return AnswerOf(&v1::ComputeService::StubInterface::ComputeQuantiles, request);
  }
  std::string Answer(const v1::SelectTopRequest& request) {
    return AnswerOf(&v1::ComputeService::StubInterface::SelectTop, request);
  }
  std::string Answer(const v1::ReduceByKeyRequest& request) {
    return AnswerOf(&v1::ComputeService::StubInterface::ReduceByKey, request);
  }
  std::string Answer(const v1::RelateArraysRequest& request) {
    return AnswerOf(&v1::ComputeService::StubInterface::RelateArrays, request);
  }

  // Some axis of the view, or all of them.
  void Group(const Shape& shape, v1::Grouping& grouping) {
    const uint32_t axes = random_();
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if ((axes >> axis & 1) == 1) grouping.mutable_axes()->add_axes(static_cast<int32_t>(axis));
    }
    if (grouping.axes().axes_size() == 0) grouping.clear_axes();
  }

  void ExpectInvalidField(const grpc::Status& status, const std::string& field,
                          const std::string& text) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_message();
    EXPECT_EQ(DecodeDetails(status).field(), field) << status.error_message();
    EXPECT_THAT(status.error_message(), HasSubstr(text));
  }

  std::mt19937 random_{20261129};
  std::unique_ptr<kernels::Engine> engine_ =
      *kernels::CreateEngine({.kind = kernels::EngineKind::kCpu, .cpu_threads = 2});
  TestServer server_{*engine_, TestLimits()};
  ArrayCaller caller_{server_};
};

v1::ReduceArrayRequest Reduction(const v1::ArraySource& source, const v1::Grouping& grouping,
                                 const std::vector<v1::Statistic>& statistics) {
  v1::ReduceArrayRequest request;
  *request.mutable_array() = source;
  *request.mutable_grouping() = grouping;
  for (const v1::Statistic statistic : statistics) request.add_statistics(statistic);
  return request;
}

TEST_F(ViewCallTest, ReductionsAlongAnyAxes) {
  const std::vector<v1::Statistic> any_order = {v1::STATISTIC_SUM, v1::STATISTIC_MIN,
                                                v1::STATISTIC_VARIANCE, v1::STATISTIC_L2_NORM};
  const std::vector<v1::Statistic> in_order = {v1::STATISTIC_ARGMAX, v1::STATISTIC_SUM,
                                               v1::STATISTIC_PRODUCT};
  for (int round = 0; round < 300; ++round) {
    const Shape shape = RandomShape();
    uint64_t count = 1;
    for (const uint64_t extent : shape) count *= extent;
    const std::vector<float> values = Floats(count);
    caller_.Put("x", v1::ELEMENT_TYPE_FLOAT32, shape, values);
    const v1::StridedView view = RandomView(shape, random_);
    const v1::ArraySource inlined =
        Inline(v1::ELEMENT_TYPE_FLOAT32, ShapeOf(view), Chosen(values, shape, view));
    v1::Grouping grouping;
    Group(ShapeOf(view), grouping);
    for (const auto& statistics : {any_order, in_order}) {
      SCOPED_TRACE(view.DebugString() + grouping.DebugString());
      EXPECT_EQ(Answer(Reduction(ViewOf("x", view), grouping, statistics)),
                Answer(Reduction(inlined, grouping, statistics)));
    }
    ASSERT_TRUE(caller_.Delete("x").ok());
  }
}

TEST_F(ViewCallTest, ReductionsOfElementsThatCount) {
  const Shape shape = {40, 30, 7};
  const std::vector<float> values = Floats(40 * 30 * 7);
  std::vector<uint8_t> truths(values.size());
  for (uint8_t& truth : truths) truth = random_() % 2;
  caller_.Put("x", v1::ELEMENT_TYPE_FLOAT32, shape, values);
  caller_.Put("mask", v1::ELEMENT_TYPE_BOOL, shape, truths);
  for (int round = 0; round < 30; ++round) {
    const v1::StridedView view = RandomView(shape, random_);
    v1::ReduceArrayRequest request = Reduction(ViewOf("x", view), {}, {v1::STATISTIC_SUM});
    *request.mutable_where() = ViewOf("mask", view);
    const std::string of_views = Answer(request);
    *request.mutable_array() =
        Inline(v1::ELEMENT_TYPE_FLOAT32, ShapeOf(view), Chosen(values, shape, view));
    const std::string of_masks = Answer(request);
    *request.mutable_where() =
        Inline(v1::ELEMENT_TYPE_BOOL, ShapeOf(view), Chosen(truths, shape, view));
    EXPECT_EQ(of_views, Answer(request)) << view.DebugString();
    EXPECT_EQ(of_masks, of_views);
  }
}

TEST_F(ViewCallTest, OtherOperations) {
  for (int round = 0; round < 60; ++round) {
    const Shape shape = RandomShape();
    uint64_t count = 1;
    for (const uint64_t extent : shape) count *= extent;
    const std::vector<float> values = Floats(count);
    std::vector<int32_t> keys(count);
    for (int32_t& key : keys) key = static_cast<int32_t>(random_() % 7);
    caller_.Put("x", v1::ELEMENT_TYPE_FLOAT32, shape, values);
    caller_.Put("keys", v1::ELEMENT_TYPE_INT32, shape, keys);
    const v1::StridedView view = RandomView(shape, random_);
    const Shape view_shape = ShapeOf(view);
    SCOPED_TRACE(view.DebugString());
    const v1::ArraySource x[] = {ViewOf("x", view), Inline(v1::ELEMENT_TYPE_FLOAT32, view_shape,
                                                           Chosen(values, shape, view))};
    const v1::ArraySource k[] = {ViewOf("keys", view), Inline(v1::ELEMENT_TYPE_INT32, view_shape,
                                                              Chosen(keys, shape, view))};
    const auto axis = static_cast<int32_t>(random_() % std::max<size_t>(view_shape.size(), 1));
    std::string answers[2];
    for (int i = 0; i < 2; ++i) {
      v1::ScanArrayRequest scan;
      *scan.mutable_array() = x[i];
      scan.set_operation(v1::SCAN_OPERATION_SUM);
      scan.set_exact(true);
      if (!view_shape.empty()) scan.mutable_grouping()->mutable_axes()->add_axes(axis);
      answers[i] += Answer(scan);
      v1::ComputeHistogramRequest histogram;
      *histogram.mutable_array() = x[i];
      *histogram.mutable_weights() = k[i];
      histogram.add_bins()->mutable_even()->set_bin_count(9);
      answers[i] += Answer(histogram);
      v1::ComputeQuantilesRequest quantiles;
      *quantiles.mutable_array() = x[i];
      quantiles.add_quantiles(0.3);
      if (!view_shape.empty()) quantiles.mutable_grouping()->mutable_axes()->add_axes(axis);
      answers[i] += Answer(quantiles);
      v1::SelectTopRequest top;
      *top.mutable_array() = x[i];
      top.set_count(1);
      answers[i] += Answer(top);
      v1::ReduceByKeyRequest by_key;
      *by_key.mutable_keys() = k[i];
      *by_key.mutable_values() = x[i];
      by_key.add_statistics(v1::STATISTIC_SUM);
      by_key.add_statistics(v1::STATISTIC_MAX);
      answers[i] += Answer(by_key);
      v1::RelateArraysRequest relate;
      *relate.mutable_x() = x[i];
      *relate.mutable_y() = x[i];
      relate.add_statistics(v1::PAIRED_STATISTIC_DOT);
      answers[i] += Answer(relate);
    }
    EXPECT_EQ(answers[0], answers[1]);
    EXPECT_THAT(answers[0], HasSubstr("weight_sums"));
    ASSERT_TRUE(caller_.Delete("x").ok());
    ASSERT_TRUE(caller_.Delete("keys").ok());
  }
}

// Operations of a batch have the answers that they have by themselves, those of views too.
TEST_F(ViewCallTest, Batches) {
  const Shape shape = {30, 20};
  const std::vector<float> values = Floats(600);
  caller_.Put("x", v1::ELEMENT_TYPE_FLOAT32, shape, values);
  for (int round = 0; round < 20; ++round) {
    v1::BatchComputeRequest batch;
    std::vector<std::string> answers;
    for (int i = 0; i < 3; ++i) {
      const v1::StridedView view = RandomView(shape, random_);
      const v1::ReduceArrayRequest reduction =
          Reduction(i == 1 ? Resident("x") : ViewOf("x", view), {}, {v1::STATISTIC_ARGMIN});
      v1::ComputeHistogramRequest histogram;
      *histogram.mutable_array() = ViewOf("x", view);
      histogram.add_bins()->mutable_even()->set_bin_count(5);
      *batch.add_operations()->mutable_reduction() = reduction;
      *batch.add_operations()->mutable_histogram() = histogram;
      answers.push_back(Answer(reduction));
      answers.push_back(Answer(histogram));
    }
    v1::BatchComputeResponse response;
    const grpc::Status status =
        server_.compute().BatchCompute(caller_.MakeContext().get(), batch, &response);
    ASSERT_TRUE(status.ok()) << status.error_message();
    ASSERT_EQ(response.results_size(), 6);
    for (int i = 0; i < 6; ++i) {
      const v1::BatchResult& result = response.results(i);
      EXPECT_EQ(i % 2 == 0 ? Told(status, result.reduction()) : Told(status, result.histogram()),
                answers[static_cast<size_t>(i)]);
    }
  }
}

// Elements come in the view's order, in chunks of whole boxes of it.
TEST_F(ViewCallTest, ElementsAreRead) {
  for (int round = 0; round < 60; ++round) {
    const Shape shape = RandomShape();
    uint64_t count = 1;
    for (const uint64_t extent : shape) count *= extent;
    const std::vector<float> values = Floats(count);
    caller_.Put("x", v1::ELEMENT_TYPE_FLOAT32, shape, values);
    const v1::StridedView view = RandomView(shape, random_);
    const std::string expected = BytesOf(Chosen(values, shape, view));
    for (const uint64_t chunk_bytes : {uint64_t{4}, uint64_t{100}, uint64_t{0}}) {
      const grpc::Status status = caller_.Read(ViewOf("x", view), chunk_bytes);
      ASSERT_TRUE(status.ok()) << status.error_message();
      std::string bytes;
      for (const v1::ReadArrayResponse& message : caller_.read) {
        const bool follows_memory = message.first_element() * 4 != bytes.size();
        // A view whose elements follow one another is a slice, whose elements have their place in
        // the array.
        if (follows_memory) {
          EXPECT_EQ(values.at(message.first_element()),
                    Chosen(values, shape, view).at(bytes.size() / 4));
        }
        EXPECT_LE(message.data().size(), chunk_bytes > 0 ? chunk_bytes : kArrayChunkBytesDefault);
        bytes += message.data();
      }
      EXPECT_EQ(bytes, expected) << view.DebugString();
    }
    ASSERT_TRUE(caller_.Delete("x").ok());
  }
}

// Groups that can be read where they are are not copied: nothing is read twice.
TEST_F(ViewCallTest, OnlyGapsAndOtherOrdersAreCopied) {
  constexpr uint64_t kRows = 100;
  constexpr uint64_t kColumns = 60;
  caller_.Put("x", v1::ELEMENT_TYPE_FLOAT32, {kRows, kColumns}, Floats(kRows * kColumns));
  const auto read_bytes = [&](const v1::StridedView& view, int axis) {
    v1::Grouping grouping;
    if (axis >= 0) grouping.mutable_axes()->add_axes(axis);
    EXPECT_TRUE(caller_.Compute(Reduction(ViewOf("x", view), grouping, {v1::STATISTIC_SUM})).ok());
    return caller_.reduced.execution().bytes_read();
  };
  v1::StridedView transposed;
  transposed.add_first(0);
  transposed.add_first(0);
  AddDimension(transposed, 1, kColumns, 1);
  AddDimension(transposed, 0, kRows, 1);
  for (const int axis : {-1, 0, 1}) {
    EXPECT_EQ(read_bytes(transposed, axis), 4 * kRows * kColumns) << axis;
  }
  v1::StridedView stepped;
  stepped.add_first(0);
  stepped.add_first(0);
  AddDimension(stepped, 0, kRows / 2, 2);
  AddDimension(stepped, 1, kColumns, 1);
  EXPECT_EQ(read_bytes(stepped, -1), 2 * 4 * kRows * kColumns / 2);
}

TEST_F(ViewCallTest, ViewsMayBeEmpty) {
  caller_.Put("x", v1::ELEMENT_TYPE_INT32, {4, 5}, std::vector<int32_t>(20, 1));
  v1::StridedView view;
  view.add_first(4);  // Behind the last row.
  view.add_first(0);
  AddDimension(view, 0, 0, 2);
  AddDimension(view, 1, 3, 2);
  ASSERT_TRUE(caller_.Compute(Reduction(ViewOf("x", view), {}, {v1::STATISTIC_SUM})).ok());
  EXPECT_THAT(caller_.reduced.results(0).values().int64_values().values(), ElementsAre(0));
  EXPECT_EQ(caller_.ReadBytes(ViewOf("x", view)), "");
}

TEST_F(ViewCallTest, FaultyViewsAreNamed) {
  caller_.Put("x", v1::ELEMENT_TYPE_INT32, {4, 5}, std::vector<int32_t>(20));
  const auto check = [&](const std::vector<uint64_t>& first,
                         const std::vector<std::array<int64_t, 3>>& dimensions,
                         const std::string& field, const std::string& text) {
    v1::StridedView view;
    for (const uint64_t index : first) view.add_first(index);
    for (const auto& [axis, count, step] : dimensions) {
      AddDimension(view, static_cast<uint32_t>(axis), static_cast<uint64_t>(count), step);
    }
    SCOPED_TRACE(view.DebugString());
    const v1::ReduceArrayRequest request = Reduction(ViewOf("x", view), {}, {v1::STATISTIC_SUM});
    ExpectInvalidField(caller_.Compute(request), "array.resident_array.view" + field, text);
    ExpectInvalidField(caller_.Read(request.array()), "array.view" + field, text);
  };
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  check({0}, {{0, 4, 1}}, ".first", "1 entries, where the array has 2 dimensions");
  check({0, 0, 0}, {}, ".first", "3 entries");
  check({4, 0}, {{1, 5, 1}}, ".first[0]", "4 is past the 4 indices");
  check({0, 5}, {{0, 4, 1}}, ".first[1]", "5 is past the 5 indices");
  check({4, 0}, {{0, 1, 1}, {1, 5, 1}}, ".first[0]", "4 is past");
  check({5, 0}, {{0, 0, 1}, {1, 5, 1}}, ".first[0]", "5 is past");
  check({0, 0}, {{2, 1, 1}}, ".dimensions[0].axis", "there is no axis 2");
  check({0, 0}, {{1, 5, 1}, {1, 5, 1}}, ".dimensions[1].axis", "axis 1 is named twice");
  check({0, 0}, {{0, 5, 1}}, ".dimensions[0].count", "5 indices from 0 on in steps of 1");
  check({1, 0}, {{0, 4, 0}}, ".dimensions[0].count", "4 indices from 1 on in steps of 1");
  check({3, 0}, {{0, 3, -2}}, ".dimensions[0].count", "3 indices from 3 on in steps of -2");
  check({0, 0}, {{0, 2, kLeast}}, ".dimensions[0].count", "in steps of -9223372036854775808");
  check({0, 0}, {{0, -1, 1}}, ".dimensions[0].count", "18446744073709551615 indices");
}

TEST_F(ViewCallTest, OneElementMayHaveAnyStep) {
  caller_.Put("x", v1::ELEMENT_TYPE_INT32, {4, 5}, std::vector<int32_t>(20, 3));
  v1::StridedView view;
  view.add_first(2);
  view.add_first(2);
  AddDimension(view, 0, 1, std::numeric_limits<int64_t>::min());
  AddDimension(view, 1, 1, std::numeric_limits<int64_t>::max());
  ASSERT_TRUE(caller_.Compute(Reduction(ViewOf("x", view), {}, {v1::STATISTIC_SUM})).ok());
  EXPECT_THAT(caller_.reduced.results(0).values().int64_values().values(), ElementsAre(3));
}

TEST_F(ViewCallTest, ViewsGoWithoutSlicesAndResultsInPlace) {
  caller_.Put("x", v1::ELEMENT_TYPE_FLOAT32, {10}, Floats(10));
  v1::StridedView view;
  view.add_first(0);
  AddDimension(view, 0, 5, 2);
  v1::ReduceArrayRequest both = Reduction(ViewOf("x", view), {}, {v1::STATISTIC_SUM});
  both.mutable_array()->mutable_resident_array()->mutable_slice()->set_count(3);
  ExpectInvalidField(caller_.Compute(both), "array.resident_array.view", "not together with slice");
  v1::ScanArrayRequest scan;
  *scan.mutable_array() = ViewOf("x", view);
  scan.set_operation(v1::SCAN_OPERATION_SUM);
  scan.mutable_destination()->mutable_in_place();
  ExpectInvalidField(caller_.Compute(scan), "array.resident_array.view", "results in place");
}

// A copy of a view takes room beside resident arrays, and gives it back.
TEST_F(ViewCallTest, CopiesNeedRoomForTheTime) {
  constexpr uint64_t kCount = 5 * kMiB / 4;
  ASSERT_TRUE(caller_.Create("x", v1::ELEMENT_TYPE_INT32, {kCount}).ok());  // Of zeros,
  ASSERT_TRUE(caller_.Write("x", {Chunk(0, BytesOf(std::vector<int32_t>(1000, 1)))}).ok());
  v1::StridedView view;
  view.add_first(0);
  AddDimension(view, 0, kCount / 2, 2);
  const v1::ReduceArrayRequest request = Reduction(ViewOf("x", view), {}, {v1::STATISTIC_SUM});
  for (int round = 0; round < 5; ++round) {
    const grpc::Status status = caller_.Compute(request);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_THAT(caller_.reduced.results(0).values().int64_values().values(), ElementsAre(500));
  }
  ASSERT_TRUE(caller_.Create("y", v1::ELEMENT_TYPE_INT8, {2 * kMiB}).ok());
  EXPECT_EQ(caller_.Compute(request).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  ASSERT_TRUE(caller_.Delete("y").ok());
  EXPECT_TRUE(caller_.Compute(request).ok());
}

}  // namespace
}  // namespace gridfold::server
