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

constexpr int kSwatch = 14;  // size of a legend's sample in pixels
constexpr int kSample = kSwatch + 2;
constexpr int kSampleGap = kSpace;
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
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
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

int BlockLegend::nameWidth(const Meaning& entry) const {
  return kSpace + QFontMetrics(m_painter.theme().smallFont()).horizontalAdvance(entry.name) + 1;
}

std::vector<BlockLegend::Place> BlockLegend::layOut(int width) const {
  std::vector<Place> places(m_entries.size());
  // Gaps shrink before a name is left out.
  int names = 0;
  for (const Meaning& entry : m_entries) names += kSample + nameWidth(entry);
  const int gaps = std::max(1, static_cast<int>(places.size()) - 1);
  const int nameGap = std::clamp((width - kSampleGap - names) / gaps, kSampleGap, kNameGap);
  int rest = width - minimumSizeHint().width();
  for (std::size_t i = 0; i < places.size(); ++i) {
    places[i].width = kSample;
    // The gap after a name is larger than the gap between samples. The last entry has no gap.
    const int name = nameWidth(m_entries[i]);
    const int gap = i + 1 < places.size() ? nameGap - kSampleGap : 0;
    places[i].isNamed = rest >= name + gap;
    if (places[i].isNamed) {
      places[i].width += name;
      rest -= name + gap;
    }
    if (i + 1 < places.size())
      places[i + 1].left = places[i].left + places[i].width + (places[i].isNamed ? nameGap : kSampleGap);
  }
  return places;
}

QSize BlockLegend::sizeHint() const {
  QSize size = minimumSizeHint();
  for (const Meaning& entry : m_entries) size.rwidth() += nameWidth(entry) + kNameGap - kSampleGap;
  return size;
}

QSize BlockLegend::minimumSizeHint() const {
  return {static_cast<int>(m_entries.size()) * (kSample + kSampleGap), 20};
}

void BlockLegend::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setFont(m_painter.theme().smallFont());
  const std::vector<Place> places = layOut(width());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const QRect swatch(places[i].left, (height() - kSwatch) / 2, kSample, kSample);
    m_painter.block(painter, swatch, m_entries[i].look);
    if (!places[i].isNamed) continue;
    painter.setPen(m_painter.theme().color(Role::TextSecond));
    painter.drawText(QRect(swatch.right() + kSpace, 0, nameWidth(m_entries[i]), height()),
                     Qt::AlignVCenter | Qt::AlignLeft, m_entries[i].name);
  }
}

bool BlockLegend::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const std::vector<Place> places = layOut(width());
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (help->pos().x() >= places[i].left + places[i].width + kSampleGap) continue;
    const QString text = m_entries[i].help;
    // A sample alone has no name beside it.
    QToolTip::showText(help->globalPos(),
                       places[i].isNamed ? text : m_entries[i].name + QLatin1Char('\n') + text, this);
    return true;
  }
  QToolTip::hideText();
  return true;
}

std::vector<BlockLegend::Meaning> stateLegend() {
  const auto entry = [](BlockRole role, const QString& help) {
    return BlockLegend::Meaning{{.role = role}, Theme::name(role), help};
  };
  return {entry(BlockRole::Hit, explain(u"hit")), entry(BlockRole::Relocated, explain(u"relocated")),
          entry(BlockRole::Computed, explain(u"computed")), entry(BlockRole::Evicted, explain(u"evicted")),
          entry(BlockRole::Free, tr("No physical block yet, or none after the request has "
                                    "ended, because the cache did not keep the block"))};
}

BlockLegend::Meaning partialMeaning() {
  return {{.role = BlockRole::Computed, .split = 0.5},
          BlockLegend::tr(/*id:legend-partial*/ "partial hit"),
          BlockLegend::tr("The cache had the first tokens of the block. The model computed the rest")};
}

BlockLegend::Meaning loadedMeaning() {
  return {{.role = BlockRole::Hit, .loaded = true},
          BlockLegend::tr("loaded"),
          BlockLegend::tr("A hit from host memory or the disk")};
}

}  // namespace spanscope::ui
