// SPDX-License-Identifier: GPL-3.0-or-later
// What the views of runs have in common: they keep their input while they are hidden, compute when they are
// shown, and slow down by themselves where computing takes long.
#pragma once

#include "ui/views/view.h"

#include <QTimer>

#include <cstddef>
#include <optional>

class QPainter;
class QRect;

namespace spanscope::ui {

class RunView : public View {
  Q_OBJECT
 public:
  explicit RunView(QWidget* parent = nullptr);

  void setInput(const ViewInput& input) final;

 protected:
  /// Computes from input(), which is set, and repaints what differs.
  virtual void refresh() = 0;

  /// Whether events after the position count as well.
  virtual bool usesWholeTrace() const { return false; }

  /// Whether a refresh may come later than its input where the last one took long.
  virtual bool mayWait() const { return true; }

  /// nullptr: none yet.
  const ViewInput* input() const { return m_input ? &*m_input : nullptr; }
  Theme theme() const { return m_input ? m_input->theme : Theme(); }
  /// The present selection with this request shown.
  Selection selectionOf(RunId run, RequestId request, const NodePath& node) const;

  void showEvent(QShowEvent* event) override;

 private:
  void refreshNow();

  std::optional<ViewInput> m_input;
  std::size_t m_traceSize = 0;
  bool m_stale = false;
  QTimer m_later;
};

/// The sentence that an empty view shows, in its middle.
void paintEmptyText(QPainter& painter, const QRect& area, const QString& text, const Theme& theme);

}  // namespace spanscope::ui
