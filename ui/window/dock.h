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

/// A dock. The title bar of the dock has the name, a summary with counts, the view's small controls, and a
/// menu.
class Dock : public QDockWidget {
  Q_OBJECT
 public:
  using MakeView = std::function<View*()>;

  /// A dock around a view. The dock calls `make` when it is first shown. Making a view takes a millisecond,
  /// and most docks are never shown. If `titled`, the dock has its own title bar.
  Dock(const QString& id, const QString& title, MakeView make, bool titled, QWidget* parent = nullptr);
  /// A dock around any other widget.
  Dock(const QString& id, const QString& title, QWidget* content, QWidget* parent = nullptr);

  const QString& id() const { return m_id; }
  View* view() const { return m_view; }  ///< nullptr: there is no view yet, or the content is not a view
  View* openView();                      ///< makes the view if needed; nullptr: the content is not a view
  bool isStrip() const { return m_isStrip; }  ///< a strip along an edge of the window keeps its height
  void setSummary(const QString& text);
  /// Sets a sentence about data that the view's trace does not report. The sentence is above the view, or
  /// replaces the view. Empty: the trace reports all data of the view.
  void setUnreported(const QString& text, bool inItsPlace);
  /// Sets whether the step of a lesson names the dock.
  void setLit(bool isLit);
  /// Sets whether the dock has the space of all docks. If so, the button and the menu item of the dock
  /// restore the other docks.
  void setMaximised(bool maximised);

  bool event(QEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 Q_SIGNALS:
  /// The dock was closed, shown, floated or returned to the window. Not sent when a tab covers the dock or
  /// when the dock's window is hidden.
  void rearranged();
  void exportWanted(const QString& id);
  void maximiseWanted(const QString& id);

 private:
  Dock(const QString& id, const QString& title, bool titled, QWidget* parent);
  QWidget* makeTitleBar(const QString& title);
  /// Fits the title bar into its width. First the button to maximise disappears, which is also a menu item.
  /// Then the view's controls move into a drawer.
  void fitTitle();
  /// Fits the height of the title bar to the controls in it. A legend can have two lines.
  void fitTitleHeight();
  void openDrawer();
  /// Gives a floating dock the window frame of the desktop. So the user can move and resize the dock, and
  /// find it in the task bar.
  void frameWindow();
  void showUnreported();

  QString m_id;
  MakeView m_make;  ///< empty: there is a view, or the content is not a view
  View* m_view = nullptr;
  QWidget* m_holder = nullptr;  ///< the view, or the scroll area around it; nullptr: there is no view
  QVBoxLayout* m_content = nullptr;
  QHBoxLayout* m_title = nullptr;  ///< nullptr: there is no title bar
  QLabel* m_summary = nullptr;
  QString m_summaryText;
  QLabel* m_unreported = nullptr;  ///< nullptr: no such sentence was set yet
  QString m_unreportedText;
  bool m_saysOnlyThat = false;    ///< m_unreported replaces the view
  QWidget* m_titleBar = nullptr;  ///< nullptr: there is no title bar
  QLabel* m_name = nullptr;
  QToolButton* m_maximise = nullptr;
  QToolButton* m_more = nullptr;
  QWidget* m_controls = nullptr;          ///< controls of the view; nullptr: no controls
  QToolButton* m_drawerButton = nullptr;  ///< replaces controls that are in the drawer
  QFrame* m_drawer = nullptr;             ///< nullptr: the title always had room for the controls
  QAction* m_maximiseAction = nullptr;
  QAction* m_floatAction = nullptr;
  bool m_isStrip = false;
  bool m_isPressed = false;   ///< the mouse button is down on the dock
  bool m_wasDragged = false;  ///< the user dragged the dock out of the window
};

/// Gives a view the available room. If the view needs more, the user can scroll the view. So no view keeps
/// the window larger than the screen, and no view is cut.
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

  QSize m_least;  ///< min size of the view at the last fit()
  QSize m_room;   ///< room for the view at the last fit()
};

}  // namespace spanscope::ui
