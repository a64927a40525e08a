// The trace of a call (trace_context.h), by the metadata key "traceparent".
#ifndef GRIDFOLD_SERVER_RPC_TRACE_H_
#define GRIDFOLD_SERVER_RPC_TRACE_H_

#include <grpcpp/grpcpp.h>

#include <iterator>

#include "absl/strings/string_view.h"
#include "server/trace_context.h"

namespace gridfold::server {

// Empty where the key is not there, twice, or makes no sense: no reason to refuse a call.
inline TraceContext TraceOf(const grpc::CallbackServerContext& context) {
  const auto [first, last] = context.client_metadata().equal_range("traceparent");
  if (first == last || std::next(first) != last) return {};
  return ParseTraceparent(absl::string_view(first->second.data(), first->second.size()));
}

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_RPC_TRACE_H_
