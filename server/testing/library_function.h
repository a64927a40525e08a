// For functions that stand in for those of a shared library, to add something to them.
//
// Thread-safe.
#ifndef GRIDFOLD_SERVER_TESTING_LIBRARY_FUNCTION_H_
#define GRIDFOLD_SERVER_TESTING_LIBRARY_FUNCTION_H_

#include <dlfcn.h>

#include <cstdlib>

namespace gridfold::server {

// The library's function of the same name as the one that calls this. Aborts where there is none.
template <class Function>
[[gnu::noinline]] Function* OfLibrary() {
  Dl_info caller;
  if (dladdr(__builtin_return_address(0), &caller) == 0 || caller.dli_sname == nullptr) abort();
  void* const found = dlsym(RTLD_NEXT, caller.dli_sname);
  if (found == nullptr) abort();
  return reinterpret_cast<Function*>(found);
}

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TESTING_LIBRARY_FUNCTION_H_
