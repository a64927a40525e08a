// TLS over real sockets: who connects and who does not, and certificates that change meanwhile.
#include "server/transport/transport_security.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/base/fixed_limits.h"
#include "server/testing/http_exchange.h"
#include "server/testing/metrics_text.h"
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
    return std::string(CertificateStore::Load(files).status().message());
  };
  EXPECT_EQ(error(good), "");
  EXPECT_THAT(error({"/nowhere", good.key, ""}), HasSubstr("--tls-certificate /nowhere"));
  EXPECT_THAT(error({good.key, good.key, ""}), HasSubstr("--tls-certificate"));
  EXPECT_THAT(error({good.certificate, "/nowhere", ""}), HasSubstr("--tls-key /nowhere"));
  EXPECT_THAT(error({good.certificate, FilesOf("other").key, ""}), HasSubstr("--tls-key"));
  EXPECT_THAT(error({good.certificate, good.key, good.key}), HasSubstr("--tls-client-ca"));
  EXPECT_THAT(error({good.certificate, good.key, "/dev/zero"}), HasSubstr("--tls-client-ca"));
  const std::string pem = ReadWhole(good.certificate);
  const std::string both = folder_.Write("both", ReadWhole(good.key) + pem + pem);
  EXPECT_EQ(error({both, both, both}), "") << "other things in the files are no fault";
  for (const std::string& bad :
       {std::string(), std::string("\n"), std::string(2000, 'x'), pem.substr(0, pem.size() / 2),
        pem + pem.substr(0, pem.size() / 2), pem + std::string(1, '\0') + pem,
        std::string(2 << 20, '\n') + pem}) {
    EXPECT_THAT(error({folder_.Write("bad", bad), good.key, ""}), HasSubstr("--tls-certificate"));
    EXPECT_THAT(error({good.certificate, good.key, folder_.Write("bad", bad)}),
                HasSubstr("--tls-client-ca"));
  }
}

// Files that are written in place, by halves and one after the other, while clients connect: every
// state of them that a copy, a full disk or a mistake can leave.
class TornFilesTest : public TransportSecurityTest {
 protected:
  void SetUp() override {
    for (const char* const name : {"one", "two"}) {
      authority_.Issue(name);
      pairs_.push_back({ReadWhole(folder_.Path(name + std::string(".crt"))),
                        ReadWhole(folder_.Path(name + std::string(".key"))),
                        ReadWhole(authority_.certificate())});
    }
    authority_.Issue("friend");
    files_ = {.certificate = folder_.Path("live.crt"),
              .key = folder_.Path("live.key"),
              .client_ca = folder_.Path("live.ca")};
    Put(pairs_[0]);
  }
  // In place, as cp does it: readers may see any part of it.
  void Put(const CertificateTexts& texts) const {
    std::ofstream(files_.certificate) << texts.certificate;
    std::ofstream(files_.key) << texts.key;
    std::ofstream(files_.client_ca) << texts.client_ca;
  }
  // What is in a file after a write that went wrong.
  std::string Torn(const std::string& text) {
    switch (random_() % 6) {
      case 0: return "";
      case 1: return text.substr(0, random_() % text.size());
      case 2: return std::string(random_() % 3000, '\0');
      case 3: return text.substr(random_() % text.size());
      case 4: {
        std::string bytes = text;
        for (int i = 0; i < 5; ++i) bytes[random_() % bytes.size()] = static_cast<char>(random_());
        return bytes;
      }
      default: return text;
    }
  }
  CertificateTexts TornTexts() {
    return {Torn(pairs_[random_() % 2].certificate), Torn(pairs_[random_() % 2].key),
            Torn(pairs_[0].client_ca)};
  }

  std::mt19937 random_{20261126};
  std::vector<CertificateTexts> pairs_;
  TlsFiles files_;
};

TEST_F(TornFilesTest, WhateverIsInThemTheServerGoesOnWithTheLastGoodOnes) {
  StartServer({.tls = files_});
  for (int round = 0; round < 200; ++round) {
    Put(TornTexts());
    // As SIGHUP has it: without waiting for the next look.
    server_->Reload();
    if (round % 10 == 0) {
      EXPECT_TRUE(Reduce(ConnectWithTls(authority_, "friend")).ok()) << round;
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  Put(pairs_[1]);
  server_->Reload();
  EXPECT_TRUE(Reduce(ConnectWithTls(authority_, "friend")).ok());
  EXPECT_TRUE(IsRefused(ConnectWithTls(authority_)));
}

TEST_F(TornFilesTest, TheOldOnesAreUsedUntilTheNewOnesAreWholeAndFit) {
  const auto store = CertificateStore::Load(files_);
  ASSERT_TRUE(store.ok()) << store.status();
  const auto wait_for = [&](auto condition) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!condition() && std::chrono::steady_clock::now() < give_up) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_TRUE(condition());
  };
  const auto expect_old = [&] {
    const uint64_t failures = (*store)->report().failures();
    (*store)->Reload();
    wait_for([&] { return (*store)->report().failures() > failures; });
    EXPECT_EQ((*store)->current()->texts, pairs_[0]);
  };
  for (const std::string& path : {files_.certificate, files_.key, files_.client_ca}) {
    std::ofstream(path).close();
    expect_old();
    std::filesystem::remove(path);
    expect_old();
    std::filesystem::create_directory(path);
    expect_old();
    std::filesystem::remove(path);
    Put(pairs_[0]);
  }
  std::ofstream(files_.key) << pairs_[1].key;
  expect_old();
  std::ofstream(files_.certificate) << pairs_[1].certificate;
  (*store)->Reload();
  wait_for([&] { return (*store)->current()->texts == pairs_[1]; });
  EXPECT_EQ((*store)->report().reloads(), 1u);
  const absl::Duration left = (*store)->current()->expiry - absl::Now();
  EXPECT_GT(left, absl::Hours(24 * 29));
  EXPECT_LE(left, absl::Hours(24 * 30));
}

// A list of authorities that is being written is a shorter list for a moment.
TEST_F(TornFilesTest, WithoutBeingAskedItWaitsUntilFilesStandStill) {
  const auto store = CertificateStore::Load(files_);
  ASSERT_TRUE(store.ok()) << store.status();
  std::string authorities = pairs_[0].client_ca;
  const auto end = std::chrono::steady_clock::now() + 4 * kFileCheckInterval;
  while (std::chrono::steady_clock::now() < end) {
    authorities += "\n";
    std::ofstream(files_.client_ca) << authorities << pairs_[0].client_ca;
    EXPECT_EQ((*store)->report().reloads(), 0u);
    std::this_thread::sleep_for(kFileCheckInterval / 5);
  }
  const auto give_up = end + std::chrono::seconds(30);
  while ((*store)->report().reloads() == 0 && std::chrono::steady_clock::now() < give_up) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ((*store)->current()->texts.client_ca, authorities + pairs_[0].client_ca);
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

TEST_F(TransportSecurityTest, MetricsSayWhenTheCertificateExpires) {
  authority_.Issue("server");
  StartServer({.tls = FilesOf("server")});
  const MetricsText metrics =
      ParseMetrics(HttpGet(server_->metrics_port().value(), "/metrics").body);
  // As the authority issues them: for 30 days.
  EXPECT_NEAR(metrics.Value("gridfold_certificate_expiry_time_seconds"),
              static_cast<double>(time(nullptr)) + 30 * 24 * 3600, 600);
  EXPECT_EQ(metrics.Value("gridfold_reloads_total{what=\"certificates\"}"), 0);
  EXPECT_EQ(metrics.Value("gridfold_reload_failures_total{what=\"certificates\"}"), 0);
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
