# gridfold_add_test(NAME name SOURCES file... LIBRARIES target... [LABELS label...] [ARGS arg...]
#                   [TIMEOUT seconds] [RUN_SERIAL])
# A GoogleTest program, registered with CTest as one test. RUN_SERIAL: it uses a GPU, or judges how
# long things took, and so runs beside no other test.
include(GoogleTest)
function(gridfold_add_test)
  cmake_parse_arguments(ARG "RUN_SERIAL" "NAME;TIMEOUT" "SOURCES;LIBRARIES;LABELS;ARGS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  add_executable(${ARG_NAME} ${ARG_SOURCES})
  target_link_libraries(${ARG_NAME} PRIVATE ${ARG_LIBRARIES} GTest::gmock GTest::gtest_main
                                            gridfold_warnings)
  add_test(NAME ${ARG_NAME} COMMAND ${ARG_NAME} ${ARG_ARGS})
  set_tests_properties(${ARG_NAME} PROPERTIES
    LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT} RUN_SERIAL ${ARG_RUN_SERIAL})
endfunction()
