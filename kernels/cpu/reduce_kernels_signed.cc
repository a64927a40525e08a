#include "kernels/cpu/reduce_kernels.inc.h"

namespace gridfold::kernels {

template void ReduceStrip<int8_t>(const std::byte*, const StripShape&, const ReduceRequest&,
                                  GroupStateOf<int8_t>*, double*);
template void ReduceStrip<int16_t>(const std::byte*, const StripShape&, const ReduceRequest&,
                                   GroupStateOf<int16_t>*, double*);
template void ReduceStrip<int32_t>(const std::byte*, const StripShape&, const ReduceRequest&,
                                   GroupStateOf<int32_t>*, double*);
template void ReduceStrip<int64_t>(const std::byte*, const StripShape&, const ReduceRequest&,
                                   GroupStateOf<int64_t>*, double*);

}  // namespace gridfold::kernels
