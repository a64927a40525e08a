#include "client/transport_benchmark/resident_array.h"

#include "gridfold/v1/array_service.grpc.pb.h"

namespace gridfold::transport_benchmark {

namespace {

constexpr char kName[] = "transport_benchmark";

}  // namespace

grpc::Status CreateArray(const std::shared_ptr<grpc::Channel>& channel, uint64_t element_count) {
  v1::CreateArrayRequest request;
  request.set_name(kName);
  request.set_element_type(v1::ELEMENT_TYPE_FLOAT32);
  request.add_shape(element_count);
  v1::CreateArrayResponse response;
  grpc::ClientContext context;
  return v1::ArrayService::NewStub(channel)->CreateArray(&context, request, &response);
}

v1::ReduceArrayRequest ResidentFullStatistics() {
  v1::ReduceArrayRequest request;
  request.mutable_array()->mutable_resident_array()->set_name(kName);
  for (const v1::Statistic statistic :
       {v1::STATISTIC_COUNT, v1::STATISTIC_SUM, v1::STATISTIC_MIN, v1::STATISTIC_MAX,
        v1::STATISTIC_ARGMIN, v1::STATISTIC_ARGMAX, v1::STATISTIC_MEAN, v1::STATISTIC_VARIANCE,
        v1::STATISTIC_NAN_COUNT}) {
    request.add_statistics(statistic);
  }
  return request;
}

}  // namespace gridfold::transport_benchmark
