// A server inside the test's process that answers as the test says, and remembers what it was
// asked.
#ifndef GRIDFOLD_CLIENT_LIBRARY_FAKE_SERVER_H_
#define GRIDFOLD_CLIENT_LIBRARY_FAKE_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "gridfold/v1/array_service.grpc.pb.h"
#include "gridfold/v1/compute_service.grpc.pb.h"
#include "gridfold/v1/region_service.grpc.pb.h"
#include "gridfold/v1/server_service.grpc.pb.h"
#include "grpcpp/grpcpp.h"

namespace gridfold::client {

// Listens on a loopback port, by default any that is free, from construction to destruction. The
// handlers are set before the first call and run on gRPC's threads.
class FakeServer {
 public:
  template <typename Request, typename Response>
  using Handler = std::function<grpc::Status(grpc::ServerContext&, const Request&, Response&)>;
  using ReduceHandler = Handler<v1::ReduceArrayRequest, v1::ReduceArrayResponse>;

  // Where clients wait for the port already, the handler is needed at once.
  explicit FakeServer(int port = 0, ReduceHandler reduce = nullptr);
  ~FakeServer();

  ReduceHandler on_reduce;
  Handler<v1::ScanArrayRequest, v1::ScanArrayResponse> on_scan;
  Handler<v1::ComputeHistogramRequest, v1::ComputeHistogramResponse> on_histogram;
  Handler<v1::ReduceByKeyRequest, v1::ReduceByKeyResponse> on_reduce_by_key;
  Handler<v1::MergeAccumulatorsRequest, v1::MergeAccumulatorsResponse> on_merge;
  Handler<v1::SubtractAccumulatorsRequest, v1::SubtractAccumulatorsResponse> on_subtract;
  Handler<v1::BatchComputeRequest, v1::BatchComputeResponse> on_batch;
  Handler<v1::ComputeQuantilesRequest, v1::ComputeQuantilesResponse> on_quantiles;
  Handler<v1::SelectTopRequest, v1::SelectTopResponse> on_top;
  Handler<v1::RelateArraysRequest, v1::RelateArraysResponse> on_relate;
  Handler<v1::CreateArrayRequest, v1::CreateArrayResponse> on_create_array;
  Handler<v1::GetArrayRequest, v1::GetArrayResponse> on_get_array;
  Handler<v1::ListArraysRequest, v1::ListArraysResponse> on_list_arrays;
  Handler<v1::DeleteArrayRequest, v1::DeleteArrayResponse> on_delete_array;
  // All messages of a stream, of one direction or the other.
  Handler<std::vector<v1::WriteArrayRequest>, v1::WriteArrayResponse> on_write_array;
  Handler<v1::ReadArrayRequest, std::vector<v1::ReadArrayResponse>> on_read_array;
  Handler<v1::RegisterRegionRequest, v1::RegisterRegionResponse> on_register_region;
  Handler<v1::UnregisterRegionRequest, v1::UnregisterRegionResponse> on_unregister_region;
  Handler<v1::ListRegionsRequest, v1::ListRegionsResponse> on_list_regions;
  Handler<std::vector<v1::ReduceStreamRequest>, v1::ReduceStreamResponse> on_reduce_stream;
  Handler<std::vector<v1::HistogramStreamRequest>, v1::HistogramStreamResponse> on_histogram_stream;
  Handler<std::vector<v1::ReduceByKeyStreamRequest>, v1::ReduceByKeyStreamResponse> on_keyed_stream;
  Handler<std::vector<v1::ScanStreamRequest>, std::vector<v1::ScanStreamResponse>> on_scan_stream;
  Handler<v1::GetServerInfoRequest, v1::GetServerInfoResponse> on_info;
  Handler<v1::GetStatisticsRequest, v1::GetStatisticsResponse> on_statistics;

  // "127.0.0.1:port".
  const std::string& target() const { return target_; }

  // How many messages of a stream are read before its handler is asked; the rest is never read.
  size_t stream_messages_max = SIZE_MAX;

  // The standard health service of this server.
  grpc::HealthCheckServiceInterface& health() { return *server_->GetHealthCheckService(); }

  // The client addresses that calls came from: one for each connection.
  std::set<std::string> peers() const;

 private:
  class Arrays;
  class Compute;
  class Information;
  class Regions;

  void RememberPeer(const grpc::ServerContext& context);

  std::unique_ptr<Arrays> arrays_;
  std::unique_ptr<Compute> compute_;
  std::unique_ptr<Information> information_;
  std::unique_ptr<Regions> regions_;
  std::unique_ptr<grpc::Server> server_;
  std::string target_;

  mutable absl::Mutex mutex_;
  std::set<std::string> peers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_FAKE_SERVER_H_
