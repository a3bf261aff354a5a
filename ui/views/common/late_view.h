// SPDX-License-Identifier: GPL-3.0-or-later
// Views that compute a part of what they show on a thread of their own.
#pragma once

namespace spanscope::ui {

/// Implemented by such views, for pictures and tables: these are made once, and must have all of it.
class LateView {
 public:
  virtual ~LateView() = default;

  /// Waits for what the view is computing, within bounds, and shows it.
  virtual void finish() = 0;
};

}  // namespace spanscope::ui
