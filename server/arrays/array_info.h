// What is told of a resident array.
#ifndef GRIDFOLD_SERVER_ARRAYS_ARRAY_INFO_H_
#define GRIDFOLD_SERVER_ARRAYS_ARRAY_INFO_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/contract/resident_memory.h"
#include "kernels/contract/shape.h"

namespace gridfold::server {

// Consecutive elements of an array, in the memory of one engine. Engines are known by their places
// in the list of all; no other one may use the memory.
struct ArrayShard {
  uint32_t engine = 0;
  uint64_t first_element = 0;
  uint64_t element_count = 0;
  kernels::MutableResidentSpan span = {};
};

struct ArrayInfo {
  std::string name;
  kernels::ShapedArray description;
  uint32_t engine = 0;                  // Of the first shard.
  std::vector<ArrayShard> shards = {};  // Of a sharded array.
  std::chrono::nanoseconds idle_expiry{0};
  std::chrono::nanoseconds idle_time{0};
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_ARRAYS_ARRAY_INFO_H_
