# gridfold_add_test(NAME name SOURCES file... LIBRARIES target... [LABELS label...] [ARGS arg...]
#                   [TIMEOUT seconds] [RUN_SERIAL])
# A GoogleTest program, registered with CTest as one test. RUN_SERIAL: it uses a GPU, or judges how
# long things took, and so runs beside no other test.
include(GoogleTest)

# gridfold_compile_soon(target) compiles at -O1 what only tests are made of: it takes longer to compile
# than to run. GCC takes for unset there what it sees set at -O3, which libraries are compiled with.
# UndefinedBehaviorSanitizer, which doubles the time, looks at the libraries alone.
function(gridfold_compile_soon target)
  if(GRIDFOLD_SANITIZER MATCHES "undefined")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=undefined>)
  endif()
  if(CMAKE_CXX_FLAGS_RELEASE MATCHES "-O[23]")
    target_compile_options(${target} PRIVATE
      $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O1$<SEMICOLON>-Wno-maybe-uninitialized>)
  endif()
endfunction()

# Ends a test that does not end by itself, and names it. Objects: from a library the linker would
# take none.
add_library(gridfold_test_watchdog OBJECT ${CMAKE_CURRENT_LIST_DIR}/test_watchdog.cc)
target_link_libraries(gridfold_test_watchdog PRIVATE GTest::gtest gridfold_warnings)

function(gridfold_add_test)
  cmake_parse_arguments(ARG "RUN_SERIAL" "NAME;TIMEOUT" "SOURCES;LIBRARIES;LABELS;ARGS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  add_executable(${ARG_NAME} ${ARG_SOURCES} $<TARGET_OBJECTS:gridfold_test_watchdog>)
  target_link_libraries(${ARG_NAME} PRIVATE ${ARG_LIBRARIES} GTest::gmock GTest::gtest_main
                                            gridfold_warnings)
  gridfold_compile_soon(${ARG_NAME})
  if(CMAKE_BUILD_TYPE MATCHES "^Rel")
    target_precompile_headers(${ARG_NAME} REUSE_FROM hanging_test)
    set_target_properties(${ARG_NAME} PROPERTIES PCH_WARN_INVALID OFF)
  endif()
  add_test(NAME ${ARG_NAME} COMMAND ${ARG_NAME} ${ARG_ARGS})
  set_tests_properties(${ARG_NAME} PROPERTIES
    LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT} RUN_SERIAL ${ARG_RUN_SERIAL})
endfunction()

add_executable(hanging_test ${CMAKE_CURRENT_LIST_DIR}/test_watchdog_test.cc
                            $<TARGET_OBJECTS:gridfold_test_watchdog>)
target_link_libraries(hanging_test PRIVATE GTest::gmock GTest::gtest_main absl::statusor absl::strings
                                           gridfold_warnings)
gridfold_compile_soon(hanging_test)
if(CMAKE_BUILD_TYPE MATCHES "^Rel")
  # GoogleTest takes longer to read than many tests to compile. This test precompiles it for all of them,
  # with the options of the kernels' users; where a test has others the compiler reads the headers.
  target_compile_options(hanging_test PRIVATE -ffp-contract=off)
  target_precompile_headers(hanging_test PRIVATE
    <gmock/gmock.h> <gtest/gtest.h> <absl/status/status.h> <absl/status/statusor.h>
    <absl/strings/str_cat.h> <algorithm> <cmath> <cstdint> <map> <memory> <optional> <random> <span>
    <string> <vector>)
endif()
add_test(NAME test_watchdog_test COMMAND sh -c
  "GRIDFOLD_TEST_SECONDS=1 $<TARGET_FILE:hanging_test> 2>&1 | grep -F 'Hanging.ForEver has run for 1 s'")
