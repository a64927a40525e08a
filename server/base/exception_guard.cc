#include "server/base/exception_guard.h"

#include <exception>
#include <new>

#include "server/base/error_reason.h"

namespace gridfold::server {

absl::Status CatchExceptions(absl::FunctionRef<absl::Status()> body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return WithReason(absl::ResourceExhaustedError("out of memory"), kReasonOutOfMemory);
  } catch (const std::exception& exception) {
    return absl::InternalError(exception.what());
  } catch (...) {
    return absl::InternalError("an exception of unknown type");
  }
}

}  // namespace gridfold::server
