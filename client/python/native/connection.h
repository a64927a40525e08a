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

 private:
  explicit Connection(std::shared_ptr<client::Client> client);

  // Throws where the connection is closed, or belongs to the process that this one was forked from:
  // gRPC's threads are not here.
  std::shared_ptr<client::Client> UsableClient() const;

  std::shared_ptr<client::Client> client_;
  client::CallOptions options_;
  pybind11::object progress_;  // Null: nobody is told.
  pid_t process_id_;
};

using ConnectionClass = pybind11::class_<Connection>;

// Each adds the methods of one kind of operation.
void AddReductions(ConnectionClass& connection);
void AddScans(ConnectionClass& connection);
void AddHistograms(ConnectionClass& connection);
void AddOrderStatistics(ConnectionClass& connection);
void AddPairedStatistics(ConnectionClass& connection);
void AddKeyedReductions(ConnectionClass& connection);
void AddRegions(ConnectionClass& connection);
void AddResidentArrays(ConnectionClass& connection);
void AddServerInfo(ConnectionClass& connection);

}  // namespace gridfold::python

#endif  // GRIDFOLD_CLIENT_PYTHON_NATIVE_CONNECTION_H_
