// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"

#include <QSyntaxHighlighter>

namespace spanscope::ui {

/// Tints JSON: keys as text, values quieter, numbers and words in the accent, brackets quietest.
class JsonHighlighter : public QSyntaxHighlighter {
  Q_OBJECT
 public:
  using QSyntaxHighlighter::QSyntaxHighlighter;

  void setTheme(const Theme& theme);

 protected:
  void highlightBlock(const QString& text) override;

 private:
  Theme m_theme;
};

}  // namespace spanscope::ui
