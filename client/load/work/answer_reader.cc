#include "client/load/work/answer_reader.h"

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <variant>

#include "client/library/batch_conversion.h"
#include "client/library/histogram_conversion.h"
#include "client/library/keyed_conversion.h"
#include "client/library/order_conversion.h"
#include "client/library/paired_conversion.h"
#include "client/library/reduction_conversion.h"
#include "client/library/scan_conversion.h"
#include "client/library/shared_conversion.h"
#include "client/library/unary_call.h"
#include "gridfold/v1/array_service.pb.h"
#include "gridfold/v1/compute_service.pb.h"

namespace gridfold::load {
namespace {

// What is known of a result.
template <typename Result>
struct KnownType;
template <>
struct KnownType<client::ReductionResult> : std::type_identity<KnownReduction> {};
template <>
struct KnownType<client::HistogramResult> : std::type_identity<KnownHistogram> {};
template <>
struct KnownType<client::QuantileResult> : std::type_identity<KnownQuantiles> {};
template <>
struct KnownType<client::TopResult> : std::type_identity<KnownTop> {};
template <>
struct KnownType<client::KeyedReductionResult> : std::type_identity<KnownKeyedReduction> {};
template <>
struct KnownType<client::RelateResult> : std::type_identity<KnownRelation> {};

template <typename Result>
using KnownOf = typename KnownType<Result>::type;

}  // namespace

AnswerReader::AnswerReader(const PreparedRequest& request, bool verify, const ResultPlace* place)
    : request_(request), verify_(verify && (place == nullptr || place->is_settled)), place_(place) {
  if (!verify_ || place_ == nullptr) return;
  const std::string& results = std::get<KnownScan>(*request_.known.front()).data;
  std::transform(results.begin(), results.end(), place_->bytes.begin(),
                 [](char byte) { return ~std::byte{static_cast<unsigned char>(byte)}; });
}

void AnswerReader::Add(grpc::ByteBuffer& message) {
  if (!error_.ok()) return;
  has_message_ = true;
  if (request_.is_batch()) {
    error_ = AddBatch(message);
    return;
  }
  const RequestKind& kind = request_.kind;
  switch (kind.operation) {
    case OperationKind::kReduce:
      error_ = AddWhole<v1::ReduceArrayResponse, v1::ReduceStreamResponse>(
          message, [](const auto& response) { return client::FromProto(response); });
      break;
    case OperationKind::kHistogram:
      error_ = AddWhole<v1::ComputeHistogramResponse, v1::HistogramStreamResponse>(
          message, [&](const auto& response) {
            return client::FromProto(response, HistogramOptionsOf(kind, InputToRead(kind)));
          });
      break;
    case OperationKind::kKeyedReduction:
      error_ = AddWhole<v1::ReduceByKeyResponse, v1::ReduceByKeyStreamResponse>(
          message, [](const auto& response) { return client::FromProto(response); });
      break;
    case OperationKind::kQuantiles:
      error_ = AddUnary<v1::ComputeQuantilesResponse>(message, [&](const auto& response) {
        return client::FromProto(response, QuantileOptionsOf(kind, {}));
      });
      break;
    case OperationKind::kTop:
      error_ = AddUnary<v1::SelectTopResponse>(message, [&](const auto& response) {
        return client::FromProto(response, TopOptionsOf(kind, {}));
      });
      break;
    case OperationKind::kRelation:
      error_ = AddUnary<v1::RelateArraysResponse>(message, [&](const auto& response) {
        return client::FromProto(response, RelateOptionsOf(kind, InputToRead(kind)));
      });
      break;
    case OperationKind::kScan:
      error_ = request_.is_stream() ? AddScanPiece(message) : AddScan(message);
      break;
  }
}

template <typename Response, typename Streamed, typename Read>
absl::Status AnswerReader::AddWhole(grpc::ByteBuffer& message, Read read) {
  if (!request_.is_stream()) return AddUnary<Response>(message, read);
  return AddUnary<Streamed>(message,
                            [&](const Streamed& streamed) { return read(streamed.result()); });
}

template <typename Response, typename Read>
absl::Status AnswerReader::AddUnary(grpc::ByteBuffer& message, Read read) {
  Response response;
  if (absl::Status status = client::Parse(message, response); !status.ok()) return status;
  const auto result = read(response);
  if (!result.ok()) return result.status();
  answer_.execution = result->execution;
  Compare(*result, *request_.known.front());
  return absl::OkStatus();
}

absl::Status AnswerReader::AddScan(grpc::ByteBuffer& message) {
  v1::ScanArrayResponse response;
  if (absl::Status status = client::Parse(message, response); !status.ok()) return status;
  const auto result = client::FromProto(std::move(response));
  if (!result.ok()) return result.status();
  answer_.execution = result->execution;
  if (result->resident_array) {
    result_array_ = result->resident_array->name;
    result_type_ = result->element_type;
  }
  Compare(*result, *request_.known.front());
  return absl::OkStatus();
}

absl::Status AnswerReader::AddBatch(grpc::ByteBuffer& message) {
  v1::BatchComputeResponse response;
  if (absl::Status status = client::Parse(message, response); !status.ok()) return status;
  const auto batch = client::FromProto(response, BatchToRead(request_.kind));
  if (!batch.ok()) return batch.status();
  answer_.execution = batch->execution();
  for (size_t i = 0; i < batch->entries().size(); ++i) {
    absl::Status status = std::visit(
        [&](const auto& result) {
          if (result.ok()) Compare(*result, *request_.known[i]);
          return result.status();
        },
        batch->entries()[i]);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status AnswerReader::AddScanPiece(grpc::ByteBuffer& message) {
  v1::ScanStreamResponse response;
  if (absl::Status status = client::Parse(message, response); !status.ok()) return status;
  if (response.has_execution()) answer_.execution = client::FromProto(response.execution());
  AddResults(static_cast<client::ElementType>(response.element_type()), response.first_element(),
             response.data());
  return absl::OkStatus();
}

void AnswerReader::AddArrayContent(grpc::ByteBuffer& message) {
  v1::ReadArrayResponse response;
  if (error_.ok()) error_ = client::Parse(message, response);
  if (error_.ok()) AddResults(result_type_, response.first_element(), response.data());
}

void AnswerReader::AddResults(client::ElementType element_type, uint64_t first_element,
                              const std::string& data) {
  result_bytes_ += data.size();
  if (!verify_) return;
  Note(Difference(std::get<KnownScan>(*request_.known.front()), element_type, first_element, data));
}

template <typename Result>
void AnswerReader::Compare(const Result& result, const KnownAnswer& known) {
  if (verify_) Note(Difference(std::get<KnownOf<Result>>(known), result));
}

void AnswerReader::Compare(const client::ScanResult& result, const KnownAnswer& known) {
  if (!verify_) return;
  const auto& results = std::get<KnownScan>(known);
  switch (request_.kind.destination) {
    case ResultDestination::kInline:
      Note(WholeDifference(results, result.element_type, result.data));
      break;
    case ResultDestination::kShared: CompareInPlace(result, results); break;
    case ResultDestination::kResident:
      if (!result.resident_array) Note("the answer names no array of results");
      break;
  }
}

void AnswerReader::CompareInPlace(const client::ScanResult& result, const KnownScan& known) {
  if (!result.region_slice || result.region_slice->name != place_->destination.name ||
      result.region_slice->offset_bytes != place_->destination.offset_bytes) {
    return Note("the answer names another place of results");
  }
  uint64_t size_bytes = client::ElementSizeBytes(result.element_type);
  for (const uint64_t extent : result.shape) size_bytes *= extent;
  const auto* const data = reinterpret_cast<const char*>(place_->bytes.data());
  Note(Difference(known, result.element_type, 0, {data, known.data.size()}));
  Note(SizeDifference(known, size_bytes));
}

void AnswerReader::Note(const std::string& difference) {
  if (answer_.difference.empty()) answer_.difference = difference;
}

absl::StatusOr<Answer> AnswerReader::Finish() {
  if (!error_.ok()) return error_;
  if (!has_message_) return absl::InternalError("the server's answer is missing");
  answer_.is_verified = verify_;
  const bool is_scan = request_.kind.operation == OperationKind::kScan;
  const bool has_parts =
      request_.is_stream() || request_.kind.destination == ResultDestination::kResident;
  if (verify_ && is_scan && has_parts) {
    Note(SizeDifference(std::get<KnownScan>(*request_.known.front()), result_bytes_));
  }
  return std::move(answer_);
}

}  // namespace gridfold::load
