// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/editor/canvas.h"
#include "ui/window/window_parts.h"

#include <QObject>
#include <QString>
#include <QStringList>

class QSettings;

namespace spanscope::ui {

class CommandActions;
class CommandHandlers;
class Dock;
class DockHost;
class View;
struct ViewInfo;
class Workspace;

/// Makes the canvas and the views, each in a dock. Passes the input and the document to canvas and views.
class ViewController : public QObject {
  Q_OBJECT
 public:
  /// All arguments must outlive this object.
  ViewController(QSettings& settings, Workspace& workspace, CommandActions& actions);

  Canvas& canvas() { return *m_canvas; }
  CanvasPlaces& places() { return m_places; }
  DockHost& docks() { return *m_docks; }

  /// Adds the commands of views, docks and layouts.
  void addCommands(CommandHandlers& rows);
  /// Passes the workspace's input to the canvas and all views.
  void showInput();
  /// Shows another document, or none.
  void showCurrent();
  /// Removes the document from canvas and views, because the document is deleted before canvas and views.
  void release();

 Q_SIGNALS:
  void commandWanted(const QString& command);
  /// The user's action in a view had the same effect as this command of the view.
  void performed(const QString& command);
  void commandsChanged();  ///< the available commands have changed
  void messageWanted(const QString& text);
  void complaintWanted(const QString& text);
  void exportWanted(const QString& dock);
  void filesDropped(const QStringList& paths);

 private:
  void makeCanvas();
  void makeDocks();
  View* makeView(const ViewInfo& info);
  void showReported(Dock& dock);
  /// Saves the mouse settings, and applies them to the canvas.
  void useMouse();

  QSettings& m_settings;
  Workspace& m_workspace;
  CommandActions& m_actions;
  DockHost* m_docks;
  Canvas* m_canvas;
  CanvasPlaces m_places;
  CanvasMouse m_mouse;
};

}  // namespace spanscope::ui
