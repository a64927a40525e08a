// What is told of a resident array.
#ifndef GRIDFOLD_SERVER_ARRAYS_ARRAY_INFO_H_
#define GRIDFOLD_SERVER_ARRAYS_ARRAY_INFO_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "kernels/contract/shape.h"

namespace gridfold::server {

struct ArrayInfo {
  std::string name;
  kernels::ShapedArray description;
  uint32_t engine = 0;
  std::chrono::nanoseconds idle_expiry{0};
  std::chrono::nanoseconds idle_time{0};
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_ARRAYS_ARRAY_INFO_H_
