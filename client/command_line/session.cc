#include "client/command_line/session.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/command_line/arguments/array_reference.h"
#include "client/command_line/input/file.h"
#include "client/command_line/output/number_format.h"

namespace gridfold::client {
namespace {

InputDescription DescribeFile(const InputOptions& options, const HostArray& array) {
  return {.source = options.path,
          .element_type = array.element_type,
          .shape = array.shape,
          .missing_count = array.missing_count};
}

}  // namespace

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
  options->connect_timeout = std::min(options->connect_timeout, timeout);
  options->default_timeout = timeout;
  absl::StatusOr<std::unique_ptr<Client>> client = Client::Connect(*options);
  if (client.ok() || !absl::IsUnavailable(client.status())) return client;
  return absl::UnavailableError(
      absl::StrCat(client.status().message(),
                   "; start a server with gridfold_server, or name one with --server HOST:PORT"));
}

absl::StatusOr<HostArray> Session::Load(const InputOptions& options) const {
  std::unique_ptr<Progress> progress = ShowProgress();
  progress->Begin(absl::StrCat("reading ", options.path == "-" ? "standard input" : options.path));
  absl::StatusOr<HostArray> array =
      LoadArray(options, [&](uint64_t read_bytes, std::optional<uint64_t> total_bytes) {
        progress->Update(read_bytes, total_bytes);
      });
  if (!array.ok()) return WithExitCode(array.status(), ExitCode::kInputOutput);
  progress.reset();  // Its line would stand before the notes.
  TellAbout(options, DescribeFile(options, *array));
  return array;
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

absl::StatusOr<InputArray> Session::Open(const InputOptions& options) const {
  if (!options.resident) {
    absl::StatusOr<HostArray> array = Load(options);
    if (!array.ok()) return array.status();
    InputDescription description = DescribeFile(options, *array);
    return InputArray{std::move(description), *std::move(array), options.shared};
  }
  const absl::StatusOr<std::unique_ptr<Client>> client = Connect();
  if (!client.ok()) return client.status();
  absl::StatusOr<ArrayDescription> array = (*client)->GetArray(options.resident->name);
  if (!array.ok()) return array.status();
  if (options.resident->slice) array->shape[0] = options.resident->slice->count;
  InputDescription description{.source = FormatReference(*options.resident),
                               .element_type = array->element_type,
                               .shape = array->shape};
  return InputArray{std::move(description), *options.resident};
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
