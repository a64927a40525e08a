#include "client/library/security.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "client/library/target.h"
#include "client/library/tls_files.h"

namespace gridfold::client {
namespace {

absl::Status ReadFile(const std::string& path, const char* field, std::string& content) {
  if (path.empty()) return absl::OkStatus();
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  content = bytes.str();
  // A folder is opened, and cannot be read.
  if (file.good() && bytes.good() && !content.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("tls.", field, ": cannot read ", path));
}

}  // namespace

bool IsHeaderText(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char character) { return character > ' ' && character < 0x7F; });
}

absl::Status CheckSecurity(const ClientOptions& options) {
  if (options.credentials != nullptr && (options.tls || !options.token.empty())) {
    return absl::InvalidArgumentError("credentials: go with neither tls nor token");
  }
  if (options.tls && options.tls->certificate_file.empty() != options.tls->key_file.empty()) {
    return absl::InvalidArgumentError(
        "tls.certificate_file: goes together with tls.key_file, or neither is there");
  }
  if (!IsHeaderText(options.token)) {
    return absl::InvalidArgumentError("token: must be printable characters without spaces");
  }
  if (!options.token.empty() && !options.tls && !IsLocalTarget(options.target)) {
    return absl::InvalidArgumentError(
        "token: is not sent to another machine without encryption; use TLS");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeCredentials(
    const ClientOptions& options) {
  if (options.credentials != nullptr) return options.credentials;
  if (!options.tls) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions files;
  absl::Status status = ReadFile(options.tls->ca_file, "ca_file", files.pem_root_certs);
  if (status.ok()) {
    status = ReadFile(options.tls->certificate_file, "certificate_file", files.pem_cert_chain);
  }
  if (status.ok()) status = ReadFile(options.tls->key_file, "key_file", files.pem_private_key);
  if (status.ok()) {
    status = CheckTlsTexts(*options.tls,
                           {files.pem_root_certs, files.pem_cert_chain, files.pem_private_key});
  }
  if (!status.ok()) return status;
  return grpc::SslCredentials(files);
}

}  // namespace gridfold::client
