// Planned requests that several lanes work on: what each of them runs, and the answer that is made
// of it. Those are requests on sharded arrays, each of whose devices works on its own shard; and
// large reductions and histograms of arrays that any device can read, whose parts any lane takes.
// What no device can do with what it has is done by one, with copies of the rest (gathered_run.cc).
//
// Parts are jobs of a JobGroup (scheduling/job_group.h). Errors are those of the same request on
// one lane; dealt_reduction.h, dealt_histogram.h and dealt_scan.h of kernels/folds say how the
// answer gets the same bits.
#ifndef GRIDFOLD_SERVER_COMPUTE_DEALT_RUN_H_
#define GRIDFOLD_SERVER_COMPUTE_DEALT_RUN_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gridfold/v1/array_service.pb.h"
#include "gridfold/v1/compute_service.pb.h"
#include "kernels/contract/engine.h"
#include "server/base/limits.h"
#include "server/planning/array_request_validation.h"
#include "server/planning/batch_validation.h"
#include "server/planning/keyed_validation.h"
#include "server/planning/paired_validation.h"
#include "server/planning/request_validation.h"
#include "server/scheduling/job.h"
#include "server/scheduling/job_group.h"
#include "server/wire/arena_message.h"
#include "server/wire/scan_answer.h"

namespace gridfold::server {

// How the parts of a request ran. Thread-safe.
class DealtStatistics {
 public:
  void Add(const JobContext& context, const kernels::RunStatistics& run);

  // Bytes of all devices together; of times, those of the device that took longest.
  kernels::RunStatistics total() const;
  // The longest that a part of the request waited.
  std::chrono::nanoseconds queue_time() const;
  uint32_t device_count() const;

 private:
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<uint32_t, kernels::RunStatistics> by_engine_;
  std::chrono::nanoseconds queue_time_{0};
};

template <class Response>
class DealtRun {
 public:
  virtual ~DealtRun() = default;

  // The parts of the first round. `common` is what all jobs of the request have.
  virtual JobGroup::Parts Begin(const JobWork& common) = 0;

  // When all parts of a round have run: those of the next one, or none.
  virtual absl::StatusOr<JobGroup::Parts> EndRound(const JobContext& context) = 0;

  // When there is no further round.
  virtual absl::StatusOr<Response> MakeAnswer(const JobContext& context) = 0;

  const DealtStatistics& statistics() const { return statistics_; }

 protected:
  DealtStatistics statistics_;
};

// Null where one lane runs the request. `planned` must outlive what is returned. Errors: those of
// ArrayStore, of a new array.
absl::StatusOr<std::unique_ptr<DealtRun<v1::ReduceArrayResponse>>> Deal(
    const PlannedReduction& planned, const Limits& limits);
absl::StatusOr<std::unique_ptr<DealtRun<v1::ComputeHistogramResponse>>> Deal(
    const PlannedHistogram& planned, const Limits& limits);
absl::StatusOr<std::unique_ptr<DealtRun<ScanAnswer>>> Deal(const PlannedScan& planned,
                                                           const Limits& limits);
absl::StatusOr<std::unique_ptr<DealtRun<v1::ComputeQuantilesResponse>>> Deal(
    const PlannedQuantiles& planned, const Limits& limits);
absl::StatusOr<std::unique_ptr<DealtRun<v1::SelectTopResponse>>> Deal(const PlannedTop& planned,
                                                                      const Limits& limits);
absl::StatusOr<std::unique_ptr<DealtRun<v1::ReduceByKeyResponse>>> Deal(
    const PlannedKeyedReduction& planned, const Limits& limits);
absl::StatusOr<std::unique_ptr<DealtRun<v1::RelateArraysResponse>>> Deal(
    const PlannedPaired& planned, const Limits& limits);
absl::StatusOr<std::unique_ptr<DealtRun<v1::CreateArrayResponse>>> Deal(
    const PlannedCreation& planned, const Limits& limits);
absl::StatusOr<std::unique_ptr<DealtRun<ArenaMessage<v1::BatchComputeResponse>>>> Deal(
    const PlannedBatch& batch, const Limits& limits);

// For implementations of DealtRun.

// Runs of requests that have a `gather`.
std::unique_ptr<DealtRun<v1::ReduceArrayResponse>> Gather(const PlannedReduction& planned);
std::unique_ptr<DealtRun<v1::ComputeHistogramResponse>> Gather(const PlannedHistogram& planned);
std::unique_ptr<DealtRun<ScanAnswer>> Gather(const PlannedScan& planned);

// A part of a request: which elements, and on which engine, if not on any.
struct PartPlace {
  std::optional<uint32_t> engine;
  uint64_t first_element = 0;
  uint64_t element_count = 0;
};

// One for each shard.
std::vector<PartPlace> PlacesOf(const std::vector<ArrayShard>& shards);
// As many as there are engines, each a multiple of `unit` elements, and about as large as others.
std::vector<PartPlace> EqualPlaces(uint64_t element_count, uint64_t unit, const Limits& limits);
// From 0 to the number of elements.
kernels::Cuts CutsOf(const std::vector<PartPlace>& places);

// Jobs for these places, of which `run` runs one by its number. `element_bytes` are what the job
// works on for each element, in memory of an engine where the places have one.
JobGroup::Parts MakeParts(const JobWork& common, const std::vector<PartPlace>& places,
                          uint64_t element_bytes,
                          const std::function<absl::Status(size_t, const JobContext&)>& run);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_COMPUTE_DEALT_RUN_H_
