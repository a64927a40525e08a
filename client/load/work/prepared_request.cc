#include "client/load/work/prepared_request.h"

#include <algorithm>
#include <span>

#include "absl/strings/str_cat.h"
#include "client/library/batch_conversion.h"
#include "client/library/histogram_conversion.h"
#include "client/library/keyed_conversion.h"
#include "client/library/order_conversion.h"
#include "client/library/paired_conversion.h"
#include "client/library/reduction_conversion.h"
#include "client/library/scan_conversion.h"
#include "client/library/shared_conversion.h"
#include "client/library/wire_message.h"
#include "gridfold/v1/compute_service.pb.h"
#include "grpcpp/support/slice.h"

namespace gridfold::load {
namespace {

constexpr uint32_t kHeaderField = v1::ReduceStreamRequest::kRequestFieldNumber;
constexpr uint32_t kDataField = v1::ReduceStreamRequest::kDataFieldNumber;
constexpr uint32_t kYDataField = v1::HistogramStreamRequest::kYDataFieldNumber;
constexpr uint32_t kWeightsField = v1::HistogramStreamRequest::kWeightsFieldNumber;
static_assert(kDataField == v1::HistogramStreamRequest::kDataFieldNumber);
static_assert(kDataField == v1::ScanStreamRequest::kDataFieldNumber);
constexpr uint32_t kMaskField = v1::ReduceStreamRequest::kWhereFieldNumber;
static_assert(kMaskField == v1::ScanStreamRequest::kWhereFieldNumber);
constexpr uint32_t kHistogramMaskField = v1::HistogramStreamRequest::kWhereFieldNumber;
constexpr uint32_t kElementCountField = v1::ReduceStreamRequest::kElementCountFieldNumber;
static_assert(kElementCountField == v1::HistogramStreamRequest::kElementCountFieldNumber);
static_assert(kElementCountField == v1::ScanStreamRequest::kElementCountFieldNumber);
static_assert(kElementCountField == v1::ReduceByKeyStreamRequest::kElementCountFieldNumber);
static_assert(kHeaderField == v1::ReduceByKeyStreamRequest::kRequestFieldNumber);

// gRPC counts who uses the slices, so a buffer is sent any number of times without a copy.
grpc::ByteBuffer ToByteBuffer(const client::WireMessage& message) {
  std::vector<grpc::Slice> slices;
  for (const client::WireMessage::Piece& piece : message.pieces()) {
    slices.emplace_back(piece.bytes().data(), piece.bytes().size());
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}

// The operation, which is one that batches have, goes into the batch.
void AddOperation(const RequestKind& kind, const OperationInput& input, client::Batch& batch) {
  switch (kind.operation) {
    case OperationKind::kReduce:
      batch.ReduceArray(input.elements, ReductionOptionsOf(kind, input));
      break;
    case OperationKind::kScan: batch.ScanArray(input.elements, ScanOptionsOf(kind, input)); break;
    case OperationKind::kHistogram:
      batch.ComputeHistogram(input.elements, HistogramOptionsOf(kind, input));
      break;
    case OperationKind::kKeyedReduction:
      batch.ReduceByKey(*input.keys, input.elements, KeyedReductionOptionsOf(kind));
      break;
    case OperationKind::kQuantiles:
    case OperationKind::kTop:
    case OperationKind::kRelation: break;
  }
}

client::Batch BatchOf(const RequestKind& kind, const std::vector<OperationInput>& operations) {
  client::Batch batch;
  for (const OperationInput& operation : operations) AddOperation(kind, operation, batch);
  return batch;
}

// The request of one operation.
client::WireMessage ToWire(const RequestKind& kind, const OperationInput& input) {
  switch (kind.operation) {
    case OperationKind::kReduce:
      return client::ToWire(input.elements, ReductionOptionsOf(kind, input));
    case OperationKind::kScan: return client::ToWire(input.elements, ScanOptionsOf(kind, input));
    case OperationKind::kHistogram:
      return client::ToWire(input.elements, HistogramOptionsOf(kind, input));
    case OperationKind::kQuantiles:
      return client::ToWire(input.elements, QuantileOptionsOf(kind, input.segment_offsets));
    case OperationKind::kTop:
      return client::ToWire(input.elements, TopOptionsOf(kind, input.segment_offsets));
    case OperationKind::kKeyedReduction:
      return client::ToWire(*input.keys, input.elements, KeyedReductionOptionsOf(kind));
    case OperationKind::kRelation:
      return client::ToWire(input.elements, RelateOptionsOf(kind, input));
  }
  return {};
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

// A request about elements, and a mask where the kind has one, that the stream brings.
template <typename Request>
Request OfStream(const RequestKind& kind, Request request) {
  *request.mutable_array() =
      client::ToProto(client::StreamedArray{.element_type = kind.element_type,
                                            .column_count = kind.column_count,
                                            .row_shape = kind.row_shape});
  if (kind.where) {
    *request.mutable_where() =
        client::ToProto(client::StreamedArray{.element_type = client::ElementType::kBool});
  }
  return request;
}

client::WireMessage StreamHeader(const RequestKind& kind, const StreamedInput& input) {
  const uint64_t element_count =
      input.elements.size() / client::ElementSizeBytes(kind.element_type);
  OperationInput options = InputToRead(kind);
  options.segment_offsets = input.segment_offsets;
  switch (kind.operation) {
    case OperationKind::kReduce:
      return StreamHeader(OfStream(kind, client::ToProto(ReductionOptionsOf(kind, options))),
                          element_count);
    case OperationKind::kScan:
      return StreamHeader(OfStream(kind, client::ToProto(ScanOptionsOf(kind, options))),
                          element_count);
    case OperationKind::kHistogram: {
      auto request = OfStream(kind, client::ToProto(HistogramOptionsOf(kind, options)));
      if (!input.y_elements.empty()) *request.mutable_y_array() = request.array();
      if (!input.weights.empty()) *request.mutable_weights() = request.array();
      return StreamHeader(request, element_count);
    }
    case OperationKind::kKeyedReduction:
      return StreamHeader(
          client::ToStreamedProto(kind.key_type, kind.element_type, KeyedReductionOptionsOf(kind)),
          element_count);
    case OperationKind::kQuantiles:
    case OperationKind::kTop:
    case OperationKind::kRelation: break;  // Have no streams.
  }
  return {};
}

// An array of a stream, and the field of its messages that brings it.
struct StreamedArrayField {
  uint32_t field;
  const std::string& bytes;
  uint64_t element_bytes;
};

uint32_t MaskField(const RequestKind& kind) {
  return kind.operation == OperationKind::kHistogram ? kHistogramMaskField : kMaskField;
}

std::vector<StreamedArrayField> StreamedArraysOf(const RequestKind& kind,
                                                 const StreamedInput& input) {
  const uint64_t element_bytes = client::ElementSizeBytes(kind.element_type);
  if (HasKeys(kind)) {
    return {{v1::ReduceByKeyStreamRequest::kKeysFieldNumber, input.keys,
             client::ElementSizeBytes(kind.key_type)},
            {v1::ReduceByKeyStreamRequest::kValuesFieldNumber, input.elements, element_bytes}};
  }
  std::vector<StreamedArrayField> arrays = {{kDataField, input.elements, element_bytes}};
  if (HasYElements(kind)) arrays.push_back({kYDataField, input.y_elements, element_bytes});
  if (HasWeights(kind)) arrays.push_back({kWeightsField, input.weights, element_bytes});
  if (kind.where) arrays.push_back({MaskField(kind), input.mask, 1});
  return arrays;
}

const char* UnaryMethod(OperationKind operation) {
  switch (operation) {
    case OperationKind::kReduce: return "ReduceArray";
    case OperationKind::kScan: return "ScanArray";
    case OperationKind::kHistogram: return "ComputeHistogram";
    case OperationKind::kQuantiles: return "ComputeQuantiles";
    case OperationKind::kTop: return "SelectTop";
    case OperationKind::kKeyedReduction: return "ReduceByKey";
    case OperationKind::kRelation: return "RelateArrays";
  }
  return "";
}

const char* StreamMethod(OperationKind operation) {
  switch (operation) {
    case OperationKind::kReduce: return "ReduceStream";
    case OperationKind::kScan: return "ScanStream";
    case OperationKind::kHistogram: return "HistogramStream";
    case OperationKind::kKeyedReduction: return "ReduceByKeyStream";
    case OperationKind::kQuantiles:
    case OperationKind::kTop:
    case OperationKind::kRelation: break;
  }
  return "";
}

}  // namespace

client::Batch BatchToRead(const RequestKind& kind) {
  return BatchOf(kind, std::vector<OperationInput>(kind.batch_size, InputToRead(kind)));
}

void AddUnaryMessage(const std::vector<OperationInput>& operations, PreparedRequest& request) {
  const RequestKind& kind = request.kind;
  const char* const method = request.is_batch() ? "BatchCompute" : UnaryMethod(kind.operation);
  request.method = absl::StrCat("/gridfold.v1.ComputeService/", method);
  request.messages.push_back(ToByteBuffer(request.is_batch()
                                              ? client::ToWire(BatchOf(kind, operations))
                                              : ToWire(kind, operations.front())));
}

void AddStreamMessages(const StreamedInput& input, uint64_t chunk_bytes, PreparedRequest& request) {
  const RequestKind& kind = request.kind;
  request.method = absl::StrCat("/gridfold.v1.ComputeService/", StreamMethod(kind.operation));
  request.messages.push_back(ToByteBuffer(StreamHeader(kind, input)));
  const std::vector<StreamedArrayField> arrays = StreamedArraysOf(kind, input);
  const uint64_t element_bytes = client::ElementSizeBytes(kind.element_type);
  uint64_t widest_bytes = element_bytes;
  for (const StreamedArrayField& array : arrays) {
    widest_bytes = std::max(widest_bytes, array.element_bytes);
  }
  const uint64_t step_bytes = std::max<uint64_t>(1, chunk_bytes * element_bytes / widest_bytes);
  // Arrays beside each other come in step, for the server keeps what has come of one alone.
  for (uint64_t begin = 0; begin < input.elements.size(); begin += step_bytes) {
    const uint64_t end = std::min<uint64_t>(begin + step_bytes, input.elements.size());
    client::WireMessage chunk;
    for (const StreamedArrayField& array : arrays) {
      const uint64_t first = begin * array.element_bytes / element_bytes;
      const uint64_t last = end * array.element_bytes / element_bytes;
      chunk.AppendBytes(array.field,
                        std::as_bytes(std::span(array.bytes)).subspan(first, last - first));
    }
    request.messages.push_back(ToByteBuffer(chunk));
  }
}

}  // namespace gridfold::load
