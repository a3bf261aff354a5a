// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/selection.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace spanscope::ui {

/// What a person has selected in a document, to go back and forward.
class SelectionHistory {
 public:
  /// Adds a selection after the present one, and forgets those ahead. Selections of nothing are not kept.
  void note(const Selection& selection);

  /// Whether goBack() or goForward() would give a selection. `now` is what is selected, which may be nothing.
  bool canGoBack(const Selection& now, const document::Document& document) const;
  bool canGoForward(const document::Document& document) const;
  /// The selection before or after the present one. Selections of which every node is gone are passed over.
  /// From nothing, back leads to what was selected last. Nothing if there is none.
  std::optional<Selection> goBack(const Selection& now, const document::Document& document);
  std::optional<Selection> goForward(const document::Document& document);

 private:
  std::optional<std::size_t> before(const Selection& now, const document::Document& document) const;
  std::optional<std::size_t> after(const document::Document& document) const;

  std::vector<Selection> m_selections;
  std::size_t m_now = 0;  ///< index of the present one; 0 also if there is none
};

}  // namespace spanscope::ui
