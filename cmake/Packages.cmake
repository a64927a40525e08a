# `cpack` in a build folder makes the packages: Debian's, one of each component and linked with the
# distribution's libraries; and with GRIDFOLD_BUNDLE_LIBRARIES an archive of the whole install tree,
# which runs on other distributions too (deploy/README.md, "Packages").
set(CPACK_PACKAGE_VENDOR "gridfold")
set(CPACK_PACKAGE_CONTACT "gridfold <maintainers@gridfold.invalid>")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_THREADS 2)
string(TOLOWER "${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}" system)
set(flavour "cpu")
if(GRIDFOLD_CUDA_ENABLED)
  set(flavour "cuda")
endif()
set(CPACK_PACKAGE_FILE_NAME "gridfold-${PROJECT_VERSION}-${flavour}-${system}")

if(GRIDFOLD_BUNDLE_LIBRARIES)
  set(CPACK_GENERATOR TZST)
  set(CPACK_COMPONENTS_ALL server client development core tree)
  include(CPack)
  return()
endif()

set(packages ${PROJECT_SOURCE_DIR}/deploy/packages)
set(made ${CMAKE_CURRENT_BINARY_DIR}/packages)
# The unit and what it starts, at the places that belong to packages. `cmake --install` has them not.
file(READ ${PROJECT_SOURCE_DIR}/deploy/systemd/gridfold.service unit)
string(REPLACE "/opt/gridfold/libexec/" "/usr/libexec/gridfold/" unit "${unit}")
string(REPLACE "/opt/gridfold/bin/" "/usr/bin/" unit "${unit}")
file(CONFIGURE OUTPUT ${made}/gridfold.service CONTENT "${unit}" @ONLY)
install(FILES ${made}/gridfold.service DESTINATION lib/systemd/system
        COMPONENT service EXCLUDE_FROM_ALL)
install(PROGRAMS deploy/systemd/restart_delay.sh DESTINATION libexec/gridfold
        COMPONENT service EXCLUDE_FROM_ALL)
install(FILES deploy/systemd/gridfold.toml DESTINATION /etc/gridfold
        COMPONENT service EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL server service client development core)
if(TARGET gridfold_hdf5)
  list(APPEND CPACK_COMPONENTS_ALL hdf5)
endif()
set(CPACK_COMPONENT_SERVER_GROUP server_package)
set(CPACK_COMPONENT_SERVICE_GROUP server_package)
set(CPACK_COMPONENT_CLIENT_GROUP client_package)
set(CPACK_COMPONENT_DEVELOPMENT_GROUP development_package)
set(CPACK_COMPONENT_CORE_GROUP core_package)
set(CPACK_COMPONENT_HDF5_GROUP hdf5_package)
# With DESTDIR, since files of /etc have absolute paths.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PRE_BUILD_SCRIPTS ${packages}/debian_files.cmake)
set(CPACK_GRIDFOLD_FOLDER ${packages})
set(CPACK_DEBIAN_SERVER_PACKAGE_PACKAGE_NAME gridfold-server)
set(CPACK_DEBIAN_SERVER_PACKAGE_DESCRIPTION
    "This package has the server. It answers programs on other machines\nover gRPC, with exact sums, on a GPU or on the processors. systemd\nruns it as gridfold.service, with its options in\n/etc/gridfold/gridfold.toml.")
set(CPACK_DEBIAN_SERVER_PACKAGE_PACKAGE_DEPENDS adduser)
set(CPACK_DEBIAN_SERVER_PACKAGE_PACKAGE_SECTION net)
set(CPACK_DEBIAN_SERVER_PACKAGE_PACKAGE_CONTROL_EXTRA
    ${packages}/postinst ${packages}/prerm ${packages}/postrm ${packages}/conffiles)
set(CPACK_DEBIAN_CLIENT_PACKAGE_PACKAGE_NAME gridfold)
set(CPACK_DEBIAN_CLIENT_PACKAGE_DESCRIPTION
    "This package has the command line and the load generator. They ask a\ngridfold server for statistics, running sums and histograms of arrays\nin files or on the server, and measure what the server can do.")
# What reads HDF5 files, and what draws .png.
set(CPACK_DEBIAN_CLIENT_PACKAGE_PACKAGE_SUGGESTS "gridfold-hdf5, librsvg2-bin")
set(CPACK_DEBIAN_HDF5_PACKAGE_PACKAGE_NAME gridfold-hdf5)
set(CPACK_DEBIAN_HDF5_PACKAGE_DESCRIPTION
    "This package has what the command line gridfold needs to read HDF5\nfiles. It is by itself, since the HDF5 library depends on many others.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_PACKAGE_NAME libgridfold-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DESCRIPTION
    "This package has the C++ client library: static library and headers,\nfound by CMake and pkg-config, and the protocol from which other\nlanguages generate their clients.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_PACKAGE_DEPENDS
    "libgrpc++-dev, libprotobuf-dev, libabsl-dev, libssl-dev")
set(CPACK_DEBIAN_CORE_PACKAGE_PACKAGE_NAME libgridfold-core-dev)
set(CPACK_DEBIAN_CORE_PACKAGE_DESCRIPTION
    "This package has the kernels as a C library: reductions, scans,\nhistograms and mergeable accumulators of arrays in memory, without a\nserver, with header, CMake package and pkg-config file.")
set(CPACK_DEBIAN_CORE_PACKAGE_PACKAGE_SECTION libdevel)
include(CPack)
