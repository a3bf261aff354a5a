// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/report.h"

#include "engine/trace/event_fields.h"
#include "engine/trace/line_pieces.h"

#include <variant>

namespace spanscope::trace {

namespace {

constexpr double kNanoseconds = 1e9;

}  // namespace

std::string describe(const Event& event) {
  std::string out = "#" + std::to_string(event.sequence) + " " +
                    fixedPoint(static_cast<double>(event.time) / kNanoseconds, 6) + "s " +
                    eventName(event.payload);
  if (event.run != 0) out += " run " + std::to_string(event.run);
  if (event.request != 0) out += " request " + std::to_string(event.request);
  if (!event.node.empty()) out += " " + escaped(event.node);
  return out + ": " +
         std::visit([]<class T>(const T& payload) { return std::string(Facts<T>::line(payload)); },
                    event.payload);
}

std::optional<Severity> severityOf(const Event& event) {
  return std::visit([]<class T>(const T& payload) { return Facts<T>::severity(payload); }, event.payload);
}

EventWords wordsOf(const Event& event) {
  return std::visit(
      [&event]<class T>(const T& payload) {
        if constexpr (requires { Facts<T>::words(payload, event); }) return Facts<T>::words(payload, event);
        return EventWords();
      },
      event.payload);
}

const char* plainNameOf(const Event& event) {
  return std::visit([]<class T>(const T& payload) { return Facts<T>::plain(payload); }, event.payload);
}

EventWords detailOf(const Event& event) {
  return std::visit([]<class T>(const T& payload) -> EventWords { return Facts<T>::detail(payload); },
                    event.payload);
}

}  // namespace spanscope::trace
