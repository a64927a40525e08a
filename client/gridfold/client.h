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
#include "gridfold/keyed_reduction.h"
#include "gridfold/paired.h"
#include "gridfold/pending_call.h"
#include "gridfold/quantiles.h"
#include "gridfold/reduction.h"
#include "gridfold/region.h"
#include "gridfold/resident_array.h"
#include "gridfold/scan.h"
#include "gridfold/server_info.h"
#include "gridfold/stream.h"
#include "gridfold/top.h"

namespace gridfold::client {

class ArrayCalls;
class Transport;

// Connections to one server.
//
// Thread safety: all methods may be called from any number of threads concurrently. Each blocks
// until the answer is there, but for those whose names begin with Start.
//
// Errors: the server's status with its code, message and details (error_details.h); UNAVAILABLE
// where the server cannot be reached; DEADLINE_EXCEEDED; RESOURCE_EXHAUSTED where a message is
// larger than message_bytes_max; INTERNAL where the answer is invalid.
//
// Memory: arrays are sent from the caller's memory without a copy. So a call whose deadline passes
// while its array is being sent over a stalled connection returns only when that connection is
// closed, late by up to ClientOptions::stall_timeout. No other call returns late.
class Client {
 public:
  // Opens the connections. UNAVAILABLE where that fails or takes longer than connect_timeout;
  // INVALID_ARGUMENT where an option is invalid. Connections that are lost later are reopened when
  // calls need them.
  static absl::StatusOr<std::unique_ptr<Client>> Connect(const ClientOptions& options);

  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // An array of the caller's memory may have any size: the client chooses how it travels
  // (array_transport.h), sends parts of it again that are lost on the way, and asks for the bits of
  // the whole. Deadline, cancellation and progress are those of the whole call.

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

  // Computes statistics of the values of each key, or of each bin. Where all arrays are of the
  // caller's memory, they go in a stream from the size on at which it is faster than a request, as
  // other arrays do, though never in several. Where the answer cannot be made of parts (products of
  // floating-point values; bins whose range is to be found), they go in a request or, where none
  // carries them, by way of arrays on the server. Where only some are, those must fit in a message.
  absl::StatusOr<KeyedReductionResult> ReduceByKey(const ArrayInput& keys, const ArrayInput& values,
                                                   const KeyedReductionOptions& options,
                                                   const CallOptions& call_options = {});

  // Computes exact quantiles of an array or of each of its groups, and elements by their rank.
  absl::StatusOr<QuantileResult> ComputeQuantiles(const ArrayInput& array,
                                                  const QuantileOptions& options,
                                                  const CallOptions& call_options = {});

  // Finds the largest or smallest elements of an array or of each of its groups.
  absl::StatusOr<TopResult> SelectTop(const ArrayInput& array, const TopOptions& options,
                                      const CallOptions& call_options = {});

  // Computes dot products, covariances and correlations of two arrays, or of each two columns of
  // one, and weighted means and variances. Arrays of the caller's memory that do not fit in a
  // message together go by way of arrays on the server.
  absl::StatusOr<RelateResult> RelateArrays(const ArrayInput& x, const RelateOptions& options,
                                            const CallOptions& call_options = {});

  // The same operations, begun and not waited for: `done` is told the result (pending_call.h). Any
  // number of calls may be under way at once, as far as server and connection let them, and one
  // thread serves them all. Arrays are on the server, in regions, or go in the request, which has a
  // copy when the function returns: INVALID_ARGUMENT where those of one call have more than
  // kStartedBytesMax bytes together. Of `call_options`, transport, progress and is_cancelled are
  // not used: PendingCall::Cancel gives up a call. Destroying the client gives up those that are
  // under way, and waits until `done` has been told of each.
  PendingCall StartReduceArray(const ArrayInput& array, const ReductionOptions& options,
                               const CallOptions& call_options, Done<ReductionResult> done);
  PendingCall StartScanArray(const ArrayInput& array, const ScanOptions& options,
                             const CallOptions& call_options, Done<ScanResult> done);
  PendingCall StartComputeHistogram(const ArrayInput& array, const HistogramOptions& options,
                                    const CallOptions& call_options, Done<HistogramResult> done);
  PendingCall StartReduceByKey(const ArrayInput& keys, const ArrayInput& values,
                               const KeyedReductionOptions& options,
                               const CallOptions& call_options, Done<KeyedReductionResult> done);
  PendingCall StartComputeQuantiles(const ArrayInput& array, const QuantileOptions& options,
                                    const CallOptions& call_options, Done<QuantileResult> done);
  PendingCall StartSelectTop(const ArrayInput& array, const TopOptions& options,
                             const CallOptions& call_options, Done<TopResult> done);
  PendingCall StartRelateArrays(const ArrayInput& x, const RelateOptions& options,
                                const CallOptions& call_options, Done<RelateResult> done);

  // Folds the accumulators of parts, at least one, in any order, which ReduceArray, ReduceByKey,
  // ComputeHistogram, one of their streams, MergeAccumulators or SubtractAccumulators of any server
  // returned. The answer is that of one call
  // for the whole array, bit for bit. INVALID_ARGUMENT names an accumulator that is damaged or does
  // not match the first one.
  absl::StatusOr<MergeResult> MergeAccumulators(std::span<const std::string> accumulators,
                                                const MergeOptions& options = {},
                                                const CallOptions& call_options = {});

  // Takes accumulators, at least one, out of one that they were merged into. What remains has the
  // bits of the other parts, however often parts come and go. INVALID_ARGUMENT names `minuend`
  // where it has statistics that are not made of sums and counts, or is of found keys;
  // `subtrahends` where they were never in it, or where it cannot be told whether a NaN or an
  // infinity remains.
  absl::StatusOr<MergeResult> SubtractAccumulators(const std::string& minuend,
                                                   std::span<const std::string> subtrahends,
                                                   const SubtractOptions& options = {},
                                                   const CallOptions& call_options = {});

  // The same operations on arrays that are sent in pieces (stream.h). The histogram's options
  // `y_array` and `weights` are not used; bins of keys have second coordinates where `y_keys` is
  // set, to an array that is not looked at.
  absl::StatusOr<std::unique_ptr<ReductionStream>> OpenReductionStream(
      const StreamedArray& array, const ReductionOptions& options,
      const CallOptions& call_options = {});
  absl::StatusOr<std::unique_ptr<HistogramStream>> OpenHistogramStream(
      ElementType sample_type, const HistogramOptions& options,
      const StreamedCompanions& companions = {}, const CallOptions& call_options = {});
  absl::StatusOr<std::unique_ptr<KeyedReductionStream>> OpenKeyedReductionStream(
      ElementType key_type, ElementType value_type, const KeyedReductionOptions& options,
      const CallOptions& call_options = {});
  absl::StatusOr<std::unique_ptr<ScanStream>> OpenScanStream(const StreamedArray& array,
                                                             const ScanOptions& options,
                                                             const CallOptions& call_options = {});

  // Carries out many operations in one call, which for small arrays is many times faster than a
  // call for each. Every answer is that of a call of its own, bit for bit, and an operation that
  // fails does not affect the others. An error of this call concerns the whole batch.
  absl::StatusOr<BatchResult> BatchCompute(const Batch& batch,
                                           const CallOptions& call_options = {});

  // Creates an array of zeros on the server. ALREADY_EXISTS; RESOURCE_EXHAUSTED where there is no
  // room for it.
  absl::StatusOr<ArrayDescription> CreateArray(const NewArray& array,
                                               const CallOptions& call_options = {});

  // Writes `elements` to the array, from `first_element` (counted row by row) on. Any number of
  // calls may write to one array concurrently. The elements must be of the array's type: the server
  // sees only their bytes. After an error some of them may have been written.
  absl::Status WriteArray(const std::string& name, uint64_t first_element,
                          const ArrayView& elements, const CallOptions& call_options = {});

  // Reads an array, a slice or a view of it.
  absl::StatusOr<ArrayData> ReadArray(const ResidentArray& array,
                                      const CallOptions& call_options = {});

  absl::StatusOr<ArrayDescription> GetArray(const std::string& name,
                                            const CallOptions& call_options = {});

  // All arrays of the tenant, sorted by name.
  absl::StatusOr<std::vector<ArrayDescription>> ListArrays(const CallOptions& call_options = {});

  absl::Status DeleteArray(const std::string& name, const CallOptions& call_options = {});

  // Lets a server on this host map a shared-memory object. SharedRegion does this and the rest.
  // FAILED_PRECONDITION where the server allows no regions; ALREADY_EXISTS; RESOURCE_EXHAUSTED.
  absl::StatusOr<RegionDescription> RegisterRegion(const NewRegion& region,
                                                   const CallOptions& call_options = {});

  absl::Status UnregisterRegion(const std::string& name, const CallOptions& call_options = {});

  // All regions of the tenant, sorted by name.
  absl::StatusOr<std::vector<RegionDescription>> ListRegions(const CallOptions& call_options = {});

  absl::StatusOr<ServerInfo> GetServerInfo(const CallOptions& call_options = {});
  absl::StatusOr<ServerStatistics> GetStatistics(const CallOptions& call_options = {});

  // Asks the standard health service; an empty name asks for the server as a whole.
  absl::StatusOr<HealthStatus> CheckHealth(const std::string& service = "",
                                           const CallOptions& call_options = {});

 private:
  explicit Client(std::unique_ptr<Transport> transport);

  const std::unique_ptr<Transport> transport_;
  const std::unique_ptr<ArrayCalls> array_calls_;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_GRIDFOLD_CLIENT_H_
