#include "kernels/cpu/reduce/brief_kernels.inc.h"

namespace gridfold::kernels::cpu {

template void ReduceBriefColumns<Float16>(const std::byte*, size_t, uint32_t, uint32_t,
                                          const BriefRequest&, const BriefAnswers&);
template void ReduceBriefGroups<Float16>(const std::byte*, const uint64_t*, uint32_t,
                                         const BriefRequest&, const BriefAnswers&);
template void ReduceBriefColumns<Bfloat16>(const std::byte*, size_t, uint32_t, uint32_t,
                                           const BriefRequest&, const BriefAnswers&);
template void ReduceBriefGroups<Bfloat16>(const std::byte*, const uint64_t*, uint32_t,
                                          const BriefRequest&, const BriefAnswers&);
template void ReduceBriefColumns<float>(const std::byte*, size_t, uint32_t, uint32_t,
                                        const BriefRequest&, const BriefAnswers&);
template void ReduceBriefGroups<float>(const std::byte*, const uint64_t*, uint32_t,
                                       const BriefRequest&, const BriefAnswers&);
template void ReduceBriefColumns<double>(const std::byte*, size_t, uint32_t, uint32_t,
                                         const BriefRequest&, const BriefAnswers&);
template void ReduceBriefGroups<double>(const std::byte*, const uint64_t*, uint32_t,
                                        const BriefRequest&, const BriefAnswers&);

}  // namespace gridfold::kernels::cpu
