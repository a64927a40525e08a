// A load test from beginning to end.
#ifndef GRIDFOLD_CLIENT_LOAD_RUN_LOAD_RUN_H_
#define GRIDFOLD_CLIENT_LOAD_RUN_LOAD_RUN_H_

#include <atomic>
#include <functional>

#include "absl/status/statusor.h"
#include "client/load/run/load_result.h"
#include "client/load/run/load_settings.h"
#include "client/load/work/scenario.h"
#include "gridfold/client_options.h"

namespace gridfold::load {

// Told once a second, with the levels that are over and the one that runs.
using LoadObserver =
    std::function<void(const LoadResult& so_far, const LevelResult& running_level)>;

// Prepares the scenario, then runs the plan's levels one after the other, or searches. Ends early,
// with what there is, when `is_interrupted` becomes true or the server falls silent. Errors: those
// of Client where the server cannot be reached, or does not take the arrays, before the load
// begins; INVALID_ARGUMENT.
absl::StatusOr<LoadResult> RunLoadTest(const client::ClientOptions& server,
                                       const Scenario& scenario, const LoadSettings& settings,
                                       const std::atomic<bool>& is_interrupted,
                                       const LoadObserver& observer);

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_RUN_LOAD_RUN_H_
