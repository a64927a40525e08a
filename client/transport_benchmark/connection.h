// Connections and messages of the loads.
#ifndef GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_CONNECTION_H_
#define GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_CONNECTION_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

namespace gridfold::transport_benchmark {

// A channel that shares its connection with no other.
std::shared_ptr<grpc::Channel> OpenConnection(const std::string& target);

grpc::ByteBuffer BufferOf(const std::string& bytes);

}  // namespace gridfold::transport_benchmark

#endif  // GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_CONNECTION_H_
