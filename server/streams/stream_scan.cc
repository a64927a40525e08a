#include "server/streams/stream_scan.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"
#include "server/planning/answer_size.h"
#include "server/planning/request_validation.h"
#include "server/streams/stream_fold.h"
#include "server/wire/proto_conversion.h"

namespace gridfold::server {

absl::StatusOr<std::unique_ptr<StreamScan>> StreamScan::Make(const std::string& header,
                                                             const Limits& limits) {
  v1::ScanArrayRequest request;
  if (absl::Status status = DecodeRequest(header, limits, request); !status.ok()) return status;
  absl::StatusOr<kernels::ScanPlan> plan = PlanStream(request, limits);
  if (!plan.ok()) return InHeader(plan.status());
  const uint64_t batch_bytes =
      std::min(kStreamScanBatchBytes, limits.message_bytes_max - kAnswerOverheadBytes);
  const uint64_t carries = std::max<uint64_t>(batch_bytes / ScanBatchBytesMin(*plan), 1);
  return absl::WrapUnique(new StreamScan(*std::move(plan), carries * kernels::kScanCarryElements));
}

absl::StatusOr<ChunkData> StreamScan::Run(PieceQueue& data, bool is_last, kernels::Lane& lane,
                                          std::stop_token stop, kernels::RunStatistics& statistics,
                                          v1::ScanStreamResponse& message) {
  const uint64_t available = data.size_bytes() / element_bytes_;
  if (is_last && data.size_bytes() % element_bytes_ != 0) {
    return kernels::InvalidField(
        "data",
        absl::StrCat(carry_.element_count * element_bytes_ + data.size_bytes(),
                     " bytes are not a multiple of the ", element_bytes_, " bytes of one element"));
  }
  const uint64_t whole = available / kernels::kScanCarryElements * kernels::kScanCarryElements;
  const uint64_t count = is_last ? available : std::min(whole, batch_elements_max_);
  message.set_first_element(carry_.element_count);
  message.set_element_type(ToWire(plan_.output_type));
  plan_.array = kernels::ArrayDescription::Vector(plan_.array.element_type, count);
  plan_.grouping.group_size = count;
  ChunkData results(plan_.output_size_bytes());
  if (count == 0) return results;
  const uint64_t size_bytes = plan_.array.size_bytes();
  const std::vector<kernels::HostSpan> pieces = data.First(size_bytes);
  kernels::RunStatistics run;
  const absl::Status status = lane.ContinueScan(
      plan_, kernels::HostSlices{pieces, size_bytes},
      kernels::MutableHostSpan{results.data(), results.size_bytes()}, carry_, std::move(stop), run);
  statistics.Add(run);
  if (!status.ok()) return InHeader(status);
  data.RemoveFirst(size_bytes);
  return results;
}

}  // namespace gridfold::server
