// Elements that an answer holds as bytes, viewed as elements.
#ifndef GRIDFOLD_CLIENT_GRIDFOLD_ELEMENT_VIEW_H_
#define GRIDFOLD_CLIENT_GRIDFOLD_ELEMENT_VIEW_H_

#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gridfold/element_type.h"

namespace gridfold::client {

// The elements of `data`, which are of type `element_type`, as T, viewed in place: valid as long as
// `data` is. FAILED_PRECONDITION where T stands for another type.
template <Element T>
absl::StatusOr<std::span<const T>> ViewElements(ElementType element_type, const std::string& data) {
  if (ElementTypeOf<T>() != element_type) {
    return absl::FailedPreconditionError(absl::StrCat("the elements are ",
                                                      ElementTypeName(element_type), ", not ",
                                                      ElementTypeName(ElementTypeOf<T>())));
  }
  return std::span<const T>(reinterpret_cast<const T*>(data.data()), data.size() / sizeof(T));
}

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_GRIDFOLD_ELEMENT_VIEW_H_
