// Durations of the wire.
#ifndef GRIDFOLD_CLIENT_LIBRARY_PROTO_TIME_H_
#define GRIDFOLD_CLIENT_LIBRARY_PROTO_TIME_H_

#include <cstdint>

#include "absl/time/time.h"
#include "google/protobuf/duration.pb.h"

namespace gridfold::client {

inline absl::Duration FromProto(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

// Requires a finite duration.
inline google::protobuf::Duration ToProto(absl::Duration duration) {
  google::protobuf::Duration proto;
  proto.set_seconds(absl::IDivDuration(duration, absl::Seconds(1), &duration));
  proto.set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(duration)));
  return proto;
}

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_PROTO_TIME_H_
