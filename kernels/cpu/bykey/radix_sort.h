// A stable sort of numbers, with where they stood, by one digit after the other from the lowest.
//
// Threads sort pieces of the input: each counts its digits, and after a running sum over digits and
// pieces each moves its own to where they belong. Digits in which all numbers agree are left out.
#ifndef GRIDFOLD_KERNELS_CPU_BYKEY_RADIX_SORT_H_
#define GRIDFOLD_KERNELS_CPU_BYKEY_RADIX_SORT_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "kernels/cpu/base/job_context.h"
#include "kernels/cpu/bykey/buffer.h"

namespace gridfold::kernels::cpu {

template <class Number, class Place>
class RadixSort {
 public:
  // `numbers` are of so many elements.
  RadixSort(uint64_t count, Buffer<Number> numbers, JobContext& job)
      : count_(count), job_(job), numbers_(std::move(numbers)) {}

  absl::Status Run() {
    Number varying = 0;
    if (absl::Status status = FindVaryingBits(varying); !status.ok()) return status;
    other_numbers_ = MakeBuffer<Number>(count_);
    other_places_ = MakeBuffer<Place>(count_);
    const int lowest = varying == 0 ? 0 : std::countr_zero(varying);
    const int bits = std::bit_width(varying) - lowest;
    const int passes = (bits + kDigitBitsMax - 1) / kDigitBitsMax;
    for (int pass = 0; pass < passes; ++pass) {
      const int first = lowest + pass * bits / passes;
      const int width = lowest + (pass + 1) * bits / passes - first;
      const Number mask = (Number{1} << width) - 1;
      if (((varying >> first) & mask) == 0) continue;
      if (absl::Status status = SortByDigit(first, mask); !status.ok()) return status;
    }
    other_numbers_.reset();
    other_places_.reset();
    return absl::OkStatus();
  }

  // In order, and where each stood.
  Buffer<Number> TakeNumbers() { return std::move(numbers_); }
  Buffer<Place> TakePlaces() { return std::move(places_); }

 private:
  // Counters of a digit, and the lines that a thread writes to, stay in the second-level cache.
  static constexpr int kDigitBitsMax = 11;

  absl::Status FindVaryingBits(Number& varying) {
    std::vector<Number> of_pieces(KeyPieceCount(count_));
    absl::Status status =
        ForEachKeyPiece(count_, job_, [&](uint64_t piece, uint64_t i, uint64_t end) {
          Number differing = 0;
          for (; i < end; ++i) differing |= numbers_[i] ^ numbers_[0];
          of_pieces[piece] = differing;
        });
    for (const Number bits : of_pieces) varying |= bits;
    return status;
  }

  absl::Status SortByDigit(int first_bit, Number mask) {
    const uint64_t digits = uint64_t{mask} + 1;
    const uint64_t pieces =
        std::clamp<uint64_t>(count_ / (8 * digits), 1, static_cast<uint64_t>(job_.threads) * 4);
    const uint64_t piece_size = (count_ + pieces - 1) / pieces;
    std::vector<uint64_t> places(pieces * digits);
    const auto for_each_piece = [&](auto work) {
      return job_.ForEach(pieces, [&](uint64_t piece) {
        const uint64_t begin = std::min(count_, piece * piece_size);
        work(&places[piece * digits], begin, std::min(count_, begin + piece_size));
      });
    };
    const auto digit_of = [&](uint64_t i) { return (numbers_[i] >> first_bit) & mask; };
    absl::Status status = for_each_piece([&](uint64_t* counts, uint64_t i, uint64_t end) {
      for (; i < end; ++i) ++counts[digit_of(i)];
    });
    if (!status.ok()) return status;
    uint64_t sum = 0;
    for (uint64_t digit = 0; digit < digits; ++digit) {
      for (uint64_t piece = 0; piece < pieces; ++piece) {
        sum += std::exchange(places[piece * digits + digit], sum);
      }
    }
    const bool is_first = places_ == nullptr;
    status = for_each_piece([&](uint64_t* next, uint64_t i, uint64_t end) {
      for (; i < end; ++i) {
        const uint64_t to = next[digit_of(i)]++;
        other_numbers_[to] = numbers_[i];
        other_places_[to] = is_first ? static_cast<Place>(i) : places_[i];
      }
    });
    if (!status.ok()) return status;
    numbers_.swap(other_numbers_);
    places_.swap(other_places_);
    if (other_places_ == nullptr) other_places_ = MakeBuffer<Place>(count_);
    return status;
  }

  const uint64_t count_;
  JobContext& job_;
  Buffer<Number> numbers_;
  Buffer<Place> places_;  // None before the first pass.
  Buffer<Number> other_numbers_;
  Buffer<Place> other_places_;
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_BYKEY_RADIX_SORT_H_
