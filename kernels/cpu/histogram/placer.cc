#include "kernels/cpu/histogram/placer.h"

namespace gridfold::kernels::cpu {

std::unique_ptr<AnySamplePlacer> MakeSamplePlacer(const HistogramPlan& plan,
                                                  const std::vector<PlannedBins>& bins,
                                                  const HostHistogramInput& input) {
  return VisitElementType(
      plan.array.element_type, [&](auto tag) -> std::unique_ptr<AnySamplePlacer> {
        return std::make_unique<SamplePlacer<typename decltype(tag)::type>>(plan, bins, input);
      });
}

}  // namespace gridfold::kernels::cpu
