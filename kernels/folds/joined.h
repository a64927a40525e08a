// Pieces of an array as one: all of its elements, or those that a mask selects.
#ifndef GRIDFOLD_KERNELS_FOLDS_JOINED_H_
#define GRIDFOLD_KERNELS_FOLDS_JOINED_H_

#include <cstdint>
#include <cstring>
#include <string>

#include "kernels/contract/resident_memory.h"
#include "kernels/contract/selection.h"

namespace gridfold::kernels {

inline std::string Joined(const HostSlices& pieces) {
  std::string bytes;
  bytes.reserve(pieces.size_bytes);
  for (const HostSpan& piece : pieces.slices) {
    bytes.append(reinterpret_cast<const char*>(piece.data), piece.size_bytes);
  }
  return bytes;
}

// The elements, of so many bytes each, for which the mask has a byte other than 0.
inline std::string Selected(const HostSlices& elements, const HostSlices& mask,
                            uint64_t element_bytes) {
  if (element_bytes == 0) return {};
  const std::string bytes = Joined(elements);
  const std::string selects = Joined(mask);
  std::string selected;
  for (size_t i = 0; i < selects.size(); ++i) {
    if (selects[i] != 0) selected.append(bytes, i * element_bytes, element_bytes);
  }
  return selected;
}

// The elements, with another one in the place of those for which the mask has 0.
inline std::string Replaced(const HostSlices& elements, const HostSlices& mask,
                            uint64_t element_bytes, const ElementBytes& other) {
  std::string bytes = Joined(elements);
  const std::string selects = Joined(mask);
  for (size_t i = 0; i < selects.size(); ++i) {
    if (selects[i] == 0) std::memcpy(bytes.data() + i * element_bytes, other.data(), element_bytes);
  }
  return bytes;
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_FOLDS_JOINED_H_
