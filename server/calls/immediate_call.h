// A call that only looks something up or records something, and is answered immediately, in gRPC's
// own thread. Used by services/array_service.cc, services/region_service.cc and
// services/server_service.cc only.
#ifndef GRIDFOLD_SERVER_CALLS_IMMEDIATE_CALL_H_
#define GRIDFOLD_SERVER_CALLS_IMMEDIATE_CALL_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/arrays/array_store.h"
#include "server/base/error_reason.h"
#include "server/base/exception_guard.h"
#include "server/calls/call_environment.h"
#include "server/calls/call_report.h"
#include "server/calls/rpc_report.h"
#include "server/calls/tenant.h"
#include "server/regions/region_store.h"
#include "server/transport/send_watch.h"
#include "server/wire/message_codec.h"
#include "server/wire/rpc_status.h"

namespace gridfold::server {

// What the tenant of a call has on the server.
struct TenantStores {
  TenantArrays arrays;
  TenantRegions regions;
};

// Has room for the answer until it has gone. Deletes itself then.
class ImmediateReactor final : public grpc::ServerUnaryReactor {
 public:
  ImmediateReactor(CallEnvironment& environment, grpc::CallbackServerContext& context)
      : scheduler_(environment.scheduler),
        connection_(ConnectionOf(context)),
        unsent_(environment.sends, context) {}

  // RESOURCE_EXHAUSTED with a retry delay where there is not as much.
  absl::Status TakeRoom(const std::string& tenant, uint64_t bytes) {
    const std::optional<AnswerGrant> grant = scheduler_.TakeAnswerRoom(
        {.tenant = tenant, .connection = connection_}, bytes + kAnswerOverheadBytes);
    if (!grant) {
      return QueueFull("answers that nobody takes leave no room for another", kRetryDelay);
    }
    grant_ = *grant;
    return absl::OkStatus();
  }

  void FinishWith(const absl::Status& status) {
    unsent_.Begin(grant_.bytes);
    Finish(ToGrpcStatus(status));
  }

  void OnDone() override {
    if (grant_.bytes > 0) scheduler_.GiveBackAnswerRoom(grant_);
    delete this;
  }

 private:
  Scheduler& scheduler_;
  const uint64_t connection_;
  AnswerGrant grant_;
  UnsentAnswer unsent_;
};

// Answers with what `body` makes of the request, for its tenant.
template <class Request, class Response>
grpc::ServerUnaryReactor* AnswerAtOnce(
    CallEnvironment& environment, Rpc rpc, grpc::CallbackServerContext& context,
    const grpc::ByteBuffer& request_bytes, grpc::ByteBuffer& response_bytes,
    absl::FunctionRef<absl::Status(const Request&, const TenantStores&, Response&)> body) {
  CallReport report = NewReport(rpc, environment, context);
  report.request_bytes = request_bytes.Length();
  auto* const reactor = new ImmediateReactor(environment, context);
  const absl::Status status = CatchExceptions([&]() -> absl::Status {
    const absl::StatusOr<Caller> caller =
        ReadCaller(context, environment.tokens, RpcName(rpc), report.audit.get());
    if (!caller.ok()) return caller.status();
    caller->Charge(report.request_bytes);
    if (absl::Status size = CheckMessageSize(report.request_bytes, environment.limits);
        !size.ok()) {
      return size;
    }
    Request request;
    // The buffer belongs to this call.
    absl::Status decoded =
        DecodeRequest(const_cast<grpc::ByteBuffer&>(request_bytes), environment.limits, request);
    if (!decoded.ok()) return decoded;
    Response response;
    const TenantStores stores{TenantArrays(environment.arrays, caller->tenant, 0, report.audit),
                              TenantRegions(environment.regions, caller->tenant, report.audit)};
    if (absl::Status answered = body(request, stores, response); !answered.ok()) return answered;
    if (absl::Status encoded = EncodeResponse(response, response_bytes); !encoded.ok()) {
      return encoded;
    }
    absl::Status room = reactor->TakeRoom(caller->tenant, response_bytes.Length());
    if (!room.ok()) response_bytes.Clear();
    return room;
  });
  environment.Report(report, status, response_bytes.Length());
  reactor->FinishWith(status);
  return reactor;
}

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_CALLS_IMMEDIATE_CALL_H_
