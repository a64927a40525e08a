// The caller's trace, by which its own tools find the server's log line of a call: "traceparent" of
// W3C Trace Context (https://www.w3.org/TR/trace-context/). Pure; thread-safe.
#ifndef GRIDFOLD_SERVER_BASE_TRACE_CONTEXT_H_
#define GRIDFOLD_SERVER_BASE_TRACE_CONTEXT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace gridfold::server {

// Both empty where a call brings none.
struct TraceContext {
  std::string trace_id;   // 32 hexadecimal digits, lower case.
  std::string parent_id;  // 16: the caller's span.
};

// Parses a header's value; empty where it is malformed. Of an unknown later version the part that
// version 00 defines is read, as the standard asks.
TraceContext ParseTraceparent(absl::string_view value);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_BASE_TRACE_CONTEXT_H_
