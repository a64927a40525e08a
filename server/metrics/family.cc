#include "server/metrics/family.h"

#include <utility>

namespace gridfold::server {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

MetricFamily MakeFamily(std::string name, std::string help, MetricType type) {
  return {.name = std::move(name), .help = std::move(help), .type = type, .metric = {}};
}

double Seconds(std::chrono::nanoseconds time) { return static_cast<double>(time.count()) / 1e9; }

}  // namespace

MetricFamily CounterFamily(std::string name, std::string help) {
  return MakeFamily(std::move(name), std::move(help), MetricType::Counter);
}

MetricFamily GaugeFamily(std::string name, std::string help) {
  return MakeFamily(std::move(name), std::move(help), MetricType::Gauge);
}

MetricFamily HistogramFamily(std::string name, std::string help) {
  return MakeFamily(std::move(name), std::move(help), MetricType::Histogram);
}

void AddValue(MetricFamily& family, MetricLabels labels, double value) {
  ClientMetric& metric = family.metric.emplace_back();
  metric.label = std::move(labels);
  if (family.type == MetricType::Counter) {
    metric.counter.value = value;
  } else {
    metric.gauge.value = value;
  }
}

void AddHistogram(MetricFamily& family, MetricLabels labels,
                  const DurationHistogram::Snapshot& durations) {
  ClientMetric& metric = family.metric.emplace_back();
  metric.label = std::move(labels);
  // The bucket without a bound is the count of all, which the serializer writes itself.
  uint64_t count = 0;
  for (size_t i = 0; i < DurationHistogram::kBounds.size(); ++i) {
    count += durations.counts[i];
    metric.histogram.bucket.push_back(
        {.cumulative_count = count, .upper_bound = Seconds(DurationHistogram::kBounds[i])});
  }
  metric.histogram.sample_count = count + durations.counts.back();
  metric.histogram.sample_sum = Seconds(durations.sum);
}

}  // namespace gridfold::server
