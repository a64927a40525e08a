#include "server/planning/region_request_validation.h"

#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"
#include "server/base/identifier.h"
#include "server/regions/shared_mapping.h"

namespace gridfold::server {

namespace {

using kernels::InvalidField;

absl::Status ConvertIpc(const v1::CudaIpcMemory& memory, const Limits& limits, NewRegion& region) {
  kernels::IpcHandle handle;
  if (memory.handle().size() != handle.size()) {
    return InvalidField(
        "cuda_ipc.handle",
        absl::StrCat(memory.handle().size(), " bytes, where a handle has ", handle.size()));
  }
  if (memory.device() >= limits.engine_count) {
    return InvalidField("cuda_ipc.device",
                        absl::StrCat("this server has no device ", memory.device()));
  }
  std::memcpy(handle.data(), memory.handle().data(), handle.size());
  region.source = handle;
  region.device = memory.device();
  return absl::OkStatus();
}

absl::Status ConvertSource(const v1::RegisterRegionRequest& request, const Limits& limits,
                           NewRegion& region) {
  switch (request.source_case()) {
    case v1::RegisterRegionRequest::kPosixSharedMemory: {
      const std::string& name = request.posix_shared_memory().object_name();
      absl::Status status = ValidateObjectName(name, "posix_shared_memory.object_name");
      if (status.ok()) region.source = name;
      return status;
    }
    case v1::RegisterRegionRequest::kCudaIpc: return ConvertIpc(request.cuda_ipc(), limits, region);
    case v1::RegisterRegionRequest::SOURCE_NOT_SET: break;
  }
  return InvalidField("source", "no memory is given");
}

absl::Status ConvertOwner(uint32_t process_id, std::optional<OwnerProcess>& owner) {
  if (process_id == 0) return absl::OkStatus();
  owner = OwnerProcess::Find(process_id);
  if (owner) return absl::OkStatus();
  return InvalidField("owner_process_id", absl::StrCat("the server sees no process ", process_id));
}

}  // namespace

absl::StatusOr<PlannedRegistration> PlanRequest(const v1::RegisterRegionRequest& request,
                                                const PlanningContext& context) {
  if (absl::Status status = context.regions.CheckAllowed(); !status.ok()) return status;
  NewRegion region{.name = request.name(),
                   .size_bytes = request.size_bytes(),
                   .source = {},
                   .device = 0,
                   .idle_expiry = kArrayIdleExpiry,
                   .owner = {}};
  if (!region.name.empty()) {
    if (absl::Status status = ValidateArrayName(region.name, "name"); !status.ok()) return status;
  }
  if (region.size_bytes == 0) return InvalidField("size_bytes", "must be more than 0");
  if (absl::Status status = ConvertSource(request, context.limits, region); !status.ok()) {
    return status;
  }
  if (request.has_idle_expiry()) {
    const absl::StatusOr<std::chrono::nanoseconds> idle_expiry =
        ValidateIdleExpiry(request.idle_expiry(), "idle_expiry");
    if (!idle_expiry.ok()) return idle_expiry.status();
    region.idle_expiry = *idle_expiry;
  }
  if (absl::Status status = ConvertOwner(request.owner_process_id(), region.owner); !status.ok()) {
    return status;
  }
  if (absl::Status status = context.regions.CheckVacant(region.name); !status.ok()) return status;
  return PlannedRegistration{std::move(region), context.regions};
}

absl::StatusOr<PlannedPage> PlanRequest(const v1::ListRegionsRequest& request,
                                        const Limits& limits) {
  return PlanPage(request.page_size(), request.page_token(), limits);
}

}  // namespace gridfold::server
