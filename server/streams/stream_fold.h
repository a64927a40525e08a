// The computation of a stream whose batches are folded: reductions (stream_reduction.cc), also of
// what a mask selects (stream_selected.cc), histograms (stream_histogram.cc) and reductions by key
// (stream_keyed.cc).
//
// Not thread-safe: used by one job of the stream at a time, or between jobs.
#ifndef GRIDFOLD_SERVER_STREAMS_STREAM_FOLD_H_
#define GRIDFOLD_SERVER_STREAMS_STREAM_FOLD_H_

#include <array>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/message.h"
#include "gridfold/v1/execution.pb.h"
#include "kernels/contract/engine.h"
#include "kernels/types/element_type.h"
#include "server/arrays/array_store.h"
#include "server/planning/request_validation.h"
#include "server/scheduling/job.h"
#include "server/wire/piece_queue.h"
#include "server/wire/stream_message.h"

namespace gridfold::server {

// What has arrived of each array of a stream, and the bytes of each.
using StreamArrays = std::array<PieceQueue, kStreamArrayCountMax>;
using StreamSizes = std::array<uint64_t, kStreamArrayCountMax>;
StreamSizes SizesOf(const StreamArrays& arrays);

struct StreamAnswer {
  std::unique_ptr<google::protobuf::Message> message;
  v1::ExecutionStatistics* execution = nullptr;  // In the message; to be filled.
};

class StreamFold {
 public:
  virtual ~StreamFold() = default;

  virtual kernels::ElementType element_type() const = 0;

  // Memory that it holds, without the data that has arrived. May grow while it runs.
  virtual uint64_t state_bytes() const = 0;

  // The most that the answer takes to a stream of so many bytes in all.
  virtual uint64_t AnswerBytesMax(uint64_t stream_bytes) const = 0;

  // The array is none of the request's: the caller is told which field that is.
  virtual absl::Status CheckExpected(size_t array) const = 0;

  // The field of messages that brings the elements which are counted.
  virtual const char* counted_field() const { return "data"; }

  // Whether Run could use so many bytes.
  virtual bool CanRun(const StreamSizes& sizes) const = 0;

  // Where more may come, a batch of fewer bytes is not worth its cost.
  virtual uint64_t batch_bytes_wanted() const = 0;

  // Computes on what has arrived, and removes it, but for a part that is no whole element or row.
  // Errors: those of Lane; INVALID_ARGUMENT, field named.
  virtual absl::Status Run(StreamArrays& arrays, const JobContext& job,
                           kernels::RunStatistics& statistics) = 0;

  // Whether the last Run has ended early, where its memory has grown: it is to be called again with
  // the same arrays, once there is room for that.
  virtual bool HasMoreToRun() const { return false; }

  // The answer; `rest` is what the last Run left. To be called once, last. Errors: as Run.
  virtual absl::StatusOr<StreamAnswer> Finish(const StreamArrays& rest,
                                              const std::stop_token& stop) = 0;
};

// What folds are made in.
struct FoldContext {
  const Limits& limits;
  TenantArrays arrays;  // Beside which batches take room for the while.
};

// `header` is the encoded request.
absl::StatusOr<std::unique_ptr<StreamFold>> MakeStreamReduction(const std::string& header,
                                                                const FoldContext& context);
absl::StatusOr<std::unique_ptr<StreamFold>> MakeStreamHistogram(const std::string& header,
                                                                const FoldContext& context);
absl::StatusOr<std::unique_ptr<StreamFold>> MakeStreamKeyed(const std::string& header,
                                                            const FoldContext& context);
// A reduction with a mask; `planned` has one.
absl::StatusOr<std::unique_ptr<StreamFold>> MakeStreamSelected(PlannedReductionStream planned,
                                                               const FoldContext& context);

// The answer to a reduction. Errors: INVALID_ARGUMENT that names "data" where the array is not
// whole rows.
absl::StatusOr<StreamAnswer> AnswerReduction(PlannedReductionStream& planned,
                                             const kernels::ReductionPlan& plan,
                                             kernels::ReductionMerge merged);

// The most that the answer to a stream of so many bytes in all takes.
uint64_t ReductionAnswerBytesMax(const kernels::ReductionPlan& plan, uint64_t stream_bytes);

// The error of an array of which the request knows nothing.
absl::Status UnexpectedArray(const char* field);

// Arrays that travel beside each other: the names of their fields, and the bytes of an element, 0
// of an array that the request does not have.
struct ArraysBeside {
  std::array<const char*, kStreamArrayCountMax> fields;
  StreamSizes element_bytes;

  absl::Status CheckExpected(size_t array) const {
    return element_bytes[array] != 0 ? absl::OkStatus() : UnexpectedArray(fields[array]);
  }
  // Elements of which every array is there.
  uint64_t ElementCount(const StreamSizes& sizes) const;
  // All arrays have whole elements, and the same number of them; `folded` of them are done with.
  absl::Status CheckEnd(const StreamSizes& sizes, uint64_t folded) const;
};

// The first elements of arrays, for a job.
struct FirstElements {
  std::array<std::vector<kernels::HostSpan>, kStreamArrayCountMax> pieces;
  std::array<kernels::HostSlices, kStreamArrayCountMax> slices;

  FirstElements(const StreamArrays& arrays, const StreamSizes& element_bytes, uint64_t count);
  FirstElements(const FirstElements&) = delete;
  FirstElements& operator=(const FirstElements&) = delete;
};
void RemoveElements(const StreamSizes& element_bytes, uint64_t count, StreamArrays& arrays);

// The error of the request in a stream's first message: names the field from the message on.
absl::Status InHeader(const absl::Status& status);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_STREAMS_STREAM_FOLD_H_
