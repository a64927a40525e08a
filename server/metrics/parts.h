// The parts of what collector.h collects that follow from plain statistics: each adds its
// families to those that are there. Pure; thread-safe.
#ifndef GRIDFOLD_SERVER_METRICS_PARTS_H_
#define GRIDFOLD_SERVER_METRICS_PARTS_H_

#include <prometheus/metric_family.h>

#include <vector>

#include "kernels/contract/engine.h"
#include "server/arrays/array_store.h"
#include "server/calls/call_metrics.h"
#include "server/calls/stream_admission.h"
#include "server/regions/region_store.h"
#include "server/scheduling/scheduler_statistics.h"

namespace gridfold::server {

using MetricFamilies = std::vector<prometheus::MetricFamily>;

void AddCalls(const CallMetrics& calls, MetricFamilies& families);
void AddScheduler(const SchedulerStatistics& jobs, MetricFamilies& families);
void AddArrays(const ArrayStoreStatistics& arrays, MetricFamilies& families);
void AddStreams(const StreamStatistics& streams, MetricFamilies& families);
void AddRegions(const RegionStoreStatistics& regions, MetricFamilies& families);
// What is told of each device, which the label `device` names by its number. Requires statistics of
// as many engines.
void AddDevices(const std::vector<const kernels::Engine*>& engines, const SchedulerStatistics& jobs,
                const ArrayStoreStatistics& arrays, MetricFamilies& families);
void AddEngine(const kernels::EngineResources& resources, MetricFamilies& families);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_METRICS_PARTS_H_
