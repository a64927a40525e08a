#include "client/command_line/connection_options.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/command_line/arguments/choice.h"
#include "client/command_line/exit_code.h"
#include "client/command_line/input/file.h"

namespace gridfold::client {
namespace {

constexpr uint64_t kPemFileBytesMax = uint64_t{16} << 20;
constexpr uint64_t kTokenFileBytesMax = uint64_t{16} << 10;

void AddPath(CLI::App& program, const std::string& name, const std::string& variable,
             std::string& target, const std::string& description) {
  program.add_option(name, target, description)->envname(variable)->type_name("FILE")->take_last();
}

void AddTlsOptions(CLI::App& program, ConnectionOptions& options) {
  program
      .add_flag("--tls", options.use_tls,
                "Encrypt, and trust whom the system trusts; as the other --tls options do")
      ->envname("GRIDFOLD_CLIENT_TLS");
  AddPath(program, "--tls-ca", "GRIDFOLD_CLIENT_TLS_CA", options.tls.ca_file,
          "Trust servers with a certificate of these authorities only, PEM");
  AddPath(program, "--tls-certificate", "GRIDFOLD_CLIENT_TLS_CERTIFICATE",
          options.tls.certificate_file, "Certificate for servers that ask for one, PEM");
  AddPath(program, "--tls-key", "GRIDFOLD_CLIENT_TLS_KEY", options.tls.key_file, "Its key, PEM");
  program
      .add_option("--tls-server-name", options.tls.server_name,
                  "The name that the server's certificate must have, where not that of --server")
      ->envname("GRIDFOLD_CLIENT_TLS_SERVER_NAME")
      ->type_name("NAME")
      ->take_last();
}

std::optional<TlsOptions> TlsOf(const ConnectionOptions& options) {
  const TlsOptions& tls = options.tls;
  const bool is_used = options.use_tls || !tls.ca_file.empty() || !tls.certificate_file.empty() ||
                       !tls.key_file.empty() || !tls.server_name.empty();
  return is_used ? std::optional(tls) : std::nullopt;
}

absl::StatusOr<std::string> ReadToken(const std::string& path) {
  absl::StatusOr<std::string> token = ReadFile(path, kTokenFileBytesMax, nullptr);
  if (!token.ok()) return WithExitCode(token.status(), ExitCode::kInputOutput);
  absl::StripTrailingAsciiWhitespace(&*token);
  if (token->empty()) {
    return WithExitCode(absl::InvalidArgumentError(absl::StrCat(path, ": there is no token in it")),
                        ExitCode::kInputOutput);
  }
  return token;
}

// The files are read by the library, which knows no exit codes: so that each error of a file ends a
// program in the same way, they are tried before.
absl::Status CheckReadable(const char* flag, const std::string& path) {
  if (path.empty()) return absl::OkStatus();
  const absl::StatusOr<std::string> content = ReadFile(path, kPemFileBytesMax, nullptr);
  absl::Status status = content.status();
  if (content.ok() && content->empty()) {
    status = absl::InvalidArgumentError(absl::StrCat(path, ": is empty"));
  }
  if (status.ok()) return status;
  return WithExitCode(absl::Status(status.code(), absl::StrCat(flag, ": ", status.message())),
                      ExitCode::kInputOutput);
}

absl::Status CheckTlsFiles(const TlsOptions& tls) {
  for (const auto& [flag, path] :
       {std::pair("--tls-ca", &tls.ca_file), std::pair("--tls-certificate", &tls.certificate_file),
        std::pair("--tls-key", &tls.key_file)}) {
    if (absl::Status status = CheckReadable(flag, *path); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

void AddConnectionOptions(CLI::App& program, ConnectionOptions& options) {
  program.add_option("--server", options.target, "The server")
      ->envname("GRIDFOLD_SERVER")
      ->type_name("HOST:PORT")
      ->take_last()
      ->capture_default_str();
  AddChoice<Balancing>(program, "--balance", options.balancing,
                       {{"first", Balancing::kFirst}, {"round-robin", Balancing::kRoundRobin}},
                       "Which of the servers behind --server calls go to: the first that is there, "
                       "or every one that "
                       "serves in turn")
      ->envname("GRIDFOLD_CLIENT_BALANCE")
      ->default_str("first")
      ->take_last();
  AddTlsOptions(program, options);
  AddPath(program, "--token-file", "GRIDFOLD_CLIENT_TOKEN_FILE", options.token_file,
          "File with the token that the server knows the caller by");
}

absl::StatusOr<ClientOptions> ToClientOptions(const ConnectionOptions& options) {
  ClientOptions client{
      .target = options.target, .balancing = options.balancing, .tls = TlsOf(options)};
  if (absl::Status status = CheckTlsFiles(options.tls); !status.ok()) return status;
  if (options.token_file.empty()) return client;
  absl::StatusOr<std::string> token = ReadToken(options.token_file);
  if (!token.ok()) return token.status();
  client.token = *std::move(token);
  return client;
}

}  // namespace gridfold::client
