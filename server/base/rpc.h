// The RPCs of ComputeService, ArrayService and RegionService, for logs and metrics.
#ifndef GRIDFOLD_SERVER_BASE_RPC_H_
#define GRIDFOLD_SERVER_BASE_RPC_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace gridfold::server {

enum class Rpc : uint8_t {
  kReduceArray,
  kScanArray,
  kComputeHistogram,
  kMergeAccumulators,
  kCreateArray,
  kWriteArray,
  kReadArray,
  kGetArray,
  kListArrays,
  kDeleteArray,
  kReduceStream,
  kHistogramStream,
  kScanStream,
  kBatchCompute,
  kRegisterRegion,
  kUnregisterRegion,
  kListRegions,
  kReduceByKey,
  kComputeQuantiles,
  kSelectTop,
  kReduceByKeyStream,
  kSubtractAccumulators,
  kRelateArrays,
};

inline constexpr std::array kRpcNames = {"ReduceArray",       "ScanArray",
                                         "ComputeHistogram",  "MergeAccumulators",
                                         "CreateArray",       "WriteArray",
                                         "ReadArray",         "GetArray",
                                         "ListArrays",        "DeleteArray",
                                         "ReduceStream",      "HistogramStream",
                                         "ScanStream",        "BatchCompute",
                                         "RegisterRegion",    "UnregisterRegion",
                                         "ListRegions",       "ReduceByKey",
                                         "ComputeQuantiles",  "SelectTop",
                                         "ReduceByKeyStream", "SubtractAccumulators",
                                         "RelateArrays"};
inline constexpr size_t kRpcCount = kRpcNames.size();

constexpr const char* RpcName(Rpc rpc) { return kRpcNames[static_cast<size_t>(rpc)]; }

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_BASE_RPC_H_
