// SPDX-License-Identifier: GPL-3.0-or-later
// What commands do, and when they can. The window and the canvas each keep rows for the commands that they
// carry out. The names, help and keys of commands are in command_table.h, under the same ids.
#pragma once

#include <QString>

#include <functional>
#include <vector>

namespace spanscope::ui {

struct CommandHandler {
  QString id;                  ///< id from the command table or from linkCommands()
  std::function<bool()> when;  ///< whether the command would do something now
  std::function<void(const QString& argument)> does;
  std::function<QString()> title;  ///< the present title in the menu; none: the title of the table
};

class CommandHandlers {
 public:
  /// Adds a command that can be carried out whenever its CommandInfo::subject is there.
  void add(const char* id, std::function<void()> does);
  void add(const char* id, std::function<bool()> when, std::function<void()> does,
           std::function<QString()> title = {});
  void addWithArgument(const char* id, std::function<bool()> when,
                       std::function<void(const QString& argument)> does);

  const std::vector<CommandHandler>& rows() const { return m_rows; }
  /// The row of a command; nullptr if the command is not one of these.
  const CommandHandler* find(const QString& id) const;

  /// Whether `command`, an id or "id:argument", is one of these commands and can do something now.
  bool can(const QString& command) const;
  /// Carries out the command if it can do something now. Returns false if it is not one of these commands.
  bool perform(const QString& command) const;

 private:
  std::vector<CommandHandler> m_rows;
};

/// The id of a command with an argument: "node.add" for "node.add:plus".
QString commandId(const QString& command);

}  // namespace spanscope::ui
