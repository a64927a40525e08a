// A call whose messages are sent and taken one by one, while it is open.
#ifndef GRIDFOLD_CLIENT_LIBRARY_OPEN_STREAM_H_
#define GRIDFOLD_CLIENT_LIBRARY_OPEN_STREAM_H_

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "client/library/cancellation.h"
#include "client/library/unary_call.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/client_callback.h"

namespace gridfold::client {

// One thread may write while another one reads; each blocks until the transport has taken or
// brought the message. The destructor cancels the call where it has not ended.
class OpenStream {
 public:
  // Begins the call of `method` ("/package.Service/Method").
  OpenStream(const std::shared_ptr<grpc::Channel>& channel, std::string method,
             const CallHead& head);
  ~OpenStream();
  OpenStream(const OpenStream&) = delete;
  OpenStream& operator=(const OpenStream&) = delete;

  // Any thread: the call ends as soon as may be.
  void Cancel() { context_.TryCancel(); }

  // False where the call has ended; StatusOfEnded says why.
  bool Write(const grpc::ByteBuffer& message);

  // Says that there is nothing more to write. Once.
  void WritesDone();

  // The next message; nothing at the end of the call.
  std::optional<grpc::ByteBuffer> Read();

  // Waits for the end of the call, after the last message. From then on Write fails, and Read
  // brings no more than StatusOfEnded has kept.
  absl::Status Finish();

  // Of a call that has ended, which a failed Write says: the call's own status, with which gRPC
  // waits until the messages before it are taken. These are kept for Read: no more than were on
  // their way. Any thread.
  absl::Status StatusOfEnded();

 private:
  class Reactor final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
   public:
    // Calls `start`, which starts one operation, and waits for its end: whether it succeeded.
    // Behind Close it starts none.
    template <class Start>
    bool RunWrite(Start start) {
      return Run(write_, start);
    }
    template <class Start>
    bool RunRead(Start start) {
      return Run(read_, start);
    }
    Reactor(grpc::ClientContext& context, std::function<bool()> is_cancelled)
        : context_(context), cancellation_(std::move(is_cancelled)) {}

    // Waits for the operations of other threads.
    void Close();
    grpc::Status WaitUntilDone();

    void OnWriteDone(bool ok) override { End(write_, ok); }
    void OnWritesDoneDone(bool ok) override { End(write_, ok); }
    void OnReadDone(bool ok) override { End(read_, ok); }
    void OnDone(const grpc::Status& status) override;

   private:
    struct Operation {
      bool is_under_way = false;
      bool ok = false;
    };

    template <class Start>
    bool Run(Operation& operation, Start start) {
      {
        const absl::MutexLock lock(&mutex_);
        if (is_closed_) return false;
        operation.is_under_way = true;
      }
      start();
      const absl::MutexLock lock(&mutex_);
      WaitFor(operation);
      return operation.ok;
    }
    void WaitFor(const Operation& operation);
    // Waits until `condition` holds, and cancels the call where it is to be given up.
    void Await(const absl::Condition& condition);
    void End(Operation& operation, bool ok);

    grpc::ClientContext& context_;
    const Cancellation cancellation_;
    absl::Mutex mutex_;
    // Guarded by mutex_.
    Operation write_;
    Operation read_;
    bool is_closed_ = false;
    std::optional<grpc::Status> status_;
  };

  // The next message as gRPC brings it.
  std::optional<grpc::ByteBuffer> Receive() ABSL_EXCLUSIVE_LOCKS_REQUIRED(reading_);
  absl::Status WaitForEnd() ABSL_EXCLUSIVE_LOCKS_REQUIRED(reading_);

  const std::string method_;
  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  Reactor reactor_;
  absl::Mutex reading_;  // Held by the one thread that reads or finishes.
  std::deque<grpc::ByteBuffer> kept_ ABSL_GUARDED_BY(reading_);
  bool is_finished_ ABSL_GUARDED_BY(reading_) = false;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_OPEN_STREAM_H_
