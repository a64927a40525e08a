// Manual pages in the language of `man`.
#ifndef GRIDFOLD_MANUAL_MAN_PAGE_H_
#define GRIDFOLD_MANUAL_MAN_PAGE_H_

#include <string>
#include <vector>

#include "manual/command_description.h"

namespace gridfold::manual {

// A page of a section of the manual: 1 has programs for everybody, 8 those of the administrator.
struct ManPage {
  std::string file_name;  // "gridfold-reduce.1".
  std::string text;
};

// The page of the program, and one of each command directly below it, which describes those below
// that as well. `date` is that of the pages, as YYYY-MM-DD.
std::vector<ManPage> WriteManPages(const CommandDescription& program, int section,
                                   const std::string& date);

}  // namespace gridfold::manual

#endif  // GRIDFOLD_MANUAL_MAN_PAGE_H_
