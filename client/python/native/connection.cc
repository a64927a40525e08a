#include "client/python/native/connection.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace gridfold::python {
namespace {

using Connected = absl::StatusOr<std::shared_ptr<client::Client>>;

constexpr std::chrono::milliseconds kPollInterval(50);

// Throws in a process that was forked from one that has connected: gRPC's threads are not here, and
// whoever waits for them waits for ever.
void CheckProcess() {
  static std::atomic<pid_t> connected_process = 0;
  pid_t none = 0;
  const pid_t current = getpid();
  if (!connected_process.compare_exchange_strong(none, current) && none != current) {
    Throw(absl::FailedPreconditionError(
        "this process was forked from one that had connected, and cannot connect itself; connect "
        "after the fork only, or start processes by \"spawn\""));
  }
}

// A client that a process which fork has made does not destroy: gRPC would wait there for threads.
std::shared_ptr<client::Client> OfThisProcess(std::unique_ptr<client::Client> client) {
  return {client.release(), [process = getpid()](client::Client* own) {
            if (getpid() == process) delete own;
          }};
}

// Connects in a thread of its own, which a caller that gives up leaves alone.
std::future<Connected> StartConnecting(client::ClientOptions options) {
  std::promise<Connected> promise;
  std::future<Connected> connected = promise.get_future();
  std::thread([options = std::move(options), promise = std::move(promise)]() mutable {
    absl::StatusOr<std::unique_ptr<client::Client>> client = client::Client::Connect(options);
    if (client.ok()) {
      promise.set_value(OfThisProcess(*std::move(client)));
    } else {
      promise.set_value(client.status());
    }
  }).detach();
  return connected;
}

}  // namespace

Connection::Connection(std::shared_ptr<client::Client> client)
    : client_(std::move(client)), process_id_(getpid()) {}

Connection Connection::Connect(client::ClientOptions options) {
  CheckProcess();
  const auto connect = [&](const std::function<bool()>& is_cancelled) -> Connected {
    std::future<Connected> connected = StartConnecting(std::move(options));
    while (connected.wait_for(kPollInterval) != std::future_status::ready) {
      if (is_cancelled()) return absl::CancelledError("the caller has given up the call");
    }
    return connected.get();
  };
  Connected client = RunCall(connect, [] {});
  return Connection(*std::move(client));
}

Connection Connection::With(std::optional<double> timeout_s,
                            std::optional<client::Priority> priority, std::string traceparent,
                            pybind11::object progress) const {
  Connection other = *this;
  if (timeout_s) other.options_.timeout = absl::Seconds(*timeout_s);
  if (priority) other.options_.priority = priority;
  if (!traceparent.empty()) other.options_.traceparent = std::move(traceparent);
  if (progress.ptr() == Py_False) {
    other.progress_ = {};
  } else if (!progress.is_none()) {
    other.progress_ = std::move(progress);
  }
  return other;
}

std::shared_ptr<client::Client> Connection::UsableClient() const {
  if (client_ == nullptr) Throw(absl::FailedPreconditionError("the connection is closed"));
  if (getpid() != process_id_) {
    Throw(absl::FailedPreconditionError(
        "the connection belongs to the process that this one was forked from; connect after the "
        "fork only, or start processes by \"spawn\""));
  }
  return client_;
}

}  // namespace gridfold::python
