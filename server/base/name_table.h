// Numbers names in the order of their first use, up to a fixed count, for tables that are indexed
// by name. Thread-safe; finding a known name takes no lock.
#ifndef GRIDFOLD_SERVER_BASE_NAME_TABLE_H_
#define GRIDFOLD_SERVER_BASE_NAME_TABLE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>

#include "absl/strings/string_view.h"

namespace gridfold::server {

template <size_t kSize>
class NameTable {
 public:
  // From 0; kSize for every name that came when the table was full.
  size_t IndexOf(absl::string_view name) {
    const size_t known = size();
    const size_t index = Find(name, known);
    return index < known ? index : Add(name);
  }

  // How many names there are; they stay where they are.
  size_t size() const { return size_.load(std::memory_order_acquire); }
  const std::string& operator[](size_t index) const { return names_[index]; }

 private:
  // `known` where the name is not among so many.
  size_t Find(absl::string_view name, size_t known) const {
    size_t index = 0;
    while (index < known && names_[index] != name) ++index;
    return index;
  }

  size_t Add(absl::string_view name) {
    const std::lock_guard lock(mutex_);
    // Another thread may have added it meanwhile.
    const size_t known = size();
    const size_t index = Find(name, known);
    if (index < known || known == kSize) return index;
    names_[index] = std::string(name);
    size_.store(index + 1, std::memory_order_release);
    return index;
  }

  std::array<std::string, kSize> names_;  // Written once each, before `size_` counts them.
  std::atomic<size_t> size_ = 0;
  std::mutex mutex_;  // Held by whoever adds a name.
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_BASE_NAME_TABLE_H_
