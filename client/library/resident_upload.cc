#include "client/library/resident_upload.h"

#include <algorithm>

#include "absl/time/time.h"
#include "client/library/array_conversion.h"
#include "client/library/part_run.h"

namespace gridfold::client {
namespace {

// How long the server keeps an array of a program that was killed.
constexpr absl::Duration kUploadExpiry = absl::Minutes(10);
// What one call writes.
constexpr uint64_t kWriteBytes = uint64_t{32} << 20;

}  // namespace

ResidentUpload::~ResidentUpload() {
  // Where the server cannot be told, it finds out by the idle expiry.
  for (const std::string& name : names_) {
    (void)calls_.client().DeleteArray(name, {.timeout = absl::Seconds(10)});
  }
}

absl::StatusOr<ArrayInput> ResidentUpload::Send(const ArrayView& array) {
  NewArray wanted{.element_type = array.element_type(),
                  .shape = {array.element_count()},
                  .idle_expiry = kUploadExpiry,
                  .device = device_};
  if (!array.shape().empty()) wanted.shape.assign(array.shape().begin(), array.shape().end());
  const absl::StatusOr<ArrayDescription> created =
      calls_.client().CreateArray(wanted, budget_.Rest());
  if (!created.ok()) return created.status();
  names_.push_back(created->name);
  device_ = created->device;
  const absl::Status status = Write(created->name, array);
  if (!status.ok()) return status;
  return ArrayInput(ResidentArray{created->name});
}

absl::Status ResidentUpload::Write(const std::string& name, const ArrayView& array) {
  const uint64_t element_bytes = ElementSizeBytes(array.element_type());
  const uint64_t step = kWriteBytes / element_bytes;
  const size_t part_count = (array.element_count() + step - 1) / step;
  const absl::StatusOr<uint64_t> message_bytes = calls_.MessageBytes(budget_.Rest());
  if (!message_bytes.ok()) return message_bytes.status();
  const size_t first_part = parts_told_;
  parts_told_ += part_count;
  return RunParts(
      part_count, calls_.transport().part_connection_count(), budget_.is_cancelled(),
      [&](size_t part, size_t worker, const StopRequest& is_stopped) {
        const uint64_t first = part * step;
        const ArrayView elements(array.element_type(), array.bytes().data() + first * element_bytes,
                                 std::min(step, array.element_count() - first));
        absl::Status status = calls_.transport().TryPart(
            budget_.Rest(is_stopped), worker, [&](const auto& channel, const CallHead& head) {
              return WriteArrayOnce(channel, head, name, first, elements,
                                    *message_bytes / element_bytes);
            });
        if (status.ok()) progress_.Sent(first_part + part, elements.bytes().size());
        return status;
      });
}

}  // namespace gridfold::client
