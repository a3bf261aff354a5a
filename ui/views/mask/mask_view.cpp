// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/mask/mask_view.h"

#include "ui/theme/pattern_painting.h"
#include "ui/views/common/request_blocks.h"
#include "ui/views/common/text_tools.h"
#include "ui/views/mask/mask_area.h"
#include "ui/words/part_text.h"
#include "ui/words/tr.h"

#include <QComboBox>
#include <QFontMetrics>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace spanscope::ui {

namespace {

/// In a lower dock, words would take more room than the mask. In pixels.
constexpr int kLow = 280;

}  // namespace

MaskView::MaskView(QWidget* parent)
    : RunView(parent, InputPart::WholeTrace, Pace::EveryInput),
      m_area(new MaskArea(this)),
      m_legend(new MaskLegend(this)),
      m_words(new QLabel(this)) {
  setAccessibleName(tr("Mask"));
  setFocusProxy(m_area);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(2 * kSpace, kSpace, 2 * kSpace, kSpace);
  column->setSpacing(kSpace);
  column->addWidget(m_area, 1);
  column->addWidget(m_legend);
  column->addWidget(m_words);
  m_words->setAccessibleName(tr("Explanation of the mask"));
  m_words->setTextFormat(Qt::PlainText);
  m_words->setWordWrap(true);
  m_words->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_words->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Minimum);
  for (QWidget* part : std::initializer_list<QWidget*>{m_area, m_legend, m_words}) part->hide();

  QHBoxLayout* row = titleRow();
  m_which = new QComboBox(row->parentWidget());
  m_which->setAccessibleName(tr("Which mask"));
  m_which->setToolTip(tr("Show the mask of this run, or of a full prefill"));
  m_which->addItem(tr("this run"));
  m_which->addItem(tr("full prefill"));
  row->addWidget(m_which);
  connect(m_which, &QComboBox::currentIndexChanged, this,
          [this](int index) { setShown(index == 0 ? MaskShown::ThisRun : MaskShown::FullPrefill); });

  m_area->setTips([this](const MaskRange& rows, const MaskRange& columns) {
    return input() != nullptr ? cellText(*input(), m_mask, rows, columns) : QString();
  });
  connect(m_area, &MaskArea::rowsChosen, this, &MaskView::selectRows);
  connect(m_area, &MaskArea::columnsChosen, this, [this](const MaskRange& columns) { showColumns(columns); });
}

void MaskView::setShown(MaskShown shown) {
  if (shown == m_whichMask) return;
  m_whichMask = shown;
  if (m_which) m_which->setCurrentIndex(shown == MaskShown::ThisRun ? 0 : 1);
  if (input() != nullptr) refresh();
}

QString MaskView::emptyText() const {
  if (m_mask.request == 0) return tr("Run a query to see which earlier tokens each token attends to.");
  return {};
}

QString MaskView::summary() const {
  if (m_mask.full == 0) return {};
  return tr("%1 of %2 rows computed · %3 of the pairs of a full prefill")
      .arg(m_mask.computed)
      .arg(m_mask.computed + m_mask.reused)
      .arg(shareText(m_mask.seen, m_mask.full));
}

void MaskView::refresh() {
  MaskModel mask = maskModel(*input());
  const bool changed = mask != m_mask;
  if (mask.request != m_mask.request) m_columns.reset();
  if (changed) m_mask = std::move(mask);
  if (m_columns && m_columns->end > m_mask.tokens) m_columns.reset();
  m_rows = selectedRows(m_mask, input()->selection);
  const bool hasMask = m_mask.request != 0;
  for (QWidget* part : std::initializer_list<QWidget*>{m_area, m_legend, m_words}) part->setVisible(hasMask);
  showLegend();
  m_area->showColumns(m_columns);
  m_area->showMask(&m_mask, changed, m_whichMask, m_rows, theme());
  showSentence();
  if (m_selection != input()->selection) {
    m_selection = input()->selection;
    if (m_rows) m_area->reveal(*m_rows);
  }
  update();
  if (summary() == m_lastSummary) return;
  m_lastSummary = summary();
  Q_EMIT summaryChanged(m_lastSummary);
}

bool MaskView::isLow() const {
  return height() < kLow;
}

void MaskView::resizeEvent(QResizeEvent* event) {
  RunView::resizeEvent(event);
  if (input() == nullptr || m_mask.request == 0) return;
  showLegend();
  showSentence();
}

void MaskView::showLegend() {
  m_legend->setContent(m_mask, m_whichMask, theme(), isLow());
}

void MaskView::showColumns(const std::optional<MaskRange>& columns) {
  m_columns = columns;
  m_area->showColumns(columns);
  showSentence();
}

void MaskView::showSentence() {
  if (input() == nullptr || m_mask.request == 0) return;
  if (!m_rows) {
    m_sentence =
        tr("Each row is a token. The token attends to the tokens of the marked columns. Choose a row, then a "
           "column, to read the rule and the reason.");
  } else {
    m_sentence = m_columns && m_columns->begin < m_rows->end ? cellText(*input(), m_mask, *m_rows, *m_columns)
                                                             : rowText(*input(), m_mask, *m_rows);
  }
  m_words->setFont(theme().smallFont());
  colorLabel(*m_words, theme(), Role::TextSecond);
  const bool isLow = this->isLow();
  const int room = width() - layout()->contentsMargins().left() - layout()->contentsMargins().right();
  m_words->setText(isLow ? QFontMetrics(theme().smallFont()).elidedText(m_sentence, Qt::ElideRight, room)
                         : m_sentence);
  m_words->setToolTip(isLow ? m_sentence : QString());
  m_area->setAccessibleDescription(m_sentence);
}

void MaskView::selectRows(const MaskRange& rows) {
  if (input() == nullptr || rows.count() <= 0 || rows.end > m_mask.tokens) return;
  const TokenRef place = m_mask.placeOf(rows.begin);
  const bool isBlock = m_area->maskLayout().isByBlock();
  Q_EMIT selectionWanted(isBlock
                             ? selectionOfBlock(*input(), {.request = place.request,
                                                           .segment = place.segment,
                                                           .virtualIndex = place.local / m_mask.blockSize})
                             : selectionOfToken(*input(), place));
}

const QWidget& MaskView::placesIn() const {
  return *m_area->viewport();
}

std::vector<QRect> MaskView::placesOf(const Selection& part) const {
  const std::optional<MaskRange> rows = selectedRows(m_mask, part);
  if (!rows || m_mask.tokens == 0) return {};
  const MaskLayout& layout = m_area->maskLayout();
  // A row attends to nothing beyond the diagonal.
  const QRectF place(layout.x(0), layout.y(rows->begin), layout.across * rows->end,
                     layout.down * rows->count());
  return {place.toAlignedRect().translated(-m_area->offset())};
}

void MaskView::bringIntoSight(const Selection& part) {
  if (const std::optional<MaskRange> rows = selectedRows(m_mask, part)) m_area->reveal(*rows);
}

QString MaskView::csv() const {
  return input() == nullptr ? QString() : maskCsv(*input(), maskModel(*input()));
}

void MaskView::paintTo(QPainter& painter, const QSize& size) {
  ensureFresh();
  if (paintIfEmpty(painter, size)) return;
  const QRect area(QPoint(), size);
  painter.fillRect(area, theme().color(Role::Surface));
  const QRect inner = area.adjusted(2 * kSpace, kSpace, -2 * kSpace, -kSpace);
  const QFontMetrics metrics(theme().smallFont());
  const int flags = Qt::TextWordWrap | Qt::AlignLeft | Qt::AlignTop;
  const int words = metrics.boundingRect(QRect(0, 0, inner.width(), 1000), flags, m_sentence).height();
  const int legend = m_legend->heightForWidth(inner.width());
  const int below = words + legend + 2 * kSpace;
  m_area->paintFitted(painter, inner.adjusted(0, 0, 0, -below));
  m_legend->paint(painter,
                  QRect(inner.left(), inner.bottom() - words - kSpace - legend, inner.width(), legend));
  painter.setFont(theme().smallFont());
  painter.setPen(theme().color(Role::TextSecond));
  painter.drawText(QRect(inner.left(), inner.bottom() - words, inner.width(), words + 2), flags, m_sentence);
}

ViewInfo maskRow() {
  return {.id = QStringLiteral("mask"),
          .title = tr("Mask"),
          .help = tr("Which earlier tokens each token attends to, and which rows were computed"),
          .make = makeViewOf<MaskView>,
          .needs = {Fact::Prompts, Fact::TokenTexts}};
}

namespace {

constexpr int kLineHeight = 20;
constexpr int kBox = 12;
constexpr int kBetween = 4 * kSpace;

}  // namespace

MaskLegend::MaskLegend(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Legend of the mask"));
}

void MaskLegend::setContent(const MaskModel& model, MaskShown shown, const Theme& theme, bool isBrief) {
  std::vector<Sample> samples;
  const bool isFull = shown == MaskShown::FullPrefill;
  samples.push_back({Sign::Seen, tr("attends"), {}});
  if (!isFull && model.reused > 0)
    samples.push_back(
        {Sign::Reused,
         isBrief ? tr("attends, row reused") : tr("attends, but the row was not computed in this run"),
         {}});
  if (model.seen < model.full)
    samples.push_back(
        isFull ? Sample{Sign::OnlyFull, tr("only in a full prefill"), {}}
               : Sample{Sign::Unseen, isBrief ? tr("masked") : tr("masked, although earlier"), {}});
  const auto has = [&model](BlockRole state) {
    return std::any_of(model.bands.begin(), model.bands.end(),
                       [state](const MaskBand& band) { return band.state == state; });
  };
  for (const BlockRole state : {BlockRole::Hit, BlockRole::Relocated, BlockRole::Computed}) {
    if (!isFull && has(state)) samples.push_back({Sign::State, tr("row: %1").arg(Theme::name(state)), state});
  }
  for (const QString& note : model.notes) samples.push_back({Sign::None, note, {}});
  const std::size_t hue =
      model.parts.empty() ? 0 : model.parts[std::min<std::size_t>(1, model.parts.size() - 1)].hue;
  if (samples == m_samples && theme == m_painter.theme() && hue == m_hue) return;
  m_samples = std::move(samples);
  m_hue = hue;
  m_painter.setTheme(theme);
  QStringList texts;
  for (const Sample& sample : m_samples) texts << sample.text;
  setAccessibleDescription(texts.join(QStringLiteral("; ")));
  updateGeometry();
  update();
}

void MaskLegend::paintSign(QPainter& painter, const QRect& box, const Sample& sample) const {
  const Theme& theme = m_painter.theme();
  switch (sample.sign) {
    case Sign::Seen:
    case Sign::Reused:
      painter.fillRect(box, theme.segmentTint(m_hue));
      if (sample.sign == Sign::Reused) fillPattern(painter, box, reusedBrush(theme));
      break;
    case Sign::Unseen:
      fillPattern(painter, box, unseenBrush(theme));
      break;
    case Sign::OnlyFull:
      m_painter.fill(painter, box, BlockRole::Computed, QPointF(0, 0));
      break;
    case Sign::State:
      m_painter.fill(painter, box, sample.state, QPointF(0, 0));
      break;
    case Sign::None:
      return;
  }
  painter.setPen(QPen(theme.color(Role::Outline), 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(box.adjusted(0, 0, -1, -1));
}

int MaskLegend::flow(QPainter* painter, const QRect& area) const {
  const Theme& theme = m_painter.theme();
  const QFontMetrics metrics(theme.smallFont());
  int x = area.left();
  int y = area.top();
  for (const Sample& sample : m_samples) {
    const int sign = sample.sign == Sign::None ? 0 : kBox + 6;
    const int width = sign + metrics.horizontalAdvance(sample.text);
    if (x > area.left() && x + width > area.right()) {
      x = area.left();
      y += kLineHeight;
    }
    if (painter != nullptr) {
      paintSign(*painter, QRect(x, y + (kLineHeight - kBox) / 2, kBox, kBox), sample);
      painter->setPen(theme.color(Role::TextSecond));
      painter->drawText(QRect(x + sign, y, std::min(width, area.right() - x) + 1, kLineHeight),
                        Qt::AlignLeft | Qt::AlignVCenter,
                        metrics.elidedText(sample.text, Qt::ElideRight, area.right() - x - sign));
    }
    x += width + kBetween;
  }
  return m_samples.empty() ? 0 : y + kLineHeight - area.top();
}

int MaskLegend::heightForWidth(int width) const {
  return flow(nullptr, QRect(0, 0, width, 1));
}

void MaskLegend::paint(QPainter& painter, const QRect& area) const {
  painter.save();
  painter.setFont(m_painter.theme().smallFont());
  flow(&painter, area);
  painter.restore();
}

void MaskLegend::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  paint(painter, rect());
}

}  // namespace spanscope::ui
