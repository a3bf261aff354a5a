// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"

#include "engine/base/utf8.h"

namespace spanscope {

std::string Error::message() const {
  std::string text;
  const auto append = [&text](const char* separator, const std::string& part, const char* word) {
    if (part.empty()) return;
    if (!text.empty()) text += separator;
    text += word;
    text += part;
  };
  append(": ", file, "");
  append(": ", place, "");
  append(": ", found, "found ");
  append(found.empty() ? ": " : ", ", expected, "expected ");
  return onOneLine(text);
}

}  // namespace spanscope
