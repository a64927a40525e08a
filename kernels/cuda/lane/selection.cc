#include <cstdint>
#include <span>
#include <vector>

#include "kernels/contract/lane_limits.h"
#include "kernels/cuda/lane/lane.h"
#include "kernels/cuda/select/select.h"

namespace gridfold::kernels::cuda {

namespace {

const uint8_t* MaskOf(const ResidentSpan& mask) {
  return reinterpret_cast<const uint8_t*>(mask.data);
}
uint64_t* TileStartsOf(const MutableResidentSpan& scratch) {
  return reinterpret_cast<uint64_t*>(scratch.data);
}

}  // namespace

absl::StatusOr<std::vector<uint64_t>> CudaLane::Select(
    const SelectionPlan& plan, InputSpan input, ResidentSpan mask, MutableResidentSpan scratch,
    MutableResidentSpan selected, std::stop_token stop, RunStatistics& statistics) {
  absl::Status fits = CheckSelectionFits(options_, plan, input, mask, scratch, selected);
  if (!fits.ok()) return fits;
  std::vector<uint64_t> offsets(plan.grouping.group_count + 1);
  const auto bytes = std::as_writable_bytes(std::span(offsets));
  absl::Status status = Run(statistics, [&]() -> absl::Status {
    statistics.strategy = "select/tiles";
    statistics.bytes_read = SizeBytes(input) + mask.size_bytes;
    const absl::StatusOr<const std::byte*> elements =
        StageIn(input, plan.grouping, memory_.input.size_bytes(), stop);
    if (!elements.ok()) return elements.status();
    std::byte* const answer = AnswerPlace(bytes.size());
    const bool has_segments = plan.grouping.kind == GroupingKind::kSegments;
    const SelectionArrays arrays{
        .input = *elements,
        .mask = MaskOf(mask),
        .tile_starts = TileStartsOf(scratch),
        .group_offsets =
            has_segments ? reinterpret_cast<const uint64_t*>(memory_.offsets.data()) : nullptr,
        .selected = selected.data,
        .selected_offsets = reinterpret_cast<uint64_t*>(answer)};
    absl::Status launched = LaunchSelection(plan, arrays, stream_.get());
    if (launched.ok()) launched = timer_.Mark(JobTimer::Point::kKernelsEnd, stream_.get());
    if (!launched.ok()) return launched;
    const MutableHostSpan host{bytes.data(), bytes.size()};
    return CopyOut(answer, std::span(&host, 1), stop);
  });
  if (!status.ok()) return status;
  return offsets;
}

absl::Status CudaLane::FindSelected(ResidentSpan mask, ResidentSpan scratch,
                                    std::span<uint64_t> places, std::stop_token stop,
                                    RunStatistics& statistics) {
  absl::Status fits = CheckPlacesFit(options_, places.size());
  if (!fits.ok() || places.empty()) return fits;
  const auto bytes = std::as_writable_bytes(places);
  return Run(statistics, [&]() -> absl::Status {
    statistics.strategy = "select/places";
    const HostSpan ranks{bytes.data(), bytes.size()};
    absl::Status status = CopyIn(std::span(&ranks, 1), memory_.offsets.data(), stop);
    if (status.ok()) status = timer_.Mark(JobTimer::Point::kStagingEnds, stream_.get());
    if (!status.ok()) return status;
    std::byte* const answer = AnswerPlace(bytes.size());
    status = LaunchFindSelected(MaskOf(mask), mask.size_bytes,
                                reinterpret_cast<const uint64_t*>(scratch.data),
                                reinterpret_cast<const uint64_t*>(memory_.offsets.data()),
                                places.size(), reinterpret_cast<uint64_t*>(answer), stream_.get());
    if (status.ok()) status = timer_.Mark(JobTimer::Point::kKernelsEnd, stream_.get());
    if (!status.ok()) return status;
    const MutableHostSpan host{bytes.data(), bytes.size()};
    return CopyOut(answer, std::span(&host, 1), stop);
  });
}

absl::Status CudaLane::Replace(uint64_t element_bytes, const ElementBytes& replacement,
                               InputSpan input, ResidentSpan mask, MutableResidentSpan output,
                               std::stop_token stop, RunStatistics& statistics) {
  absl::Status fits = CheckReplacementFits(options_, element_bytes, input, mask, output);
  if (!fits.ok()) return fits;
  return Run(statistics, [&]() -> absl::Status {
    statistics.strategy = "select/replace";
    statistics.bytes_read = SizeBytes(input) + mask.size_bytes;
    const absl::StatusOr<const std::byte*> elements =
        StageIn(input, Grouping{}, memory_.input.size_bytes(), stop);
    if (!elements.ok()) return elements.status();
    absl::Status status = LaunchReplacement(mask.size_bytes, element_bytes, replacement, *elements,
                                            MaskOf(mask), output.data, stream_.get());
    if (!status.ok()) return status;
    return timer_.Mark(JobTimer::Point::kKernelsEnd, stream_.get());
  });
}

}  // namespace gridfold::kernels::cuda
