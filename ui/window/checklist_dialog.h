// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"

#include <QDialog>
#include <QListWidget>
#include <QPushButton>
#include <QString>

#include <vector>

namespace spanscope::ui {

/// A dialog with one question about several items. The user can uncheck items.
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
    bool needsChecked = true;  ///< the choice needs at least one checked item
    bool isDefault = false;
  };

  /// `question` is one sentence. `explanation` describes what happens to items that are not checked. At first
  /// all items are checked. The dialog has a button for each choice, and one that cancels.
  ChecklistDialog(const QString& title, const QString& question, const QString& explanation,
                  const std::vector<Item>& items, const std::vector<Choice>& choices,
                  const QString& cancelText, const Theme& theme, QWidget* parent = nullptr);

  /// The id of the chosen button; empty: cancelled.
  const QString& choice() const { return m_choice; }
  std::vector<std::size_t> checked() const;  ///< indices of items, ascending

 private:
  void updateButtons();

  QString m_choice;
  QListWidget* m_list = nullptr;
  std::vector<QPushButton*> m_needChecked;
};

}  // namespace spanscope::ui
