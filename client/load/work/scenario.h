// What is sent: a weighted mix of requests, as a scenario file or the command line describes it.
#ifndef GRIDFOLD_CLIENT_LOAD_WORK_SCENARIO_H_
#define GRIDFOLD_CLIENT_LOAD_WORK_SCENARIO_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gridfold/client_options.h"
#include "gridfold/element_type.h"
#include "gridfold/paired.h"
#include "gridfold/quantiles.h"
#include "gridfold/scan.h"
#include "gridfold/statistic.h"

namespace gridfold::load {

enum class OperationKind {
  kReduce,
  kScan,
  kHistogram,
  kQuantiles,
  kTop,             // The largest or smallest elements.
  kKeyedReduction,  // Statistics of the values of each key.
  kRelation,        // Of two arrays, or of each two columns of one.
};

// How the server gets the array.
enum class ArrayTransport {
  kInline,    // In the request.
  kStream,    // Piece by piece.
  kResident,  // Sent before the run, then by its name.
  kShared,    // In shared memory, where the server allows regions.
};

// Where the results of scans go.
enum class ResultDestination {
  kInline,    // Into the answer.
  kResident,  // Into a new array on the server, which goes after the call.
  kShared,    // Into shared memory, where the server allows regions.
};

enum class Distribution {
  kUniform,      // Each integer from value_min to value_max alike.
  kNormal,       // Around their middle, with a sixth of the range as standard deviation.
  kExponential,  // Falling from value_min on, with an eighth of the range as mean.
  kConstant,     // value_max.
};

enum class GroupBy { kAll, kRows, kColumns, kSegments };

enum class BinLayout { kEven, kInteger };

// Which keys have a group: those that occur, or those of a range that the request gives.
enum class KeyGroups { kFound, kRange };

// How many elements arrays have: one of the choices, or drawn so that each octave is as likely.
struct ElementCounts {
  std::vector<uint64_t> choices = {1024};                         // Empty: log_uniform.
  std::optional<std::pair<uint64_t, uint64_t>> log_uniform = {};  // Both included.
};

// What of a resident array an operation is about, as client::StridedView says it, but that what is
// left out follows from the array.
struct ScenarioView {
  struct Dimension {
    uint32_t axis = 0;                             // The array's, from 0.
    std::optional<uint64_t> count = std::nullopt;  // Nothing: as many as there are.
    int64_t step = 1;                              // Negative: backwards.
  };
  // The indices of its first element, one for each of the array's dimensions. Empty: along each the
  // lowest, or the highest where steps go backwards.
  std::vector<uint64_t> first = {};
  std::vector<Dimension> dimensions = {};  // From the outermost in.
};

// Which elements count: drawn, but at least one of each group.
struct ScenarioMask {
  double part = 1;  // Of all elements.
  // The mask has so many of the array's last dimensions, and is the same for all indices of the
  // others. Nothing: all of them.
  std::optional<uint64_t> dimension_count = std::nullopt;
};

// One kind of request of a mix. Elements are integers, whatever their type, that the type holds
// exactly, so that every answer can be told from exact arithmetic.
struct RequestKind {
  std::string name = "";
  double weight = 1;  // Its share of all requests, by the sum of weights.
  OperationKind operation = OperationKind::kReduce;
  std::vector<client::Statistic> statistics = {client::Statistic::kSum};
  // Of floating-point values of statistics; nothing: float64.
  std::optional<client::ElementType> output_type = std::nullopt;
  client::ScanOperation scan_operation = client::ScanOperation::kSum;
  client::ScanMode scan_mode = client::ScanMode::kInclusive;
  ResultDestination destination = ResultDestination::kInline;
  BinLayout bin_layout = BinLayout::kEven;
  uint64_t bin_count = 64;
  uint64_t y_bin_count = 0;  // Of the second coordinates; 0: one dimension.
  // Of even bins, in either dimension; nothing: from value_min to value_max. Integer bins begin
  // with value_min.
  std::optional<std::pair<double, double>> bin_range = std::nullopt;
  bool is_weighted = false;            // By integers of the elements' distribution.
  std::vector<double> quantiles = {};  // Of an array's groups, or of each key's values.
  client::QuantileMethod quantile_method = client::QuantileMethod::kLinear;
  uint64_t top_count = 10;  // Elements of each group.
  bool top_smallest = false;
  // Keys are the integers from 0 on. Each occurs as often as the others, or once more.
  client::ElementType key_type = client::ElementType::kInt32;
  uint64_t key_count = 64;
  KeyGroups key_groups = KeyGroups::kFound;
  bool are_keys_sorted = false;
  std::vector<client::PairedStatistic> relations = {client::PairedStatistic::kCorrelation};
  uint64_t batch_size = 0;  // Operations of a call; 0: a call of their own for each.
  client::ElementType element_type = client::ElementType::kFloat32;
  ElementCounts elements = {};
  // Of matrices; 0: one dimension. Relations are those of the columns, or without any of two
  // arrays.
  uint64_t column_count = 0;
  // In place of columns: the extents of all dimensions but the first.
  std::vector<uint64_t> row_shape = {};
  std::optional<ScenarioView> view = std::nullopt;  // Nothing: the whole array.
  GroupBy group_by = GroupBy::kAll;
  // In place of group_by: the axes along which a group's elements lie, from 0, or back from -1.
  std::optional<std::vector<int32_t>> axes = std::nullopt;
  bool keep_dimensions = false;                      // Of what is reduced, with an extent of 1.
  std::optional<ScenarioMask> where = std::nullopt;  // Nothing: all elements count.
  // Of ragged segments: the mean; each has from 1 to less than twice as many.
  uint64_t segment_elements = 16;
  Distribution distribution = Distribution::kUniform;
  int64_t value_min = 0;
  int64_t value_max = 100;
  ArrayTransport transport = ArrayTransport::kInline;
  std::string tenant = "";
  client::Priority priority = client::Priority::kNormal;
  std::optional<absl::Duration> timeout = std::nullopt;  // Nothing: the run's.
  double cancelled_part = 0;  // Of calls that are given up at a random time before `cancel_within`.
  absl::Duration cancel_within = absl::Milliseconds(10);
};

struct Scenario {
  std::string name = "";
  std::string description = "";
  std::vector<RequestKind> requests = {};
};

// INVALID_ARGUMENT names the field at fault: "requests[2].values: ...".
absl::Status Validate(const Scenario& scenario);

// Whether the request has an array beside the elements: second coordinates, or the other array of
// a relation.
bool HasYElements(const RequestKind& kind);
bool HasWeights(const RequestKind& kind);
bool HasKeys(const RequestKind& kind);

const char* OperationName(OperationKind operation);
const char* TransportName(ArrayTransport transport);

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_WORK_SCENARIO_H_
