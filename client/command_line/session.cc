#include "client/command_line/session.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/command_line/connection_hint.h"
#include "client/command_line/input/file.h"
#include "client/command_line/output/number_format.h"

namespace gridfold::client {

Session::Session(const SessionOptions& options, const TextStyle& style, std::ostream& out,
                 std::ostream& error)
    : options_(options), style_(style), out_(out), error_(error) {}

absl::StatusOr<std::unique_ptr<Client>> Session::Connect() const {
  const absl::Duration timeout =
      options_.timeout_s > 0 ? absl::Seconds(options_.timeout_s) : absl::InfiniteDuration();
  absl::StatusOr<ClientOptions> options = ToClientOptions(options_.connection);
  if (!options.ok()) return options.status();
  options->tenant = options_.tenant;
  options->priority = options_.priority;
  options->transport = options_.transport;
  options->stream_count = options_.stream_count;
  options->connect_timeout = std::min(options->connect_timeout, timeout);
  options->default_timeout = timeout;
  absl::StatusOr<std::unique_ptr<Client>> client = Client::Connect(*options);
  if (client.ok()) return client;
  if (absl::IsInvalidArgument(client.status())) {
    return WithExitCode(client.status(), ExitCode::kUsage);
  }
  return WithConnectionHint(client.status());
}

void Session::TellAbout(const InputOptions& options, const InputDescription& input) const {
  uint64_t count = 1;
  for (const uint64_t extent : input.shape) count *= extent;
  const std::string source = options.path == "-" ? "standard input" : options.path;
  if (count == 0) error_ << "gridfold: note: " << source << " has no elements\n";
  if (input.missing_count == 0) return;
  error_ << "gridfold: note: " << source << ": " << FormatInteger(input.missing_count) << " of "
         << FormatInteger(count) << (count == 1 ? " value" : " values") << " missing, taken as NaN"
         << (options.can_ignore_nan ? "; --ignore-nan leaves them out" : "") << "\n";
}

absl::StatusOr<uint64_t> Session::MessageBytesMax() const {
  const absl::StatusOr<std::unique_ptr<Client>> client = Connect();
  if (!client.ok()) return client.status();
  const absl::StatusOr<ServerInfo> info = (*client)->GetServerInfo();
  if (!info.ok()) return info.status();
  return std::min(info->limits.message_bytes_max,
                  static_cast<uint64_t>(ClientOptions().message_bytes_max));
}

absl::StatusOr<ResidentArray> Session::Find(const ArrayReference& reference) const {
  if (reference.indices.empty()) return Resolve(reference, {});
  const absl::StatusOr<std::unique_ptr<Client>> client = Connect();
  if (!client.ok()) return client.status();
  const absl::StatusOr<ArrayDescription> array = (*client)->GetArray(reference.name);
  if (!array.ok()) return array.status();
  return Resolve(reference, array->shape);
}

absl::StatusOr<std::string> Session::Read(const std::string& path) const {
  absl::StatusOr<std::string> bytes =
      ReadFile(path, static_cast<uint64_t>(ClientOptions().message_bytes_max), nullptr);
  if (!bytes.ok()) return WithExitCode(bytes.status(), ExitCode::kInputOutput);
  return bytes;
}

std::unique_ptr<Progress> Session::ShowProgress() const {
  if (!IsTerminal(STDERR_FILENO)) return std::make_unique<Progress>(style_, nullptr);
  return std::make_unique<Progress>(
      DetectStyle(STDERR_FILENO), [](const std::string& text) { std::cerr << text << std::flush; });
}

std::string Session::RequestLabel(uint64_t size_bytes) const {
  return absl::StrCat("sending ", FormatBytes(size_bytes), " to ", options_.connection.target,
                      " and waiting for the answer");
}

}  // namespace gridfold::client
