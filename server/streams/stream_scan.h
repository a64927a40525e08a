// A scan of an array as it arrives: batches are scanned one after the other, each continuing the
// one before it. Where there is a mask, of a copy in which the operation's identity stands for what
// does not count. Not thread-safe.
#ifndef GRIDFOLD_SERVER_STREAMS_STREAM_SCAN_H_
#define GRIDFOLD_SERVER_STREAMS_STREAM_SCAN_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gridfold/v1/compute_service.pb.h"
#include "kernels/contract/engine.h"
#include "kernels/contract/scan.h"
#include "server/base/limits.h"
#include "server/planning/request_validation.h"
#include "server/streams/stream_fold.h"
#include "server/wire/message_codec.h"

namespace gridfold::server {

class StreamScan {
 public:
  // `header` is the encoded request. Errors: INVALID_ARGUMENT, field named, for what is no request
  // of a scan or cannot be scanned in a stream.
  static absl::StatusOr<std::unique_ptr<StreamScan>> Make(const std::string& header,
                                                          const Limits& limits);

  kernels::ElementType element_type() const { return plan_.array.element_type; }

  // The array is none of the request's: the caller is told which field that is.
  absl::Status CheckExpected(size_t array) const { return beside_.CheckExpected(array); }

  // Whether what has arrived makes a batch.
  bool CanRun(const StreamSizes& sizes) const {
    return beside_.ElementCount(sizes) >= kernels::kScanCarryElements;
  }
  // Whether one batch takes the elements that have arrived.
  bool TakesAll(const StreamSizes& sizes) const {
    return sizes[kElements] <= batch_elements_max_ * element_bytes();
  }

  // The most bytes of the results of a batch of what has arrived.
  uint64_t ResultBytesMax(const StreamSizes& sizes) const {
    const uint64_t elements = std::min(sizes[kElements] / element_bytes(), batch_elements_max_);
    return elements * kernels::ElementSize(plan_.output_type);
  }

  // Memory that it holds, without the data that has arrived: results that are being sent or wait,
  // and the copy of a batch where there is a mask.
  uint64_t state_bytes() const {
    const uint64_t copied_bytes = has_mask() ? element_bytes() + 1 : 0;
    return batch_elements_max_ * (2 * kernels::ElementSize(plan_.output_type) + copied_bytes);
  }

  // Scans the next batch and removes it from `arrays`; the last one takes all, which TakesAll says
  // that it can. Fills `message` except for its data, which it returns. Errors: those of Lane;
  // INVALID_ARGUMENT, field named, where an array ends inside an element, or before the other one.
  absl::StatusOr<ChunkData> Run(StreamArrays& arrays, bool is_last, kernels::Lane& lane,
                                std::stop_token stop, kernels::RunStatistics& statistics,
                                v1::ScanStreamResponse& message);

 private:
  // The arrays of a message, in the order of their fields.
  static constexpr size_t kElements = 0;
  static constexpr size_t kMask = 1;

  StreamScan(PlannedScanStream planned, uint64_t batch_elements_max)
      : plan_(std::move(planned.plan)), batch_elements_max_(batch_elements_max) {
    beside_.element_bytes[kElements] = kernels::ElementSize(plan_.array.element_type);
    beside_.element_bytes[kMask] = planned.has_mask ? 1 : 0;
  }

  uint64_t element_bytes() const { return beside_.element_bytes[kElements]; }
  bool has_mask() const { return beside_.element_bytes[kMask] != 0; }

  kernels::ScanPlan plan_;  // Of the batch under way.
  ArraysBeside beside_{.fields = {"data", "where"}, .element_bytes = {}};
  const uint64_t batch_elements_max_;
  kernels::ScanCarry carry_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_STREAMS_STREAM_SCAN_H_
