// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/prediction/prediction_painting.h"

#include "ui/words/metric_words.h"

#include <QPainter>

#include <algorithm>

namespace spanscope::ui {
namespace {

constexpr int kRow = 24;
constexpr int kCell = 14;      // pixels of a block, if there is room
constexpr int kLeastCell = 3;  // least pixels of a block
constexpr int kCellGap = 2;
constexpr int kBar = 8;
constexpr int kMargin = 3 * kSpace;

}  // namespace

void paintPredictionBar(QPainter& painter, const QRectF& place, const PredictionCounts& counts,
                        const BlockPainter& blocks) {
  using Count = std::int64_t;
  const double whole = static_cast<double>(std::max<Count>(1, counts.prompt.most));
  const Count relocated = std::min(counts.relocated.least, counts.cached.least);
  const Count hit = std::max<Count>(0, counts.cached.least - counts.relocated.most);
  const Count computed = counts.again.least + counts.computed.least;
  QRectF piece = place;
  const auto add = [&](Count tokens, BlockRole upper, BlockRole lower) {
    if (tokens <= 0) return;
    piece.setWidth(place.width() * static_cast<double>(tokens) / whole);
    blocks.fill(painter, piece, upper, place.topLeft());
    if (lower != upper)
      blocks.fill(painter, piece.adjusted(0, piece.height() / 2, 0, 0), lower, place.topLeft());
    piece.moveLeft(piece.right());
  };
  add(hit, BlockRole::Hit, BlockRole::Hit);
  add(counts.cached.least - hit - relocated, BlockRole::Hit, BlockRole::Relocated);
  add(relocated, BlockRole::Relocated, BlockRole::Relocated);
  // Tokens that may be hits or computed: the rest of the min prompt length between the bounds.
  add(counts.prompt.least - counts.cached.least - computed, BlockRole::Hit, BlockRole::Computed);
  add(computed, BlockRole::Computed, BlockRole::Computed);
  painter.setPen(QPen(blocks.theme().color(Role::Outline), 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(place.adjusted(0, 0, -1, -1));
}

PredictionDelegate::PredictionDelegate(const PredictionModel& model, QObject* parent)
    : QStyledItemDelegate(parent), m_model(model) {}

void PredictionDelegate::paintCells(QPainter& painter, const QRect& area,
                                    const std::vector<BlockLook>& looks) const {
  if (looks.empty() || area.width() < kLeastCell) return;
  const int count = static_cast<int>(looks.size());
  const int step = std::clamp(area.width() / count, kLeastCell, kCell + kCellGap);
  const int gap = step > 2 * kLeastCell ? kCellGap : 0;
  const int shown = std::min(count, area.width() / step);
  const int top = area.top() + (area.height() - kCell) / 2;
  for (int i = 0; i < shown; ++i) {
    // If there are too many blocks, each cell shows the first of several.
    const auto look = static_cast<std::size_t>(static_cast<std::int64_t>(i) * count / shown);
    m_blocks.block(painter, QRect(area.left() + i * step, top, step - gap, kCell), looks[look]);
  }
}

void PredictionDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                               const QModelIndex& index) const {
  QStyledItemDelegate::paint(painter, option, index);
  if (index.column() != PredictionModel::Blocks) return;
  const QRect area = option.rect.adjusted(2 * kSpace, 0, -2 * kSpace, 0);
  painter->save();
  if (const PredictionSegment* segment = m_model.segment(index)) {
    paintCells(*painter, area, segment->blocks);
  } else if (const PredictionStep* step = m_model.step(index)) {
    const int top = area.top() + (area.height() - kBar) / 2;
    paintPredictionBar(*painter, QRect(area.left(), top, area.width(), kBar), step->counts, m_blocks);
  }
  painter->restore();
}

QSize PredictionDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  return {QStyledItemDelegate::sizeHint(option, index).width(), kRow};
}

PredictionHeader::PredictionHeader(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void PredictionHeader::show(const PredictionTable* table, const Theme& theme) {
  m_table = table;
  m_blocks.setTheme(theme);
  const bool isEmpty = table == nullptr || table->places.empty();
  setAccessibleName(isEmpty ? QString() : predictionSentence(*table));
  setAccessibleDescription(isEmpty ? QString() : predictionComparison(*table));
  updateGeometry();
  update();
}

QSize PredictionHeader::sizeHint() const {
  const int sentence = QFontMetrics(m_blocks.theme().interfaceFont()).height();
  const int comparison = QFontMetrics(m_blocks.theme().smallFont()).height();
  const int error = m_table != nullptr && !m_table->error.isEmpty() ? comparison + kSpace : 0;
  const int bar = hasBar() ? 2 * kSpace + kBar : 0;
  return {400, 2 * kSpace + sentence + kSpace + comparison + error + bar + 2 * kSpace};
}

/// With several places, each row of the list has its own bar.
bool PredictionHeader::hasBar() const {
  return m_table == nullptr || m_table->places.size() < 2;
}

void PredictionHeader::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  const Theme& theme = m_blocks.theme();
  painter.fillRect(rect(), theme.color(Role::Surface));
  if (m_table == nullptr || m_table->places.empty()) return;
  const int width = std::max(1, this->width() - 2 * kMargin);
  int y = 2 * kSpace;
  const auto line = [&](const QFont& font, Role ink, const QString& text) {
    const QFontMetrics metrics(font);
    painter.setFont(font);
    painter.setPen(theme.color(ink));
    painter.drawText(QRect(kMargin, y, width, metrics.height()), Qt::AlignLeft | Qt::AlignVCenter,
                     metrics.elidedText(text, Qt::ElideRight, width));
    y += metrics.height() + kSpace;
  };
  QFont strong = theme.interfaceFont();
  strong.setWeight(QFont::DemiBold);
  line(strong, Role::Text, predictionSentence(*m_table));
  line(theme.smallFont(), Role::TextSecond, predictionComparison(*m_table));
  if (!m_table->error.isEmpty()) {
    line(theme.smallFont(), Role::Error,
         m_table->errorIsCertain ? tr("⚠ The run will fail: %1").arg(m_table->error)
                                 : tr("⚠ The run may fail for some answer lengths: %1").arg(m_table->error));
  }
  if (hasBar())
    paintPredictionBar(painter, QRectF(kMargin, y + kSpace, width, kBar), m_table->totals, m_blocks);
}

QString predictionSentence(const PredictionTable& table) {
  const PredictionPlace& place = table.places[table.shown];
  if (!place.problem.isEmpty())
    return PredictionHeader::tr(/*id:next-run-not-predicted*/ "%1: the next run cannot be predicted")
        .arg(place.name);
  const QString computed = metricPart("computed-tokens", predictedText("computed-tokens", table.totals),
                                      "prompt-tokens", predictedText("prompt-tokens", table.totals));
  const QString where = table.shown == 0 ? place.name : PredictionHeader::tr("On %1").arg(place.name);
  return (place.isOwn ? PredictionHeader::tr("%1, next run: %2")
                      : PredictionHeader::tr(/*id:for-run-there*/ "%1, for a run there: %2"))
      .arg(where, computed);
}

QString predictionComparison(const PredictionTable& table) {
  const PredictionPlace& place = table.places[table.shown];
  if (!place.problem.isEmpty()) return PredictionHeader::tr("%1.").arg(place.problem);
  QStringList parts;
  if (table.shown == 0 || table.totals.relocated.most > 0)
    parts << PredictionHeader::tr("%1, %2").arg(
        metricPhrase("cached-tokens", predictedText("cached-tokens", table.totals)),
        metricPhrase("relocated-tokens", predictedText("relocated-tokens", table.totals)));
  else
    parts << metricPhrase("cached-tokens", predictedText("cached-tokens", table.totals));
  parts += accountWords(table.totals);
  if (table.computedBefore) {
    parts << (*table.computedBefore == table.totals.computed
                  ? PredictionHeader::tr("the same as before the last change")
                  : PredictionHeader::tr(/*id:before-last-change*/ "%1 before the last change")
                        .arg(rangeText(*table.computedBefore)));
  }
  if (table.ran)
    parts << PredictionHeader::tr("%1 in run %2")
                 .arg(metricText("computed-tokens", *table.ran))
                 .arg(table.ranRun);
  parts << table.cache;
  if (table.isPending) parts << PredictionHeader::tr("changing…");
  return parts.join(PredictionHeader::tr(" · "));
}

}  // namespace spanscope::ui
