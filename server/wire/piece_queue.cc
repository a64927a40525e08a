#include "server/wire/piece_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gridfold::server {

namespace {

// Below this a copy costs less than to keep account of a piece.
constexpr size_t kCopiedPieceBytes = size_t{4} << 10;
// What small pieces are collected to.
constexpr size_t kCopiedBlockBytes = size_t{64} << 10;

}  // namespace

void PieceQueue::Append(const grpc::Slice& bytes) {
  if (bytes.size() == 0) return;
  size_bytes_ += bytes.size();
  if (bytes.size() >= kCopiedPieceBytes) {
    pieces_.push_back({.slice = bytes, .copied = {}});
    return;
  }
  const auto* const data = reinterpret_cast<const char*>(bytes.begin());
  const bool has_room = !pieces_.empty() && !pieces_.back().copied.empty() &&
                        pieces_.back().copied.size() + bytes.size() <= kCopiedBlockBytes;
  if (!has_room) pieces_.emplace_back();
  pieces_.back().copied.append(data, bytes.size());
}

void PieceQueue::Append(PieceQueue& other) {
  std::move(other.pieces_.begin(), other.pieces_.end(), std::back_inserter(pieces_));
  size_bytes_ += std::exchange(other.size_bytes_, 0);
  other.pieces_.clear();
}

std::vector<kernels::HostSpan> PieceQueue::First(uint64_t size_bytes) const {
  std::vector<kernels::HostSpan> spans;
  for (const Piece& piece : pieces_) {
    if (size_bytes == 0) break;
    const auto taken = static_cast<size_t>(std::min<uint64_t>(piece.size_bytes(), size_bytes));
    spans.push_back({piece.data(), taken});
    size_bytes -= taken;
  }
  return spans;
}

void PieceQueue::RemoveFirst(uint64_t size_bytes) {
  size_bytes_ -= size_bytes;
  while (size_bytes > 0) {
    Piece& piece = pieces_.front();
    const auto taken = static_cast<size_t>(std::min<uint64_t>(piece.size_bytes(), size_bytes));
    piece.offset_bytes += taken;
    size_bytes -= taken;
    if (piece.size_bytes() == 0) pieces_.pop_front();
  }
}

}  // namespace gridfold::server
