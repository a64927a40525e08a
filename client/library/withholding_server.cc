#include "client/library/withholding_server.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/slice.h"

namespace gridfold::client {

class WithholdingServer::Call : public grpc::ServerGenericBidiReactor {
 public:
  explicit Call(WithholdingServer& server) : server_(server) { StartRead(&request_); }

  void Answer() { StartWriteAndFinish(&answer_, {}, grpc::Status::OK); }
  void End() { Finish(grpc::Status::CANCELLED); }

  void OnReadDone(bool) override { server_.Add(this); }
  void OnCancel() override { server_.Remove(this); }
  void OnDone() override { delete this; }

 private:
  WithholdingServer& server_;
  grpc::ByteBuffer request_;
  const grpc::Slice empty_{""};
  const grpc::ByteBuffer answer_{&empty_, 1};
};

grpc::ServerGenericBidiReactor* WithholdingServer::Service::CreateReactor(
    grpc::GenericCallbackServerContext*) {
  return new Call(server_);
}

WithholdingServer::WithholdingServer(size_t answered_from) : answered_from_(answered_from) {
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterCallbackGenericService(&service_);
  server_ = builder.BuildAndStart();
  target_ = absl::StrCat("127.0.0.1:", port);
}

WithholdingServer::~WithholdingServer() {
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
}

void WithholdingServer::AwaitCalls(size_t count) {
  const absl::MutexLock lock(&mutex_);
  const auto have_come = [&] { return count_ >= count; };
  mutex_.Await(absl::Condition(&have_come));
}

void WithholdingServer::AwaitCancelled(size_t count) {
  const absl::MutexLock lock(&mutex_);
  const auto have_gone = [&] { return cancelled_ >= count; };
  mutex_.Await(absl::Condition(&have_gone));
}

void WithholdingServer::Add(Call* call) {
  std::vector<Call*> answered;
  {
    const absl::MutexLock lock(&mutex_);
    ++count_;
    waiting_.push_back(call);
    if (count_ >= answered_from_) answered.swap(waiting_);
  }
  for (Call* const one : answered) one->Answer();
}

void WithholdingServer::Remove(Call* call) {
  {
    const absl::MutexLock lock(&mutex_);
    const auto place = std::find(waiting_.begin(), waiting_.end(), call);
    if (place == waiting_.end()) return;
    waiting_.erase(place);
    ++cancelled_;
  }
  call->End();
}

}  // namespace gridfold::client
