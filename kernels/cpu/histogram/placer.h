// The bins of samples, for histograms and for whatever else groups by bins.
#ifndef GRIDFOLD_KERNELS_CPU_HISTOGRAM_PLACER_H_
#define GRIDFOLD_KERNELS_CPU_HISTOGRAM_PLACER_H_

#include <memory>
#include <vector>

#include "kernels/contract/histogram.h"
#include "kernels/cpu/histogram/input.h"
#include "kernels/cpu/histogram/sample_placer.h"

namespace gridfold::kernels::cpu {

// `bins` have resolved ranges and must outlive the placer.
std::unique_ptr<AnySamplePlacer> MakeSamplePlacer(const HistogramPlan& plan,
                                                  const std::vector<PlannedBins>& bins,
                                                  const HostHistogramInput& input);

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_HISTOGRAM_PLACER_H_
