// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/block_painter.h"

#include "ui/theme/pattern_painting.h"
#include "ui/words/glossary.h"
#include "ui/words/tr.h"

#include <QFontMetrics>
#include <QHelpEvent>
#include <QImage>
#include <QPainterPath>
#include <QToolTip>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>

namespace spanscope::ui {
namespace {

// Sizes in a legend, in pixels.
constexpr int kLegendHeight = kDockTitleHeight - 2;  // without the border of the title bar
constexpr int kSample = 16;
constexpr int kSmallSample = 12;   // in one of two lines
constexpr int kTwoLineMargin = 2;  // above and below two lines
constexpr int kLeastNameGap = 2 * kSpace;
constexpr int kNameGap = 3 * kSpace;
constexpr std::array<BlockRole, 5> kRoles{BlockRole::Free, BlockRole::Hit, BlockRole::Relocated,
                                          BlockRole::Computed, BlockRole::Evicted};

// Long dashes for Relocated, short dashes for Computed, else a solid line. Dashes continue from token to
// token.
int periodOf(BlockRole role) {
  return role == BlockRole::Relocated ? 8 : 4;
}

int dashOf(BlockRole role) {
  return role == BlockRole::Relocated ? 6 : 2;
}

QBrush dashes(BlockRole role, const QColor& ink) {
  const int period = periodOf(role);
  const int dash = dashOf(role);
  if (role != BlockRole::Relocated && role != BlockRole::Computed) return ink;
  QImage image(period, 1, QImage::Format_ARGB32_Premultiplied);
  image.fill(Qt::transparent);
  for (int x = 0; x < dash; ++x) image.setPixelColor(x, 0, ink);
  return QBrush(image);
}

/// The lines or dots of a state, as in Theme::pattern(), for vector files, which have no pixel brushes. They
/// end at the edges of `place`.
void paintPattern(QPainter& painter, const QRectF& place, BlockRole role, QColor ink, const QPointF& origin) {
  constexpr double kPeriod = 8;
  const QRectF own = place.translated(-origin);
  QPainterPath path;
  QPen pen;
  if (role == BlockRole::Computed) {
    // Dots are strokes without a length: a row of them is one line.
    ink.setAlphaF(0.38F);
    pen = QPen(ink, 2, Qt::SolidLine, Qt::RoundCap);
    pen.setDashPattern({0.01, kPeriod / 2 - 0.01});
    for (double y = 2 + std::ceil((own.top() - 1) / 4) * 4; y <= own.bottom() - 1; y += 4) {
      const double phase = std::abs(std::remainder(y - 2, kPeriod)) < 1 ? 2 : 6;
      const double x = phase + std::ceil((own.left() + 1 - phase) / kPeriod) * kPeriod;
      if (x + 1 > own.right()) continue;
      path.moveTo(x, y);
      path.lineTo(own.right() - 1, y);
    }
  } else {
    const bool rises = role == BlockRole::Relocated;
    ink.setAlphaF(rises ? 0.30F : 0.45F);
    pen = QPen(ink, 1.4, Qt::SolidLine, Qt::FlatCap);
    // A rising line has x + y constant, a falling one y − x.
    const double least = rises ? own.left() + own.top() : own.top() - own.right();
    const double most = rises ? own.right() + own.bottom() : own.bottom() - own.left();
    for (double line = std::ceil(least / kPeriod) * kPeriod; line < most; line += kPeriod) {
      const double begin =
          rises ? std::max(own.left(), line - own.bottom()) : std::max(own.left(), own.top() - line);
      const double end =
          rises ? std::min(own.right(), line - own.top()) : std::min(own.right(), own.bottom() - line);
      if (end <= begin) continue;
      path.moveTo(begin, rises ? line - begin : line + begin);
      path.lineTo(end, rises ? line - end : line + end);
    }
  }
  painter.strokePath(path.translated(origin), pen);
}

}  // namespace

BlockPainter::BlockPainter(const Theme& theme) {
  setTheme(theme);
}

void BlockPainter::setTheme(const Theme& theme) {
  if (m_theme != theme) m_stamps.clear();
  m_theme = theme;
  for (const BlockRole role : kRoles) {
    m_patterns[static_cast<std::size_t>(role)] = theme.pattern(role);
    m_dashes[static_cast<std::size_t>(role)] = dashes(role, theme.ink(role));
  }
}

void BlockPainter::fill(QPainter& painter, const QRectF& place, BlockRole role, const QPointF& origin) const {
  painter.fillRect(place, m_theme.fill(role));
  const QBrush& pattern = m_patterns[static_cast<std::size_t>(role)];
  if (pattern.style() == Qt::NoBrush) return;
  if (paintsVectors(painter)) return paintPattern(painter, place, role, m_theme.ink(role), origin);
  const QPointF before = painter.brushOrigin();
  painter.setBrushOrigin(origin);
  painter.fillRect(place, pattern);
  painter.setBrushOrigin(before);
}

void BlockPainter::block(QPainter& painter, const QRectF& place, const BlockLook& look) const {
  const bool large = place.height() >= 16 && place.width() >= 16;
  const double radius = large ? (place.width() >= 30 ? 4 : 2) : 0;
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing, large);
  QRectF inner = place;
  if (large) {
    inner = place.adjusted(0.5, 0.5, -0.5, -0.5);
    QPainterPath path;
    path.addRoundedRect(inner, radius, radius);
    painter.fillPath(path, m_theme.color(Role::Surface));
    painter.setClipPath(path, Qt::IntersectClip);
  } else {
    painter.fillRect(place, m_theme.color(Role::Surface));
  }
  if (look.role != BlockRole::Free) {
    const double share = std::clamp(look.share, 0.0, 1.0);
    QRectF filled = inner;
    filled.setTop(inner.bottom() - inner.height() * share);
    QRectF right = filled;
    if (look.split > 0) {
      QRectF left = filled;
      left.setWidth(filled.width() * std::min(1.0, look.split));
      right.setLeft(left.right());
      fill(painter, left, look.found, place.topLeft());
    }
    if (right.width() > 0) fill(painter, right, look.role, place.topLeft());
    if (look.split > 0 && look.split < 1 && large) {
      painter.setPen(QPen(m_theme.ink(look.found), 1));
      painter.drawLine(QPointF(right.left(), filled.top()), QPointF(right.left(), filled.bottom()));
    }
  }
  painter.restore();
  core(painter, place, look.core);

  painter.save();
  painter.setRenderHint(QPainter::Antialiasing, large);
  painter.setBrush(Qt::NoBrush);
  if (large) {
    painter.setPen(QPen(m_theme.ink(look.role), place.width() >= 30 ? 1.5 : 1));
    painter.drawRoundedRect(inner, radius, radius);
    if (look.shared) painter.drawRoundedRect(inner.adjusted(2.5, 2.5, -2.5, -2.5), radius - 1, radius - 1);
  } else if (place.width() >= 8) {
    painter.setPen(QPen(m_theme.ink(look.role), 1));
    painter.drawRect(place.adjusted(0, 0, -1, -1));
    if (look.shared && place.width() >= 10) painter.drawRect(place.adjusted(2, 2, -3, -3));
  } else {
    // A cell that is too narrow for an outline shows its state by a bar in the ink at its bottom.
    painter.fillRect(QRectF(place.left(), place.bottom() - 3, place.width() - 1, 3), m_theme.ink(look.role));
    if (look.shared)
      painter.fillRect(QRectF(place.left(), place.top(), place.width() - 1, 2), m_theme.ink(look.role));
  }
  if (look.loaded) {
    const double side = std::clamp(place.width() / 2.5, 4.0, 12.0);
    QPainterPath corner(place.topLeft());
    corner.lineTo(place.topLeft() + QPointF(side, 0));
    corner.lineTo(place.topLeft() + QPointF(0, side));
    corner.closeSubpath();
    painter.setRenderHint(QPainter::Antialiasing, true);
    painter.fillPath(corner, m_theme.ink(look.role == BlockRole::Computed ? look.found : look.role));
  }
  painter.restore();
}

void BlockPainter::stamp(QPainter& painter, const QRect& place, const BlockLook& look) const {
  const double scale = painter.device()->devicePixelRatioF();
  // Steps of less than a pixel are invisible.
  const auto pixels = [](double share, int size) {
    return static_cast<quint64>(std::clamp(static_cast<int>(std::lround(share * size)), 0, size)) & 0xFFU;
  };
  const quint64 key = static_cast<quint64>(look.role) | static_cast<quint64>(look.found) << 4U |
                      static_cast<quint64>(look.core) << 8U | static_cast<quint64>(look.shared) << 12U |
                      static_cast<quint64>(look.loaded) << 13U | pixels(look.share, place.height()) << 16U |
                      pixels(look.split, place.width()) << 24U | static_cast<quint64>(place.width()) << 32U |
                      static_cast<quint64>(place.height()) << 48U;
  auto found = m_stamps.find(key);
  if (found == m_stamps.end() || found->devicePixelRatio() != scale) {
    QPixmap pixmap(place.size() * scale);
    pixmap.setDevicePixelRatio(scale);
    pixmap.fill(m_theme.color(Role::Surface));
    QPainter own(&pixmap);
    block(own, QRect(QPoint(), place.size()), look);
    own.end();
    found = m_stamps.insert(key, pixmap);
  }
  painter.drawPixmap(place.topLeft(), *found);
}

void BlockPainter::core(QPainter& painter, const QRectF& place, BlockCore core) const {
  switch (core) {
    case BlockCore::None:
      return;
    case BlockCore::Light:
    case BlockCore::Dark: {
      const double inset = place.width() >= 30 ? 4 : place.width() >= 14 ? 3 : 2;
      painter.fillRect(place.adjusted(inset, inset, -inset, -inset),
                       m_theme.color(core == BlockCore::Dark ? Role::TextThird : Role::Outline));
      return;
    }
    case BlockCore::Frame: {
      const double inset = place.width() >= 30 ? 4 : place.width() >= 14 ? 3 : 2;
      painter.setBrush(Qt::NoBrush);
      painter.setPen(QPen(m_theme.color(Role::TextThird), 1));
      painter.drawRect(place.adjusted(inset, inset, -inset - 1, -inset - 1));
      return;
    }
    case BlockCore::Cross:
      painter.setPen(QPen(m_theme.color(Role::TextThird), 1));
      painter.drawLine(place.topLeft() + QPointF(3, 3), place.bottomRight() - QPointF(3, 3));
      painter.drawLine(place.topRight() + QPointF(-3, 3), place.bottomLeft() + QPointF(3, -3));
      return;
  }
}

void BlockPainter::underline(QPainter& painter, const QRectF& place, BlockRole role) const {
  if (role == BlockRole::Free) {
    painter.fillRect(QRectF(place.left(), place.bottom() - 1, place.width(), 1), m_theme.ink(role));
  } else if (m_dashes[static_cast<std::size_t>(role)].style() == Qt::TexturePattern &&
             paintsVectors(painter)) {
    const int period = periodOf(role);
    for (double x = std::floor(place.left() / period) * period; x < place.right(); x += period) {
      const double left = std::max(x, place.left());
      const double right = std::min(x + dashOf(role), place.right());
      if (right > left)
        painter.fillRect(QRectF(left, place.top(), right - left, place.height()), m_theme.ink(role));
    }
  } else {
    painter.fillRect(place, m_dashes[static_cast<std::size_t>(role)]);
  }
}

void BlockPainter::ring(QPainter& painter, const QRectF& place) const {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(m_theme.color(Role::Accent), 2));
  painter.drawRoundedRect(place.adjusted(-2, -2, 2, 2), 5, 5);
  painter.restore();
}

void BlockPainter::echo(QPainter& painter, const QRectF& place) const {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(m_theme.color(Role::Accent), 1.5, Qt::DashLine));
  painter.drawRoundedRect(place.adjusted(-2, -2, 2, 2), 5, 5);
  painter.restore();
}

BlockLegend::BlockLegend(std::vector<Meaning> entries, QWidget* parent)
    : QWidget(parent), m_entries(std::move(entries)) {
  nameEntries();
  QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Preferred);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
}

void BlockLegend::nameEntries() {
  QStringList names;
  for (const Meaning& entry : m_entries) names << entry.name;
  setAccessibleName(tr("Legend: %1").arg(names.join(QStringLiteral(", "))));
}

void BlockLegend::setTheme(const Theme& theme) {
  if (m_painter.theme() == theme) return;
  m_painter.setTheme(theme);
  updateGeometry();
  update();
}

void BlockLegend::setEntries(std::vector<Meaning> entries) {
  if (m_entries == entries) return;
  m_entries = std::move(entries);
  nameEntries();
  updateGeometry();
  update();
}

QString BlockLegend::nameIn(const Form& form, const Meaning& entry) const {
  return form.isBrief && !entry.brief.isEmpty() ? entry.brief : entry.name;
}

int BlockLegend::widthIn(const Form& form, std::size_t entry) const {
  const QFontMetrics metrics(m_painter.theme().smallFont());
  return (form.hasTwoLines ? kSmallSample : kSample) + kSpace +
         metrics.horizontalAdvance(nameIn(form, m_entries[entry])) + 1;
}

int BlockLegend::widthIn(const Form& form, std::size_t begin, std::size_t end) const {
  int width = 0;
  for (std::size_t i = begin; i < end; ++i) width += (i > begin ? kLeastNameGap : 0) + widthIn(form, i);
  return width;
}

std::size_t BlockLegend::breakIn(const Form& form) const {
  const std::size_t count = m_entries.size();
  const auto longest = [&](std::size_t at) {
    return std::max(widthIn(form, 0, at), widthIn(form, at, count));
  };
  std::size_t best = count;
  for (std::size_t at = 1; form.hasTwoLines && at < count; ++at) {
    if (longest(at) < longest(best)) best = at;
  }
  return best;
}

int BlockLegend::leastWidth(const Form& form) const {
  const std::size_t second = breakIn(form);
  return std::max(widthIn(form, 0, second), widthIn(form, second, m_entries.size()));
}

BlockLegend::Form BlockLegend::formFor(int width) const {
  constexpr std::array<Form, 4> kForms{{{.isBrief = false, .hasTwoLines = false},
                                        {.isBrief = true, .hasTwoLines = false},
                                        {.isBrief = false, .hasTwoLines = true},
                                        {.isBrief = true, .hasTwoLines = true}}};
  for (const Form& form : kForms) {
    if (leastWidth(form) <= width) return form;
  }
  return kForms.back();
}

std::vector<BlockLegend::Place> BlockLegend::layOut(int width) const {
  const Form form = formFor(width);
  const std::size_t second = breakIn(form);
  const int gaps = std::max(1, static_cast<int>(second) - 1);
  const int gap =
      std::clamp(kLeastNameGap + (width - widthIn(form, 0, second)) / gaps, kLeastNameGap, kNameGap);
  std::vector<Place> places;
  int left = 0;
  for (std::size_t i = 0; i < m_entries.size(); ++i) {
    if (i == second) left = 0;
    places.push_back({.left = left, .width = widthIn(form, i), .line = i < second ? 0 : 1});
    left += places.back().width + (form.hasTwoLines ? kLeastNameGap : gap);
  }
  return places;
}

QSize BlockLegend::sizeHint() const {
  const int gaps = std::max(0, static_cast<int>(m_entries.size()) - 1);
  return {leastWidth({}) + gaps * (kNameGap - kLeastNameGap), kLegendHeight};
}

int BlockLegend::lineHeight() const {
  return std::max(kSmallSample + 2, QFontMetrics(m_painter.theme().smallFont()).height());
}

int BlockLegend::heightForWidth(int width) const {
  return formFor(width).hasTwoLines ? 2 * (lineHeight() + kTwoLineMargin) : kLegendHeight;
}

QSize BlockLegend::minimumSizeHint() const {
  const int least =
      std::min(leastWidth({.isBrief = true}), leastWidth({.isBrief = true, .hasTwoLines = true}));
  return {least, kLegendHeight};
}

void BlockLegend::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setFont(m_painter.theme().smallFont());
  const Form form = formFor(width());
  const int size = form.hasTwoLines ? kSmallSample : kSample;
  const int line = form.hasTwoLines ? std::min(lineHeight(), height() / 2) : height();
  const int above = form.hasTwoLines ? (height() - 2 * line) / 2 : 0;
  const std::vector<Place> places = layOut(width());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Meaning& entry = m_entries[i];
    const int top = above + places[i].line * line;
    const QRect sample(places[i].left, top + (line - size) / 2, size, size);
    if (entry.paint == nullptr) {
      m_painter.block(painter, sample, entry.look);
    } else {
      painter.save();
      entry.paint(painter, sample, m_painter, entry.look);
      painter.restore();
    }
    painter.setPen(m_painter.theme().color(Role::TextSecond));
    painter.drawText(QRect(sample.right() + 1 + kSpace, top, places[i].width - size - kSpace, line),
                     Qt::AlignVCenter | Qt::AlignLeft, nameIn(form, entry));
  }
}

bool BlockLegend::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const Form form = formFor(width());
  const int line = form.hasTwoLines && help->pos().y() >= height() / 2 ? 1 : 0;
  const std::vector<Place> places = layOut(width());
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i].line != line || help->pos().x() >= places[i].left + places[i].width + kSpace) continue;
    const Meaning& entry = m_entries[i];
    const bool isWhole = nameIn(form, entry) == entry.name;
    QToolTip::showText(help->globalPos(), isWhole ? entry.help : entry.name + QLatin1Char('\n') + entry.help,
                       this);
    return true;
  }
  QToolTip::hideText();
  return true;
}

QString briefName(BlockRole role) {
  return role == BlockRole::Relocated ? BlockLegend::tr("relocated") : QString();
}

std::vector<BlockLegend::Meaning> stateLegend() {
  const auto entry = [](BlockRole role, const QString& help) {
    return BlockLegend::Meaning{{.role = role}, Theme::name(role), help, briefName(role)};
  };
  return {entry(BlockRole::Hit, explain(u"hit")), entry(BlockRole::Relocated, explain(u"relocated")),
          entry(BlockRole::Computed, explain(u"computed")), entry(BlockRole::Evicted, explain(u"evicted")),
          entry(BlockRole::Free, tr("No physical block yet, or none after the request has "
                                    "ended, because the cache did not keep the block"))};
}

BlockLegend::Meaning partialMeaning() {
  return {{.role = BlockRole::Computed, .split = 0.5},
          BlockLegend::tr(/*id:legend-partial*/ "partial hit"),
          BlockLegend::tr("The cache had the first tokens of the block. The model computed the rest"),
          BlockLegend::tr("partial")};
}

BlockLegend::Meaning loadedMeaning() {
  return {{.role = BlockRole::Hit, .loaded = true},
          BlockLegend::tr("loaded"),
          BlockLegend::tr("A hit from host memory or the disk")};
}

}  // namespace spanscope::ui
