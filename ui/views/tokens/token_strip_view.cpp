// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/tokens/token_strip_view.h"

#include "ui/views/common/request_blocks.h"
#include "ui/views/tokens/token_strip_area.h"
#include "ui/words/tr.h"

#include <QFontMetrics>
#include <QMouseEvent>
#include <QPainter>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace spanscope::ui {

TokenStripView::TokenStripView(QWidget* parent)
    : InputView(kRunParts | InputPart::WholeTrace, Pace::EveryInput, parent),
      MovingView(this),
      m_area(new TokenStripArea(this)) {
  setAccessibleName(tr("Tokens"));
  setFocusProxy(m_area);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(m_area);
  m_area->showStrip(&m_strip, true, 0, theme());
  m_area->setTips(
      [this](std::size_t token) { return input() ? tokenTip(*input(), m_strip, token) : QString(); });
  connect(m_area, &TokenStripArea::chosen, this, &TokenStripView::select);
}

QWidget* TokenStripView::takeTitleControls() {
  if (!m_chips) {
    m_chips = new SegmentChips;
    connect(m_chips, &SegmentChips::chosen, this, [this](std::size_t chip) {
      if (chip < m_strip.segments.size()) select(m_strip.segments[chip].first);
    });
    showChips();
  }
  return m_chips;
}

void TokenStripView::showChips() {
  if (!m_chips) return;
  std::vector<SegmentName> names;
  for (const StripSegment& segment : m_strip.segments) names.push_back({segment.name, segment.hue, false});
  m_chips->showNames(std::move(names), theme());
}

void TokenStripView::refresh() {
  TokenStrip strip = tokenStrip(*input());
  const bool changed = strip != m_strip;
  const QString before = m_strip.summary;
  if (changed) m_strip = std::move(strip);
  const std::size_t current = selectedToken(m_strip, input()->selection);
  stopMotion();
  m_area->showStrip(&m_strip, changed, current, theme());
  showMotion();
  showChips();
  if (m_strip.summary != before) Q_EMIT summaryChanged(m_strip.summary);
  m_area->setAccessibleDescription(current < m_strip.tokens.size() ? tokenTip(*input(), m_strip, current)
                                                                   : m_strip.summary);
  // A new selection becomes visible. Later the user may scroll away from it.
  if (m_shown != input()->selection) {
    m_shown = input()->selection;
    m_area->reveal(current);
  }
}

void TokenStripView::stopMotion() {
  m_area->showMotion(nullptr, 1);
  m_motion.reset();
}

void TokenStripView::showMotion() {
  if (input() == nullptr || !moment().isUnderwayAt(input()->position)) return stopMotion();
  if (!m_motion) m_motion = stripMotion(*input(), moment(), m_strip);
  m_area->showMotion(&*m_motion, moment().done);
}

void TokenStripView::select(std::size_t token) {
  if (input() == nullptr || token >= m_strip.tokens.size()) return;
  Q_EMIT selectionWanted(selectionOfToken(*input(), m_strip.tokens[token].place));
}

const QWidget& TokenStripView::placesIn() const {
  return *m_area->viewport();
}

std::vector<QRect> TokenStripView::placesOf(const Selection& part) const {
  const std::size_t first = selectedToken(m_strip, part);
  const std::vector<QRect>& tiles = m_area->stripLayout().tiles;
  if (first >= m_strip.tokens.size() || first >= tiles.size()) return {};
  std::vector<QRect> places{tiles[first]};
  if (!part.token) {
    for (std::size_t i = first + 1; i < tiles.size(); ++i) {
      if (m_strip.tokens[i].block != m_strip.tokens[first].block) break;
      if (tiles[i].top() == places.back().top())
        places.back() |= tiles[i];
      else
        places.push_back(tiles[i]);
    }
  }
  for (QRect& place : places) place.translate(-m_area->offset());
  return places;
}

void TokenStripView::bringIntoSight(const Selection& part) {
  m_area->reveal(selectedToken(m_strip, part));
}

QString TokenStripView::csv() const {
  if (input() == nullptr) return {};
  const TokenStrip strip = tokenStrip(*input());
  return strip.tokens.empty() ? QString() : tokenStripCsv(*input(), strip);
}

void TokenStripView::paintTo(QPainter& painter, const QSize& size) {
  ensureFresh();
  m_area->paintWhole(painter, size);
}

ViewInfo tokensRow() {
  return {.id = QStringLiteral("tokens"),
          .title = tr("Tokens"),
          .help = tr("The prompt and the answer token by token, and their blocks"),
          .make = makeViewOf<TokenStripView>,
          .needs = {Fact::Prompts, Fact::TokenTexts},
          .places = {{LayoutId::Explain, Room::Low, Room::Low, 0, 1, 1, 0},
                     {LayoutId::Explain, Room::Middle, Room::Full, 0, 1, 0, 18},
                     {LayoutId::Explain, Room::Large, Room::Large, 0, 1, 0, 16}}};
}

namespace {

constexpr int kHeight = 18;
constexpr int kWidest = 560;  // pixels, so that the counts beside the chips stay visible

}  // namespace

SegmentChips::SegmentChips(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  setAccessibleName(tr("Segments"));
}

void SegmentChips::showNames(std::vector<SegmentName> names, const Theme& theme) {
  if (m_names == names && m_theme == theme) return;
  m_names = std::move(names);
  m_theme = theme;
  QStringList all;
  for (const SegmentName& name : m_names) all << name.name;
  setAccessibleDescription(all.join(QStringLiteral(", ")));
  setToolTip(all.join(QStringLiteral(" · ")));
  updateGeometry();
  update();
}

std::vector<QRect> SegmentChips::places(int width) const {
  const QFontMetrics metrics(m_theme.smallFont());
  const int more = metrics.horizontalAdvance(QStringLiteral("+999")) + kSpace;
  std::vector<QRect> result;
  int x = 0;
  for (std::size_t i = 0; i < m_names.size(); ++i) {
    const int own = std::min(metrics.horizontalAdvance(m_names[i].name), 140) + 4 * kSpace;
    const int needed = i + 1 < m_names.size() ? own + kSpace + more : own;
    if (x + needed > width) break;
    result.emplace_back(x, 1, own, kHeight);
    x += own + 2 * kSpace;
  }
  return result;
}

QSize SegmentChips::sizeHint() const {
  const std::vector<QRect> all = places(kWidest);
  if (all.empty()) return {0, kHeight + 2};
  const int more = all.size() < m_names.size() ? 40 : 0;
  return {all.back().right() + 1 + more, kHeight + 2};
}

QSize SegmentChips::minimumSizeHint() const {
  return {0, kHeight + 2};
}

void SegmentChips::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setFont(m_theme.smallFont());
  const QFontMetrics metrics(m_theme.smallFont());
  const std::vector<QRect> all = places(width());
  for (std::size_t i = 0; i < all.size(); ++i) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(m_theme.segmentTint(m_names[i].hue));
    painter.drawRoundedRect(all[i], kHeight / 2.0, kHeight / 2.0);
    if (const QBrush pattern = m_theme.segmentPattern(m_names[i].hue); pattern.style() != Qt::NoBrush) {
      painter.setBrush(pattern);
      painter.drawRoundedRect(all[i], kHeight / 2.0, kHeight / 2.0);
    }
    painter.setPen(m_theme.segmentInk(m_names[i].hue));
    painter.drawText(all[i], Qt::AlignCenter,
                     metrics.elidedText(m_names[i].name, Qt::ElideRight, all[i].width() - 3 * kSpace));
  }
  if (all.size() == m_names.size()) return;
  const int x = all.empty() ? 0 : all.back().right() + kSpace;
  painter.setPen(m_theme.color(Role::TextThird));
  painter.drawText(QRect(x, 0, width() - x, height()), Qt::AlignVCenter | Qt::AlignLeft,
                   QStringLiteral("+%1").arg(m_names.size() - all.size()));
}

void SegmentChips::mousePressEvent(QMouseEvent* event) {
  const std::vector<QRect> all = places(width());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].contains(event->position().toPoint())) Q_EMIT chosen(i);
  }
}

}  // namespace spanscope::ui
