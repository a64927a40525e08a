// Connection's methods for arrays that stay on the server.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "client/python/native/array.h"
#include "client/python/native/connection.h"
#include "pybind11/stl.h"

namespace gridfold::python {

namespace py = pybind11;

namespace {

// (name, element type, shape, bytes, idle expiry in seconds, idle time in seconds, device).
py::tuple ToPython(const client::ArrayDescription& array) {
  return py::make_tuple(array.name, static_cast<int>(array.element_type),
                        py::tuple(py::cast(array.shape)), array.size_bytes,
                        absl::ToDoubleSeconds(array.idle_expiry),
                        absl::ToDoubleSeconds(array.idle_time), array.device);
}

py::tuple Create(const Connection& connection, std::string name, int element_type,
                 std::vector<uint64_t> shape, std::optional<double> idle_expiry_s,
                 std::optional<uint32_t> device) {
  client::NewArray array{.name = std::move(name),
                         .element_type = static_cast<client::ElementType>(element_type),
                         .shape = std::move(shape),
                         .device = device};
  if (idle_expiry_s) array.idle_expiry = absl::Seconds(*idle_expiry_s);
  return ToPython(*connection.Run([&](client::Client& client, const client::CallOptions& call) {
    return client.CreateArray(array, call);
  }));
}

void Write(const Connection& connection, const std::string& name, uint64_t first_element,
           const py::tuple& source) {
  const client::ArrayView elements = ToView(source);
  (void)connection.Run([&](client::Client& client, const client::CallOptions& call) {
    return client.WriteArray(name, first_element, elements, call);
  });
}

// The elements' bytes and the number of their type.
py::tuple Read(const Connection& connection, const py::tuple& place) {
  const client::ResidentArray array = ToResident(place);
  auto result = connection.Run([&](client::Client& client, const client::CallOptions& call) {
    return client.ReadArray(array, call);
  });
  return py::make_tuple(Adopt(std::move(result->data)), static_cast<int>(result->element_type));
}

py::tuple Get(const Connection& connection, const std::string& name) {
  return ToPython(*connection.Run([&](client::Client& client, const client::CallOptions& call) {
    return client.GetArray(name, call);
  }));
}

py::list List(const Connection& connection) {
  const auto arrays = connection.Run([&](client::Client& client, const client::CallOptions& call) {
    return client.ListArrays(call);
  });
  py::list descriptions;
  for (const client::ArrayDescription& array : *arrays) descriptions.append(ToPython(array));
  return descriptions;
}

void Delete(const Connection& connection, const std::string& name) {
  (void)connection.Run([&](client::Client& client, const client::CallOptions& call) {
    return client.DeleteArray(name, call);
  });
}

}  // namespace

void AddResidentArrays(ConnectionClass& connection) {
  connection
      .def("create_array", &Create, py::arg("name"), py::arg("element_type"), py::arg("shape"),
           py::arg("idle_expiry_s"), py::arg("device"))
      .def("write_array", &Write, py::arg("name"), py::arg("first"), py::arg("source"))
      .def("read_array", &Read, py::arg("place"))
      .def("get_array", &Get, py::arg("name"))
      .def("list_arrays", &List)
      .def("delete_array", &Delete, py::arg("name"));
}

}  // namespace gridfold::python
