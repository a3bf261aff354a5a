// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/views/view.h"

#include <QDockWidget>
#include <QLabel>
#include <QToolButton>

#include <functional>

class QHBoxLayout;
class QVBoxLayout;

namespace spanscope::ui {

/// A dock with its title bar: name, a second text with counts, the view's own small controls, a menu.
class Dock : public QDockWidget {
  Q_OBJECT
 public:
  using MakeView = std::function<View*()>;

  /// Around a view, which is made when the dock is first shown: most docks of a layout never are in a
  /// session, and a view takes a millisecond. `titled`: with a title bar of its own.
  Dock(const QString& id, const QString& title, MakeView make, bool titled, QWidget* parent = nullptr);
  /// Around any other widget.
  Dock(const QString& id, const QString& title, QWidget* content, QWidget* parent = nullptr);

  const QString& id() const { return m_id; }
  View* view() const { return m_view; }  ///< nullptr: not made yet, or the content is none
  View* openView();  ///< the same, made now where it was not; nullptr: the content is none
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
  Dock(const QString& id, const QString& title, bool titled, QWidget* parent);
  QWidget* makeTitleBar(const QString& title);
  /// A window of its own has the frame of the desktop: it can be moved, sized, and found in the task bar.
  void frameWindow();

  QString m_id;
  MakeView m_make;  ///< empty: it was made
  View* m_view = nullptr;
  QVBoxLayout* m_content = nullptr;
  QHBoxLayout* m_title = nullptr;  ///< nullptr: without
  QLabel* m_summary = nullptr;
  QWidget* m_titleBar = nullptr;  ///< nullptr: without
  QToolButton* m_maximise = nullptr;
  QAction* m_maximiseAction = nullptr;
  QAction* m_floatAction = nullptr;
  bool m_isPressed = false;   ///< the mouse holds it
  bool m_wasDragged = false;  ///< out of the window, to where it is
};

}  // namespace spanscope::ui
