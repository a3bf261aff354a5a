// SPDX-License-Identifier: GPL-3.0-or-later
// What commands do, and when they can: a row a command, kept by whoever can carry it out (the window, the
// canvas). What they are called, their help and keys stand in command_table.h under the same id.
#pragma once

#include <QString>

#include <functional>
#include <vector>

namespace spanscope::ui {

struct CommandHandler {
  QString id;                  ///< of the command table, or of linkCommands()
  std::function<bool()> when;  ///< it would do something now
  std::function<void(const QString& argument)> does;
  std::function<QString()> title;  ///< what the menu calls it now; none: as the table does
};

class CommandHandlers {
 public:
  /// Can whenever what it acts on is there (CommandInfo::subject).
  void add(const char* id, std::function<void()> does);
  void add(const char* id, std::function<bool()> when, std::function<void()> does,
           std::function<QString()> title = {});
  void addWithArgument(const char* id, std::function<bool()> when,
                       std::function<void(const QString& argument)> does);

  const std::vector<CommandHandler>& rows() const { return m_rows; }
  /// nullptr: somebody else's.
  const CommandHandler* find(const QString& id) const;

  /// Whether `command`, an id or "id:argument", is one of these and can do something now.
  bool can(const QString& command) const;
  /// Carries the command out if it can. False: it is none of these.
  bool perform(const QString& command) const;

 private:
  std::vector<CommandHandler> m_rows;
};

/// "node.add" of "node.add:plus".
QString commandId(const QString& command);

}  // namespace spanscope::ui
