// Durations of the wire.
#ifndef GRIDFOLD_CLIENT_LIBRARY_PROTO_TIME_H_
#define GRIDFOLD_CLIENT_LIBRARY_PROTO_TIME_H_

#include "absl/time/time.h"
#include "google/protobuf/duration.pb.h"

namespace gridfold::client {

inline absl::Duration FromProto(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_PROTO_TIME_H_
