// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/benchmark/benchmark_view.h"

#include "ui/session/measure_estimate.h"
#include "ui/views/benchmark/benchmark_plot.h"
#include "ui/views/common/empty_text.h"
#include "ui/views/common/measure_widgets.h"
#include "ui/views/common/text_tools.h"
#include "ui/words/tr.h"

#include <QComboBox>
#include <QPainter>
#include <QSpinBox>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace spanscope::ui {
namespace {

constexpr int kGap = 2 * kSpace;
/// The plot stands beside the table if the page is at least this wide and lower than this.
constexpr int kWide = 1100;
constexpr int kTall = 620;
constexpr int kPlotHeight = 150;
constexpr int kLinesHeight = 200;

}  // namespace

QString BenchmarkView::introduction() const {
  if (wish().kind == BenchmarkKind::Lengths)
    return tr(
        "Measures two made-up documents, from short to long, on the model of this document: with an empty "
        "cache, in the same and in the swapped order, each time with a new question.");
  return tr(
      "Runs this query again and again: with an empty cache, in the same order, with what stands under plus "
      "swapped, and without it. Medians with their spread say what the cache saves.");
}

BenchmarkView::BenchmarkView(QWidget* parent)
    : MeasurePage(InputPart::Document | InputPart::Benchmark | InputPart::Forecast, tr("Benchmark"), parent) {
  setCopyHelp(tr("Copy the table as text"));
  makeChoices();
  layOut({m_kind, m_repeats, runButton()}, makeResults())->addStretch();
}

void BenchmarkView::makeChoices() {
  m_kind = new QComboBox(this);
  m_kind->setAccessibleName(tr("What is measured"));
  m_kind->addItem(tr("This query"), static_cast<int>(BenchmarkKind::Query));
  m_kind->addItem(tr("Document lengths"), static_cast<int>(BenchmarkKind::Lengths));
  m_repeats = new QSpinBox(this);
  m_repeats->setAccessibleName(tr("Repeats"));
  m_repeats->setToolTip(tr("How often each case is measured, after a turn to warm up that does not count"));
  m_repeats->setRange(1, kMostRepeats);
  m_repeats->setValue(BenchmarkWish().repeats);
  m_repeats->setSuffix(tr(" repeats"));
  ignoreWheelWithoutFocus(m_kind);
  ignoreWheelWithoutFocus(m_repeats);
  const auto changed = [this] {
    if (input() != nullptr) refresh();
  };
  connect(m_kind, &QComboBox::currentIndexChanged, this, changed);
  // How long it takes hangs on the number of repeats.
  connect(m_repeats, &QSpinBox::valueChanged, this, changed);
}

QWidget* BenchmarkView::makeResults() {
  auto* results = new QWidget;
  QVBoxLayout* texts = makeTexts(tr("Figures of the benchmark"), results);
  texts->addStretch(1);
  m_plot = new BenchmarkPlot(results);
  m_results = new QBoxLayout(QBoxLayout::TopToBottom, results);
  m_results->setContentsMargins(0, 0, 0, kGap);
  m_results->setSpacing(kGap);
  m_results->addLayout(texts, 3);
  m_results->addWidget(m_plot, 2);
  return results;
}

BenchmarkWish BenchmarkView::wish() const {
  return {.kind = static_cast<BenchmarkKind>(m_kind->currentData().toInt()), .repeats = m_repeats->value()};
}

void BenchmarkView::setWish(const BenchmarkWish& wish) {
  m_kind->setCurrentIndex(m_kind->findData(static_cast<int>(wish.kind)));
  m_repeats->setValue(wish.repeats);
}

QString BenchmarkView::command() const {
  return QStringLiteral("run.benchmark:") + benchmarkWish(wish());
}

void BenchmarkView::refresh() {
  m_model = benchmarkModel(*input());
  Shown shown{.isKnown = m_model.isKnown,
              .isRunning = m_model.isRunning,
              .progress = m_model.progress,
              .doing = m_model.isRunning ? m_model.doing : benchmarkEstimate(*input(), wish()),
              .setup = m_model.setup,
              .warnings = {},
              .remarks = {},
              .columns = m_model.columns,
              .rows = {},
              .run = tr("Measure"),
              .runHelp = m_model.isRunning
                             ? tr("Repeats that have ended stay")
                             : tr("Takes some runs' time; other runs pass between two of its steps")};
  for (const BenchmarkRemark& remark : m_model.remarks)
    (remark.kind == RemarkKind::Warning ? shown.warnings : shown.remarks) += remark.text;
  for (const BenchmarkRow& row : m_model.rows) {
    FigureRow& figures = shown.rows.emplace_back();
    figures.name = row.name;
    figures.help = row.help;
    // Medians stand out from their spread.
    for (const QString& cell : row.cells)
      figures.cells.push_back({.text = cell, .help = {}, .isPale = !figures.cells.empty()});
  }
  m_kind->setEnabled(!m_model.isRunning);
  m_repeats->setEnabled(!m_model.isRunning);
  m_plot->setVisible(!m_model.rows.empty());
  if (!m_model.rows.empty()) m_plot->setContent(m_model, theme());
  showMeasured(shown);
  arrange();
}

void BenchmarkView::arrange() {
  const bool isWide = width() >= kWide && height() < kTall;
  m_results->setDirection(isWide ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
  m_results->setStretch(0, isWide ? 3 : 0);
  m_results->setStretch(1, isWide ? 2 : 1);
  m_plot->setMinimumHeight(m_model.kind == BenchmarkKind::Query ? kPlotHeight : kLinesHeight);
  fitFigureTable(table());
}

QString BenchmarkView::text() const {
  return benchmarkText(m_model);
}

QString BenchmarkView::csv() const {
  if (input() == nullptr || !input()->benchmark) return {};
  const BenchmarkModel model = benchmarkModel(*input());
  return model.rows.empty() ? QString() : benchmarkCsv(*input()->benchmark);
}

PaintedTable BenchmarkView::painted() const {
  PaintedTable table;
  const bool isQuery = m_model.kind == BenchmarkKind::Query;
  for (std::size_t c = 0; c < m_model.columns.size(); ++c) {
    table.headers.push_back(m_model.columns[c].title);
    // Names and spreads are longer than numbers.
    const bool isLong = isQuery ? c == 0 || c == 2 : c < 4;
    table.shares.push_back(isLong ? 4 : 3);
  }
  for (const BenchmarkRow& row : m_model.rows) {
    std::vector<PaintedCell> cells{{row.name, Role::Text, false}};
    for (const QString& cell : row.cells) cells.push_back({cell, Role::Text, true});
    table.rows.push_back(std::move(cells));
  }
  return table;
}

void BenchmarkView::paintTo(QPainter& painter, const QSize& size) {
  if (input() != nullptr) refresh();
  painter.fillRect(QRect(QPoint(), size), theme().color(Role::Surface));
  const int width = size.width() - 2 * kGap;
  int y = kGap;
  if (!m_model.isKnown) {
    paintEmptyText(painter, QRect(QPoint(), size), introduction(), theme());
    return;
  }
  write(painter, m_model.setup, width, size.height(), y);
  if (m_model.rows.empty()) {
    for (const BenchmarkRemark& remark : m_model.remarks)
      write(painter, remark.text, width, size.height(), y);
    return;
  }
  const PaintedTable table = painted();
  const int tableHeight = paintedTableHeight(table, theme(), width);
  paintTable(painter, QRect(kGap, y, width, tableHeight + 1), table, theme());
  y += tableHeight + kGap;
  for (const BenchmarkRemark& remark : m_model.remarks) write(painter, remark.text, width, size.height(), y);
  const int left = size.height() - y - kGap;
  if (left < kPlotHeight / 2) return;
  m_plot->setContent(m_model, theme());
  m_plot->paint(painter, QRect(kGap, y, width, left));
}

void BenchmarkView::resizeEvent(QResizeEvent* event) {
  MeasurePage::resizeEvent(event);
  arrange();
}

ViewInfo benchmarkRow() {
  return {.id = QStringLiteral("benchmark"),
          .title = tr("Benchmark"),
          .help = tr("The query run again and again: cold, in the same order and swapped"),
          .make = makeViewOf<BenchmarkView>,
          .places = {{LayoutId::Measure, Room::Low, Room::Large, 0, 0, 1, 0}}};
}

}  // namespace spanscope::ui
