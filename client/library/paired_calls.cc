// Statistics of two arrays, which travel together.
#include <vector>

#include "client/library/array_calls.h"
#include "client/library/paired_conversion.h"
#include "client/library/together_call.h"
#include "gridfold/client.h"

namespace gridfold::client {

absl::StatusOr<RelateResult> Client::RelateArrays(const ArrayInput& x, const RelateOptions& options,
                                                  const CallOptions& call_options) {
  ArrayInput own = x;
  RelateOptions own_options = options;
  std::vector<ArrayInput*> arrays = {&own};
  if (own_options.y) arrays.push_back(&*own_options.y);
  if (own_options.weights) arrays.push_back(&*own_options.weights);
  return CallTogether<RelateResult>(
      *array_calls_, arrays, call_options, [&](const CallOptions& rest) {
        return Run(array_calls_->transport(), CallOf(own, own_options), rest);
      });
}

}  // namespace gridfold::client
