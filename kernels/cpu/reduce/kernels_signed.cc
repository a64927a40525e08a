#include "kernels/cpu/reduce/kernels.inc.h"

namespace gridfold::kernels::cpu {

template void ReduceStrip<int8_t>(const std::byte*, const StripShape&, const ReduceRequest&,
                                  GroupStateOf<int8_t>*, ScaledProduct*);
template void ReduceStrip<int16_t>(const std::byte*, const StripShape&, const ReduceRequest&,
                                   GroupStateOf<int16_t>*, ScaledProduct*);
template void ReduceStrip<int32_t>(const std::byte*, const StripShape&, const ReduceRequest&,
                                   GroupStateOf<int32_t>*, ScaledProduct*);
template void ReduceStrip<int64_t>(const std::byte*, const StripShape&, const ReduceRequest&,
                                   GroupStateOf<int64_t>*, ScaledProduct*);

}  // namespace gridfold::kernels::cpu
