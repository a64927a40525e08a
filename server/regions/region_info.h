// What is told of a region.
#ifndef GRIDFOLD_SERVER_REGIONS_REGION_INFO_H_
#define GRIDFOLD_SERVER_REGIONS_REGION_INFO_H_

#include <chrono>
#include <cstdint>
#include <string>

namespace gridfold::server {

struct RegionInfo {
  std::string name;
  uint64_t size_bytes = 0;
  std::chrono::nanoseconds idle_expiry{0};
  std::chrono::nanoseconds idle_time{0};
  uint32_t owner_process_id = 0;  // 0: none.
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_REGIONS_REGION_INFO_H_
