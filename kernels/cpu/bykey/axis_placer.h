// The bins of coordinates, one axis after the other.
#ifndef GRIDFOLD_KERNELS_CPU_BYKEY_AXIS_PLACER_H_
#define GRIDFOLD_KERNELS_CPU_BYKEY_AXIS_PLACER_H_

#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "kernels/contract/histogram.h"
#include "kernels/cpu/base/job_context.h"
#include "kernels/cpu/histogram/sample_placer.h"
#include "kernels/numerics/bins/axes.h"

namespace gridfold::kernels::cpu {

// Thread-safe.
class AxisPlacer {
 public:
  virtual ~AxisPlacer() = default;

  // Takes the places of the elements `first` on, at most kPlacerTile, on to this axis.
  virtual void Place(uint64_t first, std::span<AxesPlace> places) const = 0;
};

// `axis` is a plain histogram, whose bins, with a resolved range, are `bins`.
std::unique_ptr<AxisPlacer> MakeAxisPlacer(const HistogramPlan& axis, const PlannedBins& bins,
                                           HostSpan keys);

// Sets an automatic range among `bins`, those of the axis.
absl::Status ResolveAxis(const HistogramPlan& axis, HostSpan keys, JobContext& job,
                         PlannedBins& bins);

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_BYKEY_AXIS_PLACER_H_
