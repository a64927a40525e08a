#include "client/command_line/kept_threads.h"

#include <memory>

#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/slice.h"

namespace gridfold::client {
namespace {

struct FailingCall {
  grpc::ClientContext context;
  const grpc::Slice nothing;
  grpc::ByteBuffer request{&nothing, 1};
  grpc::ByteBuffer response;
};

// A channel without credentials leads nowhere, and its calls fail at once. The first one with a
// callback makes the channel one of those that the threads are there for.
std::shared_ptr<grpc::Channel> MakeChannelWithCallback() {
  std::shared_ptr<grpc::Channel> channel = grpc::CreateChannel("", nullptr);
  auto* const call = new FailingCall;
  grpc::GenericStub(channel).UnaryCall(&call->context, "/none", {}, &call->request, &call->response,
                                       [call](const grpc::Status&) { delete call; });
  return channel;
}

}  // namespace

void KeepCallbackThreads() {
  [[maybe_unused]] static const auto* const kept =
      new std::shared_ptr<grpc::Channel>(MakeChannelWithCallback());
}

}  // namespace gridfold::client
