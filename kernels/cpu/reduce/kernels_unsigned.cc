#include "kernels/cpu/reduce/kernels.inc.h"

namespace gridfold::kernels::cpu {

template void ReduceStrip<uint8_t>(const std::byte*, const StripShape&, const ReduceRequest&,
                                   GroupStateOf<uint8_t>*, ScaledProduct*);
template void ReduceStrip<uint16_t>(const std::byte*, const StripShape&, const ReduceRequest&,
                                    GroupStateOf<uint16_t>*, ScaledProduct*);
template void ReduceStrip<uint32_t>(const std::byte*, const StripShape&, const ReduceRequest&,
                                    GroupStateOf<uint32_t>*, ScaledProduct*);
template void ReduceStrip<uint64_t>(const std::byte*, const StripShape&, const ReduceRequest&,
                                    GroupStateOf<uint64_t>*, ScaledProduct*);

}  // namespace gridfold::kernels::cpu
