# Language level, warnings, sanitizers and the compiler cache, for every target of the project.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

find_program(GRIDFOLD_CCACHE ccache)
if(GRIDFOLD_CCACHE)
  # Files that are compiled with precompiled headers are cached only with this sloppiness, and copies
  # of the tree in other folders share what is cached where paths inside it do not count.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
      CCACHE_SLOPPINESS=pch_defines,time_macros ${GRIDFOLD_CCACHE})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

# Warnings are for the project's own code: targets link this, generated code does not. They are errors
# with the compiler of Debian 12, which tests are run with; later ones warn of more, also of what is right,
# and so does that one at -O1.
option(GRIDFOLD_WARNINGS_AS_ERRORS "Take warnings of GCC 12 as errors" ON)
add_library(gridfold_warnings INTERFACE)
if(GRIDFOLD_WARNINGS_AS_ERRORS AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND
   CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(gridfold_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wnon-virtual-dtor -Werror>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Werror --Werror=all-warnings>)
else()
  target_compile_options(gridfold_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wnon-virtual-dtor>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>)
endif()

if(GRIDFOLD_SANITIZER)
  # With what sanitizers add, GCC takes values for ones that may not have been set; builds without them
  # look for those.
  target_compile_options(gridfold_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${GRIDFOLD_SANITIZER}>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>)
  add_link_options(-fsanitize=${GRIDFOLD_SANITIZER})
  # The folder of the tree in what debuggers read would keep copies of the tree from sharing a cache.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fdebug-prefix-map=${PROJECT_SOURCE_DIR}=.>)
endif()
