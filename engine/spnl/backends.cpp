// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/spnl/backends.h"

#include <algorithm>
#include <array>

namespace spanscope::spnl {
namespace {

// The providers without a bulk form, as the recorded rows show them. The last of each list is a name that the
// reference has for its own tests.
constexpr std::array<std::string_view, 4> kWithoutBulkRepeat = {"spnl/", "ollama/", "gemini/",
                                                                "disable_bulk_repeat/"};
constexpr std::array<std::string_view, 3> kWithoutBulkMap = {"ollama/", "gemini/", "disable_bulk_map/"};

}  // namespace

bool supportsSpans(std::string_view model) {
  return model.starts_with("spnl/");
}

bool supportsBulkRepeat(std::string_view model) {
  return std::none_of(kWithoutBulkRepeat.begin(), kWithoutBulkRepeat.end(),
                      [&](std::string_view provider) { return model.starts_with(provider); });
}

bool supportsBulkMap(std::string_view model) {
  return std::none_of(kWithoutBulkMap.begin(), kWithoutBulkMap.end(),
                      [&](std::string_view provider) { return model.starts_with(provider); });
}

}  // namespace spanscope::spnl
