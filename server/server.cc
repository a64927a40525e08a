#include "server/server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/impl/server_builder_option.h>
#include <grpcpp/impl/server_builder_plugin.h>
#include <grpcpp/resource_quota.h>

#include <memory>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/process/event_log.h"
#include "server/transport/transport_security.h"

namespace gridfold::server {

namespace {

int Milliseconds(std::chrono::milliseconds time) { return static_cast<int>(time.count()); }

// Linking the plugin gives it to every server of the process.
class WithoutReflection final : public grpc::ServerBuilderOption {
 public:
  void UpdateArguments(grpc::ChannelArguments*) override {}
  void UpdatePlugins(std::vector<std::unique_ptr<grpc::ServerBuilderPlugin>>* plugins) override {
    std::erase_if(*plugins,
                  [](const auto& plugin) { return plugin->name() == "proto_server_reflection"; });
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(
    const std::vector<kernels::Engine*>& engines, const std::string& listen, const Limits& limits,
    const std::optional<std::string>& metrics_address, const TenantWeights& tenant_weights,
    const SecurityOptions& security) {
  Limits all_limits = limits;
  all_limits.engine_count = static_cast<uint32_t>(engines.size());
  std::unique_ptr<Server> server(new Server(all_limits));
  if (absl::Status status = server->OpenFiles(security); !status.ok()) return status;
  if (absl::Status status = server->MakeArrays(engines); !status.ok()) return status;
  SchedulerOptions options{.limits = all_limits, .tenant_weights = tenant_weights};
  if (std::thread::hardware_concurrency() >=
      kProcessorsPerSpinningLane * all_limits.lane_count_of_all()) {
    options.lane_spin = kLaneSpin;
  }
  options.on_engine_lost = [&self = *server](uint32_t engine, bool none_is_left) {
    self.OnEngineLost(engine, none_is_left);
  };
  absl::StatusOr<std::unique_ptr<Scheduler>> scheduler =
      Scheduler::Create(engines, std::move(options));
  if (!scheduler.ok()) {
    return absl::Status(
        scheduler.status().code(),
        absl::StrCat("cannot make the ", limits.lane_count, " lanes of --lanes, with room for the ",
                     limits.message_bytes_max,
                     " bytes of --max-message-bytes: ", scheduler.status().message()));
  }
  server->scheduler_ = *std::move(scheduler);
  if (limits.regions_allowed) server->regions_ = std::make_unique<RegionStore>(engines, all_limits);
  server->environment_ =
      std::make_unique<CallEnvironment>(*server->scheduler_, *server->arrays_, server->calls_,
                                        server->limits_, tenant_weights, engines.front()->name());
  server->environment_->regions = server->regions_.get();
  server->environment_->tokens = server->tokens_.get();
  server->environment_->audit = server->audit_.get();
  server->compute_service_ = std::make_unique<ComputeService>(*server->environment_);
  server->array_service_ = std::make_unique<ArrayService>(*server->environment_);
  server->region_service_ = std::make_unique<RegionService>(*server->environment_);
  server->server_service_ = std::make_unique<ServerService>(engines, *server->environment_);
  if (metrics_address) {
    if (absl::Status status = server->ServeMetrics(engines, *metrics_address); !status.ok()) {
      return status;
    }
  }
  if (absl::Status status = server->Listen(listen, security.reflection); !status.ok())
    return status;
  return server;
}

absl::Status Server::OpenFiles(const SecurityOptions& security) {
  if (!security.audit_log.empty()) {
    absl::StatusOr<std::unique_ptr<AuditLog>> audit = AuditLog::Open(security.audit_log);
    if (!audit.ok()) return audit.status();
    audit_ = *std::move(audit);
  }
  if (security.tls.is_used()) {
    absl::StatusOr<std::unique_ptr<CertificateStore>> certificates =
        CertificateStore::Load(security.tls);
    if (!certificates.ok()) return certificates.status();
    certificates_ = *std::move(certificates);
  }
  if (!security.token_file.empty()) {
    absl::StatusOr<std::unique_ptr<AccessTokens>> tokens = AccessTokens::Load(security.token_file);
    if (!tokens.ok()) return tokens.status();
    tokens_ = *std::move(tokens);
  }
  return absl::OkStatus();
}

absl::Status Server::MakeArrays(const std::vector<kernels::Engine*>& engines) {
  std::vector<std::unique_ptr<kernels::ResidentPool>> pools;
  for (kernels::Engine* const engine : engines) {
    absl::StatusOr<std::unique_ptr<kernels::ResidentPool>> pool =
        engine->CreateResidentPool(limits_.resident_bytes_max);
    if (!pool.ok()) {
      return absl::Status(pool.status().code(),
                          absl::StrCat("cannot take the ", limits_.resident_bytes_max,
                                       " bytes of --resident-bytes: ", pool.status().message()));
    }
    pools.push_back(*std::move(pool));
  }
  arrays_ = std::make_unique<ArrayStore>(std::move(pools), limits_);
  array_sweeper_ =
      std::make_unique<Sweeper>([&arrays = *arrays_] { arrays.RemoveExpired(); }, kSweepInterval);
  return absl::OkStatus();
}

void Server::OnEngineLost(uint32_t engine, bool none_is_left) {
  LogEvent(LogLevel::kError, "engine_lost", {{"device", engine}});
  arrays_->CloseEngine(engine);
  if (none_is_left) serving_state_.EndServing();
}

Server::~Server() { (void)Drain(std::chrono::nanoseconds(0)); }

std::optional<int> Server::metrics_port() const {
  if (metrics_endpoint_ == nullptr) return std::nullopt;
  return metrics_endpoint_->port();
}

absl::Status Server::ServeMetrics(const std::vector<kernels::Engine*>& engines,
                                  const std::string& address) {
  absl::StatusOr<std::unique_ptr<MetricsEndpoint>> endpoint =
      MetricsEndpoint::Start(address, {.calls = call_metrics_,
                                       .scheduler = *scheduler_,
                                       .arrays = *arrays_,
                                       .streams = environment_->streams,
                                       .engines = {engines.begin(), engines.end()},
                                       .serving_state = serving_state_,
                                       .regions = regions_.get(),
                                       .tokens = tokens_.get(),
                                       .certificates = certificates_.get(),
                                       .audit = audit_.get(),
                                       .sends = &environment_->sends,
                                       .closed = &closed_connections_});
  if (!endpoint.ok()) return endpoint.status();
  metrics_endpoint_ = *std::move(endpoint);
  environment_->metrics = &call_metrics_;
  return absl::OkStatus();
}

absl::Status Server::Listen(const std::string& listen, bool reflection) {
  credentials_ = MakeServerCredentials(certificates_.get());
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  absl::StatusOr<std::unique_ptr<Listener>> listener =
      Listener::Open(listen, limits_.connection_count_max);
  if (!listener.ok()) return listener.status();
  grpc::ServerBuilder builder;
  std::shared_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor =
      builder.experimental().AddExternalConnectionAcceptor(
          grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, credentials_);
  if (!reflection) builder.SetOption(std::make_unique<WithoutReflection>());
  builder.RegisterService(compute_service_.get());
  builder.RegisterService(array_service_.get());
  builder.RegisterService(region_service_.get());
  builder.RegisterService(server_service_.get());
  builder.RegisterCallbackGenericService(&unknown_methods_);
  ConfigureTransport(builder);
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) return absl::InternalError("gRPC does not start");
  listener_ = *std::move(listener);
  listener_->Start([acceptor = std::move(acceptor)](int listening, int connection) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters parameters;
    parameters.listener_fd = listening;
    parameters.fd = connection;
    acceptor->HandleNewConnection(&parameters);
  });
  connection_watch_ = std::make_unique<ConnectionWatch>(limits_.memory_bytes_max, listener_->port(),
                                                        environment_->sends, closed_connections_);
  serving_state_.BeginServing(*server_->GetHealthCheckService());
  return absl::OkStatus();
}

void Server::ConfigureTransport(grpc::ServerBuilder& builder) const {
  builder.SetMaxReceiveMessageSize(static_cast<int>(limits_.received_bytes_max()));
  grpc::ResourceQuota quota("gridfold");
  quota.Resize(limits_.transport_bytes_max());
  // Only reflection has threads of this kind, beside one that waits for its calls.
  quota.SetMaxThreads(1 + kReflectionCallsMax);
  builder.SetResourceQuota(quota);
  // A few compressed bytes could stand for gigabytes, and numbers hardly compress.
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kConcurrentStreamsMax);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMetadataBytesCeiling);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, Milliseconds(kKeepaliveInterval));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, Milliseconds(kKeepaliveTimeout));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  if (limits_.connection_idle_timeout.count() > 0) {
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS,
                               Milliseconds(limits_.connection_idle_timeout));
  }
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, Milliseconds(kHandshakeTimeout));
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             Milliseconds(kClientPingIntervalMin));
}

absl::Status Server::Drain(std::chrono::nanoseconds grace_period,
                           std::chrono::nanoseconds lame_duck) {
  const std::lock_guard lock(drain_mutex_);
  if (drained_ || scheduler_ == nullptr) return absl::OkStatus();
  serving_state_.EndServing();
  calls_.Linger(lame_duck);
  scheduler_->BeginDrain();
  if (!calls_.WaitUntilNone(grace_period)) scheduler_->StopAll();
  if (!scheduler_->WaitUntilIdle(kStopTimeout)) {
    return absl::DeadlineExceededError("a lane does not stop");
  }
  if (server_ != nullptr) {
    const std::chrono::milliseconds close_timeout =
        calls_.GaveUp() ? std::chrono::milliseconds(0) : kCloseTimeout;
    // Behind it gRPC takes none.
    listener_->Stop();
    // Cancels what is left then: answers that nobody reads, watchers of health.
    server_->Shutdown(std::chrono::system_clock::now() + close_timeout);
  }
  if (tokens_ != nullptr) tokens_->refused().TellSuppressedNow();
  if (audit_ != nullptr) audit_->Flush(kLogFlushTimeout);
  drained_ = true;
  return absl::OkStatus();
}

void Server::Reload() {
  if (certificates_ != nullptr) certificates_->Reload();
  if (tokens_ != nullptr) tokens_->Wake();
  if (audit_ != nullptr) audit_->Reopen();
}

void Server::StopJobs() {
  calls_.GiveUpWaiting();
  scheduler_->StopAll();
}

}  // namespace gridfold::server
