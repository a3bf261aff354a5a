// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/prediction/prediction_model.h"

#include "engine/base/problem_sentence.h"
#include "ui/words/metric_words.h"

#include <QPainter>

#include <algorithm>
#include <string_view>
#include <utility>

namespace spanscope::ui {

namespace {

// The internal id of a row below a step is the step's row plus 1. The internal id of a step is 0.
int parentRow(const QModelIndex& index) {
  return static_cast<int>(index.internalId()) - 1;
}

QString atMost(bool isBound, const QString& count) {
  return isBound ? QStringLiteral("≤ %1").arg(count) : count;
}

QString atMost(bool isBound, const TokenAccount& account, std::string_view metric) {
  return atMost(isBound, metricText(metric, account));
}

QString stepText(const PredictionStep& step, int column) {
  switch (column) {
    case PredictionModel::Name:
      return step.name;
    case PredictionModel::Computed:
      return changedText(step.computedBefore, step.counts.computed);
    case PredictionModel::LastRun:
      return step.ran ? metricText("computed-tokens", *step.ran) : QStringLiteral("–");
    default:
      break;
  }
  const std::string_view metric = PredictionModel::metricOf(column);
  const bool isOfSteps = !metric.empty() && metrics::get(metric).isOf(metrics::Scope::Prediction);
  return isOfSteps ? predictedText(metric, step.counts) : QString();
}

QString segmentText(const PredictionSegment& segment, int column) {
  // Counts of tokens beside the prompt would look like a part of the sum above them.
  if (segment.isHidden && column != PredictionModel::Name && column != PredictionModel::Tokens) return {};
  switch (column) {
    case PredictionModel::Name:
      return segment.name;
    case PredictionModel::Tokens:
      return (segment.isHidden ? QStringLiteral("+") : QString()) +
             atMost(segment.holdsAnswer, segment.account, "prompt-tokens");
    case PredictionModel::Base:
      return atMost(segment.isAfterAnswer, QString::number(segment.base));
    case PredictionModel::Cached:
      return rangeText(segment.cached);
    case PredictionModel::Relocated:
      return rangeText(segment.relocated);
    case PredictionModel::Again:
      return rangeText(segment.again);
    case PredictionModel::Computed:
      return atMost(segment.holdsAnswer, segment.account, "computed-tokens");
    case PredictionModel::Padding:
      return metricText("padding-tokens", segment.account);
    case PredictionModel::Delimiters:
      return metricText("delimiter-tokens", segment.account);
    default:
      return {};
  }
}

}  // namespace

void PredictionModel::setTable(PredictionTable table, const Theme& theme) {
  beginResetModel();
  m_table = std::move(table);
  m_theme = theme;
  endResetModel();
}

bool PredictionModel::hasCounts(Column column) const {
  const PredictionCounts& totals = m_table.totals;
  switch (column) {
    case LastRun:
      return m_table.shown == 0;
    case Relocated:
      return m_table.shown == 0 || totals.relocated.most > 0;
    case Again:
      return totals.again.most > 0;
    case Padding:
      return totals.padding.value_or(1) > 0;
    case Delimiters:
      return totals.delimiters.value_or(1) > 0;
    case Cropped:
      return totals.cropped.value_or(1) > 0;
    default:
      return true;
  }
}

const PredictionStep* PredictionModel::step(const QModelIndex& index) const {
  if (!index.isValid() || index.internalId() != 0) return nullptr;
  return &m_table.steps[static_cast<std::size_t>(index.row())];
}

const PredictionSegment* PredictionModel::segment(const QModelIndex& index) const {
  if (!index.isValid() || index.internalId() == 0 || isSentence(index)) return nullptr;
  const PredictionStep& step = m_table.steps[static_cast<std::size_t>(parentRow(index))];
  return &step.segments[static_cast<std::size_t>(index.row() - step.sentences.size())];
}

bool PredictionModel::isSentence(const QModelIndex& index) const {
  return index.isValid() && index.internalId() != 0 &&
         index.row() < m_table.steps[static_cast<std::size_t>(parentRow(index))].sentences.size();
}

document::NodeId PredictionModel::node(const QModelIndex& index) const {
  if (const PredictionSegment* own = segment(index)) return own->node;
  if (const PredictionStep* own = step(index)) return own->node;
  return document::kNoNode;
}

QModelIndex PredictionModel::indexOf(document::NodeId node) const {
  if (node == document::kNoNode) return {};
  for (int row = 0; row < rowCount(); ++row) {
    if (m_table.steps[static_cast<std::size_t>(row)].node == node) return index(row, Name);
  }
  for (int row = 0; row < rowCount(); ++row) {
    const QModelIndex above = index(row, Name);
    for (int child = 0; child < rowCount(above); ++child) {
      const QModelIndex below = index(child, Name, above);
      if (const PredictionSegment* own = segment(below); own != nullptr && own->node == node) return below;
    }
  }
  return {};
}

QModelIndex PredictionModel::index(int row, int column, const QModelIndex& parent) const {
  if (!hasIndex(row, column, parent)) return {};
  return createIndex(row, column, parent.isValid() ? static_cast<quintptr>(parent.row()) + 1 : quintptr{0});
}

QModelIndex PredictionModel::parent(const QModelIndex& index) const {
  if (!index.isValid() || index.internalId() == 0) return {};
  return createIndex(parentRow(index), 0, quintptr{0});
}

int PredictionModel::rowCount(const QModelIndex& parent) const {
  if (!parent.isValid()) return static_cast<int>(m_table.steps.size());
  if (parent.internalId() != 0 || parent.column() != 0) return 0;
  const PredictionStep& own = m_table.steps[static_cast<std::size_t>(parent.row())];
  return static_cast<int>(own.segments.size()) + static_cast<int>(own.sentences.size());
}

int PredictionModel::columnCount(const QModelIndex& /*parent*/) const {
  return ColumnCount;
}

QString PredictionModel::text(const QModelIndex& index) const {
  if (isSentence(index)) {
    return index.column() == Name
               ? m_table.steps[static_cast<std::size_t>(parentRow(index))].sentences[index.row()]
               : QString();
  }
  if (const PredictionSegment* own = segment(index)) return segmentText(*own, index.column());
  return stepText(*step(index), index.column());
}

QString PredictionModel::tip(const QModelIndex& index) const {
  if (isSentence(index)) return text(index.siblingAtColumn(Name));
  if (const PredictionSegment* own = segment(index)) {
    if (own->isHidden)
      return tr("%1: %2 tokens that are not counted in the prompt\nUse: %3\nBlocks: %4")
          .arg(own->name, atMost(own->holdsAnswer, own->account, "prompt-tokens"), own->sees,
               own->blockWords);
    return tr("%1: %2, %3 tokens at position %4\nAttends to: %5\nBlocks: %6")
        .arg(own->name, own->kind, atMost(own->holdsAnswer, own->account, "prompt-tokens"),
             atMost(own->isAfterAnswer, QString::number(own->base)), own->sees, own->blockWords);
  }
  const PredictionStep& own = *step(index);
  QString words =
      tr("%1: %2 %3").arg(own.name, predictedText("prompt-tokens", own.counts), metricName("prompt-tokens"));
  for (const char* const id : {"computed-tokens", "cached-tokens", "relocated-tokens"})
    words += tr(", %1").arg(metricPhrase(id, predictedText(id, own.counts)));
  for (const QString& more : accountWords(own.counts)) words += tr(", ") + more;
  if (own.counts.evicted.most > 0)
    words += tr("\n%1 %2").arg(predictedText("evicted-blocks", own.counts), metricName("evicted-blocks"));
  if (own.ran) {
    words += tr("\nLast run: %1")
                 .arg(metricPart("computed-tokens", metricText("computed-tokens", *own.ran), "prompt-tokens",
                                 metricText("prompt-tokens", *own.ran)));
  }
  return words;
}

Role PredictionModel::ink(const QModelIndex& index) const {
  if (isSentence(index)) return Role::TextThird;
  if (segment(index) != nullptr) return Role::TextSecond;
  if (index.column() != Computed) return index.column() == LastRun ? Role::TextThird : Role::Text;
  const PredictionStep& own = *step(index);
  if (!own.computedBefore || *own.computedBefore == own.counts.computed) return Role::Text;
  return own.counts.computed.most < own.computedBefore->most ? Role::HitInk : Role::ComputedInk;
}

QVariant PredictionModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const bool isNumber = index.column() != Name && index.column() != Blocks;
  switch (role) {
    case Qt::DisplayRole:
      return text(index);
    case Qt::AccessibleTextRole:
      return index.column() == Blocks ? tip(index) : text(index);
    case Qt::ToolTipRole:
      return tip(index);
    case Qt::TextAlignmentRole:
      return QVariant(isNumber ? Qt::AlignRight | Qt::AlignVCenter : Qt::AlignLeft | Qt::AlignVCenter);
    case Qt::FontRole:
      return isNumber ? m_theme.monoFont() : m_theme.interfaceFont();
    case Qt::ForegroundRole:
      return m_theme.color(ink(index));
    default:
      return {};
  }
}

std::string_view PredictionModel::metricOf(int column) {
  switch (column) {
    case Tokens:
      return "prompt-tokens";
    case Base:
      return "position";
    case Cached:
      return "cached-tokens";
    case Relocated:
      return "relocated-tokens";
    case Again:
      return "tokens-computed-again";
    case Computed:
      return "computed-tokens";
    case Padding:
      return "padding-tokens";
    case Delimiters:
      return "delimiter-tokens";
    case Cropped:
      return "cropped-tokens";
    default:
      return {};
  }
}

QString PredictionModel::titleOf(int column) {
  switch (column) {
    case Name:
      return tr("Section");
    case LastRun:
      return tr("Last run");
    default:
      return metricShortTitle("blocks");
  }
}

QString PredictionModel::tipOf(int column) {
  switch (column) {
    case Name:
      return tr("The step, and below the step the sections of its prompt");
    case LastRun:
      return tr("In the last run of the same plan. %1").arg(metricExplanation("computed-tokens"));
    default:
      return tr("How each block of the prompt will be served");
  }
}

QVariant PredictionModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) return {};
  const std::string_view metric = metricOf(section);
  switch (role) {
    case Qt::DisplayRole:
      return metric.empty() ? titleOf(section) : metricShortTitle(metric);
    case Qt::ToolTipRole:
      return metric.empty() ? tipOf(section) : metricMeaning(metric);
    case Qt::TextAlignmentRole:
      return QVariant(section == Name || section == Blocks ? Qt::AlignLeft | Qt::AlignVCenter
                                                           : Qt::AlignRight | Qt::AlignVCenter);
    default:
      return {};
  }
}

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
  if (!place.problem.isEmpty()) return QString::fromStdString(withPeriod(place.problem.toStdString()));
  QStringList parts;
  if (table.shown == 0 || table.totals.relocated.most > 0)
    parts << PredictionHeader::tr("%1, %2").arg(
        metricPhrase("cached-tokens", predictedText("cached-tokens", table.totals)),
        metricPhrase("relocated-tokens", predictedText("relocated-tokens", table.totals)));
  else
    parts << metricPhrase("cached-tokens", predictedText("cached-tokens", table.totals));
  parts += accountWords(table.totals);
  if (!place.orders.isEmpty()) parts << place.orders;
  if (table.computedBefore) {
    parts << (*table.computedBefore == table.totals.computed
                  ? PredictionHeader::tr("same prediction as before your last edit")
                  : PredictionHeader::tr(/*id:before-last-change*/ "%1 predicted before your last edit")
                        .arg(rangeText(*table.computedBefore)));
  }
  if (table.ran)
    parts << PredictionHeader::tr("%1 in run %2")
                 .arg(metricPhrase("computed-tokens", metricText("computed-tokens", *table.ran)))
                 .arg(table.ranRun);
  parts << table.cache;
  if (table.isPending) parts << PredictionHeader::tr("changing…");
  return parts.join(PredictionHeader::tr(" · "));
}

}  // namespace spanscope::ui
