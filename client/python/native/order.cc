// Connection.quantiles and Connection.top.
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "client/python/native/array.h"
#include "client/python/native/connection.h"
#include "client/python/native/execution.h"
#include "client/python/native/loop_connection.h"
#include "pybind11/stl.h"

namespace gridfold::python {

namespace py = pybind11;

namespace {

client::NanPolicy PolicyOf(bool ignore_nan) {
  return ignore_nan ? client::NanPolicy::kIgnore : client::NanPolicy::kPropagate;
}

// An array for each quantile, and how the job ran.
template <typename Engine>
py::object ComputeQuantiles(const Engine& engine, const py::tuple& source,
                            const std::vector<double>& quantiles, int method,
                            const std::vector<int32_t>& axes, bool ignore_nan,
                            const std::optional<py::tuple>& weights) {
  client::QuantileOptions options{.quantiles = quantiles,
                                  .method = static_cast<client::QuantileMethod>(method),
                                  .grouping = ToGrouping(axes),
                                  .nan_policy = PolicyOf(ignore_nan)};
  if (weights) options.weights = ToInput(*weights);
  const client::ArrayInput input = ToInput(source);
  const auto to_python = [](client::QuantileResult result) {
    py::list values;
    for (client::StatisticValues& one : result.quantile_values) {
      values.append(Adopt(std::move(one)));
    }
    return py::make_tuple(std::move(values), Execution(result.execution));
  };
  return engine.Ask(&client::Client::ComputeQuantiles, &client::Client::StartComputeQuantiles,
                    to_python, input, options);
}

// The values, their indices, and how the job ran.
template <typename Engine>
py::object SelectTop(const Engine& engine, const py::tuple& source, uint64_t count, bool smallest,
                     const std::vector<int32_t>& axes, bool ignore_nan) {
  const client::TopOptions options{.count = count,
                                   .smallest = smallest,
                                   .grouping = ToGrouping(axes),
                                   .nan_policy = PolicyOf(ignore_nan)};
  const client::ArrayInput input = ToInput(source);
  const auto to_python = [](client::TopResult result) {
    return py::make_tuple(Adopt(std::move(result.values)), Adopt(std::move(result.indices)),
                          Execution(result.execution));
  };
  return engine.Ask(&client::Client::SelectTop, &client::Client::StartSelectTop, to_python, input,
                    options);
}

}  // namespace

template <typename Engine>
void AddOrderStatistics(py::class_<Engine>& engine) {
  engine.def("quantiles", &ComputeQuantiles<Engine>, py::arg("source"), py::arg("quantiles"),
             py::arg("method"), py::arg("axis"), py::arg("ignore_nan"),
             py::arg("weights") = std::nullopt);
  engine.def("top", &SelectTop<Engine>, py::arg("source"), py::arg("count"), py::arg("smallest"),
             py::arg("axis"), py::arg("ignore_nan"));
}
template void AddOrderStatistics(py::class_<Connection>& engine);
template void AddOrderStatistics(py::class_<LoopConnection>& engine);

}  // namespace gridfold::python
