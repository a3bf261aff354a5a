// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/policies/policy_answers.h"

#include "ui/views/common/text_tools.h"

#include <QKeyEvent>
#include <QTextCharFormat>
#include <QTextCursor>
#include <QTextDocument>

#include <algorithm>
#include <utility>

namespace spanscope::ui {
namespace {

QTextCharFormat inked(const QFont& font, const QColor& ink) {
  QTextCharFormat format;
  format.setFont(font);
  format.setForeground(ink);
  return format;
}

bool isBlank(QChar letter) {
  return letter.isSpace();
}

}  // namespace

std::vector<std::pair<int, QString>> writeAnswers(QTextDocument& document,
                                                  const std::vector<PolicyAnswer>& answers,
                                                  const Theme& theme) {
  QFont bold = theme.interfaceFont();
  bold.setWeight(QFont::DemiBold);
  const QTextCharFormat name = inked(bold, theme.color(Role::Text));
  const QTextCharFormat facts = inked(theme.smallFont(), theme.color(Role::TextSecond));
  const QTextCharFormat plain = inked(theme.interfaceFont(), theme.color(Role::Text));
  QTextCharFormat other = inked(bold, theme.color(Role::Accent));
  other.setUnderlineStyle(QTextCharFormat::SingleUnderline);
  other.setUnderlineColor(theme.color(Role::Accent));

  std::vector<std::pair<int, QString>> tokens;
  document.clear();
  document.setDocumentMargin(0);
  QTextCursor cursor(&document);
  cursor.beginEditBlock();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const PolicyAnswer& answer = answers[i];
    QTextBlockFormat heading;
    heading.setTopMargin(i == 0 ? 0 : 2 * kSpace);
    if (i == 0)
      cursor.setBlockFormat(heading);
    else
      cursor.insertBlock(heading);
    cursor.insertText(answer.name, name);
    if (!answer.facts.isEmpty()) cursor.insertText(QStringLiteral("   ") + answer.facts, facts);
    cursor.insertBlock(QTextBlockFormat());
    for (const AnswerToken& token : answer.tokens) {
      QTextCharFormat format = token.differs ? other : plain;
      format.setToolTip(token.help);
      tokens.emplace_back(cursor.position(), token.help);
      // Blanks before a word need no line, but where a token is nothing else, a sign stands for it.
      const qsizetype word =
          std::find_if_not(token.text.begin(), token.text.end(), isBlank) - token.text.begin();
      QTextCharFormat before = plain;
      before.setToolTip(token.help);
      cursor.insertText(token.text.left(word), before);
      const bool isNothingElse = token.differs && word == token.text.size();
      cursor.insertText(isNothingElse ? QStringLiteral("␣") : token.text.mid(word), format);
    }
  }
  cursor.endEditBlock();
  return tokens;
}

PolicyAnswers::PolicyAnswers(QWidget* parent) : QTextBrowser(parent) {
  setAccessibleName(tr("Answers, token by token"));
  setFrameShape(QFrame::NoFrame);
  setTabChangesFocus(true);
  setOpenLinks(false);
  setUndoRedoEnabled(false);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  setFocusPolicy(Qt::StrongFocus);
  viewport()->setAutoFillBackground(false);
  connect(this, &QTextEdit::cursorPositionChanged, this, &PolicyAnswers::tellToken);
}

void PolicyAnswers::setContent(const std::vector<PolicyAnswer>& answers, const Theme& theme) {
  if (answers == m_answers && theme == m_theme) return;
  m_answers = answers;
  m_theme = theme;
  const int position = textCursor().position();
  setSheet(*this, QStringLiteral("QTextBrowser { background: transparent; padding: 0; border: none; }"));
  m_tokens = writeAnswers(*document(), answers, theme);
  QTextCursor cursor = textCursor();
  cursor.setPosition(std::clamp(position, 0, document()->characterCount() - 1));
  setTextCursor(cursor);
  fitHeight();
  tellToken();
}

void PolicyAnswers::fitHeight() {
  document()->setTextWidth(viewport()->width());
  setFixedHeight(static_cast<int>(document()->size().height()) + 2);
}

void PolicyAnswers::resizeEvent(QResizeEvent* event) {
  QTextBrowser::resizeEvent(event);
  fitHeight();
}

void PolicyAnswers::keyPressEvent(QKeyEvent* event) {
  const bool isPlain = event->modifiers() == Qt::NoModifier;
  if (isPlain && (event->key() == Qt::Key_Left || event->key() == Qt::Key_Right))
    goToToken(event->key() == Qt::Key_Right ? 1 : -1);
  else
    QTextBrowser::keyPressEvent(event);
}

void PolicyAnswers::focusInEvent(QFocusEvent* event) {
  QTextBrowser::focusInEvent(event);
  tellToken();
}

/// Selects a token, counted from the one in which the cursor stands.
void PolicyAnswers::goToToken(int steps) {
  if (m_tokens.empty()) return;
  const int at = textCursor().hasSelection() ? textCursor().selectionStart() : textCursor().position();
  const auto after = std::upper_bound(m_tokens.begin(), m_tokens.end(), at,
                                      [](int place, const auto& token) { return place < token.first; });
  const auto now = std::distance(m_tokens.begin(), after) - 1;
  const auto last = static_cast<std::ptrdiff_t>(m_tokens.size()) - 1;
  const auto wanted = std::clamp<std::ptrdiff_t>(now + steps, 0, last);
  QTextCursor cursor = textCursor();
  cursor.setPosition(m_tokens[static_cast<std::size_t>(wanted)].first);
  const int begin = cursor.position();
  const auto next = static_cast<std::size_t>(wanted) + 1;
  cursor.movePosition(QTextCursor::EndOfBlock);
  const int end =
      next < m_tokens.size() ? std::min(cursor.position(), m_tokens[next].first) : cursor.position();
  cursor.setPosition(end);
  cursor.setPosition(begin, QTextCursor::KeepAnchor);
  setTextCursor(cursor);
}

void PolicyAnswers::tellToken() {
  const int at = textCursor().hasSelection() ? textCursor().selectionStart() : textCursor().position();
  const auto after = std::upper_bound(m_tokens.begin(), m_tokens.end(), at,
                                      [](int place, const auto& token) { return place < token.first; });
  Q_EMIT tokenReached(after == m_tokens.begin() ? QString() : std::prev(after)->second);
}

}  // namespace spanscope::ui
