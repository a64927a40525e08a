#include "server/transport_security.h"

#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/limits.h"

namespace gridfold::server {

namespace {

absl::Status Unusable(absl::string_view option, absl::string_view path) {
  // The first error is the cause, those after it say what it led to.
  const auto error = ERR_peek_error();
  ERR_clear_error();
  const char* const reason =
      ERR_SYSTEM_ERROR(error) ? strerror(ERR_GET_REASON(error)) : ERR_reason_error_string(error);
  return absl::InvalidArgumentError(absl::StrCat(
      option, " ", path, " cannot be used: ", reason == nullptr ? "it makes no sense" : reason));
}

// gRPC would start with files that make no sense, and then refuse every connection.
absl::Status CheckFiles(const TlsFiles& files) {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_server_method()),
                                                                  SSL_CTX_free);
  if (context == nullptr) return absl::InternalError("OpenSSL does not start");
  // Asked for a passphrase, it would wait at the terminal.
  SSL_CTX_set_default_passwd_cb(context.get(), [](char*, int, int, void*) { return -1; });
  if (SSL_CTX_use_certificate_chain_file(context.get(), files.certificate.c_str()) != 1) {
    return Unusable("--tls-certificate", files.certificate);
  }
  if (SSL_CTX_use_PrivateKey_file(context.get(), files.key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context.get()) != 1) {
    return Unusable("--tls-key", files.key);
  }
  if (!files.client_ca.empty() &&
      SSL_CTX_load_verify_locations(context.get(), files.client_ca.c_str(), nullptr) != 1) {
    return Unusable("--tls-client-ca", files.client_ca);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeServerCredentials(
    const TlsFiles& files) {
  if (!files.is_used()) return grpc::InsecureServerCredentials();
  if (absl::Status status = CheckFiles(files); !status.ok()) return status;
  namespace tls = grpc::experimental;
  tls::TlsServerCredentialsOptions options(std::make_shared<tls::FileWatcherCertificateProvider>(
      files.key, files.certificate, files.client_ca,
      static_cast<unsigned>(kFileCheckInterval.count())));
  options.watch_identity_key_cert_pairs();
  if (!files.client_ca.empty()) {
    options.watch_root_certs();
    options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return tls::TlsServerCredentials(options);
}

}  // namespace gridfold::server
