#include "server/services/region_service.h"

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/identifier.h"
#include "server/calls/immediate_call.h"
#include "server/compute/unary_call.h"
#include "server/planning/region_request_validation.h"
#include "server/wire/description_conversion.h"

namespace gridfold::server {

namespace {

absl::Status FillPage(const PlannedPage& planned, const TenantRegions& regions,
                      v1::ListRegionsResponse& response) {
  const absl::StatusOr<RegionPage> page = regions.List(planned.after, planned.count_max);
  if (!page.ok()) return page.status();
  for (const RegionInfo& region : page->regions) *response.add_regions() = ToWire(region);
  if (!page->is_last) response.set_next_page_token(page->regions.back().name);
  return absl::OkStatus();
}

}  // namespace

// A call deletes itself when gRPC is done with it.

grpc::ServerUnaryReactor* RegionService::RegisterRegion(grpc::CallbackServerContext* context,
                                                        const grpc::ByteBuffer* request,
                                                        grpc::ByteBuffer* response) {
  using Call =
      UnaryCall<v1::RegisterRegionRequest, PlannedRegistration, v1::RegisterRegionResponse>;
  return (new Call(environment_, Rpc::kRegisterRegion, *context, *request, *response))->Start();
}

grpc::ServerUnaryReactor* RegionService::UnregisterRegion(grpc::CallbackServerContext* context,
                                                          const grpc::ByteBuffer* request,
                                                          grpc::ByteBuffer* response) {
  return AnswerAtOnce<v1::UnregisterRegionRequest, v1::UnregisterRegionResponse>(
      environment_, Rpc::kUnregisterRegion, *context, *request, *response,
      [](const v1::UnregisterRegionRequest& message, const TenantStores& stores,
         v1::UnregisterRegionResponse&) -> absl::Status {
        if (absl::Status status = stores.regions.CheckAllowed(); !status.ok()) return status;
        absl::Status status = ValidateArrayName(message.name(), "name");
        return status.ok() ? stores.regions.Remove(message.name()) : status;
      });
}

grpc::ServerUnaryReactor* RegionService::ListRegions(grpc::CallbackServerContext* context,
                                                     const grpc::ByteBuffer* request,
                                                     grpc::ByteBuffer* response) {
  return AnswerAtOnce<v1::ListRegionsRequest, v1::ListRegionsResponse>(
      environment_, Rpc::kListRegions, *context, *request, *response,
      [this](const v1::ListRegionsRequest& message, const TenantStores& stores,
             v1::ListRegionsResponse& answer) -> absl::Status {
        if (absl::Status status = stores.regions.CheckAllowed(); !status.ok()) return status;
        const absl::StatusOr<PlannedPage> planned = PlanRequest(message, environment_.limits);
        if (!planned.ok()) return planned.status();
        return FillPage(*planned, stores.regions, answer);
      });
}

}  // namespace gridfold::server
