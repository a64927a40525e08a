// A bound on memory that calls take together, where nothing else bounds it. Thread-safe.
#ifndef GRIDFOLD_SERVER_BYTE_BUDGET_H_
#define GRIDFOLD_SERVER_BYTE_BUDGET_H_

#include <atomic>
#include <cstdint>

namespace gridfold::server {

class ByteBudget {
 public:
  explicit ByteBudget(uint64_t bytes) : left_bytes_(bytes) {}

  // Takes all of it or nothing: whether there was as much.
  bool Take(uint64_t bytes) {
    uint64_t left = left_bytes_.load();
    while (bytes <= left) {
      if (left_bytes_.compare_exchange_weak(left, left - bytes)) return true;
    }
    return false;
  }
  uint64_t left_bytes() const { return left_bytes_.load(); }
  void GiveBack(uint64_t bytes) { left_bytes_ += bytes; }

 private:
  std::atomic<uint64_t> left_bytes_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_BYTE_BUDGET_H_
