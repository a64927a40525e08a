#include "gridfold/error_details.h"

#include <string>

#include "client/library/status_conversion.h"
#include "gridfold/v1/error_details.pb.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

void Pack(const google::protobuf::Message& detail, const std::string& name, v1::RpcStatus& status) {
  google::protobuf::Any& any = *status.add_details();
  any.set_type_url("type.googleapis.com/google.rpc." + name);
  detail.SerializeToString(any.mutable_value());
}

TEST(ErrorDetailsTest, CodeMessageAndDetailsSurvive) {
  v1::BadRequest bad_request;
  bad_request.add_field_violations()->set_field("bins[0].even.lower_bound");
  v1::RetryInfo retry_info;
  retry_info.mutable_retry_delay()->set_seconds(2);
  retry_info.mutable_retry_delay()->set_nanos(500'000'000);
  v1::ErrorInfo error_info;
  error_info.set_reason("QUEUE_FULL");
  v1::RpcStatus details;
  Pack(bad_request, "BadRequest", details);
  Pack(retry_info, "RetryInfo", details);
  Pack(error_info, "ErrorInfo", details);

  const absl::Status status = ToAbslStatus(grpc::Status(
      grpc::StatusCode::RESOURCE_EXHAUSTED, "the queue is full", details.SerializeAsString()));
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "the queue is full");
  EXPECT_EQ(ViolatedField(status), "bins[0].even.lower_bound");
  EXPECT_EQ(RetryDelay(status), absl::Milliseconds(2500));
  EXPECT_EQ(ErrorReason(status), "QUEUE_FULL");
}

TEST(ErrorDetailsTest, EveryCodeKeepsItsNumber) {
  for (int code = 1; code <= 16; ++code) {
    const absl::Status status =
        ToAbslStatus(grpc::Status(static_cast<grpc::StatusCode>(code), "message"));
    EXPECT_EQ(static_cast<int>(status.code()), code);
  }
  EXPECT_TRUE(ToAbslStatus(grpc::Status::OK).ok());
}

TEST(ErrorDetailsTest, NoDetailsAreNoDetails) {
  const absl::Status status = ToAbslStatus(grpc::Status(grpc::StatusCode::INTERNAL, "message"));
  EXPECT_EQ(ViolatedField(status), std::nullopt);
  EXPECT_EQ(RetryDelay(status), std::nullopt);
  EXPECT_EQ(ErrorReason(status), std::nullopt);
  EXPECT_EQ(ViolatedField(absl::OkStatus()), std::nullopt);
}

TEST(ErrorDetailsTest, MalformedDetailsAreLeftOut) {
  const absl::Status garbage =
      ToAbslStatus(grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "message", "\xFF\xFF garbage"));
  EXPECT_EQ(garbage.message(), "message");
  EXPECT_EQ(ViolatedField(garbage), std::nullopt);

  v1::RpcStatus details;
  details.add_details()->set_type_url("type.googleapis.com/google.rpc.BadRequest");
  details.mutable_details(0)->set_value("\x0A\xFF");
  const absl::Status truncated = ToAbslStatus(
      grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "message", details.SerializeAsString()));
  EXPECT_EQ(ViolatedField(truncated), std::nullopt);
}

}  // namespace
}  // namespace gridfold::client
