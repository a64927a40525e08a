#include "client/library/unary_call.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/library/memory_loan.h"
#include "client/library/status_conversion.h"
#include "grpcpp/client_context.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/support/proto_buffer_reader.h"

namespace gridfold::client {
namespace {

grpc::Status SendAndReceive(const std::shared_ptr<grpc::Channel>& channel,
                            const std::string& method, const WireMessage& request,
                            absl::Time deadline, MemoryLoan& loan, grpc::CompletionQueue& queue,
                            grpc::ByteBuffer& response) {
  grpc::ClientContext context;
  if (deadline != absl::InfiniteFuture()) context.set_deadline(absl::ToChronoTime(deadline));
  grpc::GenericStub stub(channel);
  const std::unique_ptr<grpc::GenericClientAsyncResponseReader> call =
      stub.PrepareUnaryCall(&context, method, loan.Lend(request), &queue);
  call->StartCall();
  grpc::Status status;
  call->Finish(&response, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  return status;
}

// Lets gRPC work until the loan is returned. The queue delivers nothing any more, but whoever waits
// on it lends his thread to the connections.
void WaitUntilReturned(const MemoryLoan& loan, grpc::CompletionQueue& queue) {
  while (!loan.IsReturned()) {
    void* tag = nullptr;
    bool ok = false;
    queue.AsyncNext(&tag, &ok, absl::ToChronoTime(absl::Now() + absl::Milliseconds(1)));
  }
}

absl::Status Parse(grpc::ByteBuffer& bytes, google::protobuf::MessageLite& message) {
  grpc::ProtoBufferReader reader(&bytes);
  if (!reader.status().ok() || !message.ParseFromZeroCopyStream(&reader)) {
    return absl::InternalError(
        absl::StrCat("the server's answer is not a ", message.GetTypeName()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CallOnce(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                      const WireMessage& request, absl::Time deadline,
                      google::protobuf::MessageLite& response) {
  grpc::CompletionQueue queue;
  MemoryLoan loan;
  grpc::ByteBuffer answer;
  const grpc::Status status =
      SendAndReceive(channel, method, request, deadline, loan, queue, answer);
  WaitUntilReturned(loan, queue);
  if (!status.ok()) return ToAbslStatus(status);
  return Parse(answer, response);
}

}  // namespace gridfold::client
