// Samples that guesses are often in doubt of: NaN, samples on the upper bound or far outside, and
// blocks that leave the rest of their turns to a SteadyLocator when they meet one.
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/cuda/histogram/histogram_device_test.h"

namespace gridfold::kernels::cuda {
namespace {

template <class T>
T NearestOf(double x) {
  if constexpr (HalfElement<T>) {
    return T::FromDouble(x);
  } else if constexpr (IntegerElement<T>) {
    if (!(x > static_cast<double>(std::numeric_limits<T>::min()))) {
      return std::numeric_limits<T>::min();
    }
    if (!(x < static_cast<double>(std::numeric_limits<T>::max()))) {
      return std::numeric_limits<T>::max();
    }
    return static_cast<T>(x);
  } else {
    return static_cast<T>(x);
  }
}

// So many times the same samples.
template <class T>
struct Repeated {
  std::vector<T> samples;
  uint64_t times;
};

template <class T>
std::vector<T> JoinedSamples(std::span<const Repeated<T>> runs) {
  std::vector<T> joined;
  for (const Repeated<T>& run : runs) {
    for (uint64_t i = 0; i < run.times; ++i) {
      joined.insert(joined.end(), run.samples.begin(), run.samples.end());
    }
  }
  return joined;
}

template <class T>
Expected JoinedCounts(std::span<const Repeated<T>> runs, const std::vector<double>& edges,
                      OutOfRangePolicy policy) {
  Expected joined;
  joined.counts.resize(edges.size() - 1);
  for (const Repeated<T>& run : runs) {
    const Expected once = LoopCounts(Samples<T>{.x = run.samples}, 0, 1, edges, policy);
    for (size_t i = 0; i < joined.counts.size(); ++i) {
      joined.counts[i] += once.counts[i] * run.times;
    }
    joined.underflow += once.underflow * run.times;
    joined.overflow += once.overflow * run.times;
    joined.nan += once.nan * run.times;
  }
  return joined;
}

constexpr size_t kRunSamples = 5003;

// So many bytes that blocks have turns left when they meet the first sample that is special: their
// warps have drawn a hundred by then.
template <class T>
inline constexpr uint64_t kManyRuns = 24'000 / sizeof(T);

// With turns of 3 KiB, so many samples that some of these turns are left before a flush.
template <class T>
inline constexpr uint64_t kSamplesPerFlush = 200 * 3072 / sizeof(T);

// Floating-point ones have next to none that guesses are in doubt of.
template <class T>
std::vector<T> PlainSamples(double lower, double upper) {
  return MakeSamples<T>(Distribution::kUniform, kRunSamples, lower, upper);
}

// Among others, without order, every value that is special: NaN of both signs where there are any,
// the bounds, infinities or the ends of the type, and what is beside edges.
template <class T>
std::vector<T> SpecialSamples(double lower, double upper) {
  constexpr double kInfinity = HUGE_VAL;
  const double width = upper - lower;
  std::vector<double> special = {
      upper, upper,      lower,     -0.0,    std::nextafter(upper, lower),
      1e30,  -kInfinity, kInfinity, -9999.0, std::nextafter(upper, 1e9)};
  if (FloatingElement<T>) special.insert(special.end(), {std::nan(""), -std::nan("")});
  for (int i = 1; i < 32; ++i) {
    const double edge = lower + width * i / 32;
    special.insert(special.end(), {edge, std::nextafter(edge, lower), std::nextafter(edge, upper)});
  }
  std::vector<T> samples = PlainSamples<T>(lower, upper);
  for (size_t i = 0; i < samples.size(); ++i) {
    if (i * 7 % 10 < 4) samples[i] = NearestOf<T>(special[i % special.size()]);
  }
  return samples;
}

template <class T>
class HistogramSteadyDeviceTest : public HistogramDeviceTest {
 protected:
  // Compares the counts of all runs, one after the other, with those of a loop, for some numbers of
  // even bins.
  void ExpectCounts(std::span<const Repeated<T>> runs, double lower, double upper,
                    uint64_t misalignment) {
    const std::vector<T> samples = JoinedSamples(runs);
    const DeviceArray<T> array{std::span(samples), misalignment};
    for (const uint64_t bins : {1, 2, 1024, 57'344, 65'536}) {
      SCOPED_TRACE(testing::Message() << bins << " bins of " << lower << " to " << upper << ", "
                                      << samples.size() << " samples");
      for (const OutOfRangePolicy policy : {OutOfRangePolicy::kDrop, OutOfRangePolicy::kClamp}) {
        HistogramSpec spec = SpecOf({EvenBinsSpec{bins, lower, upper}});
        spec.out_of_range_policy = policy;
        const auto plan = PlanHistogram(ArrayDescription::Vector(kElementTypeOf<T>, samples.size()),
                                        spec, uint64_t{1} << 30);
        ASSERT_TRUE(plan.ok()) << plan.status();
        const Expected expected = JoinedCounts(runs, EdgesOf(plan->bins[0]), policy);
        const HistogramMethod method =
            bins > 57'344 ? HistogramMethod::kParts : HistogramMethod::kShared;
        // All at once, and with turns that are left before a flush and others behind it.
        for (const uint64_t samples_per_flush : {uint64_t{1} << 31, kSamplesPerFlush<T>}) {
          const auto result = this->Count(
              *plan, {.samples = {array.data(), array.size()}},
              HistogramOverrides{.method = method, .samples_per_flush = samples_per_flush});
          ASSERT_TRUE(result.ok()) << result.status();
          ExpectChannel(result->channels[0], expected, false);
          if (this->HasFailure()) return;
        }
      }
    }
  }
};

using SteadyTypes =
    ::testing::Types<float, double, Float16, Bfloat16, int16_t, uint16_t, int32_t, int64_t>;
TYPED_TEST_SUITE(HistogramSteadyDeviceTest, SteadyTypes);

constexpr std::pair<double, double> kRanges[] = {{0, 100}, {-0.3, 70.1}, {10, 11}};

TYPED_TEST(HistogramSteadyDeviceTest, SpecialSamplesAmongOthers) {
  using T = TypeParam;
  uint64_t misalignment = 0;
  for (const auto& [lower, upper] : kRanges) {
    const std::array<Repeated<T>, 1> few = {{{SpecialSamples<T>(lower, upper), 4}}};
    const std::array<Repeated<T>, 1> many = {{{SpecialSamples<T>(lower, upper), kManyRuns<T>}}};
    this->ExpectCounts(few, lower, upper, misalignment);
    this->ExpectCounts(many, lower, upper, misalignment);
    if (this->HasFailure()) return;
    ++misalignment;
  }
}

TYPED_TEST(HistogramSteadyDeviceTest, SpecialSamplesBeforeAndBehindOthers) {
  using T = TypeParam;
  for (const auto& [lower, upper] : std::span(kRanges).first(2)) {
    const Repeated<T> plain = {PlainSamples<T>(lower, upper), kManyRuns<T> / 2};
    const Repeated<T> special = {SpecialSamples<T>(lower, upper), kManyRuns<T> / 2};
    this->ExpectCounts(std::array{special, plain}, lower, upper, 1);
    this->ExpectCounts(std::array{plain, special}, lower, upper, 3);
    // Only in the last turns, which no warp can leave, or behind them.
    const Repeated<T> last = {{special.samples.begin(), special.samples.begin() + 301}, 1};
    this->ExpectCounts(std::array{plain, last}, lower, upper, 2);
    if (this->HasFailure()) return;
  }
}

TYPED_TEST(HistogramSteadyDeviceTest, AllSamplesAreTheSame) {
  using T = TypeParam;
  const auto& [lower, upper] = kRanges[1];
  std::vector<double> values = {upper, -HUGE_VAL, -9999};
  if (FloatingElement<T>) values.insert(values.end(), {std::nan(""), -std::nan("")});
  for (const double value : values) {
    const Repeated<T> same = {std::vector<T>(kRunSamples, NearestOf<T>(value)), kManyRuns<T>};
    this->ExpectCounts(std::array{same}, lower, upper, 1);
    if (this->HasFailure()) return;
  }
}

}  // namespace
}  // namespace gridfold::kernels::cuda
