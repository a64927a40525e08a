# A folder of kernels/ or server/ is a library of objects, and says here which folders it uses:
#
# gridfold_add_folder([SOURCES file...] [USES folder...] [LIBRARIES target...])
#
# `USES` names folders from the root of the tree, as kernels/contract. Files of a folder include
# their own folder, these and no others, which deploy/check_walls.py holds; CMake refuses a circle.
# The target has the folder's name with underscores. A folder of headers alone is an interface.
# The objects of all folders below a part (GRIDFOLD_PART) are those of its library; the global property
# <part>_folders names their targets.
function(gridfold_add_folder)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES;LIBRARIES" ${ARGN})
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  gridfold_folder_target(${folder} target)
  foreach(used IN LISTS ARG_USES)
    gridfold_folder_target(${used} used_target)
    list(APPEND ARG_LIBRARIES ${used_target})
  endforeach()
  if(NOT ARG_SOURCES)
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${ARG_LIBRARIES})
    return()
  endif()
  add_library(${target} OBJECT ${ARG_SOURCES})
  gridfold_compile_together(${target})
  target_link_libraries(${target} PUBLIC ${ARG_LIBRARIES} ${GRIDFOLD_PART}_usage
                                  PRIVATE ${GRIDFOLD_PART}_settings gridfold_warnings)
  target_sources(${GRIDFOLD_PART} PRIVATE $<TARGET_OBJECTS:${target}>)
  set_property(GLOBAL APPEND PROPERTY ${GRIDFOLD_PART}_folders ${target})
  if(GRIDFOLD_PART_PRECOMPILED AND NOT target STREQUAL GRIDFOLD_PART_PRECOMPILED)
    target_precompile_headers(${target} REUSE_FROM ${GRIDFOLD_PART_PRECOMPILED})
  endif()
endfunction()

# The target of a folder that is named from the root of the tree.
function(gridfold_folder_target folder result)
  string(REPLACE "/" "_" name "gridfold_${folder}")
  set(${result} ${name} PARENT_SCOPE)
endfunction()

# gridfold_compile_together(target) has 16 files of the target compiled at a time in builds that compile
# several (CMAKE_UNITY_BUILD; CMake's own number is 8): they share the headers that they read.
function(gridfold_compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 16)
endfunction()
