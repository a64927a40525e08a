// Turns exceptions into statuses where our code is called by threads that must not end.
#ifndef GRIDFOLD_SERVER_BASE_EXCEPTION_GUARD_H_
#define GRIDFOLD_SERVER_BASE_EXCEPTION_GUARD_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace gridfold::server {

// Returns what `body` returns or, where it throws, RESOURCE_EXHAUSTED with a retry delay for
// std::bad_alloc, INTERNAL for anything else.
absl::Status CatchExceptions(absl::FunctionRef<absl::Status()> body);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_BASE_EXCEPTION_GUARD_H_
