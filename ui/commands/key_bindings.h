// SPDX-License-Identifier: GPL-3.0-or-later
// The keys of commands as a person has changed them: those of the table, but for what the settings say.
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
  /// Those of the table.
  KeyBindings() = default;
  /// Those of the table but for what the settings hold under "keys/ID". What is no key there is left out.
  explicit KeyBindings(const QSettings& settings);

  /// Portable key sequences, the first one is shown; empty: the command has none.
  QStringList keys(const CommandInfo& info) const;
  /// Whether they are others than those of the table.
  bool isChanged(const CommandInfo& info) const;
  bool isAnyChanged() const { return !m_changed.isEmpty(); }

  void set(const CommandInfo& info, const QStringList& keys);
  void reset(const CommandInfo& info);
  void resetAll() { m_changed.clear(); }
  /// Takes the key from every command that has it, and gives it to this one beside those it has.
  void assign(const CommandInfo& info, const QString& key);

  /// Commands other than `info` that have the key, or a key that begins with it or that it begins with: of
  /// two such commands neither would be carried out.
  std::vector<const CommandInfo*> conflicts(const CommandInfo& info, const QString& key) const;

  /// The table with these keys: for menus, palette and key sheet.
  std::vector<CommandInfo> table() const;
  void save(QSettings& settings) const;

  bool operator==(const KeyBindings&) const = default;

 private:
  QHash<QString, QStringList> m_changed;  ///< by id
};

/// Why no command can have the key, as something else in the window has it; empty: one can.
QString fixedUseOf(const QString& key);

}  // namespace spanscope::ui
