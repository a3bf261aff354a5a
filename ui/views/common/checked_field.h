// SPDX-License-Identifier: GPL-3.0-or-later
// A line to type a value into: what does not fit is marked, with the reason below, and not applied.
#pragma once

#include "ui/theme/theme.h"

#include <QString>
#include <QWidget>

#include <cstdint>
#include <functional>
#include <optional>

class QLabel;
class QLineEdit;
class QVBoxLayout;

namespace spanscope::ui {

class CheckedField : public QWidget {
  Q_OBJECT
 public:
  /// Applies a text, or says why it cannot be (then nothing has been changed).
  using Apply = std::function<QString(const QString& text)>;

  CheckedField(const QString& accessibleName, Apply apply, QWidget* parent);

  /// Shows the value of the document, unless it is what the person is typing.
  void setText(const QString& text);
  QString text() const;
  QString reason() const;  ///< empty: the text is in order
  QLineEdit* line() const { return m_line; }
  void setTheme(const Theme& theme);

 private:
  void check(const QString& text);
  void setReason(const QString& reason);

  Apply m_apply;
  Theme m_theme;
  QLineEdit* m_line;
  QLabel* m_reason;
  QString m_shown;  ///< the value of the document, as it spells it
  bool m_isApplying = false;
};

/// Reading numbers as a person types them; nothing where the text is none.
std::optional<std::int64_t> wholeNumber(const QString& text, std::int64_t least, std::int64_t most);
std::optional<std::uint64_t> seedNumber(const QString& text);
std::optional<float> floatNumber(const QString& text);

}  // namespace spanscope::ui
