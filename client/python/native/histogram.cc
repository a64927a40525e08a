// Connection.histogram.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/python/native/array.h"
#include "client/python/native/bins.h"
#include "client/python/native/connection.h"
#include "client/python/native/execution.h"
#include "pybind11/stl.h"

namespace gridfold::python {

namespace py = pybind11;

FirstInteger ToFirstInteger(const py::object& number) {
  if (number < py::int_(0)) return {.value = number.cast<int64_t>()};
  const auto first = number.cast<uint64_t>();
  if (first >> 63 != 0) return {.unsigned_value = first};
  return {.value = static_cast<int64_t>(first)};
}

client::BinSpecification ToBins(const py::tuple& bins) {
  const auto kind = bins[0].cast<std::string>();
  if (kind == "even") {
    return client::EvenBins{bins[1].cast<uint64_t>(), bins[2].cast<std::optional<double>>(),
                            bins[3].cast<std::optional<double>>()};
  }
  if (kind == "rule") {
    return client::EvenBins{.lower_bound = bins[2].cast<std::optional<double>>(),
                            .upper_bound = bins[3].cast<std::optional<double>>(),
                            .rule = client::BinRuleOf(bins[1].cast<std::string>())};
  }
  if (kind == "edges") return client::EdgeBins{bins[1].cast<std::vector<double>>()};
  if (kind == "integer") {
    const FirstInteger first = ToFirstInteger(bins[1]);
    return client::IntegerBins{first.value, bins[2].cast<uint64_t>(), first.unsigned_value};
  }
  if (kind == "logarithmic") {
    return client::LogarithmicBins{bins[1].cast<uint64_t>(), bins[2].cast<double>(),
                                   bins[3].cast<double>()};
  }
  throw py::value_error("no kind of bins: " + kind);
}

namespace {

// (counts or weight sums, underflow, overflow, NaN, quantile values).
py::tuple ToPython(client::HistogramCounts channel, bool is_weighted) {
  return py::make_tuple(
      is_weighted ? Adopt(std::move(channel.weight_sums)) : Adopt(std::move(channel.counts)),
      channel.underflow_count, channel.overflow_count, channel.nan_count,
      Adopt(std::move(channel.quantile_values)));
}

py::tuple Histogram(const Connection& connection, const py::tuple& source,
                    const std::vector<py::tuple>& bins, const std::optional<py::tuple>& y_source,
                    const std::optional<py::tuple>& weights, bool clamp,
                    std::vector<double> quantiles) {
  client::HistogramOptions options{.out_of_range_policy = clamp ? client::OutOfRangePolicy::kClamp
                                                                : client::OutOfRangePolicy::kDrop,
                                   .quantiles = std::move(quantiles)};
  for (const py::tuple& specification : bins) options.bins.push_back(ToBins(specification));
  if (y_source) options.y_array = ToInput(*y_source);
  if (weights) options.weights = ToInput(*weights);
  const client::ArrayInput input = ToInput(source);
  auto result = connection.Run([&](client::Client& client, const client::CallOptions& call) {
    return client.ComputeHistogram(input, options, call);
  });
  py::list channels;
  for (client::HistogramCounts& channel : result->channels) {
    channels.append(ToPython(std::move(channel), weights.has_value()));
  }
  py::list edges;
  for (client::ResolvedBins& resolved : result->bins) {
    edges.append(Adopt(std::move(resolved.edges)));
  }
  return py::make_tuple(channels, edges, Execution(result->execution));
}

}  // namespace

void AddHistograms(ConnectionClass& connection) {
  connection.def("histogram", &Histogram, py::arg("source"), py::arg("bins"), py::arg("y_source"),
                 py::arg("weights"), py::arg("clamp"), py::arg("quantiles"));
}

}  // namespace gridfold::python
