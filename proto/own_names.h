// What protoc defines for a file itself, under the same names in every file. CMake compiles several of
// them in one, with a GRIDFOLD_FILE for each.
#ifndef GRIDFOLD_PROTO_OWN_NAMES_H_
#define GRIDFOLD_PROTO_OWN_NAMES_H_

// Where the names mean something else, which comes first.
#include <google/protobuf/generated_message_reflection.h>
#include <google/protobuf/message.h>

#define GRIDFOLD_OWN_NAME_OF(name, file) name##_##file
#define GRIDFOLD_OWN_NAME(name, file) GRIDFOLD_OWN_NAME_OF(name, file)
#define schemas GRIDFOLD_OWN_NAME(schemas_of, GRIDFOLD_FILE)
#define file_default_instances GRIDFOLD_OWN_NAME(default_instances_of, GRIDFOLD_FILE)

#endif  // GRIDFOLD_PROTO_OWN_NAMES_H_
