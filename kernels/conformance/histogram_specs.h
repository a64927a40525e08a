// Pieces of histogram requests that several tests use.
#ifndef GRIDFOLD_KERNELS_CONFORMANCE_HISTOGRAM_SPECS_H_
#define GRIDFOLD_KERNELS_CONFORMANCE_HISTOGRAM_SPECS_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/contract/histogram.h"

namespace gridfold::kernels::conformance {

inline HistogramSpec SpecOfBins(BinSpec bins) {
  HistogramSpec spec;
  spec.bins.push_back(std::move(bins));
  return spec;
}

inline BinSpec Even(uint64_t bin_count, double lower, double upper) {
  return EvenBinsSpec{bin_count, lower, upper};
}
inline BinSpec AutomaticEven(uint64_t bin_count) {
  return EvenBinsSpec{bin_count, std::nullopt, std::nullopt};
}

// An interval of the type's values in which samples are put, with some of the type's room outside.
struct SampleRange {
  double lower;
  double upper;
};
inline SampleRange SampleRangeOf(ElementType type) {
  if (IsUnsigned(type)) return {10, 200};
  return {-100, 100};
}

// Edges that get wider from one to the next over [lower, upper].
inline BinSpec UnevenEdges(uint64_t bin_count, double lower, double upper) {
  EdgeBinsSpec spec;
  for (uint64_t i = 0; i <= bin_count; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(bin_count);
    spec.edges.push_back(lower + (upper - lower) * part * (1 + part) / 2);
  }
  return spec;
}

}  // namespace gridfold::kernels::conformance

#endif  // GRIDFOLD_KERNELS_CONFORMANCE_HISTOGRAM_SPECS_H_
