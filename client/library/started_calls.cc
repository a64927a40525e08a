// Operations that are begun and not waited for.
#include <initializer_list>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/library/array_route.h"
#include "client/library/histogram_conversion.h"
#include "client/library/keyed_conversion.h"
#include "client/library/operation_call.h"
#include "client/library/order_conversion.h"
#include "client/library/paired_conversion.h"
#include "client/library/reduction_conversion.h"
#include "client/library/scan_conversion.h"
#include "gridfold/client.h"

namespace gridfold::client {
namespace {

// A call that waits sends such arrays in the request, too: the answers are the same.
static_assert(kStartedBytesMax <= kInlineBytesMax);

// The arrays of one call.
class Arrays {
 public:
  Arrays(std::initializer_list<const ArrayInput*> arrays) : arrays_(arrays) {}

  void Add(const std::optional<ArrayInput>& array) {
    if (array) arrays_.push_back(&*array);
  }
  void Add(const ArrayInput& array) { arrays_.push_back(&array); }

  // The bytes of those arrays that are in the caller's memory.
  uint64_t size_bytes() const {
    uint64_t bytes = 0;
    for (const ArrayInput* const array : arrays_) {
      if (const auto* const view = std::get_if<ArrayView>(&array->source())) {
        bytes += view->bytes().size();
      }
    }
    return bytes;
  }
  bool is_first_here() const {
    return std::holds_alternative<ArrayView>(arrays_.front()->source());
  }
  bool are_all_here() const {
    for (const ArrayInput* const array : arrays_) {
      if (!std::holds_alternative<ArrayView>(array->source())) return false;
    }
    return true;
  }

 private:
  std::vector<const ArrayInput*> arrays_;
};

// `is_sent`: whether the result says how the arrays travelled.
template <typename Response, typename Result>
PendingCall StartOf(Transport& transport, const Arrays& arrays, bool is_sent,
                    OperationCall<Response, Result> call, const CallOptions& call_options,
                    Done<Result> done) {
  if (const uint64_t size_bytes = arrays.size_bytes(); size_bytes > kStartedBytesMax) {
    done(absl::InvalidArgumentError(absl::StrCat(
        "the arrays have ", size_bytes, " bytes; a call that is started and not waited for takes ",
        kStartedBytesMax)));
    return PendingCall();
  }
  if (!is_sent) return Start(transport, std::move(call), call_options, std::move(done));
  return Start<Response, Result>(transport, std::move(call), call_options,
                                 [done = std::move(done)](absl::StatusOr<Result> result) {
                                   if (result.ok()) {
                                     result->execution.transport = ArrayTransport::kInline;
                                     result->execution.streams = 1;
                                   }
                                   done(std::move(result));
                                 });
}

}  // namespace

PendingCall Client::StartReduceArray(const ArrayInput& array, const ReductionOptions& options,
                                     const CallOptions& call_options, Done<ReductionResult> done) {
  Arrays arrays = {&array};
  arrays.Add(options.where);
  return StartOf(*transport_, arrays, arrays.is_first_here(), CallOf(array, options), call_options,
                 std::move(done));
}

PendingCall Client::StartScanArray(const ArrayInput& array, const ScanOptions& options,
                                   const CallOptions& call_options, Done<ScanResult> done) {
  Arrays arrays = {&array};
  arrays.Add(options.where);
  return StartOf(*transport_, arrays, arrays.is_first_here(), CallOf(array, options), call_options,
                 std::move(done));
}

PendingCall Client::StartComputeHistogram(const ArrayInput& array, const HistogramOptions& options,
                                          const CallOptions& call_options,
                                          Done<HistogramResult> done) {
  Arrays arrays = {&array};
  arrays.Add(options.y_array);
  arrays.Add(options.weights);
  arrays.Add(options.where);
  return StartOf(*transport_, arrays, arrays.is_first_here(), CallOf(array, options), call_options,
                 std::move(done));
}

PendingCall Client::StartReduceByKey(const ArrayInput& keys, const ArrayInput& values,
                                     const KeyedReductionOptions& options,
                                     const CallOptions& call_options,
                                     Done<KeyedReductionResult> done) {
  Arrays arrays = {&keys, &values};
  if (const auto* const bins = std::get_if<KeyBins>(&options.groups)) {
    arrays.Add(bins->y_keys);
    for (const ArrayInput& further : bins->further_keys) arrays.Add(further);
  }
  return StartOf(*transport_, arrays, arrays.are_all_here(), CallOf(keys, values, options),
                 call_options, std::move(done));
}

PendingCall Client::StartComputeQuantiles(const ArrayInput& array, const QuantileOptions& options,
                                          const CallOptions& call_options,
                                          Done<QuantileResult> done) {
  Arrays arrays = {&array};
  arrays.Add(options.weights);
  return StartOf(*transport_, arrays, arrays.is_first_here() || options.weights.has_value(),
                 CallOf(array, options), call_options, std::move(done));
}

PendingCall Client::StartSelectTop(const ArrayInput& array, const TopOptions& options,
                                   const CallOptions& call_options, Done<TopResult> done) {
  if (absl::Status status = Check(options); !status.ok()) {
    done(std::move(status));
    return PendingCall();
  }
  const Arrays arrays = {&array};
  return StartOf(*transport_, arrays, arrays.is_first_here(), CallOf(array, options), call_options,
                 std::move(done));
}

PendingCall Client::StartRelateArrays(const ArrayInput& x, const RelateOptions& options,
                                      const CallOptions& call_options, Done<RelateResult> done) {
  Arrays arrays = {&x};
  arrays.Add(options.y);
  arrays.Add(options.weights);
  return StartOf(*transport_, arrays, /*is_sent=*/true, CallOf(x, options), call_options,
                 std::move(done));
}

}  // namespace gridfold::client
