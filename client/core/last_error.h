// From statuses and exceptions to the error codes of the C interface. Thread-safe: each thread has
// an error of its own.
#ifndef GRIDFOLD_CLIENT_CORE_LAST_ERROR_H_
#define GRIDFOLD_CLIENT_CORE_LAST_ERROR_H_

#include <cstdint>
#include <exception>
#include <new>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "client/core/gridfold_core.h"

namespace gridfold::core {

// Keeps the error for gridfold_last_message, unless it is OK, and returns its code.
gridfold_status ReportStatus(const absl::Status& status);
// Keep an error, and return its code, without taking memory.
gridfold_status ReportNoMemory() noexcept;
gridfold_status ReportFault(const char* message) noexcept;

// Runs `call`, which returns a status, and lets no exception out.
template <class Call>
gridfold_status Guarded(Call&& call) noexcept {
  try {
    return ReportStatus(call());
  } catch (const std::bad_alloc&) {
    return ReportNoMemory();
  } catch (const std::exception& error) {
    return ReportFault(error.what());
  } catch (...) {
    return ReportFault("an exception of no known type");
  }
}

// INVALID_ARGUMENT for an argument that must not be null, and is.
absl::Status RequireArgument(const void* argument, absl::string_view name);

// INVALID_ARGUMENT where element `i` of a result's `count` cannot be read into `out`, which the
// header calls `name`.
absl::Status CheckElement(const void* result, uint64_t i, uint64_t count, const void* out,
                          absl::string_view name);

}  // namespace gridfold::core

#endif  // GRIDFOLD_CLIENT_CORE_LAST_ERROR_H_
