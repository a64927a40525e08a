#include "server/transport/transport_security.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace gridfold::server {

namespace {

// What the handshakes of a port ask for their certificates, one at a time.
class CertificateFetcher {
 public:
  explicit CertificateFetcher(const CertificateStore& store) : store_(store) {}

  static grpc_ssl_certificate_config_reload_status Fetch(
      void* self, grpc_ssl_server_certificate_config** config) {
    return static_cast<CertificateFetcher*>(self)->Fetch(*config);
  }

 private:
  grpc_ssl_certificate_config_reload_status Fetch(grpc_ssl_server_certificate_config*& config) {
    const std::shared_ptr<const CertificateStore::Current> current = store_.current();
    if (fetched_.exchange(current->number + 1) == current->number + 1) {
      return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    }
    const CertificateTexts& texts = current->texts;
    const grpc_ssl_pem_key_cert_pair pair{texts.key.c_str(), texts.certificate.c_str()};
    // gRPC wants authorities also where it asks no client for a certificate.
    const std::string& authorities = texts.client_ca.empty() ? texts.certificate : texts.client_ca;
    config = grpc_ssl_server_certificate_config_create(authorities.c_str(), &pair, 1);
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

  const CertificateStore& store_;
  std::atomic<uint64_t> fetched_ = 0;  // One more than the number of those that gRPC has; 0: none.
};

// gRPC's C interface lets handshakes ask for certificates; its C++ interface does not.
class ReloadedCredentials final : public grpc::ServerCredentials {
 public:
  explicit ReloadedCredentials(const CertificateStore& store) : store_(store) {}

  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    fetchers_.push_back(std::make_unique<CertificateFetcher>(store_));
    const bool asks_clients = !store_.current()->texts.client_ca.empty();
    grpc_server_credentials* const credentials = grpc_ssl_server_credentials_create_with_options(
        grpc_ssl_server_credentials_create_options_using_config_fetcher(
            asks_clients ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                         : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE,
            &CertificateFetcher::Fetch, fetchers_.back().get()));
    const int port = grpc_server_add_http2_port(server, address.c_str(), credentials);
    grpc_server_credentials_release(credentials);
    return port;
  }

  const CertificateStore& store_;
  std::vector<std::unique_ptr<CertificateFetcher>> fetchers_;
};

}  // namespace

std::shared_ptr<grpc::ServerCredentials> MakeServerCredentials(const CertificateStore* store) {
  if (store == nullptr) return grpc::InsecureServerCredentials();
  return std::make_shared<ReloadedCredentials>(*store);
}

}  // namespace gridfold::server
