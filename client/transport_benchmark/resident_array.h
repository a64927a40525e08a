// The resident array of the sections that use one.
#ifndef GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_RESIDENT_ARRAY_H_
#define GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_RESIDENT_ARRAY_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <memory>

#include "gridfold/v1/compute_service.pb.h"

namespace gridfold::transport_benchmark {

// So many zeros of float32.
grpc::Status CreateArray(const std::shared_ptr<grpc::Channel>& channel, uint64_t element_count);

// Count, sum, minimum, maximum, both their places, mean, variance and the number of NaNs of it.
v1::ReduceArrayRequest ResidentFullStatistics();

}  // namespace gridfold::transport_benchmark

#endif  // GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_RESIDENT_ARRAY_H_
