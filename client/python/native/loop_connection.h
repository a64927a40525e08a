// The connection as an event loop calls it.
#ifndef GRIDFOLD_CLIENT_PYTHON_NATIVE_LOOP_CONNECTION_H_
#define GRIDFOLD_CLIENT_PYTHON_NATIVE_LOOP_CONNECTION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "client/python/native/completions.h"
#include "client/python/native/connection.h"
#include "gridfold/client.h"
#include "pybind11/pybind11.h"

namespace gridfold::python {

// A call that is under way, which `completions` are told the end of. Keeps the client: destroyed
// before its end, with the last of the client, it ends the call and waits for that.
class LoopCall {
 public:
  LoopCall(uint64_t number, std::shared_ptr<client::Client> client, client::PendingCall call)
      : number_(number), client_(std::move(client)), call_(std::move(call)) {}

  uint64_t number() const { return number_; }
  void Cancel() const { call_.Cancel(); }

 private:
  uint64_t number_;
  std::shared_ptr<client::Client> client_;
  client::PendingCall call_;
};

// The operations of a Connection, which must live as long: each returns a LoopCall at once. Takes
// arrays of client::kStartedBytesMax together, which may change when the function has returned. A
// loop makes many calls at once: they wait while the server refuses them for now.
class LoopConnection {
 public:
  LoopConnection(const Connection& connection, std::shared_ptr<Completions> completions)
      : connection_(connection), completions_(std::move(completions)) {}

  // As Connection::Ask.
  template <typename Wait, typename Start, typename ToPython, typename... Arguments>
  pybind11::object Ask(Wait, Start start, ToPython to_python, const Arguments&... arguments) const {
    using Result = typename std::invoke_result_t<Wait, client::Client&, const Arguments&...,
                                                 const client::CallOptions&>::value_type;
    std::shared_ptr<client::Client> client = connection_.UsableClient();
    client::CallOptions options = connection_.options();
    options.waits_while_refused = true;
    const uint64_t number = completions_->NextNumber();
    client::PendingCall call = ((*client).*start)(
        arguments..., options,
        [completions = completions_, number, to_python](absl::StatusOr<Result> result) {
          completions->Add(number, [result = std::move(result), to_python]() mutable {
            if (!result.ok()) Throw(result.status());
            return pybind11::object(to_python(*std::move(result)));
          });
        });
    return pybind11::cast(LoopCall(number, std::move(client), std::move(call)));
  }

 private:
  const Connection& connection_;
  const std::shared_ptr<Completions> completions_;
};

// Defines the classes Completions, LoopCall and LoopConnection, without its operations.
pybind11::class_<LoopConnection> AddLoopConnection(pybind11::module_& module);

}  // namespace gridfold::python

#endif  // GRIDFOLD_CLIENT_PYTHON_NATIVE_LOOP_CONNECTION_H_
