// Every value stands behind its own label: the statistics have a different number in each place,
// and a label that was added without a number here is found too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/metrics/family.h"
#include "server/metrics/parts.h"
#include "server/testing/fake_engine.h"

namespace gridfold::server {
namespace {

using testing::ContainerEq;

// The values of counters and gauges by "name{label=value,...}".
std::map<std::string, double> ValuesOf(const MetricFamilies& families) {
  std::map<std::string, double> values;
  for (const prometheus::MetricFamily& family : families) {
    for (const prometheus::ClientMetric& metric : family.metric) {
      std::string series = family.name;
      for (const prometheus::ClientMetric::Label& label : metric.label) {
        absl::StrAppend(&series, " ", label.name, "=", label.value);
      }
      switch (family.type) {
        case prometheus::MetricType::Counter: values[series] = metric.counter.value; break;
        case prometheus::MetricType::Gauge: values[series] = metric.gauge.value; break;
        default: values[series] = static_cast<double>(metric.histogram.sample_count);
      }
    }
  }
  return values;
}

TEST(MetricsPartsTest, Scheduler) {
  SchedulerStatistics jobs;
  jobs.accepted = 101;
  jobs.refused = {.queue_jobs = 102,
                  .queue_bytes = 103,
                  .tenant_share = 104,
                  .draining = 105,
                  .engine_lost = 106,
                  .deadline = 107,
                  .deadline_unmeetable = 108};
  jobs.succeeded = 109;
  jobs.failed = 110;
  jobs.cancelled = {.caller = 111, .deadline = 112, .shutdown = 113};
  jobs.queued = 114;
  jobs.queued_bytes = 115;
  jobs.running = 116;
  jobs.batches = 117;
  jobs.batched_jobs = 118;
  jobs.lanes_busy = 119;
  jobs.lane_count = 120;
  jobs.queued_high_water = 121;
  jobs.queued_bytes_high_water = 122;
  jobs.lanes_busy_high_water = 123;
  jobs.lane_time = std::chrono::seconds(124);
  jobs.queued_for_answers = 125;
  jobs.answer_bytes = 126;
  jobs.answer_bytes_high_water = 127;
  jobs.answers_refused = 128;
  MetricFamilies families;
  AddScheduler(jobs, families);
  EXPECT_THAT(ValuesOf(families),
              ContainerEq(std::map<std::string, double>{
                  {"gridfold_jobs_accepted_total", 101},
                  {"gridfold_jobs_refused_total reason=queue_jobs", 102},
                  {"gridfold_jobs_refused_total reason=queue_bytes", 103},
                  {"gridfold_jobs_refused_total reason=tenant_share", 104},
                  {"gridfold_jobs_refused_total reason=draining", 105},
                  {"gridfold_jobs_refused_total reason=engine_lost", 106},
                  {"gridfold_jobs_refused_total reason=deadline", 107},
                  {"gridfold_jobs_refused_total reason=deadline_unmeetable", 108},
                  {"gridfold_jobs_succeeded_total", 109},
                  {"gridfold_jobs_failed_total", 110},
                  {"gridfold_jobs_cancelled_total reason=caller", 111},
                  {"gridfold_jobs_cancelled_total reason=deadline", 112},
                  {"gridfold_jobs_cancelled_total reason=shutdown", 113},
                  {"gridfold_queue_jobs", 114},
                  {"gridfold_queue_bytes", 115},
                  {"gridfold_jobs_running", 116},
                  {"gridfold_batches_total", 117},
                  {"gridfold_batched_jobs_total", 118},
                  {"gridfold_lanes_busy", 119},
                  {"gridfold_lanes", 120},
                  {"gridfold_queue_high_water_jobs", 121},
                  {"gridfold_queue_high_water_bytes", 122},
                  {"gridfold_lanes_busy_high_water", 123},
                  {"gridfold_lane_seconds_total", 124},
                  {"gridfold_queue_answer_jobs", 125},
                  {"gridfold_answer_bytes", 126},
                  {"gridfold_answer_high_water_bytes", 127},
                  {"gridfold_answers_refused_total", 128},
              }));
}

TEST(MetricsPartsTest, EveryCauseOfARefusalHasItsCount) {
  using Cause = JobRefusal::Cause;
  const std::map<Cause, uint64_t RefusedJobs::*> counts = {
      {Cause::kDraining, &RefusedJobs::draining},
      {Cause::kEngineLost, &RefusedJobs::engine_lost},
      {Cause::kDeadlinePassed, &RefusedJobs::deadline},
      {Cause::kDeadlineUnmeetable, &RefusedJobs::deadline_unmeetable},
      {Cause::kQueueJobs, &RefusedJobs::queue_jobs},
      {Cause::kQueueBytes, &RefusedJobs::queue_bytes},
      {Cause::kTenantShare, &RefusedJobs::tenant_share}};
  for (const auto& [cause, count] : counts) {
    RefusedJobs refused;
    refused.Count(cause);
    for (const auto& [other, other_count] : counts) {
      EXPECT_EQ(refused.*other_count, other == cause ? 1u : 0u) << static_cast<int>(cause);
    }
  }
}

TEST(MetricsPartsTest, ArraysStreamsAndRegions) {
  MetricFamilies families;
  AddArrays({.array_count = 201, .taken_bytes = 202, .taken_bytes_by_engine = {}}, families);
  AddStreams({.open = 203,
              .held_bytes = 204,
              .refused_by_count = 205,
              .refused_by_share = 209,
              .refused_by_bytes = 206},
             families);
  AddRegions({.region_count = 207, .taken_bytes = 208}, families);
  EXPECT_THAT(ValuesOf(families), ContainerEq(std::map<std::string, double>{
                                      {"gridfold_resident_arrays", 201},
                                      {"gridfold_resident_bytes", 202},
                                      {"gridfold_streams_open", 203},
                                      {"gridfold_stream_bytes", 204},
                                      {"gridfold_streams_refused_total reason=streams", 205},
                                      {"gridfold_streams_refused_total reason=tenant_share", 209},
                                      {"gridfold_streams_refused_total reason=stream_bytes", 206},
                                      {"gridfold_regions", 207},
                                      {"gridfold_region_bytes", 208},
                                  }));
}

TEST(MetricsPartsTest, Engine) {
  MetricFamilies families;
  AddEngine({.device_bytes = 301,
             .pinned_bytes = 302,
             .registered_bytes = 303,
             .registrations = 304,
             .device_allocations = 305,
             .pinned_allocations = 306,
             .streams_created = 307},
            families);
  EXPECT_THAT(ValuesOf(families), ContainerEq(std::map<std::string, double>{
                                      {"gridfold_engine_memory_bytes kind=device", 301},
                                      {"gridfold_engine_memory_bytes kind=pinned", 302},
                                      {"gridfold_engine_memory_bytes kind=registered", 303},
                                      {"gridfold_engine_allocations_total kind=registration", 304},
                                      {"gridfold_engine_allocations_total kind=device", 305},
                                      {"gridfold_engine_allocations_total kind=pinned", 306},
                                      {"gridfold_engine_allocations_total kind=stream", 307},
                                  }));
}

TEST(MetricsPartsTest, Devices) {
  FakeEngine first;
  FakeEngine second;
  first.set_memory_bytes(401);
  second.set_memory_bytes(402);
  SchedulerStatistics jobs;
  jobs.engines = {{.lanes_busy = 403}, {.lanes_busy = 404, .lost = true}};
  MetricFamilies families;
  AddDevices({&first, &second}, jobs,
             {.array_count = 1, .taken_bytes = 2, .taken_bytes_by_engine = {405, 406}}, families);
  EXPECT_THAT(ValuesOf(families), ContainerEq(std::map<std::string, double>{
                                      {"gridfold_device_memory_bytes device=0", 401},
                                      {"gridfold_device_memory_bytes device=1", 402},
                                      {"gridfold_device_usable device=0", 1},
                                      {"gridfold_device_usable device=1", 0},
                                      {"gridfold_device_lanes_busy device=0", 403},
                                      {"gridfold_device_lanes_busy device=1", 404},
                                      {"gridfold_device_resident_bytes device=0", 405},
                                      {"gridfold_device_resident_bytes device=1", 406},
                                  }));
}

// As Prometheus has histograms: each bucket has what is in those before it, and all is in seconds.
TEST(MetricsPartsTest, Durations) {
  DurationHistogram::Snapshot durations = {.counts = {}, .sum = std::chrono::milliseconds(7250)};
  for (size_t i = 0; i < durations.counts.size(); ++i) durations.counts[i] = i + 1;
  prometheus::MetricFamily family = HistogramFamily("name", "help");
  AddHistogram(family, {{"label", "value"}}, durations);
  ASSERT_EQ(family.metric.size(), 1u);
  EXPECT_EQ(family.metric[0].label[0].value, "value");
  const prometheus::ClientMetric::Histogram& histogram = family.metric[0].histogram;
  ASSERT_EQ(histogram.bucket.size(), 22u);
  for (size_t i = 0; i < 22; ++i) {
    EXPECT_EQ(histogram.bucket[i].cumulative_count, (i + 1) * (i + 2) / 2);
  }
  EXPECT_DOUBLE_EQ(histogram.bucket[0].upper_bound, 10e-6);
  EXPECT_DOUBLE_EQ(histogram.bucket[1].upper_bound, 20e-6);
  EXPECT_DOUBLE_EQ(histogram.bucket[21].upper_bound, 100);
  EXPECT_EQ(histogram.sample_count, 23u * 24 / 2);
  EXPECT_DOUBLE_EQ(histogram.sample_sum, 7.25);
}

// Of each RPC another number of calls, of which each has other bytes.
TEST(MetricsPartsTest, Calls) {
  CallMetrics calls;
  std::map<std::string, double> expected;
  for (size_t i = 0; i < kRpcCount; ++i) {
    const uint64_t count = i + 1;
    for (uint64_t call = 0; call < count; ++call) {
      CallReport report(static_cast<Rpc>(i), 1);
      report.request_bytes = 1000 + i;
      report.run.bytes_read = 2000 + i;
      report.admission_time = std::chrono::nanoseconds(1);
      if (call > 0) report.queue_time = std::chrono::nanoseconds(1);
      calls.Record(report, absl::StatusCode::kOk, 3000 + i);
    }
    const std::string rpc = absl::StrCat(" rpc=", kRpcNames[i]);
    const auto total = [count](uint64_t each) { return static_cast<double>(count * each); };
    expected["gridfold_requests_total" + rpc + " code=OK element_type=none strategy=none"] =
        total(1);
    expected["gridfold_request_bytes_total" + rpc] = total(1000 + i);
    expected["gridfold_kernel_read_bytes_total" + rpc] = total(2000 + i);
    expected["gridfold_response_bytes_total" + rpc] = total(3000 + i);
    expected["gridfold_request_duration_seconds" + rpc] = total(1);
    const std::string stages = "gridfold_request_stage_duration_seconds" + rpc + " stage=";
    expected[stages + "admission"] = total(1);
    for (const char* const stage : {"queue", "stage_in", "kernel", "stage_out"}) {
      expected[stages + stage] = static_cast<double>(count - 1);
    }
  }
  MetricFamilies families;
  AddCalls(calls, families);
  EXPECT_THAT(ValuesOf(families), ContainerEq(expected));
}

}  // namespace
}  // namespace gridfold::server
