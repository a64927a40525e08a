// Connection.scan.
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "client/python/native/array.h"
#include "client/python/native/connection.h"
#include "client/python/native/execution.h"
#include "pybind11/stl.h"

namespace gridfold::python {

namespace py = pybind11;

namespace {

// The results' bytes, the number of their element type, and how the job ran.
py::tuple Scan(const Connection& connection, const py::tuple& source, int operation,
               const std::vector<int32_t>& axes, bool exclusive, bool reverse,
               std::optional<int> output_type, bool ignore_nan, bool wrap, bool exact,
               uint64_t window, uint64_t min_count) {
  client::ScanOptions options{
      .operation = static_cast<client::ScanOperation>(operation),
      .mode = exclusive ? client::ScanMode::kExclusive : client::ScanMode::kInclusive,
      .direction = reverse ? client::ScanDirection::kReverse : client::ScanDirection::kForward,
      .grouping = ToGrouping(axes),
      .nan_policy = ignore_nan ? client::NanPolicy::kIgnore : client::NanPolicy::kPropagate,
      .overflow_policy = wrap ? client::OverflowPolicy::kWrap : client::OverflowPolicy::kError,
      .exact = exact,
      .min_count = min_count};
  if (window != 0) options.window = window;
  if (output_type) options.output_type = static_cast<client::ElementType>(*output_type);
  const client::ArrayInput input = ToInput(source);
  auto result = connection.Run([&](client::Client& client, const client::CallOptions& call) {
    return client.ScanArray(input, options, call);
  });
  return py::make_tuple(Adopt(std::move(result->data)), static_cast<int>(result->element_type),
                        Execution(result->execution));
}

}  // namespace

void AddScans(ConnectionClass& connection) {
  connection.def("scan", &Scan, py::arg("source"), py::arg("operation"), py::arg("axis"),
                 py::arg("exclusive"), py::arg("reverse"), py::arg("output_type"),
                 py::arg("ignore_nan"), py::arg("wrap"), py::arg("exact"), py::arg("window") = 0,
                 py::arg("min_count") = 0);
}

}  // namespace gridfold::python
