// Connection's methods for device memory that the server is to see.
#include "gridfold/region.h"

#include <unistd.h>

#include <cstdint>
#include <string>

#include "client/python/native/connection.h"

namespace gridfold::python {

namespace py = pybind11;

namespace {

// The region's name, which the server chooses. It ends with this process.
std::string Register(const Connection& connection, const py::bytes& handle, uint32_t device,
                     uint64_t size_bytes) {
  const client::NewRegion region{
      .size_bytes = size_bytes,
      .owner_process_id = static_cast<uint32_t>(getpid()),
      .cuda_ipc = client::CudaIpcMemory{.handle = handle, .device = device}};
  return connection
      .Run([&](client::Client& client, const client::CallOptions& call) {
        return client.RegisterRegion(region, call);
      })
      ->name;
}

void Unregister(const Connection& connection, const std::string& name) {
  (void)connection.Run([&](client::Client& client, const client::CallOptions& call) {
    return client.UnregisterRegion(name, call);
  });
}

}  // namespace

void AddRegions(ConnectionClass& connection) {
  connection
      .def("register_device_region", &Register, py::arg("handle"), py::arg("device"),
           py::arg("size_bytes"))
      .def("unregister_region", &Unregister, py::arg("name"));
}

}  // namespace gridfold::python
