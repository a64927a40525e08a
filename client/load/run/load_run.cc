#include "client/load/run/load_run.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "client/library/channel_pool.h"
#include "client/library/security.h"
#include "client/load/run/level_run.h"
#include "client/load/run/rate_search.h"
#include "client/load/work/workload.h"
#include "gridfold/client.h"

namespace gridfold::load {
namespace {

// Of a search: more errors break the objective.
constexpr double kErrorFractionMax = 0.001;
// Of a search: a rate that is not nearly reached is none.
constexpr double kReachedPartMin = 0.95;

absl::StatusOr<client::ServerInfo> AskServer(const client::ClientOptions& options) {
  absl::StatusOr<std::unique_ptr<client::Client>> server = client::Client::Connect(options);
  if (!server.ok()) return server.status();
  return (*server)->GetServerInfo({.timeout = absl::Seconds(10)});
}

uint64_t StreamChunkBytes(const client::ServerInfo& server) {
  const auto wanted = static_cast<uint64_t>(client::ClientOptions().write_chunk_bytes);
  const uint64_t taken = server.limits.array_chunk_bytes_max;
  return taken == 0 ? wanted : std::min(wanted, taken);
}

// Calls that may be under way at the same time.
uint64_t CallCountMax(const LoadPlan& plan) {
  if (plan.is_open_loop) return static_cast<uint64_t>(plan.in_flight_max);
  double most = 0;
  for (const LoadLevel& level : plan.levels) most = std::max(most, level.max());
  return static_cast<uint64_t>(std::ceil(most));
}

bool IsEnd(EndReason reason) {
  return reason == EndReason::kInterrupted || reason == EndReason::kSilent;
}

bool KeepsTo(const RateSearchGoal& goal, const LevelResult& level) {
  return level.recording.error_fraction() <= kErrorFractionMax &&
         level.rate() >= kReachedPartMin * level.level.first &&
         level.recording.latency.QuantileNs(0.99) <= absl::ToInt64Nanoseconds(goal.p99_max);
}

class LoadTest {
 public:
  LoadTest(LoadResult result, const Workload& workload,
           const std::vector<std::shared_ptr<grpc::Channel>>& channels, const std::string& token,
           const std::atomic<bool>& is_interrupted, const LoadObserver& observer)
      : result_(std::move(result)),
        environment_{
            .plan = result_.plan,
            .workload = workload,
            .channels = channels,
            .token = token,
            .is_interrupted = is_interrupted,
            .observer = [this, &observer](const LevelResult& level) { observer(result_, level); }} {
  }
  LoadTest(const LoadTest&) = delete;
  LoadTest& operator=(const LoadTest&) = delete;

  LoadResult Run() && {
    if (result_.plan.search) {
      Search(*result_.plan.search);
    } else {
      for (const LoadLevel& level : result_.plan.levels) {
        if (IsEnd(RunLevelOf(level).end_reason)) break;
      }
    }
    return std::move(result_);
  }

 private:
  const LevelResult& RunLevelOf(const LoadLevel& level) {
    return result_.levels.emplace_back(RunLevel(environment_, level));
  }

  void Search(const RateSearchGoal& goal) {
    RateSearch search(goal.rate_min);
    while (const std::optional<double> rate = search.NextRate()) {
      const LevelResult& level = RunLevelOf({*rate, *rate});
      if (IsEnd(level.end_reason)) return;
      search.Report(KeepsTo(goal, level));
      result_.found_rate = search.found();
      result_.found_level = LastKeptAt(goal, result_.found_rate);
    }
  }

  // The place of the last run at the rate that was found which kept to the objective.
  std::optional<size_t> LastKeptAt(const RateSearchGoal& goal,
                                   const std::optional<FoundRate>& found) const {
    for (size_t i = result_.levels.size(); found && i-- > 0;) {
      const LevelResult& level = result_.levels[i];
      if (level.level.first == found->rate && KeepsTo(goal, level)) return i;
    }
    return std::nullopt;
  }

  LoadResult result_;
  const LevelEnvironment environment_;
};

}  // namespace

absl::StatusOr<LoadResult> RunLoadTest(const client::ClientOptions& server,
                                       const Scenario& scenario, const LoadSettings& settings,
                                       const std::atomic<bool>& is_interrupted,
                                       const LoadObserver& observer) {
  const absl::StatusOr<LoadPlan> plan = MakeLoadPlan(settings);
  if (!plan.ok()) return plan.status();
  absl::StatusOr<client::ServerInfo> info = AskServer(server);
  if (!info.ok()) return info.status();
  client::ClientOptions options = server;
  options.channel_count = plan->connection_count;
  const absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> credentials =
      client::MakeCredentials(options);
  if (!credentials.ok()) return credentials.status();
  client::ChannelPool pool(options, options.channel_count, *credentials);
  absl::Status connected = pool.WaitUntilConnected(options.connect_timeout);
  if (!connected.ok()) return connected;
  std::vector<std::shared_ptr<grpc::Channel>> channels;
  for (int i = 0; i < plan->connection_count; ++i) channels.push_back(pool.Next());
  const absl::StatusOr<std::unique_ptr<Workload>> workload =
      Workload::Prepare(scenario, server,
                        {.chunk_bytes = StreamChunkBytes(*info),
                         .call_count_max = CallCountMax(*plan),
                         .seed = plan->seed});
  if (!workload.ok()) return workload.status();
  LoadResult result{.target = server.target,
                    .start_time = absl::Now(),
                    .scenario = scenario,
                    .settings = settings,
                    .options = DescribeSettings(*plan),
                    .plan = *plan,
                    .server = *std::move(info),
                    .notes = (*workload)->notes(),
                    .levels = {},
                    .found_rate = std::nullopt,
                    .found_level = std::nullopt,
                    .verdict = {}};
  return LoadTest(std::move(result), **workload, channels, server.token, is_interrupted, observer)
      .Run();
}

}  // namespace gridfold::load
