// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lessons/lesson_text.h"

#include "ui/manual/manual_browser.h"

#include <QAbstractTextDocumentLayout>
#include <QFocusEvent>
#include <QMouseEvent>
#include <QResizeEvent>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextDocument>
#include <QWheelEvent>

#include <cmath>
#include <memory>
#include <utility>

namespace spanscope::ui {
namespace {

constexpr int kFrame = 2;  // pixels: both sides of what shows the focus

}  // namespace

LessonText::LessonText(QWidget* parent) : QTextBrowser(parent) {
  setObjectName(QStringLiteral("lessonText"));
  setStyleSheet(
      QStringLiteral("#lessonText { border: 1px solid transparent; padding: 0; background: transparent; }"));
  setFrameShape(QFrame::NoFrame);
  setOpenLinks(false);
  setTextInteractionFlags(Qt::TextBrowserInteraction | Qt::TextSelectableByKeyboard);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  viewport()->setAutoFillBackground(false);
}

void LessonText::showPage(const QString& markdown, const Theme& theme, int larger) {
  document()->setMarkdown(markdown, QTextDocument::MarkdownFeatures(QTextDocument::MarkdownDialectGitHub) |
                                        QTextDocument::MarkdownNoHTML);
  styleManual(*document(), theme, larger);
  document()->setDocumentMargin(0);
  // Without a link in it, there is nothing in it to reach by key.
  setFocusPolicy(markdown.contains(QLatin1String("](")) ? Qt::StrongFocus : Qt::ClickFocus);
  setAccessibleName(document()->toPlainText());
  updateGeometry();
}

void LessonText::point(const QUrl& link, int at) {
  m_at = at;
  if (m_link == link) return;
  m_link = link;
  Q_EMIT pointedChanged();
}

QUrl LessonText::pointedLink() const {
  return m_link;
}

std::vector<QRect> LessonText::pointedWords() const {
  if (m_link.isEmpty()) return {};
  const QTextBlock block = document()->findBlock(m_at);
  int begin = -1;
  int end = -1;
  // A link whose words are partly stressed is several fragments.
  for (auto it = block.begin(); !it.atEnd(); ++it) {
    const QTextFragment fragment = it.fragment();
    const bool isLink = QUrl(fragment.charFormat().anchorHref()) == m_link;
    if (isLink && begin < 0) begin = fragment.position();
    if (isLink) end = fragment.position() + fragment.length();
    if (!isLink && begin >= 0 && end > m_at) break;
    if (!isLink) begin = -1;
  }
  if (begin < 0 || end <= m_at) return {};
  std::vector<QRect> words;
  QTextCursor cursor(document());
  for (int at = begin; at < end; ++at) {
    cursor.setPosition(at);
    const QRect left = cursorRect(cursor);
    cursor.setPosition(at + 1);
    const QRect right = cursorRect(cursor);
    QRect letter = left;
    if (right.top() == left.top()) letter.setRight(right.left());
    if (words.empty() || words.back().top() != letter.top())
      words.push_back(letter);
    else
      words.back() |= letter;
  }
  for (QRect& word : words) word.translate(viewport()->pos());
  return words;
}

/// Tab goes from link to link.
bool LessonText::focusNextPrevChild(bool next) {
  const bool isTaken = QTextBrowser::focusNextPrevChild(next);
  const QTextCursor cursor = textCursor();
  if (hasFocus() && cursor.hasSelection()) {
    m_isByKey = true;
    QTextCursor first(document());
    first.setPosition(cursor.selectionStart() + 1);
    point(QUrl(first.charFormat().anchorHref()), cursor.selectionStart());
  }
  return isTaken;
}

void LessonText::focusInEvent(QFocusEvent* event) {
  QTextBrowser::focusInEvent(event);
  // Not first to the text and then to its first link.
  if (event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason)
    focusNextPrevChild(event->reason() == Qt::TabFocusReason);
}

void LessonText::focusOutEvent(QFocusEvent* event) {
  QTextBrowser::focusOutEvent(event);
  if (std::exchange(m_isByKey, false)) point({}, 0);
}

void LessonText::mouseMoveEvent(QMouseEvent* event) {
  QTextBrowser::mouseMoveEvent(event);
  const QString link = anchorAt(event->pos());
  if (link.isEmpty() && m_isByKey) return;
  if (!link.isEmpty()) m_isByKey = false;
  point(QUrl(link), document()->documentLayout()->hitTest(event->pos(), Qt::ExactHit));
}

void LessonText::leaveEvent(QEvent* event) {
  QTextBrowser::leaveEvent(event);
  if (!m_isByKey) point({}, 0);
}

QVariant LessonText::loadResource(int, const QUrl&) {
  return {};
}

int LessonText::heightForWidth(int width) const {
  const std::unique_ptr<QTextDocument> copy(document()->clone());
  copy->setDocumentMargin(0);
  copy->setTextWidth(width - kFrame);
  return static_cast<int>(std::ceil(copy->size().height())) + kFrame + 2;
}

QSize LessonText::sizeHint() const {
  const int wide = width() > 0 ? width() : 320;
  return {320, heightForWidth(wide)};
}

QSize LessonText::minimumSizeHint() const {
  return {120, sizeHint().height()};
}

void LessonText::resizeEvent(QResizeEvent* event) {
  QTextBrowser::resizeEvent(event);
  if (event->size().width() != event->oldSize().width()) updateGeometry();
}

/// The page scrolls, not the stretch.
void LessonText::wheelEvent(QWheelEvent* event) {
  event->ignore();
}

}  // namespace spanscope::ui
