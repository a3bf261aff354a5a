// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/checked_field.h"

#include "engine/query/number_text.h"
#include "ui/views/common/text_tools.h"

#include <QLabel>
#include <QLineEdit>
#include <QVBoxLayout>

#include <cmath>
#include <utility>

namespace spanscope::ui {

CheckedField::CheckedField(const QString& accessibleName, Apply apply, QWidget* parent)
    : QWidget(parent), m_apply(std::move(apply)), m_line(new QLineEdit(this)), m_reason(new QLabel(this)) {
  m_line->setAccessibleName(accessibleName);
  m_reason->setWordWrap(true);
  m_reason->hide();
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(kSpace / 2);
  layout->addWidget(m_line);
  layout->addWidget(m_reason);
  setFocusProxy(m_line);
  connect(m_line, &QLineEdit::textEdited, this, &CheckedField::check);
  // When the focus leaves, a refused text is replaced by the document's value.
  connect(m_line, &QLineEdit::editingFinished, this, [this] {
    if (m_line->hasFocus()) return;
    m_line->setText(m_shown);
    setReason({});
  });
}

void CheckedField::setText(const QString& text) {
  const bool isSame = text == m_shown;
  m_shown = text;
  // The user may write a value differently than the document does.
  if (m_isApplying || (isSame && m_line->hasFocus())) return;
  if (m_line->text() != text) m_line->setText(text);
  setReason({});
}

QString CheckedField::text() const {
  return m_line->text();
}

QString CheckedField::reason() const {
  return m_reason->text();
}

void CheckedField::setTheme(const Theme& theme) {
  m_theme = theme;
  m_reason->setFont(theme.smallFont());
  colorLabel(*m_reason, theme, Role::Error);
  setReason(m_reason->text());
}

void CheckedField::check(const QString& text) {
  m_isApplying = true;
  const QString reason = m_apply(text);
  m_isApplying = false;
  setReason(reason);
}

void CheckedField::setReason(const QString& reason) {
  m_reason->setText(reason);
  m_reason->setVisible(!reason.isEmpty());
  const QString ink = m_theme.color(Role::Error).name();
  setSheet(*m_line,
           reason.isEmpty() ? QString() : QStringLiteral("QLineEdit { border: 1px solid %1; }").arg(ink));
  m_line->setAccessibleDescription(reason);
}

std::optional<std::int64_t> wholeNumber(const QString& text, std::int64_t least, std::int64_t most) {
  bool good = false;
  const qlonglong value = text.trimmed().toLongLong(&good);
  if (!good || value < least || value > most) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> seedNumber(const QString& text) {
  bool good = false;
  const qulonglong value = text.trimmed().toULongLong(&good);
  if (!good) return std::nullopt;
  return value;
}

std::optional<float> floatNumber(const QString& text) {
  const std::string digits = text.trimmed().toStdString();
  if (!query::isJsonNumber(digits) || !query::isInDoubleRange(digits)) return std::nullopt;
  const float value = query::floatValue(digits);
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace spanscope::ui
