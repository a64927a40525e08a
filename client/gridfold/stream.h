// Operations on arrays that are sent in pieces: of any length, in constant memory on both sides,
// and with the answers, bit for bit, of one call for the whole array.
//
//   absl::StatusOr<std::unique_ptr<ReductionStream>> stream = client.OpenReductionStream(
//       {.element_type = ElementType::kFloat32}, {.statistics = {Statistic::kMean}});
//   if (!stream.ok()) return stream.status();
//   while (there are more bytes) (*stream)->Write(bytes);
//   absl::StatusOr<ReductionResult> result = (*stream)->Finish();
//
// Bytes may be cut anywhere, even inside an element. Write copies them once and returns when the
// transport has taken them, which it does no faster than the server computes. A stream that fails
// is not retried: the caller has to start again.
//
// A stream must not outlive its client. Destroying one that is not finished cancels it.
#ifndef GRIDFOLD_CLIENT_GRIDFOLD_STREAM_H_
#define GRIDFOLD_CLIENT_GRIDFOLD_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gridfold/element_type.h"
#include "gridfold/execution_statistics.h"
#include "gridfold/histogram.h"
#include "gridfold/keyed_reduction.h"
#include "gridfold/reduction.h"
#include "gridfold/scan.h"

namespace gridfold::client {

class ArrayCalls;
class MessageSender;

// An array that is sent in pieces.
struct StreamedArray {
  ElementType element_type = ElementType::kFloat64;
  uint64_t column_count = 0;  // Of a matrix, which is sent row by row; 0: one dimension.
  // In place of column_count: all extents but the first. Only for reductions.
  std::vector<uint64_t> row_shape = {};
  // Whether a mask is sent beside the elements: a byte, 0 or 1, for each, of which those count that
  // have 1.
  bool has_mask = false;
};

// Errors: those of Client. After an error every further call returns it again. Not thread-safe.
class ReductionStream {
 public:
  ~ReductionStream();

  // The pieces of elements and mask need not have the same number of elements, but the server keeps
  // no more than a message of one without the other.
  absl::Status Write(std::span<const std::byte> data, std::span<const std::byte> mask = {});

  // The answer for all that was written. To be called once, after the last Write.
  absl::StatusOr<ReductionResult> Finish();

 private:
  friend class Client;
  explicit ReductionStream(std::unique_ptr<MessageSender> sender);

  const std::unique_ptr<MessageSender> sender_;
  absl::Status error_;
};

// As ReductionStream. The pieces of the arrays need not have the same number of elements, but the
// server keeps no more than a message of one array without the others.
class HistogramStream {
 public:
  ~HistogramStream();

  absl::Status Write(std::span<const std::byte> samples, std::span<const std::byte> y_samples = {},
                     std::span<const std::byte> weights = {}, std::span<const std::byte> mask = {});

  absl::StatusOr<HistogramResult> Finish();

 private:
  friend class Client;
  HistogramStream(std::unique_ptr<MessageSender> sender, HistogramOptions options);

  const std::unique_ptr<MessageSender> sender_;
  const HistogramOptions options_;
  absl::Status error_;
};

// What a histogram's stream sends beside its samples.
struct StreamedCompanions {
  bool y_array = false;  // Second coordinates, of the samples' type.
  std::optional<ElementType> weights = std::nullopt;
  bool mask = false;  // A byte, 0 or 1, for each sample, of which those count that have 1.
};

// As HistogramStream: keys, values and, for bins in two dimensions, second coordinates.
class KeyedReductionStream {
 public:
  ~KeyedReductionStream();

  absl::Status Write(std::span<const std::byte> keys, std::span<const std::byte> values,
                     std::span<const std::byte> y_keys = {});

  absl::StatusOr<KeyedReductionResult> Finish();

 private:
  friend class Client;
  explicit KeyedReductionStream(std::unique_ptr<MessageSender> sender);

  const std::unique_ptr<MessageSender> sender_;
  absl::Status error_;
};

// Results of a scan, in order.
struct ScanPiece {
  uint64_t first_element = 0;
  ElementType element_type = ElementType::kFloat64;
  std::string data;
};

// Results arrive while elements are still being written: one thread writes, another one reads. The
// server accepts no more elements while results wait to be read.
class ScanStream {
 public:
  ~ScanStream();

  // Writing thread. `mask` as that of ReductionStream. Where the stream has ended, the error that
  // it has ended with, which Read returns too, after the results that came before it; INTERNAL
  // where it has ended early without an error.
  absl::Status Write(std::span<const std::byte> data, std::span<const std::byte> mask = {});
  // There is nothing more to write.
  void WritesDone();

  // Reading thread: the next results; nothing after the last. Errors: those of Client.
  absl::StatusOr<std::optional<ScanPiece>> Read();

  // Any thread: ends the stream; Write and Read fail.
  void Cancel();

  // How the scan ran. Valid once Read has returned nothing.
  const ExecutionStatistics& execution() const { return execution_; }

 private:
  friend class Client;
  friend class ArrayCalls;
  explicit ScanStream(std::unique_ptr<MessageSender> sender);

  const std::unique_ptr<MessageSender> sender_;
  ExecutionStatistics execution_;
  uint64_t element_count_ = 0;  // Read so far.
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_GRIDFOLD_STREAM_H_
