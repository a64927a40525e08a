#include "client/python/native/loop_connection.h"

namespace gridfold::python {

namespace py = pybind11;

py::class_<LoopConnection> AddLoopConnection(py::module_& module) {
  py::class_<Completions, std::shared_ptr<Completions>>(module, "Completions")
      .def(py::init<>())
      .def_property_readonly("file", &Completions::file)
      .def("fetch", &Completions::Fetch);
  py::class_<LoopCall>(module, "LoopCall")
      .def_property_readonly("number", &LoopCall::number)
      .def("cancel", &LoopCall::Cancel);
  return py::class_<LoopConnection>(module, "LoopConnection")
      .def(py::init<const Connection&, std::shared_ptr<Completions>>(), py::arg("connection"),
           py::arg("completions"), py::keep_alive<1, 2>());
}

}  // namespace gridfold::python
