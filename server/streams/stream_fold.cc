#include "server/streams/stream_fold.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"

namespace gridfold::server {

StreamSizes SizesOf(const StreamArrays& arrays) {
  StreamSizes sizes;
  for (size_t i = 0; i < sizes.size(); ++i) sizes[i] = arrays[i].size_bytes();
  return sizes;
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
