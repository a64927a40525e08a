#include "gridfold/shared_region.h"

#include <unistd.h>

#include <utility>

#include "absl/memory/memory.h"
#include "client/library/shared_memory.h"

namespace gridfold::client {

class SharedRegion::Registration {
 public:
  Registration(Client& client, std::string name, std::unique_ptr<SharedMemory> memory)
      : client_(client), name_(std::move(name)), memory_(std::move(memory)) {}
  ~Registration() {
    // Where the server cannot be told, it finds out: by the process's end, or by the idle expiry.
    (void)client_.UnregisterRegion(name_);
  }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

  const std::string& name() const { return name_; }
  std::span<std::byte> bytes() const { return memory_->bytes(); }

 private:
  Client& client_;
  const std::string name_;
  const std::unique_ptr<SharedMemory> memory_;
};

absl::StatusOr<SharedRegion> SharedRegion::Create(Client& client,
                                                  const SharedRegionOptions& options,
                                                  const CallOptions& call_options) {
  absl::StatusOr<std::unique_ptr<SharedMemory>> memory = SharedMemory::Create(options.size_bytes);
  if (!memory.ok()) return memory.status();
  NewRegion region{.name = options.name,
                   .object_name = (*memory)->object_name(),
                   .size_bytes = options.size_bytes,
                   .idle_expiry = options.idle_expiry};
  if (options.end_with_process) region.owner_process_id = static_cast<uint32_t>(getpid());
  absl::StatusOr<RegionDescription> registered = client.RegisterRegion(region, call_options);
  if (!registered.ok()) return registered.status();
  // The server has mapped it. From now on nothing is left behind by a program that is killed.
  (*memory)->RemoveName();
  return SharedRegion(
      std::make_unique<Registration>(client, std::move(registered->name), *std::move(memory)));
}

SharedRegion::SharedRegion(std::unique_ptr<Registration> registration)
    : registration_(std::move(registration)) {}
SharedRegion::SharedRegion(SharedRegion&&) noexcept = default;
SharedRegion& SharedRegion::operator=(SharedRegion&&) noexcept = default;
SharedRegion::~SharedRegion() = default;

const std::string& SharedRegion::name() const { return registration_->name(); }

std::span<std::byte> SharedRegion::bytes() const { return registration_->bytes(); }

RegionSlice SharedRegion::Slice(ElementType element_type, std::vector<uint64_t> shape,
                                uint64_t offset_bytes) const {
  return {.name = name(),
          .offset_bytes = offset_bytes,
          .element_type = element_type,
          .shape = std::move(shape)};
}

RegionDestination SharedRegion::Destination(uint64_t offset_bytes) const {
  return {.name = name(), .offset_bytes = offset_bytes};
}

}  // namespace gridfold::client
