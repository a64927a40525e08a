// Arrays on the server as inputs of commands, and `gridfold array put` that fails.
#include <string>
#include <vector>

#include "client/command_line/exit_code.h"
#include "client/command_line/program_test_fixture.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::HasSubstr;

TEST_F(ProgramTest, ArraysOnTheServerAreInputs) {
  server_.on_get_array = [](grpc::ServerContext&, const v1::GetArrayRequest&,
                            v1::GetArrayResponse& response) {
    EXPECT_TRUE(
        google::protobuf::TextFormat::ParseFromString(kDescription, response.mutable_array()));
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"reduce", "--array", "x[1:1]", "--stat", "sum"}), ExitCode::kSuccess);
  ExpectMessage(reduce_request_.array(),
                "resident_array { name: 'x' slice { first: 1 count: 1 } }");
  EXPECT_THAT(out_.str(), HasSubstr("x[1:1]: 1 int64 element\n"));
  Run({"histogram", "@in.csv", "--bins", "2", "--y-array", "y", "--weights-array", "w[3:2]"});
  ExpectMessage(histogram_request_.y_array(), "resident_array { name: 'y' }");
  ExpectMessage(histogram_request_.weights(),
                "resident_array { name: 'w' slice { first: 3 count: 2 } }");
  EXPECT_TRUE(histogram_request_.array().has_inline_array());
}

TEST_F(ProgramTest, APutThatFailsLeavesNoArrayBehind) {
  v1::CreateArrayRequest created;
  server_.on_create_array = [&](grpc::ServerContext& context, const v1::CreateArrayRequest& request,
                                v1::CreateArrayResponse& response) {
    created = request;
    EXPECT_EQ(context.client_metadata().count("gridfold-tenant"), 1u);
    EXPECT_EQ(context.client_metadata().find("gridfold-priority")->second, "low");
    EXPECT_TRUE(
        google::protobuf::TextFormat::ParseFromString(kDescription, response.mutable_array()));
    return grpc::Status::OK;
  };
  server_.on_info = [](grpc::ServerContext&, const v1::GetServerInfoRequest&,
                       v1::GetServerInfoResponse& response) {
    response.mutable_limits()->set_array_chunk_bytes_max(1000);
    return grpc::Status::OK;
  };
  server_.on_write_array = [](grpc::ServerContext&, const std::vector<v1::WriteArrayRequest>&,
                              v1::WriteArrayResponse&) {
    return grpc::Status(grpc::StatusCode::ABORTED, "no more");
  };
  std::string deleted;
  server_.on_delete_array = [&](grpc::ServerContext&, const v1::DeleteArrayRequest& request,
                                v1::DeleteArrayResponse&) {
    deleted = request.name();
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"--tenant", "me", "--priority", "low", "array", "put", "x", "@in.csv", "--expire",
                 "90m", "--device", "1"}),
            ExitCode::kRequestFailed);
  ExpectMessage(created,
                "name: 'x' element_type: ELEMENT_TYPE_INT64 shape: 2 "
                "idle_expiry { seconds: 5400 } device: 1");
  EXPECT_EQ(deleted, "x");
  EXPECT_EQ(
      Run({"--tenant", "me", "--priority", "low", "array", "put", "x", "@in.csv", "--sharded"}),
      ExitCode::kRequestFailed);
  ExpectMessage(created,
                "name: 'x' element_type: ELEMENT_TYPE_INT64 shape: 2 "
                "placement: ARRAY_PLACEMENT_SHARDED");
}

}  // namespace
}  // namespace gridfold::client
