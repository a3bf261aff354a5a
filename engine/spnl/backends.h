// SPDX-License-Identifier: GPL-3.0-or-later
// What the backends of IBM/spnl 0.22 can do. The provider is the part of a model's name before the first '/'.
#pragma once

#include <cstddef>
#include <string_view>

namespace spanscope::spnl {

/// Whether the server behind the model reuses spans. Only then are inner prompts distributed.
bool supportsSpans(std::string_view model);

/// Whether `repeat` is sent unchanged; if not, it is written out as a plus of generates.
bool supportsBulkRepeat(std::string_view model);

/// Whether `map` is sent unchanged; if not, it is written out as a plus of generates.
bool supportsBulkMap(std::string_view model);

// Names of models in SPNL's form: "provider/name", e.g. "spnl/ibm-granite/granite-3.3-8b-instruct".

/// The provider of span servers.
inline constexpr std::string_view kSpanProvider = "spnl";

/// The part before the first '/'; empty if there is none.
inline std::string_view providerOf(std::string_view model) {
  const std::size_t slash = model.find('/');
  return slash == std::string_view::npos ? std::string_view() : model.substr(0, slash);
}

/// The part after the first '/'; the whole name if there is none.
inline std::string_view nameWithoutProvider(std::string_view model) {
  const std::size_t slash = model.find('/');
  return slash == std::string_view::npos ? model : model.substr(slash + 1);
}

}  // namespace spanscope::spnl
