// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/answer_strip.h"

#include <QFontMetrics>
#include <QMouseEvent>
#include <QPainter>

namespace spanscope::ui {
namespace {

constexpr int kHeight = 60;
constexpr int kInside = 10;
constexpr int kLine = 17;

}  // namespace

AnswerStrip::AnswerStrip(QWidget* parent) : QFrame(parent) {
  setObjectName(QStringLiteral("answerStrip"));
  setFixedHeight(kHeight);
  setCursor(Qt::PointingHandCursor);
  setToolTip(tr("The answer that is being written. A click goes to its node."));
}

void AnswerStrip::setTheme(const Theme& theme) {
  m_theme = theme;
  update();
}

void AnswerStrip::showAnswer(document::NodeId node, const QString& title, const QString& answer) {
  m_node = node;
  m_title = title;
  m_answer = answer.simplified();
  setAccessibleName(tr("Answer of %1").arg(title));
  setAccessibleDescription(m_answer);
  show();
  update();
}

void AnswerStrip::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(m_theme.color(Role::Accent), 1));
  painter.setBrush(m_theme.color(Role::Surface));
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), kDockRadius, kDockRadius);
  const QRect inside = rect().adjusted(kInside, 5, -kInside, -5);
  painter.setPen(m_theme.color(Role::TextSecond));
  painter.setFont(m_theme.smallFont());
  const QString title =
      m_answer.isEmpty() ? tr("%1 · reading the prompt").arg(m_title) : tr("%1 · answering").arg(m_title);
  painter.drawText(QRect(inside.topLeft(), QSize(inside.width(), 14)), Qt::AlignLeft | Qt::AlignVCenter,
                   title);
  painter.setPen(m_theme.color(Role::Text));
  painter.setFont(m_theme.interfaceFont());
  const QFontMetrics metrics(painter.font());
  const QString shown = metrics.elidedText(m_answer, Qt::ElideLeft, 2 * inside.width() - 48);
  painter.drawText(QRect(inside.left(), inside.top() + 15, inside.width(), 2 * kLine),
                   Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, shown);
}

void AnswerStrip::mousePressEvent(QMouseEvent* event) {
  event->accept();
  Q_EMIT wanted(m_node);
}

}  // namespace spanscope::ui
