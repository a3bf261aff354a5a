// SPDX-License-Identifier: GPL-3.0-or-later
// Lists what the backends of IBM/spnl 0.22 can do. The provider is the beginning of a model's name, before
// the first '/'. Open this file to add a backend.
#pragma once

#include <cstddef>
#include <string_view>

namespace spanscope::spnl {

/// Whether the model's server reuses spans. Only then are inner prompts distributed.
bool supportsSpans(std::string_view model);

/// Whether `repeat` is sent unchanged. If not, it is written out as a plus of generates.
bool supportsBulkRepeat(std::string_view model);

/// Whether `map` is sent unchanged. If not, it is written out as a plus of generates.
bool supportsBulkMap(std::string_view model);

// Names of models in SPNL's form: "provider/name", e.g. "spnl/ibm-granite/granite-3.3-8b-instruct".

/// The provider of servers with span support.
inline constexpr std::string_view kSpanProvider = "spnl";

/// Returns the part before the first '/', or an empty text.
inline std::string_view providerOf(std::string_view model) {
  const std::size_t slash = model.find('/');
  return slash == std::string_view::npos ? std::string_view() : model.substr(0, slash);
}

/// Returns the part after the first '/', or the whole name.
inline std::string_view nameWithoutProvider(std::string_view model) {
  const std::size_t slash = model.find('/');
  return slash == std::string_view::npos ? model : model.substr(slash + 1);
}

}  // namespace spanscope::spnl
