#include "server/base/version.h"

namespace gridfold::server {

const char* Version() { return GRIDFOLD_VERSION; }

}  // namespace gridfold::server
