// SPDX-License-Identifier: GPL-3.0-or-later
// The one table of what a person can do: menus, tool tips, keys, the command palette and the key sheet are
// made from it.
#pragma once

#include <QString>
#include <QStringList>

#include <vector>

namespace spanscope::ui {

/// Where a command's keys work.
enum class CommandScope {
  Window,  ///< everywhere in the window
  Canvas,  ///< while the canvas has the focus
};

struct CommandInfo {
  QString id;        ///< "file.open"
  QString category;  ///< menu: "File", "Edit", "Node", "Run", "View", "Help"
  QString text;      ///< "Open…"
  QString help;      ///< one sentence
  QStringList keys;  ///< portable key sequences, the first one is shown; may be empty
  CommandScope scope = CommandScope::Window;
};

const std::vector<CommandInfo>& commandTable();
const CommandInfo* findCommand(const QString& id);

}  // namespace spanscope::ui
