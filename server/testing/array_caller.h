// What tests do with resident arrays, as one tenant. Blocking.
#ifndef GRIDFOLD_SERVER_TESTING_ARRAY_CALLER_H_
#define GRIDFOLD_SERVER_TESTING_ARRAY_CALLER_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gridfold/v1/array_service.grpc.pb.h"
#include "server/testing/test_server.h"

namespace gridfold::server {

template <class T>
std::string BytesOf(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// A named array, or a slice of it, as an operation's input.
inline v1::ArraySource Resident(const std::string& name) {
  v1::ArraySource source;
  source.mutable_resident_array()->set_name(name);
  return source;
}
inline v1::ArraySource Resident(const std::string& name, uint64_t first, uint64_t count) {
  v1::ArraySource source = Resident(name);
  source.mutable_resident_array()->mutable_slice()->set_first(first);
  source.mutable_resident_array()->mutable_slice()->set_count(count);
  return source;
}

inline v1::WriteArrayRequest Chunk(uint64_t first_element, std::string data) {
  v1::WriteArrayRequest chunk;
  chunk.set_first_element(first_element);
  chunk.set_data(std::move(data));
  return chunk;
}

class ArrayCaller {
 public:
  explicit ArrayCaller(TestServer& server, std::string tenant = "")
      : server_(server), tenant_(std::move(tenant)) {}

  std::unique_ptr<grpc::ClientContext> MakeContext() const {
    auto context = std::make_unique<grpc::ClientContext>();
    if (!tenant_.empty()) context->AddMetadata("gridfold-tenant", tenant_);
    return context;
  }

  grpc::Status Create(const std::string& name, v1::ElementType type,
                      const std::vector<uint64_t>& shape) {
    v1::CreateArrayRequest request;
    request.set_name(name);
    request.set_element_type(type);
    request.mutable_shape()->Add(shape.begin(), shape.end());
    return Create(request);
  }
  grpc::Status Create(const v1::CreateArrayRequest& request) {
    return server_.arrays().CreateArray(MakeContext().get(), request, &created);
  }

  // Sends the messages as they are.
  grpc::Status Send(const std::vector<v1::WriteArrayRequest>& messages) {
    const auto context = MakeContext();
    const auto writer = server_.arrays().WriteArray(context.get(), &written);
    for (const v1::WriteArrayRequest& message : messages) {
      if (!writer->Write(message)) break;
    }
    writer->WritesDone();
    return writer->Finish();
  }

  // Sends the chunks after a header.
  grpc::Status Write(const std::string& name, std::vector<v1::WriteArrayRequest> chunks) {
    if (chunks.empty()) chunks.emplace_back();
    chunks[0].mutable_header()->set_name(name);
    return Send(chunks);
  }

  // Makes an array of these values.
  template <class T>
  void Put(const std::string& name, v1::ElementType type, const std::vector<uint64_t>& shape,
           const std::vector<T>& values) {
    ASSERT_TRUE(Create(name, type, shape).ok());
    ASSERT_TRUE(Write(name, {Chunk(0, BytesOf(values))}).ok());
  }

  // All messages of the answer are left in `read`.
  grpc::Status Read(const v1::ReadArrayRequest& request) {
    read.clear();
    const auto context = MakeContext();
    const auto reader = server_.arrays().ReadArray(context.get(), request);
    v1::ReadArrayResponse message;
    while (reader->Read(&message)) read.push_back(message);
    return reader->Finish();
  }
  grpc::Status Read(const v1::ArraySource& source, uint64_t chunk_bytes_max = 0) {
    v1::ReadArrayRequest request;
    *request.mutable_array() = source.resident_array();
    request.set_chunk_bytes_max(chunk_bytes_max);
    return Read(request);
  }
  std::string ReadBytes(const v1::ArraySource& source) {
    const grpc::Status status = Read(source);
    EXPECT_TRUE(status.ok()) << status.error_message();
    std::string bytes;
    for (const v1::ReadArrayResponse& message : read) bytes += message.data();
    return bytes;
  }

  grpc::Status Get(const std::string& name) {
    v1::GetArrayRequest request;
    request.set_name(name);
    return server_.arrays().GetArray(MakeContext().get(), request, &got);
  }
  grpc::Status List(uint32_t page_size = 0, const std::string& page_token = "") {
    v1::ListArraysRequest request;
    request.set_page_size(page_size);
    request.set_page_token(page_token);
    return server_.arrays().ListArrays(MakeContext().get(), request, &listed);
  }
  grpc::Status Delete(const std::string& name) {
    v1::DeleteArrayRequest request;
    request.set_name(name);
    v1::DeleteArrayResponse response;
    return server_.arrays().DeleteArray(MakeContext().get(), request, &response);
  }

  grpc::Status Compute(const v1::ReduceArrayRequest& request) {
    return server_.compute().ReduceArray(MakeContext().get(), request, &reduced);
  }
  grpc::Status Compute(const v1::ScanArrayRequest& request) {
    return server_.compute().ScanArray(MakeContext().get(), request, &scanned);
  }
  grpc::Status Compute(const v1::ComputeHistogramRequest& request) {
    return server_.compute().ComputeHistogram(MakeContext().get(), request, &counted);
  }

  // The last answer of each call.
  v1::CreateArrayResponse created;
  v1::WriteArrayResponse written;
  std::vector<v1::ReadArrayResponse> read;
  v1::GetArrayResponse got;
  v1::ListArraysResponse listed;
  v1::ReduceArrayResponse reduced;
  v1::ScanArrayResponse scanned;
  v1::ComputeHistogramResponse counted;

 private:
  TestServer& server_;
  const std::string tenant_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TESTING_ARRAY_CALLER_H_
