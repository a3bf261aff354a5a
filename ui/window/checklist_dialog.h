// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"

#include <QDialog>
#include <QListWidget>
#include <QPushButton>
#include <QString>

#include <vector>

namespace spanscope::ui {

/// One question about several things, each of which can be left out.
class ChecklistDialog : public QDialog {
  Q_OBJECT
 public:
  struct Item {
    QString title;
    QString detail;  ///< a second line
  };
  struct Choice {
    QString id;
    QString text;
    bool needsChecked = true;  ///< it does something to what is checked
    bool isDefault = false;
  };

  /// `question` in one sentence, `explanation` of what becomes of what is not checked; everything is checked
  /// at first. A button for each choice, and Cancel.
  ChecklistDialog(const QString& title, const QString& question, const QString& explanation,
                  const std::vector<Item>& items, const std::vector<Choice>& choices,
                  const QString& cancelText, const Theme& theme, QWidget* parent = nullptr);

  /// Of the button that was pressed; empty: cancelled.
  const QString& choice() const { return m_choice; }
  std::vector<std::size_t> checked() const;  ///< indices of items, ascending

 private:
  void updateButtons();

  QString m_choice;
  QListWidget* m_list = nullptr;
  std::vector<QPushButton*> m_needChecked;
};

}  // namespace spanscope::ui
