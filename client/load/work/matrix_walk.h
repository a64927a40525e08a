// Which group each element of an array belongs to.
#ifndef GRIDFOLD_CLIENT_LOAD_WORK_MATRIX_WALK_H_
#define GRIDFOLD_CLIENT_LOAD_WORK_MATRIX_WALK_H_

#include <cstdint>

#include "client/load/work/scenario.h"

namespace gridfold::load {

// Elements row by row, in their order in memory, in which those of a group are in their order too.
class MatrixWalk {
 public:
  MatrixWalk(const RequestKind& kind, uint64_t element_count)
      : group_by_(kind.group_by),
        column_count_(kind.column_count),
        group_count_(group_by_ == GroupBy::kAll    ? 1
                     : group_by_ == GroupBy::kRows ? element_count / column_count_
                                                   : column_count_) {}

  uint64_t group_count() const { return group_count_; }

  uint64_t GroupOf(uint64_t element) const {
    switch (group_by_) {
      case GroupBy::kAll: return 0;
      case GroupBy::kRows: return element / column_count_;
      case GroupBy::kColumns: return element % column_count_;
    }
    return 0;
  }

 private:
  const GroupBy group_by_;
  const uint64_t column_count_;
  const uint64_t group_count_;
};

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_WORK_MATRIX_WALK_H_
