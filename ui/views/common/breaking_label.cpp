// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/breaking_label.h"

#include "ui/words/tr.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMenu>

namespace spanscope::ui {

namespace {

constexpr QChar kBreak(0x200B);

}  // namespace

QString withBreaks(const QString& text) {
  constexpr qsizetype kLongWord = 30;
  constexpr qsizetype kPiece = 8;
  QString result;
  result.reserve(text.size());
  for (qsizetype begin = 0; begin < text.size();) {
    qsizetype end = begin;
    while (end < text.size() && !text[end].isSpace()) ++end;
    const bool isLong = end - begin > kLongWord;
    for (qsizetype at = begin; at < end; ++at) {
      const bool isPlace = isLong && at > begin && (at - begin) % kPiece == 0 && !text[at].isLowSurrogate() &&
                           !text[at].isMark();
      if (isPlace) result += kBreak;
      result += text[at];
    }
    if (end < text.size()) result += text[end++];
    begin = end;
  }
  return result;
}

BreakingLabel::BreakingLabel(QWidget* parent) : QLabel(parent) {
  setTextFormat(Qt::PlainText);
  setWordWrap(true);
  setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  setFocusPolicy(Qt::ClickFocus);
}

void BreakingLabel::setWhole(const QString& text) {
  if (m_whole == text) return;
  m_whole = text;
  setText(withBreaks(text));
  setAccessibleName(text);
}

void BreakingLabel::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy) && hasSelectedText())
    copySelected();
  else
    QLabel::keyPressEvent(event);
}

void BreakingLabel::contextMenuEvent(QContextMenuEvent* event) {
  QMenu menu(this);
  QAction* copy = menu.addAction(tr("Copy"), this, [this] { copySelected(); });
  copy->setEnabled(hasSelectedText());
  menu.addAction(tr("Select all"), this, [this] { setSelection(0, static_cast<int>(text().size())); });
  menu.exec(event->globalPos());
}

void BreakingLabel::copySelected() const {
  QApplication::clipboard()->setText(selectedText().remove(kBreak));
}

}  // namespace spanscope::ui
