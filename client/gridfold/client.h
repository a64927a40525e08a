// The gridfold client: reduces, scans and histograms arrays on a remote server.
//
//   absl::StatusOr<std::unique_ptr<gridfold::client::Client>> client =
//       gridfold::client::Client::Connect({.target = "gpu-host:50051"});
//   if (!client.ok()) return client.status();
//   std::vector<float> samples = ...;
//   absl::StatusOr<gridfold::client::ReductionResult> result = (*client)->ReduceArray(
//       samples, {.statistics = {Statistic::kSum, Statistic::kMax}});
#ifndef GRIDFOLD_CLIENT_GRIDFOLD_CLIENT_H_
#define GRIDFOLD_CLIENT_GRIDFOLD_CLIENT_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gridfold/accumulator.h"
#include "gridfold/array_input.h"
#include "gridfold/array_view.h"
#include "gridfold/batch.h"
#include "gridfold/client_options.h"
#include "gridfold/error_details.h"
#include "gridfold/histogram.h"
#include "gridfold/reduction.h"
#include "gridfold/region.h"
#include "gridfold/resident_array.h"
#include "gridfold/scan.h"
#include "gridfold/server_info.h"
#include "gridfold/stream.h"

namespace gridfold::client {

class Transport;

// Connections to one server.
//
// Thread safety: all methods may be called from any number of threads at once. Each blocks until
// the answer is there.
//
// Errors: the server's status with its code, message and details (error_details.h); UNAVAILABLE
// where the server cannot be reached; DEADLINE_EXCEEDED; RESOURCE_EXHAUSTED where a message is
// larger than message_bytes_max; INTERNAL where the answer makes no sense.
//
// Memory: arrays are sent from where they lie, without a copy. A call whose deadline passes while
// its array is on its way over a stalled connection therefore returns only when that connection is
// given up: late by up to ClientOptions::stall_timeout. No other call returns late.
class Client {
 public:
  // Opens the connections. UNAVAILABLE where that fails or takes longer than connect_timeout;
  // INVALID_ARGUMENT where an option makes no sense. Connections that are lost later are opened
  // again as calls need them.
  static absl::StatusOr<std::unique_ptr<Client>> Connect(const ClientOptions& options);

  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Computes statistics of an array or of each of its groups.
  absl::StatusOr<ReductionResult> ReduceArray(const ArrayInput& array,
                                              const ReductionOptions& options,
                                              const CallOptions& call_options = {});

  // Computes the running aggregate of an array or of each of its groups.
  absl::StatusOr<ScanResult> ScanArray(const ArrayInput& array, const ScanOptions& options,
                                       const CallOptions& call_options = {});

  // Counts the elements of an array by bins.
  absl::StatusOr<HistogramResult> ComputeHistogram(const ArrayInput& array,
                                                   const HistogramOptions& options,
                                                   const CallOptions& call_options = {});

  // Folds the accumulators of parts, at least one, in any order: from ReduceArray, ComputeHistogram
  // or MergeAccumulators of any server. The answer is that of one call for the whole, bit for bit.
  // INVALID_ARGUMENT names the accumulator that is damaged or does not fit the first one.
  absl::StatusOr<MergeResult> MergeAccumulators(std::span<const std::string> accumulators,
                                                const MergeOptions& options = {},
                                                const CallOptions& call_options = {});

  // The same operations on arrays that are sent piece by piece (stream.h). Of the histogram's
  // options `y_array` and `weights` are not used.
  absl::StatusOr<std::unique_ptr<ReductionStream>> OpenReductionStream(
      const StreamedArray& array, const ReductionOptions& options,
      const CallOptions& call_options = {});
  absl::StatusOr<std::unique_ptr<HistogramStream>> OpenHistogramStream(
      ElementType sample_type, const HistogramOptions& options,
      const StreamedCompanions& companions = {}, const CallOptions& call_options = {});
  absl::StatusOr<std::unique_ptr<ScanStream>> OpenScanStream(ElementType element_type,
                                                             const ScanOptions& options,
                                                             const CallOptions& call_options = {});

  // Carries out many operations in one call: for small arrays many times faster than a call for
  // each. Every answer is that of the operation's own call, bit for bit, and one that fails fails
  // alone; the error of this call is one of the whole batch.
  absl::StatusOr<BatchResult> BatchCompute(const Batch& batch,
                                           const CallOptions& call_options = {});

  // Makes an array on the server, all of whose elements are 0. ALREADY_EXISTS; RESOURCE_EXHAUSTED
  // where there is no room for it.
  absl::StatusOr<ArrayDescription> CreateArray(const NewArray& array,
                                               const CallOptions& call_options = {});

  // Writes `elements` into the array, from `first_element` (counted row by row) on. Any number of
  // calls may write to one array at once. The elements must be of the array's type: the server sees
  // their bytes only. An error may leave some of them written.
  absl::Status WriteArray(const std::string& name, uint64_t first_element,
                          const ArrayView& elements, const CallOptions& call_options = {});

  // Reads an array or a slice of it.
  absl::StatusOr<ArrayData> ReadArray(const ResidentArray& array,
                                      const CallOptions& call_options = {});

  absl::StatusOr<ArrayDescription> GetArray(const std::string& name,
                                            const CallOptions& call_options = {});

  // All arrays of the tenant, by their names.
  absl::StatusOr<std::vector<ArrayDescription>> ListArrays(const CallOptions& call_options = {});

  absl::Status DeleteArray(const std::string& name, const CallOptions& call_options = {});

  // Lets a server on this host map a shared-memory object; SharedRegion does all of it.
  // FAILED_PRECONDITION where the server allows no regions; ALREADY_EXISTS; RESOURCE_EXHAUSTED.
  absl::StatusOr<RegionDescription> RegisterRegion(const NewRegion& region,
                                                   const CallOptions& call_options = {});

  absl::Status UnregisterRegion(const std::string& name, const CallOptions& call_options = {});

  // All regions of the tenant, by their names.
  absl::StatusOr<std::vector<RegionDescription>> ListRegions(const CallOptions& call_options = {});

  absl::StatusOr<ServerInfo> GetServerInfo(const CallOptions& call_options = {});
  absl::StatusOr<ServerStatistics> GetStatistics(const CallOptions& call_options = {});

  // Asks the standard health service; an empty name asks for the server as a whole.
  absl::StatusOr<HealthStatus> CheckHealth(const std::string& service = "",
                                           const CallOptions& call_options = {});

 private:
  explicit Client(std::unique_ptr<Transport> transport);

  // Data of one message of WriteArray: what the options say, or what the server takes where that is
  // less. Asks the server once.
  absl::StatusOr<uint64_t> WriteChunkBytes(const CallOptions& call_options);

  std::unique_ptr<Transport> transport_;
  std::atomic<uint64_t> write_chunk_bytes_ = 0;  // 0: the server has not been asked.
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_GRIDFOLD_CLIENT_H_
