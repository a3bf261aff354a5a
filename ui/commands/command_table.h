// SPDX-License-Identifier: GPL-3.0-or-later
// The one table of everything that a person can do. Menus, tool tips, keys, the command palette and the key
// sheet are made from it. What a command does, and when it can, is in a row with the same id of
// CommandHandlers (command_handlers.h).
#pragma once

#include <QString>
#include <QStringList>

#include <array>
#include <vector>

namespace spanscope::ui {

/// The menu in which a command stands.
enum class CommandCategory { File, Edit, Node, Run, View, Learn, Help };

/// All categories, in the order of the menus.
inline constexpr std::array kCommandCategories{
    CommandCategory::File, CommandCategory::Edit,  CommandCategory::Node, CommandCategory::Run,
    CommandCategory::View, CommandCategory::Learn, CommandCategory::Help};

QString categoryTitle(CommandCategory category);

/// What a command acts on.
enum class CommandSubject {
  Program,   ///< works even if no document is open
  Document,  ///< needs an open document; menus and keys offer it while one is in sight
};

/// Where a command's keys work.
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
  QStringList keys;  ///< portable key sequences, of which the first is shown; may be empty
  CommandScope scope = CommandScope::Window;
};

const std::vector<CommandInfo>& commandTable();
const CommandInfo* findCommand(const QString& id);

/// The title of the menu within its menu that has the command; empty: none has. Menus must fit small screens.
QString subMenuOf(const QString& id);

/// Ids of commands that stand in no menu, because they mean nothing without an argument:
/// "file.open-example:rag.json". Links and buttons ask for them.
const QStringList& linkCommands();

}  // namespace spanscope::ui
