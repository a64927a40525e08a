#include "server/special_options.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "server/base/identifier.h"
#include "server/option_kinds.h"
#include "server/transport/listen_address.h"

namespace gridfold::server {

namespace {

constexpr char kOff[] = "off";

constexpr char kAll[] = "all";

std::vector<int> ParseDevices(const std::string& name, const std::string& text) {
  std::vector<int> devices;
  if (text == kAll) return devices;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    const std::optional<int> number = ParseStrictly<int>(part);
    if (!number || *number < 0 || *number >= 1024) {
      throw CLI::ValidationError(
          name, absl::StrCat("\"", text, "\" is not all, or numbers from 0 to 1023 such as 0,1"));
    }
    const int device = *number;
    if (std::find(devices.begin(), devices.end(), device) != devices.end()) {
      throw CLI::ValidationError(name, absl::StrCat("\"", text, "\" names ", device, " twice"));
    }
    devices.push_back(device);
  }
  if (devices.size() > kEngineCountMax) {
    throw CLI::ValidationError(name, absl::StrCat("more than ", kEngineCountMax, " devices"));
  }
  return devices;
}

// Empty, or what is wrong with it.
std::string CheckHostAndPort(const std::string& listen) {
  const auto [host, port] = SplitListen(listen);
  const bool port_is_good = ParseStrictly<uint16_t>(port).has_value();
  const bool host_is_good =
      !host.empty() && !absl::StrContains(host, ",") &&
      (!absl::StrContains(host, ":") || (absl::StartsWith(host, "[") && absl::EndsWith(host, "]")));
  if (port_is_good && host_is_good) return "";
  return absl::StrCat("\"", listen, "\" is not host:port, for example 127.0.0.1:50051 or [::1]:0");
}

// Empty, or what is wrong with it.
std::string CheckListen(const std::string& listen) {
  const std::optional<std::string> path = UnixPath(listen);
  if (!path) return CheckHostAndPort(listen);
  if (path->empty() || path->back() == '/' || absl::StartsWith(*path, "//")) {
    return absl::StrCat("\"", listen, "\" names no file, as unix:/run/gridfold/socket does");
  }
  if (path->size() <= kUnixPathBytesMax) return "";
  return absl::StrCat("the path of \"", listen, "\" has ", path->size(),
                      " bytes; the system takes ", kUnixPathBytesMax, " for a Unix socket");
}

// Adds "NAME=W" to the weights.
void ParseTenantWeight(const std::string& name, const std::string& text, TenantWeights& weights) {
  const size_t equals = text.rfind('=');
  const std::optional<uint64_t> weight =
      equals == std::string::npos ? std::nullopt : ParseStrictly<uint64_t>(text.substr(equals + 1));
  if (!weight || *weight < 1 || *weight > kTenantWeightMax) {
    throw CLI::ValidationError(
        name, absl::StrCat("\"", text, "\" is not NAME=W, W from 1 to ", kTenantWeightMax));
  }
  const std::string tenant = text.substr(0, equals);
  if (!tenant.empty()) {
    absl::Status status = ValidateIdentifier(tenant, kTenantNameBytesMax, "NAME");
    if (!status.ok()) {
      throw CLI::ValidationError(name, absl::StrCat("\"", text, "\": ", status.message()));
    }
  }
  if (!weights.emplace(tenant, *weight).second) {
    throw CLI::ValidationError(name, absl::StrCat("\"", tenant, "\" has two weights"));
  }
}

}  // namespace

void AddListen(CLI::App& app, std::string& target) {
  AddText(app, "--listen", target,
          "Address to listen on, host:port, where port 0 takes any that is free, or unix:path, "
          "where the server's user and group may connect. Other machines can reach it only with "
          "TLS, or --insecure")
      ->type_name("ADDRESS")
      ->check(CheckListen);
}

void AddMetricsAddress(CLI::App& app, std::optional<std::string>& target) {
  constexpr char kName[] = "--metrics-address";
  app.add_option_function<std::string>(
         kName,
         [&target](const std::string& text) {
           target = text == kOff ? std::nullopt : std::optional(text);
         },
         "Address to serve metrics on, host:port, at /metrics for Prometheus; port 0 takes any "
         "that is free, and off serves none")
      ->envname(EnvironmentName(kName))
      ->type_name("HOST:PORT")
      ->default_str(target.value_or(kOff))
      ->check([](const std::string& text) { return text == kOff ? "" : CheckHostAndPort(text); });
}

void AddCudaDevices(CLI::App& app, std::vector<int>& target) {
  static constexpr char kName[] = "--cuda-devices";
  app.add_option_function<std::string>(
         kName, [&target](const std::string& text) { target = ParseDevices(kName, text); },
         "GPUs of the CUDA engine, by number with commas between; each has lanes and room for "
         "resident arrays of its own")
      ->envname(EnvironmentName(kName))
      ->type_name("{all, NUMBER,...}")
      ->default_str(kAll);
}

void AddTenantWeights(CLI::App& app, TenantWeights& target) {
  static constexpr char kName[] = "--tenant-weight";
  app.add_option_function<std::vector<std::string>>(
         kName,
         [&target](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) ParseTenantWeight(kName, text, target);
         },
         "A tenant's share of the lanes while others wait too, and of what is left of a queue that "
         "is nearly full; once for each tenant, or with commas between")
      ->envname(EnvironmentName(kName))
      ->type_name("NAME=W")
      ->default_str("1 each")
      ->delimiter(',')
      ->allow_extra_args(false);
}

}  // namespace gridfold::server
