#include "server/testing/test_server.h"

#include <cstdlib>
#include <future>
#include <utility>

#include "absl/strings/str_cat.h"

namespace gridfold::server {

TestServer::TestServer(kernels::Engine& engine, const Limits& limits,
                       const std::optional<std::string>& metrics_address)
    : TestServer(std::vector<kernels::Engine*>{&engine}, limits, metrics_address) {}

TestServer::TestServer(const std::vector<kernels::Engine*>& engines, const Limits& limits,
                       const std::optional<std::string>& metrics_address) {
  absl::StatusOr<std::unique_ptr<Server>> server =
      Server::Start(engines, "127.0.0.1:0", limits, metrics_address);
  if (!server.ok()) {
    ADD_FAILURE() << server.status();
    std::abort();
  }
  server_ = *std::move(server);
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  // Tests with servers of their own must not share connections.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  channel_ = grpc::CreateCustomChannel(absl::StrCat("127.0.0.1:", server_->port()),
                                       grpc::InsecureChannelCredentials(), arguments);
  compute_ = v1::ComputeService::NewStub(channel_);
  arrays_ = v1::ArrayService::NewStub(channel_);
  regions_ = v1::RegionService::NewStub(channel_);
  server_service_ = v1::ServerService::NewStub(channel_);
}

v1::GetStatisticsResponse TestServer::GetStatistics() {
  grpc::ClientContext context;
  v1::GetStatisticsResponse response;
  const grpc::Status status = server_service_->GetStatistics(&context, {}, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response;
}

ErrorDetails DecodeDetails(const grpc::Status& status) {
  ErrorDetails details;
  EXPECT_TRUE(details.status.ParseFromString(status.error_details()));
  EXPECT_EQ(details.status.code(), static_cast<int>(status.error_code()));
  EXPECT_EQ(details.status.message(), status.error_message());
  for (const google::protobuf::Any& any : details.status.details()) {
    if (any.type_url() == "type.googleapis.com/google.rpc.ErrorInfo") {
      EXPECT_TRUE(details.error_info.emplace().ParseFromString(any.value()));
    } else if (any.type_url() == "type.googleapis.com/google.rpc.BadRequest") {
      EXPECT_TRUE(details.bad_request.emplace().ParseFromString(any.value()));
    } else if (any.type_url() == "type.googleapis.com/google.rpc.RetryInfo") {
      EXPECT_TRUE(details.retry_info.emplace().ParseFromString(any.value()));
    } else {
      ADD_FAILURE() << any.type_url();
    }
  }
  return details;
}

v1::ReduceArrayRequest SmallReduction() {
  v1::ReduceArrayRequest request;
  *request.mutable_array() = ArrayOf<int32_t>(v1::ELEMENT_TYPE_INT32, {1, 2, 3});
  request.add_statistics(v1::STATISTIC_SUM);
  return request;
}

grpc::ByteBuffer ToByteBuffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

std::string ToString(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  if (!buffer.Dump(&slices).ok()) return "";
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

RawAnswer CallRaw(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                  const std::string& message) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  const grpc::ByteBuffer request = ToByteBuffer(message);
  grpc::ByteBuffer response;
  std::promise<grpc::Status> status;
  stub.UnaryCall(&context, method, grpc::StubOptions(), &request, &response,
                 [&](grpc::Status result) { status.set_value(std::move(result)); });
  RawAnswer answer;
  answer.status = status.get_future().get();
  answer.message = ToString(response);
  return answer;
}

RawStream::RawStream(const std::shared_ptr<grpc::Channel>& channel, const std::string& method)
    : stub_(channel), stream_(stub_.PrepareCall(&context_, method, &queue_)) {
  stream_->StartCall(nullptr);
  EXPECT_TRUE(WaitForTag());
}

RawStream::~RawStream() {
  context_.TryCancel();
  grpc::Status status;
  stream_->Finish(&status, nullptr);
  (void)WaitForTag();
  queue_.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
  }
}

void RawStream::Write(const std::string& message) {
  stream_->Write(ToByteBuffer(message), nullptr);
  EXPECT_TRUE(WaitForTag());
}

std::optional<std::string> RawStream::Read() {
  grpc::ByteBuffer message;
  stream_->Read(&message, nullptr);
  if (!WaitForTag()) return std::nullopt;
  return ToString(message);
}

bool RawStream::WaitForTag() {
  void* tag = nullptr;
  bool ok = false;
  return queue_.Next(&tag, &ok) && ok;
}

}  // namespace gridfold::server
