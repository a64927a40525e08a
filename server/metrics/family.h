// Puts metrics together for Prometheus: a family is a name, what it means, and values by labels.
#ifndef GRIDFOLD_SERVER_METRICS_FAMILY_H_
#define GRIDFOLD_SERVER_METRICS_FAMILY_H_

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

#include "server/base/duration_histogram.h"

namespace gridfold::server {

using MetricLabels = std::vector<prometheus::ClientMetric::Label>;

prometheus::MetricFamily CounterFamily(std::string name, std::string help);
prometheus::MetricFamily GaugeFamily(std::string name, std::string help);
prometheus::MetricFamily HistogramFamily(std::string name, std::string help);

// Adds a value to a family of counters or gauges.
void AddValue(prometheus::MetricFamily& family, MetricLabels labels, double value);

// Adds a histogram, in seconds, to a family of them.
void AddHistogram(prometheus::MetricFamily& family, MetricLabels labels,
                  const DurationHistogram::Snapshot& durations);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_METRICS_FAMILY_H_
