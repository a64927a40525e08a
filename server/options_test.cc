// What the command line, the environment and the configuration file come to.
#include "server/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/base/fixed_limits.h"
#include "server/base/limits.h"
#include "server/base/version.h"
#include "server/testing/fake_engine.h"
#include "server/testing/parsed_options.h"
#include "server/transport/listen_address.h"

namespace gridfold::server {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

TEST(OptionsTest, DefaultsAreThoseOfLimits) {
  const ServerOptions options = ParseGood({});
  EXPECT_EQ(options.listen, "127.0.0.1:50051");
  EXPECT_EQ(options.metrics_address, "127.0.0.1:9464");
  EXPECT_EQ(options.engine.kind, kernels::EngineKind::kAuto);
  EXPECT_EQ(options.limits.message_bytes_max, 256 * kMiB);
  EXPECT_EQ(options.limits.lane_count, 4u);
  EXPECT_EQ(options.grace_period, std::chrono::seconds(30));
  EXPECT_EQ(options.log_format, LogFormat::kText);
}

TEST(OptionsTest, LimitsThatNobodySaysFollowTheDevices) {
  FakeEngine engines[3];
  const std::vector<kernels::Engine*> devices = {&engines[0], &engines[1], &engines[2]};
  const Limits defaults;
  const Limits without_gpu = LimitsFor(ParseGood({}), devices);
  EXPECT_EQ(without_gpu.resident_bytes_max, defaults.resident_bytes_max);
  EXPECT_EQ(without_gpu.queued_jobs_max, 3 * defaults.queued_jobs_max);
  const auto queued_bytes_of = [&](std::initializer_list<const char*> arguments) {
    return LimitsFor(ParseGood(arguments), devices).queued_bytes_max;
  };
  EXPECT_EQ(queued_bytes_of({"--max-memory-bytes=64GiB"}), 3 * defaults.queued_bytes_max);
  EXPECT_EQ(queued_bytes_of({"--max-memory-bytes=16GiB"}), 2 * kGiB) << "an eighth";
  EXPECT_EQ(queued_bytes_of({"--max-memory-bytes=4GiB"}), defaults.queued_bytes_max);
  EXPECT_EQ(queued_bytes_of({"--max-memory-bytes=64GiB", "--max-queued-bytes=5GiB"}), 5 * kGiB);
  for (FakeEngine& engine : engines) engine.set_free_bytes(80 * kGiB);
  engines[1].set_free_bytes(10 * kGiB + 7);
  EXPECT_EQ(LimitsFor(ParseGood({}), devices).resident_bytes_max, 5 * kGiB) << "half of the least";
  const ServerOptions asked = ParseGood({"--resident-bytes=2GiB", "--max-queued-jobs=9"});
  EXPECT_EQ(LimitsFor(asked, devices).resident_bytes_max, 2 * kGiB);
  EXPECT_EQ(LimitsFor(asked, devices).queued_jobs_max, 9u);
}

TEST(OptionsTest, EveryOptionIsRead) {
  const ServerOptions options = ParseGood({"--engine=cpu",
                                           "--listen=0.0.0.0:0",
                                           "--port-file=/tmp/port",
                                           "--metrics-address=0.0.0.0:9999",
                                           "--lanes=7",
                                           "--cpu-threads=3",
                                           "--cuda-devices=2,0",
                                           "--tenant-weight=a=2",
                                           "--tenant-weight",
                                           "b/c=1000",
                                           "--max-message-bytes=1MiB",
                                           "--max-queued-jobs=9",
                                           "--max-queued-bytes=2GiB",
                                           "--max-answer-bytes=3MiB",
                                           "--send-timeout=7s",
                                           "--max-bins=1000",
                                           "--max-groups=2000",
                                           "--resident-bytes=8GiB",
                                           "--tenant-resident-bytes=1GiB",
                                           "--max-arrays=50",
                                           "--allow-regions",
                                           "--max-regions=5",
                                           "--max-region-bytes=2GiB",
                                           "--max-streams=12",
                                           "--stream-idle-timeout=90s",
                                           "--max-connections=77",
                                           "--connection-idle-timeout=0",
                                           "--max-memory-bytes=3GiB",
                                           "--max-batch-operations=60",
                                           "--grace-period=1500ms",
                                           "--lame-duck=5s",
                                           "--tls-certificate=server.crt",
                                           "--tls-key=server.key",
                                           "--tls-client-ca=ca.crt",
                                           "--token-file=tokens.json",
                                           "--reflection=off",
                                           "--log-level=error",
                                           "--log-format=json"});
  EXPECT_EQ(options.engine.kind, kernels::EngineKind::kCpu);
  EXPECT_EQ(options.listen, "0.0.0.0:0");
  EXPECT_EQ(options.port_file, "/tmp/port");
  EXPECT_EQ(options.metrics_address, "0.0.0.0:9999");
  EXPECT_EQ(options.limits.lane_count, 7u);
  EXPECT_EQ(options.engine.cpu_threads, 3);
  EXPECT_THAT(options.engine.cuda_devices, testing::ElementsAre(2, 0));
  EXPECT_EQ(options.tenant_weights, (TenantWeights{{"a", 2}, {"b/c", 1000}}));
  EXPECT_EQ(options.limits.message_bytes_max, kMiB);
  EXPECT_EQ(options.limits.queued_jobs_max, 9u);
  EXPECT_EQ(options.limits.queued_bytes_max, 2 * kGiB);
  EXPECT_EQ(options.limits.answer_bytes_max, 3 * kMiB);
  EXPECT_EQ(options.limits.send_timeout, std::chrono::seconds(7));
  EXPECT_EQ(options.limits.bin_count_max, 1000u);
  EXPECT_EQ(options.limits.group_count_max, 2000u);
  EXPECT_EQ(options.limits.resident_bytes_max, 8 * kGiB);
  EXPECT_EQ(options.limits.tenant_bytes_max(), 1 * kGiB);
  EXPECT_EQ(options.limits.array_count_max, 50u);
  EXPECT_TRUE(options.limits.regions_allowed);
  EXPECT_EQ(options.limits.region_count_max, 5u);
  EXPECT_EQ(options.limits.region_bytes_max, 2 * kGiB);
  EXPECT_EQ(options.limits.stream_count_max, 12u);
  EXPECT_EQ(options.limits.stream_idle_timeout, std::chrono::seconds(90));
  EXPECT_EQ(options.limits.connection_count_max, 77u);
  EXPECT_EQ(options.limits.connection_idle_timeout, milliseconds(0));
  EXPECT_EQ(options.limits.memory_bytes_max, 3 * kGiB);
  EXPECT_EQ(options.limits.batch_operations_max, 60u);
  EXPECT_EQ(options.grace_period, milliseconds(1500));
  EXPECT_EQ(options.lame_duck, std::chrono::seconds(5));
  EXPECT_EQ(options.security.tls.certificate, "server.crt");
  EXPECT_EQ(options.security.tls.key, "server.key");
  EXPECT_EQ(options.security.tls.client_ca, "ca.crt");
  EXPECT_EQ(options.security.token_file, "tokens.json");
  EXPECT_FALSE(options.security.reflection);
  EXPECT_EQ(options.log_level, LogLevel::kError);
  EXPECT_EQ(options.log_format, LogFormat::kJson);
}

TEST(OptionsTest, AnswersHaveRoomInProportionToTheMemory) {
  const auto room = [](const std::vector<const char*>& arguments) {
    return ParseGood(arguments).limits.answer_bytes_max;
  };
  EXPECT_EQ(room({"--max-memory-bytes=64MiB"}), 8 * kMiB);
  EXPECT_EQ(room({"--max-memory-bytes=800MiB"}), 100 * kMiB);
  EXPECT_EQ(room({"--max-memory-bytes=64GiB"}), kGiB);
  EXPECT_EQ(room({"--max-memory-bytes=800MiB", "--max-answer-bytes=200MiB"}), 200 * kMiB);
  EXPECT_EQ(room({}), AnswerBytesOf(ParseGood({}).limits.memory_bytes_max));
}

TEST(OptionsTest, OtherMachinesConnectWithTlsOrOnRequestOnly) {
  EXPECT_TRUE(ParseGood({"--listen=0.0.0.0:0", "--insecure"}).insecure);
  EXPECT_FALSE(ParseGood({}).security.tls.is_used());
  EXPECT_TRUE(ParseGood({}).security.reflection);
  for (const std::vector<const char*>& bad :
       std::vector<std::vector<const char*>>{{"--listen=0.0.0.0:0"},
                                             {"--tls-certificate=a"},
                                             {"--tls-key=a"},
                                             {"--tls-client-ca=a"},
                                             {"--token-file=a", "--listen=host:1"}}) {
    EXPECT_EQ(ParseBad(bad).exit_code, 2);
  }
}

TEST(OptionsTest, MetricsCanBeTurnedOff) {
  EXPECT_EQ(ParseGood({"--metrics-address=off"}).metrics_address, std::nullopt);
  const ScopedVariable address("GRIDFOLD_METRICS_ADDRESS", "off");
  EXPECT_EQ(ParseGood({}).metrics_address, std::nullopt);
  EXPECT_EQ(ParseGood({"--metrics-address=127.0.0.1:0"}).metrics_address, "127.0.0.1:0");
}

TEST(OptionsTest, AllVisibleGpusUnlessToldOtherwise) {
  EXPECT_TRUE(ParseGood({}).engine.cuda_devices.empty());
  EXPECT_TRUE(ParseGood({"--cuda-devices=all"}).engine.cuda_devices.empty());
  const ScopedVariable devices("GRIDFOLD_CUDA_DEVICES", "0,3");
  EXPECT_THAT(ParseGood({}).engine.cuda_devices, testing::ElementsAre(0, 3));
}

TEST(OptionsTest, TenantWeightsComeFromEverySource) {
  EXPECT_TRUE(ParseGood({}).tenant_weights.empty());
  const ScopedVariable weights("GRIDFOLD_TENANT_WEIGHT", "a=2,=3");
  EXPECT_EQ(ParseGood({}).tenant_weights, (TenantWeights{{"a", 2}, {"", 3}}));
  const std::string path = WriteFile("tenant-weight = [\"b=4\", \"c=5\"]\n");
  EXPECT_EQ(ParseGood({"--config", path.c_str()}).tenant_weights,
            (TenantWeights{{"a", 2}, {"", 3}}));
  EXPECT_EQ(ParseGood({"--config", path.c_str(), "--tenant-weight", "d=6"}).tenant_weights,
            (TenantWeights{{"d", 6}}));
  const ScopedVariable none("GRIDFOLD_TENANT_WEIGHT", "");
  EXPECT_EQ(ParseGood({"--config", path.c_str()}).tenant_weights,
            (TenantWeights{{"b", 4}, {"c", 5}}));
}

TEST(OptionsTest, ATenantMayHaveAllResidentBytesUnlessToldOtherwise) {
  EXPECT_EQ(ParseGood({}).limits.tenant_bytes_max(), 1 * kGiB);
  EXPECT_EQ(ParseGood({"--resident-bytes=2GiB"}).limits.tenant_bytes_max(), 2 * kGiB);
  EXPECT_EQ(ParseGood({"--resident-bytes=0"}).limits.tenant_bytes_max(), 0u);
}

TEST(OptionsTest, RegionsAreOffUnlessTheyAreAllowed) {
  EXPECT_FALSE(ParseGood({}).limits.regions_allowed);
  EXPECT_FALSE(ParseGood({"--max-regions=5"}).limits.regions_allowed);
  const ScopedVariable allowed("GRIDFOLD_ALLOW_REGIONS", "true");
  EXPECT_TRUE(ParseGood({}).limits.regions_allowed);
}

TEST(OptionsTest, SizesAndTimesHaveUnits) {
  EXPECT_EQ(ParseGood({"--max-message-bytes", "100000"}).limits.message_bytes_max, 100000u);
  EXPECT_EQ(ParseGood({"--max-message-bytes", "64KiB"}).limits.message_bytes_max, 65536u);
  EXPECT_EQ(ParseGood({"--max-message-bytes", "1MB"}).limits.message_bytes_max, 1000000u);
  EXPECT_EQ(ParseGood({"--grace-period", "90"}).grace_period, std::chrono::seconds(90));
  EXPECT_EQ(ParseGood({"--grace-period", "2m"}).grace_period, std::chrono::minutes(2));
  EXPECT_EQ(ParseGood({"--grace-period", "0"}).grace_period, milliseconds(0));
}

TEST(OptionsTest, CommandLineWinsOverEnvironmentWinsOverFile) {
  const std::string path = WriteFile(
      "lanes = 2\nmax-bins = 20\nmax-message-bytes = \"1MiB\"\nengine = \"cpu\"\n"
      "allow-regions = true\nmetrics-address = \"off\"\nlame-duck = \"3s\"\n");
  const ScopedVariable lanes("GRIDFOLD_LANES", "3");
  const ScopedVariable bins("GRIDFOLD_MAX_BINS", "30");
  const ScopedVariable groups("GRIDFOLD_MAX_GROUPS", "40");
  const ScopedVariable regions("GRIDFOLD_ALLOW_REGIONS", "false");
  const ScopedVariable metrics("GRIDFOLD_METRICS_ADDRESS", "127.0.0.1:7");
  // An empty variable is none.
  const ScopedVariable lame_duck("GRIDFOLD_LAME_DUCK", "");
  const ScopedVariable config("GRIDFOLD_CONFIG", path.c_str());
  const ServerOptions options = ParseGood({"--lanes", "4"});
  EXPECT_EQ(options.limits.lane_count, 4u);
  EXPECT_EQ(options.limits.bin_count_max, 30u);
  EXPECT_EQ(options.limits.group_count_max, 40u);
  EXPECT_EQ(options.limits.message_bytes_max, kMiB);
  EXPECT_EQ(options.engine.kind, kernels::EngineKind::kCpu);
  EXPECT_FALSE(options.limits.regions_allowed);
  EXPECT_EQ(options.metrics_address, "127.0.0.1:7");
  EXPECT_EQ(options.lame_duck, std::chrono::seconds(3));
}

TEST(OptionsTest, UnixSocketsNeedNoEncryption) {
  EXPECT_EQ(ParseGood({"--listen=unix:/run/gridfold/socket"}).listen, "unix:/run/gridfold/socket");
  EXPECT_EQ(ParseGood({"--listen=unix:///run/socket"}).listen, "unix:///run/socket");
  const std::string longest = "unix:" + std::string(107, 'x');
  EXPECT_EQ(ParseGood({"--listen", longest.c_str()}).listen, longest);
  const std::string too_long = longest + "x";
  EXPECT_THAT(ParseBad({"--listen", too_long.c_str()}).text, HasSubstr("107"));
  for (const char* const bad : {"unix:", "unix:/run/", "unix://host/socket", "unix-abstract:a"}) {
    EXPECT_THAT(ParseBad({"--listen", bad}).text, HasSubstr("--listen")) << bad;
  }
  EXPECT_EQ(ParseBad({"--metrics-address=unix:/run/metrics"}).exit_code, 2);
}

TEST(OptionsTest, HelpAndVersionExitWith0) {
  EXPECT_EQ(ParseBad({"--version"}).exit_code, 0);
  EXPECT_THAT(ParseBad({"--version"}).text, HasSubstr(Version()));
  const EarlyExit help = ParseBad({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.text, HasSubstr("GRIDFOLD_MAX_MESSAGE_BYTES"));
  EXPECT_THAT(help.text, HasSubstr("256MiB"));
}

TEST(OptionsTest, KnowsWhichAddressesOnlyThisMachineReaches) {
  EXPECT_TRUE(IsLoopback("127.0.0.1:50051"));
  EXPECT_TRUE(IsLoopback("localhost:1"));
  EXPECT_TRUE(IsLoopback("[::1]:1"));
  EXPECT_FALSE(IsLoopback("0.0.0.0:50051"));
  EXPECT_FALSE(IsLoopback("127.example.org:50051"));
  EXPECT_FALSE(IsLoopback("[::]:50051"));
  EXPECT_FALSE(IsLoopback("gpu-host:50051"));
}

}  // namespace
}  // namespace gridfold::server
