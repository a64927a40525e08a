// Runs operations along axes of an array, with its rearrangement as servers make it: on resident
// memory, before the operation and, of a scan, behind it. Reductions that can do without are run in
// both ways, and expected to agree.
#ifndef GRIDFOLD_KERNELS_CONFORMANCE_AXES_RUNNER_H_
#define GRIDFOLD_KERNELS_CONFORMANCE_AXES_RUNNER_H_

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/test_array.h"
#include "kernels/contract/axes.h"
#include "kernels/contract/shape.h"

namespace gridfold::kernels::conformance {

class AxesRunner {
 public:
  explicit AxesRunner(EngineUnderTest& engine);

  // `elements` holds those of `shape`. The groupings of the specs are not used.
  absl::StatusOr<ReductionResult> Reduce(const kernels::Shape& shape, const TestArray& elements,
                                         AxisSet axes, ReductionSpec spec);
  // `elements` holds those in RangeOf(view).
  absl::StatusOr<ReductionResult> Reduce(const StridedView& view, const TestArray& elements,
                                         AxisSet axes, ReductionSpec spec, bool keeps_order);
  absl::StatusOr<QuantileResult> Quantiles(const kernels::Shape& shape, const TestArray& elements,
                                           AxisSet axes, QuantileSpec spec);
  // The results in the order of the elements.
  absl::StatusOr<TestArray> Scan(const kernels::Shape& shape, const TestArray& elements, int axis,
                                 ScanSpec spec);

  // Whether the last run began with a rearrangement, and whether it was run without one, too.
  bool rearranged() const { return rearranged_; }
  bool ran_in_place() const { return ran_in_place_; }

 private:
  absl::StatusOr<ReductionResult> Reduce(const AxesPlan& groups, const TestArray& elements,
                                         ReductionSpec spec);
  absl::StatusOr<std::unique_ptr<ResidentMemory>> InOrder(const Rearrangement& order,
                                                          const TestArray& elements);

  // Nothing where the engine does not reduce these groups in place.
  std::optional<absl::StatusOr<ReductionResult>> ReduceInPlace(const ReductionPlan& plan,
                                                               const GroupsInPlace& groups,
                                                               const TestArray& elements);

  EngineUnderTest& engine_;
  std::unique_ptr<ResidentPool> pool_;
  bool rearranged_ = false;
  bool ran_in_place_ = false;
};

}  // namespace gridfold::kernels::conformance

#endif  // GRIDFOLD_KERNELS_CONFORMANCE_AXES_RUNNER_H_
