// Arrays that are with the server before the load begins, and go when it is over.
#ifndef GRIDFOLD_CLIENT_LOAD_WORK_SERVER_ARRAYS_H_
#define GRIDFOLD_CLIENT_LOAD_WORK_SERVER_ARRAYS_H_

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "client/load/work/result_places.h"
#include "client/load/work/scenario.h"
#include "gridfold/array_input.h"
#include "gridfold/client.h"
#include "gridfold/shared_region.h"

namespace gridfold::load {

// The elements of an array, in row-major order.
struct ArrayBytes {
  client::ElementType element_type;
  std::vector<uint64_t> shape;
  const std::string& bytes;
};

// The destructor deletes the arrays and regions, as far as the server is still there. Not
// thread-safe.
class ServerArrays {
 public:
  explicit ServerArrays(const client::ClientOptions& options) : options_(options) {}
  ~ServerArrays();
  ServerArrays(const ServerArrays&) = delete;
  ServerArrays& operator=(const ServerArrays&) = delete;

  // Makes resident arrays of the kind's tenant, or puts the arrays into a region of its, and
  // returns what requests name them by. Errors: those of Client and SharedRegion.
  absl::StatusOr<std::vector<client::ArrayInput>> Place(const RequestKind& kind,
                                                        const std::vector<ArrayBytes>& arrays);

  // Makes a region of the kind's tenant with so many places for results of up to `result_bytes`;
  // they live as long as this object. Errors: those of Client and SharedRegion.
  absl::StatusOr<ResultPlaces*> MakeResultPlaces(const RequestKind& kind, uint64_t result_bytes,
                                                 uint64_t place_count);

 private:
  absl::StatusOr<client::Client*> ClientOf(const std::string& tenant);
  absl::StatusOr<std::vector<client::ArrayInput>> PlaceResident(
      client::Client& tenant_client, const std::vector<ArrayBytes>& arrays);
  absl::StatusOr<std::vector<client::ArrayInput>> PlaceShared(
      client::Client& tenant_client, const std::vector<ArrayBytes>& arrays);
  absl::StatusOr<const client::SharedRegion*> CreateRegion(client::Client& tenant_client,
                                                           uint64_t size_bytes);

  const client::ClientOptions options_;
  std::map<std::string, std::unique_ptr<client::Client>> clients_;  // By tenant.
  std::vector<std::pair<client::Client*, std::string>> resident_arrays_;
  std::deque<client::SharedRegion> regions_;  // Go before the clients.
  std::vector<std::unique_ptr<ResultPlaces>> result_places_;
};

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_WORK_SERVER_ARRAYS_H_
