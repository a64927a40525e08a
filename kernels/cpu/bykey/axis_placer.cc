#include "kernels/cpu/bykey/axis_placer.h"

#include <utility>
#include <vector>

#include "kernels/cpu/histogram/placer.h"
#include "kernels/cpu/histogram/sample_range.h"
#include "kernels/numerics/arithmetic/element.h"

namespace gridfold::kernels::cpu {

namespace {

template <class T>
class Placer final : public AxisPlacer {
 public:
  Placer(HistogramPlan axis, const PlannedBins& bins, HostSpan keys)
      : policy_(axis.out_of_range_policy),
        keys_(keys.data),
        bins_{bins},
        layout_(LayoutOf(bins_.front(), bins_.front().edges.data())) {
    axis.out_of_range_policy = OutOfRangePolicy::kDrop;
    of_samples_ = MakeSamplePlacer(axis, bins_, {.array = keys, .y_array = {}, .weights = {}});
  }

  void Place(uint64_t first, std::span<AxesPlace> places) const override {
    int64_t located[kPlacerTile];
    OutcomeCounts outcomes;  // Counted of all axes together instead.
    of_samples_->Place(first, places.size(), located, &outcomes);
    for (uint64_t i = 0; i < places.size(); ++i) {
      // What is in no bin is looked at again, for the reason.
      if (located[i] < 0) located[i] = LocateBin(layout_, LoadUnaligned<T>(keys_, first + i));
      places[i] = PlaceOnAxis(places[i], located[i], layout_.bin_count, policy_);
    }
  }

 private:
  const OutOfRangePolicy policy_;
  const std::byte* const keys_;
  const std::vector<PlannedBins> bins_;
  const BinLayout layout_;
  std::unique_ptr<AnySamplePlacer> of_samples_;  // Drops what is outside.
};

}  // namespace

std::unique_ptr<AxisPlacer> MakeAxisPlacer(const HistogramPlan& axis, const PlannedBins& bins,
                                           HostSpan keys) {
  return VisitElementType(axis.array.element_type, [&](auto tag) -> std::unique_ptr<AxisPlacer> {
    return std::make_unique<Placer<typename decltype(tag)::type>>(axis, bins, keys);
  });
}

absl::Status ResolveAxis(const HistogramPlan& axis, HostSpan keys, JobContext& job,
                         PlannedBins& bins) {
  if (!bins.automatic_range) return absl::OkStatus();
  return VisitElementType(axis.array.element_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<SampleRange<T>> ranges;
    const absl::Status status =
        FindSampleRanges<T>(keys.data, axis.array.element_count, 1, job, ranges);
    return status.ok() ? ResolveRange(ranges.front(), bins) : status;
  });
}

}  // namespace gridfold::kernels::cpu
