// What tests read in a report's page.
#ifndef GRIDFOLD_CLIENT_LOAD_REPORT_HTML_TEST_UTIL_H_
#define GRIDFOLD_CLIENT_LOAD_REPORT_HTML_TEST_UTIL_H_

#include <cstddef>
#include <string>
#include <vector>

namespace gridfold::load {

// The part of a page that is under this heading.
inline std::string SectionOf(const std::string& page, const std::string& heading) {
  const size_t begin = page.find("<h2>" + heading + "</h2>");
  return begin == std::string::npos ? ""
                                    : page.substr(begin, page.find("</section>", begin) - begin);
}

// The titles of what a chart draws, in order.
inline std::vector<std::string> TitlesIn(const std::string& section) {
  std::vector<std::string> titles;
  for (size_t at = section.find("<title>"); at != std::string::npos;
       at = section.find("<title>", at)) {
    at += 7;
    titles.push_back(section.substr(at, section.find("</title>", at) - at));
  }
  return titles;
}

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_REPORT_HTML_TEST_UTIL_H_
