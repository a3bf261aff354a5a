// SPDX-License-Identifier: GPL-3.0-or-later
// Names of models as SPNL writes them: "provider/name", e.g. "spnl/ibm-granite/granite-3.3-8b-instruct".
#pragma once

#include <cstddef>
#include <string_view>

namespace spanscope::spnl {

/// The provider of span servers.
inline constexpr std::string_view kSpanProvider = "spnl";

/// What stands before the first '/'; empty where there is none.
inline std::string_view providerOf(std::string_view model) {
  const std::size_t slash = model.find('/');
  return slash == std::string_view::npos ? std::string_view() : model.substr(0, slash);
}

/// What stands behind the first '/'; the whole name where there is none.
inline std::string_view nameWithoutProvider(std::string_view model) {
  const std::size_t slash = model.find('/');
  return slash == std::string_view::npos ? model : model.substr(slash + 1);
}

}  // namespace spanscope::spnl
