// How the samples of a histogram are shared out, and where they are counted.
#ifndef GRIDFOLD_KERNELS_CPU_HISTOGRAM_PIECES_H_
#define GRIDFOLD_KERNELS_CPU_HISTOGRAM_PIECES_H_

#include <cstdint>

#include "kernels/histogram.h"

namespace gridfold::kernels {

// Samples are cut into pieces of equal size (but for the last), whose counters are added up in the
// pieces' order. The cuts depend on the plan only, so sums of weights do not depend on the threads.
struct HistogramPieces {
  uint64_t samples_per_piece = 0;  // A multiple of kPlacerTile.
  uint64_t piece_count = 0;
  // All pieces add to one table with atomic additions: for so many bins that private tables would
  // cost more than the samples. Never with weights, whose sums would depend on the order.
  bool shared_counters = false;
};

HistogramPieces CutSamples(const HistogramPlan& plan);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CPU_HISTOGRAM_PIECES_H_
