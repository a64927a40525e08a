// The route of a reduction: which kernel takes it, its grid and scratch, and who takes what the
// kernel leaves. A pure function of the plan, of the device and of where the elements stand; a job
// computes it once, and nothing changes it after. Plain C++, needs no device.
//
//   absl::StatusOr<ReductionRoute> route = PlanReductionRoute({plan, properties, is_aligned});
//   if (!route.ok()) return route.status();
//   statistics.strategy = route->strategy();
//   return LaunchReduction(plan, *route, input, output, scratch, properties, stream);
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_ROUTE_H_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_ROUTE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/contract/reduction.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/cuda/reduce/plan/geometry.h"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/reduction_kernel.h"

namespace gridfold::kernels::cuda {

struct ReductionFacts {
  const ReductionPlan& plan;
  const DeviceProperties& properties;
  bool is_aligned;  // Whether the elements begin at a vector's address.
};

struct ReductionRoute {
  ReductionKernel kernel = ReductionKernel::kNothing;
  ReductionLeftovers leftovers = ReductionLeftovers::kNone;
  bool is_transposed = false;    // Columns are reduced as the rows of their transpose.
  bool has_product = false;      // Products of floating-point elements have passes of their own.
  uint32_t parts = 0;            // What the kernels keep, and states have.
  ReductionGeometry geometry{};  // Of kLong, kGroups and kColumns.
  uint64_t scratch_bytes = 0;    // Of all kernels together.

  ReductionFamily family() const { return TraitsOf(kernel).family; }
  // "reduce/groups/row-moments", "reduce/transposed/tiles", "reduce/product", ….
  std::string strategy() const;
};

// The plan's route: of the strategy that it names, or the one that is thought best. Errors: those
// of StrategyError.
absl::StatusOr<ReductionRoute> PlanReductionRoute(const ReductionFacts& facts);

// Whether the plan's groups, rows or the columns of a stack, are reduced where they stand, sooner
// than they are brought into another order first. Requires a plan with groups.
bool ReducesSoonerInPlace(const ReductionFacts& facts);

// The most scratch of a route of plans of up to `input_bytes` and `group_count`.
uint64_t ReductionScratchBytesMax(uint64_t input_bytes, uint64_t group_count,
                                  const DeviceProperties& properties);

// All strategies that can take the plan; the first is thought best.
std::vector<std::string> ReductionStrategies(const ReductionFacts& facts);

// What the kernels are told of a plan, but for pointers. Floating-point products are left out.
ReductionParameters ParametersOf(const ReductionPlan& plan);

// Whether an array's address is a vector's.
bool IsVectorAddress(const void* elements);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_ROUTE_H_
