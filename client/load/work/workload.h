// A scenario, prepared for a server.
#ifndef GRIDFOLD_CLIENT_LOAD_WORK_WORKLOAD_H_
#define GRIDFOLD_CLIENT_LOAD_WORK_WORKLOAD_H_

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/load/work/prepared_request.h"
#include "client/load/work/scenario.h"
#include "client/load/work/server_arrays.h"
#include "gridfold/client_options.h"

namespace gridfold::load {

// The requests of a run. Each kind has up to 16 arrays in turn, as many as take 64 MiB together,
// but one of each size that it lists, and eight of a range of sizes: enough that no two calls in a
// row need be the same, few enough that making them takes no time to speak of. Immutable;
// thread-safe.
class Workload {
 public:
  struct Options {
    uint64_t chunk_bytes = 0;     // Of the messages of streams.
    uint64_t call_count_max = 0;  // Under way at the same time.
    uint64_t seed = 0;
  };

  // Generates arrays and known answers, and puts on the server what belongs there. Errors: those of
  // ServerArrays; INVALID_ARGUMENT, naming the request, where the results of so many calls need
  // more shared memory than a kind of request may have.
  static absl::StatusOr<std::unique_ptr<Workload>> Prepare(const Scenario& scenario,
                                                           const client::ClientOptions& client,
                                                           const Options& options);

  // A request of the mix, by the kinds' weights.
  const PreparedRequest& Draw(std::mt19937_64& random) const;

  const Scenario& scenario() const { return scenario_; }

  // One sentence for each kind whose arrays take more than 64 MiB.
  const std::vector<std::string>& notes() const { return notes_; }
  size_t kind_count() const { return requests_.size(); }

 private:
  Workload(const Scenario& scenario, const client::ClientOptions& client);

  absl::Status PrepareKind(size_t kind_index, const Options& options, std::mt19937_64& random);
  absl::StatusOr<std::vector<client::ArrayInput>> PlaceArrays(
      const RequestKind& kind, const std::vector<ArrayBytes>& arrays);
  void NoteSize(size_t kind_index, size_t array_count, uint64_t array_bytes);
  absl::StatusOr<ResultPlaces*> MakeResultPlaces(size_t kind_index, uint64_t result_bytes,
                                                 uint64_t call_count_max);

  const Scenario scenario_;
  ServerArrays server_arrays_;
  std::vector<std::vector<PreparedRequest>> requests_;  // By kind.
  std::vector<double> cumulative_weights_;
  std::vector<std::string> notes_;
};

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_WORK_WORKLOAD_H_
