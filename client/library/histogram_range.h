// Even bins without bounds: their range, found before samples are counted.
#ifndef GRIDFOLD_CLIENT_LIBRARY_HISTOGRAM_RANGE_H_
#define GRIDFOLD_CLIENT_LIBRARY_HISTOGRAM_RANGE_H_

#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "gridfold/array_view.h"
#include "gridfold/histogram.h"
#include "gridfold/reduction.h"

namespace gridfold::client {

// Asks for minima and maxima of samples.
using AskForExtremes =
    absl::FunctionRef<absl::StatusOr<ReductionResult>(const ArrayView&, const ReductionOptions&)>;

// The same bins with the bounds that the server would find: those of each channel's, or each
// axis's, samples, which are asked for once each. Nothing where that takes more than their
// extremes, since these are not finite or are equal, or where the options are for the server to
// refuse.
absl::StatusOr<std::optional<HistogramOptions>> WithRange(const ArrayView& array,
                                                          const HistogramOptions& options,
                                                          AskForExtremes ask);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_HISTOGRAM_RANGE_H_
