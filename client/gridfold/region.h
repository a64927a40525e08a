// Shared-memory regions: memory of a caller on the server's host, on which the server computes in
// place. SharedRegion creates and registers one; these are the messages beneath it.
#ifndef GRIDFOLD_CLIENT_GRIDFOLD_REGION_H_
#define GRIDFOLD_CLIENT_GRIDFOLD_REGION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gridfold/element_type.h"

namespace gridfold::client {

// An array in a region, as the input of an operation, or where the result of a scan is.
struct RegionSlice {
  std::string name;           // The region's.
  uint64_t offset_bytes = 0;  // Of the first element; a multiple of its size.
  ElementType element_type = ElementType::kFloat64;
  std::vector<uint64_t> shape = {};  // Up to eight extents; none: no dimensions, one element.
};

// An allocation of cudaMalloc of this process, which must stay allocated while it is registered.
struct CudaIpcMemory {
  std::string handle;   // The 64 bytes of cudaIpcGetMemHandle.
  uint32_t device = 0;  // The GPU that it is on, by its place among ServerInfo::devices.
};

// What Client::RegisterRegion registers: a POSIX shared-memory object, or device memory.
struct NewRegion {
  std::string name = "";         // Up to 128 letters, digits and "._-/"; empty: the server chooses.
  std::string object_name = "";  // "/gridfold-" and up to 200 letters, digits and "._-".
  uint64_t size_bytes = 0;
  // The region is unregistered when nobody has used it for this long; nothing: an hour.
  std::optional<absl::Duration> idle_expiry = std::nullopt;
  // The region is unregistered when the process with this ID, as the server sees it, ends; nothing:
  // no process.
  std::optional<uint32_t> owner_process_id = std::nullopt;
  std::optional<CudaIpcMemory> cuda_ipc = std::nullopt;  // In the place of an object.
};

struct RegionDescription {
  std::string name;
  uint64_t size_bytes = 0;
  absl::Duration idle_expiry;
  absl::Duration idle_time;  // Since a request last used it.
  std::optional<uint32_t> owner_process_id = std::nullopt;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_GRIDFOLD_REGION_H_
