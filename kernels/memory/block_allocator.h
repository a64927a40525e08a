// Allocates blocks of a range of bytes: best fit, free neighbours are joined at once.
//
// It knows offsets only, so the range may be memory that the CPU cannot access. Allocate and
// Free take time logarithmic in the number of blocks. Among the free blocks that are large enough
// the smallest is split, the one with the lowest offset where several are equally small: the same
// calls give the same offsets. Not thread-safe.
#ifndef GRIDFOLD_KERNELS_MEMORY_BLOCK_ALLOCATOR_H_
#define GRIDFOLD_KERNELS_MEMORY_BLOCK_ALLOCATOR_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace gridfold::kernels {

class BlockAllocator {
 public:
  // The range is [0, size_bytes), of which whole units are used. `unit_bytes` is not 0.
  BlockAllocator(uint64_t size_bytes, uint64_t unit_bytes);
  BlockAllocator(const BlockAllocator&) = delete;
  BlockAllocator& operator=(const BlockAllocator&) = delete;

  // The offset, a multiple of the unit, of a block of at least `size_bytes`, which is not 0.
  // Nothing where no free block is that large.
  std::optional<uint64_t> Allocate(uint64_t size_bytes);

  // Takes back the block at `offset`, which Allocate returned. Never throws.
  void Free(uint64_t offset) noexcept;

  uint64_t free_bytes() const { return free_bytes_; }
  // The largest size that Allocate would not refuse; 0 where there is none.
  uint64_t largest_free_bytes() const;

 private:
  // {size, offset} of the free blocks, in the order in which they are taken.
  using FreeBlocks = std::set<std::pair<uint64_t, uint64_t>>;

  struct Block {
    uint64_t size_bytes = 0;
    // While the block is taken: its entry of free_blocks_, so that giving it back needs no memory.
    FreeBlocks::node_type entry = {};

    bool is_free() const { return entry.empty(); }
  };
  using Blocks = std::map<uint64_t, Block>;

  void MarkFree(Blocks::iterator block) noexcept;
  void JoinNext(Blocks::iterator block) noexcept;

  const uint64_t unit_bytes_;
  Blocks blocks_;  // All of them, by offset; they cover the range.
  FreeBlocks free_blocks_;
  uint64_t free_bytes_;
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_MEMORY_BLOCK_ALLOCATOR_H_
