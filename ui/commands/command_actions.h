// SPDX-License-Identifier: GPL-3.0-or-later
// The command table as actions, which menus, buttons and keys trigger.
// The keys of commands: those of the table, except where a person has changed them in the settings.
// What commands do, and when they can. The window and the canvas each keep rows for the commands that they
// carry out. The names, help and keys of commands are in command_table.h, under the same ids.
#pragma once

#include "ui/commands/command_table.h"

#include <QHash>
#include <QList>
#include <QObject>
#include <QString>
#include <QStringList>

#include <functional>
#include <vector>

class QSettings;

namespace spanscope::ui {

class KeyBindings {
 public:
  /// The keys of the table.
  KeyBindings() = default;
  /// The keys of the table, except where the settings hold others under "keys/ID". Texts in the settings that
  /// are no keys are left out.
  explicit KeyBindings(const QSettings& settings);

  /// The keys of a command as portable key sequences, of which the first is shown; empty: the command has no
  /// keys.
  QStringList keys(const CommandInfo& info) const;
  /// Whether the command has other keys than in the table.
  bool isChanged(const CommandInfo& info) const;
  bool isAnyChanged() const { return !m_changed.isEmpty(); }

  void set(const CommandInfo& info, const QStringList& keys);
  void reset(const CommandInfo& info);
  void resetAll() { m_changed.clear(); }
  /// Adds the key to the command's keys, and removes it and every key that conflicts with it from other
  /// commands.
  void assign(const CommandInfo& info, const QString& key);

  /// Other commands than `info` whose keys conflict with `key`: a key that is the same, begins with `key`, or
  /// is the beginning of `key`. With such a conflict neither command would be carried out.
  std::vector<const CommandInfo*> conflicts(const CommandInfo& info, const QString& key) const;

  /// The command table with these keys, for menus, palette and key sheet.
  std::vector<CommandInfo> table() const;
  void save(QSettings& settings) const;

  bool operator==(const KeyBindings&) const = default;

 private:
  QHash<QString, QStringList> m_changed;  ///< by id
};

/// What the window itself uses this key for, so that no command can have it; empty: a command can have it.
QString fixedUseOf(const QString& key);

}  // namespace spanscope::ui
class QAction;
class QWidget;

namespace spanscope::ui {

/// The first key as a person reads it; empty without keys.
QString shownKey(const CommandInfo& info);
/// All keys as a person reads them: "Ctrl+Shift+Z, Ctrl+Y"; empty without keys.
QString shownKeys(const CommandInfo& info);

class CommandActions : public QObject {
  Q_OBJECT
 public:
  /// Keys of scope Window work in `window`.
  explicit CommandActions(QWidget* window);

  /// Sets other keys than those of the table, in menus and tool tips too.
  void setKeys(const KeyBindings& keys);

  /// Lets keys of scope Window also work in this widget's window, because a dock may float in a window of its
  /// own.
  void addWindow(QWidget* widget);
  /// Lets keys of scope Canvas work in this widget and its children. Call it for each canvas.
  void addCanvas(QWidget* canvas);

  /// The action of a command; nullptr if the id is not in the table.
  QAction* action(const QString& id) const { return m_actions.value(id); }
  /// The actions in the menu of a category, in the order of the table.
  QList<QAction*> actions(CommandCategory category) const;

  bool eventFilter(QObject* watched, QEvent* event) override;

 Q_SIGNALS:
  void triggered(const QString& id);

 private:
  QHash<QString, QAction*> m_actions;
};

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
