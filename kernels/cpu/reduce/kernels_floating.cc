#include "kernels/cpu/reduce/kernels.inc.h"

namespace gridfold::kernels::cpu {

template void ReduceStrip<Float16>(const std::byte*, const StripShape&, const ReduceRequest&,
                                   GroupStateOf<Float16>*, ScaledProduct*);
template void ReduceStrip<Bfloat16>(const std::byte*, const StripShape&, const ReduceRequest&,
                                    GroupStateOf<Bfloat16>*, ScaledProduct*);
template void ReduceStrip<float>(const std::byte*, const StripShape&, const ReduceRequest&,
                                 GroupStateOf<float>*, ScaledProduct*);
template void ReduceStrip<double>(const std::byte*, const StripShape&, const ReduceRequest&,
                                  GroupStateOf<double>*, ScaledProduct*);

}  // namespace gridfold::kernels::cpu
