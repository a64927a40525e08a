// Quantiles, and the largest or smallest elements.
#include <variant>
#include <vector>

#include "client/library/array_calls.h"
#include "client/library/order_conversion.h"
#include "client/library/together_call.h"
#include "client/library/whole_call.h"
#include "gridfold/client.h"

namespace gridfold::client {
namespace {

absl::StatusOr<QuantileResult> QuantilesOnce(Transport& transport, const ArrayInput& array,
                                             const QuantileOptions& options,
                                             const CallOptions& call_options) {
  return Run(transport, CallOf(array, options), call_options);
}

absl::StatusOr<TopResult> TopOnce(Transport& transport, const ArrayInput& array,
                                  const TopOptions& options, const CallOptions& call_options) {
  if (absl::Status status = Check(options); !status.ok()) return status;
  return Run(transport, CallOf(array, options), call_options);
}

// How `once` takes the array: of the caller's memory, in whatever way it travels best.
template <typename Result, typename Options, typename Once>
absl::StatusOr<Result> CallOrder(ArrayCalls& calls, const ArrayInput& array, const Options& options,
                                 const CallOptions& call_options, Once once) {
  const auto ask = [&](const ArrayInput& input, const CallOptions& rest) {
    return once(calls.transport(), input, options, rest);
  };
  const auto* const view = std::get_if<ArrayView>(&array.source());
  if (view == nullptr) return ask(array, call_options);
  return CallWhole<Result>(calls, *view, BytesOf(options.grouping), call_options, ask);
}

}  // namespace

absl::StatusOr<QuantileResult> Client::ComputeQuantiles(const ArrayInput& array,
                                                        const QuantileOptions& options,
                                                        const CallOptions& call_options) {
  if (options.weights) {
    ArrayInput own = array;
    QuantileOptions own_options = options;
    const std::vector<ArrayInput*> arrays = {&own, &*own_options.weights};
    return CallTogether<QuantileResult>(
        *array_calls_, arrays, call_options, [&](const CallOptions& rest) {
          return QuantilesOnce(array_calls_->transport(), own, own_options, rest);
        });
  }
  return CallOrder<QuantileResult>(*array_calls_, array, options, call_options, QuantilesOnce);
}

absl::StatusOr<TopResult> Client::SelectTop(const ArrayInput& array, const TopOptions& options,
                                            const CallOptions& call_options) {
  return CallOrder<TopResult>(*array_calls_, array, options, call_options, TopOnce);
}

}  // namespace gridfold::client
