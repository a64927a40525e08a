// What stands before the counts in a histogram's accumulator (bytes.h has the layout).
// For histogram_accumulator.cc and histogram words (folds/words.h) only.
#ifndef GRIDFOLD_KERNELS_ACCUMULATORS_HISTOGRAM_ACCUMULATOR_HEADER_H_
#define GRIDFOLD_KERNELS_ACCUMULATORS_HISTOGRAM_ACCUMULATOR_HEADER_H_

#include <vector>

#include "kernels/accumulators/bytes.h"
#include "kernels/contract/histogram.h"

namespace gridfold::kernels {

struct HistogramHeader {
  ElementType element_type{};
  HistogramSpec spec;  // Unchecked; with return_states.
};

// `bins` are resolved.
void WriteHistogramHeader(const HistogramPlan& plan, const std::vector<PlannedBins>& bins,
                          AccumulatorWriter& writer);

// Takes no more memory than in proportion to the bytes that are left.
HistogramHeader ReadHistogramHeader(AccumulatorReader& reader);

// Names what differs in two headers that have different bytes.
const char* DifferenceOf(const HistogramHeader& a, const HistogramHeader& b);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_ACCUMULATORS_HISTOGRAM_ACCUMULATOR_HEADER_H_
