#include "client/library/array_route.h"

#include <algorithm>
#include <thread>

namespace gridfold::client {
namespace {

ArrayTransport InOneMessage(const RouteQuestion& question) {
  return question.fits_message ? ArrayTransport::kInline : ArrayTransport::kResident;
}

ArrayTransport InOneStream(const RouteQuestion& question) {
  return question.can_stream ? ArrayTransport::kStream : InOneMessage(question);
}

ArrayTransport InStreams(const RouteQuestion& question) {
  return question.can_split ? ArrayTransport::kStreams : InOneStream(question);
}

ArrayTransport Fastest(const RouteQuestion& question) {
  if (MayShare(question)) return ArrayTransport::kRegion;
  if (question.size_bytes >= kStreamsBytesMin && question.can_split) {
    return ArrayTransport::kStreams;
  }
  return question.size_bytes >= kStreamBytesMin || !question.fits_message ? InOneStream(question)
                                                                          : InOneMessage(question);
}

}  // namespace

uint32_t ProcessorCount() { return std::max(std::thread::hardware_concurrency(), 1u); }

uint32_t StreamsOfMachine(uint32_t processor_count) {
  return std::clamp(processor_count, 1u, kStreamCountMax);
}

bool MayShare(const RouteQuestion& question) {
  return question.wanted == ArrayTransport::kAuto && question.can_share &&
         question.size_bytes >= kRegionBytesMin;
}

ArrayTransport ChooseRoute(const RouteQuestion& question) {
  switch (question.wanted) {
    case ArrayTransport::kAuto: return Fastest(question);
    case ArrayTransport::kStream: return InOneStream(question);
    case ArrayTransport::kStreams: return InStreams(question);
    case ArrayTransport::kInline:
    case ArrayTransport::kRegion:
    case ArrayTransport::kResident: return question.wanted;
  }
  return question.wanted;
}

}  // namespace gridfold::client
