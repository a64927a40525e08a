#include "server/compute/selected_run.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/contract/scalar.h"
#include "server/compute/planned_run.h"
#include "server/compute/truth_check.h"

namespace gridfold::server {

namespace {

using kernels::ArrayDescription;
using kernels::ElementType;
using kernels::ResidentSpan;

// Memory of so many bytes at least one, of which exactly so many are used.
struct Memory {
  ArrayLease lease;
  kernels::MutableResidentSpan span;
};

absl::StatusOr<Memory> Allocate(const PlannedSelection& selection, uint64_t size_bytes) {
  absl::StatusOr<ArrayLease> lease = selection.arrays.Allocate(
      ArrayDescription::Vector(ElementType::kUint8, std::max<uint64_t>(size_bytes, 1)),
      selection.engine);
  if (!lease.ok()) return lease.status();
  kernels::MutableResidentSpan span = (*lease)->span();
  span.size_bytes = size_bytes;
  return Memory{*std::move(lease), span};
}

// A lane, and what its runs add up to.
struct Runner {
  kernels::Lane& lane;
  const std::stop_token& stop;
  kernels::RunStatistics& statistics;

  // Calls `step` with statistics of its own.
  template <class Step>
  auto Run(Step step) {
    kernels::RunStatistics run;
    auto result = step(run);
    statistics.Add(run);
    return result;
  }

  absl::StatusOr<Memory> Rearrange(const PlannedSelection& selection, uint64_t element_bytes,
                                   const kernels::InputSpan& from) {
    absl::StatusOr<Memory> to = Allocate(selection, selection.element_count() * element_bytes);
    if (!to.ok()) return to;
    absl::Status status = Run([&](kernels::RunStatistics& run) {
      return lane.Rearrange(*selection.order, element_bytes, from, to->span, stop, run);
    });
    if (!status.ok()) return status;
    return to;
  }
};

// The mask's bytes again and again, one for each element.
absl::StatusOr<Memory> SpreadMask(const PlannedSelection& selection, Runner& runner) {
  const uint64_t element_count = selection.element_count();
  absl::StatusOr<Memory> spread = Allocate(selection, element_count);
  if (!spread.ok()) return spread;
  std::byte* const data = spread->span.data;
  uint64_t done = selection.mask->description.element_count;
  absl::Status status =
      runner.lane.Copy(selection.mask->data, kernels::MutableResidentSpan{data, done}, runner.stop);
  while (status.ok() && done < element_count) {
    const uint64_t more = std::min(done, element_count - done);
    status = runner.lane.Copy(ResidentSpan{data, more},
                              kernels::MutableResidentSpan{data + done, more}, runner.stop);
    done += more;
  }
  if (!status.ok()) return status;
  return spread;
}

// A byte for each element, in the selection's order; without a place where all elements count.
struct PlacedMask {
  ResidentSpan span;
  ArrayLease lease;  // Of a copy.
};

absl::StatusOr<PlacedMask> PlaceMask(const PlannedSelection& selection, Runner& runner) {
  if (!selection.mask || selection.element_count() == 0) return PlacedMask{};
  absl::Status status = CheckTruths(*selection.mask, runner.lane, runner.stop);
  if (!status.ok()) return status;
  if (selection.has_mask_in_place()) {
    return PlacedMask{std::get<ResidentSpan>(selection.mask->data), nullptr};
  }
  absl::StatusOr<Memory> mask = SpreadMask(selection, runner);
  if (mask.ok() && selection.order) {
    mask = runner.Rearrange(selection, 1, ResidentSpan(mask->span));
  }
  if (!mask.ok()) return mask.status();
  return PlacedMask{mask->span, std::move(mask->lease)};
}

// What a selection comes to.
struct Selected {
  Memory elements;  // Of which the selected ones stand first.
  Memory scratch;
  std::vector<uint64_t> offsets;
};

absl::StatusOr<Selected> Select(const PlannedSelection& selection,
                                const kernels::SelectionPlan& plan, const kernels::InputSpan& input,
                                const ResidentSpan& mask, Runner& runner) {
  absl::StatusOr<Memory> scratch = Allocate(selection, plan.scratch_bytes());
  if (!scratch.ok()) return scratch.status();
  absl::StatusOr<Memory> elements = Allocate(selection, plan.selected_bytes_max());
  if (!elements.ok()) return elements.status();
  absl::StatusOr<std::vector<uint64_t>> offsets = runner.Run([&](kernels::RunStatistics& run) {
    return runner.lane.Select(plan, input, mask, scratch->span, elements->span, runner.stop, run);
  });
  if (!offsets.ok()) return offsets.status();
  elements->span.size_bytes = offsets->back() * plan.element_bytes;
  return Selected{*std::move(elements), *std::move(scratch), *std::move(offsets)};
}

// An index among the selected elements of a group, which is to be that among all of it.
struct SelectedPlace {
  uint64_t group;
  uint64_t* index;
};

// The indices of results, whose k-th group is groups[k] of all.
void CollectPlaces(const std::vector<uint64_t>& groups, kernels::ReductionResult& result,
                   std::vector<SelectedPlace>& places) {
  for (kernels::StatisticColumn& column : result.columns) {
    if (!kernels::TraitsOf(column.statistic).is_index) continue;
    for (size_t k = 0; k < column.slots.size(); ++k)
      places.push_back({groups[k], &column.slots[k]});
  }
  const auto collect = [&](auto& states) {
    for (size_t k = 0; k < states.size(); ++k) {
      auto& extremes = states[k].template Part<kernels::kExtremesPart>();
      for (uint64_t* const index : {&extremes.min.index, &extremes.max.index}) {
        if (*index != kernels::kNoIndex) places.push_back({groups[k], index});
      }
    }
  };
  std::visit(
      [&](auto& states) {
        if constexpr (requires { states.begin(); }) collect(states);
      },
      result.states);
}

// The numbers of all groups, or of those that are not empty.
std::vector<uint64_t> GroupsOf(const std::vector<uint64_t>& offsets, uint64_t group_count) {
  std::vector<uint64_t> groups;
  groups.reserve(group_count);
  for (uint64_t g = 0; g + 1 < offsets.size(); ++g) {
    if (group_count + 1 == offsets.size() || offsets[g] < offsets[g + 1]) groups.push_back(g);
  }
  return groups;
}

absl::Status RestorePlaces(const kernels::SelectionPlan& plan, const Selected& selected,
                           const ResidentSpan& mask, std::vector<SelectedPlace> places,
                           Runner& runner) {
  std::vector<uint64_t> ranks(places.size());
  for (size_t i = 0; i < places.size(); ++i) {
    ranks[i] = selected.offsets[places[i].group] + *places[i].index;
  }
  // As many at a time as a lane has groups.
  const auto room = static_cast<size_t>(plan.grouping.group_count);
  for (size_t begin = 0; begin < ranks.size(); begin += room) {
    const std::span<uint64_t> some =
        std::span(ranks).subspan(begin, std::min(room, ranks.size() - begin));
    absl::Status status = runner.Run([&](kernels::RunStatistics& run) {
      return runner.lane.FindSelected(mask, selected.scratch.span, some, runner.stop, run);
    });
    if (!status.ok()) return status;
  }
  for (size_t i = 0; i < places.size(); ++i) {
    *places[i].index = ranks[i] - plan.GroupBegin(places[i].group);
  }
  return absl::OkStatus();
}

absl::StatusOr<kernels::TolerantReduction> PlanSelected(const PlannedReduction& planned,
                                                        const std::vector<uint64_t>& offsets) {
  const kernels::ReductionPlan& plan = planned.plan;
  kernels::ReductionSpec spec{.statistics = plan.statistics,
                              .grouping = {},
                              .nan_policy = plan.nan_policy,
                              .overflow_policy = plan.overflow_policy};
  if (plan.grouping.kind != kernels::GroupingKind::kWhole) {
    spec.grouping = {kernels::GroupingKind::kSegments, offsets};
  }
  return kernels::TolerantReduction::Plan(
      ArrayDescription::Vector(plan.array.element_type, offsets.back()), std::move(spec),
      planned.tolerance.rule, planned.tolerance.ddof);
}

}  // namespace

kernels::ElementBytes IdentityOf(const kernels::ScanPlan& plan, bool is_bool) {
  const ElementType type = plan.array.element_type;
  const auto element = [type](auto value) {
    return *kernels::ElementOf(kernels::Scalar(value), type);
  };
  if (plan.nan_policy == kernels::NanPolicy::kIgnore && kernels::IsFloatingPoint(type)) {
    return element(std::numeric_limits<double>::quiet_NaN());
  }
  if (plan.operation == kernels::ScanOperation::kProduct) return element(int64_t{1});
  const bool is_min = plan.operation == kernels::ScanOperation::kMin;
  if (!is_min && plan.operation != kernels::ScanOperation::kMax) return element(int64_t{0});
  if (is_bool) return element(is_min);
  return kernels::VisitElementType(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>) {
      using Range = std::numeric_limits<T>;
      using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
      return element(static_cast<Wide>(is_min ? Range::max() : Range::min()));
    } else {
      constexpr double kInfinity = std::numeric_limits<double>::infinity();
      return element(is_min ? kInfinity : -kInfinity);
    }
  });
}

absl::StatusOr<kernels::TolerantResult> ReduceSelected(const PlannedReduction& planned,
                                                       kernels::Lane& lane,
                                                       const std::stop_token& stop,
                                                       kernels::RunStatistics& statistics) {
  const PlannedSelection& selection = *planned.selection;
  Runner runner{lane, stop, statistics};
  const absl::StatusOr<PlacedMask> mask = PlaceMask(selection, runner);
  if (!mask.ok()) return mask.status();
  const kernels::SelectionPlan plan{
      .element_count = selection.element_count(),
      .element_bytes = kernels::ElementSize(planned.plan.array.element_type),
      .grouping = planned.plan.grouping,
      .initial = selection.initial};
  absl::StatusOr<Memory> ordered = Memory{};
  if (selection.order) {
    ordered = runner.Rearrange(selection, plan.element_bytes, planned.input.data);
    if (!ordered.ok()) return ordered.status();
  }
  absl::StatusOr<Selected> selected =
      Select(selection, plan,
             selection.order ? kernels::InputSpan(ResidentSpan(ordered->span)) : planned.input.data,
             mask->span, runner);
  ordered = Memory{};  // Has been read.
  if (!selected.ok()) return selected.status();
  const absl::StatusOr<kernels::TolerantReduction> reduction =
      PlanSelected(planned, selected->offsets);
  if (!reduction.ok()) return reduction.status();

  std::vector<SelectedPlace> places;
  const auto run_plan =
      [&](const kernels::ReductionPlan& part) -> absl::StatusOr<kernels::ReductionResult> {
    if (part.statistics.empty()) return kernels::ReductionResult{};
    return runner.Run([&](kernels::RunStatistics& run) {
      return lane.RunReduction(PlanForLane(part), ResidentSpan(selected->elements.span), stop, run);
    });
  };
  absl::StatusOr<kernels::ReductionResult> values = run_plan(reduction->values_plan());
  if (!values.ok()) return values.status();
  absl::StatusOr<kernels::ReductionResult> apart = run_plan(reduction->places_plan());
  if (!apart.ok()) return apart.status();
  const std::string strategy = statistics.strategy;
  CollectPlaces(GroupsOf(selected->offsets, reduction->values_plan().grouping.group_count), *values,
                places);
  CollectPlaces(GroupsOf(selected->offsets, reduction->places_plan().grouping.group_count), *apart,
                places);
  if (!places.empty()) {
    absl::Status status = RestorePlaces(plan, *selected, mask->span, std::move(places), runner);
    if (!status.ok()) return status;
  }
  statistics.strategy = strategy;
  kernels::ShiftIndices(planned.first_index, *values);
  kernels::ShiftIndices(planned.first_index, *apart);
  return reduction->Finish(*values, *apart);
}

absl::StatusOr<SelectedSamples> SelectSamples(const PlannedHistogram& planned, kernels::Lane& lane,
                                              const std::stop_token& stop,
                                              kernels::HistogramPlan& plan,
                                              kernels::RunStatistics& statistics) {
  const PlannedSelection& selection = *planned.selection;
  Runner runner{lane, stop, statistics};
  const absl::StatusOr<PlacedMask> mask = PlaceMask(selection, runner);
  if (!mask.ok()) return mask.status();
  const ElementType type = plan.array.element_type;
  const uint64_t count = selection.element_count();
  SelectedSamples samples;
  const auto select = [&](const kernels::InputSpan& input, ElementType element_type,
                          kernels::InputSpan& place) -> absl::Status {
    const kernels::SelectionPlan its_plan{
        .element_count = count,
        .element_bytes = kernels::ElementSize(element_type),
        .grouping = {.kind = kernels::GroupingKind::kWhole, .group_size = count, .offsets = {}},
        .initial = std::nullopt};
    absl::StatusOr<Selected> selected = Select(selection, its_plan, input, mask->span, runner);
    if (!selected.ok()) return selected.status();
    plan.array = ArrayDescription::Vector(type, selected->offsets.back());
    place = ResidentSpan(selected->elements.span);
    samples.leases.push_back(std::move(selected->elements.lease));
    return absl::OkStatus();
  };
  absl::Status status = select(planned.input.array, type, samples.input.array);
  if (status.ok() && plan.two_dimensional) {
    status = select(planned.input.y_array, type, samples.input.y_array);
  }
  if (status.ok() && plan.weight_type) {
    status = select(planned.input.weights, *plan.weight_type, samples.input.weights);
  }
  if (!status.ok()) return status;
  return samples;
}

absl::StatusOr<ArrayLease> ReplaceUnselected(const PlannedScan& planned, kernels::Lane& lane,
                                             const std::stop_token& stop,
                                             kernels::RunStatistics& statistics) {
  const PlannedSelection& selection = *planned.selection;
  Runner runner{lane, stop, statistics};
  const absl::StatusOr<PlacedMask> mask = PlaceMask(selection, runner);
  if (!mask.ok()) return mask.status();
  const kernels::ArrayDescription& array = planned.input.description;
  absl::StatusOr<ArrayLease> copy = selection.arrays.Allocate(array, selection.engine);
  if (!copy.ok()) return copy;
  absl::Status status = runner.Run([&](kernels::RunStatistics& run) {
    return lane.Replace(kernels::ElementSize(array.element_type),
                        IdentityOf(planned.plan, planned.input.is_bool), planned.input.data,
                        mask->span, (*copy)->span(), stop, run);
  });
  if (!status.ok()) return status;
  return copy;
}

}  // namespace gridfold::server
