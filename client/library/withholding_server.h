// A server that keeps its callers waiting. For tests.
#ifndef GRIDFOLD_CLIENT_LIBRARY_WITHHOLDING_SERVER_H_
#define GRIDFOLD_CLIENT_LIBRARY_WITHHOLDING_SERVER_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "grpcpp/generic/async_generic_service.h"
#include "grpcpp/grpcpp.h"

namespace gridfold::client {

// Takes calls of any method, none of which has a thread, and answers none before so many have come:
// then all of them, and later ones, by an empty message.
class WithholdingServer {
 public:
  explicit WithholdingServer(size_t answered_from);
  ~WithholdingServer();

  // "127.0.0.1:port".
  const std::string& target() const { return target_; }

  // Waits until so many calls have come, or have been given up by their callers.
  void AwaitCalls(size_t count);
  void AwaitCancelled(size_t count);

 private:
  class Call;
  class Service : public grpc::CallbackGenericService {
   public:
    explicit Service(WithholdingServer& server) : server_(server) {}
    grpc::ServerGenericBidiReactor* CreateReactor(
        grpc::GenericCallbackServerContext* context) override;

   private:
    WithholdingServer& server_;
  };

  void Add(Call* call);
  void Remove(Call* call);

  const size_t answered_from_;
  Service service_{*this};
  std::string target_;
  absl::Mutex mutex_;
  size_t count_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t cancelled_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<Call*> waiting_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_WITHHOLDING_SERVER_H_
