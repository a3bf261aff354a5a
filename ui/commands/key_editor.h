// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/commands/command_actions.h"
#include "ui/theme/theme.h"

#include <QDialog>

class QKeySequenceEdit;
class QLabel;
class QLineEdit;
class QPushButton;
class QTreeWidget;
class QTreeWidgetItem;

namespace spanscope::ui {

/// A dialog that shows the command table and changes keys. The changes take effect when the user accepts the
/// dialog.
class KeyEditor : public QDialog {
  Q_OBJECT
 public:
  KeyEditor(const KeyBindings& keys, const Theme& theme, QWidget* parent = nullptr);

  const KeyBindings& keys() const { return m_keys; }

 private:
  const CommandInfo* current() const;
  void fill();
  void fillRow(QTreeWidgetItem* row, const CommandInfo& info);
  void filter(const QString& words);
  void showCurrent();
  void showKey();
  void keysChanged();

  KeyBindings m_keys;
  QLineEdit* m_search = nullptr;
  QTreeWidget* m_table = nullptr;
  QLabel* m_name = nullptr;
  QKeySequenceEdit* m_key = nullptr;
  QLabel* m_message = nullptr;
  QPushButton* m_assign = nullptr;
  QPushButton* m_clear = nullptr;
  QPushButton* m_reset = nullptr;
  QPushButton* m_resetAll = nullptr;
};

}  // namespace spanscope::ui
