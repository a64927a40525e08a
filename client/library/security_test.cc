#include "client/library/security.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gridfold::client {
namespace {

using testing::HasSubstr;

std::string WhatIsWrong(const ClientOptions& options) {
  return std::string(CheckSecurity(options).message());
}

TEST(SecurityTest, ATokenIsNotSentInTheClear) {
  EXPECT_THAT(WhatIsWrong({.target = "server:1", .token = "secret"}), HasSubstr("token:"));
  EXPECT_EQ(WhatIsWrong({.target = "localhost:1", .token = "secret"}), "");
  EXPECT_EQ(WhatIsWrong({.target = "server:1", .tls = TlsOptions{}, .token = "secret"}), "");
}

TEST(SecurityTest, ErrorsNameTheOptionAndNotTheSecret) {
  const std::string error = WhatIsWrong({.target = "localhost:1", .token = "se cret\n"});
  EXPECT_THAT(error, HasSubstr("token:"));
  EXPECT_THAT(error, testing::Not(HasSubstr("cret")));
  EXPECT_THAT(WhatIsWrong({.tls = TlsOptions{.certificate_file = "a"}}),
              HasSubstr("tls.certificate_file"));
  EXPECT_THAT(WhatIsWrong({.token = "secret", .credentials = grpc::InsecureChannelCredentials()}),
              HasSubstr("credentials:"));
  for (const char* const unreadable : {"/nowhere", "/tmp", "/dev/null"}) {
    EXPECT_THAT(
        std::string(MakeCredentials({.tls = TlsOptions{.ca_file = unreadable}}).status().message()),
        HasSubstr("tls.ca_file"))
        << unreadable;
  }
}

TEST(SecurityTest, EachOptionGoesWithWhatItNeeds) {
  const auto given = grpc::InsecureChannelCredentials();
  const struct {
    ClientOptions options;
    const char* wrong;
  } cases[] = {
      {{.target = "server:1"}, ""},
      {{.target = "server:1", .credentials = given}, ""},
      {{.target = "server:1", .tls = TlsOptions{}}, ""},
      {{.target = "server:1", .tls = TlsOptions{.certificate_file = "a", .key_file = "b"}}, ""},
      {{.target = "server:1", .tls = TlsOptions{.certificate_file = "a"}}, "tls.certificate_file:"},
      {{.target = "server:1", .tls = TlsOptions{.key_file = "b"}}, "tls.certificate_file:"},
      {{.target = "server:1", .tls = TlsOptions{}, .credentials = given}, "credentials:"},
      {{.target = "localhost:1", .token = "t", .credentials = given}, "credentials:"},
      {{.target = "localhost:1", .token = "!~"}, ""},
      {{.target = "localhost:1", .token = "a b"}, "token:"},
      {{.target = "localhost:1", .token = "a\x7f"}, "token:"},
      {{.target = "localhost:1", .token = "\x80"}, "token:"},
      {{.target = "server:1", .token = "t"}, "token:"},
  };
  for (const auto& [options, wrong] : cases) {
    const std::string error = WhatIsWrong(options);
    if (*wrong == '\0') {
      EXPECT_EQ(error, "");
    } else {
      EXPECT_THAT(error, testing::StartsWith(wrong));
    }
  }
}

TEST(SecurityTest, CredentialsThatAreGivenAreUsed) {
  const auto given = grpc::InsecureChannelCredentials();
  const auto used = MakeCredentials({.credentials = given});
  ASSERT_TRUE(used.ok()) << used.status();
  EXPECT_EQ(*used, given);
  for (const ClientOptions& options : {ClientOptions{}, ClientOptions{.tls = TlsOptions{}}}) {
    const auto made = MakeCredentials(options);
    ASSERT_TRUE(made.ok()) << made.status();
    EXPECT_NE(*made, nullptr);
    EXPECT_NE(*made, given);
  }
}

TEST(SecurityTest, EachFileThatCannotBeReadIsNamed) {
  const auto error = [](const TlsOptions& tls) {
    return std::string(MakeCredentials({.tls = tls}).status().message());
  };
  EXPECT_EQ(error({.ca_file = "/nowhere"}), "tls.ca_file: cannot read /nowhere");
  EXPECT_EQ(error({.certificate_file = "/nowhere", .key_file = "/nowhere"}),
            "tls.certificate_file: cannot read /nowhere");
  EXPECT_EQ(error({.key_file = "/nowhere"}), "tls.key_file: cannot read /nowhere");
}

}  // namespace
}  // namespace gridfold::client
