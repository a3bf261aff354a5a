// SPDX-License-Identifier: GPL-3.0-or-later
// A text editor for JSON with line numbers, coloured words, a highlighted range and underlined errors.
#pragma once

#include "engine/query/diagnostic.h"
#include "ui/theme/theme.h"

#include <QPlainTextEdit>
#include <QSyntaxHighlighter>

#include <optional>
#include <string>
#include <vector>

namespace spanscope::ui {

class JsonHighlighter;

class JsonEditor : public QPlainTextEdit {
  Q_OBJECT
 public:
  explicit JsonEditor(QWidget* parent = nullptr);

  void setTheme(const Theme& theme);
  /// Highlights the whole lines of a range. Here and below, ranges and offsets count bytes of the text in
  /// UTF-8.
  void setHighlight(std::optional<query::SourceRange> range);
  /// Sets the ranges that a run leaves out: these ranges are struck through and pale.
  void setMuted(const std::vector<query::SourceRange>& ranges);
  /// Sets the offsets where errors begin.
  void setErrors(const std::vector<std::size_t>& offsets);
  /// Scrolls to the offset if it is not visible.
  void showOffset(std::size_t offset);
  void setCursorTo(std::size_t offset);
  std::size_t cursorOffset() const;

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  friend class LineNumbers;
  void paintLineNumbers(QPaintEvent* event);
  int gutterWidth() const;
  void updateGutter();
  void updateSelections();
  int positionOf(std::size_t offset) const;

  Theme m_theme;
  QWidget* m_gutter;
  JsonHighlighter* m_highlighter;
  std::optional<query::SourceRange> m_highlight;
  std::vector<query::SourceRange> m_muted;
  std::vector<std::size_t> m_errors;
};

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
