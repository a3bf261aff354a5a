// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QScrollArea>

namespace spanscope::ui {

/// Gives a view the room that there is. If this is less than the view needs at least, the view can be
/// scrolled, so that no view keeps the window larger than the screen, and none is cut.
class ViewScroll : public QScrollArea {
 public:
  /// Takes ownership of the view.
  explicit ViewScroll(QWidget* view, QWidget* parent = nullptr);

  QSize minimumSizeHint() const override;
  QSize sizeHint() const override;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void fit();

  QSize m_least;  ///< what the view needed when it was fitted last
  QSize m_room;   ///< the room that it had then
};

}  // namespace spanscope::ui
