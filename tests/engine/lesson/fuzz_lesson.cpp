// SPDX-License-Identifier: GPL-3.0-or-later
// Bytes as a lesson: faults lie within the text, what is read is written so that it is read again as the
// same, and the page of it, without runs, is made.
#include "engine/lesson/filled.h"
#include "engine/lesson/lesson.h"
#include "engine/lesson/page.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <variant>
#include <vector>

using namespace spanscope::lesson;

namespace {

void mustHold(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ReadLesson read = readLesson(text);
  for (const Fault& fault : read.faults) mustHold(fault.offset <= text.size());
  diagnosticsOf(read.faults, text);
  for (const Step& step : read.lesson.steps) {
    for (const Block& block : step.blocks) {
      const auto* list = std::get_if<ActionList>(&block);
      if (list == nullptr) continue;
      for (const Action& action : list->actions) {
        std::vector<Fault> faults;
        const auto again = readAction(written(action), 0, faults);
        mustHold(again && written(*again) == written(action));
      }
    }
  }
  mustHold(!pageOf(fill(read.lesson, {}), {}).empty());
  return 0;
}
