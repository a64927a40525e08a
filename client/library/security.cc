#include "client/library/security.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace gridfold::client {
namespace {

// "127.0.0.1" and its like, and nothing that only begins so, such as "127.0.0.1.example.org".
bool IsLoopbackNumber(absl::string_view host) {
  const std::vector<absl::string_view> parts = absl::StrSplit(host, '.');
  return parts.size() == 4 && parts[0] == "127" &&
         std::all_of(parts.begin(), parts.end(), [](absl::string_view part) {
           uint32_t number = 0;
           return absl::SimpleAtoi(part, &number) && number <= 255;
         });
}

bool IsLocalHost(absl::string_view host) {
  return host == "localhost" || host == "::1" || IsLoopbackNumber(host);
}

// Of "host:port", "[host]:port" or "host".
absl::string_view HostOf(absl::string_view address) {
  if (absl::ConsumePrefix(&address, "[")) return address.substr(0, address.find(']'));
  return address.substr(0, address.find(':'));
}

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

bool IsLocalTarget(const std::string& target) {
  absl::string_view address = target;
  if (absl::StartsWith(address, "unix:") || absl::StartsWith(address, "unix-abstract:"))
    return true;
  if (absl::ConsumePrefix(&address, "ipv6:") || absl::ConsumePrefix(&address, "ipv4:")) {
    const std::vector<absl::string_view> addresses = absl::StrSplit(address, ',');
    return std::all_of(addresses.begin(), addresses.end(),
                       [](absl::string_view one) { return IsLocalHost(HostOf(one)); });
  }
  // With an authority between the slashes somebody else says which address it is.
  if (!absl::ConsumePrefix(&address, "dns:///")) absl::ConsumePrefix(&address, "dns:");
  return IsLocalHost(HostOf(address));
}

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
  if (!status.ok()) return status;
  return grpc::SslCredentials(files);
}

}  // namespace gridfold::client
