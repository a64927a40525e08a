#include "gridfold/client.h"

#include <optional>
#include <utility>
#include <variant>

#include "absl/memory/memory.h"
#include "client/library/array_calls.h"
#include "client/library/array_conversion.h"
#include "client/library/batch_conversion.h"
#include "client/library/histogram_conversion.h"
#include "client/library/keyed_conversion.h"
#include "client/library/merge_conversion.h"
#include "client/library/message_sender.h"
#include "client/library/reduction_conversion.h"
#include "client/library/region_conversion.h"
#include "client/library/scan_conversion.h"
#include "client/library/server_conversion.h"
#include "client/library/shared_conversion.h"
#include "client/library/stream_call.h"
#include "client/library/transport.h"
#include "google/protobuf/arena.h"

namespace gridfold::client {

Client::Client(std::unique_ptr<Transport> transport)
    : transport_(std::move(transport)),
      array_calls_(std::make_unique<ArrayCalls>(*this, *transport_)) {}
Client::~Client() = default;

absl::StatusOr<std::unique_ptr<Client>> Client::Connect(const ClientOptions& options) {
  absl::StatusOr<std::unique_ptr<Transport>> transport = Transport::Connect(options);
  if (!transport.ok()) return transport.status();
  return absl::WrapUnique(new Client(*std::move(transport)));
}

absl::StatusOr<ReductionResult> Client::ReduceArray(const ArrayInput& array,
                                                    const ReductionOptions& options,
                                                    const CallOptions& call_options) {
  const auto* const view = std::get_if<ArrayView>(&array.source());
  return view == nullptr ? ReduceOnce(*transport_, array, options, call_options)
                         : array_calls_->ReduceArray(*view, options, call_options);
}

absl::StatusOr<ScanResult> Client::ScanArray(const ArrayInput& array, const ScanOptions& options,
                                             const CallOptions& call_options) {
  const auto* const view = std::get_if<ArrayView>(&array.source());
  return view == nullptr ? ScanOnce(*transport_, array, options, call_options)
                         : array_calls_->ScanArray(*view, options, call_options);
}

absl::StatusOr<HistogramResult> Client::ComputeHistogram(const ArrayInput& array,
                                                         const HistogramOptions& options,
                                                         const CallOptions& call_options) {
  const auto* const view = std::get_if<ArrayView>(&array.source());
  return view == nullptr ? CountOnce(*transport_, array, options, call_options)
                         : array_calls_->ComputeHistogram(*view, options, call_options);
}

absl::StatusOr<KeyedReductionResult> Client::ReduceByKey(const ArrayInput& keys,
                                                         const ArrayInput& values,
                                                         const KeyedReductionOptions& options,
                                                         const CallOptions& call_options) {
  return array_calls_->ReduceByKey(keys, values, options, call_options);
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

absl::StatusOr<MergeResult> Client::SubtractAccumulators(const std::string& minuend,
                                                         std::span<const std::string> subtrahends,
                                                         const SubtractOptions& options,
                                                         const CallOptions& call_options) {
  v1::SubtractAccumulatorsResponse response;
  absl::Status status =
      transport_->Call("/gridfold.v1.ComputeService/SubtractAccumulators",
                       ToWire(minuend, subtrahends, options), call_options, response);
  if (!status.ok()) return status;
  return FromProto(std::move(*response.mutable_remainder()));
}

absl::StatusOr<std::unique_ptr<ReductionStream>> Client::OpenReductionStream(
    const StreamedArray& array, const ReductionOptions& options, const CallOptions& call_options) {
  const absl::StatusOr<uint64_t> message_bytes = array_calls_->MessageBytes(call_options);
  if (!message_bytes.ok()) return message_bytes.status();
  if (options.where) {
    return absl::InvalidArgumentError("where: a stream's mask is sent beside its elements");
  }
  v1::ReduceArrayRequest header = ToProto(options);
  *header.mutable_array() = ToProto(array);
  if (array.has_mask) *header.mutable_where() = ToProto(StreamedArray{ElementType::kBool});
  return absl::WrapUnique(new ReductionStream(std::make_unique<MessageSender>(
      transport_->Open("/gridfold.v1.ComputeService/ReduceStream", call_options), header,
      *message_bytes, ElementSizeBytes(array.element_type))));
}

absl::StatusOr<std::unique_ptr<HistogramStream>> Client::OpenHistogramStream(
    ElementType sample_type, const HistogramOptions& options, const StreamedCompanions& companions,
    const CallOptions& call_options) {
  const absl::StatusOr<uint64_t> message_bytes = array_calls_->MessageBytes(call_options);
  if (!message_bytes.ok()) return message_bytes.status();
  if (options.where) {
    return absl::InvalidArgumentError("where: a stream's mask is sent beside its samples");
  }
  v1::ComputeHistogramRequest header = ToProto(options);
  *header.mutable_array() = ToProto(StreamedArray{sample_type});
  HistogramOptions asked = options;
  asked.y_array.reset();
  asked.weights.reset();
  if (companions.mask) *header.mutable_where() = ToProto(StreamedArray{ElementType::kBool});
  // The answer is checked against what was asked for.
  if (companions.y_array) {
    *header.mutable_y_array() = ToProto(StreamedArray{sample_type});
    asked.y_array = ArrayView(sample_type, nullptr, 0);
  }
  if (companions.weights) {
    *header.mutable_weights() = ToProto(StreamedArray{*companions.weights});
    asked.weights = ArrayView(*companions.weights, nullptr, 0);
  }
  return absl::WrapUnique(new HistogramStream(
      std::make_unique<MessageSender>(
          transport_->Open("/gridfold.v1.ComputeService/HistogramStream", call_options), header,
          *message_bytes, ElementSizeBytes(sample_type)),
      std::move(asked)));
}

absl::StatusOr<std::unique_ptr<KeyedReductionStream>> Client::OpenKeyedReductionStream(
    ElementType key_type, ElementType value_type, const KeyedReductionOptions& options,
    const CallOptions& call_options) {
  const absl::StatusOr<uint64_t> message_bytes = array_calls_->MessageBytes(call_options);
  if (!message_bytes.ok()) return message_bytes.status();
  return absl::WrapUnique(new KeyedReductionStream(std::make_unique<MessageSender>(
      transport_->Open("/gridfold.v1.ComputeService/ReduceByKeyStream", call_options),
      ToStreamedProto(key_type, value_type, options), *message_bytes, ElementSizeBytes(key_type))));
}

absl::StatusOr<std::unique_ptr<ScanStream>> Client::OpenScanStream(
    const StreamedArray& array, const ScanOptions& options, const CallOptions& call_options) {
  const absl::StatusOr<uint64_t> message_bytes = array_calls_->MessageBytes(call_options);
  if (!message_bytes.ok()) return message_bytes.status();
  if (options.where) {
    return absl::InvalidArgumentError("where: a stream's mask is sent beside its elements");
  }
  v1::ScanArrayRequest header = ToProto(options);
  *header.mutable_array() = ToProto(array);
  if (array.has_mask) *header.mutable_where() = ToProto(StreamedArray{ElementType::kBool});
  return absl::WrapUnique(new ScanStream(std::make_unique<MessageSender>(
      transport_->Open("/gridfold.v1.ComputeService/ScanStream", call_options), header,
      *message_bytes, ElementSizeBytes(array.element_type))));
}

absl::StatusOr<BatchResult> Client::BatchCompute(const Batch& batch,
                                                 const CallOptions& call_options) {
  google::protobuf::Arena arena;
  auto& response = *google::protobuf::Arena::CreateMessage<v1::BatchComputeResponse>(&arena);
  absl::Status status = transport_->Call(
      "/gridfold.v1.ComputeService/BatchCompute", ToWire(batch), call_options, response,
      IsRepeatable(batch) ? Transport::Repeatable::kYes : Transport::Repeatable::kNo);
  if (!status.ok()) return status;
  return FromProto(response, batch);
}

absl::StatusOr<ArrayDescription> Client::CreateArray(const NewArray& array,
                                                     const CallOptions& call_options) {
  if (array.idle_expiry == absl::InfiniteDuration()) {
    return absl::InvalidArgumentError("idle_expiry: must be finite");
  }
  v1::CreateArrayResponse response;
  absl::Status status = transport_->Call("/gridfold.v1.ArrayService/CreateArray", ToWire(array),
                                         call_options, response, Transport::Repeatable::kNo);
  if (!status.ok()) return status;
  return FromProto(response.array());
}

absl::Status Client::WriteArray(const std::string& name, uint64_t first_element,
                                const ArrayView& elements, const CallOptions& call_options) {
  const size_t element_bytes = ElementSizeBytes(elements.element_type());
  if (element_bytes == 0) return absl::InvalidArgumentError("elements: of no element type");
  const absl::StatusOr<uint64_t> message_bytes = array_calls_->MessageBytes(call_options);
  if (!message_bytes.ok()) return message_bytes.status();
  return transport_->Try(call_options,
                         [&](const std::shared_ptr<grpc::Channel>& channel, const CallHead& head) {
                           return WriteArrayOnce(channel, head, name, first_element, elements,
                                                 *message_bytes / element_bytes);
                         });
}

absl::StatusOr<ArrayData> Client::ReadArray(const ResidentArray& array,
                                            const CallOptions& call_options) {
  absl::StatusOr<ArrayData> result;
  absl::Status status = transport_->Try(
      call_options, [&](const std::shared_ptr<grpc::Channel>& channel, const CallHead& head) {
        ArrayReader reader(array);
        absl::Status read = ReadArrayOnce(
            channel, head, array, [&](const v1::ReadArrayResponse& message, const BulkBytes& data) {
              return reader.Add(message, data);
            });
        if (!read.ok()) return read;
        result = std::move(reader).Finish();
        return result.status();
      });
  if (!status.ok()) return status;
  return result;
}

absl::StatusOr<ArrayDescription> Client::GetArray(const std::string& name,
                                                  const CallOptions& call_options) {
  v1::GetArrayRequest request;
  request.set_name(name);
  v1::GetArrayResponse response;
  absl::Status status = transport_->Call("/gridfold.v1.ArrayService/GetArray",
                                         WireMessage::Of(request), call_options, response);
  if (!status.ok()) return status;
  return FromProto(response.array());
}

absl::StatusOr<std::vector<ArrayDescription>> Client::ListArrays(const CallOptions& call_options) {
  std::vector<ArrayDescription> arrays;
  v1::ListArraysRequest request;
  do {
    v1::ListArraysResponse response;
    absl::Status status = transport_->Call("/gridfold.v1.ArrayService/ListArrays",
                                           WireMessage::Of(request), call_options, response);
    if (!status.ok()) return status;
    for (const v1::ArrayDescription& description : response.arrays()) {
      absl::StatusOr<ArrayDescription> array = FromProto(description);
      if (!array.ok()) return array.status();
      arrays.push_back(*std::move(array));
    }
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  return arrays;
}

absl::Status Client::DeleteArray(const std::string& name, const CallOptions& call_options) {
  v1::DeleteArrayRequest request;
  request.set_name(name);
  v1::DeleteArrayResponse response;
  return transport_->Call("/gridfold.v1.ArrayService/DeleteArray", WireMessage::Of(request),
                          call_options, response, Transport::Repeatable::kNo);
}

absl::StatusOr<RegionDescription> Client::RegisterRegion(const NewRegion& region,
                                                         const CallOptions& call_options) {
  if (region.idle_expiry == absl::InfiniteDuration()) {
    return absl::InvalidArgumentError("idle_expiry: must be finite");
  }
  v1::RegisterRegionResponse response;
  absl::Status status =
      transport_->Call("/gridfold.v1.RegionService/RegisterRegion", ToWire(region), call_options,
                       response, Transport::Repeatable::kNo);
  if (!status.ok()) return status;
  return FromProto(response.region());
}

absl::Status Client::UnregisterRegion(const std::string& name, const CallOptions& call_options) {
  v1::UnregisterRegionRequest request;
  request.set_name(name);
  v1::UnregisterRegionResponse response;
  return transport_->Call("/gridfold.v1.RegionService/UnregisterRegion", WireMessage::Of(request),
                          call_options, response, Transport::Repeatable::kNo);
}

absl::StatusOr<std::vector<RegionDescription>> Client::ListRegions(
    const CallOptions& call_options) {
  std::vector<RegionDescription> regions;
  v1::ListRegionsRequest request;
  do {
    v1::ListRegionsResponse response;
    absl::Status status = transport_->Call("/gridfold.v1.RegionService/ListRegions",
                                           WireMessage::Of(request), call_options, response);
    if (!status.ok()) return status;
    for (const v1::RegionDescription& region : response.regions()) {
      regions.push_back(FromProto(region));
    }
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  return regions;
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
