#include "client/transport_benchmark/bare_server.h"

#include <grpcpp/grpcpp.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "gridfold/v1/compute_service.grpc.pb.h"
#include "gridfold/v1/server_service.grpc.pb.h"

namespace gridfold::transport_benchmark {

namespace {

using RawService = v1::ComputeService::WithRawCallbackMethod_ReduceArray<
    v1::ComputeService::WithRawCallbackMethod_BatchCompute<
        v1::ComputeService::WithRawCallbackMethod_ReduceStream<
            v1::ComputeService::WithRawCallbackMethod_HistogramStream<
                v1::ComputeService::WithRawCallbackMethod_ScanStream<
                    v1::ComputeService::Service>>>>>;

grpc::ByteBuffer Nothing() {
  const grpc::Slice nothing;
  return grpc::ByteBuffer(&nothing, 1);
}

grpc::ServerUnaryReactor* Answer(UnaryAnswer answer, grpc::CallbackServerContext& context,
                                 const grpc::ByteBuffer& request, grpc::ByteBuffer& response) {
  response = answer == UnaryAnswer::kEcho ? request : Nothing();
  grpc::ServerUnaryReactor* const reactor = context.DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

class Sink final : public grpc::ServerReadReactor<grpc::ByteBuffer> {
 public:
  explicit Sink(grpc::ByteBuffer& response) {
    response = Nothing();
    StartRead(&message_);
  }
  void OnReadDone(bool ok) override {
    if (!ok) {
      Finish(grpc::Status::OK);
      return;
    }
    message_.Clear();
    StartRead(&message_);
  }
  void OnDone() override { delete this; }

 private:
  grpc::ByteBuffer message_;
};

// Sends each message back before it reads the next.
class Relay final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  Relay() { StartRead(&message_); }
  void OnReadDone(bool ok) override {
    if (ok) {
      StartWrite(&message_);
    } else {
      Finish(grpc::Status::OK);
    }
  }
  void OnWriteDone(bool ok) override {
    if (!ok) return;  // The caller has gone, and reading fails too.
    message_.Clear();
    StartRead(&message_);
  }
  void OnDone() override { delete this; }

 private:
  grpc::ByteBuffer message_;
};

class BareService final : public RawService {
 public:
  explicit BareService(UnaryAnswer answer) : answer_(answer) {}

  grpc::ServerUnaryReactor* ReduceArray(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override {
    return Answer(answer_, *context, *request, *response);
  }
  grpc::ServerUnaryReactor* BatchCompute(grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) override {
    return Answer(answer_, *context, *request, *response);
  }
  grpc::ServerReadReactor<grpc::ByteBuffer>* ReduceStream(grpc::CallbackServerContext*,
                                                          grpc::ByteBuffer* response) override {
    return new Sink(*response);
  }
  grpc::ServerReadReactor<grpc::ByteBuffer>* HistogramStream(grpc::CallbackServerContext*,
                                                             grpc::ByteBuffer* response) override {
    return new Sink(*response);
  }
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* ScanStream(
      grpc::CallbackServerContext*) override {
    return new Relay();
  }

 private:
  const UnaryAnswer answer_;
};

// Clients ask for the server's limits before anything else; there are none.
class Information final : public v1::ServerService::CallbackService {
 public:
  grpc::ServerUnaryReactor* GetServerInfo(grpc::CallbackServerContext* context,
                                          const v1::GetServerInfoRequest*,
                                          v1::GetServerInfoResponse*) override {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

}  // namespace

int RunBareServer(const std::string& port_file, UnaryAnswer answer) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  BareService service(answer);
  Information information;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.SetMaxReceiveMessageSize(-1);
  builder.RegisterService(&service);
  builder.RegisterService(&information);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) return EXIT_FAILURE;
  const std::string temporary = port_file + ".tmp";
  std::ofstream(temporary) << port << "\n";
  std::filesystem::rename(temporary, port_file);
  int signal = 0;
  sigwait(&signals, &signal);
  server->Shutdown(std::chrono::system_clock::now());
  return EXIT_SUCCESS;
}

}  // namespace gridfold::transport_benchmark
