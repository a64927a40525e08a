#include "server/stream_fold.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "kernels/invalid_field.h"

namespace gridfold::server {

void AddRun(const kernels::RunStatistics& run, kernels::RunStatistics& total) {
  total.strategy = run.strategy;
  total.cluster_size = run.cluster_size;
  total.bytes_read += run.bytes_read;
  total.stage_in_time += run.stage_in_time;
  total.kernel_time += run.kernel_time;
  total.stage_out_time += run.stage_out_time;
}

absl::Status InHeader(const absl::Status& status) {
  const std::string field = kernels::FieldOf(status);
  if (field.empty() || field == "data") return status;
  absl::Status prefixed(status.code(), absl::StrCat("request.", status.message()));
  prefixed.SetPayload(kernels::kFieldPayloadUrl, absl::Cord(absl::StrCat("request.", field)));
  return prefixed;
}

}  // namespace gridfold::server
