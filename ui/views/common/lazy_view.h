// SPDX-License-Identifier: GPL-3.0-or-later
// A view that computes only when it is seen and only when something it depends on has changed.
#pragma once

#include "ui/views/view.h"

#include <cstddef>
#include <optional>

namespace spanscope::ui {

class LazyView : public View {
  Q_OBJECT
 public:
  using View::View;

  void setInput(const ViewInput& input) override;

 protected:
  /// Computes what is shown from input(), which there is then.
  virtual void refresh() = 0;
  /// Computes now if that is still to be done: before exporting a view that was never shown.
  void ensureFresh();

  const ViewInput* input() const { return m_input ? &*m_input : nullptr; }
  Theme theme() const { return m_input ? m_input->theme : Theme(); }
  /// The size of the trace that refresh() saw; a live trace grows in place.
  std::size_t traceSize() const { return m_traceSize; }

  void showEvent(QShowEvent* event) override;

 private:
  std::optional<ViewInput> m_input;
  std::size_t m_traceSize = 0;
  bool m_stale = false;
};

}  // namespace spanscope::ui
