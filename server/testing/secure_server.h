// A server with security options on a real socket, and connections to it of every kind.
#ifndef GRIDFOLD_SERVER_TESTING_SECURE_SERVER_H_
#define GRIDFOLD_SERVER_TESTING_SECURE_SERVER_H_

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gridfold/v1/compute_service.grpc.pb.h"
#include "server/server.h"
#include "server/testing/fake_engine.h"
#include "server/testing/test_certificates.h"
#include "server/testing/test_server.h"
#include "server/transport/security_options.h"

namespace gridfold::server {

inline grpc::Status Reduce(const std::shared_ptr<grpc::Channel>& channel,
                           const std::string& token = "", const std::string& tenant = "") {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::minutes(1));
  if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
  if (!tenant.empty()) context.AddMetadata("gridfold-tenant", tenant);
  v1::ReduceArrayResponse response;
  return v1::ComputeService::NewStub(channel)->ReduceArray(&context, SmallReduction(), &response);
}

class SecureServerTest : public testing::Test {
 protected:
  void StartServer(const SecurityOptions& security, const Limits& limits = {}) {
    absl::StatusOr<std::unique_ptr<Server>> server =
        Server::Start({&engine_}, "127.0.0.1:0", limits, "127.0.0.1:0", {}, security);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  // A connection of its own.
  std::shared_ptr<grpc::Channel> Connect(
      const std::shared_ptr<grpc::ChannelCredentials>& credentials) const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetSslTargetNameOverride("localhost");
    return grpc::CreateCustomChannel(absl::StrCat("127.0.0.1:", server_->port()), credentials,
                                     arguments);
  }
  std::shared_ptr<grpc::Channel> ConnectInTheClear() const {
    return Connect(grpc::InsecureChannelCredentials());
  }
  // Trusts `authority`; with the certificate NAME.crt where one is named.
  std::shared_ptr<grpc::Channel> ConnectWithTls(const TestAuthority& authority,
                                                const std::string& name = "") const {
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = ReadWhole(authority.certificate());
    if (!name.empty()) {
      options.pem_cert_chain = ReadWhole(folder_.Path(name + ".crt"));
      options.pem_private_key = ReadWhole(folder_.Path(name + ".key"));
    }
    return Connect(grpc::SslCredentials(options));
  }

  FakeEngine engine_;
  const TestFolder folder_;
  std::unique_ptr<Server> server_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TESTING_SECURE_SERVER_H_
