#include "client/library/server_conversion.h"

#include "client/library/proto_time.h"
#include "google/protobuf/unknown_field_set.h"

namespace gridfold::client {
namespace {

constexpr int kHealthFieldNumber = 1;  // `service` of the request, `status` of the response.

}  // namespace

ServerInfo FromProto(const v1::GetServerInfoResponse& response) {
  ServerInfo info;
  info.version = response.version();
  info.engine = response.engine();
  for (const v1::Device& device : response.devices()) {
    info.devices.push_back({device.name(), device.memory_bytes(), device.compute_units(),
                            device.compute_capability(), device.uuid()});
  }
  const v1::ServerLimits& limits = response.limits();
  info.limits = {
      .message_bytes_max = limits.message_bytes_max(),
      .bin_count_max = limits.bin_count_max(),
      .group_count_max = limits.group_count_max(),
      .lane_count = limits.lane_count(),
      .queued_jobs_max = limits.queued_jobs_max(),
      .queued_bytes_max = limits.queued_bytes_max(),
      .resident_bytes_max = limits.resident_bytes_max(),
      .tenant_resident_bytes_max = limits.tenant_resident_bytes_max(),
      .array_count_max = limits.array_count_max(),
      .array_chunk_bytes_max = limits.array_chunk_bytes_max(),
      .region_count_max = limits.region_count_max(),
      .region_bytes_max = limits.region_bytes_max(),
      .stream_count_max = limits.stream_count_max(),
      .stream_pending_bytes_max = limits.stream_pending_bytes_max(),
      .batch_operations_max = limits.batch_operations_max(),
      .dealt_bytes_min = limits.dealt_bytes_min(),
  };
  return info;
}

ServerStatistics FromProto(const v1::GetStatisticsResponse& response) {
  return {
      .uptime = FromProto(response.uptime()),
      .jobs_accepted = response.jobs_accepted(),
      .jobs_refused = response.jobs_refused(),
      .jobs_succeeded = response.jobs_succeeded(),
      .jobs_failed = response.jobs_failed(),
      .jobs_cancelled = response.jobs_cancelled(),
      .bytes_processed = response.bytes_processed(),
      .jobs_queued = response.jobs_queued(),
      .bytes_queued = response.bytes_queued(),
      .lanes_busy = response.lanes_busy(),
      .lane_count = response.lane_count(),
      .resident_array_count = response.resident_array_count(),
      .resident_bytes = response.resident_bytes(),
      .region_count = response.region_count(),
      .region_bytes = response.region_bytes(),
  };
}

WireMessage ToHealthCheckRequest(const std::string& service) {
  google::protobuf::Empty request;
  if (!service.empty()) {
    request.GetReflection()->MutableUnknownFields(&request)->AddLengthDelimited(kHealthFieldNumber,
                                                                                service);
  }
  return WireMessage::Of(request);
}

HealthStatus FromHealthCheckResponse(const google::protobuf::Empty& response) {
  const google::protobuf::UnknownFieldSet& fields =
      response.GetReflection()->GetUnknownFields(response);
  HealthStatus status = HealthStatus::kUnknown;
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField& field = fields.field(i);
    if (field.number() != kHealthFieldNumber) continue;
    if (field.type() != google::protobuf::UnknownField::TYPE_VARINT || field.varint() > 3) continue;
    status = static_cast<HealthStatus>(field.varint());
  }
  return status;
}

}  // namespace gridfold::client
