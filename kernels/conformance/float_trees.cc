#include "kernels/conformance/float_trees.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace gridfold::kernels::conformance {

namespace {

UnboundedFloat MultiplyNeighbours(std::vector<UnboundedFloat> level) {
  while (level.size() > 1) {
    std::vector<UnboundedFloat> next;
    for (size_t i = 0; i < level.size(); i += 2) {
      next.push_back(i + 1 < level.size() ? level[i].Times(level[i + 1]) : level[i]);
    }
    level = next;
  }
  return level.empty() ? UnboundedFloat::Of(1) : level[0];
}

// A value, and whether a group starts within what it stands for.
struct Carried {
  UnboundedFloat value;
  bool starts;
};

// How many of the one make the next, and whether the tiles of a block are joined by the network or
// from left to right.
struct TreeShape {
  size_t run;
  size_t runs_per_warp;
  size_t warps;
  bool is_in_a_row;

  size_t tile() const { return run * runs_per_warp * warps; }
};

class ScanTree {
 public:
  ScanTree(const TreeShape& shape, const std::vector<double>& values,
           const std::vector<bool>& starts, FloatOperation operation)
      : shape_(shape), values_(values), starts_(starts), operation_(operation) {}

  std::vector<double> Results(bool exclusive) const {
    std::vector<Carried> totals;
    for (size_t begin = 0; begin < values_.size(); begin += shape_.tile()) {
      totals.push_back(TotalOfTile(begin));
    }
    std::vector<double> results(values_.size());
    Carried block = Identity();
    for (size_t first = 0; first < totals.size(); first += kTilesPerBlock) {
      std::vector<Carried> network(kTilesPerBlock, Identity());
      const size_t count = std::min(kTilesPerBlock, totals.size() - first);
      std::copy_n(totals.begin() + static_cast<ptrdiff_t>(first), count, network.begin());
      network = shape_.is_in_a_row ? DoublingNetwork(network) : LeftToRight(network);
      for (size_t j = 0; j < count; ++j) {
        const Carried carry = j == 0 ? block : Join(block, network[j - 1]);
        ScanTile((first + j) * shape_.tile(), carry, exclusive, results);
      }
      block = Join(block, network.back());
    }
    return results;
  }

 private:
  static constexpr size_t kTilesPerBlock = 32;

  Carried Identity() const { return {operation_.Identity(), false}; }

  Carried Join(Carried a, Carried b) const {
    if (b.starts) return b;
    return {operation_.Join(a.value, b.value), a.starts};
  }

  std::vector<Carried> DoublingNetwork(std::vector<Carried> lanes) const {
    for (size_t distance = 1; distance < lanes.size(); distance *= 2) {
      const std::vector<Carried> before = lanes;
      for (size_t l = distance; l < lanes.size(); ++l) {
        lanes[l] = Join(before[l - distance], before[l]);
      }
    }
    return lanes;
  }

  std::vector<Carried> LeftToRight(std::vector<Carried> values) const {
    for (size_t i = 1; i < values.size(); ++i) values[i] = Join(values[i - 1], values[i]);
    return values;
  }

  // Running values of the run that starts at `begin`; empty past the end.
  std::vector<Carried> Run(size_t begin) const {
    std::vector<Carried> running;
    for (size_t p = begin; p < std::min(begin + shape_.run, values_.size()); ++p) {
      const Carried element{UnboundedFloat::Of(values_[p]), starts_[p]};
      running.push_back(running.empty() ? element : Join(running.back(), element));
    }
    return running;
  }

  // The network over the last running values of a warp's runs.
  std::vector<Carried> Warp(size_t begin) const {
    std::vector<Carried> lanes;
    for (size_t l = 0; l < shape_.runs_per_warp; ++l) {
      const std::vector<Carried> run = Run(begin + l * shape_.run);
      lanes.push_back(run.empty() ? Identity() : run.back());
    }
    return DoublingNetwork(lanes);
  }

  Carried TotalOfTile(size_t begin) const {
    Carried total = Identity();
    for (size_t w = 0; w < shape_.warps; ++w) {
      total = Join(total, Warp(begin + w * shape_.run * shape_.runs_per_warp).back());
    }
    return total;
  }

  void ScanTile(size_t begin, Carried carry, bool exclusive, std::vector<double>& results) const {
    Carried warps_before = Identity();
    for (size_t w = 0; w < shape_.warps; ++w) {
      const size_t warp_begin = begin + w * shape_.run * shape_.runs_per_warp;
      const std::vector<Carried> warp = Warp(warp_begin);
      for (size_t l = 0; l < shape_.runs_per_warp; ++l) {
        const Carried runs_before = l == 0 ? Identity() : warp[l - 1];
        const Carried base = Join(carry, Join(warps_before, runs_before));
        ScanRun(warp_begin + l * shape_.run, base, exclusive, results);
      }
      warps_before = Join(warps_before, warp.back());
    }
  }

  void ScanRun(size_t begin, Carried base, bool exclusive, std::vector<double>& results) const {
    const std::vector<Carried> run = Run(begin);
    for (size_t k = 0; k < run.size(); ++k) {
      const size_t p = begin + k;
      if (!exclusive) {
        results[p] = Join(base, run[k]).value.Rounded();
      } else if (starts_[p]) {
        results[p] = operation_.EmptyResult();
      } else {
        results[p] = (k == 0 ? base : Join(base, run[k - 1])).value.Rounded();
      }
    }
  }

  const TreeShape shape_;
  const std::vector<double>& values_;
  const std::vector<bool>& starts_;
  const FloatOperation operation_;
};

}  // namespace

UnboundedFloat UnboundedFloat::Normalised() const {
  if (fraction == 0 || !std::isfinite(fraction)) return {fraction, 0};
  int own = 0;
  const double normalised = std::frexp(fraction, &own);
  return {normalised, exponent + own};
}

UnboundedFloat UnboundedFloat::Times(UnboundedFloat other) const {
  const UnboundedFloat a = Normalised();
  const UnboundedFloat b = other.Normalised();
  return {a.fraction * b.fraction, a.exponent + b.exponent};
}

UnboundedFloat UnboundedFloat::Plus(UnboundedFloat other) const {
  if (exponent == 0 && other.exponent == 0) {
    const UnboundedFloat sum = Of(fraction + other.fraction);
    if (std::isfinite(sum.fraction)) return sum;
  }
  // Large ones are added far below the largest number. What is lost of a small one then is less
  // than a rounding can show.
  constexpr int kShift = 200;
  const auto shifted = [&](const UnboundedFloat& x) {
    return UnboundedFloat{x.fraction, x.exponent - kShift}.Rounded();
  };
  const double sum = shifted(*this) + shifted(other);
  if (std::fabs(sum) < 0x1p800) return Of(std::ldexp(sum, kShift));
  return {sum, kShift};
}

double UnboundedFloat::Rounded() const {
  const UnboundedFloat normalised = Normalised();
  return std::ldexp(normalised.fraction,
                    static_cast<int>(std::clamp<int64_t>(normalised.exponent, -5000, 5000)));
}

UnboundedFloat FloatOperation::Join(UnboundedFloat a, UnboundedFloat b) const {
  if (!is_product) return a.Plus(b);
  // Far from the ends of the range this is Times(), in a tenth of the time.
  const double plain = a.fraction * b.fraction;
  const bool is_near_one = std::fabs(plain) > 0x1p-500 && std::fabs(plain) < 0x1p500;
  return is_near_one && a.exponent == 0 && b.exponent == 0 ? UnboundedFloat::Of(plain) : a.Times(b);
}

double ProductByTree(const std::vector<double>& factors) {
  constexpr size_t kTile = 512;
  constexpr size_t kLanes = 32;
  std::vector<UnboundedFloat> tiles;
  for (size_t begin = 0; begin < factors.size(); begin += kTile) {
    std::vector<UnboundedFloat> lanes(kLanes, UnboundedFloat::Of(1));
    for (size_t i = begin; i < std::min(begin + kTile, factors.size()); ++i) {
      lanes[i % kLanes] = lanes[i % kLanes].Times(UnboundedFloat::Of(factors[i]));
    }
    tiles.push_back(MultiplyNeighbours(lanes));
  }
  return MultiplyNeighbours(tiles).Rounded();
}

std::vector<double> ScanByTree(const std::vector<double>& values,
                               const std::vector<bool>& starts_group, FloatOperation operation,
                               bool exclusive) {
  const TreeShape shape{.run = 16, .runs_per_warp = 32, .warps = 8, .is_in_a_row = true};
  return ScanTree(shape, values, starts_group, operation).Results(exclusive);
}

std::vector<double> ScanColumnByTree(const std::vector<double>& values, size_t columns,
                                     FloatOperation operation, bool exclusive) {
  std::vector<bool> starts(values.size());
  if (!starts.empty()) starts[0] = true;
  if (columns == 1) return ScanByTree(values, starts, operation, exclusive);
  size_t runs_per_warp = 32;
  while (runs_per_warp > 1 && runs_per_warp * columns > 32) runs_per_warp /= 2;
  const TreeShape shape{
      .run = 64, .runs_per_warp = runs_per_warp, .warps = 4, .is_in_a_row = false};
  return ScanTree(shape, values, starts, operation).Results(exclusive);
}

}  // namespace gridfold::kernels::conformance
