// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/inspector/form_rows.h"

#include "ui/views/common/text_tools.h"

#include <QGridLayout>
#include <QLabel>

#include <algorithm>

namespace spanscope::ui {
namespace {

/// Min letters that a field beside its label must have space for.
constexpr int kFewestFieldLetters = 14;

}  // namespace

bool isNarrowForm(int width, const std::vector<QLabel*>& labels) {
  if (labels.empty()) return false;
  int widest = kFormLabelWidth;
  for (const QLabel* label : labels) {
    if (!label->isHidden()) widest = std::max(widest, label->sizeHint().width());
  }
  const int field = kFewestFieldLetters * labels.front()->fontMetrics().averageCharWidth();
  return width < widest + 2 * kSpace + field;
}

FormRows::FormRows(QWidget* parent) : QWidget(parent), m_grid(new QGridLayout(this)) {
  m_grid->setContentsMargins(0, 0, 0, 0);
  m_grid->setHorizontalSpacing(2 * kSpace);
  m_grid->setVerticalSpacing(2 * kSpace);
  m_grid->setColumnMinimumWidth(0, kFormLabelWidth);
  m_grid->setColumnStretch(1, 1);
}

QLabel* FormRows::addRow(const QString& label, QWidget* field) {
  auto* text = new QLabel(label, this);
  text->setBuddy(field);
  m_labels.push_back(text);
  if (field->accessibleName().isEmpty()) field->setAccessibleName(label);
  add(text, field);
  return text;
}

void FormRows::addWide(QWidget* widget) {
  add(nullptr, widget);
}

void FormRows::add(QLabel* label, QWidget* field) {
  m_rows.push_back({.label = label, .field = field});
  place(m_rows.size() - 1);
}

void FormRows::place(std::size_t index) {
  const auto& [label, field] = m_rows[index];
  const int line = 2 * static_cast<int>(index);
  if (label == nullptr) {
    m_grid->addWidget(field, line, 0, 1, 2);
  } else if (m_isNarrow) {
    label->setContentsMargins(0, kSpace, 0, 0);
    m_grid->addWidget(label, line, 0, 1, 2);
    m_grid->addWidget(field, line + 1, 0, 1, 2);
  } else {
    // The label is level with the first line of a field of any height.
    label->setContentsMargins(0, qobject_cast<QLabel*>(field) == nullptr ? kSpace : 0, 0, 0);
    m_grid->addWidget(label, line, 0, Qt::AlignTop);
    m_grid->addWidget(field, line, 1);
  }
}

void FormRows::fold() {
  const bool isNarrow = isNarrowForm(width(), m_labels);
  if (isNarrow == m_isNarrow) return;
  m_isNarrow = isNarrow;
  m_grid->setVerticalSpacing(isNarrow ? kSpace : 2 * kSpace);
  m_grid->setColumnMinimumWidth(0, isNarrow ? 0 : kFormLabelWidth);
  for (std::size_t i = 0; i < m_rows.size(); ++i) place(i);
}

void FormRows::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fold();
}

void FormRows::setTheme(const Theme& theme) {
  for (QLabel* label : m_labels) {
    label->setFont(theme.interfaceFont());
    colorLabel(*label, theme, Role::TextSecond);
  }
  fold();
}

}  // namespace spanscope::ui
