// SPDX-License-Identifier: GPL-3.0-or-later
// How much of a trace is kept, and what is still selected where it is not.
#pragma once

#include "engine/workbench/settings.h"
#include "ui/window/workspace.h"

#include <cstdint>

namespace spanscope::ui {

/// The most bytes of the live trace.
inline std::uint64_t keptBytesOf(const document::RunSettings& settings) {
  return std::uint64_t(settings.keptMebibytes) << 20;
}

/// Nothing of a trace that the tab no longer shows is selected any more.
inline void forgetSelection(OpenDocument& document) {
  document.selection.request.reset();
  document.selection.block.reset();
  document.selection.token.reset();
  document.selection.physical = kNullBlock;
}

}  // namespace spanscope::ui
