// What a histogram must answer: every sample compared with the edges as real numbers.
#ifndef GRIDFOLD_KERNELS_CONFORMANCE_HISTOGRAM_ORACLE_H_
#define GRIDFOLD_KERNELS_CONFORMANCE_HISTOGRAM_ORACLE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/conformance/test_array.h"
#include "kernels/contract/histogram.h"

namespace gridfold::kernels::conformance {

struct HistogramArrays {
  const TestArray* samples = nullptr;
  const TestArray* y_samples = nullptr;
  const TestArray* weights = nullptr;
};

// The bins of one channel or axis, worked out here and not by the plan.
struct ExpectedBins {
  bool is_integer = false;
  __int128 first_value = 0;
  uint64_t count = 0;
  std::vector<double> edges;  // Not of integer bins.
};

// `samples` are those of the channel or axis: elements first, first + stride, ...
ExpectedBins ExpectBins(const BinSpec& spec, const TestArray& samples, uint64_t first,
                        uint64_t stride);

// Expects `result` to be the answer to `spec`, to the last bit.
void CheckHistogram(const HistogramArrays& arrays, const HistogramSpec& spec,
                    const absl::StatusOr<HistogramResult>& result);

}  // namespace gridfold::kernels::conformance

#endif  // GRIDFOLD_KERNELS_CONFORMANCE_HISTOGRAM_ORACLE_H_
