// SPDX-License-Identifier: GPL-3.0-or-later
// A line edit for a value. The line edit does not apply an invalid value, but marks the value and shows the
// reason below.
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
  /// Applies a text and returns an empty string, or changes nothing and returns the reason.
  using Apply = std::function<QString(const QString& text)>;

  CheckedField(const QString& accessibleName, Apply apply, QWidget* parent);

  /// Shows the document's value. Does nothing if the user is typing and the value did not change.
  void setText(const QString& text);
  QString text() const;
  QString reason() const;  ///< empty: the text is valid
  QLineEdit* line() const { return m_line; }
  void setTheme(const Theme& theme);

 private:
  void check(const QString& text);
  void setReason(const QString& reason);

  Apply m_apply;
  Theme m_theme;
  QLineEdit* m_line;
  QLabel* m_reason;
  QString m_shown;  ///< the document's value as the document writes it
  bool m_isApplying = false;
};

/// Reads a number that the user typed. Returns nothing if the text is no number in `least` … `most`.
std::optional<std::int64_t> wholeNumber(const QString& text, std::int64_t least, std::int64_t most);
std::optional<std::uint64_t> seedNumber(const QString& text);
std::optional<float> floatNumber(const QString& text);

}  // namespace spanscope::ui
