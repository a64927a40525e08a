#include "client/python/native/execution.h"

#include <string>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"

namespace gridfold::python {

namespace py = pybind11;

namespace {

std::string Transport(const Execution& execution) {
  return execution.transport == client::ArrayTransport::kAuto
             ? "in place"
             : std::string(client::ArrayTransportName(execution.transport));
}

std::string Repr(const Execution& execution) {
  return absl::StrFormat("<Execution %s %s, %d bytes in %.6f s>", execution.engine,
                         execution.strategy, execution.bytes_read,
                         absl::ToDoubleSeconds(execution.total_time));
}

template <absl::Duration Execution::*kTime>
double Seconds(const Execution& execution) {
  return absl::ToDoubleSeconds(execution.*kTime);
}

}  // namespace

void AddExecution(py::module_& module) {
  py::class_<Execution>(module, "Execution", "How a job ran on the server; times in seconds.")
      .def_readonly("engine", &Execution::engine, "\"cuda\" or \"cpu\".")
      .def_readonly("strategy", &Execution::strategy, "The kernels that the engine chose.")
      .def_readonly("bytes_read", &Execution::bytes_read, "By the kernels, once for each pass.")
      .def_property_readonly("queue_time_s", &Seconds<&Execution::queue_time>)
      .def_property_readonly("kernel_time_s", &Seconds<&Execution::kernel_time>)
      .def_property_readonly("total_time_s", &Seconds<&Execution::total_time>)
      .def_property_readonly("transport", &Transport, "How the array came to the server.")
      .def("__repr__", &Repr);
}

}  // namespace gridfold::python
