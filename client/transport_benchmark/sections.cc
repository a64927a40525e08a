#include "client/transport_benchmark/sections.h"

#include <grpcpp/grpcpp.h>

#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/transport_benchmark/connection.h"
#include "client/transport_benchmark/median.h"
#include "client/transport_benchmark/requests.h"
#include "client/transport_benchmark/resident_array.h"
#include "client/transport_benchmark/stream_load.h"
#include "client/transport_benchmark/unary_load.h"
#include "gridfold/v1/compute_service.grpc.pb.h"

namespace gridfold::transport_benchmark {

namespace {

constexpr uint64_t kSmallBytes = 4096;
constexpr double kGiga = 1e9;

double Microseconds(const google::protobuf::Duration& time) {
  return static_cast<double>(time.seconds()) * 1e6 + static_cast<double>(time.nanos()) / 1e3;
}

std::string Note(const UnaryFigures& figures) {
  std::string note = absl::StrCat("p50 ", static_cast<int>(figures.p50_us), " us, p99 ",
                                  static_cast<int>(figures.p99_us), " us");
  if (figures.failed > 0) {
    absl::StrAppend(&note, "; FAILED ", figures.failed, ": ", figures.first_error);
  }
  return note;
}

// Medians of what the server says of its own calls, one at a time.
struct StageTimes {
  double beside_kernel = 0;
  std::string note;
};

StageTimes MeasureStages(const std::shared_ptr<grpc::Channel>& channel,
                         const v1::ReduceArrayRequest& request, int call_count) {
  const auto compute = v1::ComputeService::NewStub(channel);
  std::vector<double> beside_kernel;
  std::vector<double> stages[5];
  for (int i = 0; i < call_count; ++i) {
    grpc::ClientContext context;
    v1::ReduceArrayResponse response;
    const grpc::Status status = compute->ReduceArray(&context, request, &response);
    if (!status.ok()) return {.note = "FAILED " + status.error_message()};
    const v1::ExecutionStatistics& execution = response.execution();
    const google::protobuf::Duration* const times[] = {
        &execution.queue_time(), &execution.stage_in_time(), &execution.kernel_time(),
        &execution.stage_out_time(), &execution.total_time()};
    for (size_t k = 0; k < std::size(times); ++k) stages[k].push_back(Microseconds(*times[k]));
    beside_kernel.push_back(stages[4].back() - stages[2].back());
  }
  return {Median(beside_kernel),
          absl::StrFormat("queue %.1f, in %.1f, kernel %.1f, out %.1f, total %.1f us",
                          Median(stages[0]), Median(stages[1]), Median(stages[2]),
                          Median(stages[3]), Median(stages[4]))};
}

// What both servers reach with the same load: of several turns, since a machine is not equally fast
// all the time, the medians.
struct UnaryRates {
  UnaryFigures gridfold;
  UnaryFigures bare;
};

UnaryFigures MedianOf(const std::vector<UnaryFigures>& turns) {
  const auto median = [&turns](double UnaryFigures::*figure) {
    std::vector<double> values;
    for (const UnaryFigures& turn : turns) values.push_back(turn.*figure);
    return Median(std::move(values));
  };
  UnaryFigures figures;
  figures.calls_per_second = median(&UnaryFigures::calls_per_second);
  figures.p50_us = median(&UnaryFigures::p50_us);
  figures.p99_us = median(&UnaryFigures::p99_us);
  for (const UnaryFigures& turn : turns) {
    figures.failed += turn.failed + turn.refused;
    if (figures.first_error.empty()) figures.first_error = turn.first_error;
  }
  return figures;
}

UnaryRates MeasureBoth(const Targets& targets, UnaryLoad load) {
  load.warm_up = std::chrono::milliseconds(200);
  load.duration = std::chrono::seconds(1);
  if (targets.quick) load.duration = load.warm_up = std::chrono::milliseconds(50);
  std::vector<UnaryFigures> gridfold;
  std::vector<UnaryFigures> bare;
  for (int turn = 0; turn < (targets.quick ? 1 : 5); ++turn) {
    load.target = targets.bare;
    bare.push_back(RunUnaryLoad(load));
    load.target = targets.gridfold;
    gridfold.push_back(RunUnaryLoad(load));
  }
  return {MedianOf(gridfold), MedianOf(bare)};
}

struct ByteRates {
  StreamFigures gridfold;
  StreamFigures bare;
};

void KeepBest(StreamFigures figures, StreamFigures& best) {
  if (figures.first_error.empty() && figures.sent_bytes_per_second < best.sent_bytes_per_second) {
    return;
  }
  best = std::move(figures);
}

ByteRates MeasureBoth(const Targets& targets, const char* method,
                      std::string (*header)(uint64_t element_count), int connections) {
  StreamLoad load{.target = targets.bare,
                  .method = method,
                  .chunk_count = targets.quick ? 16u : 4096u / connections,
                  .connections = connections};
  load.header = header(load.element_count());
  // In turns, since a machine is not equally fast all the time; the best of each counts.
  ByteRates rates;
  for (int turn = 0; turn < (targets.quick ? 1 : 3); ++turn) {
    load.target = targets.bare;
    KeepBest(RunStreamLoad(load), rates.bare);
    load.target = targets.gridfold;
    KeepBest(RunStreamLoad(load), rates.gridfold);
  }
  return rates;
}

void AddStreamRow(const char* what, const ByteRates& rates, int connections, double goal,
                  Report& report) {
  report.Add({.what = absl::StrCat("streamed ", what, ", ", connections, " connections"),
              .value = rates.gridfold.sent_bytes_per_second / kGiga,
              .unit = "GB/s",
              .ceiling = rates.bare.sent_bytes_per_second / kGiga,
              .goal_at_least = goal,
              .note = absl::StrCat(rates.gridfold.first_error, rates.bare.first_error)});
}

}  // namespace

void MeasureResident(const Targets& targets, Report& report) {
  const auto channel = OpenConnection(targets.gridfold);
  const grpc::Status status = CreateArray(channel, uint64_t{1} << (targets.quick ? 20 : 28));
  const StageTimes stages =
      MeasureStages(channel, ResidentFullStatistics(), targets.quick ? 5 : 300);
  report.Add({.what = "resident float32 2^28, full statistics: total - kernel",
              .value = stages.beside_kernel,
              .unit = "us",
              .goal_at_most = 30,
              .note = stages.note + status.error_message()});
}

void MeasureUnary(const Targets& targets, Report& report) {
  UnaryLoad load{.method = kReduceArray, .request = InlineSum(kSmallBytes).SerializeAsString()};
  for (const int connections : {1, 16, 64}) {
    load.connections = connections;
    const UnaryRates rates = MeasureBoth(targets, load);
    const std::string what = absl::StrCat("4 KiB sum, ", connections, " connections");
    report.Add({.what = what,
                .value = rates.gridfold.calls_per_second,
                .unit = "calls/s",
                .ceiling = rates.bare.calls_per_second,
                .goal_at_least = 0.75,
                .note = Note(rates.gridfold)});
    report.Add({.what = what + ": p50 - echo's",
                .value = rates.gridfold.p50_us - rates.bare.p50_us,
                .unit = "us",
                .goal_at_most = 40,
                .note = "echo: " + Note(rates.bare)});
  }
  const StageTimes stages = MeasureStages(OpenConnection(targets.gridfold), InlineSum(kSmallBytes),
                                          targets.quick ? 5 : 300);
  report.Add({.what = "4 KiB sum, one at a time: total - kernel",
              .value = stages.beside_kernel,
              .unit = "us",
              .note = stages.note});
}

void MeasureBatches(const Targets& targets, Report& report) {
  constexpr int kOperations = 256;
  UnaryLoad load{.method = kBatchCompute, .request = BatchOfSums(kSmallBytes, kOperations)};
  for (const int connections : {1, 8, 32}) {
    load.connections = connections;
    const UnaryRates rates = MeasureBoth(targets, load);
    report.Add(
        {.what = absl::StrCat("4 KiB sums, 256 a call, ", connections, " connections"),
         .value = rates.gridfold.calls_per_second * kOperations,
         .unit = "ops/s",
         .goal_at_least = connections == 1 ? 0 : 1e6,
         .note = absl::StrCat(
             "a bare echo: ", static_cast<int64_t>(rates.bare.calls_per_second * kOperations), "; ",
             Note(rates.gridfold))});
  }
}

void MeasureStreams(const Targets& targets, Report& report) {
  for (const int connections : {1, 4, 8}) {
    const ByteRates reduce = MeasureBoth(targets, kReduceStream, ReduceStreamHeader, connections);
    AddStreamRow("sum", reduce, connections, 0.85, report);
    if (connections == 8) {
      report.Add({.what = "streamed sum, 8 connections",
                  .value = reduce.gridfold.sent_bytes_per_second / kGiga,
                  .unit = "GB/s",
                  .goal_at_least = 16});
    }
    AddStreamRow("histogram",
                 MeasureBoth(targets, kHistogramStream, HistogramStreamHeader, connections),
                 connections, 0.85, report);
    AddStreamRow("scan, in and out",
                 MeasureBoth(targets, kScanStream, ScanStreamHeader, connections), connections, 0.7,
                 report);
  }
}

}  // namespace gridfold::transport_benchmark
