// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/measure_page.h"

#include "ui/theme/theme.h"
#include "ui/views/common/table_painting.h"
#include "ui/views/common/text_painting.h"
#include "ui/views/common/text_tools.h"
#include "ui/words/tr.h"

#include <QClipboard>
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
#include <QTableWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace spanscope::ui {

namespace {

constexpr int kPageGap = 2 * kSpace;
constexpr int kLeastLine = 20;  // pixels

}  // namespace

MeasurePage::MeasurePage(InputParts parts, const QString& name, QWidget* parent)
    : InputView(parts, Pace::MayWait, parent),
      m_run(new QPushButton(this)),
      m_copy(new QToolButton(this)),
      m_doing(new QLabel(this)) {
  setAccessibleName(name);
  m_copy->setText(tr("Copy"));
  m_copy->setAutoRaise(true);
  m_copy->hide();
  m_doing->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  connect(m_run, &QPushButton::clicked, this,
          [this] { Q_EMIT commandWanted(m_isRunning ? QStringLiteral("run.stop:measurement") : command()); });
  connect(m_copy, &QToolButton::clicked, this, &MeasurePage::copy);
  setFocusProxy(m_run);
}

QWidget* MeasurePage::runButton() {
  return m_run;
}

void MeasurePage::setCopyHelp(const QString& help) {
  m_copy->setToolTip(help);
}

QVBoxLayout* MeasurePage::makeTexts(const QString& tableName, QWidget* results) {
  auto* texts = new QVBoxLayout;
  texts->setContentsMargins(0, 0, 0, 0);
  texts->setSpacing(kSpace);
  m_setup = new QLabel(results);
  m_setup->setWordWrap(true);
  m_setup->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_table = makeFigureTable(tableName, results);
  m_table->installEventFilter(this);
  m_remarks = new QLabel(results);
  m_remarks->setTextFormat(Qt::RichText);
  m_remarks->setWordWrap(true);
  m_remarks->setTextInteractionFlags(Qt::TextSelectableByMouse);
  texts->addWidget(m_setup);
  texts->addWidget(m_table);
  texts->addWidget(m_remarks);
  return texts;
}

QVBoxLayout* MeasurePage::layOut(const std::vector<QWidget*>& controls, QWidget* results) {
  auto* page = new QVBoxLayout(this);
  page->setContentsMargins(kPageGap, kPageGap, kPageGap, 0);
  page->setSpacing(kPageGap);
  auto* head = new QWidget(this);
  auto* row = new QHBoxLayout(head);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(kPageGap);
  for (QWidget* control : controls) row->addWidget(control);
  row->addWidget(m_doing, 1);
  row->addWidget(m_copy);
  page->addWidget(head);
  m_progress = makeMeasureProgress(this);
  page->addWidget(m_progress);
  m_scroll = makeResultScroll(results, this);
  page->addWidget(m_scroll, 1);
  m_scroll->hide();
  return page;
}

void MeasurePage::showMeasured(const Shown& shown) {
  m_isKnown = shown.isKnown;
  m_isRunning = shown.isRunning;
  if (m_theme != theme()) {
    m_theme = theme();
    m_table->setStyleSheet(tableStyle(theme()));
    for (QLabel* label : {m_setup, m_remarks, m_doing}) {
      label->setFont(theme().smallFont());
      colorLabel(*label, theme(), Role::TextSecond);
    }
  }
  m_run->setText(shown.isRunning ? tr("Stop") : shown.run);
  m_run->setToolTip(shown.runHelp);
  m_doing->setText(shown.doing);
  m_progress->setVisible(shown.isRunning);
  m_progress->setValue(static_cast<int>(shown.progress * kProgressSteps));
  const bool hasRows = !shown.rows.empty();
  m_copy->setVisible(hasRows);
  m_setup->setText(shown.setup);
  m_scroll->setVisible(shown.isKnown);
  m_table->setVisible(hasRows);
  QStringList lines;
  for (const QString& warning : shown.warnings)
    lines += QStringLiteral("<span style='color:%1'>⚠ %2</span>")
                 .arg(theme().color(Role::ComputedInk).name(), warning.toHtmlEscaped());
  if (!shown.remarks.empty()) lines += shown.remarks.join(QLatin1Char(' ')).toHtmlEscaped();
  m_remarks->setText(lines.join(QStringLiteral("<br>")));
  m_remarks->setVisible(!lines.empty());
  if (hasRows) fillTable(shown);
  update();
  Q_EMIT summaryChanged(shown.isRunning ? tr("%1 %").arg(static_cast<int>(100 * shown.progress)) : QString());
}

void MeasurePage::fillTable(const Shown& shown) {
  QFont bold = theme().monoFont();
  bold.setWeight(QFont::Bold);
  const auto columns = static_cast<int>(shown.columns.size());
  m_table->setColumnCount(columns);
  m_table->setRowCount(static_cast<int>(shown.rows.size()));
  for (int c = 0; c < columns; ++c) {
    const FigureColumn& column = shown.columns[static_cast<std::size_t>(c)];
    auto* title = new QTableWidgetItem(column.title);
    title->setToolTip(column.help);
    title->setFont(theme().smallFont());
    title->setTextAlignment((c == 0 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    m_table->setHorizontalHeaderItem(c, title);
  }
  for (int r = 0; r < m_table->rowCount(); ++r) {
    const FigureRow& row = shown.rows[static_cast<std::size_t>(r)];
    auto* name = new QTableWidgetItem(row.name);
    name->setFont(theme().interfaceFont());
    name->setForeground(theme().color(Role::Text));
    name->setToolTip(row.help);
    m_table->setItem(r, 0, name);
    for (int c = 1; c < columns; ++c) {
      const auto place = static_cast<std::size_t>(c) - 1;
      const FigureCell cell = place < row.cells.size() ? row.cells[place] : FigureCell();
      auto* item = new QTableWidgetItem(cell.text);
      item->setFont(cell.isBold ? bold : theme().monoFont());
      item->setForeground(theme().color(cell.isPale ? Role::TextSecond : Role::Text));
      item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
      item->setToolTip(cell.help.isEmpty() ? row.help : cell.help);
      m_table->setItem(r, c, item);
    }
  }
  fitFigureTable(*m_table);
}

void MeasurePage::write(QPainter& painter, const QString& text, int width, int height, int& y) const {
  painter.setFont(theme().interfaceFont());
  painter.setPen(theme().color(Role::TextSecond));
  QRect place(kPageGap, y, width, height);
  painter.drawText(place, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, text, &place);
  y = std::max(y + kLeastLine, place.bottom() + kSpace);
}

void MeasurePage::copy() const {
  QGuiApplication::clipboard()->setText(text());
}

void MeasurePage::paintEvent(QPaintEvent* event) {
  InputView::paintEvent(event);
  if (m_isKnown) return;
  QPainter painter(this);
  const int top = m_run->parentWidget()->geometry().bottom();
  paintEmptyText(painter, rect().adjusted(0, top, 0, 0), introduction(), theme());
}

bool MeasurePage::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_table && event->type() == QEvent::Resize) fitFigureTable(*m_table);
  if (watched == m_table && event->type() == QEvent::KeyPress &&
      static_cast<QKeyEvent*>(event)->matches(QKeySequence::Copy)) {
    copy();
    return true;
  }
  return InputView::eventFilter(watched, event);
}

QProgressBar* makeMeasureProgress(QWidget* parent) {
  auto* progress = new QProgressBar(parent);
  progress->setAccessibleName(tr("How much is measured"));
  progress->setRange(0, kProgressSteps);
  progress->setTextVisible(false);
  progress->setFixedHeight(kSpace);
  progress->hide();
  return progress;
}

QScrollArea* makeResultScroll(QWidget* results, QWidget* parent) {
  auto* scroll = new QScrollArea(parent);
  scroll->setWidget(results);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setFocusPolicy(Qt::NoFocus);
  scroll->viewport()->setAutoFillBackground(false);
  results->setAutoFillBackground(false);
  return scroll;
}

QTableWidget* makeFigureTable(const QString& name, QWidget* parent) {
  auto* table = new QTableWidget(parent);
  table->setAccessibleName(name);
  table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  showWholeRows(*table, kFigureRowHeight);
  table->horizontalHeader()->setStretchLastSection(false);
  table->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  table->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  table->setSizeAdjustPolicy(QAbstractScrollArea::AdjustIgnored);
  return table;
}

void fitFigureTable(QTableWidget& table) {
  const int columns = table.columnCount();
  if (columns == 0) return;
  table.resizeColumnsToContents();
  int wanted = 0;
  for (int c = 0; c < columns; ++c) wanted += table.columnWidth(c);
  // A few pixels too many come off the room around the figures: a bar to scroll by them would only hide a
  // row.
  constexpr int kMostOff = 6;
  int spare = table.viewport()->width() - wanted;
  if (spare > 0 || -spare <= kMostOff * columns) {
    for (int c = 0; c < columns; ++c)
      table.setColumnWidth(c, table.columnWidth(c) + spare * (c + 1) / columns - spare * c / columns);
    spare = 0;
  }
  const int bar = spare < 0 ? table.horizontalScrollBar()->sizeHint().height() : 0;
  table.setFixedHeight(table.horizontalHeader()->sizeHint().height() + table.rowCount() * kFigureRowHeight +
                       bar + 2);
}

}  // namespace spanscope::ui
