# What is installed belongs to a component, of which Packages.cmake makes packages: server, client,
# development, core (client/core), or tree, which is only in an install tree as a whole.
if(GRIDFOLD_BUNDLE_LIBRARIES)
  # A relocatable install tree: programs find the shared libraries that travel with them in ../lib.
  set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  # As DT_RPATH, which is also searched for what the libraries themselves need; DT_RUNPATH is not.
  add_link_options(-Wl,--disable-new-dtags)
endif()

# gridfold_install_programs(component target...): installs programs, and with
# GRIDFOLD_BUNDLE_LIBRARIES the shared libraries they need, but for the C library's own and the GPU
# driver's, which belong to the machine.
function(gridfold_install_programs component)
  if(NOT GRIDFOLD_BUNDLE_LIBRARIES)
    install(TARGETS ${ARGN} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${component})
    return()
  endif()
  install(TARGETS ${ARGN} RUNTIME_DEPENDENCY_SET gridfold_dependencies
          RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${component})
  get_property(installed GLOBAL PROPERTY GRIDFOLD_DEPENDENCIES_INSTALLED)
  if(NOT installed)
    set_property(GLOBAL PROPERTY GRIDFOLD_DEPENDENCIES_INSTALLED TRUE)
    install(RUNTIME_DEPENDENCY_SET gridfold_dependencies
      PRE_EXCLUDE_REGEXES "^ld-linux" "^libc\\.so" "^libm\\.so" "^libdl\\.so" "^libpthread\\.so"
                          "^librt\\.so" "^libcuda\\.so" "^libresolv\\.so"
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT tree)
  endif()
endfunction()
