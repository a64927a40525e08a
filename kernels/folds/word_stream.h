// Numbers to words and back, one after the other (words.h says what words are). For *words.cc only.
#ifndef GRIDFOLD_KERNELS_FOLDS_WORD_STREAM_H_
#define GRIDFOLD_KERNELS_FOLDS_WORD_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "kernels/numerics/arithmetic/limbs.h"

namespace gridfold::kernels {

inline constexpr int kWordBits = 32;
inline constexpr int kWordsOfLimb = kLimbBits / kWordBits;
inline constexpr int kWordsOfCount = 2;
inline constexpr int64_t kPieceMax = std::numeric_limits<uint32_t>::max();

// Writes the words of one part.
class WordWriter {
 public:
  explicit WordWriter(uint64_t word_count) { words_.reserve(word_count); }

  void Piece(uint32_t piece) { words_.push_back(piece); }
  void Flag(bool is_set) { Piece(is_set ? 1 : 0); }
  void Count(uint64_t count) {
    Piece(static_cast<uint32_t>(count));
    Piece(static_cast<uint32_t>(count >> kWordBits));
  }
  // A number of so many limbs, of which every piece has the sign of the whole.
  void Number(const LimbMagnitude& magnitude, int limb_count) {
    for (int i = 0; i < limb_count; ++i) {
      const bool is_there = magnitude.lowest() <= i && i < magnitude.end();
      const uint64_t limb = is_there ? magnitude[i] : 0;
      for (const int64_t piece :
           {static_cast<int64_t>(limb & kPieceMax), static_cast<int64_t>(limb >> kWordBits)}) {
        words_.push_back(magnitude.is_negative() ? -piece : piece);
      }
    }
  }

  std::vector<int64_t> Finish() && { return std::move(words_); }

 private:
  std::vector<int64_t> words_;
};

// Reads words of `parts` parts that were added. Words that no parts have make ok() false for good.
class WordReader {
 public:
  // Requires 1 <= parts <= kWordPartsMax, which keeps all products below 2^63.
  WordReader(std::span<const int64_t> words, int64_t parts) : rest_(words), parts_(parts) {}

  bool ok() const { return ok_; }
  size_t rest_size() const { return rest_.size(); }
  void Require(bool condition) { ok_ = ok_ && condition; }

  // A piece that every part has; 0 where it is not the same in all.
  uint32_t CommonPiece() {
    const int64_t sum = Next(0, kPieceMax);
    Require(sum % parts_ == 0);
    return ok_ ? static_cast<uint32_t>(sum / parts_) : 0;
  }
  // In how many parts a flag is set.
  int64_t Flags() { return Next(0, 1); }
  // Words of what there is nothing of.
  void Zeros(uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) Next(0, 0);
  }
  // Below 2^63.
  uint64_t Count() {
    const int64_t low = Next(0, kPieceMax);
    const int64_t high = Next(0, kPieceMax);
    const Int128 count = low + (Int128{high} << kWordBits);
    Require(count <= std::numeric_limits<int64_t>::max());
    return ok_ ? static_cast<uint64_t>(count) : 0;
  }
  // In two's complement, or not negative; fails where `limbs` have no room for it.
  void SignedNumber(uint64_t* limbs, int limb_count) {
    const int64_t carry = Number(limbs, limb_count, -kPieceMax);
    Require(carry == (IsNegativeNumber(limbs, limb_count) ? -1 : 0));
  }
  void UnsignedNumber(uint64_t* limbs, int limb_count) {
    Require(Number(limbs, limb_count, 0) == 0);
  }

 private:
  // The next word, of parts that each have between these.
  int64_t Next(int64_t part_min, int64_t part_max) {
    Require(!rest_.empty());
    if (!ok_) return 0;
    const int64_t word = rest_.front();
    rest_ = rest_.subspan(1);
    Require(part_min * parts_ <= word && word <= part_max * parts_);
    return ok_ ? word : 0;
  }

  // The number modulo 2^(64 * limb_count); returns what is above.
  int64_t Number(uint64_t* limbs, int limb_count, int64_t piece_min) {
    Int128 carry = 0;
    for (int i = 0; i < limb_count; ++i) {
      limbs[i] = 0;
      for (int shift = 0; shift < kLimbBits; shift += kWordBits) {
        carry += Next(piece_min, kPieceMax);
        limbs[i] |= static_cast<uint64_t>(carry & kPieceMax) << shift;
        carry >>= kWordBits;
      }
    }
    return static_cast<int64_t>(carry);
  }

  std::span<const int64_t> rest_;
  const int64_t parts_;
  bool ok_ = true;
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_FOLDS_WORD_STREAM_H_
