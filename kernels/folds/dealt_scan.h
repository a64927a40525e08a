// Scans of a whole array whose parts are dealt to several lanes, of one device or of several: what
// each of them runs, so that all results have the bits of one run over the whole array.
//
//   DealtScan dealt(plan, cuts);
//   in any threads, for every part but the last:
//     status = dealt.FindTotals(part, its elements, lane, stop, statistics)
//   when all of them have returned OK, until there are no more:
//     parts = dealt.NextParts(lane)
//     in any threads, for each of them:
//       status = dealt.RunPart(part, its elements, its results, lane, stop, statistics)
//
// The totals of parts say what each of them continues from, so that all are scanned at the same
// time. Where an engine finds none, one part is scanned after the other. So are parts behind one
// that leaves another carry than its totals say, which happens where running results leave the
// range of float64 on the way: those are scanned again.
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

namespace gridfold::kernels {

class DealtScan {
 public:
  // Requires a forward scan of one group, and cuts at multiples of kScanCarryElements.
  DealtScan(ScanPlan plan, const Cuts& cuts);

  size_t part_count() const { return parts_.size(); }

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
  struct Part {
    ScanPlan plan;
    std::optional<ScanTotals> totals;
    // Once it has run: what it continued from and what it left, or why it did not.
    bool has_run = false;
    ScanCarry before;
    ScanCarry after;
    absl::Status error;
  };

  std::vector<Part> parts_;
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_FOLDS_DEALT_SCAN_H_
