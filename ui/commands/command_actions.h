// SPDX-License-Identifier: GPL-3.0-or-later
// The command table as actions, which menus, buttons and keys trigger.
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

}  // namespace spanscope::ui
