#include "client/library/stream_call.h"

#include "client/library/memory_loan.h"
#include "client/library/status_conversion.h"
#include "grpcpp/client_context.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/generic/generic_stub.h"

namespace gridfold::client {
namespace {

// Waits for the one operation under way; whether it succeeded.
bool Wait(grpc::CompletionQueue& queue) {
  void* tag = nullptr;
  bool ok = false;
  return queue.Next(&tag, &ok) && ok;
}

absl::Status Exchange(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                      const CallHead& head, MemoryLoan& loan, grpc::CompletionQueue& queue,
                      absl::FunctionRef<std::optional<WireMessage>()> next_request,
                      absl::FunctionRef<absl::Status(grpc::ByteBuffer&)> on_response) {
  grpc::ClientContext context;
  head.ApplyTo(context);
  grpc::GenericStub stub(channel);
  const std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call =
      stub.PrepareCall(&context, method, &queue);
  call->StartCall(nullptr);
  bool sending = Wait(queue);
  while (sending) {
    const std::optional<WireMessage> request = next_request();
    if (!request) break;
    call->Write(loan.Lend(*request), nullptr);
    sending = Wait(queue);
  }
  if (sending) {
    call->WritesDone(nullptr);
    Wait(queue);
  }
  absl::Status status;
  while (status.ok()) {
    grpc::ByteBuffer response;
    call->Read(&response, nullptr);
    if (!Wait(queue)) break;
    status = on_response(response);
  }
  if (!status.ok()) context.TryCancel();
  grpc::Status result;
  call->Finish(&result, nullptr);
  Wait(queue);
  return status.ok() ? ToCallStatus(result) : status;
}

}  // namespace

absl::Status StreamOnce(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                        const CallHead& head,
                        absl::FunctionRef<std::optional<WireMessage>()> next_request,
                        absl::FunctionRef<absl::Status(grpc::ByteBuffer&)> on_response) {
  grpc::CompletionQueue queue;
  MemoryLoan loan;
  absl::Status status = Exchange(channel, method, head, loan, queue, next_request, on_response);
  loan.WaitUntilReturned(queue);
  return status;
}

}  // namespace gridfold::client
