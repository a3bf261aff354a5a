// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/prompt_parts.h"

#include <variant>

namespace spanscope::ui {

trace::PromptParts promptParts(const ViewInput& input, RequestId request) {
  const auto& requests = input.state().progress().requests;
  const auto found = requests.find(request);
  if (found == requests.end()) return {};
  const trace::PromptDivided* divided = nullptr;
  if (const RequestEvents* events = input.trace->request(request)) {
    for (const std::size_t index : events->of<trace::PromptDivided>()) {
      if (index < input.position)
        divided = std::get_if<trace::PromptDivided>(&input.trace->event(index).payload);
    }
  }
  return trace::PromptParts(found->second.segments, divided);
}

}  // namespace spanscope::ui
