#include "client/library/unary_call.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "client/library/cancellation.h"
#include "client/library/memory_loan.h"
#include "client/library/security.h"
#include "client/library/status_conversion.h"
#include "grpcpp/client_context.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/support/proto_buffer_reader.h"

namespace gridfold::client {
namespace {

grpc::Status SendAndReceive(const std::shared_ptr<grpc::Channel>& channel,
                            const std::string& method, const WireMessage& request,
                            const CallHead& head, const Cancellation& cancellation,
                            MemoryLoan& loan, grpc::CompletionQueue& queue,
                            grpc::ByteBuffer& response) {
  grpc::ClientContext context;
  head.ApplyTo(context);
  grpc::GenericStub stub(channel);
  const std::unique_ptr<grpc::GenericClientAsyncResponseReader> call =
      stub.PrepareUnaryCall(&context, method, loan.Lend(request), &queue);
  call->StartCall();
  grpc::Status status;
  call->Finish(&response, &status, nullptr);
  cancellation.WaitFor(queue, context);
  return status;
}

}  // namespace

void CallHead::ApplyTo(grpc::ClientContext& context) const {
  if (deadline != absl::InfiniteFuture()) context.set_deadline(absl::ToChronoTime(deadline));
  if (!tenant.empty()) context.AddMetadata("gridfold-tenant", tenant);
  if (!token.empty()) context.AddMetadata("authorization", absl::StrCat("Bearer ", token));
  if (!traceparent.empty() && IsHeaderText(traceparent)) {
    context.AddMetadata("traceparent", traceparent);
  }
  if (priority != Priority::kNormal) {
    context.AddMetadata("gridfold-priority", priority == Priority::kHigh ? "high" : "low");
  }
}

absl::Status ErrorOf(const grpc::Status& status, bool is_cancelled) {
  return is_cancelled ? Cancellation::Error() : ToCallStatus(status);
}

absl::Status Parse(grpc::ByteBuffer& bytes, google::protobuf::MessageLite& message) {
  if (bytes.Length() == 0) {
    // A message without fields, which gRPC's reader does not take.
    message.Clear();
    return absl::OkStatus();
  }
  grpc::ProtoBufferReader reader(&bytes);
  if (!reader.status().ok() || !message.ParseFromZeroCopyStream(&reader)) {
    return absl::InternalError(
        absl::StrCat("the server's answer is not a ", message.GetTypeName()));
  }
  return absl::OkStatus();
}

absl::Status CallOnce(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                      const WireMessage& request, const CallHead& head,
                      google::protobuf::MessageLite& response) {
  grpc::CompletionQueue queue;
  MemoryLoan loan;
  grpc::ByteBuffer answer;
  const Cancellation cancellation(head.is_cancelled);
  const grpc::Status status =
      SendAndReceive(channel, method, request, head, cancellation, loan, queue, answer);
  loan.WaitUntilReturned(queue);
  if (!status.ok()) return ErrorOf(status, cancellation.IsCancelled());
  return Parse(answer, response);
}

}  // namespace gridfold::client
