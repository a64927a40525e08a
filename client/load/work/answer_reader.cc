#include "client/load/work/answer_reader.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "client/library/histogram_conversion.h"
#include "client/library/reduction_conversion.h"
#include "client/library/shared_conversion.h"
#include "client/library/unary_call.h"
#include "gridfold/v1/compute_service.pb.h"

namespace gridfold::load {

void AnswerReader::Add(grpc::ByteBuffer& message) {
  if (!error_.ok()) return;
  has_message_ = true;
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
  if (verify_) answer_.difference = Difference(std::get<KnownReduction>(request_.known), *result);
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
                        HistogramOptionsOf(request_.kind));
  if (!result.ok()) return result.status();
  answer_.execution = result->execution;
  if (verify_) answer_.difference = Difference(std::get<KnownHistogram>(request_.known), *result);
  return absl::OkStatus();
}

absl::Status AnswerReader::AddScan(grpc::ByteBuffer& message) {
  v1::ScanArrayResponse response;
  if (absl::Status status = client::Parse(message, response); !status.ok()) return status;
  answer_.execution = client::FromProto(response.execution());
  const v1::InlineArray& array = response.inline_array();
  CompareScan(array.element_type(), 0, array.data());
  return absl::OkStatus();
}

absl::Status AnswerReader::AddScanPiece(grpc::ByteBuffer& message) {
  v1::ScanStreamResponse response;
  if (absl::Status status = client::Parse(message, response); !status.ok()) return status;
  if (response.has_execution()) answer_.execution = client::FromProto(response.execution());
  CompareScan(response.element_type(), response.first_element(), response.data());
  return absl::OkStatus();
}

void AnswerReader::CompareScan(int element_type, uint64_t first_element, const std::string& data) {
  result_bytes_ += data.size();
  if (!verify_ || !answer_.difference.empty()) return;
  answer_.difference =
      Difference(std::get<KnownScan>(request_.known),
                 static_cast<client::ElementType>(element_type), first_element, data);
}

absl::StatusOr<Answer> AnswerReader::Finish() {
  if (!error_.ok()) return error_;
  if (!has_message_) return absl::InternalError("the server's answer is missing");
  answer_.is_verified = verify_;
  if (verify_ && answer_.difference.empty() && request_.kind.operation == OperationKind::kScan &&
      result_bytes_ != std::get<KnownScan>(request_.known).data.size()) {
    answer_.difference = absl::StrCat(result_bytes_, " bytes of results");
  }
  return std::move(answer_);
}

}  // namespace gridfold::load
