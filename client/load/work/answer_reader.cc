#include "client/load/work/answer_reader.h"

#include <utility>
#include <variant>

#include "client/library/batch_conversion.h"
#include "client/library/histogram_conversion.h"
#include "client/library/reduction_conversion.h"
#include "client/library/scan_conversion.h"
#include "client/library/shared_conversion.h"
#include "client/library/unary_call.h"
#include "gridfold/v1/compute_service.pb.h"

namespace gridfold::load {

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
  Compare(*result, request_.known.front());
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
  Compare(*result, request_.known.front());
  return absl::OkStatus();
}

absl::Status AnswerReader::AddScan(grpc::ByteBuffer& message) {
  v1::ScanArrayResponse response;
  if (absl::Status status = client::Parse(message, response); !status.ok()) return status;
  const auto result = client::FromProto(std::move(response));
  if (!result.ok()) return result.status();
  answer_.execution = result->execution;
  Compare(*result, request_.known.front());
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
          if (result.ok()) Compare(*result, request_.known[i]);
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
  streamed_bytes_ += response.data().size();
  if (verify_) {
    Note(Difference(std::get<KnownScan>(request_.known.front()),
                    static_cast<client::ElementType>(response.element_type()),
                    response.first_element(), response.data()));
  }
  return absl::OkStatus();
}

void AnswerReader::Compare(const client::ReductionResult& result, const KnownAnswer& known) {
  if (verify_) Note(Difference(std::get<KnownReduction>(known), result));
}

void AnswerReader::Compare(const client::HistogramResult& result, const KnownAnswer& known) {
  if (verify_) Note(Difference(std::get<KnownHistogram>(known), result));
}

void AnswerReader::Compare(const client::ScanResult& result, const KnownAnswer& known) {
  if (verify_) Note(WholeDifference(std::get<KnownScan>(known), result.element_type, result.data));
}

void AnswerReader::Note(const std::string& difference) {
  if (answer_.difference.empty()) answer_.difference = difference;
}

absl::StatusOr<Answer> AnswerReader::Finish() {
  if (!error_.ok()) return error_;
  if (!has_message_) return absl::InternalError("the server's answer is missing");
  answer_.is_verified = verify_;
  const bool is_streamed_scan =
      request_.is_stream() && request_.kind.operation == OperationKind::kScan;
  if (verify_ && is_streamed_scan) {
    Note(SizeDifference(std::get<KnownScan>(request_.known.front()), streamed_bytes_));
  }
  return std::move(answer_);
}

}  // namespace gridfold::load
