// Errors of calls as exceptions of Python.
#ifndef GRIDFOLD_CLIENT_PYTHON_NATIVE_ERROR_H_
#define GRIDFOLD_CLIENT_PYTHON_NATIVE_ERROR_H_

#include "absl/status/status.h"

namespace gridfold::python {

// Throws what gridfold._errors.from_status makes of `status`, which is not OK: a subclass of
// gridfold.Error with code, reason, field and retry delay. Requires the GIL.
[[noreturn]] void Throw(const absl::Status& status);

}  // namespace gridfold::python

#endif  // GRIDFOLD_CLIENT_PYTHON_NATIVE_ERROR_H_
