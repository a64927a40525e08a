#include "server/metrics/collector.h"

#include <chrono>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/base/version.h"
#include "server/metrics/family.h"
#include "server/metrics/parts.h"
#include "server/process/event_log.h"
#include "server/process/process_statistics.h"

namespace gridfold::server {

namespace {

using prometheus::MetricFamily;

// A family of one value without labels.
MetricFamily Gauge(std::string name, std::string help, double value) {
  MetricFamily family = GaugeFamily(std::move(name), std::move(help));
  AddValue(family, {}, value);
  return family;
}

MetricFamily Counter(std::string name, std::string help, uint64_t value) {
  MetricFamily family = CounterFamily(std::move(name), std::move(help));
  AddValue(family, {}, static_cast<double>(value));
  return family;
}
MetricFamily SecondsCounter(std::string name, std::string help, std::chrono::nanoseconds time) {
  MetricFamily family = CounterFamily(std::move(name), std::move(help));
  AddValue(family, {}, static_cast<double>(time.count()) / 1e9);
  return family;
}

struct LabelledValue {
  const char* label;
  uint64_t value;
};

// Adds values that one label tells apart.
MetricFamily WithValues(MetricFamily family, const char* label,
                        std::initializer_list<LabelledValue> values) {
  for (const LabelledValue& value : values) {
    AddValue(family, {{label, value.label}}, static_cast<double>(value.value));
  }
  return family;
}

void AddServer(const MetricsSources& sources, MetricFamilies& families) {
  const kernels::Engine& engine = *sources.engines.front();
  MetricFamily& build = families.emplace_back(
      GaugeFamily("gridfold_build_info", "Always 1; the labels say what is running."));
  AddValue(build,
           {{"version", Version()},
            {"engine", engine.name()},
            {"device", engine.device().name},
            {"compute_capability", engine.device().compute_capability}},
           1);
  families.push_back(Gauge("gridfold_serving", "Whether the health service says SERVING.",
                           sources.serving_state.serving() ? 1 : 0));
}

}  // namespace

void AddCalls(const CallMetrics& calls, MetricFamilies& families) {
  MetricFamily& requests = families.emplace_back(CounterFamily(
      "gridfold_requests_total", "Calls that ended, by gRPC code, element type and strategy."));
  for (const CallMetrics::CallCount& count : calls.CountCalls()) {
    AddValue(requests,
             {{"rpc", RpcName(count.rpc)},
              {"code", absl::StatusCodeToString(count.code)},
              {"element_type", count.element_type},
              {"strategy", count.strategy}},
             static_cast<double>(count.calls));
  }

  MetricFamily durations =
      HistogramFamily("gridfold_request_duration_seconds",
                      "From the arrival of a call to its answer handed to the transport.");
  MetricFamily stages = HistogramFamily("gridfold_request_stage_duration_seconds",
                                        "The parts of a call's time, by stage.");
  MetricFamily request_bytes =
      CounterFamily("gridfold_request_bytes_total", "Bytes of request messages.");
  MetricFamily response_bytes =
      CounterFamily("gridfold_response_bytes_total", "Bytes of response messages.");
  MetricFamily read_bytes =
      CounterFamily("gridfold_kernel_read_bytes_total", "Bytes of input that kernels read.");
  for (size_t i = 0; i < kRpcCount; ++i) {
    const CallMetrics::RpcMetrics& rpc = calls.rpc(static_cast<Rpc>(i));
    const prometheus::ClientMetric::Label label{"rpc", kRpcNames[i]};
    AddHistogram(durations, {label}, rpc.duration.Read());
    for (size_t stage = 0; stage < rpc.stages.size(); ++stage) {
      AddHistogram(stages, {label, {"stage", CallMetrics::kStageNames[stage]}},
                   rpc.stages[stage].Read());
    }
    AddValue(request_bytes, {label}, static_cast<double>(rpc.request_bytes.load()));
    AddValue(response_bytes, {label}, static_cast<double>(rpc.response_bytes.load()));
    AddValue(read_bytes, {label}, static_cast<double>(rpc.kernel_read_bytes.load()));
  }
  for (MetricFamily* family : {&durations, &stages, &request_bytes, &response_bytes, &read_bytes}) {
    families.push_back(std::move(*family));
  }
}

void AddScheduler(const SchedulerStatistics& jobs, MetricFamilies& families) {
  families.push_back(Gauge("gridfold_lanes", "Lanes of all devices.", jobs.lane_count));
  families.push_back(
      Gauge("gridfold_lanes_busy", "Lanes that run something now.", jobs.lanes_busy));
  families.push_back(Gauge("gridfold_lanes_busy_high_water",
                           "The most lanes that ran something at a time.",
                           jobs.lanes_busy_high_water));
  families.push_back(Gauge("gridfold_jobs_running",
                           "Jobs on lanes; small ones may share a lane and a launch.",
                           static_cast<double>(jobs.running)));
  families.push_back(SecondsCounter("gridfold_lane_seconds_total",
                                    "Time of lanes that jobs were charged for.", jobs.lane_time));
  families.push_back(
      Counter("gridfold_batches_total", "Launches that several jobs shared.", jobs.batches));
  families.push_back(
      Counter("gridfold_batched_jobs_total", "Jobs that shared a launch.", jobs.batched_jobs));
  families.push_back(Gauge("gridfold_queue_jobs", "Jobs that wait for a lane now.",
                           static_cast<double>(jobs.queued)));
  families.push_back(Gauge("gridfold_queue_high_water_jobs", "The most jobs that waited at a time.",
                           static_cast<double>(jobs.queued_high_water)));
  families.push_back(Gauge("gridfold_queue_bytes", "Request bytes of the jobs that wait now.",
                           static_cast<double>(jobs.queued_bytes)));
  families.push_back(Gauge("gridfold_queue_high_water_bytes",
                           "The most request bytes of jobs that waited at a time.",
                           static_cast<double>(jobs.queued_bytes_high_water)));

  families.push_back(Gauge("gridfold_queue_answer_jobs",
                           "Jobs that wait for room for their answers, not for a lane.",
                           static_cast<double>(jobs.queued_for_answers)));
  families.push_back(Gauge("gridfold_answer_bytes",
                           "Bytes of answers that are being made or have yet to be taken.",
                           static_cast<double>(jobs.answer_bytes)));
  families.push_back(Gauge("gridfold_answer_high_water_bytes",
                           "The most bytes of such answers at a time.",
                           static_cast<double>(jobs.answer_bytes_high_water)));
  families.push_back(Counter("gridfold_answers_refused_total",
                             "Answers made without a job that found no room.",
                             jobs.answers_refused));
  families.push_back(
      Counter("gridfold_jobs_accepted_total", "Jobs that the scheduler took.", jobs.accepted));
  families.push_back(
      Counter("gridfold_jobs_succeeded_total", "Jobs that ended with an answer.", jobs.succeeded));
  families.push_back(Counter("gridfold_jobs_failed_total",
                             "Jobs that ended with an error of their own.", jobs.failed));
  families.push_back(WithValues(
      CounterFamily("gridfold_jobs_refused_total", "Jobs that were not taken, by reason."),
      "reason",
      {{"queue_jobs", jobs.refused.queue_jobs},
       {"queue_bytes", jobs.refused.queue_bytes},
       {"tenant_share", jobs.refused.tenant_share},
       {"draining", jobs.refused.draining},
       {"engine_lost", jobs.refused.engine_lost},
       {"deadline", jobs.refused.deadline},
       {"deadline_unmeetable", jobs.refused.deadline_unmeetable}}));
  families.push_back(
      WithValues(CounterFamily("gridfold_jobs_cancelled_total",
                               "Jobs that were taken and then dropped or stopped, by reason."),
                 "reason",
                 {{"caller", jobs.cancelled.caller},
                  {"deadline", jobs.cancelled.deadline},
                  {"shutdown", jobs.cancelled.shutdown}}));
}

void AddArrays(const ArrayStoreStatistics& arrays, MetricFamilies& families) {
  families.push_back(Gauge("gridfold_resident_arrays", "Arrays that have a name.",
                           static_cast<double>(arrays.array_count)));
  families.push_back(
      Gauge("gridfold_resident_bytes",
            "Resident memory that arrays take, those in use after their deletion too.",
            static_cast<double>(arrays.taken_bytes)));
}

void AddStreams(const StreamStatistics& streams, MetricFamilies& families) {
  families.push_back(Gauge("gridfold_streams_open", "Streams that compute, open now.",
                           static_cast<double>(streams.open)));
  families.push_back(Gauge("gridfold_stream_bytes",
                           "Bytes that streams hold: what has arrived and waits, and states.",
                           static_cast<double>(streams.held_bytes)));
  families.push_back(
      WithValues(CounterFamily("gridfold_streams_refused_total",
                               "Streams that computed nothing for want of room, by reason."),
                 "reason",
                 {{"streams", streams.refused_by_count},
                  {"tenant_share", streams.refused_by_share},
                  {"stream_bytes", streams.refused_by_bytes}}));
}

void AddRegions(const RegionStoreStatistics& regions, MetricFamilies& families) {
  families.push_back(Gauge("gridfold_regions", "Shared-memory regions that have a name.",
                           static_cast<double>(regions.region_count)));
  families.push_back(
      Gauge("gridfold_region_bytes",
            "Bytes of shared-memory regions, those in use after they were unregistered too.",
            static_cast<double>(regions.taken_bytes)));
}

void AddDevices(const std::vector<const kernels::Engine*>& engines, const SchedulerStatistics& jobs,
                const ArrayStoreStatistics& arrays, MetricFamilies& families) {
  MetricFamily memory = GaugeFamily("gridfold_device_memory_bytes",
                                    "Memory of the device; of the machine on the CPU engine.");
  MetricFamily usable =
      GaugeFamily("gridfold_device_usable", "Whether the device runs jobs: 0 once it is lost.");
  MetricFamily lanes_busy =
      GaugeFamily("gridfold_device_lanes_busy", "Lanes of the device that run something now.");
  MetricFamily resident =
      GaugeFamily("gridfold_device_resident_bytes", "Resident memory that arrays take there.");
  for (size_t i = 0; i < engines.size(); ++i) {
    const prometheus::ClientMetric::Label device{"device", std::to_string(i)};
    AddValue(memory, {device}, static_cast<double>(engines[i]->device().memory_bytes));
    AddValue(usable, {device}, jobs.engines[i].lost ? 0 : 1);
    AddValue(lanes_busy, {device}, jobs.engines[i].lanes_busy);
    AddValue(resident, {device}, static_cast<double>(arrays.taken_bytes_by_engine[i]));
  }
  for (MetricFamily* family : {&memory, &usable, &lanes_busy, &resident}) {
    families.push_back(std::move(*family));
  }
}

void AddEngine(const kernels::EngineResources& resources, MetricFamilies& families) {
  families.push_back(WithValues(
      GaugeFamily("gridfold_engine_memory_bytes", "Memory that the engine holds, by kind."), "kind",
      {{"device", resources.device_bytes},
       {"pinned", resources.pinned_bytes},
       {"registered", resources.registered_bytes}}));
  families.push_back(WithValues(
      CounterFamily("gridfold_engine_allocations_total",
                    "Allocations since the program started; stands still while jobs run, but for "
                    "registrations of regions."),
      "kind",
      {{"device", resources.device_allocations},
       {"pinned", resources.pinned_allocations},
       {"stream", resources.streams_created},
       {"registration", resources.registrations}}));
}

namespace {

// What of callers was refused, and of files read again; and what of the logs was lost.
void AddSecurity(const MetricsSources& sources, MetricFamilies& families) {
  if (sources.tokens != nullptr) {
    MetricFamily& refused = families.emplace_back(CounterFamily(
        "gridfold_callers_refused_total", "Calls whose caller was turned away, by reason."));
    for (size_t i = 0; i < RefusedCallers::kReasonNames.size(); ++i) {
      AddValue(refused, {{"reason", RefusedCallers::kReasonNames[i]}},
               static_cast<double>(sources.tokens->refused().count(static_cast<RefusalReason>(i))));
    }
  }
  MetricFamily reloads = CounterFamily("gridfold_reloads_total",
                                       "Times that changed files were taken into use, by what.");
  MetricFamily failures =
      CounterFamily("gridfold_reload_failures_total",
                    "Times that files were looked at and could not be used, by what.");
  const auto add = [&](const char* what, const ReloadReport& report) {
    AddValue(reloads, {{"what", what}}, static_cast<double>(report.reloads()));
    AddValue(failures, {{"what", what}}, static_cast<double>(report.failures()));
  };
  if (sources.certificates != nullptr) add("certificates", sources.certificates->report());
  if (sources.tokens != nullptr) add("tokens", sources.tokens->report());
  if (!reloads.metric.empty()) {
    families.push_back(std::move(reloads));
    families.push_back(std::move(failures));
  }
  if (sources.certificates != nullptr) {
    families.push_back(
        Gauge("gridfold_certificate_expiry_time_seconds",
              "When the server's certificate, or an intermediate, expires, since unix epoch.",
              static_cast<double>(absl::ToUnixSeconds(sources.certificates->current()->expiry))));
  }
  MetricFamily& dropped = families.emplace_back(
      CounterFamily("gridfold_log_dropped_lines_total",
                    "Lines that came faster than they could be written, by log."));
  AddValue(dropped, {{"log", "events"}}, static_cast<double>(DroppedLogLines()));
  if (sources.audit != nullptr) {
    AddValue(dropped, {{"log", "audit"}}, static_cast<double>(sources.audit->dropped_lines()));
  }
}

void AddProcess(MetricFamilies& families) {
  families.push_back(Gauge("process_resident_memory_bytes", "Resident memory size in bytes.",
                           static_cast<double>(ProcessResidentBytes())));
  families.push_back(Gauge("process_start_time_seconds",
                           "Start time of the process since unix epoch in seconds.",
                           ProcessStartTimeSeconds()));
}

}  // namespace

MetricFamilies MetricsCollector::Collect() const {
  MetricFamilies families;
  AddServer(sources_, families);
  AddCalls(sources_.calls, families);
  const SchedulerStatistics jobs = sources_.scheduler.GetStatistics();
  const ArrayStoreStatistics arrays = sources_.arrays.GetStatistics();
  AddScheduler(jobs, families);
  AddArrays(arrays, families);
  AddStreams(sources_.streams.GetStatistics(), families);
  if (sources_.sends != nullptr) {
    families.push_back(Counter("gridfold_answers_timed_out_total",
                               "Calls that were ended because their answers were not taken.",
                               sources_.sends->ended_calls()));
  }
  if (sources_.closed != nullptr) {
    families.push_back(
        WithValues(CounterFamily("gridfold_connections_closed_total",
                                 "Connections that were closed for what they held, by reason."),
                   "reason",
                   {{"memory", sources_.closed->for_memory.load()},
                    {"calls", sources_.closed->for_calls.load()}}));
  }
  AddDevices(sources_.engines, jobs, arrays, families);
  if (sources_.regions != nullptr) AddRegions(sources_.regions->GetStatistics(), families);
  // Those of all engines of the program together.
  AddEngine(sources_.engines.front()->resources(), families);
  AddSecurity(sources_, families);
  AddProcess(families);
  return families;
}

}  // namespace gridfold::server
