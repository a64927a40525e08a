// gridfold._native: the C++ client library as the package's Python part calls it. Its functions
// take and return what costs least to convert; what users see is written in Python.
#include <optional>
#include <string>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/python/native/array.h"
#include "client/python/native/call.h"
#include "client/python/native/connection.h"
#include "client/python/native/execution.h"
#include "client/python/native/loop_connection.h"
#include "gridfold/statistic.h"
#include "pybind11/pybind11.h"
#include "pybind11/stl.h"

namespace gridfold::python {

namespace py = pybind11;

namespace {

absl::Duration ToDuration(const std::optional<double>& seconds) {
  return seconds ? absl::Seconds(*seconds) : absl::InfiniteDuration();
}

Connection Connect(std::string target, bool round_robin, std::string tenant, int priority,
                   int channels, double connect_timeout_s, std::optional<double> timeout_s,
                   int attempts, const std::optional<py::tuple>& tls, std::string token) {
  client::ClientOptions options{
      .target = std::move(target),
      .balancing = round_robin ? client::Balancing::kRoundRobin : client::Balancing::kFirst,
      .tenant = std::move(tenant),
      .priority = static_cast<client::Priority>(priority),
      .channel_count = channels,
      .connect_timeout = absl::Seconds(connect_timeout_s),
      .default_timeout = ToDuration(timeout_s),
      .token = std::move(token)};
  options.retry.attempts_max = attempts;
  if (tls) {
    const auto text = [&](size_t i) { return (*tls)[i].cast<std::string>(); };
    options.tls = client::TlsOptions{.ca_file = text(0),
                                     .certificate_file = text(1),
                                     .key_file = text(2),
                                     .server_name = text(3)};
  }
  return Connection::Connect(std::move(options));
}

Connection With(const Connection& connection, std::optional<double> timeout_s,
                std::optional<int> priority, std::string traceparent, py::object progress) {
  std::optional<client::Priority> urgency;
  if (priority) urgency = static_cast<client::Priority>(*priority);
  return connection.With(timeout_s, urgency, std::move(traceparent), std::move(progress));
}

// Every statistic's name and number.
py::dict Statistics() {
  py::dict numbers;
  for (const client::Statistic statistic : client::AllStatistics()) {
    numbers[py::str(std::string(client::StatisticName(statistic)))] = static_cast<int>(statistic);
  }
  return numbers;
}

template <typename Engine>
void AddOperations(py::class_<Engine>& engine) {
  AddReductions(engine);
  AddScans(engine);
  AddHistograms(engine);
  AddOrderStatistics(engine);
  AddPairedStatistics(engine);
  AddKeyedReductions(engine);
}

}  // namespace

PYBIND11_MODULE(_native, module) {
  // Abseil looks for locks that are taken in circles, also as distributions build it for releases:
  // 4 % of the processor time of small calls. Tests leave that on.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  module.attr("STATISTICS") = Statistics();
  AddArrays(module);
  AddExecution(module);
  py::class_<Cancellation>(module, "Cancellation")
      .def(py::init<>())
      .def("cancel", &Cancellation::Cancel)
      .def("use", [](const Cancellation& cancellation) { Cancellation::Use(&cancellation); })
      .def_static("use_none", [] { Cancellation::Use(nullptr); });
  module.def("end_calls", [](double timeout_s) { EndCalls(absl::Seconds(timeout_s)); });
  module.def("forget_calls", &ForgetCalls);
  ConnectionClass connection(module, "Connection");
  connection.def("close", &Connection::Close)
      .def_property_readonly("is_open", &Connection::is_open)
      .def("with_options", &With, py::arg("timeout_s"), py::arg("priority"), py::arg("traceparent"),
           py::arg("progress"));
  AddOperations(connection);
  AddRegions(connection);
  AddResidentArrays(connection);
  AddServerInfo(connection);
  py::class_<LoopConnection> loop_connection = AddLoopConnection(module);
  AddOperations(loop_connection);
  module.attr("STARTED_BYTES_MAX") = client::kStartedBytesMax;
  module.def("connect", &Connect, py::arg("target"), py::arg("round_robin"), py::arg("tenant"),
             py::arg("priority"), py::arg("channels"), py::arg("connect_timeout_s"),
             py::arg("timeout_s"), py::arg("attempts"), py::arg("tls"), py::arg("token"));
}

}  // namespace gridfold::python
