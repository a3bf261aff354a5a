// SPDX-License-Identifier: GPL-3.0-or-later
// The keys of commands: those of the table, except where a person has changed them in the settings.
#pragma once

#include "ui/commands/command_table.h"

#include <QHash>
#include <QString>
#include <QStringList>

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
