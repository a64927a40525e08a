// Memory shared with a server on this host: its contents need not be sent.
//
//   absl::StatusOr<SharedRegion> region = SharedRegion::Create(client, {.size_bytes = 1 << 30});
//   if (!region.ok()) return region.status();
//   std::span<float> samples = region->As<float>().first(count);
//   ...                                                       // Fill them.
//   client.ReduceArray(region->Slice<float>(count), {.statistics = {Statistic::kSum}});
#ifndef GRIDFOLD_CLIENT_GRIDFOLD_SHARED_REGION_H_
#define GRIDFOLD_CLIENT_GRIDFOLD_SHARED_REGION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gridfold/client.h"
#include "gridfold/client_options.h"
#include "gridfold/element_type.h"
#include "gridfold/region.h"
#include "gridfold/scan.h"

namespace gridfold::client {

struct SharedRegionOptions {
  uint64_t size_bytes = 0;  // More than 0.
  std::string name = "";    // As in NewRegion.
  std::optional<absl::Duration> idle_expiry = std::nullopt;
  // Lets the server unregister the region if this process ends without doing so. Set it to false
  // where the server sees other process IDs, for example from another container.
  bool end_with_process = true;
};

// Owns a shared-memory object with a random name, mapped here and registered with a server. The
// destructor unregisters and removes it; a call that is running on the server finishes on the
// memory. Move-only. If memory is written while a call reads it, that call's answer is unspecified.
class SharedRegion {
 public:
  // Filled with zeros. `client` must outlive the region. Errors: INVALID_ARGUMENT for no bytes;
  // RESOURCE_EXHAUSTED where this machine has no room; those of Client::RegisterRegion, for example
  // FAILED_PRECONDITION of a server that allows no regions.
  static absl::StatusOr<SharedRegion> Create(Client& client, const SharedRegionOptions& options,
                                             const CallOptions& call_options = {});

  SharedRegion(SharedRegion&&) noexcept;
  SharedRegion& operator=(SharedRegion&&) noexcept;
  ~SharedRegion();

  // As the server knows it.
  const std::string& name() const;

  std::span<std::byte> bytes() const;

  // All whole elements that fit.
  template <Element T>
  std::span<T> As() const {
    return {reinterpret_cast<T*>(bytes().data()), bytes().size() / sizeof(T)};
  }

  // An array of T at `offset_bytes`, as an operation's input.
  template <Element T>
  RegionSlice Slice(uint64_t element_count, uint64_t offset_bytes = 0) const {
    return Slice(ElementTypeOf<T>(), {element_count}, offset_bytes);
  }
  RegionSlice Slice(ElementType element_type, std::vector<uint64_t> shape,
                    uint64_t offset_bytes = 0) const;

  // As the place for a scan's results.
  RegionDestination Destination(uint64_t offset_bytes) const;

 private:
  class Registration;

  explicit SharedRegion(std::unique_ptr<Registration> registration);

  std::unique_ptr<Registration> registration_;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_GRIDFOLD_SHARED_REGION_H_
