#include "client/library/target.h"

#include <cstdlib>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::HasSubstr;

TEST(LocalTargetTest, StaysOnThisMachine) {
  for (const char* target :
       {"localhost:50051", "localhost", "127.0.0.1:1", "127.1.2.3", "[::1]:50051",
        "unix:/tmp/socket", "unix-abstract:name", "dns:///localhost:50051", "dns:localhost:50051",
        "ipv4:127.0.0.1:1", "ipv4:127.0.0.1:1,127.0.0.2:1", "ipv6:[::1]:1"}) {
    EXPECT_TRUE(IsLocalTarget(target)) << target;
  }
}

TEST(LocalTargetTest, LeavesThisMachine) {
  for (const char* target :
       {"server:50051", "10.0.0.1:50051", "localhost.example.org:1", "127.0.0.1.example.org:1",
        "127.example:1", "[::2]:1", "dns:///server:1", "dns://127.0.0.1/server:1",
        "ipv4:127.0.0.1:1,10.0.0.1:1", "xds:///localhost", ""}) {
    EXPECT_FALSE(IsLocalTarget(target)) << target;
  }
}

TEST(TargetTest, WhatGrpcUnderstands) {
  for (const char* target :
       {"localhost:50051", "localhost", "[::1]:1", "::1", "10.0.0.1:65535", "host:https",
        "dns:///name:50051", "dns://8.8.8.8/name:1", "dns:name:1", "ipv4:10.0.0.1:1,10.0.0.2:2",
        "ipv6:[::1]:1", "unix:path", "unix:///path", "unix-abstract:name", "xds:///name"}) {
    EXPECT_EQ(CheckTarget(target), absl::OkStatus()) << target;
  }
}

TEST(TargetTest, APortThatIsNotNamedIsTheServersOwn) {
  const std::pair<const char*, const char*> whole[] = {
      {"host", "host:50051"},
      {"10.0.0.1", "10.0.0.1:50051"},
      {"[::1]", "[::1]:50051"},
      {"dns:///name", "dns:///name:50051"},
      {"dns:name", "dns:name:50051"},
      {"ipv4:10.0.0.1,10.0.0.2:7", "ipv4:10.0.0.1:50051,10.0.0.2:7"},
      {"ipv6:[::1],[::2]:7", "ipv6:[::1]:50051,[::2]:7"},
  };
  for (const auto& [target, expected] : whole) EXPECT_EQ(WithDefaultPort(target), expected);
  for (const char* target : {"host:7", "host:https", "[::1]:7", "::1", "unix:path", "unix:///path",
                             "unix-abstract:name", "xds:///name", "dns://8.8.8.8/name"}) {
    EXPECT_EQ(WithDefaultPort(target), target);
  }
}

TEST(TargetTest, WhatGrpcMisunderstands) {
  EXPECT_THAT(std::string(CheckTarget("").message()), HasSubstr("empty"));
  for (const char* target : {"http://localhost:1", "https://host", "grpc://host:1", "tcp://h:1"}) {
    EXPECT_THAT(std::string(CheckTarget(target).message()), HasSubstr("HOST:PORT")) << target;
  }
  for (const char* target : {"host:99999", "host:0", "host:abc", "host:-1", "host:", "[::1]:65536",
                             "dns:///host:70000", "ipv4:10.0.0.1:1,10.0.0.2:65536"}) {
    EXPECT_THAT(std::string(CheckTarget(target).message()), HasSubstr("65535")) << target;
  }
}

class ProxyTest : public testing::Test {
 protected:
  ProxyTest() { Clear(); }
  ~ProxyTest() override { Clear(); }

  static void Clear() {
    for (const char* const name :
         {"grpc_proxy", "https_proxy", "http_proxy", "no_grpc_proxy", "no_proxy"}) {
      unsetenv(name);
    }
  }
};

TEST_F(ProxyTest, IsThatOfTheEnvironment) {
  EXPECT_FALSE(ProxyOf("host:1"));
  setenv("http_proxy", "http://name:secret@proxy:3128", 1);
  ASSERT_TRUE(ProxyOf("dns:///host:1"));
  EXPECT_EQ(ProxyOf("host:1")->variable, "http_proxy");
  EXPECT_EQ(ProxyOf("host:1")->address, "proxy:3128");
  setenv("no_proxy", "example.org, host", 1);
  EXPECT_FALSE(ProxyOf("host:1"));
  EXPECT_TRUE(ProxyOf("other:1"));
}

TEST_F(ProxyTest, IsNotUsedForThisMachine) {
  setenv("grpc_proxy", "http://proxy:3128", 1);
  for (const char* const target : {"localhost:1", "127.0.0.1:1", "[::1]:1", "unix:/tmp/socket"}) {
    EXPECT_FALSE(ProxyOf(target)) << target;
  }
}

}  // namespace
}  // namespace gridfold::client
