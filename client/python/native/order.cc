// Connection.quantiles and Connection.top.
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "client/python/native/array.h"
#include "client/python/native/connection.h"
#include "client/python/native/execution.h"
#include "pybind11/stl.h"

namespace gridfold::python {

namespace py = pybind11;

namespace {

client::NanPolicy PolicyOf(bool ignore_nan) {
  return ignore_nan ? client::NanPolicy::kIgnore : client::NanPolicy::kPropagate;
}

// An array for each quantile, and how the job ran.
py::tuple ComputeQuantiles(const Connection& connection, const py::tuple& source,
                           const std::vector<double>& quantiles, int method,
                           const std::vector<int32_t>& axes, bool ignore_nan,
                           const std::optional<py::tuple>& weights) {
  client::QuantileOptions options{.quantiles = quantiles,
                                  .method = static_cast<client::QuantileMethod>(method),
                                  .grouping = ToGrouping(axes),
                                  .nan_policy = PolicyOf(ignore_nan)};
  if (weights) options.weights = ToInput(*weights);
  const client::ArrayInput input = ToInput(source);
  auto result = connection.Run([&](client::Client& client, const client::CallOptions& call) {
    return client.ComputeQuantiles(input, options, call);
  });
  py::list values;
  for (client::StatisticValues& one : result->quantile_values) {
    values.append(Adopt(std::move(one)));
  }
  return py::make_tuple(std::move(values), Execution(result->execution));
}

// The values, their indices, and how the job ran.
py::tuple SelectTop(const Connection& connection, const py::tuple& source, uint64_t count,
                    bool smallest, const std::vector<int32_t>& axes, bool ignore_nan) {
  const client::TopOptions options{.count = count,
                                   .smallest = smallest,
                                   .grouping = ToGrouping(axes),
                                   .nan_policy = PolicyOf(ignore_nan)};
  const client::ArrayInput input = ToInput(source);
  auto result = connection.Run([&](client::Client& client, const client::CallOptions& call) {
    return client.SelectTop(input, options, call);
  });
  return py::make_tuple(Adopt(std::move(result->values)), Adopt(std::move(result->indices)),
                        Execution(result->execution));
}

}  // namespace

void AddOrderStatistics(ConnectionClass& connection) {
  connection.def("quantiles", &ComputeQuantiles, py::arg("source"), py::arg("quantiles"),
                 py::arg("method"), py::arg("axis"), py::arg("ignore_nan"),
                 py::arg("weights") = std::nullopt);
  connection.def("top", &SelectTop, py::arg("source"), py::arg("count"), py::arg("smallest"),
                 py::arg("axis"), py::arg("ignore_nan"));
}

}  // namespace gridfold::python
