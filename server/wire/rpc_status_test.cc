// The bytes that callers decode: messages of google.rpc under their public names.
#include "server/wire/rpc_status.h"

#include <gtest/gtest.h>

#include <string>

#include "gridfold/v1/error_details.pb.h"
#include "kernels/contract/invalid_field.h"
#include "server/base/error_reason.h"

namespace gridfold::server {
namespace {

v1::RpcStatus Decode(const grpc::Status& status) {
  v1::RpcStatus decoded;
  EXPECT_TRUE(decoded.ParseFromString(status.error_details()));
  return decoded;
}

template <class Message>
Message Unpack(const v1::RpcStatus& status, int i, const std::string& name) {
  Message message;
  EXPECT_EQ(status.details(i).type_url(), "type.googleapis.com/google.rpc." + name);
  EXPECT_TRUE(message.ParseFromString(status.details(i).value()));
  return message;
}

TEST(RpcStatusTest, OkHasNoDetails) {
  const grpc::Status status = ToGrpcStatus(absl::OkStatus());
  EXPECT_TRUE(status.ok());
  EXPECT_TRUE(status.error_details().empty());
}

TEST(RpcStatusTest, CodesAndMessagesAreKept) {
  for (int code = 1; code <= 16; ++code) {
    const absl::Status from(static_cast<absl::StatusCode>(code), "what happened");
    const grpc::Status status = ToGrpcStatus(from);
    EXPECT_EQ(static_cast<int>(status.error_code()), code);
    EXPECT_EQ(status.error_message(), "what happened");
    EXPECT_EQ(Decode(status).code(), code);
    EXPECT_EQ(Decode(status).message(), "what happened");
  }
}

TEST(RpcStatusTest, EveryErrorHasAReason) {
  const std::pair<absl::Status, const char*> cases[] = {
      {absl::InvalidArgumentError(""), "INVALID_REQUEST"},
      {kernels::InvalidField("bins", "none"), "INVALID_FIELD"},
      {kernels::AboveLimit("bins", "too many"), "JOB_TOO_LARGE"},
      {absl::OutOfRangeError(""), "INTEGER_OVERFLOW"},
      {absl::ResourceExhaustedError(""), "OUT_OF_MEMORY"},
      {absl::DeadlineExceededError(""), "DEADLINE_EXCEEDED"},
      {absl::CancelledError(""), "CANCELLED"},
      {absl::UnavailableError(""), "DRAINING"},
      {absl::InternalError(""), "INTERNAL"},
      {WithReason(absl::UnavailableError(""), kReasonEngineLost), "ENGINE_LOST"}};
  for (const auto& [status, reason] : cases) {
    const auto info = Unpack<v1::ErrorInfo>(Decode(ToGrpcStatus(status)), 0, "ErrorInfo");
    EXPECT_EQ(info.reason(), reason) << status;
    EXPECT_EQ(info.domain(), "gridfold");
  }
}

TEST(RpcStatusTest, AnInvalidFieldIsNamed) {
  const grpc::Status status =
      ToGrpcStatus(kernels::InvalidField("bins[0].even.bin_count", "must be at least 1"));
  EXPECT_EQ(status.error_message(), "bins[0].even.bin_count: must be at least 1");
  const v1::RpcStatus decoded = Decode(status);
  ASSERT_EQ(decoded.details_size(), 2);
  const auto bad_request = Unpack<v1::BadRequest>(decoded, 1, "BadRequest");
  ASSERT_EQ(bad_request.field_violations_size(), 1);
  EXPECT_EQ(bad_request.field_violations(0).field(), "bins[0].even.bin_count");
  EXPECT_EQ(bad_request.field_violations(0).description(), "must be at least 1");
}

TEST(RpcStatusTest, ARefusalSaysHowLongToWait) {
  const v1::RpcStatus decoded = Decode(ToGrpcStatus(
      WithRetryDelay(absl::ResourceExhaustedError("full"), std::chrono::milliseconds(1250))));
  ASSERT_EQ(decoded.details_size(), 2);
  const auto retry_info = Unpack<v1::RetryInfo>(decoded, 1, "RetryInfo");
  EXPECT_EQ(retry_info.retry_delay().seconds(), 1);
  EXPECT_EQ(retry_info.retry_delay().nanos(), 250'000'000);
}

// Written out by hand from the definition of google.rpc.Status, ErrorInfo and Any.
TEST(RpcStatusTest, TheBytesAreThoseOfGoogleRpcStatus) {
  const std::string info =
      "\x0A\x09"
      "CANCELLED"
      "\x12\x08"
      "gridfold";
  const std::string url = "type.googleapis.com/google.rpc.ErrorInfo";
  const std::string any = std::string("\x0A\x28") + url + "\x12\x15" + info;
  const std::string expected = std::string("\x08\x01\x12\x04gone\x1A\x41") + any;
  EXPECT_EQ(ToGrpcStatus(absl::CancelledError("gone")).error_details(), expected);
}

}  // namespace
}  // namespace gridfold::server
