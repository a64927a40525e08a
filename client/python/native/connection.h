// The connection that the Python part of the package calls.
#ifndef GRIDFOLD_CLIENT_PYTHON_NATIVE_CONNECTION_H_
#define GRIDFOLD_CLIENT_PYTHON_NATIVE_CONNECTION_H_

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "client/python/native/call.h"
#include "client/python/native/progress.h"
#include "gridfold/client.h"
#include "pybind11/pybind11.h"

namespace gridfold::python {

// A client, shared by the connections that differ in the options of their calls, and by the calls
// in flight. Thread-safe but for Close.
class Connection {
 public:
  static Connection Connect(client::ClientOptions options);

  // The same connection for calls with other options. No call outlives `timeout_s` seconds;
  // nothing: the client's own timeout. `progress`: as Progress takes it; None leaves it as it is,
  // False tells nobody.
  Connection With(std::optional<double> timeout_s, std::optional<client::Priority> priority,
                  std::string traceparent, pybind11::object progress) const;

  // Calls fail with FAILED_PRECONDITION from now on. Those in flight end as they would have.
  void Close() { client_.reset(); }
  bool is_open() const { return client_ != nullptr; }

  // What `to_python` makes of the answer of `wait`, an operation of client::Client with these
  // arguments. `start` is the same operation as it is begun and not waited for, for those who do
  // not wait. `to_python` holds nothing of Python's.
  template <typename Wait, typename Start, typename ToPython, typename... Arguments>
  pybind11::object Ask(Wait wait, Start, const ToPython& to_python,
                       const Arguments&... arguments) const {
    auto result = Run([&](client::Client& client, const client::CallOptions& call) {
      return (client.*wait)(arguments..., call);
    });
    return to_python(*std::move(result));
  }

  // Runs `call`, a function of a client::Client& and client::CallOptions, as RunCall does.
  template <typename Call>
  auto Run(const Call& call) const {
    const std::shared_ptr<client::Client> client = UsableClient();
    Progress progress(progress_);
    const auto run = [&](std::function<bool()> is_cancelled) {
      client::CallOptions options = options_;
      options.progress = progress.reports();
      options.is_cancelled = std::move(is_cancelled);
      if (options.progress) {
        options.is_cancelled = [&progress, asked = std::move(options.is_cancelled)] {
          return progress.has_failed() || asked();
        };
      }
      return call(*client, options);
    };
    return RunCall(run, [&] { progress.End(); });
  }

  const client::CallOptions& options() const { return options_; }

  // Throws where the connection is closed, or belongs to the process that this one was forked from:
  // gRPC's threads are not here.
  std::shared_ptr<client::Client> UsableClient() const;

 private:
  explicit Connection(std::shared_ptr<client::Client> client);

  std::shared_ptr<client::Client> client_;
  client::CallOptions options_;
  pybind11::object progress_;  // Null: nobody is told.
  pid_t process_id_;
};

using ConnectionClass = pybind11::class_<Connection>;

// Each adds the methods of one kind of operation to an engine: a Connection, whose methods wait, or
// a LoopConnection.
template <typename Engine>
void AddReductions(pybind11::class_<Engine>& engine);
template <typename Engine>
void AddScans(pybind11::class_<Engine>& engine);
template <typename Engine>
void AddHistograms(pybind11::class_<Engine>& engine);
template <typename Engine>
void AddOrderStatistics(pybind11::class_<Engine>& engine);
template <typename Engine>
void AddPairedStatistics(pybind11::class_<Engine>& engine);
template <typename Engine>
void AddKeyedReductions(pybind11::class_<Engine>& engine);

// Each adds methods that wait.
void AddRegions(ConnectionClass& connection);
void AddResidentArrays(ConnectionClass& connection);
void AddServerInfo(ConnectionClass& connection);

}  // namespace gridfold::python

#endif  // GRIDFOLD_CLIENT_PYTHON_NATIVE_CONNECTION_H_
