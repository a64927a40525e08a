#include "gridfold/client.h"

#include <utility>

#include "absl/memory/memory.h"
#include "client/library/histogram_conversion.h"
#include "client/library/merge_conversion.h"
#include "client/library/reduction_conversion.h"
#include "client/library/scan_conversion.h"
#include "client/library/server_conversion.h"
#include "client/library/transport.h"

namespace gridfold::client {

Client::Client(std::unique_ptr<Transport> transport) : transport_(std::move(transport)) {}
Client::~Client() = default;

absl::StatusOr<std::unique_ptr<Client>> Client::Connect(const ClientOptions& options) {
  absl::StatusOr<std::unique_ptr<Transport>> transport = Transport::Connect(options);
  if (!transport.ok()) return transport.status();
  return absl::WrapUnique(new Client(*std::move(transport)));
}

absl::StatusOr<ReductionResult> Client::ReduceArray(const ArrayView& array,
                                                    const ReductionOptions& options,
                                                    const CallOptions& call_options) {
  v1::ReduceArrayResponse response;
  absl::Status status = transport_->Call("/gridfold.v1.ComputeService/ReduceArray",
                                         ToWire(array, options), call_options, response);
  if (!status.ok()) return status;
  return FromProto(response);
}

absl::StatusOr<ScanResult> Client::ScanArray(const ArrayView& array, const ScanOptions& options,
                                             const CallOptions& call_options) {
  v1::ScanArrayResponse response;
  absl::Status status = transport_->Call("/gridfold.v1.ComputeService/ScanArray",
                                         ToWire(array, options), call_options, response);
  if (!status.ok()) return status;
  return FromProto(std::move(response));
}

absl::StatusOr<HistogramResult> Client::ComputeHistogram(const ArrayView& array,
                                                         const HistogramOptions& options,
                                                         const CallOptions& call_options) {
  v1::ComputeHistogramResponse response;
  absl::Status status = transport_->Call("/gridfold.v1.ComputeService/ComputeHistogram",
                                         ToWire(array, options), call_options, response);
  if (!status.ok()) return status;
  return FromProto(response, options);
}

absl::StatusOr<MergeResult> Client::MergeAccumulators(std::span<const std::string> accumulators,
                                                      const MergeOptions& options,
                                                      const CallOptions& call_options) {
  v1::MergeAccumulatorsResponse response;
  absl::Status status = transport_->Call("/gridfold.v1.ComputeService/MergeAccumulators",
                                         ToWire(accumulators, options), call_options, response);
  if (!status.ok()) return status;
  return FromProto(std::move(response));
}

absl::StatusOr<ServerInfo> Client::GetServerInfo(const CallOptions& call_options) {
  v1::GetServerInfoResponse response;
  absl::Status status = transport_->Call("/gridfold.v1.ServerService/GetServerInfo", WireMessage(),
                                         call_options, response);
  if (!status.ok()) return status;
  return FromProto(response);
}

absl::StatusOr<ServerStatistics> Client::GetStatistics(const CallOptions& call_options) {
  v1::GetStatisticsResponse response;
  absl::Status status = transport_->Call("/gridfold.v1.ServerService/GetStatistics", WireMessage(),
                                         call_options, response);
  if (!status.ok()) return status;
  return FromProto(response);
}

absl::StatusOr<HealthStatus> Client::CheckHealth(const std::string& service,
                                                 const CallOptions& call_options) {
  google::protobuf::Empty response;
  absl::Status status = transport_->Call("/grpc.health.v1.Health/Check",
                                         ToHealthCheckRequest(service), call_options, response);
  if (!status.ok()) return status;
  return FromHealthCheckResponse(response);
}

}  // namespace gridfold::client
