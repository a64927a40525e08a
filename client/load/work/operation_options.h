// What the client library knows a kind's operations by.
#ifndef GRIDFOLD_CLIENT_LOAD_WORK_OPERATION_OPTIONS_H_
#define GRIDFOLD_CLIENT_LOAD_WORK_OPERATION_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "client/load/work/scenario.h"
#include "gridfold/array_input.h"
#include "gridfold/histogram.h"
#include "gridfold/keyed_reduction.h"
#include "gridfold/paired.h"
#include "gridfold/quantiles.h"
#include "gridfold/reduction.h"
#include "gridfold/scan.h"
#include "gridfold/top.h"

namespace gridfold::load {

// What an operation is asked about.
struct OperationInput {
  client::ArrayInput elements;
  std::optional<client::ArrayInput> y_elements = std::nullopt;
  std::optional<client::ArrayInput> weights = std::nullopt;
  std::optional<client::ArrayInput> keys = std::nullopt;
  std::optional<client::ArrayInput> mask = std::nullopt;
  std::vector<uint64_t> segment_offsets = {};
};

// Arrays that stand for those of a request, to read its answer by.
OperationInput InputToRead(const RequestKind& kind);

client::ReductionOptions ReductionOptionsOf(const RequestKind& kind, const OperationInput& input);
client::ScanOptions ScanOptionsOf(const RequestKind& kind, const OperationInput& input);
client::HistogramOptions HistogramOptionsOf(const RequestKind& kind, const OperationInput& input);
client::QuantileOptions QuantileOptionsOf(const RequestKind& kind,
                                          const std::vector<uint64_t>& segment_offsets);
client::TopOptions TopOptionsOf(const RequestKind& kind,
                                const std::vector<uint64_t>& segment_offsets);
client::KeyedReductionOptions KeyedReductionOptionsOf(const RequestKind& kind);
client::RelateOptions RelateOptionsOf(const RequestKind& kind, const OperationInput& input);

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_WORK_OPERATION_OPTIONS_H_
