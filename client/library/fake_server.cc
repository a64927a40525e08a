#include "client/library/fake_server.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "grpcpp/health_check_service_interface.h"

namespace gridfold::client {

namespace {

// The messages of a stream, up to `count_max`.
template <typename Message, typename Reader>
std::vector<Message> ReadMessages(Reader& reader, size_t count_max) {
  std::vector<Message> messages;
  Message message;
  while (messages.size() < count_max && reader.Read(&message)) messages.push_back(message);
  return messages;
}

}  // namespace

class FakeServer::Compute : public v1::ComputeService::Service {
 public:
  explicit Compute(FakeServer& fake) : fake_(fake) {}

  grpc::Status ReduceArray(grpc::ServerContext* context, const v1::ReduceArrayRequest* request,
                           v1::ReduceArrayResponse* response) override {
    fake_.RememberPeer(*context);
    return fake_.on_reduce(*context, *request, *response);
  }
  grpc::Status ScanArray(grpc::ServerContext* context, const v1::ScanArrayRequest* request,
                         v1::ScanArrayResponse* response) override {
    fake_.RememberPeer(*context);
    return fake_.on_scan(*context, *request, *response);
  }
  grpc::Status ComputeHistogram(grpc::ServerContext* context,
                                const v1::ComputeHistogramRequest* request,
                                v1::ComputeHistogramResponse* response) override {
    fake_.RememberPeer(*context);
    return fake_.on_histogram(*context, *request, *response);
  }
  grpc::Status ReduceByKey(grpc::ServerContext* context, const v1::ReduceByKeyRequest* request,
                           v1::ReduceByKeyResponse* response) override {
    fake_.RememberPeer(*context);
    return fake_.on_reduce_by_key(*context, *request, *response);
  }
  grpc::Status MergeAccumulators(grpc::ServerContext* context,
                                 const v1::MergeAccumulatorsRequest* request,
                                 v1::MergeAccumulatorsResponse* response) override {
    fake_.RememberPeer(*context);
    return fake_.on_merge(*context, *request, *response);
  }
  grpc::Status SubtractAccumulators(grpc::ServerContext* context,
                                    const v1::SubtractAccumulatorsRequest* request,
                                    v1::SubtractAccumulatorsResponse* response) override {
    fake_.RememberPeer(*context);
    return fake_.on_subtract(*context, *request, *response);
  }
  grpc::Status ReduceStream(grpc::ServerContext* context,
                            grpc::ServerReader<v1::ReduceStreamRequest>* reader,
                            v1::ReduceStreamResponse* response) override {
    return fake_.on_reduce_stream(
        *context, ReadMessages<v1::ReduceStreamRequest>(*reader, fake_.stream_messages_max),
        *response);
  }
  grpc::Status HistogramStream(grpc::ServerContext* context,
                               grpc::ServerReader<v1::HistogramStreamRequest>* reader,
                               v1::HistogramStreamResponse* response) override {
    return fake_.on_histogram_stream(
        *context, ReadMessages<v1::HistogramStreamRequest>(*reader, fake_.stream_messages_max),
        *response);
  }
  grpc::Status ReduceByKeyStream(grpc::ServerContext* context,
                                 grpc::ServerReader<v1::ReduceByKeyStreamRequest>* reader,
                                 v1::ReduceByKeyStreamResponse* response) override {
    return fake_.on_keyed_stream(
        *context, ReadMessages<v1::ReduceByKeyStreamRequest>(*reader, fake_.stream_messages_max),
        *response);
  }
  grpc::Status ScanStream(
      grpc::ServerContext* context,
      grpc::ServerReaderWriter<v1::ScanStreamResponse, v1::ScanStreamRequest>* stream) override {
    std::vector<v1::ScanStreamResponse> messages;
    const grpc::Status status = fake_.on_scan_stream(
        *context, ReadMessages<v1::ScanStreamRequest>(*stream, fake_.stream_messages_max),
        messages);
    for (const v1::ScanStreamResponse& message : messages) stream->Write(message);
    return status;
  }

  grpc::Status BatchCompute(grpc::ServerContext* context, const v1::BatchComputeRequest* request,
                            v1::BatchComputeResponse* response) override {
    fake_.RememberPeer(*context);
    return fake_.on_batch(*context, *request, *response);
  }

  grpc::Status ComputeQuantiles(grpc::ServerContext* context,
                                const v1::ComputeQuantilesRequest* request,
                                v1::ComputeQuantilesResponse* response) override {
    fake_.RememberPeer(*context);
    return fake_.on_quantiles(*context, *request, *response);
  }

  grpc::Status SelectTop(grpc::ServerContext* context, const v1::SelectTopRequest* request,
                         v1::SelectTopResponse* response) override {
    fake_.RememberPeer(*context);
    return fake_.on_top(*context, *request, *response);
  }

  grpc::Status RelateArrays(grpc::ServerContext* context, const v1::RelateArraysRequest* request,
                            v1::RelateArraysResponse* response) override {
    fake_.RememberPeer(*context);
    return fake_.on_relate(*context, *request, *response);
  }

 private:
  FakeServer& fake_;
};

class FakeServer::Arrays : public v1::ArrayService::Service {
 public:
  explicit Arrays(FakeServer& fake) : fake_(fake) {}

  grpc::Status CreateArray(grpc::ServerContext* context, const v1::CreateArrayRequest* request,
                           v1::CreateArrayResponse* response) override {
    return fake_.on_create_array(*context, *request, *response);
  }
  grpc::Status WriteArray(grpc::ServerContext* context,
                          grpc::ServerReader<v1::WriteArrayRequest>* reader,
                          v1::WriteArrayResponse* response) override {
    return fake_.on_write_array(
        *context, ReadMessages<v1::WriteArrayRequest>(*reader, fake_.stream_messages_max),
        *response);
  }
  grpc::Status ReadArray(grpc::ServerContext* context, const v1::ReadArrayRequest* request,
                         grpc::ServerWriter<v1::ReadArrayResponse>* writer) override {
    std::vector<v1::ReadArrayResponse> messages;
    const grpc::Status status = fake_.on_read_array(*context, *request, messages);
    for (const v1::ReadArrayResponse& message : messages) writer->Write(message);
    return status;
  }
  grpc::Status GetArray(grpc::ServerContext* context, const v1::GetArrayRequest* request,
                        v1::GetArrayResponse* response) override {
    return fake_.on_get_array(*context, *request, *response);
  }
  grpc::Status ListArrays(grpc::ServerContext* context, const v1::ListArraysRequest* request,
                          v1::ListArraysResponse* response) override {
    return fake_.on_list_arrays(*context, *request, *response);
  }
  grpc::Status DeleteArray(grpc::ServerContext* context, const v1::DeleteArrayRequest* request,
                           v1::DeleteArrayResponse* response) override {
    return fake_.on_delete_array(*context, *request, *response);
  }

 private:
  FakeServer& fake_;
};

class FakeServer::Information : public v1::ServerService::Service {
 public:
  explicit Information(FakeServer& fake) : fake_(fake) {}

  grpc::Status GetServerInfo(grpc::ServerContext* context, const v1::GetServerInfoRequest* request,
                             v1::GetServerInfoResponse* response) override {
    return fake_.on_info(*context, *request, *response);
  }
  grpc::Status GetStatistics(grpc::ServerContext* context, const v1::GetStatisticsRequest* request,
                             v1::GetStatisticsResponse* response) override {
    return fake_.on_statistics(*context, *request, *response);
  }

 private:
  FakeServer& fake_;
};

class FakeServer::Regions : public v1::RegionService::Service {
 public:
  explicit Regions(FakeServer& fake) : fake_(fake) {}

  grpc::Status RegisterRegion(grpc::ServerContext* context,
                              const v1::RegisterRegionRequest* request,
                              v1::RegisterRegionResponse* response) override {
    return fake_.on_register_region(*context, *request, *response);
  }
  grpc::Status UnregisterRegion(grpc::ServerContext* context,
                                const v1::UnregisterRegionRequest* request,
                                v1::UnregisterRegionResponse* response) override {
    return fake_.on_unregister_region(*context, *request, *response);
  }
  grpc::Status ListRegions(grpc::ServerContext* context, const v1::ListRegionsRequest* request,
                           v1::ListRegionsResponse* response) override {
    return fake_.on_list_regions(*context, *request, *response);
  }

 private:
  FakeServer& fake_;
};

FakeServer::FakeServer(int port, ReduceHandler reduce)
    : on_reduce(std::move(reduce)),
      arrays_(std::make_unique<Arrays>(*this)),
      compute_(std::make_unique<Compute>(*this)),
      information_(std::make_unique<Information>(*this)),
      regions_(std::make_unique<Regions>(*this)) {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  const std::string address = absl::StrCat("127.0.0.1:", port);
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
  builder.SetMaxReceiveMessageSize(-1);
  builder.RegisterService(arrays_.get());
  builder.RegisterService(compute_.get());
  builder.RegisterService(information_.get());
  builder.RegisterService(regions_.get());
  server_ = builder.BuildAndStart();
  target_ = absl::StrCat("127.0.0.1:", port);
}

FakeServer::~FakeServer() {
  server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
  server_->Wait();
}

std::set<std::string> FakeServer::peers() const {
  absl::MutexLock lock(&mutex_);
  return peers_;
}

void FakeServer::RememberPeer(const grpc::ServerContext& context) {
  absl::MutexLock lock(&mutex_);
  peers_.insert(context.peer());
}

}  // namespace gridfold::client
