// Pieces of work for several threads, each of which has a part that must follow that of the piece
// before.
#ifndef GRIDFOLD_KERNELS_CPU_BASE_TURNS_H_
#define GRIDFOLD_KERNELS_CPU_BASE_TURNS_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>

namespace gridfold::kernels::cpu {

// Thread-safe. Whoever takes a piece calls Wait and then Pass for it, whatever else happens: since
// pieces are taken in order, the first of those that are not passed is always in a thread's hands,
// and nobody waits for ever.
class Turns {
 public:
  explicit Turns(uint64_t piece_count) : piece_count_(piece_count) {}

  // The next piece of [0, piece_count); nothing after the last.
  std::optional<uint64_t> Take() {
    const uint64_t piece = taken_.fetch_add(1, std::memory_order_relaxed);
    return piece < piece_count_ ? std::optional(piece) : std::nullopt;
  }

  // Returns once all pieces before have been passed. What their threads did until then is done for
  // the caller.
  void Wait(uint64_t piece) const {
    // Mostly for a few microseconds, in which a thread that slept would not even wake up.
    for (int i = 0; i < kYields && passed_.load(std::memory_order_acquire) != piece; ++i) {
      std::this_thread::yield();
    }
    for (uint64_t passed = passed_.load(std::memory_order_acquire); passed != piece;
         passed = passed_.load(std::memory_order_acquire)) {
      passed_.wait(passed, std::memory_order_acquire);
    }
  }

  void Pass(uint64_t piece) {
    passed_.store(piece + 1, std::memory_order_release);
    passed_.notify_all();
  }

 private:
  static constexpr int kYields = 128;

  const uint64_t piece_count_;
  std::atomic<uint64_t> taken_ = 0;
  std::atomic<uint64_t> passed_ = 0;
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_BASE_TURNS_H_
