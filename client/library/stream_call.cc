#include "client/library/stream_call.h"

#include "client/library/cancellation.h"
#include "client/library/memory_loan.h"
#include "client/library/status_conversion.h"
#include "grpcpp/client_context.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/generic/generic_stub.h"

namespace gridfold::client {
namespace {

absl::Status Exchange(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                      const CallHead& head, const Cancellation& cancellation, MemoryLoan& loan,
                      grpc::CompletionQueue& queue,
                      absl::FunctionRef<std::optional<WireMessage>()> next_request,
                      absl::FunctionRef<absl::Status(grpc::ByteBuffer&)> on_response) {
  grpc::ClientContext context;
  head.ApplyTo(context);
  grpc::GenericStub stub(channel);
  const std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call =
      stub.PrepareCall(&context, method, &queue);
  const auto wait = [&] { return cancellation.WaitFor(queue, context); };
  call->StartCall(nullptr);
  bool sending = wait();
  while (sending) {
    const std::optional<WireMessage> request = next_request();
    if (!request) break;
    call->Write(loan.Lend(*request), nullptr);
    sending = wait();
  }
  if (sending) {
    call->WritesDone(nullptr);
    wait();
  }
  absl::Status status;
  while (status.ok()) {
    grpc::ByteBuffer response;
    call->Read(&response, nullptr);
    if (!wait()) break;
    status = on_response(response);
  }
  if (!status.ok()) context.TryCancel();
  grpc::Status result;
  call->Finish(&result, nullptr);
  wait();
  return status.ok() ? ToCallStatus(result) : status;
}

}  // namespace

absl::Status StreamOnce(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                        const CallHead& head,
                        absl::FunctionRef<std::optional<WireMessage>()> next_request,
                        absl::FunctionRef<absl::Status(grpc::ByteBuffer&)> on_response) {
  grpc::CompletionQueue queue;
  MemoryLoan loan;
  const Cancellation cancellation(head.is_cancelled);
  absl::Status status =
      Exchange(channel, method, head, cancellation, loan, queue, next_request, on_response);
  loan.WaitUntilReturned(queue);
  if (!status.ok() && cancellation.IsCancelled()) return Cancellation::Error();
  return status;
}

}  // namespace gridfold::client
