// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/commands/command_actions.h"
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

/// Offers the commands of the command table in menus, by keys and in the palette. Each role of the window
/// adds what its commands do; the canvas carries out those of nodes.
class CommandController : public QObject {
  Q_OBJECT
 public:
  /// All must outlive it.
  CommandController(QMainWindow& window, QSettings& settings, Workspace& workspace);
  ~CommandController() override;

  /// What commands do. The canvas has those of nodes.
  CommandHandlers& handlers() { return m_handlers; }
  const CommandHandlers& handlers() const { return m_handlers; }
  CommandActions& actions() { return *m_actions; }
  QMenu& menu() { return *m_menu; }
  const KeyBindings& keys() const { return m_keys; }

  /// Fills the menu, once all roles have added their commands.
  void start(const WindowParts& parts, LessonController& lessons);
  /// Takes the keys that the user chose.
  void readKeys();
  void setTheme(const Theme& theme);

  /// Carries out a command of the table, or a command with an argument. Does nothing if the command cannot be
  /// carried out now.
  void perform(const QString& command);
  /// Whether the thing on which the command acts is there.
  bool hasSubject(const CommandInfo& info) const;
  /// Offers what can be carried out now.
  void refresh();

 Q_SIGNALS:
  void performed(const QString& command);
  void keysChanged();

 private:
  void addCommands();
  void fillMenu(DockHost& docks, LessonController& lessons);
  /// Whether menus and keys offer the command.
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
