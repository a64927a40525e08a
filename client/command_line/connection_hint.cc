#include "client/command_line/connection_hint.h"

#include <optional>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "gridfold/error_details.h"

namespace gridfold::client {
namespace {

const char* HintFor(ConnectionFault fault) {
  switch (fault) {
    case ConnectionFault::kRefused:
      return "start a server with gridfold_server, or name one with --server HOST:PORT";
    case ConnectionFault::kUnknownHost: return "name another one with --server HOST:PORT";
    case ConnectionFault::kTlsOnly: return "give --tls, or --tls-ca FILE with its authority";
    case ConnectionFault::kNoTls: return "leave the --tls options out";
    case ConnectionFault::kUntrusted: return "give --tls-ca FILE with its authority";
    case ConnectionFault::kOtherName:
      return "name it in --server as its certificate does, or give --tls-server-name NAME";
    case ConnectionFault::kCertificateWanted: return "give --tls-certificate and --tls-key";
    case ConnectionFault::kProxy: return "no_proxy can name hosts that are reached without it";
    case ConnectionFault::kNotGrpc:
    case ConnectionFault::kSilent:
    case ConnectionFault::kClosed:
    case ConnectionFault::kOther: return nullptr;
  }
  return nullptr;
}

}  // namespace

absl::Status WithConnectionHint(const absl::Status& status) {
  const std::optional<ConnectionFault> fault = ConnectionFaultOf(status);
  const char* const hint = fault ? HintFor(*fault) : nullptr;
  if (hint == nullptr) return status;
  absl::Status hinted(status.code(), absl::StrCat(status.message(), "; ", hint));
  status.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& payload) { hinted.SetPayload(url, payload); });
  return hinted;
}

}  // namespace gridfold::client
