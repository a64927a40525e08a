#include "kernels/conformance/engine_test.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace gridfold::kernels::conformance {

void PrintTo(const EngineCase& engine_case, std::ostream* out) { *out << engine_case.name; }

std::string NameOfCase(const testing::TestParamInfo<EngineCase>& info) { return info.param.name; }

EngineUnderTest::EngineUnderTest(const EngineCase& engine_case, const LaneOptions& options) {
  absl::StatusOr<std::unique_ptr<Engine>> engine =
      CreateEngine({.kind = engine_case.kind, .cpu_threads = engine_case.threads});
  if (!engine.ok()) {
    ADD_FAILURE() << engine.status();
    std::abort();
  }
  engine_ = *std::move(engine);
  absl::StatusOr<std::unique_ptr<Lane>> lane = engine_->CreateLane(options);
  if (!lane.ok()) {
    ADD_FAILURE() << lane.status();
    std::abort();
  }
  lane_ = *std::move(lane);
}

absl::StatusOr<ReductionResult> EngineUnderTest::Reduce(const TestArray& array,
                                                        const ReductionSpec& spec) {
  const absl::StatusOr<ReductionPlan> plan = PlanReduction(array.description(), spec);
  if (!plan.ok()) return plan.status();
  return lane_->RunReduction(*plan, array.span(), std::stop_token(), statistics_);
}

absl::StatusOr<TestArray> EngineUnderTest::Scan(const TestArray& array, const ScanSpec& spec) {
  const absl::StatusOr<ScanPlan> plan = PlanScan(array.description(), spec);
  if (!plan.ok()) return plan.status();
  ArrayDescription description = array.description();
  description.element_type = plan->output_type;
  TestArray output(description, 1);
  // So that elements which the engine leaves out do not happen to be right.
  std::fill_n(output.mutable_data(), plan->output_size_bytes(), std::byte{0xCD});
  absl::Status status =
      lane_->RunScan(*plan, array.span(), output.mutable_span(), std::stop_token(), statistics_);
  EXPECT_TRUE(output.SurroundingsAreIntact()) << "written outside the output";
  if (!status.ok()) return status;
  return output;
}

absl::StatusOr<HistogramResult> EngineUnderTest::Histogram(const TestArray& array,
                                                           const HistogramSpec& spec,
                                                           const TestArray* y_array,
                                                           const TestArray* weights) {
  const absl::StatusOr<HistogramPlan> plan =
      PlanHistogram(array.description(), spec, kRoomyLane.bin_count_max);
  if (!plan.ok()) return plan.status();
  HistogramInput input{.array = array.span(), .y_array = {}, .weights = {}};
  if (y_array != nullptr) input.y_array = y_array->span();
  if (weights != nullptr) input.weights = weights->span();
  return lane_->RunHistogram(*plan, input, std::stop_token(), statistics_);
}

absl::StatusOr<QuantileResult> EngineUnderTest::Quantiles(const TestArray& array,
                                                          const QuantileSpec& spec) {
  const absl::StatusOr<QuantilePlan> plan = PlanQuantiles(array.description(), spec);
  if (!plan.ok()) return plan.status();
  return lane_->RunQuantiles(*plan, array.span(), std::stop_token(), statistics_);
}

absl::StatusOr<TopResult> EngineUnderTest::Top(const TestArray& array, const TopSpec& spec) {
  const absl::StatusOr<TopPlan> plan = PlanTop(array.description(), spec);
  if (!plan.ok()) return plan.status();
  return lane_->RunTop(*plan, array.span(), std::stop_token(), statistics_);
}

absl::StatusOr<PairedResult> EngineUnderTest::Relate(const TestArray& x, const TestArray* y,
                                                     const TestArray* weights,
                                                     const PairedSpec& spec) {
  const absl::StatusOr<PairedPlan> plan = PlanPaired(x.description(), spec);
  if (!plan.ok()) return plan.status();
  PairedInput input{.x = x.span(), .y = {}, .weights = {}};
  if (y != nullptr) input.y = y->span();
  if (weights != nullptr) input.weights = weights->span();
  const absl::StatusOr<PairedSums> sums =
      lane_->RunPaired(*plan, input, std::stop_token(), statistics_);
  if (!sums.ok()) return sums.status();
  return MakePairedResult(*plan, *sums);
}

void EngineTest::SetUp() {
  if (GetParam().kind == EngineKind::kCuda && !CudaDeviceAvailable()) {
    GTEST_SKIP() << "there is no CUDA device that this program can use";
  }
}

EngineUnderTest& EngineTest::engine() {
  if (!engine_.has_value()) engine_.emplace(GetParam());
  return *engine_;
}

}  // namespace gridfold::kernels::conformance
