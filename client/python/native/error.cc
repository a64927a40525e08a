#include "client/python/native/error.h"

#include <optional>

#include "absl/time/time.h"
#include "gridfold/error_details.h"
#include "pybind11/pybind11.h"
#include "pybind11/stl.h"

namespace gridfold::python {

namespace py = pybind11;

void Throw(const absl::Status& status) {
  const std::optional<absl::Duration> delay = client::RetryDelay(status);
  const py::object error =
      py::module_::import("gridfold._errors")
          .attr("from_status")(status.raw_code(), std::string(status.message()),
                               client::ErrorReason(status), client::ViolatedField(status),
                               delay ? py::object(py::float_(absl::ToDoubleSeconds(*delay)))
                                     : py::object(py::none()));
  PyErr_SetObject(py::type::of(error).ptr(), error.ptr());
  throw py::error_already_set();
}

}  // namespace gridfold::python
