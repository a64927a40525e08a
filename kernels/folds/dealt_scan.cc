#include "kernels/folds/dealt_scan.h"

#include <utility>

namespace gridfold::kernels {

namespace {

bool AreEqual(const ScanCarry& a, const ScanCarry& b) {
  return a.element_count == b.element_count && a.value == b.value;
}

}  // namespace

DealtScan::DealtScan(ScanPlan plan, const Cuts& cuts) : parts_(cuts.size() - 1) {
  for (size_t part = 0; part < parts_.size(); ++part) {
    const uint64_t count = cuts[part + 1] - cuts[part];
    plan.array = ArrayDescription::Vector(plan.array.element_type, count);
    plan.grouping.group_size = count;
    parts_[part].plan = plan;
  }
}

absl::Status DealtScan::FindTotals(size_t part, const InputSpan& input, Lane& lane,
                                   const std::stop_token& stop, RunStatistics& statistics) {
  absl::StatusOr<ScanTotals> totals =
      lane.FindScanTotals(parts_[part].plan, input, stop, statistics);
  if (absl::IsUnimplemented(totals.status())) return absl::OkStatus();
  if (!totals.ok()) return totals.status();
  parts_[part].totals = *std::move(totals);
  return absl::OkStatus();
}

absl::Status DealtScan::RunPart(size_t part, const InputSpan& input, const OutputSpan& output,
                                Lane& lane, const std::stop_token& stop,
                                RunStatistics& statistics) {
  Part& its = parts_[part];
  its.after = its.before;
  its.error = lane.ContinueScan(its.plan, input, output, its.after, stop, statistics);
  its.has_run = true;
  return absl::IsOutOfRange(its.error) ? absl::OkStatus() : its.error;
}

absl::StatusOr<std::vector<size_t>> DealtScan::NextParts(Lane& lane) {
  std::vector<size_t> next;
  ScanCarry carry;
  for (size_t part = 0; part < parts_.size(); ++part) {
    Part& its = parts_[part];
    if (its.has_run && AreEqual(its.before, carry)) {
      if (!its.error.ok()) return its.error;
      carry = its.after;
      continue;
    }
    its.before = carry;
    next.push_back(part);
    // What follows a part that is scanned again is looked at when it has been.
    const std::optional<ScanTotals> totals = std::exchange(its.totals, std::nullopt);
    if (its.has_run || !totals) break;
    lane.CarryOver(its.plan, *totals, carry);
  }
  return next;
}

}  // namespace gridfold::kernels
