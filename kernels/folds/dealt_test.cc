// Operations that are dealt to several lanes: wherever the cuts are, the answer is that of one run.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/accumulators/reduction_accumulator.h"
#include "kernels/contract/input_part.h"
#include "kernels/folds/dealt_histogram.h"
#include "kernels/folds/dealt_reduction.h"
#include "kernels/folds/fold_test_util.h"

namespace gridfold::kernels {
namespace {

class DealtTest : public FoldTest {
 protected:
  // Cuts at multiples of `unit`, some of them equal.
  Cuts RandomCuts(uint64_t count, uint64_t unit = 1) {
    Cuts cuts = {0, count};
    for (uint64_t i = random_() % 4; i > 0; --i) {
      cuts.push_back(random_() % (count / unit + 1) * unit);
      if (random_() % 3 == 0) cuts.push_back(cuts.back());
    }
    std::sort(cuts.begin(), cuts.end());
    return cuts;
  }

  // Runs all parts, the last ones first, each with the elements between its cuts.
  template <class RunPart>
  static absl::Status RunParts(const Cuts& cuts, const RunPart& run) {
    absl::Status first_error;
    for (size_t part = cuts.size() - 1; part-- > 0;) {
      absl::Status status = run(part, cuts[part], cuts[part + 1] - cuts[part]);
      if (!status.ok()) first_error = status;
    }
    return first_error;
  }

  absl::StatusOr<ReductionResult> ReduceDealt(const ReductionPlan& plan, const InputSpan& input,
                                              const Cuts& cuts, size_t slices_max = 4) {
    if (absl::Status status = DealtReduction::Check(plan, cuts); !status.ok()) return status;
    DealtReduction dealt(plan, cuts);
    const uint64_t element_bytes = ElementSize(plan.array.element_type);
    const absl::Status status = RunParts(cuts, [&](size_t part, uint64_t first, uint64_t count) {
      RunStatistics run;
      const InputPart elements(input, first * element_bytes, count * element_bytes);
      return dealt.RunPart(part, elements.span(), *lane_, {}, run);
    });
    if (!status.ok()) return status;
    // The last ones first.
    for (size_t slice = dealt.BeginMerge(slices_max); slice-- > 0;) {
      const absl::Status merged = dealt.MergeSlice(slice, *lane_, {});
      if (!merged.ok()) return merged;
    }
    return dealt.Finish(*lane_);
  }

  // The states of columns stay with the engine until it merges them, in slices for each part.
  absl::StatusOr<ReductionResult> ReduceInRooms(const ReductionPlan& plan, const InputSpan& input,
                                                const Cuts& cuts) {
    DealtReduction dealt(plan, cuts);
    const uint64_t element_bytes = ElementSize(plan.array.element_type);
    std::vector<std::vector<uint64_t>> rooms(
        cuts.size(),
        std::vector<uint64_t>(DealtReduction::RoomBytes(plan, *lane_) / sizeof(uint64_t), 77));
    const absl::Status status = RunParts(cuts, [&](size_t part, uint64_t first, uint64_t count) {
      RunStatistics run;
      const InputPart elements(input, first * element_bytes, count * element_bytes);
      const MutableResidentSpan room{reinterpret_cast<std::byte*>(rooms[part].data()),
                                     rooms[part].size() * sizeof(uint64_t)};
      return dealt.RunPartInto(part, elements.span(), room, *lane_, {}, run);
    });
    if (!status.ok()) return status;
    for (size_t slice = dealt.BeginMerge(0); slice-- > 0;) {
      const absl::Status merged = dealt.MergeSlice(slice, *lane_, {});
      if (!merged.ok()) return merged;
    }
    return dealt.Finish(*lane_);
  }

  // With rooms, counters of two parts in three stay with engines, of which one adds them up.
  absl::StatusOr<HistogramResult> CountDealt(const HistogramPlan& plan, const HistogramInput& input,
                                             const Cuts& cuts, bool has_rooms = false) {
    DealtHistogram dealt(plan, cuts);
    const uint64_t room_words = CounterWordBytes(plan) / sizeof(uint64_t);
    std::vector<std::vector<uint64_t>> rooms(cuts.size(), std::vector<uint64_t>(room_words, 77));
    const auto room_for = [&](size_t part) -> std::optional<CounterRoom> {
      if (!has_rooms || part % 3 == 2) return std::nullopt;
      auto* const words = reinterpret_cast<std::byte*>(rooms[part].data());
      return CounterRoom{static_cast<uint32_t>(part % 2), {words, CounterWordBytes(plan)}};
    };
    const auto run_all = [&](auto run_part) {
      return RunParts(cuts, [&](size_t part, uint64_t first, uint64_t count) {
        const auto cut = [&](const InputSpan& span, ElementType type) {
          if (SizeBytes(span) == 0) return std::make_unique<InputPart>(span, 0, 0);
          return std::make_unique<InputPart>(span, first * ElementSize(type),
                                             count * ElementSize(type));
        };
        const auto array = cut(input.array, plan.array.element_type);
        const auto y_array = cut(input.y_array, plan.array.element_type);
        const auto weights = cut(input.weights, plan.weight_type.value_or(ElementType::kInt8));
        return run_part(part, {array->span(), y_array->span(), weights->span()});
      });
    };
    RunStatistics run;
    if (dealt.needs_ranges()) {
      absl::Status status = run_all([&](size_t part, const HistogramInput& samples) {
        return dealt.FindRanges(part, samples, *lane_, {}, run);
      });
      if (status.ok()) status = dealt.EndRanges(*lane_, {}, run);
      if (!status.ok()) return status;
    }
    const absl::Status status = run_all([&](size_t part, const HistogramInput& samples) {
      return dealt.RunPart(part, samples, *lane_, {}, run, room_for(part));
    });
    if (!status.ok()) return status;
    const std::vector<std::vector<uint64_t>> before = rooms;
    const auto engine = static_cast<uint32_t>(random_() % 3);
    absl::StatusOr<HistogramResult> result = dealt.Finish(*lane_, {}, run, engine);
    ExpectRoomsOfOthersAsTheyWere(before, rooms, engine);
    return result;
  }

  // An engine adds the counters of all to its own, and writes to no memory of another one.
  static void ExpectRoomsOfOthersAsTheyWere(const std::vector<std::vector<uint64_t>>& before,
                                            const std::vector<std::vector<uint64_t>>& after,
                                            uint32_t engine) {
    for (size_t part = 0; part < before.size(); ++part) {
      if (part % 2 == engine) continue;
      EXPECT_EQ(after[part], before[part]) << part;
    }
  }

  void ExpectReductionOfOneRun(const ReductionPlan& plan, const std::string& bytes,
                               const Cuts& cuts, size_t slices_max = 4) {
    RunStatistics run;
    const auto expected = lane_->RunReduction(plan, SpanOf(bytes), {}, run);
    SCOPED_TRACE(testing::PrintToString(cuts));
    ExpectSameValues(plan, expected, ReduceDealt(plan, SpanOf(bytes), cuts, slices_max));
    const bool all_have_elements = std::adjacent_find(cuts.begin(), cuts.end()) == cuts.end();
    if (!DealtReduction::CanHaveRoom(plan) || !all_have_elements) return;
    SCOPED_TRACE("with rooms");
    ExpectSameValues(plan, expected, ReduceInRooms(plan, SpanOf(bytes), cuts));
  }

  static void ExpectSameValues(const ReductionPlan& plan,
                               const absl::StatusOr<ReductionResult>& expected,
                               const absl::StatusOr<ReductionResult>& actual) {
    ASSERT_EQ(actual.status(), expected.status());
    if (!expected.ok()) return;
    if (plan.return_states) {
      EXPECT_EQ(*MakeReductionAccumulator(plan, actual->states),
                *MakeReductionAccumulator(plan, expected->states));
      return;
    }
    ASSERT_EQ(actual->columns.size(), expected->columns.size());
    for (size_t i = 0; i < expected->columns.size(); ++i) {
      EXPECT_EQ(actual->columns[i].slots, expected->columns[i].slots)
          << StatisticName(plan.statistics[i]) << " of "
          << ElementTypeName(plan.array.element_type);
    }
  }

  void ExpectHistogramOfOneRun(const HistogramPlan& plan, const HistogramInput& input,
                               const Cuts& cuts) {
    RunStatistics run;
    const auto expected = lane_->RunHistogram(plan, input, {}, run);
    SCOPED_TRACE(testing::PrintToString(cuts));
    ExpectSameCounts(expected, CountDealt(plan, input, cuts));
    if (!DealtHistogram::CanHaveRoom(plan)) return;
    SCOPED_TRACE("with rooms");
    ExpectSameCounts(expected, CountDealt(plan, input, cuts, true));
  }

  static void ExpectSameCounts(const absl::StatusOr<HistogramResult>& expected,
                               const absl::StatusOr<HistogramResult>& actual) {
    ASSERT_EQ(actual.status(), expected.status());
    if (!expected.ok()) return;
    ASSERT_EQ(actual->channels.size(), expected->channels.size());
    for (size_t c = 0; c < expected->channels.size(); ++c) {
      const HistogramCounts& a = actual->channels[c];
      const HistogramCounts& e = expected->channels[c];
      EXPECT_EQ(a.counts, e.counts);
      EXPECT_EQ(a.weight_sums, e.weight_sums);
      EXPECT_EQ(a.bin_indices, e.bin_indices);
      EXPECT_EQ(testing::PrintToString(a.quantile_values),
                testing::PrintToString(e.quantile_values));
      EXPECT_EQ(a.underflow_count, e.underflow_count);
      EXPECT_EQ(a.overflow_count, e.overflow_count);
      EXPECT_EQ(a.nan_count, e.nan_count);
    }
    for (size_t i = 0; i < expected->bins.size(); ++i) {
      EXPECT_EQ(EdgesOf(actual->bins[i]), EdgesOf(expected->bins[i]));
    }
  }
};

const std::vector<Statistic> kStatistics = {Statistic::kSum,      Statistic::kArgmin,
                                            Statistic::kArgmax,   Statistic::kMin,
                                            Statistic::kVariance, Statistic::kNanCount};

TEST_F(DealtTest, ReductionsOfEveryGrouping) {
  constexpr uint64_t kRows = 60;
  constexpr uint64_t kColumns = 7;
  for (int i = 0; i < 60; ++i) {
    const auto type = std::vector<ElementType>{ElementType::kInt16, ElementType::kFloat32,
                                               ElementType::kFloat64, ElementType::kFloat16}[i % 4];
    const std::string bytes = RandomElements(type, kRows * kColumns);
    for (const GroupingKind kind : {GroupingKind::kWhole, GroupingKind::kAxis0,
                                    GroupingKind::kAxis1, GroupingKind::kSegments}) {
      ReductionSpec spec{.statistics = kStatistics, .grouping = {.kind = kind, .offsets = {}}};
      spec.return_states = i % 3 == 0;
      const bool is_matrix = kind != GroupingKind::kSegments;
      if (!is_matrix) {
        spec.statistics = {Statistic::kSum, Statistic::kL2Norm, Statistic::kNanCount};
        spec.grouping.offsets = RandomCuts(kRows * kColumns);
      }
      const auto plan = PlanReduction(is_matrix ? ArrayDescription::Matrix(type, kRows, kColumns)
                                                : ArrayDescription::Vector(type, kRows * kColumns),
                                      spec);
      ASSERT_TRUE(plan.ok()) << plan.status();
      ExpectReductionOfOneRun(spec.return_states ? PlanStates(*plan) : *plan, bytes,
                              RandomCuts(kRows * kColumns, is_matrix ? kColumns : 1));
    }
  }
}

// A segment that all cuts go through, empty ones at cuts and at both ends.
TEST_F(DealtTest, SegmentsThatLieOnSeveralDevices) {
  const std::string bytes = RandomElements(ElementType::kInt32, 100);
  ReductionSpec spec;
  spec.statistics = {Statistic::kSum, Statistic::kCount};
  for (const std::vector<uint64_t>& offsets : {std::vector<uint64_t>{0, 100},
                                               {0, 0, 0, 5, 95, 100, 100},
                                               {0, 30, 30, 30, 60, 60, 100},
                                               {0, 29, 31, 59, 61, 100}}) {
    spec.grouping = {GroupingKind::kSegments, offsets};
    const auto plan = PlanReduction(ArrayDescription::Vector(ElementType::kInt32, 100), spec);
    ASSERT_TRUE(plan.ok()) << plan.status();
    for (const Cuts& cuts : {Cuts{0, 30, 60, 100}, Cuts{0, 0, 30, 30, 60, 100, 100}, Cuts{0, 100},
                             Cuts{0, 1, 2, 3, 99, 100}}) {
      ExpectReductionOfOneRun(*plan, bytes, cuts);
    }
  }
}

TEST_F(DealtTest, ErrorsNameTheGroupOfTheWhole) {
  std::vector<int64_t> values(60, 1);
  values[40] = values[41] = values[55] = std::numeric_limits<int64_t>::max();
  const std::string bytes = BytesOf(values);
  ReductionSpec spec;
  spec.statistics = {Statistic::kSum};
  for (const GroupingKind kind : {GroupingKind::kWhole, GroupingKind::kAxis0, GroupingKind::kAxis1,
                                  GroupingKind::kSegments}) {
    spec.grouping = {.kind = kind, .offsets = {}};
    const bool is_matrix = kind != GroupingKind::kSegments;
    if (!is_matrix) spec.grouping.offsets = {0, 10, 39, 53, 60};
    const auto plan = PlanReduction(is_matrix ? ArrayDescription::Matrix(ElementType::kInt64, 10, 6)
                                              : ArrayDescription::Vector(ElementType::kInt64, 60),
                                    spec);
    ASSERT_TRUE(plan.ok());
    for (const Cuts& cuts : {Cuts{0, 18, 60}, Cuts{0, 42, 60}, Cuts{0, 6, 36, 54, 60}}) {
      ExpectReductionOfOneRun(*plan, bytes, cuts);
    }
  }
}

// Fewer than are worth slices, as many as two have, one more, and what does not divide.
TEST_F(DealtTest, ManyColumnsAreMergedInSlices) {
  constexpr uint64_t kRows = 5;
  for (const uint64_t columns : {1, 1023, 1024, 1025, 5003}) {
    for (const ElementType type : {ElementType::kFloat32, ElementType::kInt64}) {
      ReductionSpec spec{.statistics = kStatistics,
                         .grouping = {.kind = GroupingKind::kAxis0, .offsets = {}}};
      const std::string bytes = RandomElements(type, kRows * columns);
      const auto plan =
          PlanReduction(ArrayDescription::Matrix(type, kRows, columns), std::move(spec));
      ASSERT_TRUE(plan.ok()) << plan.status();
      for (const size_t slices_max : {1, 2, 3, 100}) {
        SCOPED_TRACE(slices_max);
        ExpectReductionOfOneRun(*plan, bytes, {0, columns, columns, 3 * columns, 5 * columns},
                                slices_max);
      }
    }
  }
}

// The smallest group is told, whichever slice it is in and whichever comes first.
TEST_F(DealtTest, OverflowsInSeveralSlices) {
  constexpr uint64_t kColumns = 4096;
  ReductionSpec spec;
  spec.statistics = {Statistic::kMax, Statistic::kSum};
  spec.grouping = {.kind = GroupingKind::kAxis0, .offsets = {}};
  const auto plan = PlanReduction(ArrayDescription::Matrix(ElementType::kInt64, 2, kColumns), spec);
  ASSERT_TRUE(plan.ok()) << plan.status();
  for (const std::vector<uint64_t>& groups : {std::vector<uint64_t>{0, 4095},
                                              {511, 512, 4000},
                                              {1023, 1024},
                                              {4095},
                                              {2047, 700, 3000}}) {
    std::vector<int64_t> values(2 * kColumns, 1);
    for (const uint64_t group : groups) {
      values[group] = std::numeric_limits<int64_t>::max();
    }
    ExpectReductionOfOneRun(*plan, BytesOf(values), {0, kColumns, 2 * kColumns}, 8);
  }
}

TEST_F(DealtTest, MergesOfSlicesStop) {
  constexpr uint64_t kColumns = 2048;
  ReductionSpec spec;
  spec.statistics = {Statistic::kSum};
  spec.grouping = {.kind = GroupingKind::kAxis0, .offsets = {}};
  const auto plan = PlanReduction(ArrayDescription::Matrix(ElementType::kInt32, 2, kColumns), spec);
  const std::string bytes = RandomElements(ElementType::kInt32, 2 * kColumns);
  DealtReduction dealt(*plan, {0, kColumns, 2 * kColumns});
  RunStatistics run;
  for (const size_t part : {0, 1}) {
    const InputPart elements(SpanOf(bytes), part * kColumns * 4, kColumns * 4);
    ASSERT_TRUE(dealt.RunPart(part, elements.span(), *lane_, {}, run).ok());
  }
  ASSERT_EQ(dealt.BeginMerge(4), 4u);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(dealt.MergeSlice(0, *lane_, stop.get_token()).code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(dealt.MergeSlice(3, *lane_, stop.get_token()).code(), absl::StatusCode::kCancelled);
}

TEST_F(DealtTest, NoCutGoesThroughAFloatingProduct) {
  ReductionSpec spec;
  spec.statistics = {Statistic::kProduct};
  spec.grouping = {GroupingKind::kSegments, {0, 3, 10}};
  const auto segments = PlanReduction(ArrayDescription::Vector(ElementType::kFloat32, 10), spec);
  EXPECT_TRUE(DealtReduction::Check(*segments, {0, 3, 10}).ok());
  EXPECT_EQ(DealtReduction::Check(*segments, {0, 4, 10}).code(),
            absl::StatusCode::kInvalidArgument);
  spec.grouping = {.kind = GroupingKind::kAxis1, .offsets = {}};
  const auto rows = PlanReduction(ArrayDescription::Matrix(ElementType::kFloat32, 5, 2), spec);
  EXPECT_TRUE(DealtReduction::Check(*rows, {0, 4, 10}).ok());
  spec.grouping = {};
  const auto whole = PlanReduction(ArrayDescription::Vector(ElementType::kFloat32, 10), spec);
  EXPECT_FALSE(DealtReduction::Check(*whole, {0, 4, 10}).ok());
}

TEST_F(DealtTest, InputInSlices) {
  ReductionSpec spec;
  spec.statistics = {Statistic::kSum, Statistic::kArgmax};
  const std::string bytes = RandomElements(ElementType::kInt32, 50);
  const std::vector<HostSpan> slices = {
      SpanOf(absl::string_view(bytes).substr(0, 3)), SpanOf(absl::string_view(bytes).substr(3, 0)),
      SpanOf(absl::string_view(bytes).substr(3, 90)), SpanOf(absl::string_view(bytes).substr(93))};
  const auto plan = PlanReduction(ArrayDescription::Vector(ElementType::kInt32, 50), spec);
  RunStatistics run;
  const auto expected = lane_->RunReduction(*plan, SpanOf(bytes), {}, run);
  for (uint64_t cut = 0; cut <= 50; ++cut) {
    const auto actual = ReduceDealt(*plan, HostSlices{slices, bytes.size()}, {0, cut, 50});
    ASSERT_TRUE(actual.ok()) << actual.status();
    EXPECT_EQ(actual->columns[0].slots, expected->columns[0].slots);
    EXPECT_EQ(actual->columns[1].slots, expected->columns[1].slots);
  }
}

TEST_F(DealtTest, HistogramsOfEveryKind) {
  constexpr uint64_t kCount = 420;
  for (int i = 0; i < 120; ++i) {
    const auto type = std::vector<ElementType>{ElementType::kInt16, ElementType::kFloat32,
                                               ElementType::kUint64}[i % 3];
    const std::string samples = RandomElements(type, kCount);
    const std::string y = RandomElements(type, kCount);
    const std::string weights = RandomElements(ElementType::kInt32, kCount);
    HistogramSpec spec;
    spec.channel_count = std::vector<uint32_t>{1, 2, 3, 7, 140}[i % 5];
    spec.two_dimensional = spec.channel_count == 1 && i % 2 == 0;
    spec.sparse = i % 4 == 0;
    if (i % 7 == 0) spec.weight_type = ElementType::kInt32;
    if (!spec.weight_type && !spec.two_dimensional) spec.quantiles = {0.5};
    EvenBinsSpec even{5, {}, {}};
    if (i % 3 == 1) {
      even.lower_bound = -10;
      even.upper_bound = 30;
    }
    spec.bins = {even};
    const auto plan = PlanHistogram(ArrayDescription::Vector(type, kCount), spec, 1 << 20);
    ASSERT_TRUE(plan.ok()) << plan.status();
    const HistogramInput input{SpanOf(samples),
                               SpanOf(spec.two_dimensional ? absl::string_view(y) : ""),
                               SpanOf(spec.weight_type ? absl::string_view(weights) : "")};
    ExpectHistogramOfOneRun(*plan, input, RandomCuts(kCount));
  }
}

// Neither infinities nor parts without a finite sample have a say in the range.
TEST_F(DealtTest, RangesOfPartsWithoutFiniteSamples) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::string samples = BytesOf<float>(
      {kInfinity, -kInfinity, NAN, 3, 3, kInfinity, 3, 3, NAN, NAN, -kInfinity, NAN});
  HistogramSpec spec;
  spec.bins = {EvenBinsSpec{4, {}, {}}};
  for (const uint32_t channels : {1, 2, 3}) {
    spec.channel_count = channels;
    const auto plan =
        PlanHistogram(ArrayDescription::Vector(ElementType::kFloat32, 12), spec, 1 << 20);
    for (uint64_t a = 0; a <= 12; ++a) {
      ExpectHistogramOfOneRun(*plan, {SpanOf(samples), HostSpan{}, HostSpan{}}, {0, a, 12});
      ExpectHistogramOfOneRun(*plan, {SpanOf(samples), HostSpan{}, HostSpan{}},
                              {0, a, std::min<uint64_t>(a + 1, 12), 12});
    }
  }
}

TEST_F(DealtTest, PartsRunInSeveralThreads) {
  constexpr uint64_t kCount = 40'000;
  const std::string bytes = RandomElements(ElementType::kInt32, kCount);
  HistogramSpec spec;
  spec.channel_count = 3;
  spec.bins = {EvenBinsSpec{100, -50, 50}};
  const auto plan =
      PlanHistogram(ArrayDescription::Vector(ElementType::kInt32, kCount / 3 * 3), spec, 1 << 20);
  ASSERT_TRUE(plan.ok()) << plan.status();
  Cuts cuts;
  for (uint64_t i = 0; i < 8; ++i) cuts.push_back(i * 5'000);
  cuts.push_back(kCount / 3 * 3);
  RunStatistics run;
  const HistogramInput input{SpanOf(absl::string_view(bytes).substr(0, cuts.back() * 4)),
                             HostSpan{}, HostSpan{}};
  const auto expected = lane_->RunHistogram(*plan, input, {}, run);
  DealtHistogram dealt(*plan, cuts);
  std::vector<absl::Status> statuses(8);
  {
    std::vector<std::jthread> threads;
    for (size_t part = 0; part < 8; ++part) {
      threads.emplace_back([&, part] {
        const auto lane = *engine_->CreateLane(kRoomyLane);
        RunStatistics statistics;
        const InputPart samples(input.array, cuts[part] * 4, (cuts[part + 1] - cuts[part]) * 4);
        statuses[part] =
            dealt.RunPart(part, {samples.span(), HostSpan{}, HostSpan{}}, *lane, {}, statistics);
      });
    }
  }
  for (const absl::Status& status : statuses) EXPECT_TRUE(status.ok()) << status;
  const auto actual = dealt.Finish(*lane_, {}, run);
  ASSERT_TRUE(actual.ok());
  for (size_t c = 0; c < 3; ++c)
    EXPECT_EQ(actual->channels[c].counts, expected->channels[c].counts);
}

}  // namespace
}  // namespace gridfold::kernels
