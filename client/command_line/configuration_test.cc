// What the command line, the environment, a profile and the rest of the file come to.
#include "client/command_line/configuration.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/str_cat.h"
#include "client/command_line/output/output_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::HasSubstr;

constexpr char kFile[] = R"(
# A comment.
server = "common:1"
tenant = "ours"
tls = true

[profile.test]
server = "test:1"
timeout = 7

[profile.other]
server = "other:1"
)";

class ConfigurationTest : public testing::Test {
 protected:
  ConfigurationTest() {
    for (const char* name : {"GRIDFOLD_CLIENT_CONFIG", "GRIDFOLD_PROFILE", "CONFIGURED_SERVER",
                             "CONFIGURED_TIMEOUT"}) {
      unsetenv(name);
    }
    setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
    Write(kFile);
  }
  ~ConfigurationTest() override { std::remove(path_.c_str()); }

  void Write(const std::string& text) { ASSERT_TRUE(WriteFile(path_, {text}).ok()); }

  // What is wrong with it, or nothing.
  std::string Parse(std::vector<std::string> arguments) {
    CLI::App app;
    app.require_subcommand(1);
    app.fallthrough();
    server_ = "default:1";
    tenant_.clear();
    timeout_s_ = 300;
    tls_ = false;
    app.add_option("--server", server_)->envname("CONFIGURED_SERVER")->take_last();
    app.add_option("--tenant", tenant_)->take_last();
    app.add_option("--timeout", timeout_s_)
        ->envname("CONFIGURED_TIMEOUT")
        ->check(CLI::PositiveNumber);
    app.add_flag("--tls", tls_);
    app.add_subcommand("go");
    AddConfiguration(app);
    arguments.insert(arguments.begin(), "go");
    std::vector<const char*> argv = {"program"};
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    try {
      app.parse(static_cast<int>(argv.size()), argv.data());
    } catch (const CLI::ParseError& error) {
      return error.what();
    }
    return "";
  }

  const std::string path_ = absl::StrCat(testing::TempDir(), "/configuration_test_", getpid());
  std::string server_;
  std::string tenant_;
  double timeout_s_ = 0;
  bool tls_ = false;
};

TEST_F(ConfigurationTest, ThereNeedBeNoFile) {
  EXPECT_EQ(Parse({}), "");
  EXPECT_EQ(server_, "default:1");
  EXPECT_THAT(Parse({"--config", "/nonexistent/file"}), HasSubstr("/nonexistent/file"));
  setenv("GRIDFOLD_CLIENT_CONFIG", "/nonexistent/named", 1);
  EXPECT_THAT(Parse({}), HasSubstr("/nonexistent/named"));
}

TEST_F(ConfigurationTest, TheFileIsBelowTheEnvironmentAndThatBelowTheCommandLine) {
  EXPECT_EQ(Parse({"--config", path_}), "");
  EXPECT_EQ(server_, "common:1");
  EXPECT_EQ(tenant_, "ours");
  EXPECT_TRUE(tls_);
  setenv("CONFIGURED_SERVER", "environment:1", 1);
  EXPECT_EQ(Parse({"--config", path_, "--profile", "test"}), "");
  EXPECT_EQ(server_, "environment:1");
  EXPECT_EQ(tenant_, "ours");
  EXPECT_EQ(Parse({"--config", path_, "--server", "line:1"}), "");
  EXPECT_EQ(server_, "line:1");
  setenv("GRIDFOLD_CLIENT_CONFIG", path_.c_str(), 1);
  EXPECT_EQ(Parse({"--tenant", "mine"}), "");
  EXPECT_EQ(tenant_, "mine");
}

TEST_F(ConfigurationTest, AProfileGoesBeforeTheRestOfTheFile) {
  EXPECT_EQ(Parse({"--config", path_, "--profile", "test"}), "");
  EXPECT_EQ(server_, "test:1");
  EXPECT_EQ(timeout_s_, 7);
  EXPECT_EQ(tenant_, "ours");
  setenv("GRIDFOLD_PROFILE", "test", 1);
  EXPECT_EQ(Parse({"--config", path_}), "");
  EXPECT_EQ(server_, "test:1");
  EXPECT_EQ(Parse({"--config", path_, "--profile", "other"}), "");
  EXPECT_EQ(server_, "other:1");
  EXPECT_EQ(timeout_s_, 300);
}

TEST_F(ConfigurationTest, WhatIsMisspeltIsAnError) {
  EXPECT_THAT(Parse({"--config", path_, "--profile", "tset"}), HasSubstr("tset"));
  EXPECT_THAT(Parse({"--config", path_, "--profile", "tset"}), HasSubstr("did you mean test?"));
  EXPECT_THAT(Parse({"--profile", "test"}), HasSubstr("no [profile.test]"));
  Write("sever = \"x\"\n");
  EXPECT_THAT(Parse({"--config", path_}), HasSubstr("sever"));
  Write("[reduce]\nstat = \"sum\"\n");
  EXPECT_THAT(Parse({"--config", path_}), HasSubstr("[reduce] is no section"));
  Write("[profile.test.more]\nserver = \"x\"\n");
  EXPECT_THAT(Parse({"--config", path_}), HasSubstr("is no section"));
  Write("timeout = \"soon\"\n");
  EXPECT_THAT(Parse({"--config", path_}), HasSubstr("soon"));
}

// Whether CLI11 says so by itself or skips the variable.
TEST_F(ConfigurationTest, VariablesThatNoOptionTakesAreErrors) {
  setenv("CONFIGURED_TIMEOUT", "never", 1);
  EXPECT_THAT(Parse({}), HasSubstr("never"));
  EXPECT_EQ(Parse({"--timeout", "3"}), "");
  setenv("CONFIGURED_TIMEOUT", "2", 1);
  EXPECT_EQ(Parse({}), "");
  EXPECT_EQ(timeout_s_, 2);
}

// Where no file is named, it is the one in the folder of configurations, where there is one.
TEST_F(ConfigurationTest, TheFileHasItsPlace) {
  namespace fs = std::filesystem;
  const fs::path home = absl::StrCat(path_, "_home");
  const auto place = [&](const fs::path& folder, const std::string& server) {
    fs::create_directories(folder / "gridfold");
    const std::string text = absl::StrCat("server = \"", server, "\"\n");
    ASSERT_TRUE(WriteFile(folder / "gridfold/config.toml", {text}).ok());
  };
  place(home / ".config", "home:1");
  place(home / "xdg", "xdg:1");
  const char* const old_home = std::getenv("HOME");
  const std::string restored = old_home == nullptr ? "" : old_home;
  setenv("HOME", home.c_str(), 1);
  setenv("XDG_CONFIG_HOME", (home / "xdg").c_str(), 1);
  EXPECT_EQ(Parse({}), "");
  EXPECT_EQ(server_, "xdg:1");
  unsetenv("XDG_CONFIG_HOME");
  EXPECT_EQ(Parse({}), "");
  EXPECT_EQ(server_, "home:1");
  unsetenv("HOME");
  EXPECT_EQ(Parse({}), "");
  EXPECT_EQ(server_, "default:1");
  if (old_home != nullptr) setenv("HOME", restored.c_str(), 1);
  fs::remove_all(home);
}

}  // namespace
}  // namespace gridfold::client
