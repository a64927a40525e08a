#include "client/load/work/answer_reader.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

#include "client/library/batch_conversion.h"
#include "client/library/histogram_conversion.h"
#include "client/library/reduction_conversion.h"
#include "client/library/scan_conversion.h"
#include "client/library/shared_conversion.h"
#include "client/library/unary_call.h"
#include "gridfold/v1/array_service.pb.h"
#include "gridfold/v1/compute_service.pb.h"

namespace gridfold::load {

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
  switch (request_.kind.operation) {
    case OperationKind::kReduce: error_ = AddReduction(message); break;
    case OperationKind::kHistogram: error_ = AddHistogram(message); break;
    case OperationKind::kScan:
      error_ = request_.is_stream() ? AddScanPiece(message) : AddScan(message);
      break;
  }
}

absl::Status AnswerReader::AddReduction(grpc::ByteBuffer& message) {
  v1::ReduceArrayResponse response;
  v1::ReduceStreamResponse streamed;
  absl::Status status =
      request_.is_stream() ? client::Parse(message, streamed) : client::Parse(message, response);
  if (!status.ok()) return status;
  const auto result =
      client::FromProto(request_.is_stream() ? streamed.result() : std::as_const(response));
  if (!result.ok()) return result.status();
  answer_.execution = result->execution;
  Compare(*result, *request_.known.front());
  return absl::OkStatus();
}

absl::Status AnswerReader::AddHistogram(grpc::ByteBuffer& message) {
  v1::ComputeHistogramResponse response;
  v1::HistogramStreamResponse streamed;
  absl::Status status =
      request_.is_stream() ? client::Parse(message, streamed) : client::Parse(message, response);
  if (!status.ok()) return status;
  const auto result =
      client::FromProto(request_.is_stream() ? streamed.result() : std::as_const(response),
                        HistogramOptionsToRead(request_.kind));
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
          // No scenario asks for statistics by key.
          if constexpr (requires { Compare(*result, *request_.known[i]); }) {
            if (result.ok()) Compare(*result, *request_.known[i]);
          }
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

void AnswerReader::Compare(const client::ReductionResult& result, const KnownAnswer& known) {
  if (verify_) Note(Difference(std::get<KnownReduction>(known), result));
}

void AnswerReader::Compare(const client::HistogramResult& result, const KnownAnswer& known) {
  if (verify_) Note(Difference(std::get<KnownHistogram>(known), result));
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
