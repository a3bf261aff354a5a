// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/mask/mask_view.h"

#include "ui/views/common/number_text.h"
#include "ui/views/common/request_blocks.h"
#include "ui/views/common/text_tools.h"
#include "ui/views/mask/mask_area.h"
#include "ui/views/mask/mask_legend.h"
#include "ui/words/tr.h"

#include <QComboBox>
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
  m_words->setAccessibleName(tr("Who sees whom"));
  m_words->setTextFormat(Qt::PlainText);
  m_words->setWordWrap(true);
  m_words->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_words->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Minimum);
  for (QWidget* part : std::initializer_list<QWidget*>{m_area, m_legend, m_words}) part->hide();

  QHBoxLayout* row = titleRow();
  m_which = new QComboBox(row->parentWidget());
  m_which->setAccessibleName(tr("Which mask"));
  m_which->setToolTip(tr("What rows see in this run, or what they would see in a full prefill"));
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
  if (m_mask.request == 0) return tr("Run a query to see which token of its prompt sees which.");
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
        tr("A row is a token that looks, a column one that is looked at. Choose a row, then a column, "
           "to read who sees whom and why.");
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
  // Behind the diagonal there is nothing that a row could see.
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
          .help = tr("Which token of the prompt sees which, and which rows were computed"),
          .make = makeViewOf<MaskView>,
          .needs = {Fact::Prompts, Fact::TokenTexts}};
}

}  // namespace spanscope::ui
