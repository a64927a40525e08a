#include "server/version.h"

namespace gridfold::server {

const char* Version() { return GRIDFOLD_VERSION; }

}  // namespace gridfold::server
