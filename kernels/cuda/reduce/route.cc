#include "kernels/cuda/reduce/route.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <optional>

#include "absl/strings/str_cat.h"
#include "kernels/contract/strategy_error.h"
#include "kernels/cuda/device/scratch.h"
#include "kernels/cuda/reduce/plan/group_geometry.h"
#include "kernels/cuda/reduce/plan/kernel_choice.h"
#include "kernels/cuda/reduce/plan/pair_tuning.h"
#include "kernels/cuda/reduce/plan/row_moment_shape.h"
#include "kernels/cuda/reduce/plan/row_moments.h"
#include "kernels/cuda/reduce/plan/singles.h"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/cuda/reduce/product.h"
#include "kernels/numerics/statistics/reduction_state.h"
#include "kernels/numerics/statistics/single_value.h"

namespace gridfold::kernels::cuda {

namespace {

bool IsFloatingProduct(const ReductionPlan& plan, Statistic statistic) {
  return statistic == Statistic::kProduct && IsFloatingPoint(plan.array.element_type);
}

uint64_t GroupBytes(const ReductionPlan& plan) {
  return plan.grouping.group_size * ElementSize(plan.array.element_type);
}

// Whether the elements are nothing but aligned vectors, of which each group has some, or some
// groups share one.
bool AreInVectors(const ReductionFacts& facts) {
  const uint64_t group_bytes = GroupBytes(facts.plan);
  return facts.is_aligned && facts.plan.grouping.kind != GroupingKind::kSegments &&
         !facts.plan.array.pitches && group_bytes > 0 &&
         facts.plan.array.size_bytes() % ReduceTuning::kVectorBytes == 0 &&
         (group_bytes % ReduceTuning::kVectorBytes == 0 ||
          ReduceTuning::kVectorBytes % group_bytes == 0);
}

// Whether groups are a vector, or half of one, of elements of which sums are kept in pairs.
bool AreVectorSums(const ReductionFacts& facts) {
  const uint64_t group_bytes = GroupBytes(facts.plan);
  return facts.plan.array.element_type != ElementType::kFloat64 && AreInVectors(facts) &&
         (group_bytes == ReduceTuning::kVectorBytes ||
          group_bytes == ReduceTuning::kVectorBytes / 2);
}

// Whether groups and what is asked for are what ReduceRowSums requires.
bool AreRowSums(const ReductionFacts& facts) {
  const uint64_t vectors = GroupBytes(facts.plan) / ReduceTuning::kVectorBytes;
  return AreInVectors(facts) && std::has_single_bit(vectors) &&
         vectors <= ReduceTuning::kWarpThreads && !facts.plan.return_states;
}

// Whether warps have so many turns of row sums that one whose sums may be rounded is not felt; or
// rows are so short, and many, that lanes of groups would read too little at a time: 64 MiB of rows
// of four float64 take 26 us in place of 47 (H200, route_report.py --mib 64).
bool HaveManyTurns(const ReductionPlan& plan, const ReductionGeometry& geometry) {
  constexpr uint64_t kTurnVectors = PairTuning::kRowVectorsInFlight * ReduceTuning::kWarpThreads;
  constexpr uint64_t kShortVectors = 2;
  constexpr uint64_t kManyShortBytes = uint64_t{16} << 20;
  constexpr uint64_t kSmallBytes = uint64_t{4} << 20;  // 0.76 to 0.95 of the time (--mib 1, 4).
  const uint64_t vectors = GroupBytes(plan) / ReduceTuning::kVectorBytes;
  const uint64_t warps =
      uint64_t{geometry.grid_blocks} * geometry.block_threads / ReduceTuning::kWarpThreads;
  if (plan.array.size_bytes() <= kSmallBytes) return true;
  if (vectors <= kShortVectors && plan.array.size_bytes() >= kManyShortBytes) return true;
  return plan.grouping.group_count * vectors >= PairTuning::kRowTurnsMin * kTurnVectors * warps;
}

bool AreRowMoments(const ReductionPlan& plan) {
  return plan.grouping.kind != GroupingKind::kSegments && !plan.array.pitches &&
         !plan.return_states && AreMomentsOfRows(ParametersOf(plan), plan.array.element_type);
}

ReductionKernel SumKernelOf(const ReductionFacts& facts, const ReductionGeometry& geometry,
                            WantedKernel wanted) {
  using enum ReductionKernel;
  if (geometry.queued_segments_max > 0 || wanted == kGroupSums) return kGroupSums;
  if (AreVectorSums(facts) && wanted != kRowSums) return kVectorSums;
  const bool are_worth_it = wanted == kRowSums || HaveManyTurns(facts.plan, geometry);
  return AreRowSums(facts) && are_worth_it ? kRowSums : kGroupSums;
}

// The kernel of groups by lanes of a warp.
ReductionKernel GroupKernelFor(const ReductionFacts& facts, GroupKernel group_kernel,
                               const ReductionGeometry& geometry, WantedKernel wanted) {
  using enum ReductionKernel;
  const bool may_be_moments = (!wanted || wanted == kRowMoments) && AreRowMoments(facts.plan) &&
                              geometry.queued_segments_max == 0;
  // A second kernel takes what the one of row moments leaves, which is felt where there is little:
  // 2,048 rows of 64 float64 take 8.4 us, in pairs 7.0 (H200, route_report.py --mib 1), 131,072 of
  // four 1.24 times (--mib 4).
  constexpr uint64_t kPairBytesMax = uint64_t{4} << 20;
  const bool are_pairs = !wanted && facts.plan.array.size_bytes() <= kPairBytesMax;
  switch (group_kernel) {
    case GroupKernel::kStates: return kTiles;
    case GroupKernel::kPairs: return SumKernelOf(facts, geometry, wanted);
    case GroupKernel::kIntegerStrips: return may_be_moments ? kRowMoments : kIntegerStrips;
    case GroupKernel::kFixedPoint: return may_be_moments ? kRowMoments : kFixedPoint;
    case GroupKernel::kMomentPairs: return may_be_moments && !are_pairs ? kRowMoments : kPairTiles;
    case GroupKernel::kExtremes: break;
  }
  if (geometry.has_warp_rows) return kWarpExtremes;
  return geometry.has_brief_rows ? kBriefExtremes : kRowExtremes;
}

ReductionKernel FirstColumnKernelFor(ColumnKernel column_kernel, ReductionForm form) {
  using enum ReductionKernel;
  const bool is_whole = form == ReductionForm::kWholeColumns;
  if (column_kernel == ColumnKernel::kDoublesFirst) {
    return is_whole ? kWholeDoubleColumns : kDoubleColumns;
  }
  return is_whole ? kWholeMomentColumns : kMomentColumns;
}

ReductionKernel KernelFor(const ReductionFacts& facts, const KernelKind& kind,
                          const ReductionGeometry& geometry, WantedKernel wanted) {
  using enum ReductionKernel;
  const bool in_pairs = kind.column_kernel == ColumnKernel::kPairs;
  switch (geometry.form) {
    case ReductionForm::kBlocks: return kBlocks;
    case ReductionForm::kBlockSums: return kBlockSums;
    case ReductionForm::kStrips:
      if (kind.group_kernel == GroupKernel::kPairs) return kStripSums;
      [[fallthrough]];
    case ReductionForm::kTiles:
    case ReductionForm::kGroupSums:
      return GroupKernelFor(facts, kind.group_kernel, geometry, wanted);
    case ReductionForm::kColumns:
      return geometry.first_columns.grid_blocks == 0
                 ? kColumns
                 : FirstColumnKernelFor(kind.column_kernel, geometry.first_columns.form);
    case ReductionForm::kColumnItems: return in_pairs ? kColumnSums : kColumnVectors;
    case ReductionForm::kWholeColumns: return in_pairs ? kWholeColumnSums : kWholeColumnVectors;
    case ReductionForm::kShallowColumnSums: break;
  }
  return kShallowColumnSums;
}

ReductionLeftovers LeftoversOf(ReductionKernel kernel, ElementType type,
                               const ReductionGeometry& geometry) {
  if (geometry.queued_segments_max > 0) return ReductionLeftovers::kLongSegments;
  if (geometry.first_columns.grid_blocks > 0) return ReductionLeftovers::kTiles;
  const bool leaves_rows = kernel == ReductionKernel::kRowMoments && IsFloatingPoint(type);
  return leaves_rows ? ReductionLeftovers::kRows : ReductionLeftovers::kNone;
}

uint32_t AllParts(ElementType type) {
  return VisitElementType(type,
                          [](auto tag) { return kFullPartSet<typename decltype(tag)::type>; });
}

// Whether groups are rows of one element, of which ReduceSingles has all statistics.
bool AreSingles(const ReductionPlan& plan) {
  const GroupingKind kind = plan.grouping.kind;
  const bool are_rows = kind == GroupingKind::kAxis1 || kind == GroupingKind::kWhole;
  if (!are_rows || plan.grouping.group_size != 1 || plan.return_states) return false;
  const ReductionParameters parameters = ParametersOf(plan);
  StatisticSet wanted;
  for (uint32_t i = 0; i < parameters.statistic_count; ++i) wanted.Add(parameters.statistics[i]);
  constexpr StatisticSet kNeedFreedom = {Statistic::kVariance, Statistic::kStandardDeviation,
                                         Statistic::kStandardError};
  return SingleStatistics().HasAll(wanted) &&
         (plan.delta_degrees_of_freedom == 0 || !wanted.HasAny(kNeedFreedom));
}

ReductionRoute RouteOfSingles(const ReductionFacts& facts) {
  ReductionRoute route{.kernel = ReductionKernel::kSingles};
  const uint64_t blocks_max = SingleTuning::kBlocksPerMultiprocessor *
                              static_cast<uint64_t>(facts.properties.multiprocessor_count);
  route.geometry.block_threads = SingleTuning::kThreads;
  route.geometry.grid_blocks =
      GridStrideBlocks(facts.plan.grouping.group_count, SingleTuning::kThreads, blocks_max);
  return route;
}

// The route of groups that are reduced as they stand, with its scratch alone.
ReductionRoute RouteInPlace(const ReductionFacts& facts, uint32_t parts, WantedKernel wanted) {
  const ElementType type = facts.plan.array.element_type;
  ReductionRoute route;
  if (AreSingles(facts.plan) && (!wanted || wanted == ReductionKernel::kSingles)) {
    route = RouteOfSingles(facts);
    route.parts = parts;
    return route;
  }
  route.parts = parts;
  route.geometry = PlanReductionGeometry(facts.plan, parts, facts.properties, wanted);
  route.kernel = KernelFor(facts, KernelKindOf(type, parts), route.geometry, wanted);
  route.leftovers = LeftoversOf(route.kernel, type, route.geometry);
  if (route.kernel == ReductionKernel::kRowMoments) {
    const Grouping& rows = facts.plan.grouping;
    route.geometry.grid_blocks =
        PlanRowMoments(type, rows.group_count, rows.group_size, facts.properties).grid_blocks;
    route.geometry.block_threads = RowMomentTuning::kThreads;
    route.geometry.word_bytes = 0;
  }
  route.scratch_bytes = GeometryScratchBytes(route.geometry);
  return route;
}

ReductionRoute RouteTransposed(const ReductionFacts& facts, uint32_t parts, WantedKernel wanted) {
  const ReductionPlan rows = AsRows(facts.plan);
  ReductionRoute route = RouteInPlace({rows, facts.properties, true}, parts, wanted);
  route.is_transposed = true;
  route.scratch_bytes += ScratchBytes(facts.plan.array.size_bytes());
  return route;
}

ReductionRoute WithProduct(const ReductionPlan& plan, ReductionRoute route) {
  route.has_product = HasFloatingProduct(plan);
  if (route.has_product) route.scratch_bytes += ProductScratchBytes(plan);
  return route;
}

bool HasOnlyFloatingProduct(const ReductionPlan& plan) {
  return plan.statistics.size() == 1 && HasFloatingProduct(plan);
}

// Columns of integers of which several statistics, norms or counts are asked for are faster as the
// general kernel's states, or as rows, than by vectors whose blocks join. Microseconds on an H200
// (shape_benchmark.py --strategies), those of vectors first, then those of what is chosen here:
//
//   uint8  [238,990, 4] mean, variance   107   30 states      int8  [5533, 5] nonzero  65   31 rows
//   uint8  [1,823,557, 4] four           136   54 states      int16 [852, 365] std     53   29 rows
//   uint8  [25,450,059, 2] nonzero       181  136 states      int8  [189, 37] mean     60   25 rows
//   int8   [483,477, 24] mean, variance  129   94 rows        uint32 [2662, 49]        35   25 rows
//
// So are sums and extremes of small matrices of narrow elements, whichever of them are taken by
// vectors (route_report.py --mib 1):
//
//   int8    [262,144, 4] sum   25  17 rows      int8  [1048, 1000] argmax  36  15 rows
//   float16 [8192, 64] argmax  28  19 rows      int32 [65,536, 4] four     23  17 states
//
// and several of somewhat larger ones (--mib 4, 16), and of few rows:
//
//   int64   [8192, 64] four    35  24 states    int32 [1048, 1000] four    28  25 states
//   int64   [2097, 1000] four  37  30 states    int8  [4194, 1000] four    71  31 rows
//   int8    [4, 2^20] four     70  39 rows      int64 [2, 2^20] four      108  56 rows
//   float16 [2, 2^20] argmax   35  29 rows
//
// So it is up to some size (route_report.py --mib 64):
//
//   int8   [2^20, 64] four               161  333 rows        int8  [2^24, 4] four    151  206
//   states
enum class Instead { kVectors, kStates, kRows };

Instead InsteadOfVectors(const ReductionPlan& plan, uint32_t parts) {
  constexpr uint64_t kSmallBytes = uint64_t{1} << 20;
  constexpr uint64_t kStateBytesMax = uint64_t{52} << 20;
  constexpr uint64_t kRowBytesMax = uint64_t{16} << 20;
  constexpr uint64_t kSomeBytes = uint64_t{4} << 20;
  constexpr uint64_t kFewestColumns = 4;
  constexpr uint64_t kFewColumns = 8;
  constexpr uint64_t kNarrowColumns = 64;
  constexpr uint64_t kSomeColumns = 512;
  constexpr uint64_t kSomeColumnsOfFewBytes = 1024;
  const ElementType type = plan.array.element_type;
  const bool are_in_vectors = KernelKindOf(type, parts).column_kernel == ColumnKernel::kVectors;
  // States have the form that the parts say (Lane::ResidentStateBytes).
  if (!are_in_vectors || plan.return_states || !CanBeReducedAsRows(plan)) return Instead::kVectors;
  const uint64_t element_bytes = ElementSize(type);
  const uint64_t bytes = plan.array.size_bytes();
  const bool are_tall = plan.grouping.group_size > ColumnVectorTuning::kBriefRowsMax;
  const bool are_narrow = element_bytes <= 2 && are_tall;
  const bool are_moments = !IsFloatingPoint(type) && (parts & ~kSumPart) != 0 &&
                           (parts & ~kExtremesPart) != 0 && (parts & ~kCorePartSet) == 0;
  const uint64_t rows = plan.grouping.group_size;
  const uint64_t columns = plan.grouping.group_count;
  if (!are_moments) {
    const bool are_pairs = rows == 2 && element_bytes != sizeof(float) && (parts & kSumPart) == 0;
    const bool are_small =
        bytes <= kSmallBytes || (bytes <= kSomeBytes && columns <= kNarrowColumns);
    return are_pairs || (are_narrow && are_small) ? Instead::kRows : Instead::kVectors;
  }
  if (rows <= (element_bytes == sizeof(int64_t) ? 8 : 4)) return Instead::kRows;
  if (are_tall && element_bytes >= sizeof(int32_t) && bytes > kSmallBytes / 2) {
    const uint64_t bytes_max = element_bytes == sizeof(int64_t) ? kRowBytesMax : kSomeBytes;
    const bool are_few = columns <= kFewestColumns || bytes > kSmallBytes;
    if (are_few && bytes <= bytes_max) return Instead::kStates;
  }
  if (are_narrow && columns <= kFewColumns && bytes > kSmallBytes / 2) {
    return bytes <= kStateBytesMax ? Instead::kStates : Instead::kVectors;
  }
  const bool are_small = bytes <= kSmallBytes && (are_tall || element_bytes == 1);
  const bool are_some = are_narrow && ((columns <= kSomeColumns && bytes <= kRowBytesMax) ||
                                       (columns <= kSomeColumnsOfFewBytes && bytes <= kSomeBytes));
  return are_small || are_some ? Instead::kRows : Instead::kVectors;
}

// Whether segments of floating-point elements are so few and long that a warp for each of them
// leaves much of a device idle, and the general kernel's states, whose tiles share one, take less
// time where several statistics are asked for. Four of 2,023 segments of float32 of 1 to 64 KiB:
// 114 us in place of 319 (H200, route_report.py --mib 64).
bool AreFewLongSegments(const ReductionPlan& plan, uint32_t parts) {
  constexpr uint64_t kSome = 256;  // 27 of them take 31 us in fixed point, and 45 as states.
  constexpr uint64_t kFew = 3072;
  constexpr uint64_t kLongBytes = uint64_t{16} << 10;
  constexpr uint64_t kLongestBytesMax = uint64_t{64} << 10;
  const Grouping& grouping = plan.grouping;
  return grouping.kind == GroupingKind::kSegments && !plan.return_states &&
         IsFloatingPoint(plan.array.element_type) && (parts & ~kSumPart) != 0 &&
         (parts & ~kExtremesPart) != 0 && (parts & ~kCorePartSet) == 0 &&
         grouping.group_count >= kSome && grouping.group_count <= kFew &&
         GroupBytes(plan) <= kLongestBytesMax &&
         plan.array.size_bytes() >= grouping.group_count * kLongBytes;
}

ReductionRoute BestRoute(const ReductionFacts& facts) {
  if (facts.plan.grouping.group_count == 0) return {};
  if (HasOnlyFloatingProduct(facts.plan)) {
    return WithProduct(facts.plan, {.kernel = ReductionKernel::kProduct});
  }
  const uint32_t parts = ReductionParts(facts.plan);
  const Instead instead = InsteadOfVectors(facts.plan, parts);
  if (instead == Instead::kRows || AreReducedAsRows(facts.plan)) {
    // Kernels of rows that keep nothing but extremes answer less than those of columns.
    const uint32_t of_rows = facts.plan.return_states ? parts : ReductionParts(AsRows(facts.plan));
    return WithProduct(facts.plan, RouteTransposed(facts, of_rows, std::nullopt));
  }
  const bool are_states = instead == Instead::kStates || AreFewLongSegments(facts.plan, parts);
  const uint32_t kept = are_states ? AllParts(facts.plan.array.element_type) : parts;
  ReductionRoute route = RouteInPlace(facts, kept, std::nullopt);
  // Blocks take any rows.
  const bool takes_pitch = !facts.plan.array.pitches || TraitsOf(route.kernel).has_pitch;
  if (!takes_pitch) route = RouteInPlace(facts, kept, ReductionKernel::kBlocks);
  return WithProduct(facts.plan, std::move(route));
}

// What kernels may keep for a plan that needs `parts`, the least first.
std::vector<uint32_t> PartChoices(ElementType type, uint32_t parts) {
  const uint32_t full = AllParts(type);
  std::vector<uint32_t> choices = {parts};
  if ((parts & ~kCorePartSet) == 0) choices.push_back(kCorePartSet);
  choices.push_back(full);
  return choices;
}

// Every route that can take the plan, the best first; of each strategy the one that keeps least.
std::vector<ReductionRoute> AllRoutes(const ReductionFacts& facts) {
  const ReductionPlan& plan = facts.plan;
  std::vector<ReductionRoute> routes = {BestRoute(facts)};
  // There is one way to take no elements, and products.
  if (routes[0].family() == ReductionFamily::kNothing ||
      routes[0].family() == ReductionFamily::kProduct || plan.array.element_count == 0) {
    return routes;
  }
  const uint64_t scratch_bytes_max = ReductionScratchBytesMax(
      plan.array.size_bytes(), plan.grouping.group_count, facts.properties);
  const auto add = [&](ReductionKernel kernel, const ReductionRoute& route) {
    const bool is_new =
        std::none_of(routes.begin(), routes.end(), [&](const ReductionRoute& other) {
          return other.kernel == kernel && other.is_transposed == route.is_transposed;
        });
    const ReductionRoute whole = WithProduct(plan, route);
    if (route.kernel == kernel && is_new && whole.scratch_bytes <= scratch_bytes_max) {
      routes.push_back(whole);
    }
  };
  for (const ReductionKernelTraits& traits : kReductionKernels) {
    for (const uint32_t parts : PartChoices(plan.array.element_type, ReductionParts(plan))) {
      add(traits.kernel, RouteInPlace(facts, parts, traits.kernel));
    }
    if (!CanBeReducedAsRows(plan)) continue;
    for (const uint32_t parts :
         PartChoices(plan.array.element_type, ReductionParts(AsRows(plan)))) {
      add(traits.kernel, RouteTransposed(facts, parts, traits.kernel));
    }
  }
  return routes;
}

std::vector<std::string> NamesOf(const std::vector<ReductionRoute>& routes) {
  std::vector<std::string> names;
  std::transform(routes.begin(), routes.end(), std::back_inserter(names),
                 [](const ReductionRoute& route) { return route.strategy(); });
  return names;
}

const char* FamilyName(ReductionFamily family) {
  switch (family) {
    case ReductionFamily::kLong: return "long/";
    case ReductionFamily::kGroups: return "groups/";
    case ReductionFamily::kColumns: return "columns/";
    case ReductionFamily::kNothing:
    case ReductionFamily::kProduct: break;
  }
  return "";
}

// Whether kernels take a stack's columns: a lane's vector is of neighbouring columns, which must
// not be of two matrices.
bool TakesStack(const ReductionFacts& facts) {
  const Grouping& grouping = facts.plan.grouping;
  if (grouping.matrices == 1) return true;
  if (HasFloatingProduct(facts.plan)) return false;
  const ArrayDescription& array = facts.plan.array;
  const uint64_t matrix_pitch = array.pitches ? array.pitches->matrix : 0;
  const uint64_t pitches = grouping.columns() | array.row_pitch() | matrix_pitch;
  return facts.is_aligned &&
         pitches * ElementSize(array.element_type) % ReduceTuning::kVectorBytes == 0;
}

// Whether rows of a view are so short that a block for each of them takes longer than a copy.
bool AreShortForBlocks(const ReductionFacts& facts) {
  constexpr uint64_t kRowBytesMin = 16 << 10;
  const ReductionPlan& plan = facts.plan;
  return plan.array.pitches && plan.grouping.kind == GroupingKind::kAxis1 &&
         GroupBytes(plan) < kRowBytesMin && BestRoute(facts).kernel == ReductionKernel::kBlocks;
}

// Whether states of rows are asked for that take longer than another copy of the array: exact ones
// of several statistics of floating-point rows. H200, means and variances of [64, 64, 256, 256]
// along axes 0 and 3: float32 1,190 us, of a copy 928; of [32, 256, 56, 56] along 0, 2 and 3: 135
// and 164; float64 8,694 and 457 us where sums take 1,517 and 96; of all of 2^14 rows of 128 KiB of
// float64 that lie apart 2,303, of a copy some 1,650.
bool AreSlowStates(const ReductionFacts& facts) {
  constexpr uint64_t kLongRowBytes = 8 << 10;
  if (!facts.plan.return_states || facts.plan.grouping.kind == GroupingKind::kAxis0) return false;
  constexpr uint64_t kLongDoubleRowBytes = 256 << 10;
  const ReductionRoute route = BestRoute(facts);
  const uint64_t row_bytes = GroupBytes(facts.plan);
  const bool are_doubles = facts.plan.array.element_type == ElementType::kFloat64 &&
                           (route.parts & ~(kSumPart | kExtremesPart)) != 0;
  return route.kernel == ReductionKernel::kPairTiles ||
         (route.kernel == ReductionKernel::kFixedPoint && row_bytes < kLongRowBytes) ||
         (are_doubles && row_bytes < kLongDoubleRowBytes);
}

// Tells where groups lie.
void PlacesOf(const ReductionPlan& plan, ReductionParameters& parameters) {
  const ArrayDescription& array = plan.array;
  const Grouping& grouping = plan.grouping;
  const bool are_columns = grouping.kind == GroupingKind::kAxis0;
  parameters.columns = grouping.columns();
  parameters.row_pitch = are_columns ? grouping.columns() : grouping.group_size;
  parameters.matrix_groups = grouping.columns();
  parameters.matrix_skip = (grouping.group_size - 1) * grouping.columns();
  parameters.span_elements = array.span_elements();
  if (!array.pitches) return;
  const uint64_t step = are_columns ? 1 : array.pitches->row;
  parameters.row_pitch = array.pitches->row;
  parameters.matrix_groups = are_columns ? array.columns : array.rows;
  // Of interleaved matrices it is negative: 64 bits wrap.
  parameters.matrix_skip = array.pitches->matrix - parameters.matrix_groups * step;
}

// Whether bounds can tell the statistic's values (reduce/core/bounded_values.cuh).
bool IsBounded(Statistic statistic) {
  constexpr StatisticSet kOthers = {Statistic::kCount,       Statistic::kMin,    Statistic::kMax,
                                    Statistic::kArgmin,      Statistic::kArgmax, Statistic::kRange,
                                    Statistic::kNonzeroCount};
  return BoundedMoments::Has(statistic) || kOthers.Has(statistic);
}

}  // namespace

std::string ReductionRoute::strategy() const {
  return absl::StrCat("reduce/", is_transposed ? "transposed/" : FamilyName(family()),
                      TraitsOf(kernel).name);
}

absl::StatusOr<ReductionRoute> PlanReductionRoute(const ReductionFacts& facts) {
  const std::string& strategy = facts.plan.strategy;
  if (strategy.empty()) return BestRoute(facts);
  const std::vector<ReductionRoute> routes = AllRoutes(facts);
  for (const ReductionRoute& route : routes) {
    if (route.strategy() == strategy) return route;
  }
  return StrategyError(strategy, NamesOf(routes));
}

bool ReducesSoonerInPlace(const ReductionFacts& facts) {
  return TakesStack(facts) && !AreSlowStates(facts) && !AreShortForBlocks(facts);
}

uint64_t ReductionScratchBytesMax(uint64_t input_bytes, uint64_t group_count,
                                  const DeviceProperties& properties) {
  return GeometryScratchBytesMax(input_bytes, properties) +
         ScratchBytes(std::min(input_bytes, kTransposedBytesMax)) +
         ProductScratchBytesMax(input_bytes, group_count);
}

std::vector<std::string> ReductionStrategies(const ReductionFacts& facts) {
  return NamesOf(AllRoutes(facts));
}

ReductionParameters ParametersOf(const ReductionPlan& plan) {
  ReductionParameters parameters = {};
  parameters.group_count = plan.grouping.group_count;
  parameters.group_size = plan.grouping.group_size;
  PlacesOf(plan, parameters);
  parameters.rules = {.ignore_nan = plan.nan_policy == NanPolicy::kIgnore,
                      .wrap = plan.overflow_policy == OverflowPolicy::kWrap,
                      .delta_degrees_of_freedom = plan.delta_degrees_of_freedom};
  parameters.divisors = MomentDivisors::Of(plan.grouping.group_size, plan.delta_degrees_of_freedom);
  for (size_t i = 0; i < plan.statistics.size(); ++i) {
    if (IsFloatingProduct(plan, plan.statistics[i])) continue;
    parameters.statistics[parameters.statistic_count] = plan.statistics[i];
    parameters.rows[parameters.statistic_count] = static_cast<uint8_t>(i);
    ++parameters.statistic_count;
    parameters.divisors.are_known = parameters.divisors.are_known && IsBounded(plan.statistics[i]);
  }
  return parameters;
}

bool IsVectorAddress(const void* elements) {
  return reinterpret_cast<uintptr_t>(elements) % ReduceTuning::kVectorBytes == 0;
}

}  // namespace gridfold::kernels::cuda
