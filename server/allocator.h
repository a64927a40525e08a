// The program's allocator, where it is mimalloc.
#ifndef GRIDFOLD_SERVER_ALLOCATOR_H_
#define GRIDFOLD_SERVER_ALLOCATOR_H_

namespace gridfold::server {

// Has freed memory stay with the process until it has not been used for a second. By
// default mimalloc gives it back after some 20 ms, so that calls whose answers take longer than
// that get every page anew from the system, which costs more than to fill it. To be called before
// any thread is started. Does nothing where the allocator is another one.
void KeepFreedMemory();

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_ALLOCATOR_H_
