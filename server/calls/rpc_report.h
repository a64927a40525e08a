// The report of a call as it begins: its number, who calls, also for an audit log, and its trace
// (base/trace_context.h) by the metadata key "traceparent".
#ifndef GRIDFOLD_SERVER_CALLS_RPC_REPORT_H_
#define GRIDFOLD_SERVER_CALLS_RPC_REPORT_H_

#include <grpcpp/grpcpp.h>

#include <iterator>
#include <memory>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/base/rpc.h"
#include "server/base/trace_context.h"
#include "server/calls/call_environment.h"
#include "server/calls/call_report.h"
#include "server/calls/caller_address.h"
#include "server/process/audit_log.h"

namespace gridfold::server {

// Empty where the key is absent, given twice or malformed, which is no reason to refuse a call.
inline TraceContext TraceOf(const grpc::CallbackServerContext& context) {
  const auto [first, last] = context.client_metadata().equal_range("traceparent");
  if (first == last || std::next(first) != last) return {};
  return ParseTraceparent(absl::string_view(first->second.data(), first->second.size()));
}

inline std::shared_ptr<AuditNotes> NewAuditNotes(const grpc::CallbackServerContext& context) {
  auto notes = std::make_shared<AuditNotes>();
  const CallerAddress caller = AddressOfCaller(context);
  notes->peer = caller.peer;
  notes->certificate = caller.certificate;
  const std::vector<grpc::string_ref> names = context.auth_context()->GetPeerIdentity();
  if (!names.empty()) notes->certificate.assign(names[0].data(), names[0].size());
  return notes;
}

inline CallReport NewReport(Rpc rpc, CallEnvironment& environment,
                            const grpc::CallbackServerContext& context) {
  CallReport report(rpc, environment.next_call_id++);
  report.trace = TraceOf(context);
  if (environment.audit != nullptr) report.audit = NewAuditNotes(context);
  report.context = &context;
  return report;
}

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_CALLS_RPC_REPORT_H_
