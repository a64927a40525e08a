// One request of an operation and its answer, whoever waits for it.
#ifndef GRIDFOLD_CLIENT_LIBRARY_OPERATION_CALL_H_
#define GRIDFOLD_CLIENT_LIBRARY_OPERATION_CALL_H_

#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/library/transport.h"
#include "client/library/unary_call.h"
#include "client/library/wire_message.h"
#include "gridfold/client_options.h"
#include "gridfold/pending_call.h"
#include "grpcpp/support/byte_buffer.h"

namespace gridfold::client {

// What is sent, and how what comes back is read.
template <typename Response, typename Result>
struct OperationCall {
  std::string method;   // "/package.Service/Method".
  WireMessage request;  // Points at the caller's arrays.
  std::function<absl::StatusOr<Result>(Response& response)> read;
  Transport::Repeatable repeatable = Transport::Repeatable::kYes;
};

// Waits for the answer.
template <typename Response, typename Result>
absl::StatusOr<Result> Run(Transport& transport, const OperationCall<Response, Result>& call,
                           const CallOptions& options) {
  Response response;
  absl::Status status =
      transport.Call(call.method, call.request, options, response, call.repeatable);
  if (!status.ok()) return status;
  return call.read(response);
}

// Tells the answer to `done`. Copies the arrays.
template <typename Response, typename Result>
PendingCall Start(Transport& transport, OperationCall<Response, Result> call,
                  const CallOptions& options, Done<Result> done) {
  return transport.Start(
      call.method, call.request, options,
      [read = std::move(call.read), done = std::move(done)](AsyncCall::Answer answer) {
        Response response;
        if (answer.ok()) {
          if (absl::Status status = Parse(*answer, response); !status.ok()) answer = status;
        }
        done(answer.ok() ? read(response) : absl::StatusOr<Result>(answer.status()));
      },
      call.repeatable);
}

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_OPERATION_CALL_H_
