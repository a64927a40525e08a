#include "kernels/memory/block_allocator.h"

#include <iterator>

namespace gridfold::kernels {

BlockAllocator::BlockAllocator(uint64_t size_bytes, uint64_t unit_bytes)
    : unit_bytes_(unit_bytes), free_bytes_(size_bytes - size_bytes % unit_bytes) {
  if (free_bytes_ == 0) return;
  blocks_.emplace(0, Block{.size_bytes = free_bytes_});
  free_blocks_.emplace(free_bytes_, 0);
}

std::optional<uint64_t> BlockAllocator::Allocate(uint64_t size_bytes) {
  if (size_bytes > free_bytes_) return std::nullopt;
  const uint64_t taken_bytes = (size_bytes + unit_bytes_ - 1) / unit_bytes_ * unit_bytes_;
  const auto best = free_blocks_.lower_bound({taken_bytes, 0});
  if (best == free_blocks_.end()) return std::nullopt;
  const auto [found_bytes, offset] = *best;
  const auto block = blocks_.find(offset);
  if (found_bytes > taken_bytes) {
    // First what may throw, so that nothing is half done.
    const uint64_t rest_offset = offset + taken_bytes;
    const auto rest = blocks_.emplace(rest_offset, Block{.size_bytes = found_bytes - taken_bytes});
    try {
      free_blocks_.emplace(found_bytes - taken_bytes, rest_offset);
    } catch (...) {
      blocks_.erase(rest.first);
      throw;
    }
  }
  block->second.size_bytes = taken_bytes;
  block->second.entry = free_blocks_.extract(best);
  free_bytes_ -= taken_bytes;
  return offset;
}

void BlockAllocator::Free(uint64_t offset) noexcept {
  auto block = blocks_.find(offset);
  free_bytes_ += block->second.size_bytes;
  if (const auto next = std::next(block); next != blocks_.end() && next->second.is_free()) {
    JoinNext(block);
  }
  if (block != blocks_.begin()) {
    const auto previous = std::prev(block);
    if (previous->second.is_free()) {
      previous->second.entry = free_blocks_.extract({previous->second.size_bytes, previous->first});
      JoinNext(previous);
      block = previous;
    }
  }
  MarkFree(block);
}

// Takes in the block after `block`, which is taken; that one may be either.
void BlockAllocator::JoinNext(Blocks::iterator block) noexcept {
  const auto next = std::next(block);
  if (next->second.is_free()) free_blocks_.erase({next->second.size_bytes, next->first});
  block->second.size_bytes += next->second.size_bytes;
  blocks_.erase(next);
}

void BlockAllocator::MarkFree(Blocks::iterator block) noexcept {
  block->second.entry.value() = {block->second.size_bytes, block->first};
  free_blocks_.insert(std::move(block->second.entry));
}

uint64_t BlockAllocator::largest_free_bytes() const {
  return free_blocks_.empty() ? 0 : free_blocks_.rbegin()->first;
}

}  // namespace gridfold::kernels
