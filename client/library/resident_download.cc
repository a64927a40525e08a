#include "client/library/resident_download.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/library/array_conversion.h"
#include "client/library/part_run.h"

namespace gridfold::client {
namespace {

// What one call reads.
constexpr uint64_t kReadBytes = uint64_t{32} << 20;

// One attempt to read a part into `to`.
absl::Status ReadOnce(const std::shared_ptr<grpc::Channel>& channel, const CallHead& head,
                      const ResidentArray& part, std::span<std::byte> to) {
  size_t read_bytes = 0;
  const absl::Status status =
      ReadArrayOnce(channel, head, part, [&](const v1::ReadArrayResponse&, const BulkBytes& data) {
        if (data.size_bytes() > to.size() - read_bytes) {
          return absl::InternalError("the server's answer holds more elements than were asked for");
        }
        data.CopyTo(to.data() + read_bytes);
        read_bytes += data.size_bytes();
        return absl::OkStatus();
      });
  if (!status.ok() || read_bytes == to.size()) return status;
  return absl::InternalError(
      absl::StrCat("the server's answer holds ", read_bytes, " bytes of a part of ", to.size()));
}

}  // namespace

absl::Status ReadInParts(ArrayCalls& calls, const CallBudget& budget, const ArrayDescription& array,
                         std::span<std::byte> to) {
  const uint64_t rows = array.shape.empty() ? 1 : array.shape[0];
  if (rows == 0 || to.empty()) return absl::OkStatus();
  const uint64_t row_bytes = to.size() / rows;
  const uint64_t step = std::max<uint64_t>(kReadBytes / row_bytes, 1);
  return RunParts(
      (rows + step - 1) / step, calls.transport().part_connection_count(), budget.is_cancelled(),
      [&](size_t part, size_t worker, const StopRequest& is_stopped) {
        const uint64_t first = part * step;
        const uint64_t count = std::min(step, rows - first);
        ResidentArray slice{array.name};
        if (!array.shape.empty()) slice.slice = {.first = first, .count = count};
        return calls.transport().TryPart(
            budget.Rest(is_stopped), worker, [&](const auto& channel, const CallHead& head) {
              return ReadOnce(channel, head, slice,
                              to.subspan(first * row_bytes, count * row_bytes));
            });
      });
}

}  // namespace gridfold::client
