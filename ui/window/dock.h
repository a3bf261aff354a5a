// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/views/view.h"

#include <QDockWidget>
#include <QLabel>
#include <QToolButton>

namespace spanscope::ui {

/// A dock with its title bar: name, a second text with counts, the view's own small controls, a menu.
class Dock : public QDockWidget {
  Q_OBJECT
 public:
  /// Around a view, or around any other widget without a title bar of its own (`titled` false).
  Dock(const QString& id, const QString& title, QWidget* content, bool titled, QWidget* parent = nullptr);

  const QString& id() const { return m_id; }
  View* view() const { return m_view; }  ///< nullptr: the content is none
  void setSummary(const QString& text);
  /// Whether it has the place of all docks, which its button and menu then give back.
  void setMaximised(bool maximised);

  bool event(QEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 Q_SIGNALS:
  /// It was closed, shown again, floated or put back; not: covered by a tab, or hidden with its window.
  void rearranged();
  void exportWanted(const QString& id);
  void maximiseWanted(const QString& id);

 private:
  QWidget* makeTitleBar(const QString& title);
  /// A window of its own has the frame of the desktop: it can be moved, sized, and found in the task bar.
  void frameWindow();

  QString m_id;
  View* m_view = nullptr;
  QLabel* m_summary = nullptr;
  QWidget* m_titleBar = nullptr;  ///< nullptr: without
  QToolButton* m_maximise = nullptr;
  QAction* m_maximiseAction = nullptr;
  QAction* m_floatAction = nullptr;
  bool m_isPressed = false;   ///< the mouse holds it
  bool m_wasDragged = false;  ///< out of the window, to where it is
};

}  // namespace spanscope::ui
