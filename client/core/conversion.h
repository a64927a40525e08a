// From the structs of the C interface to the plans of the kernels. Everything of a struct is looked
// at: a caller in C may have put anything there.
//
// Errors: INVALID_ARGUMENT that names the field, for null where there must be something, numbers
// that no enumeration has, arrays that no memory holds, and what the plans refuse. Thread-safe.
#ifndef GRIDFOLD_CLIENT_CORE_CONVERSION_H_
#define GRIDFOLD_CLIENT_CORE_CONVERSION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/core/gridfold_core.h"
#include "kernels/contract/engine.h"
#include "kernels/contract/histogram.h"
#include "kernels/contract/keyed_reduction.h"
#include "kernels/contract/paired.h"
#include "kernels/contract/quantiles.h"
#include "kernels/contract/reduction.h"
#include "kernels/contract/scan.h"
#include "kernels/contract/top.h"
#include "kernels/contract/weighted_quantiles.h"

namespace gridfold::core {

inline gridfold_element_type ToC(kernels::ElementType type) {
  return static_cast<gridfold_element_type>(type) + 1;
}
inline gridfold_statistic ToC(kernels::Statistic statistic) {
  return static_cast<gridfold_statistic>(statistic) + 1;
}

// The memory of an array of a plan, which need not be there.
inline kernels::HostSpan SpanOf(const gridfold_array* array, uint64_t size_bytes) {
  if (array == nullptr) return {};
  return {static_cast<const std::byte*>(array->data), size_bytes};
}

// `return_states` as in the plans.
absl::StatusOr<kernels::ReductionPlan> PlanOf(const gridfold_array* array,
                                              const gridfold_reduction_spec* spec,
                                              bool return_states);
absl::StatusOr<kernels::ScanPlan> PlanOf(const gridfold_array* array,
                                         const gridfold_scan_spec* spec);
absl::StatusOr<kernels::QuantilePlan> PlanOf(const gridfold_array* array,
                                             const gridfold_quantile_spec* spec);
absl::StatusOr<kernels::WeightedQuantilePlan> PlanOf(const gridfold_array* array,
                                                     const gridfold_array* weights,
                                                     const gridfold_quantile_spec* spec);
absl::StatusOr<kernels::TopPlan> PlanOf(const gridfold_array* array, const gridfold_top_spec* spec);
absl::StatusOr<kernels::PairedPlan> PlanOf(const gridfold_columns* columns,
                                           const gridfold_paired_spec* spec);
absl::StatusOr<kernels::HistogramPlan> PlanOf(const gridfold_samples* samples,
                                              const gridfold_histogram_spec* spec,
                                              bool return_states);

// An argument and its name.
struct NamedArray {
  const gridfold_array* array = nullptr;
  std::string name;
};
struct KeyedArrays {
  std::vector<NamedArray> keys;  // One, or the coordinates of each dimension of bins.
  NamedArray values;
};
struct KeyedQuantiles {
  const double* quantiles = nullptr;
  uint64_t count = 0;
  gridfold_quantile_method method = GRIDFOLD_QUANTILE_LINEAR;
};
absl::StatusOr<kernels::KeyedReductionPlan> PlanOf(const KeyedArrays& arrays,
                                                   const gridfold_keyed_spec* spec,
                                                   const KeyedQuantiles& quantiles = {});

// What C sees of bins with these edges, which must outlive it; and of a column.
gridfold_bins ToC(const kernels::PlannedBins& bins, const std::vector<double>& edges);
gridfold_column ToC(const kernels::StatisticColumn& column);
gridfold_column ToC(const std::vector<uint64_t>& quantile_slots, kernels::ValueKind kind);

}  // namespace gridfold::core

#endif  // GRIDFOLD_CLIENT_CORE_CONVERSION_H_
