#include "server/services/unknown_method_service.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/wire/rpc_status.h"

namespace gridfold::server {

namespace {

// A caller's own text, of which no more is said back than this.
constexpr size_t kMethodBytesMax = 200;

class UnknownMethodCall final : public grpc::ServerGenericBidiReactor {
 public:
  explicit UnknownMethodCall(const std::string& method) {
    Finish(ToGrpcStatus(absl::UnimplementedError(
        absl::StrCat("there is no method ", method.substr(0, kMethodBytesMax)))));
  }
  void OnDone() override { delete this; }
};

}  // namespace

grpc::ServerGenericBidiReactor* UnknownMethodService::CreateReactor(
    grpc::GenericCallbackServerContext* context) {
  return new UnknownMethodCall(context->method());
}

}  // namespace gridfold::server
