// What all conformance tests share: the engines under test, and how to run an operation on one.
//
// Tests are parameterised over EngineCase and instantiated twice: "Cpu", and "Cuda", which skips
// where there is no device. CTest runs the two as separate tests, the second with the label gpu.
#ifndef GRIDFOLD_KERNELS_CONFORMANCE_ENGINE_TEST_H_
#define GRIDFOLD_KERNELS_CONFORMANCE_ENGINE_TEST_H_

#include <memory>
#include <optional>
#include <ostream>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "kernels/conformance/test_array.h"
#include "kernels/contract/engine.h"

namespace gridfold::kernels::conformance {

struct EngineCase {
  std::string name;
  EngineKind kind;
  int threads;
};

// GoogleTest prints parameters by this.
void PrintTo(const EngineCase& engine_case, std::ostream* out);

inline const EngineCase kCpuCase{"Cpu", EngineKind::kCpu, 2};
inline const EngineCase kCudaCase{"Cuda", EngineKind::kCuda, 0};

std::string NameOfCase(const testing::TestParamInfo<EngineCase>& info);

// Room for every test but those that bring their own limits.
inline constexpr LaneOptions kRoomyLane{.input_bytes_max = uint64_t{96} << 20,
                                        .output_bytes_max = uint64_t{96} << 20,
                                        .bin_count_max = uint64_t{4} << 20,
                                        .group_count_max = uint64_t{1} << 20,
                                        .resident_input_bytes_max = uint64_t{96} << 20};

// An engine with one lane. Fails the running test where they cannot be had.
class EngineUnderTest {
 public:
  explicit EngineUnderTest(const EngineCase& engine_case, const LaneOptions& options = kRoomyLane);

  absl::StatusOr<ReductionResult> Reduce(const TestArray& array, const ReductionSpec& spec);
  absl::StatusOr<TestArray> Scan(const TestArray& array, const ScanSpec& spec);
  absl::StatusOr<HistogramResult> Histogram(const TestArray& array, const HistogramSpec& spec,
                                            const TestArray* y_array = nullptr,
                                            const TestArray* weights = nullptr);

  absl::StatusOr<QuantileResult> Quantiles(const TestArray& array, const QuantileSpec& spec);
  absl::StatusOr<TopResult> Top(const TestArray& array, const TopSpec& spec);
  absl::StatusOr<PairedResult> Relate(const TestArray& x, const TestArray* y,
                                      const TestArray* weights, const PairedSpec& spec);

  Engine& engine() { return *engine_; }
  Lane& lane() { return *lane_; }
  const RunStatistics& last_run() const { return statistics_; }

 private:
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Lane> lane_;  // After engine_: lanes are destroyed first.
  RunStatistics statistics_;
};

class EngineTest : public testing::TestWithParam<EngineCase> {
 protected:
  void SetUp() override;

  // Made when first used, so that tests with lanes of their own need not pay for this one.
  EngineUnderTest& engine();

 private:
  std::optional<EngineUnderTest> engine_;
};

}  // namespace gridfold::kernels::conformance

#endif  // GRIDFOLD_KERNELS_CONFORMANCE_ENGINE_TEST_H_
