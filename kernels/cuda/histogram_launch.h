// From a histogram's plan to the kernel that counts it, and the grid. For histogram*.cc only.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_LAUNCH_H_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_LAUNCH_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "kernels/cuda/device_properties.h"
#include "kernels/cuda/histogram_arguments.h"
#include "kernels/cuda/histogram_guesses.h"
#include "kernels/cuda/histogram_strategy.h"
#include "kernels/cuda/launch.h"
#include "kernels/histogram.h"

namespace gridfold::kernels::cuda {

// A strategy, and the kernel and grid that it comes to.
struct CountingLaunch {
  HistogramStrategy strategy;
  HistogramKernel kernel = nullptr;
  LaunchShape shape;
};

// `edge_count` is that of all tables together; `guess_kind` says how the bins are guessed. Errors:
// FAILED_PRECONDITION where the forced method cannot be had; INTERNAL from CUDA.
absl::StatusOr<CountingLaunch> PlanCountingLaunch(const HistogramPlan& plan, uint64_t edge_count,
                                                  GuessKind guess_kind,
                                                  const DeviceProperties& properties,
                                                  std::optional<HistogramMethod> forced);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_LAUNCH_H_
