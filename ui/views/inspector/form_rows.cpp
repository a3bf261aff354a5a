// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/inspector/form_rows.h"

#include "ui/views/common/text_tools.h"

#include <QGridLayout>
#include <QLabel>

namespace spanscope::ui {
namespace {

constexpr int kLabelWidth = 96;

}  // namespace

FormRows::FormRows(QWidget* parent) : QWidget(parent), m_grid(new QGridLayout(this)) {
  m_grid->setContentsMargins(0, 0, 0, 0);
  m_grid->setHorizontalSpacing(2 * kSpace);
  m_grid->setVerticalSpacing(2 * kSpace);
  m_grid->setColumnMinimumWidth(0, kLabelWidth);
  m_grid->setColumnStretch(1, 1);
}

QLabel* FormRows::addRow(const QString& label, QWidget* field) {
  const int row = m_grid->rowCount();
  auto* text = new QLabel(label, this);
  text->setBuddy(field);
  // The label stands level with the first line of the field, however high the field is.
  if (qobject_cast<QLabel*>(field) == nullptr) text->setContentsMargins(0, kSpace, 0, 0);
  m_grid->addWidget(text, row, 0, Qt::AlignTop);
  m_grid->addWidget(field, row, 1);
  m_labels.push_back(text);
  if (field->accessibleName().isEmpty()) field->setAccessibleName(label);
  return text;
}

void FormRows::addWide(QWidget* widget) {
  m_grid->addWidget(widget, m_grid->rowCount(), 0, 1, 2);
}

void FormRows::setTheme(const Theme& theme) {
  for (QLabel* label : m_labels) {
    label->setFont(theme.interfaceFont());
    colorLabel(*label, theme, Role::TextSecond);
  }
}

}  // namespace spanscope::ui
