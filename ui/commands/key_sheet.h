// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/commands/key_sheet_content.h"

#include <QDialog>

#include <vector>

class QLabel;

namespace spanscope::ui {

/// A dialog that shows all keys on one sheet, to read, print and save.
class KeySheet : public QDialog {
  Q_OBJECT
 public:
  /// `table` holds the commands with their present keys.
  KeySheet(const std::vector<CommandInfo>& table, const Theme& theme, QWidget* parent = nullptr);

 private:
  void print();
  void save();

  std::vector<std::vector<KeySection>> m_columns;
  QLabel* m_message = nullptr;
};

}  // namespace spanscope::ui
