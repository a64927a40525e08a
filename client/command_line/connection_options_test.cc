// What the options of a connection come to, each by itself, from the command line and the
// environment.
#include "client/command_line/connection_options.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"

namespace gridfold::client {
namespace {

absl::StatusOr<ClientOptions> ParseConnection(std::vector<std::string> arguments) {
  CLI::App program;
  ConnectionOptions options;
  AddConnectionOptions(program, options);
  // CLI11 takes them from the back.
  program.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  return ToClientOptions(options);
}

std::string WriteTestFile(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

TEST(ConnectionOptionsTest, DefaultsAreThoseOfTheLibrary) {
  const auto options = ParseConnection({});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->target, ClientOptions{}.target);
  EXPECT_EQ(options->balancing, Balancing::kFirst);
  EXPECT_FALSE(options->tls.has_value());
  EXPECT_EQ(options->token, "");
}

// A flag, the same as a variable, and where its value goes.
struct TlsCase {
  std::string flag;
  std::string variable;
  std::string TlsOptions::*field;
};

TEST(ConnectionOptionsTest, AnyOptionOfTlsEncrypts) {
  const std::string file = WriteTestFile("any.pem", "not empty");
  const auto plain = ParseConnection({"--tls"});
  ASSERT_TRUE(plain.ok() && plain->tls) << plain.status();
  for (const TlsCase& tls : std::vector<TlsCase>{
           {"--tls-ca", "GRIDFOLD_CLIENT_TLS_CA", &TlsOptions::ca_file},
           {"--tls-certificate", "GRIDFOLD_CLIENT_TLS_CERTIFICATE", &TlsOptions::certificate_file},
           {"--tls-key", "GRIDFOLD_CLIENT_TLS_KEY", &TlsOptions::key_file},
           {"--tls-server-name", "GRIDFOLD_CLIENT_TLS_SERVER_NAME", &TlsOptions::server_name}}) {
    SCOPED_TRACE(tls.flag);
    const auto expect_only = [&](const absl::StatusOr<ClientOptions>& options) {
      ASSERT_TRUE(options.ok()) << options.status();
      ASSERT_TRUE(options->tls.has_value());
      for (std::string TlsOptions::*const field :
           {&TlsOptions::ca_file, &TlsOptions::certificate_file, &TlsOptions::key_file,
            &TlsOptions::server_name}) {
        EXPECT_EQ((*options->tls).*field, field == tls.field ? file : "");
      }
    };
    expect_only(ParseConnection({tls.flag, file}));
    setenv(tls.variable.c_str(), file.c_str(), 1);
    expect_only(ParseConnection({}));
    unsetenv(tls.variable.c_str());
  }
}

TEST(ConnectionOptionsTest, FilesThatAreNoneAreNamed) {
  const std::string empty = WriteTestFile("empty.pem", "");
  for (const char* const flag : {"--tls-ca", "--tls-certificate", "--tls-key"}) {
    for (const std::string& path : {empty, std::string("/nowhere/at.all")}) {
      const absl::Status status = ParseConnection({flag, path}).status();
      EXPECT_FALSE(status.ok());
      EXPECT_TRUE(absl::StartsWith(status.message(), std::string(flag) + ": ")) << status;
      EXPECT_NE(status.message().find(path), absl::string_view::npos) << status;
    }
  }
  EXPECT_FALSE(ParseConnection({"--token-file", WriteTestFile("empty.token", " \n")}).ok());
}

TEST(ConnectionOptionsTest, TheTokenIsTheFilesContent) {
  const auto options = ParseConnection({"--token-file", WriteTestFile("a.token", "secret \n\n")});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->token, "secret");
  EXPECT_FALSE(options->tls.has_value());
}

TEST(ConnectionOptionsTest, ServerAndBalance) {
  const auto options = ParseConnection({"--server", "host:7", "--balance", "round-robin"});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->target, "host:7");
  EXPECT_EQ(options->balancing, Balancing::kRoundRobin);
}

}  // namespace
}  // namespace gridfold::client
