// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/editor/canvas.h"
#include "ui/window/canvas_places.h"

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

/// Makes the canvas and the views, each in a dock, and gives them what they show.
class ViewController : public QObject {
  Q_OBJECT
 public:
  /// All must outlive it.
  ViewController(QSettings& settings, Workspace& workspace, CommandActions& actions);

  Canvas& canvas() { return *m_canvas; }
  CanvasPlaces& places() { return m_places; }
  DockHost& docks() { return *m_docks; }

  /// Adds the commands of views, docks and layouts.
  void addCommands(CommandHandlers& rows);
  /// Shows the input of the workspace.
  void showInput();
  /// Shows another document, or none.
  void showCurrent();
  /// Canvas and views drop the document, which ends before they do.
  void release();

 Q_SIGNALS:
  void commandWanted(const QString& command);
  /// The user did in a view what this command of it would have done.
  void performed(const QString& command);
  void commandsChanged();  ///< other commands can be carried out
  void messageWanted(const QString& text);
  void complaintWanted(const QString& text);
  void exportWanted(const QString& dock);
  void filesDropped(const QStringList& paths);

 private:
  void makeCanvas();
  void makeDocks();
  View* makeView(const ViewInfo& info);
  void showReported(Dock& dock);
  /// Keeps what the mouse does on the canvas, and sets it there.
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
