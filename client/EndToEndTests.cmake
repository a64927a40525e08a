# The command line, a plain Python client, the Python package, NumPy's tests of its functions, the load
# generator and random questions of arrays of any shape against gridfold_server, once for each engine.
# They need Debian's python3-numpy and python3-grpcio, which another Python on the PATH does not see.
find_program(GRIDFOLD_TEST_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(GRIDFOLD_GRPC_PYTHON_PLUGIN grpc_python_plugin)
if(NOT GRIDFOLD_TEST_PYTHON OR NOT GRIDFOLD_GRPC_PYTHON_PLUGIN)
  message(STATUS "gridfold: no python3 or grpc_python_plugin, so no end-to-end tests")
  return()
endif()

set(python_stubs ${CMAKE_CURRENT_BINARY_DIR}/python_stubs)
file(GLOB proto_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/proto/gridfold/v1/*.proto)
add_custom_command(
  OUTPUT ${python_stubs}/stamp
  COMMAND ${CMAKE_COMMAND} -E make_directory ${python_stubs}
  COMMAND protobuf::protoc -I ${PROJECT_SOURCE_DIR}/proto --python_out=${python_stubs}
          --grpc_out=${python_stubs} --plugin=protoc-gen-grpc=${GRIDFOLD_GRPC_PYTHON_PLUGIN}
          ${proto_files}
  COMMAND ${CMAKE_COMMAND} -E touch ${python_stubs}/stamp
  DEPENDS ${proto_files}
  VERBATIM)
add_custom_target(gridfold_python_stubs ALL DEPENDS ${python_stubs}/stamp)

# Each file of cli/ is a test of its own, so that it is known by name what fails, and changed code is
# judged by the tests next to it first.
file(GLOB cli_tests CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/cli
     ${CMAKE_CURRENT_SOURCE_DIR}/cli/*_test.py)
list(TRANSFORM cli_tests REPLACE "^(.+)_test\\.py$" "cli_\\1")

set(engines cpu)
if(GRIDFOLD_CUDA_ENABLED)
  list(APPEND engines cuda)
endif()
foreach(engine ${engines})
  set(environment
    GRIDFOLD_TEST_ENGINE=${engine}
    GRIDFOLD_SERVER_BINARY=$<TARGET_FILE:gridfold_server>
    GRIDFOLD_CLI_BINARY=$<TARGET_FILE:gridfold>
    GRIDFOLD_LOAD_BINARY=$<TARGET_FILE:gridfold_load>
    GRIDFOLD_SAMPLE_DATA=${PROJECT_SOURCE_DIR}/deploy/sample_data
    GRIDFOLD_PYTHON_STUBS=${python_stubs}
    PYTHONDONTWRITEBYTECODE=1)
  set(tests ${cli_tests} python_client load shape)
  if(TARGET gridfold_python)
    list(APPEND tests python_package numpy_suite)
    list(APPEND environment GRIDFOLD_PYTHON_PACKAGE=${CMAKE_CURRENT_BINARY_DIR}/python)
  endif()
  foreach(test ${tests})
    set(arguments)
    if(test MATCHES "^cli_(.+)$")
      set(script cli_test.py)
      set(arguments --pattern ${CMAKE_MATCH_1}_test.py)
    elseif(test STREQUAL "python_client")
      set(script python/check_python_client.py)
    elseif(test STREQUAL "python_package")
      set(script python/package_test.py)
    elseif(test STREQUAL "numpy_suite")
      set(script python/numpy_suite/run_suite.py)
    elseif(test STREQUAL "load")
      set(script load/load_end_to_end_test.py)
    elseif(test STREQUAL "shape")
      set(script shape_benchmark/shape_test.py)
    endif()
    add_test(NAME ${test}_${engine}_test
             COMMAND ${GRIDFOLD_TEST_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/${script}
                     ${arguments})
    set_tests_properties(${test}_${engine}_test PROPERTIES
                         ENVIRONMENT "${environment}" TIMEOUT 600 SKIP_RETURN_CODE 77)
    if(engine STREQUAL "cuda")
      set_tests_properties(${test}_${engine}_test PROPERTIES LABELS gpu RUN_SERIAL TRUE)
    elseif(test STREQUAL "load")
      set_tests_properties(${test}_${engine}_test PROPERTIES RUN_SERIAL TRUE)
    endif()
  endforeach()
endforeach()

# Clients in other languages. They are compiled here: one at a time.
add_test(NAME languages_test
         COMMAND ${GRIDFOLD_TEST_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/examples/languages_test.py)
set_tests_properties(languages_test PROPERTIES
  ENVIRONMENT "GRIDFOLD_SERVER_BINARY=$<TARGET_FILE:gridfold_server>;GOCACHE=${CMAKE_CURRENT_BINARY_DIR}/go_cache;PYTHONDONTWRITEBYTECODE=1"
  TIMEOUT 600)
