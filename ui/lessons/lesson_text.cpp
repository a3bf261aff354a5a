// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lessons/lesson_text.h"

#include "ui/manual/manual_style.h"

#include <QResizeEvent>
#include <QTextDocument>
#include <QWheelEvent>

#include <cmath>
#include <memory>

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
