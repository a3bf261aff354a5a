// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"

#include "engine/base/problem_sentence.h"
#include "engine/base/utf8.h"

namespace spanscope {

std::string Error::message() const {
  std::string text;
  for (const std::string& part : {file, place, problemSentence(found, expected)}) {
    if (part.empty()) continue;
    if (!text.empty()) text += ": ";
    text += part;
  }
  return onOneLine(text);
}

}  // namespace spanscope
