// SPDX-License-Identifier: GPL-3.0-or-later
// The command table as actions: what menus, buttons and keys trigger.
#pragma once

#include "ui/commands/command_table.h"
#include "ui/commands/key_bindings.h"

#include <QHash>
#include <QList>
#include <QObject>

class QAction;
class QWidget;

namespace spanscope::ui {

/// The first key as a person reads it; empty without keys.
QString shownKey(const CommandInfo& info);
/// All of them, "Ctrl+Shift+Z, Ctrl+Y"; empty without keys.
QString shownKeys(const CommandInfo& info);

class CommandActions : public QObject {
  Q_OBJECT
 public:
  /// Keys of scope Window work in `window`.
  explicit CommandActions(QWidget* window);

  /// Other keys than those of the table, in menus and tool tips too.
  void setKeys(const KeyBindings& keys);

  /// Keys of scope Window work in this widget's window too: a dock may float in one of its own.
  void addWindow(QWidget* widget);
  /// Keys of scope Canvas work in this widget and its children; there may be several.
  void addCanvas(QWidget* canvas);

  /// nullptr for an id that is not in the table.
  QAction* action(const QString& id) const { return m_actions.value(id); }
  /// What the menu of a category lists, in the order of the table.
  QList<QAction*> actions(CommandCategory category) const;

  bool eventFilter(QObject* watched, QEvent* event) override;

 Q_SIGNALS:
  void triggered(const QString& id);

 private:
  QHash<QString, QAction*> m_actions;
};

}  // namespace spanscope::ui
