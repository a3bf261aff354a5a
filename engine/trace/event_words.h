// SPDX-License-Identifier: GPL-3.0-or-later
// The words of an event for the user, before their translation. Open this file to add a kind of value.
#pragma once

#include "engine/base/ids.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace spanscope::trace {

/// A text of any length. A line shows only its beginning.
struct ShortText {
  std::string text;
  bool operator==(const ShortText&) const = default;
};

/// A step of the event's run. The view chooses its name.
struct StepName {
  StepIndex step = 0;
  bool operator==(const StepName&) const = default;
};

struct EventWords {
  using Value = std::variant<std::uint32_t, std::uint64_t, double, std::string, ShortText, StepName>;

  const char* text = "";      ///< marked by forTranslation("Events", …), with %1, %2, … in it
  std::vector<Value> values;  ///< the values of %1, %2, … in this order
  bool operator==(const EventWords&) const = default;
};

}  // namespace spanscope::trace
