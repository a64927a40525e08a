// How urgent a job is.
#ifndef GRIDFOLD_SERVER_BASE_PRIORITY_H_
#define GRIDFOLD_SERVER_BASE_PRIORITY_H_

#include <cstddef>
#include <cstdint>

namespace gridfold::server {

// How urgent a job is among the waiting jobs of its own tenant.
enum class Priority : uint8_t { kHigh, kNormal, kLow };
inline constexpr size_t kPriorityCount = 3;

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_BASE_PRIORITY_H_
