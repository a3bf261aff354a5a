// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/commands/command_table.h"
#include "ui/theme/theme.h"

#include <QObject>
#include <QString>

#include <memory>

class QMainWindow;
class QMenu;
class QSettings;

namespace spanscope::ui {

class Canvas;
class CommandActions;
class CommandPalette;
class DockHost;
class LessonController;
class PageArea;
struct WindowParts;
class Workspace;

/// Offers the commands of the command table in menus, by keys and in the palette. Each controller of the
/// window adds handlers for its commands. The canvas handles the commands of nodes.
class CommandController : public QObject {
  Q_OBJECT
 public:
  /// All arguments must outlive this object.
  CommandController(QMainWindow& window, QSettings& settings, Workspace& workspace);
  ~CommandController() override;

  /// The handlers of commands. The canvas has the handlers for nodes.
  CommandHandlers& handlers() { return m_handlers; }
  const CommandHandlers& handlers() const { return m_handlers; }
  CommandActions& actions() { return *m_actions; }
  QMenu& menu() { return *m_menu; }
  const KeyBindings& keys() const { return m_keys; }

  /// Fills the menu. Call this function after all controllers have added their commands.
  void start(const WindowParts& parts, LessonController& lessons);
  /// Reads the user's keys from the settings.
  void readKeys();
  void setTheme(const Theme& theme);

  /// Performs a command of the table, or a command with an argument. Does nothing if the command is not
  /// available now.
  void perform(const QString& command);
  /// Whether the command's subject is available.
  bool hasSubject(const CommandInfo& info) const;
  /// Enables the commands that are available now.
  void refresh();

 Q_SIGNALS:
  void performed(const QString& command);
  void keysChanged();

 private:
  void addCommands();
  void fillMenu(DockHost& docks, LessonController& lessons);
  /// Whether menus and keys enable the command.
  bool isOffered(const CommandInfo& info) const;
  void useKeys();
  void changeKeys();
  void openPalette();

  QMainWindow& m_window;
  QSettings& m_settings;
  Workspace& m_workspace;
  std::unique_ptr<QMenu> m_menu;
  CommandHandlers m_handlers;
  KeyBindings m_keys;
  CommandActions* m_actions;
  Canvas* m_canvas = nullptr;           ///< not null after start()
  const PageArea* m_pages = nullptr;    ///< not null after start()
  CommandPalette* m_palette = nullptr;  ///< not null after start()
};

}  // namespace spanscope::ui
