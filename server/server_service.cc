#include "server/server_service.h"

#include "absl/status/status.h"
#include "server/exception_guard.h"
#include "server/proto_conversion.h"
#include "server/rpc_status.h"
#include "server/tenant.h"
#include "server/version.h"

namespace gridfold::server {

namespace {

grpc::ServerUnaryReactor* FinishWith(const absl::Status& status,
                                     grpc::CallbackServerContext& context) {
  grpc::ServerUnaryReactor* const reactor = context.DefaultReactor();
  reactor->Finish(ToGrpcStatus(status));
  return reactor;
}

}  // namespace

ServerService::ServerService(const std::vector<kernels::Engine*>& engines, const Limits& limits,
                             const Scheduler& scheduler, const ArrayStore& arrays,
                             const RegionStore* regions, const AccessTokens* tokens)
    : scheduler_(scheduler), arrays_(arrays), regions_(regions), tokens_(tokens) {
  info_.set_version(Version());
  info_.set_engine(engines.front()->name());
  for (const kernels::Engine* const engine : engines) {
    *info_.add_devices() = ToWire(engine->device());
  }
  *info_.mutable_limits() = ToWire(limits);
}

grpc::ServerUnaryReactor* ServerService::GetServerInfo(grpc::CallbackServerContext* context,
                                                       const v1::GetServerInfoRequest*,
                                                       v1::GetServerInfoResponse* response) {
  const absl::Status status =
      CatchExceptions([&] { return ReadCaller(*context, tokens_).status(); });
  if (status.ok()) *response = info_;
  return FinishWith(status, *context);
}

grpc::ServerUnaryReactor* ServerService::GetStatistics(grpc::CallbackServerContext* context,
                                                       const v1::GetStatisticsRequest*,
                                                       v1::GetStatisticsResponse* response) {
  const absl::Status status = CatchExceptions([&] { return CheckAdmin(*context, tokens_); });
  if (status.ok()) FillStatistics(*response);
  return FinishWith(status, *context);
}

void ServerService::FillStatistics(v1::GetStatisticsResponse& response) const {
  const SchedulerStatistics statistics = scheduler_.GetStatistics();
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
  const ArrayStoreStatistics arrays = arrays_.GetStatistics();
  response.set_resident_array_count(arrays.array_count);
  response.set_resident_bytes(arrays.taken_bytes);
  if (regions_ != nullptr) {
    const RegionStoreStatistics regions = regions_->GetStatistics();
    response.set_region_count(regions.region_count);
    response.set_region_bytes(regions.taken_bytes);
  }
}

}  // namespace gridfold::server
