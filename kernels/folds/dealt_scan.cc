#include "kernels/folds/dealt_scan.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "kernels/contract/input_part.h"

namespace gridfold::kernels {

Cuts ScanCuts(const ScanPlan& plan, const Cuts& cuts) {
  const ScanGroups groups(plan);
  const uint64_t count = groups.element_count();
  const auto is_boundary = [&](uint64_t cut) { return groups.IsBoundary(cut); };
  if (!groups.OrderMatters() && std::all_of(cuts.begin(), cuts.end(), is_boundary)) return cuts;
  // A place in the array from one in the scan's direction, and the reverse.
  const auto turn = [&](uint64_t place) { return groups.is_reverse() ? count - place : place; };
  Cuts good = {0, count};
  for (const uint64_t cut : cuts) {
    if (cut == 0 || cut == count) continue;
    const uint64_t position = turn(cut);
    const uint64_t before = position - position % kScanCarryElements;
    good.push_back(turn(before));
    if (before < position) good.push_back(turn(std::min(before + kScanCarryElements, count)));
  }
  std::sort(good.begin(), good.end());
  good.erase(std::unique(good.begin(), good.end()), good.end());
  if (good.size() == 1) good.push_back(count);  // An array without elements is one part.
  return good;
}

DealtScan::DealtScan(ScanPlan plan, const Cuts& cuts) : groups_(std::move(plan)) {
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    parts_.push_back({.first_element = cuts[i], .element_count = cuts[i + 1] - cuts[i]});
  }
  if (groups_.is_reverse()) std::reverse(parts_.begin(), parts_.end());
  uint64_t position = 0;
  for (Part& part : parts_) {
    part.position = position;
    position += part.element_count;
    const uint64_t start = part.first_element + (groups_.is_reverse() ? part.element_count : 0);
    part.goes_on = !groups_.IsBoundary(start);
  }
}

uint64_t DealtScan::ElementAt(const Part& part, uint64_t position, uint64_t count) const {
  return groups_.is_reverse() ? part.element_count - position - count : position;
}

absl::Status DealtScan::FindTotals(size_t part, const InputSpan& input, Lane& lane,
                                   const std::stop_token& stop, RunStatistics& statistics) {
  Part& its = parts_[part];
  Totals totals;
  uint64_t counted_from = 0;
  if (const auto start = groups_.LastStart(its.first_element, its.element_count)) {
    const uint64_t in_block = *start % kScanCarryElements;
    counted_from = *start - in_block;
    totals.from = ScanCarry();
    if (in_block != 0) {
      auto carry = CarryBehindBlock(its, counted_from, input, lane, stop, statistics);
      if (!carry.ok()) return carry.status();
      if (!*carry) return absl::OkStatus();
      totals.from = *carry;
      counted_from += kScanCarryElements;
    }
  }
  const uint64_t count = its.element_count - counted_from;
  if (count > 0) {
    const uint64_t first = ElementAt(its, counted_from, count);
    const ScanPlan plan = groups_.PlanOfOneGroup(count);
    const InputPart elements(input, first * ElementSize(plan.array.element_type),
                             plan.array.size_bytes());
    RunStatistics run;
    absl::StatusOr<ScanTotals> of_rest = lane.FindScanTotals(plan, elements.span(), stop, run);
    statistics.Add(run);
    if (absl::IsUnimplemented(of_rest.status())) return absl::OkStatus();
    if (!of_rest.ok()) return of_rest.status();
    totals.of_rest = *std::move(of_rest);
  }
  its.totals = std::move(totals);
  return absl::OkStatus();
}

absl::StatusOr<std::optional<ScanCarry>> DealtScan::CarryBehindBlock(
    const Part& part, uint64_t position, const InputSpan& input, Lane& lane,
    const std::stop_token& stop, RunStatistics& statistics) const {
  const uint64_t first = ElementAt(part, position, kScanCarryElements);
  const ScanPlan plan = groups_.PlanOf(part.first_element + first, kScanCarryElements);
  const InputPart elements(input, first * ElementSize(plan.array.element_type),
                           plan.array.size_bytes());
  std::vector<std::byte> results(plan.output_size_bytes());
  ScanCarry carry;
  RunStatistics run;
  const absl::Status status = lane.ContinueScan(
      plan, elements.span(), MutableHostSpan{results.data(), results.size()}, carry, stop, run);
  statistics.Add(run);
  if (absl::IsOutOfRange(status)) return std::optional<ScanCarry>();
  if (!status.ok()) return status;
  return std::optional(carry);
}

absl::Status DealtScan::RunPart(size_t part, const InputSpan& input, const OutputSpan& output,
                                Lane& lane, const std::stop_token& stop,
                                RunStatistics& statistics) {
  Part& its = parts_[part];
  const ScanPlan plan = groups_.PlanOf(its.first_element, its.element_count);
  its.after = its.before;
  its.error = its.goes_on || NeedsTotals(part)
                  ? lane.ContinueScan(plan, input, output, its.after, stop, statistics)
                  : lane.RunScan(plan, input, output, stop, statistics);
  its.has_run = true;
  return absl::IsOutOfRange(its.error) ? absl::OkStatus() : its.error;
}

absl::StatusOr<std::vector<size_t>> DealtScan::NextParts(Lane& lane) {
  std::vector<size_t> next;
  ScanCarry carry;
  bool is_known = true;  // Whether `carry` is what precedes the part.
  for (size_t part = 0; part < parts_.size(); ++part) {
    Part& its = parts_[part];
    if (!its.goes_on) carry = ScanCarry();
    is_known |= !its.goes_on;
    if (!is_known) continue;
    if (its.has_run && its.before.value == carry.value) {
      if (!its.error.ok()) {
        if (next.empty()) return its.error;
        break;  // One of those before may have an error, too.
      }
      carry = its.after;
      continue;
    }
    its.before = carry;
    its.before.element_count = its.goes_on ? its.position : 0;
    next.push_back(part);
    // What follows a part that is scanned again is looked at when it has been.
    std::optional<Totals> totals = std::exchange(its.totals, std::nullopt);
    is_known = !its.has_run && totals.has_value();
    if (!is_known) continue;
    if (totals->from) carry = *totals->from;
    const uint64_t count = totals->of_rest.element_count;
    if (count > 0) lane.CarryOver(groups_.PlanOfOneGroup(count), totals->of_rest, carry);
  }
  return next;
}

}  // namespace gridfold::kernels
