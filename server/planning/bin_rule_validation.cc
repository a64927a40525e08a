#include "server/planning/bin_rule_validation.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"
#include "server/planning/validation_steps.h"
#include "server/wire/proto_conversion.h"

namespace gridfold::server {

namespace {

using kernels::InvalidField;

// Small arrays may have more bins than samples.
constexpr uint64_t kRuleBinsFloor = 65536;
// Of an answer: a count, its index and an edge.
constexpr uint64_t kBinBytes = 24;

bool HasRule(const v1::BinSpecification& bins) {
  return bins.even().rule() != v1::HISTOGRAM_BIN_RULE_UNSPECIFIED;
}

// What a request with a rule may not have, or nothing.
const char* WhatRefusesRules(const v1::ComputeHistogramRequest& request) {
  if (request.has_weights()) return "weights";
  if (request.has_y_array()) return "two dimensions";
  if (request.channel_count() > 1 || request.bins_size() > 1) return "several channels";
  if (request.return_accumulator()) return "an accumulator";
  return nullptr;
}

}  // namespace

absl::Status ConvertRule(const v1::ComputeHistogramRequest& request,
                         std::optional<kernels::BinRule>& rule) {
  if (const char* const what = WhatRefusesRules(request)) {
    return RefuseRules(request.bins(), "bins", what);
  }
  if (request.bins().empty() || !HasRule(request.bins(0))) return absl::OkStatus();
  const v1::EvenBins& bins = request.bins(0).even();
  if (bins.bin_count() != 0) {
    return InvalidField("bins[0].even.bin_count", "must be 0 with a rule, which says how many");
  }
  return Assign(FromWire(bins.rule(), kRuleField), rule);
}

absl::Status RefuseRules(const google::protobuf::RepeatedPtrField<v1::BinSpecification>& bins,
                         absl::string_view field, absl::string_view what) {
  for (int i = 0; i < bins.size(); ++i) {
    if (!HasRule(bins[i])) continue;
    return InvalidField(absl::StrCat(field, "[", i, "].even.rule"),
                        absl::StrCat("no rule says how many bins there are with ", what));
  }
  return absl::OkStatus();
}

uint64_t RuleBinsMax(uint64_t sample_count, const Limits& limits) {
  const uint64_t room = (limits.message_bytes_max - kAnswerOverheadBytes) / 2 / kBinBytes;
  return std::min({std::max(sample_count, kRuleBinsFloor), limits.bin_count_max, room});
}

void PlaceRule(PlannedHistogram& planned) {
  if (!planned.rule) return;
  uint32_t& engine = planned.rule->engine;
  if (planned.selection) {
    engine = planned.selection->engine;
  } else {
    engine = planned.engine ? *planned.engine : planned.arrays.EngineWithMostRoom();
  }
  // A standard deviation of some of the samples needs room on an engine.
  if (NeedsStandardDeviation(planned.rule->rule) && !planned.plan.bins.front().automatic_range) {
    planned.engine = engine;
  }
}

}  // namespace gridfold::server
