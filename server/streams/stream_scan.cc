#include "server/streams/stream_scan.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "kernels/folds/joined.h"
#include "server/compute/selected_run.h"
#include "server/compute/truth_check.h"
#include "server/planning/answer_size.h"
#include "server/wire/proto_conversion.h"

namespace gridfold::server {

absl::StatusOr<std::unique_ptr<StreamScan>> StreamScan::Make(const std::string& header,
                                                             const Limits& limits) {
  v1::ScanArrayRequest request;
  if (absl::Status status = DecodeRequest(header, limits, request); !status.ok()) return status;
  absl::StatusOr<PlannedScanStream> planned = PlanStream(request, limits);
  if (!planned.ok()) return InHeader(planned.status());
  const uint64_t batch_bytes =
      std::min(kStreamScanBatchBytes, limits.message_bytes_max - kAnswerOverheadBytes);
  const uint64_t carries = std::max<uint64_t>(batch_bytes / ScanBatchBytesMin(planned->plan), 1);
  return absl::WrapUnique(
      new StreamScan(*std::move(planned), carries * kernels::kScanCarryElements));
}

absl::StatusOr<ChunkData> StreamScan::Run(StreamArrays& arrays, bool is_last, kernels::Lane& lane,
                                          std::stop_token stop, kernels::RunStatistics& statistics,
                                          v1::ScanStreamResponse& message) {
  const StreamSizes sizes = SizesOf(arrays);
  const uint64_t available = beside_.ElementCount(sizes);
  const uint64_t whole = available / kernels::kScanCarryElements * kernels::kScanCarryElements;
  const uint64_t count = is_last ? available : std::min(whole, batch_elements_max_);
  // A batch that is not the last one is of no elements where one array has ended before the other.
  if (is_last || count == 0) {
    absl::Status status = beside_.CheckEnd(sizes, carry_.element_count);
    if (!status.ok()) return status;
  }
  message.set_first_element(carry_.element_count);
  message.set_element_type(ToWire(plan_.output_type));
  plan_.array = kernels::ArrayDescription::Vector(plan_.array.element_type, count);
  plan_.grouping.group_size = count;
  ChunkData results(plan_.output_size_bytes());
  if (count == 0) return results;
  const FirstElements first(arrays, beside_.element_bytes, count);
  kernels::InputSpan input = first.slices[kElements];
  std::string replaced;
  if (has_mask()) {
    const kernels::HostSlices& mask = first.slices[kMask];
    if (absl::Status status = CheckTruths(mask, "where", stop); !status.ok()) return status;
    replaced = kernels::Replaced(first.slices[kElements], mask, element_bytes(),
                                 IdentityOf(plan_, /*is_bool=*/false));
    input = kernels::HostSpan{reinterpret_cast<const std::byte*>(replaced.data()), replaced.size()};
  }
  kernels::RunStatistics run;
  const absl::Status status = lane.ContinueScan(
      plan_, input, kernels::MutableHostSpan{results.data(), results.size_bytes()}, carry_,
      std::move(stop), run);
  statistics.Add(run);
  if (!status.ok()) return InHeader(status);
  RemoveElements(beside_.element_bytes, count, arrays);
  return results;
}

}  // namespace gridfold::server
