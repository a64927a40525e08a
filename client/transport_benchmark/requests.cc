#include "client/transport_benchmark/requests.h"

#include <cstring>

namespace gridfold::transport_benchmark {

v1::ReduceArrayRequest InlineSum(uint64_t size_bytes) {
  v1::ReduceArrayRequest request;
  v1::InlineArray& array = *request.mutable_array()->mutable_inline_array();
  array.set_element_type(v1::ELEMENT_TYPE_FLOAT32);
  std::string& data = *array.mutable_data();
  data.resize(size_bytes);
  for (uint64_t i = 0; i < size_bytes / sizeof(float); ++i) {
    const float value = 1.0f / static_cast<float>(i + 1);
    std::memcpy(data.data() + i * sizeof(float), &value, sizeof(value));
  }
  request.add_statistics(v1::STATISTIC_SUM);
  return request;
}

std::string BatchOfSums(uint64_t size_bytes, int operation_count) {
  v1::BatchComputeRequest batch;
  for (int i = 0; i < operation_count; ++i) {
    *batch.add_operations()->mutable_reduction() = InlineSum(size_bytes);
  }
  return batch.SerializeAsString();
}

std::string ReduceStreamHeader(uint64_t element_count) {
  v1::ReduceStreamRequest message;
  message.set_element_count(element_count);
  v1::ReduceArrayRequest& request = *message.mutable_request();
  request.mutable_array()->mutable_streamed_array()->set_element_type(v1::ELEMENT_TYPE_FLOAT32);
  request.add_statistics(v1::STATISTIC_SUM);
  return message.SerializeAsString();
}

std::string HistogramStreamHeader(uint64_t element_count) {
  v1::HistogramStreamRequest message;
  message.set_element_count(element_count);
  v1::ComputeHistogramRequest& request = *message.mutable_request();
  request.mutable_array()->mutable_streamed_array()->set_element_type(v1::ELEMENT_TYPE_FLOAT32);
  v1::EvenBins& bins = *request.add_bins()->mutable_even();
  bins.set_bin_count(1024);
  bins.set_lower_bound(0);
  bins.set_upper_bound(100);
  return message.SerializeAsString();
}

std::string ScanStreamHeader(uint64_t element_count) {
  v1::ScanStreamRequest message;
  message.set_element_count(element_count);
  v1::ScanArrayRequest& request = *message.mutable_request();
  request.mutable_array()->mutable_streamed_array()->set_element_type(v1::ELEMENT_TYPE_FLOAT32);
  request.set_operation(v1::SCAN_OPERATION_SUM);
  return message.SerializeAsString();
}

}  // namespace gridfold::transport_benchmark
