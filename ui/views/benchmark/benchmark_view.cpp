// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/benchmark/benchmark_view.h"

#include "ui/views/benchmark/benchmark_plot.h"
#include "ui/views/common/empty_text.h"
#include "ui/views/common/measure_widgets.h"
#include "ui/views/common/text_tools.h"

#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSpinBox>
#include <QTableWidget>
#include <QToolButton>
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
constexpr int kTextLine = 20;

QString introduction(BenchmarkKind kind) {
  if (kind == BenchmarkKind::Lengths)
    return BenchmarkView::tr(
        "Measures two made-up documents, from short to long, on the model of this document: with an empty "
        "cache, "
        "in the same and in the swapped order, each time with a new question.");
  return BenchmarkView::tr(
      "Runs this query again and again: with an empty cache, in the same order, with what stands under plus "
      "swapped, and without it. Medians with their spread say what the cache saves.");
}

}  // namespace

BenchmarkView::BenchmarkView(QWidget* parent)
    : InputView(InputPart::Document | InputPart::Benchmark, Pace::MayWait, parent) {
  setAccessibleName(tr("Benchmark"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(kGap, kGap, kGap, 0);
  layout->setSpacing(kGap);
  layout->addWidget(makeControls());
  m_progress = makeMeasureProgress(this);
  layout->addWidget(m_progress);
  m_scroll = makeResultScroll(makeResults(), this);
  layout->addWidget(m_scroll, 1);
  layout->addStretch();
  m_scroll->hide();
  setFocusProxy(m_run);
}

QWidget* BenchmarkView::makeControls() {
  auto* controls = new QWidget(this);
  auto* row = new QHBoxLayout(controls);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(kGap);
  m_kind = new QComboBox(controls);
  m_kind->setAccessibleName(tr("What is measured"));
  m_kind->addItem(tr("This query"), static_cast<int>(BenchmarkKind::Query));
  m_kind->addItem(tr("Document lengths"), static_cast<int>(BenchmarkKind::Lengths));
  m_repeats = new QSpinBox(controls);
  m_repeats->setAccessibleName(tr("Repeats"));
  m_repeats->setToolTip(tr("How often each case is measured, after a turn to warm up that does not count"));
  m_repeats->setRange(1, kMostRepeats);
  m_repeats->setValue(BenchmarkWish().repeats);
  m_repeats->setSuffix(tr(" repeats"));
  ignoreWheelWithoutFocus(m_kind);
  ignoreWheelWithoutFocus(m_repeats);
  m_run = new QPushButton(tr("Measure"), controls);
  m_copy = new QToolButton(controls);
  m_copy->setText(tr("Copy"));
  m_copy->setToolTip(tr("Copy the table as text"));
  m_copy->setAutoRaise(true);
  m_copy->hide();
  m_doing = new QLabel(controls);
  m_doing->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  row->addWidget(m_kind);
  row->addWidget(m_repeats);
  row->addWidget(m_run);
  row->addWidget(m_doing, 1);
  row->addWidget(m_copy);
  connect(m_run, &QPushButton::clicked, this, &BenchmarkView::runOrStop);
  connect(m_copy, &QToolButton::clicked, this, &BenchmarkView::copy);
  connect(m_kind, &QComboBox::currentIndexChanged, this, [this] {
    if (input() != nullptr) refresh();
  });
  return controls;
}

QWidget* BenchmarkView::makeResults() {
  auto* results = new QWidget;
  auto* texts = new QVBoxLayout;
  texts->setContentsMargins(0, 0, 0, 0);
  texts->setSpacing(kSpace);
  m_setup = new QLabel(results);
  m_setup->setWordWrap(true);
  m_setup->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_table = makeFigureTable(tr("Figures of the benchmark"), results);
  m_table->installEventFilter(this);
  m_remarks = new QLabel(results);
  m_remarks->setTextFormat(Qt::RichText);
  m_remarks->setWordWrap(true);
  m_remarks->setTextInteractionFlags(Qt::TextSelectableByMouse);
  texts->addWidget(m_setup);
  texts->addWidget(m_table);
  texts->addWidget(m_remarks);
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

void BenchmarkView::runOrStop() {
  Q_EMIT commandWanted(m_model.isRunning ? QStringLiteral("run.stop")
                                         : QStringLiteral("run.benchmark:") + benchmarkWish(wish()));
}

void BenchmarkView::refresh() {
  m_model = benchmarkModel(*input());
  const bool isNewTheme = m_shown != input()->theme;
  m_shown = input()->theme;
  if (isNewTheme) {
    m_table->setStyleSheet(tableStyle(theme()));
    for (QLabel* label : {m_setup, m_remarks, m_doing}) {
      label->setFont(theme().smallFont());
      colorLabel(*label, theme(), Role::TextSecond);
    }
  }
  m_run->setText(m_model.isRunning ? tr("Stop") : tr("Measure"));
  m_run->setToolTip(m_model.isRunning ? tr("Repeats that have ended stay")
                                      : tr("Takes some runs' time; other runs wait until it has ended"));
  m_kind->setEnabled(!m_model.isRunning);
  m_repeats->setEnabled(!m_model.isRunning);
  m_doing->setText(m_model.doing);
  m_progress->setVisible(m_model.isRunning);
  m_progress->setValue(static_cast<int>(m_model.progress * kProgressSteps));
  const bool hasRows = !m_model.rows.empty();
  m_copy->setVisible(hasRows);
  m_setup->setText(m_model.setup);
  m_scroll->setVisible(m_model.isKnown);
  m_table->setVisible(hasRows);
  m_plot->setVisible(hasRows);
  m_remarks->setText(remarkText());
  m_remarks->setVisible(!m_model.remarks.empty());
  if (hasRows) {
    fillTable();
    m_plot->setContent(m_model, theme());
  }
  arrange();
  update();
  Q_EMIT summaryChanged(m_model.isRunning ? tr("%1 %").arg(static_cast<int>(100 * m_model.progress))
                                          : QString());
}

void BenchmarkView::fillTable() {
  const Theme now = theme();
  const auto columns = static_cast<int>(m_model.columns.size());
  m_table->setColumnCount(columns);
  m_table->setRowCount(static_cast<int>(m_model.rows.size()));
  for (int c = 0; c < columns; ++c) {
    const BenchmarkColumn& column = m_model.columns[static_cast<std::size_t>(c)];
    auto* title = new QTableWidgetItem(column.title);
    title->setToolTip(column.help);
    title->setFont(now.smallFont());
    title->setTextAlignment((c == 0 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    m_table->setHorizontalHeaderItem(c, title);
  }
  for (int r = 0; r < m_table->rowCount(); ++r) {
    const BenchmarkRow& row = m_model.rows[static_cast<std::size_t>(r)];
    for (int c = 0; c < columns; ++c) {
      auto* item = new QTableWidgetItem(c == 0 ? row.name : row.cells.value(c - 1));
      item->setFont(c == 0 ? now.interfaceFont() : now.monoFont());
      item->setForeground(now.color(c == 1 ? Role::Text : Role::TextSecond));
      if (c == 0) item->setForeground(now.color(Role::Text));
      item->setTextAlignment((c == 0 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
      item->setToolTip(row.help);
      m_table->setItem(r, c, item);
    }
  }
  fitFigureTable(*m_table);
}

void BenchmarkView::arrange() {
  const bool isWide = width() >= kWide && height() < kTall;
  m_results->setDirection(isWide ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
  m_results->setStretch(0, isWide ? 3 : 0);
  m_results->setStretch(1, isWide ? 2 : 1);
  m_plot->setMinimumHeight(m_model.kind == BenchmarkKind::Query ? kPlotHeight : kLinesHeight);
  fitFigureTable(*m_table);
}

QString BenchmarkView::remarkText() const {
  QStringList warnings;
  QStringList sentences;
  for (const BenchmarkRemark& remark : m_model.remarks) {
    const QString text = remark.text.toHtmlEscaped();
    if (remark.kind == RemarkKind::Warning)
      warnings += QStringLiteral("<span style='color:%1'>⚠ %2</span>")
                      .arg(theme().color(Role::ComputedInk).name(), text);
    else
      sentences += text;
  }
  if (!sentences.isEmpty()) warnings += sentences.join(QLatin1Char(' '));
  return warnings.join(QStringLiteral("<br>"));
}

void BenchmarkView::copy() const {
  QGuiApplication::clipboard()->setText(benchmarkText(m_model));
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
  painter.setFont(theme().interfaceFont());
  painter.setPen(theme().color(Role::TextSecond));
  const int width = size.width() - 2 * kGap;
  int y = kGap;
  const auto write = [&](const QString& text) {
    QRect place(kGap, y, width, size.height());
    const int flags = Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap;
    painter.drawText(place, flags, text, &place);
    y = std::max(y + kTextLine, place.bottom() + kSpace);
  };
  if (!m_model.isKnown) {
    paintEmptyText(painter, QRect(QPoint(), size), introduction(wish().kind), theme());
    return;
  }
  write(m_model.setup);
  if (m_model.rows.empty()) {
    for (const BenchmarkRemark& remark : m_model.remarks) write(remark.text);
    return;
  }
  const PaintedTable table = painted();
  const int tableHeight = paintedTableHeight(table, theme(), width);
  paintTable(painter, QRect(kGap, y, width, tableHeight + 1), table, theme());
  y += tableHeight + kGap;
  painter.setFont(theme().interfaceFont());
  painter.setPen(theme().color(Role::TextSecond));
  for (const BenchmarkRemark& remark : m_model.remarks) write(remark.text);
  const int left = size.height() - y - kGap;
  if (left < kPlotHeight / 2) return;
  m_plot->setContent(m_model, theme());
  m_plot->paint(painter, QRect(kGap, y, width, left));
}

void BenchmarkView::paintEvent(QPaintEvent* event) {
  InputView::paintEvent(event);
  if (m_model.isKnown) return;
  QPainter painter(this);
  const int top = m_run->parentWidget()->geometry().bottom();
  paintEmptyText(painter, rect().adjusted(0, top, 0, 0), introduction(wish().kind), theme());
}

void BenchmarkView::resizeEvent(QResizeEvent* event) {
  InputView::resizeEvent(event);
  arrange();
}

bool BenchmarkView::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_table && event->type() == QEvent::Resize) fitFigureTable(*m_table);
  if (watched == m_table && event->type() == QEvent::KeyPress &&
      static_cast<QKeyEvent*>(event)->matches(QKeySequence::Copy)) {
    copy();
    return true;
  }
  return InputView::eventFilter(watched, event);
}

}  // namespace spanscope::ui
