// Options that are errors: values beyond what each takes, names that are none, and values that do
// not go together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/fixed_limits.h"
#include "server/options.h"
#include "server/testing/parsed_options.h"

namespace gridfold::server {
namespace {

using testing::HasSubstr;

// The smallest and the largest value that each option takes, and those just beyond.
TEST(OptionsTest, EveryNumberIsTakenToItsEdges) {
  const struct {
    const char* option;
    int64_t smallest;
    int64_t largest;
  } numbers[] = {{"--lanes", 1, 256},
                 {"--cpu-threads", 0, 65536},
                 {"--max-message-bytes", 64 << 10, (int64_t{1} << 31) - 1},
                 {"--max-queued-jobs", 1, 1 << 20},
                 {"--max-queued-bytes", 64 << 10, int64_t{1} << 50},
                 {"--max-answer-bytes", 1 << 20, int64_t{1} << 50},
                 {"--max-bins", 1, int64_t{1} << 32},
                 {"--max-groups", 1, int64_t{1} << 32},
                 {"--resident-bytes", 0, int64_t{1} << 50},
                 {"--tenant-resident-bytes", 0, int64_t{1} << 50},
                 {"--max-arrays", 1, 1 << 18},
                 {"--max-regions", 1, 1 << 12},
                 {"--max-region-bytes", 1, int64_t{1} << 50},
                 {"--max-connections", 1, 1 << 20},
                 {"--max-memory-bytes", 64 << 20, int64_t{1} << 50},
                 {"--max-streams", 1, 1 << 16},
                 {"--max-batch-operations", 1, 1 << 16}};
  for (const auto& [option, smallest, largest] : numbers) {
    // The largest request has to fit into the queue, whichever of the two is set.
    const char* const other = option == std::string("--max-queued-bytes")
                                  ? "--max-message-bytes=65536"
                                  : "--max-queued-bytes=4GiB";
    for (const int64_t taken : {smallest, largest}) {
      ParseGood({other, option, std::to_string(taken).c_str()});
    }
    for (const int64_t refused : {smallest - 1, largest + 1}) {
      SCOPED_TRACE(absl::StrCat(option, " ", refused));
      const EarlyExit exit = ParseBad({other, option, std::to_string(refused).c_str()});
      EXPECT_EQ(exit.exit_code, 2);
      EXPECT_THAT(exit.text, HasSubstr(option));
    }
  }
  const std::pair<const char*, const char*> times[] = {{"--send-timeout", "86400"},
                                                       {"--stream-idle-timeout", "86400"},
                                                       {"--connection-idle-timeout", "86400"},
                                                       {"--grace-period", "86400"},
                                                       {"--lame-duck", "3600"}};
  for (const auto& [option, longest] : times) {
    ParseGood({option, longest});
    ParseGood({option, "0"});
    EXPECT_EQ(ParseBad({option, (std::string(longest) + "s1ms").c_str()}).exit_code, 2) << option;
    EXPECT_EQ(ParseBad({option, "-1ms"}).exit_code, 2) << option;
  }
}

TEST(OptionsTest, UnusableValuesAreNamedAndExitWith2) {
  const std::vector<std::pair<const char*, const char*>> bad = {
      {"--engine", "gpu"},
      {"--listen", "localhost"},
      {"--listen", ":50051"},
      {"--listen", "host:65536"},
      {"--listen", "::1:50051"},
      {"--listen", "a,b:50051"},
      {"--metrics-address", "9464"},
      {"--metrics-address", "none"},
      {"--metrics-address", ""},
      {"--metrics-address", "1,b:2"},
      {"--lanes", "0"},
      {"--lanes", "257"},
      {"--lanes", "-1"},
      {"--lanes", "two"},
      {"--lanes", ""},
      {"--lanes", " 4"},
      {"--lanes", "+4"},
      {"--lanes", "4 "},
      {"--lanes", "-18446744073709551612"},
      {"--lanes", "18446744073709551620"},
      {"--lanes", "true"},
      {"--listen", "host:+1"},
      {"--cuda-devices", " 1"},
      {"--tenant-weight", "a= 2"},
      {"--tenant-weight", "a=+2"},
      {"--max-queued-bytes", ""},
      {"--max-queued-bytes", "+1MiB"},
      // Would wrap around to 1 MiB.
      {"--max-queued-bytes", "-18446744073708503040"},
      {"--max-queued-bytes", "18446744073709551615GiB"},
      {"--tls-certificate", ""},
      {"--token-file", ""},
      {"--cpu-threads", "-1"},
      {"--cuda-devices", ""},
      {"--cuda-devices", "0,"},
      {"--cuda-devices", "1,1"},
      {"--cuda-devices", "-1"},
      {"--cuda-devices", "1024"},
      {"--cuda-devices", "some"},
      {"--tenant-weight", "a"},
      {"--tenant-weight", "a=0"},
      {"--tenant-weight", "a=1001"},
      {"--tenant-weight", "a=-1"},
      {"--tenant-weight", "a=1.5"},
      {"--tenant-weight", "a b=1"},
      {"--tenant-weight", "a=1,a=2"},
      {"--max-message-bytes", "1KiB"},
      {"--max-message-bytes", "2GiB"},
      {"--max-message-bytes", "x"},
      {"--max-queued-jobs", "0"},
      {"--max-queued-bytes", "-1"},
      {"--max-answer-bytes", "1048575"},
      {"--send-timeout", "-1s"},
      {"--max-bins", "0"},
      {"--max-bins", "1e6"},
      {"--max-groups", "0"},
      {"--max-arrays", "0"},
      {"--max-streams", "0"},
      {"--max-connections", "0"},
      {"--stream-idle-timeout", "-1s"},
      {"--connection-idle-timeout", "25h"},
      {"--max-memory-bytes", "0"},
      {"--max-streams", "65537"},
      {"--resident-bytes", "-1"},
      {"--max-regions", "0"},
      {"--max-region-bytes", "0"},
      {"--grace-period", "soon"},
      {"--grace-period", "-1s"},
      {"--grace-period", "25h"},
      {"--log-level", "loud"},
      {"--log-format", "xml"}};
  for (const auto& [option, value] : bad) {
    SCOPED_TRACE(std::string(option) + " " + value);
    const EarlyExit exit = ParseBad({option, value});
    EXPECT_EQ(exit.exit_code, 2);
    EXPECT_THAT(exit.text, HasSubstr(option));
  }
}

TEST(OptionsTest, UnknownOptionsAreErrors) {
  EXPECT_EQ(ParseBad({"--lanez=3"}).exit_code, 2);
  EXPECT_THAT(ParseBad({"--lanez=3"}).text, HasSubstr("--lanez"));
  const std::string path = WriteFile("lanez = 2\n");
  const EarlyExit exit = ParseBad({"--config", path.c_str()});
  EXPECT_EQ(exit.exit_code, 2);
  EXPECT_THAT(exit.text, HasSubstr("lanez"));
  EXPECT_EQ(ParseBad({"--config", "/nowhere/at/all.toml"}).exit_code, 2);
}

TEST(OptionsTest, BadEnvironmentVariablesAreErrors) {
  {
    const ScopedVariable config("GRIDFOLD_CONFIG", "/nowhere/at/all.toml");
    EXPECT_EQ(ParseBad({}).exit_code, 2);
  }
  const ScopedVariable lanes("GRIDFOLD_LANES", "many");
  const EarlyExit exit = ParseBad({});
  EXPECT_EQ(exit.exit_code, 2);
  EXPECT_THAT(exit.text, HasSubstr("many"));
}

TEST(OptionsTest, AQueueSmallerThanARequestIsAnError) {
  const EarlyExit exit = ParseBad({"--max-queued-bytes", "1MiB"});
  EXPECT_EQ(exit.exit_code, 2);
  EXPECT_THAT(exit.text, HasSubstr("--max-message-bytes"));
  EXPECT_EQ(
      ParseGood({"--max-queued-bytes=1MiB", "--max-message-bytes=1MiB"}).limits.queued_bytes_max,
      kMiB);
}

}  // namespace
}  // namespace gridfold::server
