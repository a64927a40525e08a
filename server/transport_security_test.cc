// TLS over real sockets: who connects and who does not, and certificates that change meanwhile.
#include "server/transport_security.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>
#include <vector>

#include "server/testing/secure_server.h"

namespace gridfold::server {
namespace {

using testing::HasSubstr;

class TransportSecurityTest : public SecureServerTest {
 protected:
  TlsFiles FilesOf(const std::string& name) const {
    return {.certificate = folder_.Path(name + ".crt"), .key = folder_.Path(name + ".key")};
  }
  static bool IsRefused(const std::shared_ptr<grpc::Channel>& channel) {
    return Reduce(channel).error_code() == grpc::StatusCode::UNAVAILABLE;
  }

  const TestAuthority authority_{folder_, "authority"};
  const TestAuthority stranger_{folder_, "stranger"};
};

TEST_F(TransportSecurityTest, CallersThatTrustTheAuthorityConnect) {
  authority_.Issue("server");
  StartServer({.tls = FilesOf("server")});
  EXPECT_TRUE(Reduce(ConnectWithTls(authority_)).ok());
  EXPECT_TRUE(IsRefused(ConnectWithTls(stranger_)));
  EXPECT_TRUE(IsRefused(ConnectInTheClear()));
  EXPECT_TRUE(Reduce(ConnectWithTls(authority_)).ok());
}

TEST_F(TransportSecurityTest, AnExpiredCertificateIsNotTrusted) {
  authority_.Issue("server", /*days=*/-1);
  StartServer({.tls = FilesOf("server")});
  EXPECT_TRUE(IsRefused(ConnectWithTls(authority_)));
}

TEST_F(TransportSecurityTest, WithAClientAuthorityCallersNeedACertificateOfIt) {
  authority_.Issue("server");
  authority_.Issue("friend");
  authority_.Issue("expired", /*days=*/-1);
  stranger_.Issue("intruder");
  TlsFiles files = FilesOf("server");
  files.client_ca = authority_.certificate();
  StartServer({.tls = files});
  EXPECT_TRUE(Reduce(ConnectWithTls(authority_, "friend")).ok());
  EXPECT_TRUE(IsRefused(ConnectWithTls(authority_)));
  EXPECT_TRUE(IsRefused(ConnectWithTls(authority_, "intruder")));
  EXPECT_TRUE(IsRefused(ConnectWithTls(authority_, "expired")));
  EXPECT_TRUE(Reduce(ConnectWithTls(authority_, "friend")).ok());
}

TEST_F(TransportSecurityTest, FilesThatMakeNoSenseAreErrorsThatNameTheOption) {
  authority_.Issue("server");
  authority_.Issue("other");
  const TlsFiles good = FilesOf("server");
  const auto error = [](const TlsFiles& files) {
    return std::string(MakeServerCredentials(files).status().message());
  };
  EXPECT_EQ(error(good), "");
  EXPECT_THAT(error({"/nowhere", good.key, ""}), HasSubstr("--tls-certificate /nowhere"));
  EXPECT_THAT(error({good.key, good.key, ""}), HasSubstr("--tls-certificate"));
  EXPECT_THAT(error({good.certificate, "/nowhere", ""}), HasSubstr("--tls-key /nowhere"));
  EXPECT_THAT(error({good.certificate, FilesOf("other").key, ""}), HasSubstr("--tls-key"));
  EXPECT_THAT(error({good.certificate, good.key, good.key}), HasSubstr("--tls-client-ca"));
}

// A folder behind a symbolic link is replaced in one step, as Kubernetes does it.
TEST_F(TransportSecurityTest, ANewCertificateIsUsedAndNoCallIsLost) {
  authority_.Issue("old");
  stranger_.Issue("new");
  const auto install = [&](const std::string& name) {
    const std::filesystem::path folder = folder_.Path(name + "-files");
    std::filesystem::create_directory(folder);
    std::filesystem::copy(folder_.Path(name + ".crt"), folder / "tls.crt");
    std::filesystem::copy(folder_.Path(name + ".key"), folder / "tls.key");
    std::filesystem::create_symlink(folder, folder_.Path("link"));
    std::filesystem::rename(folder_.Path("link"), folder_.Path("current"));
  };
  install("old");
  StartServer({.tls = {.certificate = folder_.Path("current/tls.crt"),
                       .key = folder_.Path("current/tls.key")}});
  std::atomic<bool> stop = false;
  std::atomic<int> done = 0;
  std::atomic<int> failed = 0;
  std::vector<std::jthread> callers;
  for (int i = 0; i < 2; ++i) {
    callers.emplace_back([&, channel = ConnectWithTls(authority_)] {
      while (!stop) ++(Reduce(channel).ok() ? done : failed);
    });
  }
  while (done < 20) std::this_thread::yield();
  install("new");
  while (IsRefused(ConnectWithTls(stranger_))) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_TRUE(IsRefused(ConnectWithTls(authority_)));
  const int done_by_then = done;
  while (done < done_by_then + 20) std::this_thread::yield();
  stop = true;
  callers.clear();
  EXPECT_EQ(failed, 0);
}

TEST_F(TransportSecurityTest, ReflectionCanBeTurnedOff) {
  StartServer({.reflection = false});
  const RawAnswer answer =
      CallRaw(ConnectInTheClear(), "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
              std::string("\x3A\x00", 2));
  EXPECT_EQ(answer.status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
}

}  // namespace
}  // namespace gridfold::server
