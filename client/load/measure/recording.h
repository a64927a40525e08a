// What a run, or a part of it, has come to: counts and histograms, in memory that does not grow
// with the number of calls.
#ifndef GRIDFOLD_CLIENT_LOAD_MEASURE_RECORDING_H_
#define GRIDFOLD_CLIENT_LOAD_MEASURE_RECORDING_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "client/load/measure/latency_histogram.h"
#include "client/load/measure/outcome.h"

namespace gridfold::load {

// Of the server's work on an answer, as its execution statistics tell them.
enum class Stage { kQueue, kStageIn, kKernel, kStageOut, kTotal };
inline constexpr size_t kStageCount = 5;
const char* StageName(Stage stage);

struct ErrorTally {
  uint64_t count = 0;
  std::string first_message = "";
};

// Of one kind of request.
struct KindTally {
  uint64_t answered = 0;
  uint64_t failed = 0;
  uint64_t wrong = 0;
  LatencyHistogram latency;  // From the intended time.
};

// Latencies are those of answered calls.
struct Recording {
  explicit Recording(size_t kind_count) : kinds(kind_count) {}

  // Counts a call of the window.
  void Add(const Outcome& outcome);
  void Merge(const Recording& other);

  uint64_t call_count() const { return answered + failed + cancelled + unanswered; }
  // Of all calls that were due and not given up on purpose, the part that got no answer; 0 of none.
  double error_fraction() const;

  uint64_t answered = 0;
  uint64_t failed = 0;
  uint64_t cancelled = 0;
  uint64_t unanswered = 0;
  uint64_t unsent = 0;  // Were due in the window, but the generator was too late for them.
  uint64_t verified = 0;
  uint64_t wrong = 0;  // Of the verified.
  std::string first_difference;
  std::map<absl::StatusCode, ErrorTally> errors;
  LatencyHistogram latency;            // From the intended time of sending to the answer.
  LatencyHistogram latency_from_send;  // From the actual one.
  LatencyHistogram lateness;           // From the intended to the actual one, of all calls.
  std::array<LatencyHistogram, kStageCount> stages;
  std::vector<KindTally> kinds;

  // Answers that came within the window, whenever their calls were sent, and their arrays' bytes:
  // what throughput is.
  uint64_t completed = 0;
  uint64_t completed_bytes = 0;
};

// Collects the outcomes of one thread's calls, and hands over what has come together. Thread-safe.
class Recorder {
 public:
  explicit Recorder(size_t kind_count) : kind_count_(kind_count), recording_(kind_count) {}

  // Whether the call was meant to be sent within the window, and whether it ended there.
  void Record(const Outcome& outcome, bool is_of_window, bool ended_in_window);

  void AddUnsent(uint64_t count);

  // Everything since the last time.
  Recording Take();

 private:
  const size_t kind_count_;
  absl::Mutex mutex_;
  Recording recording_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_MEASURE_RECORDING_H_
