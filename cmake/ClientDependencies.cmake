# What the client libraries take from elsewhere, and the server too.
find_package(Threads REQUIRED)
find_package(absl CONFIG REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(Protobuf REQUIRED)
find_package(gRPC CONFIG REQUIRED)

# Debian's Protobuf comes by CMake's module; newer ones by their own configuration. Both define this.
if(NOT TARGET protobuf::protoc)
  find_program(GRIDFOLD_PROTOC protoc REQUIRED)
  add_executable(protobuf::protoc IMPORTED)
  set_target_properties(protobuf::protoc PROPERTIES IMPORTED_LOCATION ${GRIDFOLD_PROTOC})
endif()
