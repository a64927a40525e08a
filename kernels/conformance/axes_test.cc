// Reductions over sets of axes and scans along an axis, of arrays of 0 to 8 dimensions: the answer
// to the same array with its groups sorted out element by element, one a row.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <stop_token>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/axes_runner.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/groupings.h"
#include "kernels/conformance/reduction_oracle.h"
#include "kernels/conformance/reduction_specs.h"
#include "kernels/conformance/scan_oracle.h"
#include "kernels/conformance/scan_specs.h"
#include "kernels/conformance/test_data.h"

namespace gridfold::kernels::conformance {
namespace {

using Extents = std::vector<uint64_t>;

kernels::Shape ShapeOf(const Extents& extents) { return kernels::Shape(std::span(extents)); }

// Where each element of an array stands once its groups are rows: `place[i]` of element i.
struct SortedGroups {
  uint64_t group_count = 1;
  uint64_t group_size = 1;
  std::vector<uint64_t> places;
};

SortedGroups SortGroups(const Extents& extents, AxisSet axes) {
  SortedGroups sorted;
  uint64_t element_count = 1;
  for (size_t d = 0; d < extents.size(); ++d) {
    const bool is_reduced = (axes >> d & 1) != 0;
    (is_reduced ? sorted.group_size : sorted.group_count) *= extents[d];
    element_count *= extents[d];
  }
  std::array<uint64_t, kDimensionsMax> index{};
  for (uint64_t i = 0; i < element_count; ++i) {
    uint64_t rest = i;
    for (size_t d = extents.size(); d-- > 0; rest /= extents[d]) index[d] = rest % extents[d];
    uint64_t group = 0;
    uint64_t position = 0;
    for (size_t d = 0; d < extents.size(); ++d) {
      uint64_t& number = (axes >> d & 1) != 0 ? position : group;
      number = number * extents[d] + index[d];
    }
    sorted.places.push_back(group * sorted.group_size + position);
  }
  return sorted;
}

// Where the view's element `index`, in row-major order, stands among those in RangeOf(view).
uint64_t PlaceIn(const StridedView& view, uint64_t index) {
  auto place = static_cast<int64_t>(view.first - RangeOf(view).first);
  for (size_t d = view.dimensions.size(); d-- > 0;) {
    const StridedDimension& dimension = view.dimensions[d];
    place += static_cast<int64_t>(index % dimension.extent) * dimension.stride;
    index /= dimension.extent;
  }
  return static_cast<uint64_t>(place);
}

class AxesTest : public EngineTest {
 protected:
  AxesRunner& runner() {
    if (!runner_.has_value()) runner_.emplace(engine());
    return *runner_;
  }

  void CheckReductions(const TestArray& elements, const Extents& extents, AxisSet axes) {
    SCOPED_TRACE(testing::Message() << testing::PrintToString(extents) << ", axes " << axes);
    const SortedGroups sorted = SortGroups(extents, axes);
    TestArray rows(
        ArrayDescription::Matrix(elements.type(), sorted.group_count, sorted.group_size));
    for (uint64_t i = 0; i < elements.size(); ++i) rows.Set(sorted.places[i], elements[i]);
    ReductionSpec spec = SpecOfAll(elements.description(), sorted.group_size == 0);
    spec.overflow_policy = OverflowPolicy::kWrap;
    const auto result = runner().Reduce(ShapeOf(extents), elements, axes, spec);
    spec.grouping = Axis(1);
    CheckReduction(rows, spec, result);
  }

  // Along each set of the view's axes, with what the gaps hold beside; how many of them were
  // reduced where they stand.
  int CheckView(const TestArray& elements, const StridedView& view, const ReductionSpec& wanted,
                bool keeps_order) {
    const kernels::Shape shape = kernels::ShapeOf(view);
    const Extents extents(shape.extents().begin(), shape.extents().end());
    int in_place = 0;
    for (AxisSet axes = 1; axes < AxisBit(shape.dimension_count()); ++axes) {
      SCOPED_TRACE(testing::Message() << testing::PrintToString(extents) << ", axes " << axes);
      const SortedGroups sorted = SortGroups(extents, axes);
      TestArray rows(
          ArrayDescription::Matrix(elements.type(), sorted.group_count, sorted.group_size));
      for (uint64_t i = 0; i < sorted.places.size(); ++i) {
        rows.Set(sorted.places[i], elements[PlaceIn(view, i)]);
      }
      ReductionSpec spec = wanted;
      const auto result = runner().Reduce(view, elements, axes, spec, keeps_order);
      in_place += runner().ran_in_place() ? 1 : 0;
      spec.grouping = Axis(1);
      const auto expected = engine().Reduce(rows, spec);
      EXPECT_EQ(result.status(), expected.status());  // Groups may hold nothing but NaN.
      if (!result.ok() || !expected.ok()) continue;
      for (size_t c = 0; c < expected->columns.size(); ++c) {
        EXPECT_TRUE(SameSlots(result->columns[c], expected->columns[c]))
            << StatisticName(expected->columns[c].statistic);
      }
    }
    return in_place;
  }

  // A scan behind whose axis other dimensions come runs down columns, and else along rows; the two
  // round sums of floating-point elements along trees of their own.
  void CheckScans(const TestArray& elements, const Extents& extents, int axis) {
    SCOPED_TRACE(testing::Message() << testing::PrintToString(extents) << ", axis " << axis);
    uint64_t behind = 1;
    for (size_t d = static_cast<size_t>(axis) + 1; d < extents.size(); ++d) behind *= extents[d];
    const SortedGroups sorted = SortGroups(extents, AxisBit(axis));
    const bool by_rows = behind == 1;
    const auto place = [&](uint64_t i) {
      const uint64_t at = sorted.places[i];
      return by_rows ? at : at % sorted.group_size * sorted.group_count + at / sorted.group_size;
    };
    const auto shape = by_rows ? Shape{sorted.group_count, sorted.group_size}
                               : Shape{sorted.group_size, sorted.group_count};
    const auto sort = [&](const TestArray& array) {
      TestArray table(ArrayDescription::Matrix(array.type(), shape.rows, shape.columns));
      for (uint64_t i = 0; i < array.size(); ++i) table.Set(place(i), array[i]);
      return table;
    };
    for (ScanSpec spec : ScansOf(elements.type())) {
      spec.overflow_policy = OverflowPolicy::kWrap;
      absl::StatusOr<TestArray> results = runner().Scan(ShapeOf(extents), elements, axis, spec);
      ASSERT_TRUE(results.ok()) << results.status();
      spec.grouping = Axis(by_rows ? 1 : 0);
      CheckScan(sort(elements), spec, sort(*results));
    }
  }

 private:
  std::optional<AxesRunner> runner_;
};

TEST_P(AxesTest, EverySetOfAxesOfFourDimensions) {
  const Extents extents = {3, 5, 2, 7};
  for (const ElementType type : kAllTypes) {
    for (const DataKind kind : {DataKind::kWide, DataKind::kSpecial}) {
      const TestArray elements = MakeVector(type, 3 * 5 * 2 * 7, kind, 601, 1);
      for (AxisSet axes = 0; axes < 16; ++axes) CheckReductions(elements, extents, axes);
    }
  }
}

TEST_P(AxesTest, RandomShapesAndAxes) {
  std::mt19937_64 random(602);
  for (int turn = 0; turn < 150; ++turn) {
    Extents extents(random() % 9);
    uint64_t element_count = 1;
    for (uint64_t& extent : extents) {
      const uint64_t room = 3000 / std::max<uint64_t>(element_count, 1);
      extent = random() % 60 == 0 ? 0 : 1 + random() % std::min<uint64_t>(random() % 40 + 1, room);
      element_count *= extent;
    }
    const ElementType type = kAllTypes[random() % kAllTypes.size()];
    const TestArray elements = MakeVector(type, element_count, DataKind::kWide, random());
    CheckReductions(elements, extents, static_cast<AxisSet>(random() % (1u << extents.size())));
  }
}

// Tiles that end inside the array, in runs of every length, of all sizes of elements. Compared with
// the rows that other tests compare with the oracle, since that takes long for so many elements.
TEST_P(AxesTest, LargerArrays) {
  for (const ElementType type :
       {ElementType::kInt8, ElementType::kFloat16, ElementType::kFloat32, ElementType::kFloat64}) {
    for (const auto& [extents, axes] :
         std::vector<std::pair<Extents, AxisSet>>{{{70, 65, 130}, 0b010},
                                                  {{70, 65, 131}, 0b101},
                                                  {{300, 301, 3}, 0b010},
                                                  {{2, 129, 5, 67, 1, 3}, 0b010010},
                                                  {{3, 40'000, 2}, 0b101},
                                                  {{5, 7, 9'001}, 0b010},
                                                  {{9, 8, 7, 6, 5, 4, 3, 2}, 0b10101010},
                                                  {{70, 65, 128}, 0b010},
                                                  {{2, 1'500, 256}, 0b010},
                                                  {{3, 5, 40, 1'024}, 0b0101},
                                                  {{2, 3, 4, 60, 512}, 0b01010},
                                                  {{33, 6, 3'000}, 0b101},
                                                  {{3, 50, 2, 2'048}, 0b1010}}) {
      SCOPED_TRACE(testing::Message() << testing::PrintToString(extents) << ", axes " << axes);
      const uint64_t element_count = ShapeOf(extents).element_count();
      const TestArray elements = MakeVector(type, element_count, DataKind::kSmall, 603);
      const SortedGroups sorted = SortGroups(extents, axes);
      TestArray rows(ArrayDescription::Matrix(type, sorted.group_count, sorted.group_size));
      const size_t element_bytes = ElementSize(type);
      for (uint64_t i = 0; i < element_count; ++i) {
        std::memcpy(rows.mutable_data() + sorted.places[i] * element_bytes,
                    elements.data() + i * element_bytes, element_bytes);
      }
      ReductionSpec spec = SpecOf({Statistic::kSum, Statistic::kArgmax, Statistic::kVariance});
      const auto result = runner().Reduce(ShapeOf(extents), elements, axes, spec);
      spec.grouping = Axis(1);
      const auto expected = engine().Reduce(rows, spec);
      ASSERT_TRUE(result.ok() && expected.ok()) << result.status() << expected.status();
      for (size_t c = 0; c < expected->columns.size(); ++c) {
        EXPECT_TRUE(SameSlots(result->columns[c], expected->columns[c]));
      }
    }
  }
}

// All parts of a state, and data that the first kernels of columns leave to others.
TEST_P(AxesTest, InPlaceAsInAnotherOrder) {
  uint64_t seed = 609;
  for (const ElementType type : kAllTypes) {
    for (const DataKind kind : {DataKind::kSmall, DataKind::kWide, DataKind::kSpecial}) {
      for (const auto& [extents, axes] : std::vector<std::pair<Extents, AxisSet>>{
               {{3, 70, 48}, 0b010}, {{3, 2, 500, 64}, 0b0101}, {{21, 3, 1'000}, 0b101}}) {
        SCOPED_TRACE(testing::Message() << testing::PrintToString(extents) << ", axes " << axes);
        const TestArray elements = MakeVector(type, ShapeOf(extents).element_count(), kind, ++seed);
        for (const bool ignore_nan : {false, true}) {
          for (ReductionSpec spec :
               {SpecOf({Statistic::kSum}), SpecOf({Statistic::kArgmin, Statistic::kMax}),
                SpecOf({Statistic::kMean, Statistic::kVariance}),
                SpecOf({Statistic::kL2Norm, Statistic::kNonzeroCount, Statistic::kArgmax})}) {
            spec.nan_policy = ignore_nan ? NanPolicy::kIgnore : NanPolicy::kPropagate;
            spec.overflow_policy = OverflowPolicy::kWrap;
            const auto result = runner().Reduce(ShapeOf(extents), elements, axes, spec);
            EXPECT_TRUE(result.ok()) << result.status();
            const bool are_rows = (axes & 0b100) != 0;  // Whose states of moments are slow.
            EXPECT_TRUE(runner().ran_in_place() || (are_rows && IsFloatingPoint(type)));
          }
        }
      }
    }
  }
}

// A part without a value, or one that does not fit, is no error of the whole group.
TEST_P(AxesTest, OnlyWholeGroupsFail) {
  const Extents extents = {4, 3, 600};
  TestArray floats = MakeVector(ElementType::kFloat32, 4 * 3 * 600, DataKind::kSmall, 610);
  auto* const values = reinterpret_cast<float*>(floats.mutable_data());
  std::fill_n(values + 600, 600, std::numeric_limits<float>::quiet_NaN());
  ReductionSpec spec = SpecOf({Statistic::kArgmin});
  spec.nan_policy = NanPolicy::kIgnore;
  EXPECT_TRUE(runner().Reduce(ShapeOf(extents), floats, 0b101, spec).ok());
  EXPECT_TRUE(runner().ran_in_place());
  TestArray integers = MakeVector(ElementType::kInt64, 4 * 3 * 600, DataKind::kSmall, 611);
  auto* const numbers = reinterpret_cast<int64_t*>(integers.mutable_data());
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  numbers[1'200] = numbers[1'201] = kLargest;
  numbers[1'800 + 1'200] = numbers[1'800 + 1'201] = -kLargest;
  spec = SpecOf({Statistic::kSum});
  EXPECT_TRUE(runner().Reduce(ShapeOf(extents), integers, 0b101, spec).ok());
  EXPECT_TRUE(runner().ran_in_place());
  numbers[1'800 + 600] = numbers[1'800 + 601] = kLargest;
  const auto failed = runner().Reduce(ShapeOf(extents), integers, 0b101, spec);
  EXPECT_EQ(failed.status().code(), absl::StatusCode::kOutOfRange);
}

TEST_P(AxesTest, OnlyOtherPatternsThanRowsAndColumnsAreRearranged) {
  const TestArray elements = MakeVector(ElementType::kInt32, 120, DataKind::kSmall, 604);
  const auto rearranges = [&](const Extents& extents, AxisSet axes) {
    EXPECT_TRUE(runner().Reduce(ShapeOf(extents), elements, axes, SpecOf({Statistic::kSum})).ok());
    return runner().rearranged();
  };
  EXPECT_FALSE(rearranges({4, 5, 6}, 0b000));
  EXPECT_FALSE(rearranges({4, 5, 6}, 0b001));
  EXPECT_FALSE(rearranges({4, 5, 6}, 0b011));
  EXPECT_FALSE(rearranges({4, 5, 6}, 0b100));
  EXPECT_FALSE(rearranges({4, 5, 6}, 0b111));
  EXPECT_FALSE(rearranges({20, 1, 6}, 0b010));
  EXPECT_FALSE(rearranges({1, 20, 1, 6}, 0b1101));
  EXPECT_TRUE(rearranges({4, 5, 6}, 0b010));
  EXPECT_TRUE(rearranges({4, 5, 6}, 0b101));
}

TEST_P(AxesTest, ScansAlongEveryAxis) {
  for (const ElementType type : kAllTypes) {
    for (const Extents& extents :
         {Extents{37}, Extents{4, 9}, Extents{3, 7, 5}, Extents{2, 1, 40, 1, 3}, Extents{6, 11, 1},
          Extents{2, 2, 2, 2, 2, 2, 2, 2}, Extents{3, 0, 2}}) {
      const uint64_t element_count = ShapeOf(extents).element_count();
      const TestArray elements = MakeVector(type, element_count, DataKind::kWide, 605);
      for (size_t axis = 0; axis < extents.size(); ++axis) {
        CheckScans(elements, extents, static_cast<int>(axis));
      }
    }
  }
}

TEST_P(AxesTest, LongScans) {
  for (const ElementType type : {ElementType::kInt16, ElementType::kFloat64}) {
    const TestArray elements = MakeVector(type, 3 * 9'001 * 4, DataKind::kWide, 606);
    CheckScans(elements, {3, 9'001, 4}, 1);
  }
}

// Rearrangements by themselves, from and to host memory at any address, in units of each size;
// there and back.
TEST_P(AxesTest, RearrangementsMoveEveryElement) {
  for (const ElementType type :
       {ElementType::kInt8, ElementType::kInt16, ElementType::kInt32, ElementType::kInt64}) {
    for (const auto& [extents, order] :
         std::vector<std::pair<Extents, std::vector<int>>>{{{5, 7}, {1, 0}},
                                                           {{70, 90}, {1, 0}},
                                                           {{3, 100, 2}, {1, 0, 2}},
                                                           {{9, 5, 64}, {1, 0, 2}},
                                                           {{2, 3, 5'001}, {1, 0, 2}},
                                                           {{3, 4, 5, 6}, {3, 1, 0, 2}},
                                                           {{40, 2, 41, 3}, {2, 0, 3, 1}},
                                                           {{6}, {0}}}) {
      SCOPED_TRACE(testing::PrintToString(extents) + testing::PrintToString(order));
      const uint64_t element_count = ShapeOf(extents).element_count();
      const TestArray elements = MakeVector(type, element_count, DataKind::kWide, 607, 1);
      const Rearrangement planned = PlanRearrangement(ShapeOf(extents), order);
      TestArray moved(elements.description(), 3);
      TestArray back(elements.description());
      RunStatistics run;
      const auto rearrange = [&](const Rearrangement& way, const TestArray& from, TestArray& to) {
        const absl::Status status = engine().lane().Rearrange(
            way, ElementSize(type), from.span(), to.mutable_span(), std::stop_token(), run);
        EXPECT_TRUE(status.ok()) << status;
        EXPECT_TRUE(to.SurroundingsAreIntact());
      };
      rearrange(planned, elements, moved);
      // Element i of the result has these indices in the order of its dimensions.
      std::vector<uint64_t> strides(extents.size(), 1);
      for (size_t d = extents.size() - 1; d > 0; --d) strides[d - 1] = strides[d] * extents[d];
      for (uint64_t i = 0; i < element_count; ++i) {
        uint64_t rest = i;
        uint64_t place = 0;
        for (size_t d = order.size(); d-- > 0;) {
          const auto from = static_cast<size_t>(order[d]);
          place += rest % extents[from] * strides[from];
          rest /= extents[from];
        }
        ASSERT_EQ(moved[i], elements[place]) << "element " << i;
      }
      rearrange(planned.Inverse(), moved, back);
      EXPECT_EQ(FirstDifference(back, elements), element_count);
      EXPECT_EQ(run.bytes_read, elements.span().size_bytes);
    }
  }
}

// Views of every kind by themselves, of elements of each size: with gaps, backwards, in any order
// of the dimensions, of few elements and of several tiles.
TEST_P(AxesTest, ViewsAreCopiedTogether) {
  const std::vector<StridedView> views = {
      {0, {{5'000, 2}}},                           // Every second element,
      {4'999, {{5'000, -1}}},                      // all from the last one on,
      {9'998, {{2'500, -3}}},                      // and every third.
      {7, {{90, 100}, {70, 1}}},                   // Columns of a matrix that follow one another,
      {3, {{97, 103}, {51, 2}}},                   // every second one,
      {9'991, {{97, -103}, {3, -2}}},              // few, from the last row on,
      {2, {{50, 2}, {100, 101}}},                  // and as rows.
      {1, {{3, 3'000}, {40, 70}, {9, 7}, {3, 2}}}  // Four dimensions, and as many backwards.
  };
  for (const ElementType type :
       {ElementType::kInt8, ElementType::kInt16, ElementType::kInt32, ElementType::kInt64}) {
    for (size_t v = 0; v < views.size(); ++v) {
      for (const bool is_turned : {false, true}) {
        StridedView view = views[v];
        if (is_turned) std::reverse(view.dimensions.begin(), view.dimensions.end());
        SCOPED_TRACE(testing::Message() << "view " << v << (is_turned ? ", turned" : ""));
        const ElementRange range = RangeOf(view);
        const TestArray elements = MakeVector(type, range.count, DataKind::kWide, 609, 1);
        const uint64_t count = ShapeOf(view).element_count();
        TestArray packed(ArrayDescription::Vector(type, count), 3);
        RunStatistics run;
        const absl::Status status =
            engine().lane().Rearrange(PlanRearrangement(view), ElementSize(type), elements.span(),
                                      packed.mutable_span(), std::stop_token(), run);
        ASSERT_TRUE(status.ok()) << status;
        EXPECT_TRUE(packed.SurroundingsAreIntact());
        EXPECT_EQ(run.bytes_read, count * ElementSize(type));
        for (uint64_t i = 0; i < count; ++i) {
          ASSERT_EQ(packed[i], elements[PlaceIn(view, i)]) << "element " << i;
        }
      }
    }
  }
}

// Views with gaps, of which runs of elements stand together.
TEST_P(AxesTest, ViewsInPlace) {
  struct Case {
    StridedView view;
    int in_place_min;  // Sets of axes, of sums, on any engine.
  };
  const std::vector<Case> cases = {
      {{0, {{40, 2 * 128}, {128, 1}}}, 1},                    // Every second row,
      {{3, {{97, 103}, {51, 1}}}, 1},                         // some columns,
      {{1, {{5, 25'003}, {20'001, 1}}}, 3},                   // long rows of them,
      {{2, {{4, 30'000}, {20'011, 1}}}, 3},                   // few of many,
      {{0, {{3'000, 24}, {16, 1}}}, 1},                       // short ones,
      {{0, {{3'000, 7}, {2, 1}}}, 1},                         // and shorter ones.
      {{0, {{6, 64 * 48 * 2}, {40, 64}, {48, 1}}}, 1},        // Matrices of a stack,
      {{5, {{4, 5'000}, {30, 120}, {70, 1}}}, 0},             // and some rows and columns of each,
      {{0, {{30, 128}, {4, 30 * 128}, {96, 1}}}, 1},          // the matrices innermost,
      {{0, {{3, 7'000}, {4, 1'500}, {5, 200}, {96, 1}}}, 0},  // and more than are taken in place.
  };
  uint64_t seed = 620;
  for (size_t c = 0; c < cases.size(); ++c) {
    for (const bool is_turned : {false, true}) {
      StridedView view = cases[c].view;
      if (is_turned) std::reverse(view.dimensions.begin(), view.dimensions.end());
      SCOPED_TRACE(testing::Message() << "view " << c << (is_turned ? ", turned" : ""));
      for (const ElementType type : kAllTypes) {
        const std::vector<ReductionSpec> specs = {
            SpecOf({Statistic::kSum}), SpecOf({Statistic::kMin, Statistic::kMax}),
            SpecOf({Statistic::kArgmin, Statistic::kNonzeroCount, Statistic::kL2Norm}),
            SpecOf({Statistic::kSum, Statistic::kMin, Statistic::kMax, Statistic::kVariance})};
        for (size_t s = 0; s < specs.size(); ++s) {
          const DataKind kind = (s + c) % 2 == 0 ? DataKind::kSmall : DataKind::kSpecial;
          const TestArray elements = MakeVector(type, RangeOf(view).count, kind, ++seed);
          ReductionSpec spec = specs[s];
          spec.nan_policy = NanPolicy::kIgnore;
          spec.overflow_policy = OverflowPolicy::kWrap;
          const int in_place = CheckView(elements, view, spec, /*keeps_order=*/s == 2);
          // States of float64 that tell of NaN too may take longer than a copy.
          const bool is_counted = s == 0 && !is_turned && type != ElementType::kFloat64;
          EXPECT_GE(in_place, is_counted ? cases[c].in_place_min : 0);
        }
      }
    }
  }
}

TEST_P(AxesTest, RearrangementsFitTheirLane) {
  LaneOptions options = kRoomyLane;
  options.input_bytes_max = 100;
  auto lane = engine().engine().CreateLane(options);
  ASSERT_TRUE(lane.ok()) << lane.status();
  const TestArray elements = MakeVector(ElementType::kInt8, 101, DataKind::kWide, 608);
  TestArray moved(elements.description());
  RunStatistics run;
  EXPECT_TRUE(absl::IsResourceExhausted(
      (*lane)->Rearrange(PlanRearrangement({101}, std::vector<int>{0}), 1, elements.span(),
                         moved.mutable_span(), std::stop_token(), run)));
}

INSTANTIATE_TEST_SUITE_P(Cpu, AxesTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, AxesTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
