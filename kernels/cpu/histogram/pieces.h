// How the samples of a histogram are shared out, and where they are counted.
#ifndef GRIDFOLD_KERNELS_CPU_HISTOGRAM_PIECES_H_
#define GRIDFOLD_KERNELS_CPU_HISTOGRAM_PIECES_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "kernels/contract/histogram.h"

namespace gridfold::kernels::cpu {

// Samples are cut into pieces of equal size (but for the last). To count them each thread has a
// table of its own, to sum weights each piece; tables are added up. The answers do not depend
// on the cuts.
struct HistogramPieces {
  uint64_t samples_per_piece = 0;  // A multiple of kPlacerTile.
  uint64_t piece_count = 0;
  // All pieces add to one table with atomic additions: for so many bins that private tables would
  // cost more than the samples. Never with weights, whose sums are more than one word.
  bool shared_counters = false;
  // With weights: bins whose sums are kept at once. The samples are gone through again for the next
  // ones, so that no number of bins takes more memory than there may be.
  uint64_t bins_per_pass = 0;
};

// "histogram/shared" where counters are, else "histogram/private".
const char* HistogramStrategy(const HistogramPieces& pieces);

// For so many threads, as the plan's strategy says or as is thought best. Errors: those of
// StrategyError.
absl::StatusOr<HistogramPieces> CutSamples(const HistogramPlan& plan, int threads);

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_HISTOGRAM_PIECES_H_
