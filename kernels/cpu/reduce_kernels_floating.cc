#include "kernels/cpu/reduce_kernels.inc.h"

namespace gridfold::kernels {

template void ReduceStrip<Float16>(const std::byte*, const StripShape&, const ReduceRequest&,
                                   GroupStateOf<Float16>*, double*);
template void ReduceStrip<Bfloat16>(const std::byte*, const StripShape&, const ReduceRequest&,
                                    GroupStateOf<Bfloat16>*, double*);
template void ReduceStrip<float>(const std::byte*, const StripShape&, const ReduceRequest&,
                                 GroupStateOf<float>*, double*);
template void ReduceStrip<double>(const std::byte*, const StripShape&, const ReduceRequest&,
                                  GroupStateOf<double>*, double*);

}  // namespace gridfold::kernels
