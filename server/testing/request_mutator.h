// Makes bad requests out of good ones, for tests: bytes that are no message, messages cut short,
// lengths that lie, numbers at the ends of their types. The same seed gives the same requests.
#ifndef GRIDFOLD_SERVER_TESTING_REQUEST_MUTATOR_H_
#define GRIDFOLD_SERVER_TESTING_REQUEST_MUTATOR_H_

#include <cstdint>
#include <random>
#include <string>

#include "google/protobuf/message.h"

namespace gridfold::server {

// The array that resident inputs of the requests name: one int64.
inline constexpr char kMutatorArray[] = "seven";
// The array that views of the requests are of: three rows of three int64.
inline constexpr char kMutatorMatrix[] = "rows";
// The region that they name: at least 16 bytes.
inline constexpr char kMutatorRegion[] = "sixteen";

// One in-memory request of each method, with every field of the contract in use somewhere.
struct RequestBytes {
  std::string method;
  std::string bytes;
};

class RequestMutator {
 public:
  explicit RequestMutator(uint32_t seed) : random_(seed) {}

  RequestBytes Next();

 private:
  std::string RandomBytes(size_t size_max);
  std::string ExtremeVarint();
  // A good request, with some numbers of its fields replaced by extreme ones.
  void MakeExtreme(google::protobuf::Message& message);
  void MutateBytes(std::string& bytes);
  size_t Below(size_t bound) { return bound == 0 ? 0 : random_() % bound; }

  std::mt19937_64 random_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TESTING_REQUEST_MUTATOR_H_
