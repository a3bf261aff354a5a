// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"

#include <QSyntaxHighlighter>

namespace spanscope::ui {

/// Colours JSON: keys in the text colour, values paler, numbers and words in the accent colour, brackets
/// palest.
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
