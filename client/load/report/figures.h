// What every report says of latencies, and under which names.
#ifndef GRIDFOLD_CLIENT_LOAD_REPORT_FIGURES_H_
#define GRIDFOLD_CLIENT_LOAD_REPORT_FIGURES_H_

#include <array>
#include <string>

#include "client/load/measure/latency_histogram.h"
#include "client/load/run/load_result.h"

namespace gridfold::load {

struct NamedQuantile {
  const char* name;
  double quantile;
};
inline constexpr std::array<NamedQuantile, 6> kReportedQuantiles = {{{"p50", 0.5},
                                                                     {"p90", 0.9},
                                                                     {"p95", 0.95},
                                                                     {"p99", 0.99},
                                                                     {"p99.9", 0.999},
                                                                     {"p99.99", 0.9999}}};

// "8 under way", "100 calls/s", "100 to 2000 calls/s".
std::string DescribeLevel(const LoadLevel& level, bool is_open_loop);

// "INVALID_ARGUMENT" and so on.
std::string CodeName(absl::StatusCode code);

// Of times in nanoseconds: "1.23 ms".
std::string FormatNs(double time_ns, bool unicode);

// "12,345/s" and "1.23 GB/s", or kB/s and the like.
std::string FormatCallRate(double calls_per_second);
std::string FormatByteRate(double bytes_per_second);

// How sure a search is of what it found: "kept to it in 2 of 2 runs; 2,140/s in 0 of 2", and what
// contradicts.
std::string DescribeSureness(const FoundRate& found);

// "0.12 %".
std::string FormatPercentage(double fraction);

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_REPORT_FIGURES_H_
