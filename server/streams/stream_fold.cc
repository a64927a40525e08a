#include "server/streams/stream_fold.h"

#include <algorithm>
#include <limits>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"

namespace gridfold::server {

StreamSizes SizesOf(const StreamArrays& arrays) {
  StreamSizes sizes;
  for (size_t i = 0; i < sizes.size(); ++i) sizes[i] = arrays[i].size_bytes();
  return sizes;
}

absl::Status UnexpectedArray(const char* field) {
  return kernels::InvalidField(field, "the request has no such array");
}

uint64_t ArraysBeside::ElementCount(const StreamSizes& sizes) const {
  uint64_t count = std::numeric_limits<uint64_t>::max();
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (element_bytes[i] != 0) count = std::min(count, sizes[i] / element_bytes[i]);
  }
  return count;
}

absl::Status ArraysBeside::CheckEnd(const StreamSizes& sizes, uint64_t folded) const {
  const auto count = [&](size_t i) { return folded + sizes[i] / element_bytes[i]; };
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (element_bytes[i] == 0) continue;
    if (sizes[i] % element_bytes[i] != 0) {
      return kernels::InvalidField(
          fields[i],
          absl::StrCat(folded * element_bytes[i] + sizes[i], " bytes are not a multiple of the ",
                       element_bytes[i], " bytes of one element"));
    }
    if (count(i) != count(0)) {
      return kernels::InvalidField(
          fields[i], absl::StrCat(count(i), " elements, where `", fields[0], "` has ", count(0)));
    }
  }
  return absl::OkStatus();
}

FirstElements::FirstElements(const StreamArrays& arrays, const StreamSizes& element_bytes,
                             uint64_t count) {
  for (size_t i = 0; i < slices.size(); ++i) {
    const uint64_t size_bytes = count * element_bytes[i];
    pieces[i] = arrays[i].First(size_bytes);
    slices[i] = {pieces[i], size_bytes};
  }
}

void RemoveElements(const StreamSizes& element_bytes, uint64_t count, StreamArrays& arrays) {
  for (size_t i = 0; i < arrays.size(); ++i) arrays[i].RemoveFirst(count * element_bytes[i]);
}

absl::Status InHeader(const absl::Status& status) {
  const std::string field = kernels::FieldOf(status);
  if (field.empty() || field == "data") return status;
  absl::Status prefixed(status.code(), absl::StrCat("request.", status.message()));
  prefixed.SetPayload(kernels::kFieldPayloadUrl, absl::Cord(absl::StrCat("request.", field)));
  if (kernels::IsAboveLimit(status)) prefixed.SetPayload(kernels::kLimitPayloadUrl, absl::Cord());
  return prefixed;
}

}  // namespace gridfold::server
