#include "server/base/descriptor.h"

#include <unistd.h>

#include <utility>

namespace gridfold::server {

Descriptor::Descriptor(Descriptor&& other) noexcept : value_(other.release()) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(value_, other.value_);
  return *this;
}

Descriptor::~Descriptor() {
  if (value_ >= 0) close(value_);
}

int Descriptor::release() { return std::exchange(value_, -1); }

}  // namespace gridfold::server
