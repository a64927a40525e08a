// A warp sums groups whatever their elements are: several groups at a time, each by as many lanes
// as there are for it, in words of their own (reduce/core/words.cuh, reduce/core/piece_words.cuh).
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_WORDS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_WORDS_CUH_

#include <cstdint>

#include "kernels/cuda/device/shared_address.cuh"
#include "kernels/cuda/reduce/core/batches.cuh"
#include "kernels/cuda/reduce/core/finish.cuh"
#include "kernels/cuda/reduce/core/join.cuh"
#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/core/pairs.cuh"
#include "kernels/cuda/reduce/core/piece_words.cuh"
#include "kernels/cuda/reduce/core/thread_words.cuh"
#include "kernels/cuda/reduce/groups/shares.cuh"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/pair_tuning.h"
#include "kernels/cuda/reduce/plan/tuning.h"

namespace gridfold::kernels::cuda {

// Words of a warp's lanes in shared memory, by address: as a pointer it would come to functions
// that are not inlined without their knowing what memory it is. Each lane has a column of its own,
// but of float64's words, which are many, some share one.
template <class T>
struct WarpWords {
  static constexpr bool kIsDouble = sizeof(T) == sizeof(double);
  static constexpr uint32_t kColumns =
      kIsDouble ? PairTuning::kDoubleWordColumns : ReduceTuning::kWarpThreads;
  static constexpr uint32_t kColumnLanes = ReduceTuning::kWarpThreads / kColumns;
  static constexpr uint32_t kBytes = GroupWordBytes(sizeof(T));
  uint32_t address;

  // The words of a warp, in the block's dynamic shared memory.
  __device__ static WarpWords Of(const Warp& warp) {
    return {SharedAddress(BlockWords()) + warp.meta_group_rank() * kBytes};
  }
  __device__ WordColumn OfLane(uint32_t lane) const {
    return {static_cast<int64_t*>(__cvta_shared_to_generic(address)) + lane / kColumnLanes,
            kColumns};
  }
};

// What a lane adds to, and how its words are read.
template <class T>
class LaneWords {
  using Words = SingleWords<T>;

 public:
  using Sum = ExactSum<float, 1>;
  __device__ explicit LaneWords(WordColumn words) : words_(words) { Words::Reset(words_); }
  __device__ void Add(float x) { Words::Add(words_, x); }
  // Called after each batch of vectors.
  __device__ void EndBatch() {}
  // The sum of all lanes' words, with integer(mine) as the sum of integers of a group's lanes.
  template <class Integer>
  __device__ Sum Join(const Warp&, Integer integer) {
    WordReader<T> reader;
    const Sum sum = SumOfIntegers<T>([&](uint32_t i) { return integer(reader.Read(words_, i)); });
    flags_ = reader.flags();
    return sum;
  }
  __device__ uint32_t flags() const { return flags_; }

 private:
  WordColumn words_;
  uint32_t flags_ = 0;
};
template <>
class LaneWords<double> {
  using Words = PieceWords<1>;

 public:
  using Sum = ExactSum<double, 1>;
  __device__ explicit LaneWords(WordColumn words) : words_(words) {
    Words::Reset(words_);
    __syncwarp();
  }
  // Finite.
  __device__ void Add(double x) { Words::AddNumber(words_, x); }
  __device__ void EndBatch() {
    if (++batches_ % kBatchesMax == 0) Words::Settle(words_);
  }
  template <class Integer>
  __device__ Sum Join(const Warp& warp, Integer integer) {
    Sum sum;
    warp.sync();
#pragma unroll 1
    for (uint32_t i = 0; i < Words::kUsed; ++i) {
      uint32_t flags;
      const int64_t mine = Words::Integer(i, words_[i], flags);
      if (!warp.any(mine != 0)) continue;
      if (const Int128 total = integer(mine); total != 0) Words::AddTo(sum, i, total);
    }
    return sum;
  }

 private:
  static constexpr uint32_t kBatchElements =
      WarpWords<double>::kColumnLanes * PairTuning::kWordVectorsInFlight * kVectorSize<double>;
  // One less, for elements that are not in vectors.
  static constexpr uint32_t kBatchesMax = kPieceAdditionsMax / kBatchElements - 1;

  WordColumn words_;
  uint32_t batches_ = 0;
};

// Calls add(element) for the share of thread `rank` of `threads`, and end_batch() after each batch
// of vectors.
template <class T, class Add, class EndBatch>
__device__ inline void ForEachOfShare(const T* elements, uint32_t count, uint32_t rank,
                                      uint32_t threads, Add add, EndBatch end_batch) {
  constexpr uint32_t kInFlight = PairTuning::kWordVectorsInFlight;
  const GroupShare<T, kInFlight> share{elements, count};
  uint4 raw[kInFlight];
#pragma unroll 1
  for (auto vectors = share.Vectors(rank, threads); vectors.left > 0; vectors = vectors.Rest()) {
    vectors.Load(raw);
#pragma unroll
    for (uint32_t k = 0; k < kInFlight; ++k) {
      if (!vectors.Has(k)) break;
#pragma unroll
      for (const auto x : BatchOf<T>(raw[k]).values) add(x);
    }
    end_batch();
  }
  const uint32_t head = share.Head();
  const uint32_t tail = head + share.VectorCount() * share.kSize;
#pragma unroll 1
  for (uint32_t i = rank; i < head; i += threads) add(ToCompute(elements[i]));
#pragma unroll 1
  for (uint32_t i = tail + rank; i < count; i += threads) add(ToCompute(elements[i]));
}

// The bits of all of each `width` neighbouring lanes.
__device__ inline uint32_t BitsOfLanes(const Warp& warp, uint32_t width, uint32_t bits) {
#pragma unroll 1
  for (uint32_t distance = width / 2; distance > 0; distance /= 2) {
    bits |= warp.shfl_xor(bits, distance);
  }
  return bits;
}

// What the elements of groups of `sharers` lanes each say of infinities and NaN, of float64: those
// that decide the sum, or all. Called by all lanes; `rank` is the lane's in its group.
__device__ inline uint32_t FlagsOfGroups(const Warp& warp, const double* elements, uint32_t count,
                                         uint32_t rank, uint32_t sharers) {
  constexpr uint32_t kTogether = 8;
  uint32_t flags = 0;
  uint32_t i = rank;
#pragma unroll 1
  while (warp.any(i < count && (flags & kSawNan) != kSawNan)) {
#pragma unroll
    for (uint32_t k = 0; k < kTogether; ++k, i += sharers) {
      if (i < count) flags |= ExactSumFlagsOf(elements[i]);
    }
    flags = BitsOfLanes(warp, sharers, flags);
  }
  return flags;
}

// Bits of x without the first `count` that are set.
__device__ inline uint32_t WithoutFirst(uint32_t x, uint32_t count) {
#pragma unroll 1
  for (; count > 0; --count) x &= x - 1;
  return x;
}

// Sums the groups of some lanes, of 2^width_log2 lanes each: group `first` is that of the first of
// them, and a group's bit in `lanes` is that of its first lane. They are short, or there is but one
// that the words of a warp take. Called by all lanes; not inlined: it is long and seldom needed.
template <class T>
__device__ __noinline__ void SumGroupsInWords(const ReductionParameters& parameters,
                                              WarpWords<T> warp_words, uint64_t first,
                                              uint32_t lanes, uint32_t width_log2) {
  using Words = WarpWords<T>;
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(cg::this_thread_block());
#pragma unroll 1
  do {
    const uint32_t count = min(static_cast<uint32_t>(__popc(lanes)), Words::kColumns);
    // A power of two of lanes for each.
    uint32_t sharers = ReduceTuning::kWarpThreads;
    while (sharers * count > ReduceTuning::kWarpThreads) sharers /= 2;
    const uint32_t place = warp.thread_rank() / sharers;
    const uint32_t rank = warp.thread_rank() % sharers;
    const bool exists = place < count;
    const uint64_t group = first + (__fns(lanes, 0, static_cast<int>(place) + 1) >> width_log2);
    const GroupRange range = exists ? RangeOf(parameters, group) : GroupRange{0, 0};
    const T* const elements = static_cast<const T*>(parameters.elements) + range.begin;
    const uint32_t size = static_cast<uint32_t>(range.size);
    LaneWords<T> words(warp_words.OfLane(warp.thread_rank()));
    uint32_t flags = 0;
    if constexpr (Words::kIsDouble) {
      // Where there are infinities or NaN, nothing need be added.
      flags = FlagsOfGroups(warp, elements, size, rank, sharers);
    }
    ForEachOfShare(
        elements, (flags & kSawNan) != 0 ? 0 : size, rank, sharers, [&](auto x) { words.Add(x); },
        [&] { words.EndBatch(); });
    auto sum = words.Join(warp, [&](int64_t mine) {
      if constexpr (Words::kColumnLanes > 1) {
#pragma unroll 1
        for (uint32_t distance = sharers / 2; distance >= Words::kColumnLanes; distance /= 2) {
          mine += warp.shfl_xor(mine, distance);
        }
        return mine;
      } else {
        if (sharers < ReduceTuning::kWarpThreads) return SumOfLanes(warp, sharers, mine);
        return static_cast<int64_t>(SumOfWarp(static_cast<uint64_t>(mine)));
      }
    });
    if constexpr (!Words::kIsDouble) flags = BitsOfLanes(warp, sharers, words.flags());
    sum.AddFlags(flags);
    if (exists && rank == 0) FinishExactSum<T>(parameters, group, range.size, sum);
    warp.sync();
    if constexpr (Words::kColumns < ReduceTuning::kWarpThreads) {
      lanes = WithoutFirst(lanes, Words::kColumns);
    } else {
      lanes = 0;
    }
  } while (lanes != 0);
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_WORDS_CUH_
