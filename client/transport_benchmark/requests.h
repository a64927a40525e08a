// The messages that the loads send.
#ifndef GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_REQUESTS_H_
#define GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_REQUESTS_H_

#include <cstdint>
#include <string>

#include "gridfold/v1/compute_service.pb.h"

namespace gridfold::transport_benchmark {

inline constexpr char kReduceArray[] = "/gridfold.v1.ComputeService/ReduceArray";
inline constexpr char kBatchCompute[] = "/gridfold.v1.ComputeService/BatchCompute";
inline constexpr char kReduceStream[] = "/gridfold.v1.ComputeService/ReduceStream";
inline constexpr char kHistogramStream[] = "/gridfold.v1.ComputeService/HistogramStream";
inline constexpr char kScanStream[] = "/gridfold.v1.ComputeService/ScanStream";

// The sum of so many bytes of float32 elements, sent with the request.
v1::ReduceArrayRequest InlineSum(uint64_t size_bytes);

// So many of the above in one call.
std::string BatchOfSums(uint64_t size_bytes, int operation_count);

// The first messages of streams of so many float32 elements.
std::string ReduceStreamHeader(uint64_t element_count);
std::string HistogramStreamHeader(uint64_t element_count);
std::string ScanStreamHeader(uint64_t element_count);

}  // namespace gridfold::transport_benchmark

#endif  // GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_REQUESTS_H_
