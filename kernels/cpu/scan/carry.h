// What scans carry from tile to tile, joined as numerics/scans/tree.h prescribes.
#ifndef GRIDFOLD_KERNELS_CPU_SCAN_CARRY_H_
#define GRIDFOLD_KERNELS_CPU_SCAN_CARRY_H_

#include "kernels/numerics/scans/operator.h"
#include "kernels/numerics/scans/tree.h"

namespace gridfold::kernels::cpu {

// Values of one group, or of several groups in a row.
template <class Operator, bool kGrouped>
struct Carried {
  using Type = typename Operator::Value;
  static Type Identity() { return Operator::Identity(); }
  static Type Join(const Type& a, const Type& b) { return Operator::Combine(a, b); }
  static Type Of(const typename Operator::Value& value, bool) { return value; }
  static const typename Operator::Value& ValueOf(const Type& carried) { return carried; }
};

template <class Operator>
struct Carried<Operator, true> {
  using Type = GroupedValue<typename Operator::Value>;
  static Type Identity() { return {Operator::Identity(), false}; }
  static Type Join(const Type& a, const Type& b) { return CombineGrouped<Operator>(a, b); }
  static Type Of(const typename Operator::Value& value, bool starts_group) {
    return {value, starts_group};
  }
  static const typename Operator::Value& ValueOf(const Type& carried) { return carried.value; }
};

// The doubling network over kScanLanes values, in place.
template <class Carry>
inline void ScanLanes(typename Carry::Type* lanes) {
  for (int d = 1; d < kScanLanes; d *= 2) {
    for (int lane = kScanLanes - 1; lane >= d; --lane) {
      lanes[lane] = Carry::Join(lanes[lane - d], lanes[lane]);
    }
  }
}

// The carries of tiles, one after the other. The network over a block of tiles is evaluated as the
// totals come: its inner values are kept.
template <class Carry>
class CarryChain {
 public:
  using Type = typename Carry::Type;

  CarryChain() = default;
  explicit CarryChain(const Type& before) : block_(before) {}

  // The carry into the next tile.
  Type Next() const { return lane_ == 0 ? block_ : Carry::Join(block_, scanned_); }

  // Takes the total of that tile.
  void Push(const Type& total) {
    scanned_ = total;
    for (int level = 0, d = 1; d < kScanTilesPerBlock; ++level, d *= 2) {
      levels_[level][lane_] = scanned_;
      if (lane_ >= d) scanned_ = Carry::Join(levels_[level][lane_ - d], scanned_);
    }
    if (++lane_ < kScanTilesPerBlock) return;
    block_ = Carry::Join(block_, scanned_);
    lane_ = 0;
  }

 private:
  static constexpr int kLevels = 5;
  static_assert(1 << kLevels == kScanTilesPerBlock);

  Type block_ = Carry::Identity();
  Type scanned_ = Carry::Identity();  // Result of the network for the lane before lane_.
  Type levels_[kLevels][kScanTilesPerBlock];
  int lane_ = 0;
};

// The carries of the tiles of a column: those of a block are joined one after the other.
template <class Carry>
class ColumnCarryChain {
 public:
  using Type = typename Carry::Type;

  Type Next() const { return Carry::Join(block_, joined_); }
  void Push(const Type& total) {
    joined_ = Carry::Join(joined_, total);
    if (++place_ < kScanTilesPerBlock) return;
    block_ = Carry::Join(block_, joined_);
    joined_ = Carry::Identity();
    place_ = 0;
  }

 private:
  Type block_ = Carry::Identity();
  Type joined_ = Carry::Identity();
  int place_ = 0;
};

// The carries of the tiles of a column where joining is exactly associative.
template <class Carry>
class ExactCarryChain {
 public:
  using Type = typename Carry::Type;

  ExactCarryChain() = default;
  explicit ExactCarryChain(const Type& before) : carry_(before) {}

  Type Next() const { return carry_; }
  void Push(const Type& total) { carry_ = Carry::Join(carry_, total); }

 private:
  Type carry_ = Carry::Identity();
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_SCAN_CARRY_H_
