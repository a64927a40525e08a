#include "client/load/work/prepared_request.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "client/library/histogram_conversion.h"
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
static_assert(kDataField == v1::HistogramStreamRequest::kDataFieldNumber);
static_assert(kDataField == v1::ScanStreamRequest::kDataFieldNumber);

// gRPC counts who uses the slices, so a buffer is sent any number of times without a copy.
grpc::ByteBuffer ToByteBuffer(const client::WireMessage& message) {
  std::vector<grpc::Slice> slices;
  for (const client::WireMessage::Piece& piece : message.pieces()) {
    slices.emplace_back(piece.bytes().data(), piece.bytes().size());
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}

client::Grouping GroupingOf(const RequestKind& kind) {
  switch (kind.group_by) {
    case GroupBy::kRows: return client::Axis{1};
    case GroupBy::kColumns: return client::Axis{0};
    case GroupBy::kAll: break;
  }
  return client::WholeArray{};
}

client::ReductionOptions ReductionOptionsOf(const RequestKind& kind) {
  return {.statistics = kind.statistics, .grouping = GroupingOf(kind)};
}

client::ScanOptions ScanOptionsOf(const RequestKind& kind) {
  return {.operation = kind.scan_operation, .mode = kind.scan_mode, .grouping = GroupingOf(kind)};
}

client::WireMessage ToWire(const RequestKind& kind, const client::ArrayInput& array) {
  switch (kind.operation) {
    case OperationKind::kReduce: return client::ToWire(array, ReductionOptionsOf(kind));
    case OperationKind::kScan: return client::ToWire(array, ScanOptionsOf(kind));
    case OperationKind::kHistogram: return client::ToWire(array, HistogramOptionsOf(kind));
  }
  return {};
}

template <typename Request>
client::WireMessage StreamHeader(const RequestKind& kind, Request request) {
  *request.mutable_array() = client::ToProto(
      client::StreamedArray{.element_type = kind.element_type, .column_count = kind.column_count});
  client::WireMessage header;
  header.AppendMessage(kHeaderField, client::WireMessage::Of(request));
  return header;
}

client::WireMessage StreamHeader(const RequestKind& kind) {
  switch (kind.operation) {
    case OperationKind::kReduce:
      return StreamHeader(kind, client::ToProto(ReductionOptionsOf(kind)));
    case OperationKind::kScan: return StreamHeader(kind, client::ToProto(ScanOptionsOf(kind)));
    case OperationKind::kHistogram:
      return StreamHeader(kind, client::ToProto(HistogramOptionsOf(kind)));
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

client::HistogramOptions HistogramOptionsOf(const RequestKind& kind) {
  return {.bins = {BinsOf(kind)}};
}

void AddUnaryMessage(const client::ArrayInput& array, PreparedRequest& request) {
  request.method =
      absl::StrCat("/gridfold.v1.ComputeService/", UnaryMethod(request.kind.operation));
  request.messages.push_back(ToByteBuffer(ToWire(request.kind, array)));
}

void AddStreamMessages(const std::string& elements, uint64_t chunk_bytes,
                       PreparedRequest& request) {
  request.method =
      absl::StrCat("/gridfold.v1.ComputeService/", StreamMethod(request.kind.operation));
  request.messages.push_back(ToByteBuffer(StreamHeader(request.kind)));
  const auto bytes = std::as_bytes(std::span(elements));
  for (uint64_t begin = 0; begin < bytes.size(); begin += chunk_bytes) {
    client::WireMessage chunk;
    chunk.AppendBytes(kDataField,
                      bytes.subspan(begin, std::min<uint64_t>(chunk_bytes, bytes.size() - begin)));
    request.messages.push_back(ToByteBuffer(chunk));
  }
}

}  // namespace gridfold::load
