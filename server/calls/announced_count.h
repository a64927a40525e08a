// How many elements the caller of a stream says there are in all, against how many have come: the
// transport drops a message that the end of the caller's stream cuts short, without an error.
//
// Not thread-safe.
#ifndef GRIDFOLD_SERVER_CALLS_ANNOUNCED_COUNT_H_
#define GRIDFOLD_SERVER_CALLS_ANNOUNCED_COUNT_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"

namespace gridfold::server {

class AnnouncedCount {
 public:
  // A message says that there are so many. Errors: INVALID_ARGUMENT, which names "element_count",
  // where another message has said otherwise.
  absl::Status Announce(uint64_t element_count);

  // Bytes have come of elements of this size. Errors: as Announce, where there are too many.
  absl::Status Add(uint64_t size_bytes, uint64_t element_bytes);

  // No more will come. Errors: as Announce, where there are too few.
  absl::Status CheckEnd(uint64_t element_bytes) const;

 private:
  absl::Status WrongCount(uint64_t element_bytes) const;

  std::optional<uint64_t> element_count_;
  uint64_t received_bytes_ = 0;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_CALLS_ANNOUNCED_COUNT_H_
