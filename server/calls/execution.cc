#include "server/calls/execution.h"

#include "server/wire/description_conversion.h"

namespace gridfold::server {

void FillExecution(const CallReport& report, const std::string& engine,
                   v1::ExecutionStatistics& execution) {
  const kernels::RunStatistics& statistics = report.run;
  execution.set_engine(engine);
  execution.set_strategy(statistics.strategy);
  execution.set_cluster_size(statistics.cluster_size);
  execution.set_bytes_read(statistics.bytes_read);
  *execution.mutable_stage_in_time() = ToWire(statistics.stage_in_time);
  *execution.mutable_kernel_time() = ToWire(statistics.kernel_time);
  *execution.mutable_stage_out_time() = ToWire(statistics.stage_out_time);
  *execution.mutable_queue_time() = ToWire(*report.queue_time);
  *execution.mutable_total_time() = ToWire(report.Elapsed());
  execution.set_device_count(report.device_count);
}

}  // namespace gridfold::server
