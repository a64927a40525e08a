// Connection.reduce.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
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

template <typename Value>
py::object ToPython(std::vector<Value> values, bool is_scalar) {
  if (is_scalar) return py::cast(static_cast<Value>(values.front()));
  return Adopt(std::move(values));
}

// One Python number for each statistic of a whole array, otherwise one NumPy array.
py::tuple ToPython(client::ReductionResult result, size_t statistic_count, bool is_scalar) {
  py::tuple values(statistic_count);
  for (size_t i = 0; i < statistic_count; ++i) values[i] = py::none();
  for (size_t i = 0; i < result.entries.size() && i < statistic_count; ++i) {
    values[i] = std::visit(
        [&](auto& held) {
          const bool is_one = is_scalar && held.size() == 1;
          return ToPython(std::move(held), is_one);
        },
        result.entries[i].values);
  }
  return values;
}

client::Scalar ToScalar(const py::object& value) {
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>();
  if (!py::isinstance<py::int_>(value)) return value.cast<double>();
  if (value < py::int_(0)) return value.cast<int64_t>();
  return value.cast<uint64_t>();
}

// "error" leaves it as it is.
void SetEmptyGroup(const py::object& empty, client::EmptyGroup& group) {
  if (!py::isinstance<py::str>(empty)) {
    group = {client::EmptyGroupPolicy::kValue, ToScalar(empty)};
  } else if (empty.cast<std::string>() == "nan") {
    group.policy = client::EmptyGroupPolicy::kNan;
  }
}

template <typename Engine>
py::object Reduce(const Engine& engine, const py::tuple& source, const std::vector<int>& statistics,
                  const std::vector<int32_t>& axes, bool ignore_nan, bool wrap,
                  double delta_degrees_of_freedom, const std::optional<py::tuple>& where,
                  const py::object& initial, const py::object& empty,
                  std::optional<int> output_type) {
  client::ReductionOptions options{
      .grouping = ToGrouping(axes),
      .nan_policy = ignore_nan ? client::NanPolicy::kIgnore : client::NanPolicy::kPropagate,
      .overflow_policy = wrap ? client::OverflowPolicy::kWrap : client::OverflowPolicy::kError,
      .delta_degrees_of_freedom = delta_degrees_of_freedom};
  for (const int statistic : statistics) {
    options.statistics.push_back(static_cast<client::Statistic>(statistic));
  }
  const client::ArrayInput input = ToInput(source);
  if (where) {
    options.where = ToInput(*where);
    options.empty_group.policy = client::EmptyGroupPolicy::kNan;
  }
  SetEmptyGroup(empty, options.empty_group);
  if (!initial.is_none()) options.initial = ToScalar(initial);
  if (output_type) options.output_type = static_cast<client::ElementType>(*output_type);
  const bool is_whole = std::holds_alternative<client::WholeArray>(options.grouping);
  const auto to_python = [count = statistics.size(), is_whole](client::ReductionResult result) {
    Execution execution = result.execution;
    return py::make_tuple(ToPython(std::move(result), count, is_whole), std::move(execution));
  };
  return engine.Ask(&client::Client::ReduceArray, &client::Client::StartReduceArray, to_python,
                    input, options);
}

// One statistic of all elements of an array of NumPy's as a number of Python's: what most calls ask
// for, with little around it. None where the array is not C-contiguous or has no elements.
template <typename Engine>
py::object ReduceWhole(const Engine& engine, const py::object& array, int element_type,
                       int statistic, bool wrap) {
  const std::optional<client::ArrayView> view = ViewOf(array, element_type);
  if (!view || view->element_count() == 0) return py::none();
  const client::ReductionOptions options{
      .statistics = {static_cast<client::Statistic>(statistic)},
      .overflow_policy = wrap ? client::OverflowPolicy::kWrap : client::OverflowPolicy::kError};
  const auto to_python = [](client::ReductionResult result) -> py::object {
    return ToPython(std::move(result), 1, /*is_scalar=*/true)[0];
  };
  return engine.Ask(&client::Client::ReduceArray, &client::Client::StartReduceArray, to_python,
                    client::ArrayInput(*view), options);
}

}  // namespace

template <typename Engine>
void AddReductions(py::class_<Engine>& engine) {
  engine.def("reduce_whole", &ReduceWhole<Engine>, py::arg("array"), py::arg("element_type"),
             py::arg("statistic"), py::arg("wrap"));
  engine.def("reduce", &Reduce<Engine>, py::arg("source"), py::arg("statistics"), py::arg("axis"),
             py::arg("ignore_nan"), py::arg("wrap"), py::arg("ddof"), py::arg("where") = py::none(),
             py::arg("initial") = py::none(), py::arg("empty") = "error",
             py::arg("output_type") = py::none());
}
template void AddReductions(py::class_<Connection>& engine);
template void AddReductions(py::class_<LoopConnection>& engine);

}  // namespace gridfold::python
