#include "client/library/target.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace gridfold::client {
namespace {

constexpr char kDefaultPort[] = ":50051";
constexpr const char* kSchemes[] = {"dns", "ipv4", "ipv6", "unix", "unix-abstract", "xds"};

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

// Behind the host; nothing where there is none, or an IPv6 address without brackets.
std::optional<absl::string_view> PortOf(absl::string_view address) {
  const size_t begin = address.find(']') == absl::string_view::npos ? 0 : address.find(']');
  const size_t colon = address.find(':', begin);
  if (colon == absl::string_view::npos) return std::nullopt;
  const absl::string_view port = address.substr(colon + 1);
  if (absl::StrContains(port, ":")) return std::nullopt;
  return port;
}

bool IsUnixSocket(absl::string_view target) {
  return absl::StartsWith(target, "unix:") || absl::StartsWith(target, "unix-abstract:");
}

// Whether it is no address, or not this machine's resolver says which.
bool IsResolvedElsewhere(absl::string_view target) {
  return IsUnixSocket(target) || absl::StartsWith(target, "xds:") ||
         (absl::StartsWith(target, "dns://") && !absl::StartsWith(target, "dns:///"));
}

// Whether a port may follow: behind an IPv6 address without brackets it would be a part of it.
bool CanTakePort(absl::string_view address) {
  return absl::EndsWith(address, "]") || !absl::StrContains(address, ":");
}

// The addresses behind a scheme that names some, without it and its authority.
std::vector<absl::string_view> AddressesOf(absl::string_view target) {
  if (absl::ConsumePrefix(&target, "ipv6:") || absl::ConsumePrefix(&target, "ipv4:")) {
    return absl::StrSplit(target, ',');
  }
  // With an authority between the slashes somebody else says which address it is.
  if (!absl::ConsumePrefix(&target, "dns:///")) absl::ConsumePrefix(&target, "dns:");
  return {target};
}

absl::Status CheckPort(const std::string& target, absl::string_view address) {
  const std::optional<absl::string_view> port = PortOf(address);
  uint32_t number = 0;
  if (!port || *port == "http" || *port == "https" ||
      (absl::SimpleAtoi(*port, &number) && number >= 1 && number <= 65535)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("target: the port of '", target, "' is not a number from 1 to 65535"));
}

std::optional<Proxy> FirstSet(std::initializer_list<const char*> variables) {
  for (const char* const variable : variables) {
    const char* const value = std::getenv(variable);
    if (value != nullptr && *value != '\0') return Proxy{variable, value};
  }
  return std::nullopt;
}

}  // namespace

absl::Status CheckTarget(const std::string& target) {
  if (target.empty()) return absl::InvalidArgumentError("target: must not be empty");
  const size_t slashes = target.find("://");
  if (slashes != std::string::npos &&
      std::none_of(std::begin(kSchemes), std::end(kSchemes), [&](absl::string_view scheme) {
        return scheme == absl::string_view(target).substr(0, slashes);
      })) {
    return absl::InvalidArgumentError(
        absl::StrCat("target: '", target, "' is a URL; HOST:PORT is needed, without ",
                     absl::string_view(target).substr(0, slashes + 3)));
  }
  if (IsResolvedElsewhere(target)) return absl::OkStatus();
  for (const absl::string_view address : AddressesOf(target)) {
    if (absl::Status status = CheckPort(target, address); !status.ok()) return status;
  }
  return absl::OkStatus();
}

std::string WithDefaultPort(const std::string& target) {
  if (IsResolvedElsewhere(target)) return target;
  const std::vector<absl::string_view> addresses = AddressesOf(target);
  const size_t scheme_size = addresses.front().data() - target.data();
  return absl::StrCat(
      target.substr(0, scheme_size),
      absl::StrJoin(addresses, ",", [](std::string* out, absl::string_view address) {
        const bool takes_port = !PortOf(address) && CanTakePort(address);
        absl::StrAppend(out, address, takes_port ? kDefaultPort : "");
      }));
}

bool IsLocalTarget(const std::string& target) {
  if (IsUnixSocket(target)) return true;
  const std::vector<absl::string_view> addresses = AddressesOf(target);
  return std::all_of(addresses.begin(), addresses.end(),
                     [](absl::string_view one) { return IsLocalHost(HostOf(one)); });
}

std::optional<Proxy> ProxyOf(const std::string& target) {
  if (IsLocalTarget(target)) return std::nullopt;
  std::optional<Proxy> proxy = FirstSet({"grpc_proxy", "https_proxy", "http_proxy"});
  if (!proxy) return std::nullopt;
  const std::string host(HostOf(AddressesOf(target).front()));
  if (const std::optional<Proxy> exceptions = FirstSet({"no_grpc_proxy", "no_proxy"})) {
    for (const absl::string_view name :
         absl::StrSplit(exceptions->address, ',', absl::SkipWhitespace())) {
      if (absl::EndsWithIgnoreCase(host, absl::StripAsciiWhitespace(name))) return std::nullopt;
    }
  }
  // A URL may hold a password, before its last @.
  for (const absl::string_view end : {"://", "@"}) {
    const size_t begin = absl::string_view(proxy->address).rfind(end);
    if (begin != absl::string_view::npos) proxy->address.erase(0, begin + end.size());
  }
  return proxy;
}

}  // namespace gridfold::client
