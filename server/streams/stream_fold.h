// The computation of a stream whose batches are folded: reductions (stream_reduction.cc) and
// histograms (stream_histogram.cc).
//
// Not thread-safe: used by one job of the stream at a time, or between jobs.
#ifndef GRIDFOLD_SERVER_STREAMS_STREAM_FOLD_H_
#define GRIDFOLD_SERVER_STREAMS_STREAM_FOLD_H_

#include <array>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/message.h"
#include "gridfold/v1/execution.pb.h"
#include "kernels/contract/engine.h"
#include "kernels/types/element_type.h"
#include "server/planning/request_validation.h"
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

  // Memory that it holds, without the data that has arrived.
  virtual uint64_t state_bytes() const = 0;

  // The most that the answer takes to a stream of so many bytes in all.
  virtual uint64_t AnswerBytesMax(uint64_t stream_bytes) const = 0;

  // The array is none of the request's: the caller is told which field that is.
  virtual absl::Status CheckExpected(size_t array) const = 0;

  // Whether Run could use so many bytes.
  virtual bool CanRun(const StreamSizes& sizes) const = 0;

  // Where more may come, a batch of fewer bytes is not worth its cost.
  virtual uint64_t batch_bytes_wanted() const = 0;

  // Computes on what has arrived, and removes it, but for a part that is no whole element or row.
  // Errors: those of Lane; INVALID_ARGUMENT, field named.
  virtual absl::Status Run(StreamArrays& arrays, kernels::Lane& lane, std::stop_token stop,
                           kernels::RunStatistics& statistics) = 0;

  // The answer; `rest` is what the last Run left. To be called once, last. Errors: as Run.
  virtual absl::StatusOr<StreamAnswer> Finish(const StreamArrays& rest,
                                              const std::stop_token& stop) = 0;
};

// `header` is the encoded request.
absl::StatusOr<std::unique_ptr<StreamFold>> MakeStreamReduction(const std::string& header,
                                                                const Limits& limits);
absl::StatusOr<std::unique_ptr<StreamFold>> MakeStreamHistogram(const std::string& header,
                                                                const Limits& limits);

// The error of the request in a stream's first message: names the field from the message on.
absl::Status InHeader(const absl::Status& status);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_STREAMS_STREAM_FOLD_H_
