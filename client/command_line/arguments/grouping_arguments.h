// The flags that split an array into groups.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_GROUPING_ARGUMENTS_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_GROUPING_ARGUMENTS_H_

#include <cstdint>
#include <string>

#include "CLI/App.hpp"
#include "absl/status/statusor.h"
#include "gridfold/grouping.h"

namespace gridfold::client {

// What the offsets of segments take in a request, at most.
uint64_t OffsetBytes(const Grouping& grouping);

// --axis and --segments, and what goes with them: --ignore-nan and --wrap.
class GroupingArguments {
 public:
  // Without --wrap where nothing of the operation can overflow.
  explicit GroupingArguments(CLI::App& command, bool can_overflow = true);
  GroupingArguments(const GroupingArguments&) = delete;
  GroupingArguments& operator=(const GroupingArguments&) = delete;

  // Reads the offsets from their file, where they are in one.
  absl::StatusOr<Grouping> ToGrouping() const;

  NanPolicy nan_policy() const { return ignore_nan_ ? NanPolicy::kIgnore : NanPolicy::kPropagate; }
  OverflowPolicy overflow_policy() const {
    return wrap_ ? OverflowPolicy::kWrap : OverflowPolicy::kError;
  }

 private:
  std::string axes_;
  CLI::Option* axis_option_;
  std::string segments_;
  bool ignore_nan_ = false;
  bool wrap_ = false;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_GROUPING_ARGUMENTS_H_
