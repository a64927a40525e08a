// A histogram's plan becomes the kernel that counts it, and the grid, here. For histogram/ only.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_LAUNCH_H_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_LAUNCH_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "kernels/contract/histogram.h"
#include "kernels/cuda/device/launch.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/cuda/histogram/plan/arguments.h"
#include "kernels/cuda/histogram/plan/guesses.h"
#include "kernels/cuda/histogram/plan/strategy.h"
#include "kernels/cuda/histogram/plan/together.h"

namespace gridfold::kernels::cuda {

// A strategy, and the kernel and grid that it comes to.
struct CountingLaunch {
  HistogramStrategy strategy;
  HistogramKernel kernel = nullptr;
  TogetherKernel together_kernel = nullptr;  // Instead, where IsTogether(strategy.method).
  LaunchShape shape;
};

// The launch of a plan whose blocks meet (histogram/plan/together.h); nothing where others are
// better, or the forced method, or the plan's strategy, is another. Errors: INTERNAL from CUDA.
absl::StatusOr<std::optional<CountingLaunch>> PlanTogetherLaunch(
    const HistogramPlan& plan, const DeviceProperties& properties,
    std::optional<HistogramMethod> forced);

// The launch of other plans, whose ranges are known. `edge_count` is that of all tables together;
// `guess_kind` says how the bins are guessed. Errors: FAILED_PRECONDITION where the forced method
// cannot be had, or those of StrategyError where the plan's strategy cannot; INTERNAL from CUDA.
absl::StatusOr<CountingLaunch> PlanCountingLaunch(const HistogramPlan& plan, uint64_t edge_count,
                                                  GuessKind guess_kind,
                                                  const DeviceProperties& properties,
                                                  std::optional<HistogramMethod> forced);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_LAUNCH_H_
