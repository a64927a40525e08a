// Operations on arrays of the caller's memory, of any size: each travels the way that is fastest,
// or that is asked for.
#ifndef GRIDFOLD_CLIENT_LIBRARY_ARRAY_CALLS_H_
#define GRIDFOLD_CLIENT_LIBRARY_ARRAY_CALLS_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "client/library/call_budget.h"
#include "client/library/region_pool.h"
#include "client/library/transport.h"
#include "gridfold/client.h"

namespace gridfold::client {

// What the operations share: what the client knows of its server, and memory that is kept. Lives as
// long as the client. Thread-safe.
class ArrayCalls {
 public:
  ArrayCalls(Client& client, Transport& transport)
      : client_(client), transport_(transport), regions_(client) {}

  absl::StatusOr<ReductionResult> ReduceArray(const ArrayView& array,
                                              const ReductionOptions& options,
                                              const CallOptions& call_options);
  absl::StatusOr<HistogramResult> ComputeHistogram(const ArrayView& array,
                                                   const HistogramOptions& options,
                                                   const CallOptions& call_options);
  absl::StatusOr<KeyedReductionResult> ReduceByKey(const ArrayInput& keys, const ArrayInput& values,
                                                   const KeyedReductionOptions& options,
                                                   const CallOptions& call_options);
  absl::StatusOr<ScanResult> ScanArray(const ArrayView& array, const ScanOptions& options,
                                       const CallOptions& call_options);

  // What the server accepts, which it is asked once.
  absl::StatusOr<ServerLimits> Limits(const CallOptions& call_options);

  // Data of one message of a stream, or of WriteArray: the option, or the server's limit where that
  // is less. INTERNAL where not every element fits in.
  absl::StatusOr<uint64_t> MessageBytes(const CallOptions& call_options);

  Client& client() { return client_; }
  Transport& transport() { return transport_; }
  RegionPool& regions() { return regions_; }

 private:
  absl::StatusOr<ScanResult> ScanBy(ArrayTransport way, const ArrayView& array,
                                    const ScanOptions& options, const CallBudget& budget,
                                    ProgressTally& progress);
  absl::StatusOr<ScanResult> ScanInStream(const ArrayView& array, const ScanOptions& options,
                                          const CallBudget& budget, ProgressTally& progress);
  absl::StatusOr<ScanResult> ScanInRegion(const ArrayView& array, const ScanOptions& options,
                                          const CallBudget& budget);
  absl::StatusOr<ScanResult> ScanByResident(const ArrayView& array, const ScanOptions& options,
                                            const CallBudget& budget, ProgressTally& progress);

  Client& client_;
  Transport& transport_;
  RegionPool regions_;
  absl::Mutex mutex_;
  std::optional<ServerLimits> limits_ ABSL_GUARDED_BY(mutex_);
};

// The operations on an array that a request carries, or names: one call each.
absl::StatusOr<ReductionResult> ReduceOnce(Transport& transport, const ArrayInput& array,
                                           const ReductionOptions& options,
                                           const CallOptions& call_options);
absl::StatusOr<HistogramResult> CountOnce(Transport& transport, const ArrayInput& array,
                                          const HistogramOptions& options,
                                          const CallOptions& call_options);
absl::StatusOr<ScanResult> ScanOnce(Transport& transport, const ArrayInput& array,
                                    const ScanOptions& options, const CallOptions& call_options);

// Whether a request of so many bytes, and an answer of so many, beside what every message has, are
// no larger than the server's and the client's largest message.
bool FitsMessage(uint64_t request_bytes, uint64_t answer_bytes, const ServerLimits& limits,
                 const ClientOptions& options);

// What a request carries of a grouping.
uint64_t BytesOf(const Grouping& grouping);

// Whether the server holds enough of a stream for questions whose parts do not end where messages
// do: segments, and scans. One with small messages may not.
bool TakesAnyStream(const ServerLimits& limits, const ClientOptions& options);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_ARRAY_CALLS_H_
