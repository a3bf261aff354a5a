// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/metrics/metrics_view.h"

#include "ui/views/common/scope_box.h"
#include "ui/words/tr.h"

#include <QGridLayout>
#include <QPainter>
#include <QScrollArea>
#include <QScrollBar>
#include <QVBoxLayout>

#include <algorithm>

namespace spanscope::ui {
namespace {

constexpr int kCardWidth = 280;
constexpr int kLeastCardHeight = 160;
constexpr int kGap = 2 * kSpace;
constexpr int kSteepest = 2;  ///< greatest ratio of a card's height to its width

/// "3 runs · rag20 · smollm2, spanlet": the document and models of the metrics.
QString summaryOf(const MetricsModel& model) {
  if (model.runs.empty()) return {};
  QStringList parts{model.runs.size() == 1 ? MetricsView::tr("1 run")
                                           : MetricsView::tr("%1 runs").arg(model.runs.size())};
  QStringList documents;
  QStringList models;
  for (const RunMetrics& run : model.runs) {
    if (!run.document.isEmpty() && !documents.contains(run.document)) documents += run.document;
    if (!run.model.isEmpty() && !models.contains(run.model)) models += run.model;
  }
  if (!documents.isEmpty()) parts += documents.join(MetricsView::tr(", "));
  if (!models.isEmpty()) parts += models.join(MetricsView::tr(", "));
  return parts.join(MetricsView::tr(" · "));
}

}  // namespace

MetricsView::MetricsView(QWidget* parent) : RunView(parent), m_scroll(new QScrollArea(this)) {
  setAccessibleName(tr("Metrics"));
  auto* content = new QWidget(m_scroll);
  content->setAutoFillBackground(false);
  m_grid = new QGridLayout(content);
  m_grid->setContentsMargins(kGap, kGap, kGap, kGap);
  m_grid->setSpacing(kGap);
  for (std::size_t i = 0; i < metricCards({}).size(); ++i) {
    auto* card = new MetricCard(content);
    connect(card, &MetricCard::pointChosen, this, &MetricsView::select);
    m_cards.push_back(card);
  }
  m_scroll->setWidget(content);
  m_scroll->setWidgetResizable(true);
  m_scroll->setFrameShape(QFrame::NoFrame);
  m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_scroll->viewport()->setAutoFillBackground(false);
  m_scroll->setFocusPolicy(Qt::NoFocus);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_scroll);
  m_scroll->hide();
  m_scope = new ScopeBox(titleRow());
  connect(m_scope, &ScopeBox::changed, this, [this] {
    if (input() != nullptr) refresh();
  });
  arrange();
}

int MetricsView::columnsFor(QSize size) const {
  const int fitting = std::clamp(size.width() / kCardWidth, 1, cardCount());
  // Takes as few rows as fit, unless the cards would be too high for their width. Rows are evenly filled.
  int rows = (cardCount() + fitting - 1) / fitting;
  const auto columnsOf = [this](int count) { return (cardCount() + count - 1) / count; };
  while (columnsOf(rows) > 1 && size.height() / rows > kSteepest * size.width() / columnsOf(rows)) ++rows;
  return columnsOf(rows);
}

void MetricsView::arrange() {
  const int columns = columnsFor(this->size());
  if (columns == m_columns) return;
  m_columns = columns;
  for (MetricCard* card : m_cards) m_grid->removeWidget(card);
  for (int i = 0; i < cardCount(); ++i)
    m_grid->addWidget(m_cards[static_cast<std::size_t>(i)], i / columns, i % columns);
  for (int column = 0; column < cardCount(); ++column)
    m_grid->setColumnStretch(column, column < columns ? 1 : 0);
}

RunScope MetricsView::scope() const {
  return m_scope ? m_scope->scope() : RunScope::Document;
}

QString MetricsView::emptyText() const {
  if (!m_model.runs.empty()) return {};
  if (m_model.others > 0)
    return tr("No runs of this document yet. Run the document, or choose “All documents”.");
  return tr("Run a query to see latency, reuse, blocks and speed, run by run.");
}

void MetricsView::refresh() {
  m_model = metricsModel(*input(), m_samplers, scope());
  if (m_scope) m_scope->setOthers(m_model.others);
  const std::vector<MetricCardContent> contents = metricCards(m_model);
  for (std::size_t i = 0; i < m_cards.size() && i < contents.size(); ++i) {
    m_cards[i]->setContent(contents[i], input()->theme);
  }
  m_scroll->setVisible(!m_model.runs.empty());
  Q_EMIT summaryChanged(summaryOf(m_model));
  update();
}

void MetricsView::select(int request) {
  if (input() == nullptr) return;
  for (const RunMetrics& run : m_model.runs) {
    for (const RequestMetrics& metrics : run.requests) {
      if (static_cast<int>(metrics.request) != request) continue;
      Q_EMIT selectionWanted(selectionOf(run.run, metrics.request, metrics.node));
      return;
    }
  }
}

QString MetricsView::csv() const {
  if (input() == nullptr) return {};
  const MetricsModel model = metricsModel(*input(), scope());
  return model.runs.empty() ? QString() : metricsCsv(model);
}

void MetricsView::paintTo(QPainter& painter, const QSize& size) {
  if (input() != nullptr) refresh();
  if (paintIfEmpty(painter, size)) return;
  painter.fillRect(QRect(QPoint(), size), theme().color(Role::Surface));
  // If the cards would be too low for their texts, they are painted higher and scaled down.
  const auto rowsIn = [this](QSize room) { return (cardCount() + columnsFor(room) - 1) / columnsFor(room); };
  const auto missing = [&rowsIn](QSize room) {
    return double(rowsIn(room) * (kLeastCardHeight + kGap) + kGap) / std::max(1, room.height());
  };
  QSize room = size;
  while (missing(room) > 1) room = (QSizeF(room) * 1.1).toSize().expandedTo(room + QSize(1, 1));
  painter.save();
  painter.scale(double(size.width()) / room.width(), double(size.height()) / room.height());
  const int columns = columnsFor(room);
  const int rows = rowsIn(room);
  const int width = (room.width() - kGap) / columns - kGap;
  const int height = (room.height() - kGap) / rows - kGap;
  for (int i = 0; i < cardCount(); ++i) {
    m_cards[static_cast<std::size_t>(i)]->paint(
        painter, {kGap + i % columns * (width + kGap), kGap + i / columns * (height + kGap), width, height});
  }
  painter.restore();
}

void MetricsView::resizeEvent(QResizeEvent* event) {
  RunView::resizeEvent(event);
  arrange();
}

ViewInfo metricsRow() {
  return {.id = QStringLiteral("metrics"),
          .title = tr("Metrics"),
          .help = tr("Latency, reuse, blocks and speed, run by run"),
          .make = makeViewOf<MetricsView>,
          .needs = {Fact::CachedTokens, Fact::TokenTimes, Fact::Passes, Fact::BlockLookups, Fact::Pool},
          .places = {{LayoutId::Measure, Room::Low, Room::Low, 0, 0, 0, 100, true},
                     {LayoutId::Measure, Room::Middle, Room::Large, 0, 0, 0, 62, true}}};
}

}  // namespace spanscope::ui
