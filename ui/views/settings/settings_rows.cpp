// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/settings/settings_rows.h"

#include "ui/views/common/text_tools.h"

#include <QGridLayout>
#include <QLabel>

#include <utility>

namespace spanscope::ui {
namespace {

constexpr int kFieldWidth = 96;

}  // namespace

SettingsRows::SettingsRows(QWidget& owner, QGridLayout& grid, ModelOf model)
    : m_owner(owner), m_grid(grid), m_model(std::move(model)) {}

QLabel* SettingsRows::addHeader(const QString& title) {
  auto* label = new QLabel(title, &m_owner);
  label->setContentsMargins(0, m_headers.empty() ? 0 : kSpace, 0, 0);
  m_grid.addWidget(label, m_grid.rowCount(), 0, 1, 2);
  m_headers.push_back(label);
  return label;
}

QLabel* SettingsRows::addRow(const QString& label, QWidget* field) {
  const int row = m_grid.rowCount();
  // Without this the field would be as wide as its largest number.
  field->setMinimumWidth(kFieldWidth);
  if (label.isEmpty()) {
    m_grid.addWidget(field, row, 0, 1, 2);
    return nullptr;
  }
  auto* text = new QLabel(label, &m_owner);
  text->setBuddy(field);
  // In a narrow dock the fields have the room.
  text->setWordWrap(true);
  text->setContentsMargins(0, kSpace, 0, 0);
  m_grid.addWidget(text, row, 0, Qt::AlignTop);
  m_labels.push_back(text);
  if (field->accessibleName().isEmpty()) field->setAccessibleName(label);
  m_grid.addWidget(field, row, 1);
  return text;
}

QLabel* SettingsRows::addHint() {
  auto* label = new QLabel(&m_owner);
  label->setWordWrap(true);
  m_grid.addWidget(label, m_grid.rowCount(), 1);
  m_hints.push_back(label);
  return label;
}

QLabel* SettingsRows::addNote(const QString& text) {
  auto* label = new QLabel(text, &m_owner);
  label->setWordWrap(true);
  m_grid.addWidget(label, m_grid.rowCount(), 0, 1, 2);
  m_hints.push_back(label);
  return label;
}

void SettingsRows::change(const QString& name, const QString& key, const Change& change) {
  DocumentModel* const model = m_model();
  if (model == nullptr || m_isShowing) return;
  model->change(
      name, [&change](document::Document& document) { change(document.settings); },
      key.isEmpty() ? QString() : QStringLiteral("settings:") + key);
}

void SettingsRows::endMerge() {
  if (DocumentModel* const model = m_model()) model->endMerge();
}

void SettingsRows::setTheme(const Theme& theme) {
  for (QLabel* header : m_headers) header->setFont(theme.titleFont());
  for (QLabel* label : m_labels) colorLabel(*label, theme, Role::TextSecond);
  for (QLabel* hint : m_hints) {
    hint->setFont(theme.smallFont());
    colorLabel(*hint, theme, Role::TextThird);
  }
}

}  // namespace spanscope::ui
