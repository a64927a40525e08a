#include "kernels/cpu/reduce/brief_kernels.inc.h"

namespace gridfold::kernels::cpu {

template void ReduceBriefColumns<uint8_t>(const std::byte*, size_t, uint32_t, uint32_t,
                                          const BriefRequest&, const BriefAnswers&);
template void ReduceBriefGroups<uint8_t>(const std::byte*, const uint64_t*, uint32_t,
                                         const BriefRequest&, const BriefAnswers&);
template void ReduceBriefColumns<uint16_t>(const std::byte*, size_t, uint32_t, uint32_t,
                                           const BriefRequest&, const BriefAnswers&);
template void ReduceBriefGroups<uint16_t>(const std::byte*, const uint64_t*, uint32_t,
                                          const BriefRequest&, const BriefAnswers&);
template void ReduceBriefColumns<uint32_t>(const std::byte*, size_t, uint32_t, uint32_t,
                                           const BriefRequest&, const BriefAnswers&);
template void ReduceBriefGroups<uint32_t>(const std::byte*, const uint64_t*, uint32_t,
                                          const BriefRequest&, const BriefAnswers&);
template void ReduceBriefColumns<uint64_t>(const std::byte*, size_t, uint32_t, uint32_t,
                                           const BriefRequest&, const BriefAnswers&);
template void ReduceBriefGroups<uint64_t>(const std::byte*, const uint64_t*, uint32_t,
                                          const BriefRequest&, const BriefAnswers&);

}  // namespace gridfold::kernels::cpu
