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

TEST_F(ProgramTest, ViewsOfArraysOnTheServerAreInputs) {
  server_.on_get_array = [](grpc::ServerContext&, const v1::GetArrayRequest& request,
                            v1::GetArrayResponse& response) {
    v1::ArrayDescription& array = *response.mutable_array();
    array.set_name(request.name());
    array.set_element_type(v1::ELEMENT_TYPE_INT64);
    for (const uint64_t extent : {6, 5, 4}) array.add_shape(extent);
    return grpc::Status::OK;
  };
  EXPECT_EQ(
      Run({"reduce", "--array", "x{::2, -1, ::-1}", "--where-array", "m{..., 2}", "--stat", "sum"}),
      ExitCode::kSuccess);
  ExpectMessage(reduce_request_.array(),
                "resident_array { name: 'x' view { first: [0, 4, 3] "
                "dimensions { axis: 0 count: 3 step: 2 } "
                "dimensions { axis: 2 count: 4 step: -1 } } }");
  ExpectMessage(reduce_request_.where(),
                "resident_array { name: 'm' view { first: [0, 0, 2] "
                "dimensions { axis: 0 count: 6 step: 1 } "
                "dimensions { axis: 1 count: 5 step: 1 } } }");
  EXPECT_THAT(out_.str(), HasSubstr("x{::2, -1, ::-1}: 3 x 4 int64 elements\n"));
  EXPECT_EQ(Run({"reduce", "--array", "x{2:4}", "--stat", "sum"}), ExitCode::kSuccess);
  ExpectMessage(reduce_request_.array(),
                "resident_array { name: 'x' slice { first: 2 count: 2 } }");
  Run({"histogram", "@in.csv", "--bins", "2", "--y-array", "y{:2, 0, 0}"});
  ExpectMessage(histogram_request_.y_array(),
                "resident_array { name: 'y' view { first: [0, 0, 0] "
                "dimensions { axis: 0 count: 2 step: 1 } } }");
  EXPECT_EQ(Run({"reduce", "--array", "x{0, 5}", "--stat", "sum"}), ExitCode::kRequestFailed);
  EXPECT_THAT(error_out_.str(), HasSubstr("--array: index 5 is outside axis 1 of 5 elements"));
  EXPECT_EQ(Run({"reduce", "@in.csv", "--where-array", "m{6}", "--stat", "sum"}),
            ExitCode::kRequestFailed);
  EXPECT_THAT(error_out_.str(), HasSubstr("--where-array: index 6 is outside axis 0"));
  v1::ReadArrayRequest read;
  server_.on_read_array = [&](grpc::ServerContext&, const v1::ReadArrayRequest& request,
                              std::vector<v1::ReadArrayResponse>& messages) {
    read = request;
    *messages.emplace_back().mutable_array() = v1::ArrayDescription();
    return grpc::Status(grpc::StatusCode::ABORTED, "asked");
  };
  Run({"array", "get", "x{1, 1, ::3}", "--output", "@out.npy"});
  ExpectMessage(read.array(),
                "name: 'x' view { first: [1, 1, 0] dimensions { axis: 2 count: 2 step: 3 } }");
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
