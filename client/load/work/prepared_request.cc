#include "client/load/work/prepared_request.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "client/library/batch_conversion.h"
#include "client/library/histogram_conversion.h"
#include "client/library/reduction_conversion.h"
#include "client/library/scan_conversion.h"
#include "client/library/shared_conversion.h"
#include "client/library/wire_message.h"
#include "gridfold/v1/compute_service.pb.h"
#include "grpcpp/support/slice.h"

namespace gridfold::load {
namespace {

// Of an array for results, should nobody delete it: its call was given up, say.
constexpr absl::Duration kResultExpiry = absl::Minutes(1);

constexpr uint32_t kHeaderField = v1::ReduceStreamRequest::kRequestFieldNumber;
constexpr uint32_t kDataField = v1::ReduceStreamRequest::kDataFieldNumber;
constexpr uint32_t kYDataField = v1::HistogramStreamRequest::kYDataFieldNumber;
constexpr uint32_t kWeightsField = v1::HistogramStreamRequest::kWeightsFieldNumber;
static_assert(kDataField == v1::HistogramStreamRequest::kDataFieldNumber);
static_assert(kDataField == v1::ScanStreamRequest::kDataFieldNumber);
constexpr uint32_t kElementCountField = v1::ReduceStreamRequest::kElementCountFieldNumber;
static_assert(kElementCountField == v1::HistogramStreamRequest::kElementCountFieldNumber);
static_assert(kElementCountField == v1::ScanStreamRequest::kElementCountFieldNumber);

// gRPC counts who uses the slices, so a buffer is sent any number of times without a copy.
grpc::ByteBuffer ToByteBuffer(const client::WireMessage& message) {
  std::vector<grpc::Slice> slices;
  for (const client::WireMessage::Piece& piece : message.pieces()) {
    slices.emplace_back(piece.bytes().data(), piece.bytes().size());
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}

client::Grouping GroupingOf(const RequestKind& kind, const std::vector<uint64_t>& offsets) {
  switch (kind.group_by) {
    case GroupBy::kRows: return client::Axis{1};
    case GroupBy::kColumns: return client::Axis{0};
    case GroupBy::kSegments: return client::Segments{offsets};
    case GroupBy::kAll: break;
  }
  return client::WholeArray{};
}

client::ReductionOptions ReductionOptionsOf(const RequestKind& kind,
                                            const std::vector<uint64_t>& offsets) {
  return {.statistics = kind.statistics, .grouping = GroupingOf(kind, offsets)};
}

// A place in shared memory is not known before the call.
client::ScanDestination DestinationOf(const RequestKind& kind) {
  if (kind.destination == ResultDestination::kResident) {
    return client::ResidentDestination{.idle_expiry = kResultExpiry};
  }
  return client::InlineDestination{};
}

client::ScanOptions ScanOptionsOf(const RequestKind& kind, const std::vector<uint64_t>& offsets) {
  return {.operation = kind.scan_operation,
          .mode = kind.scan_mode,
          .grouping = GroupingOf(kind, offsets),
          .destination = DestinationOf(kind)};
}

client::HistogramOptions HistogramOptionsOf(const RequestKind& kind,
                                            std::optional<client::ArrayInput> y_elements,
                                            std::optional<client::ArrayInput> weights) {
  return {.bins = BinsOf(kind), .y_array = std::move(y_elements), .weights = std::move(weights)};
}

void AddOperation(const RequestKind& kind, const OperationInput& input, client::Batch& batch) {
  switch (kind.operation) {
    case OperationKind::kReduce:
      batch.ReduceArray(input.elements, ReductionOptionsOf(kind, input.segment_offsets));
      break;
    case OperationKind::kScan:
      batch.ScanArray(input.elements, ScanOptionsOf(kind, input.segment_offsets));
      break;
    case OperationKind::kHistogram:
      batch.ComputeHistogram(input.elements,
                             HistogramOptionsOf(kind, input.y_elements, input.weights));
      break;
  }
}

client::Batch BatchOf(const RequestKind& kind, const std::vector<OperationInput>& operations) {
  client::Batch batch;
  for (const OperationInput& operation : operations) AddOperation(kind, operation, batch);
  return batch;
}

// The first message of a stream of any operation.
client::WireMessage StreamHeader(const google::protobuf::MessageLite& request,
                                 uint64_t element_count) {
  v1::ReduceStreamRequest fields;
  fields.set_element_count(element_count);
  client::WireMessage header = client::WireMessage::Of(fields);
  header.AppendMessage(kHeaderField, client::WireMessage::Of(request));
  return header;
}

client::WireMessage StreamHeader(const RequestKind& kind, const StreamedInput& input) {
  const v1::ArraySource array = client::ToProto(
      client::StreamedArray{.element_type = kind.element_type, .column_count = kind.column_count});
  const uint64_t element_count =
      input.elements.size() / client::ElementSizeBytes(kind.element_type);
  switch (kind.operation) {
    case OperationKind::kReduce: {
      auto request = client::ToProto(ReductionOptionsOf(kind, input.segment_offsets));
      *request.mutable_array() = array;
      return StreamHeader(request, element_count);
    }
    case OperationKind::kScan: {
      auto request = client::ToProto(ScanOptionsOf(kind, input.segment_offsets));
      *request.mutable_array() = array;
      return StreamHeader(request, element_count);
    }
    case OperationKind::kHistogram: {
      auto request = client::ToProto(HistogramOptionsToRead(kind));
      *request.mutable_array() = array;
      if (!input.y_elements.empty()) *request.mutable_y_array() = array;
      if (!input.weights.empty()) *request.mutable_weights() = array;
      return StreamHeader(request, element_count);
    }
  }
  return {};
}

const char* UnaryMethod(OperationKind operation) {
  switch (operation) {
    case OperationKind::kReduce: return "ReduceArray";
    case OperationKind::kScan: return "ScanArray";
    case OperationKind::kHistogram: return "ComputeHistogram";
  }
  return "";
}

const char* StreamMethod(OperationKind operation) {
  switch (operation) {
    case OperationKind::kReduce: return "ReduceStream";
    case OperationKind::kScan: return "ScanStream";
    case OperationKind::kHistogram: return "HistogramStream";
  }
  return "";
}

}  // namespace

client::HistogramOptions HistogramOptionsToRead(const RequestKind& kind) {
  std::optional<client::ArrayInput> y_elements;
  std::optional<client::ArrayInput> weights;
  if (kind.y_bin_count > 0) y_elements.emplace(client::ResidentArray{});
  if (kind.is_weighted) weights.emplace(client::ResidentArray{});
  return HistogramOptionsOf(kind, std::move(y_elements), std::move(weights));
}

client::Batch BatchToRead(const RequestKind& kind) {
  OperationInput input{.elements = client::ResidentArray{}};
  if (kind.y_bin_count > 0) input.y_elements.emplace(client::ResidentArray{});
  if (kind.is_weighted) input.weights.emplace(client::ResidentArray{});
  return BatchOf(kind, std::vector<OperationInput>(kind.batch_size, input));
}

void AddUnaryMessage(const std::vector<OperationInput>& operations, PreparedRequest& request) {
  const client::Batch batch = BatchOf(request.kind, operations);
  const char* const method =
      request.is_batch() ? "BatchCompute" : UnaryMethod(request.kind.operation);
  request.method = absl::StrCat("/gridfold.v1.ComputeService/", method);
  request.messages.push_back(ToByteBuffer(
      request.is_batch() ? client::ToWire(batch) : client::ToWire(batch.operations().front())));
}

void AddStreamMessages(const StreamedInput& input, uint64_t chunk_bytes, PreparedRequest& request) {
  request.method =
      absl::StrCat("/gridfold.v1.ComputeService/", StreamMethod(request.kind.operation));
  request.messages.push_back(ToByteBuffer(StreamHeader(request.kind, input)));
  // Arrays beside each other come in step, for the server keeps what has come of one alone.
  for (uint64_t begin = 0; begin < input.elements.size(); begin += chunk_bytes) {
    client::WireMessage chunk;
    for (const auto& [field, array] :
         {std::pair(kDataField, &input.elements), std::pair(kYDataField, &input.y_elements),
          std::pair(kWeightsField, &input.weights)}) {
      if (array->empty()) continue;
      chunk.AppendBytes(
          field, std::as_bytes(std::span(*array))
                     .subspan(begin, std::min<uint64_t>(chunk_bytes, array->size() - begin)));
    }
    request.messages.push_back(ToByteBuffer(chunk));
  }
}

}  // namespace gridfold::load
