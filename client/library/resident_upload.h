// Arrays that are kept on the server while one call needs them.
#ifndef GRIDFOLD_CLIENT_LIBRARY_RESIDENT_UPLOAD_H_
#define GRIDFOLD_CLIENT_LIBRARY_RESIDENT_UPLOAD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/library/array_calls.h"
#include "client/library/call_budget.h"
#include "gridfold/array_input.h"
#include "gridfold/array_view.h"

namespace gridfold::client {

// Creates arrays under names that the server chooses, and deletes them when it is destroyed. Not
// thread-safe.
class ResidentUpload {
 public:
  ResidentUpload(ArrayCalls& calls, const CallBudget& budget, ProgressTally& progress)
      : calls_(calls), budget_(budget), progress_(progress) {}
  ~ResidentUpload();
  ResidentUpload(const ResidentUpload&) = delete;
  ResidentUpload& operator=(const ResidentUpload&) = delete;

  // Sends the array, in parts over several connections where it is large: the first to a device of
  // the server's choice, the others to the same one.
  absl::StatusOr<ArrayInput> Send(const ArrayView& array);

 private:
  absl::Status Write(const std::string& name, const ArrayView& array);

  ArrayCalls& calls_;
  const CallBudget& budget_;
  ProgressTally& progress_;
  std::vector<std::string> names_;
  std::optional<uint32_t> device_;
  size_t parts_told_ = 0;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_RESIDENT_UPLOAD_H_
