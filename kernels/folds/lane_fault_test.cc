// What runs on several lanes, or asks one several times: each call of a lane fails once, whoever
// asked is told, and nothing is made of what did not come.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kernels/contract/input_part.h"
#include "kernels/folds/dealt_histogram.h"
#include "kernels/folds/dealt_reduction.h"
#include "kernels/folds/dealt_scan.h"
#include "kernels/folds/fold_test_util.h"
#include "kernels/folds/weighted_quantiles.h"

namespace gridfold::kernels {
namespace {

// Another lane, of which one call fails.
class FaultyLane final : public Lane {
 public:
  // `failing`: the number of the call; less than 0: none.
  FaultyLane(Lane& lane, int failing) : lane_(lane), failing_(failing) {}

  static absl::Status Fault() { return absl::AbortedError("the lane is gone"); }
  int calls() const { return calls_; }

  absl::StatusOr<ReductionResult> RunReduction(const ReductionPlan& plan, InputSpan input,
                                               std::stop_token stop,
                                               RunStatistics& statistics) override {
    if (Fails()) return Fault();
    return lane_.RunReduction(plan, input, std::move(stop), statistics);
  }
  uint64_t ResidentStateBytes(const ReductionPlan& plan) const override {
    return lane_.ResidentStateBytes(plan);
  }
  absl::Status ReduceInto(const ReductionPlan& plan, InputSpan input, MutableResidentSpan states,
                          std::stop_token stop, RunStatistics& statistics) override {
    if (Fails()) return Fault();
    return lane_.ReduceInto(plan, input, states, std::move(stop), statistics);
  }
  absl::StatusOr<ReductionResult> MergeStates(const ReductionPlan& plan, uint64_t first_state,
                                              std::span<const ResidentStates> parts,
                                              std::stop_token stop) override {
    if (Fails()) return Fault();
    return lane_.MergeStates(plan, first_state, parts, std::move(stop));
  }
  absl::Status RunScan(const ScanPlan&, InputSpan, OutputSpan, std::stop_token,
                       RunStatistics&) override {
    return absl::UnimplementedError("");
  }
  absl::Status ContinueScan(const ScanPlan& plan, InputSpan input, OutputSpan output,
                            ScanCarry& carry, std::stop_token stop,
                            RunStatistics& statistics) override {
    if (Fails()) return Fault();
    return lane_.ContinueScan(plan, input, output, carry, std::move(stop), statistics);
  }
  absl::StatusOr<ScanTotals> FindScanTotals(const ScanPlan& plan, InputSpan input,
                                            std::stop_token stop,
                                            RunStatistics& statistics) override {
    if (Fails()) return Fault();
    return lane_.FindScanTotals(plan, input, std::move(stop), statistics);
  }
  void CarryOver(const ScanPlan& plan, const ScanTotals& totals, ScanCarry& carry) override {
    lane_.CarryOver(plan, totals, carry);
  }
  absl::StatusOr<HistogramResult> RunHistogram(const HistogramPlan& plan,
                                               const HistogramInput& input, std::stop_token stop,
                                               RunStatistics& statistics) override {
    if (Fails()) return Fault();
    return lane_.RunHistogram(plan, input, std::move(stop), statistics);
  }
  absl::Status CountInto(const HistogramPlan& plan, const HistogramInput& input,
                         MutableResidentSpan words, std::stop_token stop,
                         RunStatistics& statistics) override {
    if (Fails()) return Fault();
    return lane_.CountInto(plan, input, words, std::move(stop), statistics);
  }
  absl::Status AddWords(ResidentSpan from, MutableResidentSpan to, std::stop_token stop) override {
    if (Fails()) return Fault();
    return lane_.AddWords(from, to, std::move(stop));
  }
  absl::Status Rearrange(const Rearrangement&, uint64_t, InputSpan, OutputSpan, std::stop_token,
                         RunStatistics&) override {
    return absl::UnimplementedError("");
  }
  absl::Status Copy(InputSpan from, OutputSpan to, std::stop_token stop) override {
    if (Fails()) return Fault();
    return lane_.Copy(from, to, std::move(stop));
  }
  absl::Status Clear(MutableResidentSpan, std::stop_token) override {
    return absl::UnimplementedError("");
  }

 private:
  bool Fails() { return calls_++ == failing_; }

  Lane& lane_;
  const int failing_;
  int calls_ = 0;
};

class LaneFaultTest : public FoldTest {
 protected:
  using Run = std::function<absl::Status(Lane&)>;

  void ExpectEachFaultIsTold(const Run& run, int calls) {
    FaultyLane sound(*lane_, -1);
    const absl::Status status = run(sound);
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_GE(sound.calls(), calls);
    for (int failing = 0; failing < sound.calls(); ++failing) {
      FaultyLane faulty(*lane_, failing);
      EXPECT_EQ(run(faulty), FaultyLane::Fault()) << "call " << failing;
    }
  }

  static ResidentSpan Resident(const std::string& bytes) {
    return {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()};
  }
};

using CounterRooms = std::vector<std::vector<uint64_t>>;

absl::Status CountDealt(const HistogramPlan& plan, const Cuts& cuts, const ResidentSpan& samples,
                        const ResidentSpan& weights, CounterRooms* rooms, uint32_t engine,
                        Lane& lane) {
  DealtHistogram dealt(plan, cuts);
  RunStatistics run;
  absl::Status status;
  const auto for_each_part = [&](auto call) {
    for (size_t part = 0; part < dealt.part_count() && status.ok(); ++part) {
      const uint64_t first = cuts[part];
      const uint64_t count = cuts[part + 1] - first;
      const auto cut = [&](const ResidentSpan& all, ElementType type) -> InputSpan {
        if (all.size_bytes == 0) return HostSpan{};
        return ResidentSpan{all.data + first * ElementSize(type), count * ElementSize(type)};
      };
      const HistogramInput input = {cut(samples, plan.array.element_type), HostSpan{},
                                    cut(weights, plan.weight_type.value_or(ElementType::kInt8))};
      status = call(part, input);
    }
  };
  if (dealt.needs_ranges()) {
    for_each_part([&](size_t part, const HistogramInput& input) {
      return dealt.FindRanges(part, input, lane, {}, run);
    });
    if (status.ok()) status = dealt.EndRanges(lane, {}, run);
  }
  for_each_part([&](size_t part, const HistogramInput& input) {
    std::optional<CounterRoom> room;
    if (rooms != nullptr) {
      auto* const words = reinterpret_cast<std::byte*>((*rooms)[part].data());
      room = CounterRoom{static_cast<uint32_t>(part % 2), {words, CounterWordBytes(plan)}};
    }
    return dealt.RunPart(part, input, lane, {}, run, room);
  });
  if (!status.ok()) return status;
  return dealt.Finish(lane, {}, run, engine).status();
}

TEST_F(LaneFaultTest, Histograms) {
  const Cuts cuts = {0, 10, 20, 33};
  const std::string samples = RandomElements(ElementType::kInt16, 33);
  const std::string weights = RandomElements(ElementType::kUint8, 33);
  HistogramSpec spec;
  spec.channel_count = 3;
  spec.bins = {EvenBinsSpec{4, std::nullopt, std::nullopt}};
  spec.weight_type = ElementType::kUint8;
  const auto array = ArrayDescription::Vector(ElementType::kInt16, 33);
  const HistogramPlan weighted = PlanHistogram(array, spec, 1 << 20).value();
  // Ranges and counts of three parts and of the loose samples, which are copied, as are weights.
  ExpectEachFaultIsTold(
      [&](Lane& lane) {
        return CountDealt(weighted, cuts, Resident(samples), Resident(weights), nullptr, 0, lane);
      },
      14);
  spec.weight_type = std::nullopt;
  spec.channel_count = 1;
  spec.bins = {EvenBinsSpec{4, -100.0, 100.0}};
  const HistogramPlan counted = PlanHistogram(array, spec, 1 << 20).value();
  for (const uint32_t engine : {0, 1, 2}) {
    // Of two engines counters are added to those of one and brought, of the third all are brought.
    ExpectEachFaultIsTold(
        [&](Lane& lane) {
          CounterRooms rooms(3, std::vector<uint64_t>(CounterWordBytes(counted) / 8));
          return CountDealt(counted, cuts, Resident(samples), {}, &rooms, engine, lane);
        },
        7);
  }
}

absl::Status ReduceDealt(const ReductionPlan& plan, const Cuts& cuts, const std::string& bytes,
                         bool has_rooms, Lane& lane) {
  DealtReduction dealt(plan, cuts);
  const uint64_t element_bytes = ElementSize(plan.array.element_type);
  std::vector<std::vector<uint64_t>> rooms(
      dealt.part_count(),
      std::vector<uint64_t>(has_rooms ? DealtReduction::RoomBytes(plan, lane) / 8 : 0));
  for (size_t part = 0; part < dealt.part_count(); ++part) {
    RunStatistics run;
    const InputPart elements(SpanOf(bytes), cuts[part] * element_bytes,
                             (cuts[part + 1] - cuts[part]) * element_bytes);
    const MutableResidentSpan room{reinterpret_cast<std::byte*>(rooms[part].data()),
                                   rooms[part].size() * 8};
    absl::Status status = has_rooms ? dealt.RunPartInto(part, elements.span(), room, lane, {}, run)
                                    : dealt.RunPart(part, elements.span(), lane, {}, run);
    if (!status.ok()) return status;
  }
  for (size_t slice = dealt.BeginMerge(has_rooms ? 0 : 4); slice-- > 0;) {
    if (absl::Status status = dealt.MergeSlice(slice, lane, {}); !status.ok()) return status;
  }
  return dealt.Finish(lane).status();
}

TEST_F(LaneFaultTest, Reductions) {
  const std::string bytes = RandomElements(ElementType::kFloat32, 6000);
  ReductionSpec spec;
  spec.statistics = {Statistic::kSum, Statistic::kMax};
  const auto expect = [&](GroupingSpec grouping, const Cuts& cuts, bool has_rooms, int calls) {
    const bool is_matrix = grouping.kind != GroupingKind::kSegments;
    spec.grouping = std::move(grouping);
    const ReductionPlan plan =
        PlanReduction(is_matrix ? ArrayDescription::Matrix(ElementType::kFloat32, 3, 2000)
                                : ArrayDescription::Vector(ElementType::kFloat32, 6000),
                      spec)
            .value();
    ExpectEachFaultIsTold(
        [&](Lane& lane) { return ReduceDealt(plan, cuts, bytes, has_rooms, lane); }, calls);
  };
  expect({GroupingKind::kWhole, {}}, {0, 1000, 6000}, false, 2);
  expect({GroupingKind::kAxis1, {}}, {0, 2500, 6000}, false, 2);
  expect({GroupingKind::kSegments, {0, 10, 3000, 6000}}, {0, 1000, 4000, 6000}, false, 4);
  expect({GroupingKind::kAxis0, {}}, {0, 2000, 4000, 6000}, false, 3);
  // Three parts, each of which merges a slice.
  expect({GroupingKind::kAxis0, {}}, {0, 2000, 4000, 6000}, true, 6);
}

TEST_F(LaneFaultTest, Scans) {
  constexpr uint64_t kCount = 3 * kScanCarryElements + 5000;
  const std::string input = RandomElements(ElementType::kFloat32, kCount);
  const ScanPlan plan =
      PlanScan(ArrayDescription::Vector(ElementType::kFloat32, kCount), ScanSpec{}).value();
  const Cuts cuts = {0, kScanCarryElements, 3 * kScanCarryElements, kCount};
  std::string results(plan.output_size_bytes(), '\0');
  ExpectEachFaultIsTold(
      [&](Lane& lane) -> absl::Status {
        DealtScan dealt(plan, cuts);
        RunStatistics run;
        const auto part_of = [&](size_t part) {
          return SpanOf(absl::string_view(input).substr(4 * dealt.first_element(part),
                                                        4 * dealt.element_count(part)));
        };
        for (size_t part = 0; part < dealt.part_count(); ++part) {
          if (!dealt.NeedsTotals(part)) continue;
          absl::Status status = dealt.FindTotals(part, part_of(part), lane, {}, run);
          if (!status.ok()) return status;
        }
        while (true) {
          const absl::StatusOr<std::vector<size_t>> parts = dealt.NextParts(lane);
          if (!parts.ok()) return parts.status();
          if (parts->empty()) return absl::OkStatus();
          for (const size_t part : *parts) {
            const uint64_t result_bytes = ElementSize(plan.output_type);
            const MutableHostSpan output{reinterpret_cast<std::byte*>(results.data()) +
                                             dealt.first_element(part) * result_bytes,
                                         dealt.element_count(part) * result_bytes};
            absl::Status status = dealt.RunPart(part, part_of(part), output, lane, {}, run);
            if (!status.ok()) return status;
          }
        }
      },
      5);
}

TEST_F(LaneFaultTest, WeightedQuantiles) {
  const auto expect = [&](ElementType type, const std::string& elements, int calls) {
    const uint64_t count = elements.size() / ElementSize(type);
    const std::string weights(count, '\1');
    const WeightedQuantilePlan plan =
        PlanWeightedQuantiles(ArrayDescription::Vector(type, count),
                              ArrayDescription::Vector(ElementType::kInt8, count),
                              {.quantiles = {0.25, 1.0}})
            .value();
    ExpectEachFaultIsTold(
        [&](Lane& lane) {
          RunStatistics statistics;
          return FindWeightedQuantiles(plan, SpanOf(elements), SpanOf(weights), lane, {},
                                       statistics)
              .status();
        },
        calls);
  };
  // Whether a weight is negative, some passes, and whether infinite elements are needed.
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  expect(ElementType::kFloat32, BytesOf(std::vector<float>{3, kInfinity, -2, 7, kInfinity}), 4);
  // The last pass has a bin for each integer.
  expect(ElementType::kInt64, RandomElements(ElementType::kInt64, 50), 4);
}

}  // namespace
}  // namespace gridfold::kernels
