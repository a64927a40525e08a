// What became of one call.
#ifndef GRIDFOLD_CLIENT_LOAD_MEASURE_OUTCOME_H_
#define GRIDFOLD_CLIENT_LOAD_MEASURE_OUTCOME_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "client/load/work/answer_reader.h"

namespace gridfold::load {

struct Outcome {
  enum class Ending {
    kAnswered,
    kFailed,      // With an error, the deadline included.
    kCancelled,   // Given up on purpose, as its kind of request wants of some calls.
    kUnanswered,  // Given up because the run was over.
  };

  Ending ending = Ending::kAnswered;
  size_t kind_index = 0;
  uint64_t array_bytes = 0;
  // Since the run's start. In a closed loop a call is meant to be sent when it is.
  int64_t intended_ns = 0;
  int64_t sent_ns = 0;
  int64_t ended_ns = 0;
  absl::Status error;  // Of kFailed.
  Answer answer;       // Of kAnswered.
};

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_MEASURE_OUTCOME_H_
