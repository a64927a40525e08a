// A server of this process on a real loopback socket, and what tests do with it.
#ifndef GRIDFOLD_SERVER_TESTING_TEST_SERVER_H_
#define GRIDFOLD_SERVER_TESTING_TEST_SERVER_H_

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gridfold/v1/array_service.grpc.pb.h"
#include "gridfold/v1/compute_service.grpc.pb.h"
#include "gridfold/v1/error_details.pb.h"
#include "gridfold/v1/region_service.grpc.pb.h"
#include "gridfold/v1/server_service.grpc.pb.h"
#include "kernels/contract/engine.h"
#include "server/base/limits.h"
#include "server/server.h"

namespace gridfold::server {

class TestServer {
 public:
  explicit TestServer(kernels::Engine& engine, const Limits& limits = {},
                      const std::optional<std::string>& metrics_address = std::nullopt);
  TestServer(const std::vector<kernels::Engine*>& engines, const Limits& limits = {},
             const std::optional<std::string>& metrics_address = std::nullopt);

  Server& server() { return *server_; }
  v1::ComputeService::Stub& compute() { return *compute_; }
  v1::ArrayService::Stub& arrays() { return *arrays_; }
  v1::RegionService::Stub& regions() { return *regions_; }
  v1::ServerService::Stub& server_service() { return *server_service_; }
  const std::shared_ptr<grpc::Channel>& channel() { return channel_; }
  v1::GetStatisticsResponse GetStatistics();

 private:
  std::unique_ptr<Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::ComputeService::Stub> compute_;
  std::unique_ptr<v1::ArrayService::Stub> arrays_;
  std::unique_ptr<v1::RegionService::Stub> regions_;
  std::unique_ptr<v1::ServerService::Stub> server_service_;
};

// What the trailer grpc-status-details-bin says, decoded.
struct ErrorDetails {
  v1::RpcStatus status;
  std::optional<v1::ErrorInfo> error_info;
  std::optional<v1::BadRequest> bad_request;
  std::optional<v1::RetryInfo> retry_info;

  std::string reason() const { return error_info ? error_info->reason() : ""; }
  std::string field() const { return bad_request ? bad_request->field_violations(0).field() : ""; }
};
ErrorDetails DecodeDetails(const grpc::Status& status);

// A one-dimensional array with the bytes of `values`.
template <class T>
v1::ArraySource ArrayOf(v1::ElementType type, const std::vector<T>& values) {
  v1::ArraySource source;
  source.mutable_inline_array()->set_element_type(type);
  source.mutable_inline_array()->mutable_data()->assign(
      reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  return source;
}

// A sum of three integers, for tests in which the operation does not matter.
v1::ReduceArrayRequest SmallReduction();

grpc::ByteBuffer ToByteBuffer(const std::string& bytes);
std::string ToString(const grpc::ByteBuffer& buffer);

struct RawAnswer {
  grpc::Status status;
  std::string message;
};
// Calls a method with raw bytes, be they a message or not. Blocking.
RawAnswer CallRaw(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                  const std::string& message);

// A stream of raw messages with a method that the tests have no generated code for. Blocking.
class RawStream {
 public:
  RawStream(const std::shared_ptr<grpc::Channel>& channel, const std::string& method);
  ~RawStream();

  void Write(const std::string& message);
  // Nothing when the server has ended the stream.
  std::optional<std::string> Read();

 private:
  bool WaitForTag();

  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TESTING_TEST_SERVER_H_
