// A scan of an array as it arrives: batches are scanned one after the other, each continuing the
// one before it. Not thread-safe.
#ifndef GRIDFOLD_SERVER_STREAMS_STREAM_SCAN_H_
#define GRIDFOLD_SERVER_STREAMS_STREAM_SCAN_H_

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
#include "server/wire/message_codec.h"
#include "server/wire/piece_queue.h"

namespace gridfold::server {

class StreamScan {
 public:
  // `header` is the encoded request. Errors: INVALID_ARGUMENT, field named, for what is no request
  // of a scan or cannot be scanned in a stream.
  static absl::StatusOr<std::unique_ptr<StreamScan>> Make(const std::string& header,
                                                          const Limits& limits);

  kernels::ElementType element_type() const { return plan_.array.element_type; }

  // The least bytes that make a batch.
  uint64_t batch_bytes_min() const { return kernels::kScanCarryElements * element_bytes_; }
  // The most bytes that a batch takes.
  uint64_t batch_bytes_max() const { return batch_elements_max_ * element_bytes_; }

  // Bytes of the results of so many bytes of input.
  uint64_t ResultBytes(uint64_t input_bytes) const {
    return input_bytes / element_bytes_ * kernels::ElementSize(plan_.output_type);
  }

  // Memory that it holds, without the data that has arrived: results that are being sent or wait.
  uint64_t state_bytes() const {
    return 2 * batch_elements_max_ * kernels::ElementSize(plan_.output_type);
  }

  // Scans the next batch and removes it from `data`; the last one takes all, which is no more
  // than batch_bytes_max(). Fills `message` except for its data, which it returns. Errors: those of
  // Lane; INVALID_ARGUMENT that names "data" where the array ends inside an element.
  absl::StatusOr<ChunkData> Run(PieceQueue& data, bool is_last, kernels::Lane& lane,
                                std::stop_token stop, kernels::RunStatistics& statistics,
                                v1::ScanStreamResponse& message);

 private:
  StreamScan(kernels::ScanPlan plan, uint64_t batch_elements_max)
      : plan_(std::move(plan)),
        element_bytes_(kernels::ElementSize(plan_.array.element_type)),
        batch_elements_max_(batch_elements_max) {}

  kernels::ScanPlan plan_;  // Of the batch under way.
  const uint64_t element_bytes_;
  const uint64_t batch_elements_max_;
  kernels::ScanCarry carry_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_STREAMS_STREAM_SCAN_H_
