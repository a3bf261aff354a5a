// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/attention/attention_view.h"

#include "ui/views/attention/attention_legend.h"
#include "ui/views/attention/attention_plot.h"
#include "ui/views/common/plot_painting.h"
#include "ui/views/common/request_blocks.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QSignalBlocker>
#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>

namespace spanscope::ui {
namespace {

constexpr int kMean = -1;

std::optional<std::int32_t> choiceOf(const QComboBox& box) {
  const int value = box.currentData().toInt();
  return value == kMean ? std::nullopt : std::optional<std::int32_t>(value);
}

void setChoice(QComboBox& box, const std::optional<std::int32_t>& choice) {
  box.setCurrentIndex(std::max(0, box.findData(choice.value_or(kMean))));
}

}  // namespace

AttentionView::AttentionView(QWidget* parent)
    : RunView(parent),
      m_plot(new AttentionPlot(this)),
      m_legend(new AttentionLegend(this)),
      m_readout(new QLabel(this)) {
  setAccessibleName(tr("Attention"));
  m_plot->setAccessibleName(tr("Attention heat map"));
  m_plot->setAccessibleDescription(
      tr("Arrow keys move from cell to cell, Space selects the block, Return opens its tokens, Escape goes "
         "back."));
  m_readout->setAccessibleName(tr("Attention of the cell"));
  m_readout->setTextFormat(Qt::PlainText);
  m_readout->setMinimumWidth(0);
  m_readout->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  m_plot->setMinimumSize(120, 120);

  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(2 * kSpace, 2 * kSpace, 2 * kSpace, kSpace);
  layout->setSpacing(kSpace);
  layout->addWidget(m_plot, 1);
  layout->addWidget(m_legend);
  layout->addWidget(m_readout);

  QHBoxLayout* row = titleRow();
  m_layer = new QComboBox(row->parentWidget());
  m_layer->setAccessibleName(tr("Layer"));
  m_layer->setToolTip(tr("Which layer's attention is shown"));
  m_head = new QComboBox(row->parentWidget());
  m_head->setAccessibleName(tr("Head"));
  m_head->setToolTip(tr("Which head's attention is shown"));
  for (const QPointer<QComboBox>& box : {m_layer, m_head}) {
    box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    row->addWidget(box);
    connect(box, &QComboBox::currentIndexChanged, this, [this] {
      if (m_filling || !m_layer || !m_head) return;
      AttentionOptions options = m_options;
      options.layer = choiceOf(*m_layer);
      options.head = choiceOf(*m_head);
      setOptions(options);
    });
  }
  connect(m_plot, &AttentionPlot::cellHovered, this, &AttentionView::showCell);
  connect(m_plot, &AttentionPlot::cellClicked, this, &AttentionView::selectCell);
  connect(m_plot, &AttentionPlot::cellOpened, this, &AttentionView::openCell);
  connect(m_plot, &AttentionPlot::closed, this, &AttentionView::showAllBlocks);
  fillChoices();
}

void AttentionView::setOptions(const AttentionOptions& options) {
  if (options == m_options) return;
  m_options = options;
  if (input() != nullptr) refresh();
}

QString AttentionView::readout() const {
  return m_readout->text();
}

void AttentionView::fillChoices() {
  if (!m_layer || !m_head) return;
  m_filling = true;
  const auto fill = [](QComboBox& box, const QString& mean, const QString& each,
                       const std::vector<std::int32_t>& values) {
    bool same = box.count() == static_cast<int>(values.size()) + 1;
    for (std::size_t i = 0; same && i < values.size(); ++i) {
      same = box.itemData(static_cast<int>(i) + 1).toInt() == values[i];
    }
    if (same) return;
    box.clear();
    box.addItem(mean, kMean);
    for (const std::int32_t value : values) box.addItem(each.arg(value), value);
  };
  std::vector<std::int32_t> heads;
  for (std::int32_t head = 0; head < m_model.heads; ++head) heads.push_back(head);
  fill(*m_layer, tr("mean of layers"), tr("layer %1"), m_model.layers);
  fill(*m_head, tr("mean of heads"), tr("head %1"), heads);
  setChoice(*m_layer, m_options.layer);
  setChoice(*m_head, m_options.head);
  m_filling = false;
}

QString AttentionView::emptyText() const {
  if (m_model.recorded) return {};
  if (m_model.leftOut) return leftOutText(*m_model.leftOut);
  return tr("Run a query with attention recording on to see where it looked.");
}

void AttentionView::refresh() {
  const ViewInput& now = *input();
  AttentionModel model = attentionModel(now, m_options);
  // Another request need not have what was chosen for the last one.
  AttentionOptions options = m_options;
  const auto known = [](const std::vector<std::int32_t>& list, std::int32_t value) {
    return std::find(list.begin(), list.end(), value) != list.end();
  };
  if (options.layer && !model.layers.empty() && !known(model.layers, *options.layer)) options.layer.reset();
  if (options.head && model.heads > 0 && *options.head >= model.heads) options.head.reset();
  if (options.tokensOf && model.request != m_model.request) options.tokensOf.reset();
  if (options != m_options) {
    m_options = options;
    model = attentionModel(now, m_options);
  }

  AttentionMarks marks;
  const Selection& selection = now.selection;
  std::optional<trace::BlockPlace> selected;
  if (selection.block && selection.block->request == model.request) {
    selected = {selection.block->segment, selection.block->virtualIndex};
  }
  for (std::size_t r = 0; selected && r < model.rows.size(); ++r) {
    const AttentionRow& row = model.rows[r];
    const bool sameToken = row.token < 0 || (selection.token && selection.token->request == model.request &&
                                             selection.token->local == row.token);
    if (row.segment == selected->segment &&
        row.block / model.blocksPerCell == selected->virtualIndex / model.blocksPerCell && sameToken) {
      marks.row = static_cast<std::int32_t>(r);
    }
  }
  if (selected && selected->segment < model.segments.size()) {
    const AttentionSegment& segment = model.segments[selected->segment];
    const bool token = model.tokenColumns && selection.token && selection.token->request == model.request;
    const std::int32_t column = token ? selection.token->local : selected->virtualIndex / model.blocksPerCell;
    if (column < segment.columns && token == model.tokenColumns) marks.column = segment.firstColumn + column;
  }
  for (const AttentionSegment& segment : model.segments) {
    if (segment.id != document::kNoNode &&
        std::find(selection.nodes.begin(), selection.nodes.end(), segment.id) != selection.nodes.end()) {
      marks.segments.push_back(segment.segment);
    }
  }

  const bool visible = model.recorded;
  const bool same = model == m_model && m_plot->theme() == now.theme && m_plot->marks() == marks;
  m_model = std::move(model);
  m_plot->setVisible(visible);
  m_legend->setVisible(visible);
  m_readout->setVisible(visible);
  fillChoices();
  m_legend->setContent(m_model, now.theme);
  const QString style = QStringLiteral("color: %1").arg(now.theme.color(Role::TextSecond).name());
  if (m_readout->styleSheet() != style) m_readout->setStyleSheet(style);
  m_readout->setFont(now.theme.smallFont());
  if (same) return;
  m_plot->setContent(m_model, now.theme, marks);
  if (m_readout->text().isEmpty()) showCell(-1, -1);
  Q_EMIT summaryChanged(
      m_options.tokensOf     ? tr("tokens of %1").arg(m_model.segments[*m_options.tokensOf].name)
      : m_model.request == 0 ? QString()
                             : tr("run %1, request %2").arg(m_model.run).arg(m_model.request));
  update();
}

void AttentionView::showCell(int row, int column) {
  const QString text = attentionReadout(m_model, m_options, row, column);
  if (text.isEmpty()) {
    const bool tokens = m_options.tokensOf.has_value();
    m_readout->setText(tokens ? tr("Escape or a double click shows all blocks again.")
                              : tr("A double click on a block shows its tokens. Wheel: zoom. F: fit."));
    QToolTip::hideText();
    return;
  }
  m_readout->setText(text);
  m_plot->setToolTip(text);
  m_plot->setAccessibleDescription(text);
}

void AttentionView::selectCell(int row, int column) {
  if (input() == nullptr || static_cast<std::size_t>(row) >= m_model.rows.size()) return;
  showCell(row, column);
  const AttentionRow& query = m_model.rows[static_cast<std::size_t>(row)];
  if (query.token >= 0) {
    Q_EMIT selectionWanted(selectionOfToken(
        *input(), {.request = m_model.request, .segment = query.segment, .local = query.token}));
  } else {
    Q_EMIT selectionWanted(selectionOfBlock(
        *input(), {.request = m_model.request, .segment = query.segment, .virtualIndex = query.block}));
  }
}

void AttentionView::openCell(int row, int /*column*/) {
  if (m_options.tokensOf) {
    showAllBlocks();
    return;
  }
  const std::uint32_t segment = m_model.rows[static_cast<std::size_t>(row)].segment;
  const auto& recorded = m_model.tokenSegments;
  if (std::find(recorded.begin(), recorded.end(), segment) == recorded.end()) {
    m_readout->setText(tr("Record every token in Settings to zoom further."));
    return;
  }
  AttentionOptions options = m_options;
  options.tokensOf = segment;
  setOptions(options);
}

void AttentionView::showAllBlocks() {
  AttentionOptions options = m_options;
  options.tokensOf.reset();
  setOptions(options);
}

QString AttentionView::csv() const {
  if (input() == nullptr) return {};
  const AttentionModel model = attentionModel(*input(), m_options);
  return model.recorded ? attentionCsv(model) : QString();
}

void AttentionView::paintTo(QPainter& painter, const QSize& size) {
  if (input() != nullptr) refresh();
  if (paintIfEmpty(painter, size)) return;
  const QRect area(QPoint(), size);
  painter.fillRect(area, theme().color(Role::Surface));
  const int legend = m_legend->heightForWidth(size.width() - 4 * kSpace);
  const QCPRange columns = m_plot->xAxis->range();
  const QCPRange rows = m_plot->yAxis->range();
  m_plot->fit();
  paintPlot(*m_plot, painter, area.adjusted(2 * kSpace, 2 * kSpace, -2 * kSpace, -legend - 2 * kSpace));
  m_plot->xAxis->setRange(columns);
  m_plot->yAxis->setRange(rows);
  m_legend->paint(painter,
                  QRect(2 * kSpace, size.height() - legend - kSpace, size.width() - 4 * kSpace, legend));
}

}  // namespace spanscope::ui
