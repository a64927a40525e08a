#include "kernels/cpu/reduce/brief_kernels.inc.h"

namespace gridfold::kernels::cpu {

template void ReduceBriefColumns<int8_t>(const std::byte*, size_t, uint32_t, uint32_t,
                                         const BriefRequest&, const BriefAnswers&);
template void ReduceBriefGroups<int8_t>(const std::byte*, const uint64_t*, uint32_t,
                                        const BriefRequest&, const BriefAnswers&);
template void ReduceBriefColumns<int16_t>(const std::byte*, size_t, uint32_t, uint32_t,
                                          const BriefRequest&, const BriefAnswers&);
template void ReduceBriefGroups<int16_t>(const std::byte*, const uint64_t*, uint32_t,
                                         const BriefRequest&, const BriefAnswers&);
template void ReduceBriefColumns<int32_t>(const std::byte*, size_t, uint32_t, uint32_t,
                                          const BriefRequest&, const BriefAnswers&);
template void ReduceBriefGroups<int32_t>(const std::byte*, const uint64_t*, uint32_t,
                                         const BriefRequest&, const BriefAnswers&);
template void ReduceBriefColumns<int64_t>(const std::byte*, size_t, uint32_t, uint32_t,
                                          const BriefRequest&, const BriefAnswers&);
template void ReduceBriefGroups<int64_t>(const std::byte*, const uint64_t*, uint32_t,
                                         const BriefRequest&, const BriefAnswers&);

}  // namespace gridfold::kernels::cpu
