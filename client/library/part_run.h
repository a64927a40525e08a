// Work that is done in parts, by several threads.
#ifndef GRIDFOLD_CLIENT_LIBRARY_PART_RUN_H_
#define GRIDFOLD_CLIENT_LIBRARY_PART_RUN_H_

#include <cstddef>
#include <functional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"

namespace gridfold::client {

// Whether the server has no room at the moment: RESOURCE_EXHAUSTED that says when to come again.
bool IsRefusedForNow(const absl::Status& status);

// Asks whether to stop; as CallOptions::is_cancelled, and as thread-safe. May be empty.
using StopRequest = std::function<bool()>;

// Sleeps for so long, or until it is asked to stop.
void Pause(absl::Duration duration, const StopRequest& is_stopped);

// Runs `run(part, worker, is_stopped)` for each part, on up to `worker_count` threads, one of which
// is the caller's, and as many as the system has to give; each has a number from 0 on. Returns the
// first error; others are then to stop, as they are where `is_cancelled` says so, which the
// caller's thread goes on asking. A part that the server refuses for now waits until another one
// has ended, and where none is under way, as long as the server asks; it fails where none has ended
// at all. So parts never need more room on the server than one of them does.
absl::Status RunParts(
    size_t part_count, size_t worker_count, const StopRequest& is_cancelled,
    absl::FunctionRef<absl::Status(size_t part, size_t worker, const StopRequest& is_stopped)> run);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_PART_RUN_H_
