// Runs plans on the engine of a handle, in the calling thread and the engine's own. Thread-safe.
#ifndef GRIDFOLD_CLIENT_CORE_RUN_H_
#define GRIDFOLD_CLIENT_CORE_RUN_H_

#include "absl/status/statusor.h"
#include "client/core/conversion.h"
#include "client/core/gridfold_core.h"
#include "kernels/contract/engine.h"

namespace gridfold::core {

// Indices of argmin and argmax count from `first_index` on. Errors: those of kernels::Lane.
absl::StatusOr<kernels::ReductionResult> Run(gridfold_engine& engine,
                                             const kernels::ReductionPlan& plan,
                                             const gridfold_array& array, uint64_t first_index);
absl::Status Run(gridfold_engine& engine, const kernels::ScanPlan& plan,
                 const gridfold_array& array, kernels::MutableHostSpan output);
absl::StatusOr<kernels::QuantileResult> Run(gridfold_engine& engine,
                                            const kernels::QuantilePlan& plan,
                                            const gridfold_array& array);
absl::StatusOr<kernels::QuantileResult> Run(gridfold_engine& engine,
                                            const kernels::WeightedQuantilePlan& plan,
                                            const gridfold_array& array,
                                            const gridfold_array& weights);
absl::StatusOr<kernels::TopResult> Run(gridfold_engine& engine, const kernels::TopPlan& plan,
                                       const gridfold_array& array);
absl::StatusOr<kernels::PairedSums> Run(gridfold_engine& engine, const kernels::PairedPlan& plan,
                                        const gridfold_columns& columns);
absl::StatusOr<kernels::HistogramResult> Run(gridfold_engine& engine,
                                             const kernels::HistogramPlan& plan,
                                             const gridfold_samples& samples);

absl::StatusOr<kernels::KeyedReductionResult> Run(gridfold_engine& engine,
                                                  const kernels::KeyedReductionPlan& plan,
                                                  const KeyedArrays& arrays, uint64_t first_index);

}  // namespace gridfold::core

#endif  // GRIDFOLD_CLIENT_CORE_RUN_H_
