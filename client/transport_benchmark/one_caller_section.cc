// One caller with one large array: the ways in which it travels, beside a bare sink with as many
// connections, and beside NumPy in the caller's own process.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/transport_benchmark/median.h"
#include "client/transport_benchmark/requests.h"
#include "client/transport_benchmark/sections.h"
#include "client/transport_benchmark/stream_load.h"
#include "gridfold/client.h"

namespace gridfold::transport_benchmark {

namespace {

using client::ArrayTransport;
using client::CallOptions;
using client::Client;

constexpr double kGiga = 1e9;
constexpr uint64_t kChunkBytes = uint64_t{2} << 20;
constexpr char kNumpyProgram[] = R"(
import sys, time, numpy
count = int(sys.argv[1]) // 4
values = numpy.resize((1 / numpy.arange(1, 1001)).astype(numpy.float32), count)
def best(question):
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        question()
        times.append(time.perf_counter() - begin)
    return count * 4 / min(times) / 1e9
print(best(lambda: values.sum()), best(lambda: numpy.histogram(values, 1024, (0, 1))),
      2 * best(lambda: values.cumsum()))
)";

// GB/s of sums, histograms and scans, 0 where there is no NumPy.
struct NumpyRates {
  double sum = 0;
  double histogram = 0;
  double scan = 0;
};

NumpyRates MeasureNumpy(const Targets& targets, uint64_t size_bytes) {
  const std::string log = targets.folder + "/numpy";
  std::filesystem::remove(log);  // A child appends to it.
  {
    const auto child = ChildProcess::Start(
        {"/usr/bin/python3", "-c", kNumpyProgram, std::to_string(size_bytes)}, log);
    if (!child.ok()) return {};
    while (child->IsRunning()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  NumpyRates rates;
  std::ifstream file(log);
  if (!(file >> rates.sum >> rates.histogram >> rates.scan)) return {};
  return rates;
}

std::vector<float> MakeSamples(uint64_t size_bytes) {
  std::vector<float> samples(size_bytes / sizeof(float));
  for (size_t i = 0; i < samples.size(); ++i) samples[i] = 1.0f / static_cast<float>(i % 1000 + 1);
  return samples;
}

// What came of some calls: seconds of the first one, and the median of the others.
struct CallTimes {
  double first_s = 0;
  double median_s = 0;
  std::string transport;  // As the answer tells it.
  std::string error;
};

template <typename Ask>
CallTimes TimeCalls(int call_count, Ask ask) {
  CallTimes times;
  std::vector<double> seconds;
  for (int i = 0; i < call_count; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const auto result = ask();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    if (!result.ok()) {
      times.error = std::string(result.status().message());
      return times;
    }
    times.transport = absl::StrCat(client::ArrayTransportName(result->execution.transport), ", ",
                                   result->execution.streams);
    if (i == 0) times.first_s = elapsed.count();
    if (i > 0 || call_count == 1) seconds.push_back(elapsed.count());
  }
  times.median_s = Median(std::move(seconds));
  return times;
}

absl::StatusOr<client::ReductionResult> Sum(Client& client, std::span<const float> samples,
                                            ArrayTransport transport) {
  CallOptions options;
  options.transport = transport;
  return client.ReduceArray(samples, {.statistics = {client::Statistic::kSum}}, options);
}

std::unique_ptr<Client> ConnectTo(const std::string& target, int stream_count) {
  auto client = Client::Connect({.target = target, .stream_count = stream_count});
  return client.ok() ? *std::move(client) : nullptr;
}

// GB/s that a bare server takes in, over so many connections: the best of some turns.
double SinkRate(const Targets& targets, uint64_t size_bytes, int connections) {
  StreamLoad load{.target = targets.bare,
                  .method = kReduceStream,
                  .chunk_count = size_bytes / kChunkBytes / connections,
                  .connections = connections};
  load.header = ReduceStreamHeader(load.element_count());
  double best = 0;
  for (int turn = 0; turn < (targets.quick ? 1 : 3); ++turn) {
    best = std::max(best, RunStreamLoad(load).sent_bytes_per_second);
  }
  return best / kGiga;
}

struct Way {
  const char* name;
  ArrayTransport transport;
  int streams;
};

constexpr Way kWays[] = {
    {"inline", ArrayTransport::kInline, 1},     {"1 stream", ArrayTransport::kStream, 1},
    {"2 streams", ArrayTransport::kStreams, 2}, {"4 streams", ArrayTransport::kStreams, 4},
    {"8 streams", ArrayTransport::kStreams, 8}, {"region", ArrayTransport::kRegion, 0},
    {"auto", ArrayTransport::kAuto, 0}};

void AddRow(const std::string& what, const CallTimes& times, double moved_bytes, double ceiling,
            double goal, Report& report) {
  report.Add({.what = what,
              .value = times.error.empty() ? moved_bytes / times.median_s / kGiga : 0,
              .unit = "GB/s",
              .ceiling = ceiling,
              .goal_at_least = goal,
              .note = times.error.empty()
                          ? absl::StrCat("first call ", moved_bytes / times.first_s / kGiga,
                                         " GB/s; ", times.transport)
                          : absl::StrCat("FAILED ", times.error)});
}

void AddNumpyRow(const std::string& what, double rate, Report& report) {
  if (rate > 0)
    report.Add({.what = absl::StrCat(what, " by NumPy, here"), .value = rate, .unit = "GB/s"});
}

}  // namespace

void MeasureOneCaller(const Targets& targets, Report& report) {
  const int calls = targets.quick ? 2 : 5;
  const uint64_t large = targets.quick ? uint64_t{64} << 20 : targets.one_caller_bytes;
  const std::vector<float> samples = MakeSamples(large);
  NumpyRates numpy;  // Of the last size, which is the large one.
  for (const uint64_t size_bytes : {std::min<uint64_t>(large, 200'000'000), large}) {
    const std::span<const float> part = std::span(samples).first(size_bytes / sizeof(float));
    const std::string size = absl::StrCat(size_bytes / 1'000'000, " MB");
    for (const Way& way : kWays) {
      const auto client = ConnectTo(targets.gridfold, way.streams);
      if (!client) return;
      if (way.transport == ArrayTransport::kInline && size_bytes > 250'000'000) continue;
      const CallTimes times = TimeCalls(calls, [&] { return Sum(*client, part, way.transport); });
      const bool is_sent = way.streams > 0;
      AddRow(absl::StrCat("sum of ", size, ", ", way.name), times, static_cast<double>(size_bytes),
             is_sent ? SinkRate(targets, size_bytes, way.streams) : 0,
             way.transport == ArrayTransport::kStreams ? 0.8 : 0, report);
    }
    numpy = MeasureNumpy(targets, size_bytes);
    AddNumpyRow(absl::StrCat("sum of ", size), numpy.sum, report);
  }
  const std::string size = absl::StrCat(large / 1'000'000, " MB");
  const auto client = ConnectTo(targets.gridfold, 0);
  if (!client) return;
  AddRow(
      absl::StrCat("histogram of 1,024 bins of ", size, ", auto"),
      TimeCalls(
          calls,
          [&] {
            return client->ComputeHistogram(samples, {.bins = {client::EvenBins{1024, 0.0, 1.0}}});
          }),
      static_cast<double>(large), 0, 0, report);
  AddNumpyRow("the histogram", numpy.histogram, report);
  AddRow(absl::StrCat("scan of ", size, ", in and out, auto"),
         TimeCalls(std::min(calls, 3), [&] { return client->ScanArray(samples, {}); }),
         2 * static_cast<double>(large), 0, 0, report);
  AddNumpyRow("the scan, in and out,", numpy.scan, report);
}

void MeasureCrossovers(const Targets& targets, Report& report) {
  for (uint64_t size_bytes = uint64_t{32} << 10; size_bytes <= uint64_t{64} << 20;
       size_bytes *= targets.quick ? 16 : 2) {
    const std::vector<float> samples = MakeSamples(size_bytes);
    for (const Way& way : kWays) {
      if (way.transport == ArrayTransport::kAuto) continue;
      const auto client = ConnectTo(targets.gridfold, way.streams);
      if (!client) return;
      const int calls = size_bytes > (uint64_t{8} << 20) ? 9 : 41;
      const CallTimes times = TimeCalls(targets.quick ? 2 : calls,
                                        [&] { return Sum(*client, samples, way.transport); });
      report.Add(
          {.what = absl::StrCat("sum of ", size_bytes >> 10, " KiB, ", way.name),
           .value = times.median_s * 1e6,
           .unit = "us",
           .note = times.error.empty() ? times.transport : absl::StrCat("FAILED ", times.error)});
    }
  }
}

}  // namespace gridfold::transport_benchmark
