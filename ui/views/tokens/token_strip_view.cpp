// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/tokens/token_strip_view.h"

#include "ui/views/common/block_painter.h"
#include "ui/views/common/request_blocks.h"
#include "ui/views/tokens/token_strip_area.h"
#include "ui/words/tr.h"

#include <QPainter>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace spanscope::ui {

namespace {

/// A tile with the line under it.
void paintServed(QPainter& painter, const QRect& place, const BlockPainter& blocks, const BlockLook& look) {
  const QRect tile = place.adjusted(0, 0, 0, -5);
  painter.fillRect(tile, blocks.theme().color(Role::Canvas));
  painter.setPen(QPen(blocks.theme().color(Role::Outline), 1));
  painter.drawRect(tile.adjusted(0, 0, -1, -1));
  blocks.underline(painter, QRectF(place.left(), place.bottom() - 2, place.width(), 3), look.role);
}

template <StripPart part>
void paintPartSample(QPainter& painter, const QRect& place, const BlockPainter& blocks,
                     const BlockLook& /*look*/) {
  const QRect tile = place.adjusted(0, 1, 0, -1);
  paintStripPart(painter, blocks.theme(), part, tile);
  if (part == StripPart::Marker) {
    // The sign of a delimiter, so that the sample differs from bars of attention.
    const int arm = tile.height() / 4;
    painter.setPen(QPen(blocks.theme().color(Role::Surface), 1));
    painter.drawLine(tile.center() - QPoint(arm, 0), tile.center() + QPoint(arm, 0));
    painter.drawLine(tile.center() - QPoint(0, arm), tile.center() + QPoint(0, arm));
  }
  if (part != StripPart::Cropped) return;
  painter.setPen(QPen(blocks.theme().color(Role::Error), 1));
  painter.drawLine(tile.left() + 1, tile.center().y() + 1, tile.right() - 1, tile.center().y() + 1);
}

void paintBarSample(QPainter& painter, const QRect& place, const BlockPainter& blocks,
                    const BlockLook& /*look*/) {
  painter.fillRect(QRect(place.left(), place.bottom(), place.width(), 1),
                   blocks.theme().color(Role::Outline));
  // Bars of different heights.
  const int width = place.width() / 4;
  int left = place.left() + 1;
  for (const int top : {place.height() / 2, place.height() / 8, place.height() * 3 / 4}) {
    painter.fillRect(QRect(left, place.top() + top, width, place.height() - top),
                     blocks.theme().color(Role::TextThird));
    left += width + 1;
  }
}

/// The legend of the marks in this strip. Before a run, the legend has the three usual states.
std::vector<BlockLegend::Meaning> legendOf(const TokenStrip& strip) {
  const auto anyToken = [&strip](const auto& matches) { return std::ranges::any_of(strip.tokens, matches); };
  std::vector<BlockLegend::Meaning> entries;
  for (BlockLegend::Meaning& state : stateLegend()) {
    const BlockRole role = state.look.role;
    const bool isShown =
        strip.tokens.empty()
            ? role != BlockRole::Evicted
            : anyToken([role](const StripToken& token) { return token.computed && token.role == role; });
    if (!isShown || role == BlockRole::Free) continue;
    state.paint = paintServed;
    entries.push_back(std::move(state));
  }
  const auto addPart = [&](StripPart part, BlockLegend::Meaning entry) {
    if (anyToken([part](const StripToken& token) { return token.part == part; }))
      entries.push_back(std::move(entry));
  };
  addPart(StripPart::Cropped, {.look = {},
                               .name = tr(/*id:strip-cropped*/ "cropped"),
                               .help = tr("The layout removed the token from the prompt"),
                               .paint = paintPartSample<StripPart::Cropped>});
  addPart(StripPart::Pad, {.look = {},
                           .name = tr("padding"),
                           .help = tr("The layout fills a block with padding"),
                           .paint = paintPartSample<StripPart::Pad>});
  addPart(StripPart::Marker, {.look = {},
                              .name = tr("delimiter"),
                              .help = tr("A child of a plus, or the last child of a cross, begins here"),
                              .paint = paintPartSample<StripPart::Marker>});
  if (strip.mostLooked > 0) {
    entries.push_back({.look = {},
                       .name = tr(/*id:strip-attention*/ "attention"),
                       .help = tr("The share of a generated token's attention to the selected "
                                  "document, or to all documents"),
                       .paint = paintBarSample});
  }
  return entries;
}

}  // namespace

TokenStripView::TokenStripView(QWidget* parent)
    : InputView(kRunParts | InputPart::WholeTrace, Pace::EveryInput, parent),
      MovingView(this),
      m_area(new TokenStripArea(this)) {
  setAccessibleName(tr("Tokens"));
  setFocusProxy(m_area);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(m_area);
  // At least one line of tokens is whole.
  m_area->setMinimumHeight(kStripTile + kStripServed + 2 * kSpace);
  m_area->showStrip(&m_strip, true, 0, theme());
  m_area->setTips(
      [this](std::size_t token) { return input() ? tokenTip(*input(), m_strip, token) : QString(); });
  connect(m_area, &TokenStripArea::chosen, this, &TokenStripView::select);
}

QWidget* TokenStripView::takeTitleControls() {
  if (!m_legend) {
    m_legend = new BlockLegend(legendOf(m_strip));
    m_legend->setTheme(theme());
  }
  return m_legend;
}

void TokenStripView::refresh() {
  TokenStrip strip = tokenStrip(*input());
  const bool changed = strip != m_strip;
  const QString before = m_strip.summary;
  if (changed) m_strip = std::move(strip);
  if (m_legend) {
    m_legend->setTheme(theme());
    if (changed) m_legend->setEntries(legendOf(m_strip));
  }
  const std::size_t current = selectedToken(m_strip, input()->selection);
  stopMotion();
  m_area->showStrip(&m_strip, changed, current, theme());
  showMotion();
  if (m_strip.summary != before) Q_EMIT summaryChanged(m_strip.summary);
  m_area->setAccessibleDescription(current < m_strip.tokens.size() ? tokenTip(*input(), m_strip, current)
                                                                   : m_strip.summary);
  // A new selection becomes visible, also in the tokens of a new run. Later the user may scroll away from it.
  if (m_request == m_strip.request && m_shown == input()->selection) return;
  m_shown = input()->selection;
  m_request = m_strip.request;
  if (current < m_strip.tokens.size()) return m_area->reveal(current);
  if (m_shown.currentNode() == document::kNoNode) return;
  const auto section = std::ranges::find(m_strip.segments, m_shown.currentNode(), &StripSegment::id);
  if (section != m_strip.segments.end()) m_area->revealGroup(section->first);
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
  // A frame around the place leaves the line under the tile visible.
  const int line = m_strip.showsCache ? kStripServed / 2 : 0;
  for (QRect& place : places) place = place.translated(-m_area->offset()).adjusted(0, 0, 0, line);
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
  m_area->paintFitting(painter, size);
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

}  // namespace spanscope::ui
