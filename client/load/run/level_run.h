// Runs one level of load.
#ifndef GRIDFOLD_CLIENT_LOAD_RUN_LEVEL_RUN_H_
#define GRIDFOLD_CLIENT_LOAD_RUN_LEVEL_RUN_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/load/run/load_result.h"
#include "client/load/run/load_settings.h"
#include "client/load/work/workload.h"
#include "grpcpp/channel.h"

namespace gridfold::load {

// Told once a second, by the thread that runs the level.
using LevelObserver = std::function<void(const LevelResult& so_far)>;

// What levels share; what it refers to must outlive the runs.
struct LevelEnvironment {
  const LoadPlan& plan;
  const Workload& workload;
  const std::vector<std::shared_ptr<grpc::Channel>>& channels;
  const std::string& token;  // That calls bring; empty: none.
  const std::atomic<bool>& is_interrupted;
  LevelObserver observer;
};

// Sends until the time is over, the calls are made, the figures are stable, the user has had enough
// or the server is silent; then waits for the calls under way, though not long, and gives up what
// is left. Blocks.
LevelResult RunLevel(const LevelEnvironment& environment, LoadLevel level);

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_RUN_LEVEL_RUN_H_
