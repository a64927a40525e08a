// The server: services, scheduler and transport put together, from the first request to the last.
//
// Thread-safe, but for the destructor.
#ifndef GRIDFOLD_SERVER_SERVER_H_
#define GRIDFOLD_SERVER_SERVER_H_

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/engine.h"
#include "server/arrays/array_store.h"
#include "server/base/limits.h"
#include "server/base/sweeper.h"
#include "server/calls/call_counter.h"
#include "server/calls/call_environment.h"
#include "server/calls/call_metrics.h"
#include "server/calls/serving_state.h"
#include "server/metrics/endpoint.h"
#include "server/process/audit_log.h"
#include "server/regions/region_store.h"
#include "server/scheduling/scheduler.h"
#include "server/services/array_service.h"
#include "server/services/compute_service.h"
#include "server/services/region_service.h"
#include "server/services/server_service.h"
#include "server/services/unknown_method_service.h"
#include "server/tenants/access_tokens.h"
#include "server/transport/certificate_store.h"
#include "server/transport/connection_watch.h"
#include "server/transport/listener.h"
#include "server/transport/security_options.h"

namespace gridfold::server {

class Server {
 public:
  // Listens on `listen` ("host:port" or "unix:path") and answers from then on; counts calls and
  // serves metrics where an address for them is given. Uses all of `engines`, at least one and all
  // of one kind, which must outlive the server; Limits::engine_count follows from them. Errors:
  // those of Engine::CreateLane and Engine::CreateResidentPool, of CertificateStore::Load,
  // AccessTokens::Load and AuditLog::Open; UNAVAILABLE where an address cannot be listened on.
  static absl::StatusOr<std::unique_ptr<Server>> Start(
      const std::vector<kernels::Engine*>& engines, const std::string& listen, const Limits& limits,
      const std::optional<std::string>& metrics_address = std::nullopt,
      const TenantWeights& tenant_weights = {}, const SecurityOptions& security = {});
  // Drains without grace.
  ~Server();

  // 0 of a Unix socket.
  int port() const { return listener_->port(); }
  // None where metrics are off.
  std::optional<int> metrics_port() const;

  // Says NOT_SERVING and goes on for `lame_duck`, so that callers can notice. Then refuses new
  // jobs, lets those in flight finish for up to `grace_period`, asks the rest to stop, and closes
  // the connections when the last answer has arrived. Errors: DEADLINE_EXCEEDED when a lane does
  // not stop within kStopTimeout; then the server cannot be destroyed either, and the process has
  // to be ended.
  absl::Status Drain(std::chrono::nanoseconds grace_period,
                     std::chrono::nanoseconds lame_duck = std::chrono::nanoseconds(0));

  // Ends the waiting of a Drain in another thread.
  void StopJobs();

  // Has certificates and tokens read again, and the audit log opened again, in threads that do so
  // anyway. Does not block.
  void Reload();

 private:
  explicit Server(const Limits& limits) : limits_(limits) {}

  void OnEngineLost(uint32_t engine, bool none_is_left);
  absl::Status OpenFiles(const SecurityOptions& security);
  absl::Status MakeArrays(const std::vector<kernels::Engine*>& engines);
  absl::Status ServeMetrics(const std::vector<kernels::Engine*>& engines,
                            const std::string& address);
  absl::Status Listen(const std::string& listen, bool reflection);
  void ConfigureTransport(grpc::ServerBuilder& builder) const;

  const Limits limits_;
  ServingState serving_state_;
  CallCounter calls_;
  CallMetrics call_metrics_;
  std::unique_ptr<AuditLog> audit_;                 // None where it is off.
  std::unique_ptr<CertificateStore> certificates_;  // None without TLS.
  std::unique_ptr<AccessTokens> tokens_;            // None where callers are taken at their word.
  std::unique_ptr<ArrayStore> arrays_;  // Outlives the jobs and calls, which hold leases.
  std::unique_ptr<Sweeper> array_sweeper_;
  std::unique_ptr<RegionStore> regions_;  // None where they are off. Outlives the same.
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<CallEnvironment> environment_;
  std::unique_ptr<ComputeService> compute_service_;
  std::unique_ptr<ArrayService> array_service_;
  std::unique_ptr<RegionService> region_service_;
  std::unique_ptr<ServerService> server_service_;
  ClosedConnections closed_connections_;
  std::unique_ptr<MetricsEndpoint> metrics_endpoint_;
  std::shared_ptr<grpc::ServerCredentials> credentials_;
  UnknownMethodService unknown_methods_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<Listener> listener_;  // Hands connections to `server_`.
  std::unique_ptr<ConnectionWatch> connection_watch_;
  std::mutex drain_mutex_;
  bool drained_ = false;  // Guarded by drain_mutex_.
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_SERVER_H_
