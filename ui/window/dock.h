// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/views/view.h"

#include <QDockWidget>
#include <QLabel>
#include <QScrollArea>
#include <QToolButton>

#include <functional>

class QFrame;
class QHBoxLayout;
class QVBoxLayout;

namespace spanscope::ui {

/// A dock with its title bar: name, a second text with counts, the view's own small controls, a menu.
class Dock : public QDockWidget {
  Q_OBJECT
 public:
  using MakeView = std::function<View*()>;

  /// A dock around a view. The view is made when the dock is first shown, because a view takes a millisecond
  /// and most docks are never shown in a session. If `titled`, the dock has a title bar of its own.
  Dock(const QString& id, const QString& title, MakeView make, bool titled, QWidget* parent = nullptr);
  /// A dock around any other widget.
  Dock(const QString& id, const QString& title, QWidget* content, QWidget* parent = nullptr);

  const QString& id() const { return m_id; }
  View* view() const { return m_view; }  ///< nullptr: the view is not made yet, or the content is no view
  View* openView();  ///< the same, but makes the view now if needed; nullptr: the content is no view
  /// Whether the dock is a strip along an edge of the window, which keeps its height.
  bool isStrip() const { return m_isStrip; }
  void setSummary(const QString& text);
  /// Sets what the view's trace does not report, as a sentence above the view, or in its place; empty:
  /// nothing that the view shows.
  void setUnreported(const QString& text, bool inItsPlace);
  /// Sets whether a lesson speaks of the dock now.
  void setLit(bool isLit);
  /// Sets whether the dock takes the place of all docks. If so, its button and menu offer to put it back.
  void setMaximised(bool maximised);

  bool event(QEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 Q_SIGNALS:
  /// The dock was closed, shown again, floated or put back. It is not sent when a tab covers the dock or its
  /// window is hidden.
  void rearranged();
  void exportWanted(const QString& id);
  void maximiseWanted(const QString& id);

 private:
  Dock(const QString& id, const QString& title, bool titled, QWidget* parent);
  QWidget* makeTitleBar(const QString& title);
  /// Shows in the title what it has room for: first the button to maximise goes, which the menu has too, then
  /// the view's controls go into a drawer.
  void fitTitle();
  void openDrawer();
  /// Gives a floating dock the frame of the desktop, so that it can be moved, sized, and found in the task
  /// bar.
  void frameWindow();
  void showUnreported();

  QString m_id;
  MakeView m_make;  ///< empty: the view was made
  View* m_view = nullptr;
  QVBoxLayout* m_content = nullptr;
  QHBoxLayout* m_title = nullptr;  ///< nullptr: there is no title bar
  QLabel* m_summary = nullptr;
  QString m_summaryText;
  QLabel* m_unreported = nullptr;  ///< nullptr: there was nothing to say yet
  QString m_unreportedText;
  bool m_saysOnlyThat = false;    ///< in the place of the view
  QWidget* m_titleBar = nullptr;  ///< nullptr: there is no title bar
  QLabel* m_name = nullptr;
  QToolButton* m_maximise = nullptr;
  QToolButton* m_more = nullptr;
  QWidget* m_controls = nullptr;          ///< the view's; nullptr: it has none
  QToolButton* m_drawerButton = nullptr;  ///< stands in the title instead of the controls
  QFrame* m_drawer = nullptr;             ///< nullptr: the controls always had room in the title
  QAction* m_maximiseAction = nullptr;
  QAction* m_floatAction = nullptr;
  bool m_isStrip = false;
  bool m_isPressed = false;   ///< the mouse button is down on the dock
  bool m_wasDragged = false;  ///< the mouse dragged the dock out of the window to its place
};

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
