# Decides whether the CUDA engine is built (GRIDFOLD_CUDA_ENABLED) and for which architectures.
set(GRIDFOLD_CUDA_ENABLED OFF)
if(NOT GRIDFOLD_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 90 CACHE STRING "Compute capabilities to build for; 80 and up")
    endif()
    foreach(architecture IN LISTS CMAKE_CUDA_ARCHITECTURES)
      if(architecture MATCHES "^([0-9]+)" AND CMAKE_MATCH_1 LESS 80)
        message(FATAL_ERROR "CMAKE_CUDA_ARCHITECTURES has ${architecture}; the kernels need 80 or newer")
      endif()
    endforeach()
    enable_language(CUDA)
    set(GRIDFOLD_CUDA_ENABLED ON)
    # The programs start on machines without a driver: the runtime is linked in, and finds the
    # driver's library when it is first used.
    set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
    # CMake 3.25 does not know the standards of newer nvcc: it must not insist on one, nor can it set it.
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED OFF)
    add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)
    # Shared numerics call constexpr functions of the standard library; no product may be fused into
    # a sum behind the code's back, or the bits would differ from the CPU engine's.
    add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr>
                        $<$<COMPILE_LANGUAGE:CUDA>:--fmad=false>)
    find_package(CUDAToolkit REQUIRED)
  elseif(GRIDFOLD_CUDA STREQUAL "ON")
    message(FATAL_ERROR "GRIDFOLD_CUDA=ON, but no CUDA compiler was found")
  endif()
endif()
message(STATUS "gridfold: CUDA engine ${GRIDFOLD_CUDA_ENABLED}")
