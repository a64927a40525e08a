// Connection's methods that ask about the server.
#include "absl/time/time.h"
#include "client/python/native/connection.h"
#include "pybind11/pybind11.h"

namespace gridfold::python {

namespace py = pybind11;

namespace {

py::dict ToPython(const client::ServerLimits& limits) {
  using py::literals::operator""_a;
  return py::dict(
      "message_bytes_max"_a = limits.message_bytes_max, "bin_count_max"_a = limits.bin_count_max,
      "group_count_max"_a = limits.group_count_max, "lane_count"_a = limits.lane_count,
      "queued_jobs_max"_a = limits.queued_jobs_max, "queued_bytes_max"_a = limits.queued_bytes_max,
      "resident_bytes_max"_a = limits.resident_bytes_max,
      "tenant_resident_bytes_max"_a = limits.tenant_resident_bytes_max,
      "array_count_max"_a = limits.array_count_max,
      "array_chunk_bytes_max"_a = limits.array_chunk_bytes_max,
      "region_count_max"_a = limits.region_count_max,
      "region_bytes_max"_a = limits.region_bytes_max,
      "stream_count_max"_a = limits.stream_count_max,
      "stream_pending_bytes_max"_a = limits.stream_pending_bytes_max,
      "batch_operations_max"_a = limits.batch_operations_max);
}

// (version, engine, [(name, memory in bytes, compute units, compute capability, UUID)], limits).
py::tuple Info(const Connection& connection) {
  const auto info = connection.Run([](client::Client& client, const client::CallOptions& call) {
    return client.GetServerInfo(call);
  });
  py::list devices;
  for (const client::Device& device : info->devices) {
    devices.append(py::make_tuple(device.name, device.memory_bytes, device.compute_units,
                                  device.compute_capability, device.uuid));
  }
  return py::make_tuple(info->version, info->engine, devices, ToPython(info->limits));
}

bool IsServing(const Connection& connection) {
  const auto health = connection.Run([](client::Client& client, const client::CallOptions& call) {
    return client.CheckHealth("", call);
  });
  return *health == client::HealthStatus::kServing;
}

}  // namespace

void AddServerInfo(ConnectionClass& connection) {
  connection.def("info", &Info).def("is_serving", &IsServing);
}

}  // namespace gridfold::python
