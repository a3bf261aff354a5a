// SPDX-License-Identifier: GPL-3.0-or-later
// The table of all commands. The program makes menus, tool tips, keys, the command palette and the key sheet
// from this table. A handler with the same id executes a command (CommandHandlers, command_actions.h).
#pragma once

#include <QString>
#include <QStringList>

#include <array>
#include <vector>

namespace spanscope::ui {

/// The menu that has a command.
enum class CommandCategory { File, Edit, Node, Run, View, Learn, Help };

/// All categories, in the order of the menus.
inline constexpr std::array kCommandCategories{
    CommandCategory::File, CommandCategory::Edit,  CommandCategory::Node, CommandCategory::Run,
    CommandCategory::View, CommandCategory::Learn, CommandCategory::Help};

QString categoryTitle(CommandCategory category);

/// The object of a command.
enum class CommandSubject {
  Program,   ///< works even if no document is open
  Document,  ///< needs an open document; available only while a document is visible
};

/// The place in which a command's keys work.
enum class CommandScope {
  Window,  ///< everywhere in the window
  Canvas,  ///< while the canvas has the focus
};

struct CommandInfo {
  QString id;  ///< "file.open"
  CommandCategory category = CommandCategory::File;
  CommandSubject subject = CommandSubject::Document;
  QString text;      ///< "Open…"
  QString help;      ///< one sentence
  QStringList keys;  ///< portable key sequences; may be empty
  CommandScope scope = CommandScope::Window;
};

const std::vector<CommandInfo>& commandTable();
const CommandInfo* findCommand(const QString& id);

/// The title of the submenu that has the command; empty: no submenu has it. Submenus keep menus short enough
/// for small screens.
QString subMenuOf(const QString& id);

/// Ids of commands that are in no menu, because they need an argument: "file.open-example:rag.json". Links
/// and buttons use these ids.
const QStringList& linkCommands();

}  // namespace spanscope::ui
