// Memory for large answers.
#ifndef GRIDFOLD_CLIENT_LIBRARY_HUGE_PAGES_H_
#define GRIDFOLD_CLIENT_LIBRARY_HUGE_PAGES_H_

#include <cstdint>
#include <string>

namespace gridfold::client {

// Makes room for `size_bytes` in `data`: in huge pages where that is much and the system has any,
// since the faults of small ones take longer than the copy.
void ReserveLarge(uint64_t size_bytes, std::string& data);

// Makes `data`, which is empty, as many zeros, in such room. Where it is very much several threads
// bring its pages, as one would take longer than a result takes to arrive over several connections.
void ResizeLarge(uint64_t size_bytes, std::string& data);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_HUGE_PAGES_H_
