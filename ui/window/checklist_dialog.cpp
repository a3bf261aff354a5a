// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/checklist_dialog.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include <algorithm>

namespace spanscope::ui {
namespace {

constexpr int kWidth = 520;
constexpr int kRow = 48;
constexpr int kMostRows = 8;

}  // namespace

ChecklistDialog::ChecklistDialog(const QString& title, const QString& question, const QString& explanation,
                                 const std::vector<Item>& items, const std::vector<Choice>& choices,
                                 const QString& cancelText, const Theme& theme, QWidget* parent)
    : QDialog(parent) {
  setWindowTitle(title);
  auto* head = new QLabel(question, this);
  head->setFont(theme.titleFont());
  head->setWordWrap(true);
  auto* help = new QLabel(explanation, this);
  help->setWordWrap(true);

  m_list = new QListWidget(this);
  m_list->setAccessibleName(question);
  m_list->setAlternatingRowColors(false);
  m_list->setWordWrap(false);
  m_list->setTextElideMode(Qt::ElideMiddle);
  for (const Item& item : items) {
    auto* row = new QListWidgetItem(item.title + QLatin1Char('\n') + item.detail, m_list);
    row->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable);
    row->setCheckState(Qt::Checked);
    row->setToolTip(item.detail);
    row->setSizeHint(QSize(0, kRow));
  }
  m_list->setMinimumHeight(kRow * std::clamp(static_cast<int>(items.size()), 1, kMostRows) +
                           2 * m_list->frameWidth() + kSpace);
  connect(m_list, &QListWidget::itemChanged, this, &ChecklistDialog::updateButtons);

  auto* foot = new QHBoxLayout;
  foot->setSpacing(2 * kSpace);
  foot->addStretch(1);
  auto* cancel = new QPushButton(cancelText, this);
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  foot->addWidget(cancel);
  for (const Choice& choice : choices) {
    auto* button = new QPushButton(choice.text, this);
    button->setAutoDefault(false);
    if (choice.isDefault) {
      button->setObjectName(QStringLiteral("primary"));
      button->setDefault(true);
    }
    if (choice.needsChecked) m_needChecked.push_back(button);
    connect(button, &QPushButton::clicked, this, [this, id = choice.id] {
      m_choice = id;
      accept();
    });
    foot->addWidget(button);
  }
  cancel->setAutoDefault(false);

  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(4 * kSpace, 4 * kSpace, 4 * kSpace, 4 * kSpace);
  column->setSpacing(3 * kSpace);
  column->addWidget(head);
  column->addWidget(help);
  column->addWidget(m_list, 1);
  column->addLayout(foot);
  resize(kWidth, sizeHint().height());
  m_list->setCurrentRow(0);
  m_list->setFocus();
}

std::vector<std::size_t> ChecklistDialog::checked() const {
  std::vector<std::size_t> rows;
  for (int row = 0; row < m_list->count(); ++row) {
    if (m_list->item(row)->checkState() == Qt::Checked) rows.push_back(static_cast<std::size_t>(row));
  }
  return rows;
}

void ChecklistDialog::updateButtons() {
  const bool any = !checked().empty();
  for (QPushButton* button : m_needChecked) button->setEnabled(any);
}

}  // namespace spanscope::ui
