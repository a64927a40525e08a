#include "server/services/server_service.h"

#include <memory>

#include "absl/status/status.h"
#include "server/base/exception_guard.h"
#include "server/base/version.h"
#include "server/calls/immediate_call.h"
#include "server/calls/rpc_report.h"
#include "server/calls/tenant.h"
#include "server/process/audit_log.h"
#include "server/wire/description_conversion.h"

namespace gridfold::server {

namespace {

using ReadCallerFunction = decltype(ReadAdmin);

// Answers a caller that `read` admits with what `fill` makes of `response`, and notes it in the
// audit log.
template <class Response, class Fill>
grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext& context, CallEnvironment& environment,
                                 const char* rpc, ReadCallerFunction& read, Response& response,
                                 const Fill& fill) {
  const auto begin = std::chrono::steady_clock::now();
  const std::shared_ptr<AuditNotes> notes =
      environment.audit == nullptr ? nullptr : NewAuditNotes(context);
  auto* const reactor = new ImmediateReactor(environment, context);
  const absl::Status status = CatchExceptions([&]() -> absl::Status {
    const absl::StatusOr<Caller> caller = read(context, environment.tokens, rpc, notes.get());
    if (!caller.ok()) return caller.status();
    fill(response);
    return reactor->TakeRoom(caller->tenant, response.ByteSizeLong());
  });
  if (notes != nullptr) {
    environment.audit->Record(*notes,
                              {.rpc = rpc,
                               .id = environment.next_call_id++,
                               .duration = std::chrono::steady_clock::now() - begin},
                              status);
  }
  reactor->FinishWith(status);
  return reactor;
}

}  // namespace

ServerService::ServerService(const std::vector<kernels::Engine*>& engines,
                             CallEnvironment& environment)
    : environment_(environment) {
  info_.set_version(Version());
  info_.set_engine(engines.front()->name());
  for (const kernels::Engine* const engine : engines) {
    *info_.add_devices() = ToWire(engine->device());
  }
  *info_.mutable_limits() = ToWire(environment.limits);
}

grpc::ServerUnaryReactor* ServerService::GetServerInfo(grpc::CallbackServerContext* context,
                                                       const v1::GetServerInfoRequest*,
                                                       v1::GetServerInfoResponse* response) {
  return Answer(*context, environment_, "GetServerInfo", ReadCaller, *response,
                [this](v1::GetServerInfoResponse& answer) { answer = info_; });
}

grpc::ServerUnaryReactor* ServerService::GetStatistics(grpc::CallbackServerContext* context,
                                                       const v1::GetStatisticsRequest*,
                                                       v1::GetStatisticsResponse* response) {
  return Answer(*context, environment_, "GetStatistics", ReadAdmin, *response,
                [this](v1::GetStatisticsResponse& answer) { FillStatistics(answer); });
}

void ServerService::FillStatistics(v1::GetStatisticsResponse& response) const {
  const SchedulerStatistics statistics = environment_.scheduler.GetStatistics();
  *response.mutable_uptime() = ToWire(std::chrono::steady_clock::now() - started_at_);
  response.set_jobs_accepted(statistics.accepted);
  response.set_jobs_refused(statistics.refused.by_queue());
  response.set_jobs_succeeded(statistics.succeeded);
  response.set_jobs_failed(statistics.failed);
  response.set_jobs_cancelled(statistics.cancelled.total());
  response.set_bytes_processed(statistics.bytes_processed);
  response.set_jobs_queued(statistics.queued);
  response.set_bytes_queued(statistics.queued_bytes);
  response.set_lanes_busy(statistics.lanes_busy);
  response.set_lane_count(statistics.lane_count);
  const ArrayStoreStatistics arrays = environment_.arrays.GetStatistics();
  response.set_resident_array_count(arrays.array_count);
  response.set_resident_bytes(arrays.taken_bytes);
  if (environment_.regions != nullptr) {
    const RegionStoreStatistics regions = environment_.regions->GetStatistics();
    response.set_region_count(regions.region_count);
    response.set_region_bytes(regions.taken_bytes);
  }
}

}  // namespace gridfold::server
