// Scans whose parts are dealt to several lanes, of one device or of several: what each of them
// runs, so that all results have the bits of one run over the whole array.
//
//   DealtScan dealt(plan, ScanCuts(plan, cuts));
//   in any threads, for every part that NeedsTotals:
//     status = dealt.FindTotals(part, its elements, lane, stop, statistics)
//   when all of them have returned OK, until there are no more:
//     parts = dealt.NextParts(lane)
//     in any threads, for each of them:
//       status = dealt.RunPart(part, its elements, its results, lane, stop, statistics)
//
// The totals of parts say what each of them continues from, so that all are scanned at the same
// time. Where an engine finds none, one part is scanned after the other. So are parts behind one
// that leaves another carry than its totals say, which happens where running results leave the
// range of float64 on the way: those are scanned again. A part that begins with a group of its own
// waits for nothing.
#ifndef GRIDFOLD_KERNELS_FOLDS_DEALT_SCAN_H_
#define GRIDFOLD_KERNELS_FOLDS_DEALT_SCAN_H_

#include <cstddef>
#include <optional>
#include <stop_token>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/engine.h"
#include "kernels/contract/scan.h"
#include "kernels/folds/dealt_reduction.h"
#include "kernels/folds/scan_groups.h"

namespace gridfold::kernels {

// The cuts at which the scan can go on in another lane, where the array lies in parts that end at
// `cuts`: those of them at which the fixed tree has a carry, and, for each other one, the places
// before and behind it that have one. Between these is a part of kScanCarryElements or fewer that
// lies on both sides of a cut. Where none goes through a group, and no tree decides bits, the cuts
// themselves.
//
// Example, a scan of 4 units forward, whose array is cut after 1.5 of them: 0, 1, 2, 4.
Cuts ScanCuts(const ScanPlan& plan, const Cuts& cuts);

class DealtScan {
 public:
  // Requires a scan that is not by columns, and what ScanCuts gives.
  DealtScan(ScanPlan plan, const Cuts& cuts);

  // Parts in the order in which they follow each other: a reverse scan's first part is the array's
  // end.
  size_t part_count() const { return parts_.size(); }
  uint64_t first_element(size_t part) const { return parts_[part].first_element; }
  uint64_t element_count(size_t part) const { return parts_[part].element_count; }

  // Whether the part behind this one goes on with its last group.
  bool NeedsTotals(size_t part) const {
    return part + 1 < parts_.size() && parts_[part + 1].goes_on;
  }

  // These are thread-safe for different parts. Errors: those of Lane::ContinueScan, but for those
  // of values, which NextParts tells.
  absl::Status FindTotals(size_t part, const InputSpan& input, Lane& lane,
                          const std::stop_token& stop, RunStatistics& statistics);
  absl::Status RunPart(size_t part, const InputSpan& input, const OutputSpan& output, Lane& lane,
                       const std::stop_token& stop, RunStatistics& statistics);

  // The parts to run now; none where all results are there. Each that is named is to be run before
  // the next call. Errors: that of the first part whose results do not fit. The lane may be any.
  absl::StatusOr<std::vector<size_t>> NextParts(Lane& lane);

 private:
  // What a part comes to: the carry of what precedes it, or of its last group's first block, joined
  // with the totals of what follows.
  struct Totals {
    std::optional<ScanCarry> from;
    ScanTotals of_rest;
  };
  struct Part {
    uint64_t first_element = 0;
    uint64_t element_count = 0;
    uint64_t position = 0;  // Elements in the parts before.
    bool goes_on = false;   // Its first group began in a part before.
    std::optional<Totals> totals = {};
    // Once it has run: what it continued from and what it left, or why it did not.
    bool has_run = false;
    ScanCarry before = {};
    ScanCarry after = {};
    absl::Status error = {};
  };

  // Finds the carry behind the part's block at `position`, in which its last group starts. None
  // where results of the block do not fit.
  absl::StatusOr<std::optional<ScanCarry>> CarryBehindBlock(const Part& part, uint64_t position,
                                                            const InputSpan& input, Lane& lane,
                                                            const std::stop_token& stop,
                                                            RunStatistics& statistics) const;
  // The elements of a part from a position in it on, as many as `count`.
  uint64_t ElementAt(const Part& part, uint64_t position, uint64_t count) const;

  const ScanGroups groups_;
  std::vector<Part> parts_;
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_FOLDS_DEALT_SCAN_H_
