// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/overlays.h"

#include "ui/editor/add_rules.h"

#include <QFocusEvent>
#include <QFontMetrics>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <utility>

namespace spanscope::ui {

FindBar::FindBar(QWidget* parent) : QFrame(parent), m_search(new QLineEdit(this)), m_hits(new QLabel(this)) {
  setObjectName(QStringLiteral("findBar"));
  setAccessibleName(tr("Find"));
  m_search->setObjectName(QStringLiteral("findSearch"));
  m_search->setPlaceholderText(tr("Find in nodes…"));
  m_search->setAccessibleName(tr("Find in nodes"));
  m_search->installEventFilter(this);
  m_hits->setMinimumWidth(76);
  m_hits->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  auto* box = new QHBoxLayout(this);
  box->setContentsMargins(8, 4, 12, 4);
  box->setSpacing(8);
  box->addWidget(m_search, 1);
  box->addWidget(m_hits);
  setFixedSize(320, 40);
  connect(m_search, &QLineEdit::textChanged, this, &FindBar::textChanged);
  hide();
}

void FindBar::open(const Theme& theme) {
  m_theme = theme;
  applyTheme(*this, theme);
  m_hits->setFont(theme.smallFont());
  show();
  raise();
  m_search->selectAll();
  m_search->setFocus(Qt::ShortcutFocusReason);
  Q_EMIT textChanged(m_search->text());
}

void FindBar::showHits(std::size_t place, std::size_t count) {
  if (m_search->text().isEmpty()) {
    m_hits->setText({});
  } else {
    m_hits->setText(count == 0 ? tr("nothing found") : tr("%1 of %2").arg(place).arg(count));
  }
}

bool FindBar::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_search && event->type() == QEvent::ShortcutOverride) {
    event->accept();
    return true;
  }
  if (watched == m_search && event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);
    if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
      Q_EMIT nextWanted((key->modifiers() & Qt::ShiftModifier) != 0);
      return true;
    }
    if (key->key() == Qt::Key_Escape) {
      hide();
      Q_EMIT closed();
      return true;
    }
  }
  return QFrame::eventFilter(watched, event);
}

void FindBar::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(m_theme.color(Role::Outline));
  painter.setBrush(m_theme.color(Role::Surface));
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), kDockRadius, kDockRadius);
}

InlineEdit::InlineEdit(QWidget* parent) : QLineEdit(parent) {
  setObjectName(QStringLiteral("inlineEdit"));
  hide();
}

void InlineEdit::open(const QRect& area, const QString& text, const QString& hint, const Theme& theme,
                      std::function<void(const QString&)> done) {
  m_done = std::move(done);
  applyTheme(*this, theme);
  setAccessibleName(hint);
  setPlaceholderText(hint);
  setText(text);
  QRect place(area.topLeft(), QSize(std::max(160, area.width()), 28));
  const QRect room = parentWidget()->rect();
  place.moveLeft(std::clamp(place.left(), 4, std::max(4, room.right() - place.width() - 4)));
  place.moveTop(std::clamp(place.top(), 4, std::max(4, room.bottom() - place.height() - 4)));
  setGeometry(place);
  show();
  raise();
  selectAll();
  setFocus(Qt::OtherFocusReason);
}

bool InlineEdit::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride) {
    event->accept();
    return true;
  }
  return QLineEdit::event(event);
}

void InlineEdit::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Tab:
      finish(true);
      return;
    case Qt::Key_Escape:
      finish(false);
      return;
    default:
      QLineEdit::keyPressEvent(event);
  }
}

void InlineEdit::focusOutEvent(QFocusEvent* event) {
  QLineEdit::focusOutEvent(event);
  if (event->reason() != Qt::ActiveWindowFocusReason && event->reason() != Qt::PopupFocusReason) finish(true);
}

void InlineEdit::finish(bool keep) {
  if (!m_done) return;
  const auto done = std::exchange(m_done, nullptr);
  hide();
  if (keep) done(text());
  Q_EMIT closed();
}

Minimap::Minimap(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("minimap"));
  setAccessibleName(tr("Overview of the canvas. Click to move there"));
  setFixedSize(120, 72);
  setCursor(Qt::PointingHandCursor);
}

void Minimap::setTheme(const Theme& theme) {
  m_theme = theme;
  update();
}

void Minimap::setShapes(std::vector<Shape> shapes) {
  if (shapes == m_shapes) return;
  m_shapes = std::move(shapes);
  m_content = {};
  for (const Shape& shape : m_shapes) m_content |= shape.rect;
  update();
}

void Minimap::setSeen(const QRectF& seen) {
  if (seen == m_seen) return;
  m_seen = seen;
  update();
}

QRectF Minimap::world() const {
  // The area has the whole content, and the visible part if that is near the content.
  QRectF all = m_content;
  if (all.isNull()) all = m_seen;
  const double wide = all.width();
  const double high = all.height();
  all |= m_seen.intersected(all.adjusted(-wide, -high, wide, high));
  return all;
}

QTransform Minimap::toWidget() const {
  const QRectF from = world();
  const QRectF to = QRectF(rect()).adjusted(6, 6, -6, -6);
  if (from.width() <= 0 || from.height() <= 0) return {};
  const double scale = std::min(to.width() / from.width(), to.height() / from.height());
  QTransform transform;
  transform.translate(to.center().x(), to.center().y());
  transform.scale(scale, scale);
  transform.translate(-from.center().x(), -from.center().y());
  return transform;
}

void Minimap::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(m_theme.color(Role::Line));
  painter.setBrush(m_theme.color(Role::Surface));
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
  const QTransform transform = toWidget();
  const bool many = m_shapes.size() > 200;
  painter.setRenderHint(QPainter::Antialiasing, !many);
  painter.setPen(Qt::NoPen);
  for (const Shape& shape : m_shapes) {
    QRectF small = transform.mapRect(shape.rect);
    small.setSize(QSizeF(std::max(1.0, small.width()), std::max(1.0, small.height())));
    const QColor color = m_theme.color(shape.selected ? Role::Accent : Role::Outline);
    if (many) {
      painter.fillRect(small, color);
    } else {
      painter.setBrush(color);
      painter.drawRoundedRect(small, 1.5, 1.5);
    }
  }
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(m_theme.color(Role::Accent), 1));
  painter.setBrush(Qt::NoBrush);
  const QRectF seen = transform.mapRect(m_seen).intersected(QRectF(rect()).adjusted(1.5, 1.5, -1.5, -1.5));
  painter.drawRect(seen);
}

void Minimap::mousePressEvent(QMouseEvent* event) {
  Q_EMIT centerWanted(toWidget().inverted().map(event->position()));
}

void Minimap::mouseMoveEvent(QMouseEvent* event) {
  if ((event->buttons() & Qt::LeftButton) != 0)
    Q_EMIT centerWanted(toWidget().inverted().map(event->position()));
}

namespace {

constexpr QSize kLeastSize(160, 64);
constexpr int kAir = 4;

}  // namespace

NoteEdit::NoteEdit(QWidget* parent) : QPlainTextEdit(parent) {
  setObjectName(QStringLiteral("noteEdit"));
  connect(this, &QPlainTextEdit::textChanged, this, [this] {
    // A copy of `typed`, because the call can change the document, which can close the editor.
    if (const auto typed = m_use.typed) typed(toPlainText());
  });
  hide();
}

void NoteEdit::open(const QRect& area, const QString& text, const Theme& theme, Use use) {
  finish(true);
  setAccessibleName(use.hint);
  setPlaceholderText(use.hint);
  setToolTip(use.keys);
  applyTheme(*this, theme);
  setPlainText(text);
  place(area);
  show();
  raise();
  selectAll();
  setFocus(Qt::OtherFocusReason);
  m_before = text;
  m_use = std::move(use);
}

void NoteEdit::take(const QString& text) {
  if (toPlainText() == text) return;
  const auto typed = std::exchange(m_use.typed, nullptr);
  setPlainText(text);
  moveCursor(QTextCursor::End);
  m_use.typed = typed;
}

void NoteEdit::place(const QRect& area) {
  const QRect room = parentWidget()->rect().adjusted(kAir, kAir, -kAir, -kAir);
  QRect place(area.topLeft(), area.size().expandedTo(kLeastSize).boundedTo(room.size()));
  place.moveLeft(std::clamp(place.left(), room.left(), std::max(room.left(), room.right() - place.width())));
  place.moveTop(std::clamp(place.top(), room.top(), std::max(room.top(), room.bottom() - place.height())));
  setGeometry(place);
}

bool NoteEdit::event(QEvent* event) {
  // While the editor is open, it gets every key, even keys of canvas commands.
  if (event->type() == QEvent::ShortcutOverride) {
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool passes = m_use.passes && m_use.passes(QKeySequence(key->keyCombination()));
    event->setAccepted(!passes);
    return true;
  }
  return QPlainTextEdit::event(event);
}

void NoteEdit::keyPressEvent(QKeyEvent* event) {
  const bool isReturn = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  if (event->key() == Qt::Key_Escape) {
    finish(false);
  } else if (event->key() == Qt::Key_Tab || (isReturn && event->modifiers().testFlag(Qt::ControlModifier))) {
    finish(true);
  } else {
    QPlainTextEdit::keyPressEvent(event);
  }
}

void NoteEdit::focusOutEvent(QFocusEvent* event) {
  QPlainTextEdit::focusOutEvent(event);
  if (event->reason() != Qt::ActiveWindowFocusReason && event->reason() != Qt::PopupFocusReason) finish(true);
}

void NoteEdit::finish(bool keep) {
  if (!m_use.typed) return;
  const Use use = std::exchange(m_use, {});
  hide();
  if (!keep && use.reverts) use.typed(m_before);
  use.ended();
  Q_EMIT closed();
}

namespace {

constexpr int kHeight = 60;
constexpr int kInside = 10;
constexpr int kLine = 17;

}  // namespace

AnswerStrip::AnswerStrip(QWidget* parent) : QFrame(parent) {
  setObjectName(QStringLiteral("answerStrip"));
  setFixedHeight(kHeight);
  setCursor(Qt::PointingHandCursor);
  setToolTip(tr("The current answer. Click to show its node."));
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
