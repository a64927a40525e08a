// What a run has to keep to, for scripts.
#ifndef GRIDFOLD_CLIENT_LOAD_REPORT_THRESHOLDS_H_
#define GRIDFOLD_CLIENT_LOAD_REPORT_THRESHOLDS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/load/run/load_result.h"

namespace gridfold::load {

// A figure that must not be above, or below, a limit.
struct Threshold {
  std::string text;  // As it was given.
  std::string figure;
  bool fails_above = true;
  double limit = 0;  // Of times in seconds, of errors a fraction.
};

// "p99>5ms", "max>1s", "errors>0.1%", "wrong>0", "rate<1000", "throughput<2.5GB/s", "lateness>1ms".
// INVALID_ARGUMENT says what is wrong with the text.
absl::StatusOr<Threshold> ParseThreshold(absl::string_view text);

// What the run is to be called: each threshold by each of the judged levels, wrong answers, a
// server that fell silent, and a search that found no rate.
Verdict Judge(const std::vector<Threshold>& thresholds, const LoadResult& result);

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_REPORT_THRESHOLDS_H_
