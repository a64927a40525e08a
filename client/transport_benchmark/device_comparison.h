// Questions to a server with all devices and to one with one of them: how long both take, and
// whether their answers are equal.
#ifndef GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_DEVICE_COMPARISON_H_
#define GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_DEVICE_COMPARISON_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "client/transport_benchmark/median.h"
#include "client/transport_benchmark/report.h"
#include "gridfold/client.h"

namespace gridfold::transport_benchmark {

// What answers have in common that are equal.
using Bits = std::string;

inline Bits BitsOf(const std::vector<client::StatisticValues>& entries) {
  Bits bits;
  for (const client::StatisticValues& entry : entries) {
    std::visit(
        [&](const auto& values) {
          for (const auto value : values) {
            bits.append(reinterpret_cast<const char*>(&value), sizeof(value));
          }
        },
        entry);
  }
  return bits;
}

inline Bits BitsOf(const client::ReductionResult& result) {
  std::vector<client::StatisticValues> entries;
  for (const auto& entry : result.entries) entries.push_back(entry.values);
  return BitsOf(entries);
}

inline Bits BitsOf(const client::QuantileResult& result) { return BitsOf(result.quantile_values); }

inline Bits BitsOf(const client::HistogramResult& result) {
  return BitsOf(
      std::vector<client::StatisticValues>{result.channels[0].counts, result.bins[0].edges});
}

// A scan in place answers with nothing; what it has made is the array.
inline Bits BitsOf(const client::ScanResult&) { return {}; }

struct Servers {
  std::unique_ptr<client::Client> all;
  std::unique_ptr<client::Client> one;

  // Does the same with both at the same time.
  absl::Status Both(const std::function<absl::Status(client::Client&)>& prepare) const {
    std::future<absl::Status> of_one =
        std::async(std::launch::async, [&] { return prepare(*one); });
    const absl::Status of_all = prepare(*all);
    const absl::Status status = of_one.get();
    return of_all.ok() ? status : of_all;
  }
};

struct Comparison {
  std::string what;
  uint64_t size_bytes = 0;
  double goal = 0;
  int calls = 0;  // Of each server, at least one.
};

// A question that was asked often: the median of what it took, in seconds, and its answer.
struct Times {
  double seconds = 0;
  Bits answer = {};
};

template <class Ask>
absl::StatusOr<Times> AskOften(client::Client& server, const Ask& ask, int calls) {
  std::vector<double> seconds;
  Times times;
  for (int i = 0; i < calls; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const auto answer = ask(server);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    if (!answer.ok()) return answer.status();
    // The first ones take memory and wake threads.
    if (i >= calls / 6 + 1 || i + 1 == calls) seconds.push_back(elapsed.count());
    if (i + 1 == calls) times.answer = BitsOf(*answer);
  }
  times.seconds = Median(std::move(seconds));
  return times;
}

// Adds the row of a question to both servers.
template <class Ask>
void Compare(const Servers& servers, const Comparison& comparison, const Ask& ask, Report& report) {
  const auto all = AskOften(*servers.all, ask, comparison.calls);
  const auto one = AskOften(*servers.one, ask, comparison.calls);
  const auto rate = [&](const absl::StatusOr<Times>& times) {
    return times.ok() ? static_cast<double>(comparison.size_bytes) / times->seconds / 1e9 : 0;
  };
  const absl::Status& failure = all.ok() ? one.status() : all.status();
  std::string note;
  if (!failure.ok()) {
    note = absl::StrCat("FAILED ", failure.message());
  } else if (all->answer != one->answer) {
    note = "FAILED answers differ";
  }
  report.Add({.what = comparison.what,
              .value = rate(all),
              .unit = "GB/s",
              .ceiling = rate(one),
              .goal_at_least = comparison.goal,
              .note = std::move(note)});
}

}  // namespace gridfold::transport_benchmark

#endif  // GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_DEVICE_COMPARISON_H_
