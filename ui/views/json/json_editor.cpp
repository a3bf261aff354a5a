// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/json/json_editor.h"

#include <QPaintEvent>
#include <QPainter>
#include <QScrollBar>
#include <QTextBlock>
#include <QTextEdit>

#include <algorithm>

namespace spanscope::ui {

/// The strip left of the text. The editor paints it.
class LineNumbers : public QWidget {
 public:
  explicit LineNumbers(JsonEditor& editor) : QWidget(&editor), m_editor(editor) {}
  QSize sizeHint() const override { return {m_editor.gutterWidth(), 0}; }

 protected:
  void paintEvent(QPaintEvent* event) override { m_editor.paintLineNumbers(event); }

 private:
  JsonEditor& m_editor;
};

JsonEditor::JsonEditor(QWidget* parent)
    : QPlainTextEdit(parent),
      m_gutter(new LineNumbers(*this)),
      m_highlighter(new JsonHighlighter(document())) {
  setObjectName(QStringLiteral("bare"));
  setAccessibleName(tr("The query as JSON"));
  setLineWrapMode(QPlainTextEdit::NoWrap);
  setTabChangesFocus(true);
  connect(this, &QPlainTextEdit::blockCountChanged, this, &JsonEditor::updateGutter);
  connect(this, &QPlainTextEdit::updateRequest, this, [this](const QRect& area, int dy) {
    if (dy != 0)
      m_gutter->scroll(0, dy);
    else
      m_gutter->update(0, area.y(), m_gutter->width(), area.height());
  });
  updateGutter();
}

void JsonEditor::setTheme(const Theme& theme) {
  if (m_theme == theme && font() == theme.monoFont()) return;
  m_theme = theme;
  setFont(theme.monoFont());
  m_highlighter->setTheme(theme);
  updateGutter();
  updateSelections();
}

void JsonEditor::setHighlight(std::optional<query::SourceRange> range) {
  m_highlight = range;
  updateSelections();
}

void JsonEditor::setMuted(const std::vector<query::SourceRange>& ranges) {
  m_muted = ranges;
  updateSelections();
}

void JsonEditor::setErrors(const std::vector<std::size_t>& offsets) {
  m_errors = offsets;
  updateSelections();
}

void JsonEditor::showOffset(std::size_t offset) {
  const QTextBlock block = document()->findBlock(positionOf(offset));
  const QRectF area = blockBoundingGeometry(block).translated(contentOffset());
  if (area.top() >= 0 && area.bottom() <= viewport()->height()) return;
  // Only the scroll bar moves, and this updates the gutter. The cursor stays where the user left it.
  verticalScrollBar()->setValue(block.firstLineNumber() -
                                viewport()->height() / std::max(1, fontMetrics().height()) / 3);
}

void JsonEditor::setCursorTo(std::size_t offset) {
  QTextCursor cursor(document());
  cursor.setPosition(positionOf(offset));
  setTextCursor(cursor);
  setFocus();
}

std::size_t JsonEditor::cursorOffset() const {
  return static_cast<std::size_t>(toPlainText().left(textCursor().position()).toUtf8().size());
}

int JsonEditor::positionOf(std::size_t offset) const {
  const QByteArray bytes = toPlainText().toUtf8();
  const auto end = std::min(static_cast<qsizetype>(offset), bytes.size());
  return static_cast<int>(QString::fromUtf8(bytes.constData(), end).size());
}

void JsonEditor::resizeEvent(QResizeEvent* event) {
  QPlainTextEdit::resizeEvent(event);
  updateGutter();
}

int JsonEditor::gutterWidth() const {
  int digits = 2;
  for (int most = blockCount(); most >= 100; most /= 10) ++digits;
  return 4 * kSpace + digits * m_gutter->fontMetrics().horizontalAdvance(QLatin1Char('0'));
}

void JsonEditor::updateGutter() {
  m_gutter->setFont(m_theme.monoFont());
  // Margins are set only if they change. Setting them lays out the editor again, and scroll bars that appear
  // and vanish in turn would never settle.
  if (viewportMargins().left() != gutterWidth()) setViewportMargins(gutterWidth(), 0, 0, 0);
  const QRect area = contentsRect();
  // The strip is as high as the text, because the scroll bar lies below.
  m_gutter->setGeometry(area.left(), viewport()->y(), gutterWidth(), viewport()->height());
}

void JsonEditor::paintLineNumbers(QPaintEvent* event) {
  QPainter painter(m_gutter);
  painter.fillRect(event->rect(), m_theme.color(Role::Surface));
  painter.setFont(m_theme.monoFont());
  painter.setPen(m_theme.color(Role::TextThird));
  QTextBlock block = firstVisibleBlock();
  double top = blockBoundingGeometry(block).translated(contentOffset()).top();
  while (block.isValid() && top <= event->rect().bottom()) {
    const double height = blockBoundingRect(block).height();
    painter.drawText(QRectF(0, top, gutterWidth() - 2 * kSpace, height), Qt::AlignRight | Qt::AlignVCenter,
                     QString::number(block.blockNumber() + 1));
    top += height;
    block = block.next();
  }
}

void JsonEditor::updateSelections() {
  QList<QTextEdit::ExtraSelection> selections;
  if (m_highlight) {
    QTextBlock block = document()->findBlock(positionOf(m_highlight->begin));
    const int last = document()->findBlock(positionOf(m_highlight->end)).blockNumber();
    for (; block.isValid() && block.blockNumber() <= last; block = block.next()) {
      QTextEdit::ExtraSelection line;
      line.cursor = QTextCursor(block);
      line.format.setBackground(m_theme.color(Role::AccentFill));
      line.format.setProperty(QTextFormat::FullWidthSelection, true);
      selections.append(line);
    }
  }
  for (const query::SourceRange& range : m_muted) {
    QTextEdit::ExtraSelection muted;
    muted.cursor = QTextCursor(document());
    muted.cursor.setPosition(positionOf(range.begin));
    muted.cursor.setPosition(positionOf(range.end), QTextCursor::KeepAnchor);
    muted.format.setForeground(m_theme.color(Role::TextThird));
    muted.format.setFontStrikeOut(true);
    muted.format.setToolTip(tr("Muted: left out of a run"));
    selections.append(muted);
  }
  for (const std::size_t offset : m_errors) {
    QTextEdit::ExtraSelection error;
    error.cursor = QTextCursor(document());
    const int begin = std::min(positionOf(offset), std::max(0, document()->characterCount() - 2));
    error.cursor.setPosition(begin);
    error.cursor.movePosition(QTextCursor::EndOfWord, QTextCursor::KeepAnchor);
    if (!error.cursor.hasSelection())
      error.cursor.movePosition(QTextCursor::NextCharacter, QTextCursor::KeepAnchor);
    error.format.setUnderlineStyle(QTextCharFormat::WaveUnderline);
    error.format.setUnderlineColor(m_theme.color(Role::Error));
    error.format.setBackground(m_theme.color(Role::ErrorFill));
    selections.append(error);
  }
  setExtraSelections(selections);
}

namespace {

/// The position after the closing quote of the text that begins at `begin`, or the end of the line.
qsizetype endOfText(const QString& line, qsizetype begin) {
  for (qsizetype i = begin + 1; i < line.size(); ++i) {
    if (line[i] == QLatin1Char('\\'))
      ++i;
    else if (line[i] == QLatin1Char('"'))
      return i + 1;
  }
  return line.size();
}

bool isKey(const QString& line, qsizetype end) {
  while (end < line.size() && line[end].isSpace()) ++end;
  return end < line.size() && line[end] == QLatin1Char(':');
}

}  // namespace

void JsonHighlighter::setTheme(const Theme& theme) {
  m_theme = theme;
  rehighlight();
}

void JsonHighlighter::highlightBlock(const QString& text) {
  const auto paint = [this](qsizetype begin, qsizetype end, Role role) {
    setFormat(static_cast<int>(begin), static_cast<int>(end - begin), m_theme.color(role));
  };
  qsizetype i = 0;
  while (i < text.size()) {
    const QChar c = text[i];
    if (c == QLatin1Char('"')) {
      const qsizetype end = endOfText(text, i);
      paint(i, end, isKey(text, end) ? Role::Text : Role::TextSecond);
      i = end;
    } else if (c.isLetterOrNumber() || c == QLatin1Char('-')) {
      qsizetype end = i + 1;
      while (end < text.size() && (text[end].isLetterOrNumber() || QStringView(u"+-.").contains(text[end])))
        ++end;
      paint(i, end, Role::Accent);
      i = end;
    } else {
      paint(i, i + 1, Role::TextThird);
      ++i;
    }
  }
}

}  // namespace spanscope::ui
